//! What the writer holds, as the allocator counts it.

#![allow(clippy::unwrap_used, reason = "a test that cannot run has failed")]

use std::io;
use std::sync::Arc;

use herringbone::{WriteOptions, Writer};
use herringbone_arrow::array::{
    ArrayRef, Float64Array, Int8Array, Int64Array, ListArray, RecordBatch, StringArray,
    types::Int32Type,
};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// What the writer may hold.
const BUDGET: usize = 24 << 20;

/// 400 columns whose rows have from less than a byte to hundreds.
fn skewed(batch: usize, rows: usize) -> RecordBatch {
    let hash = |column: usize, row: usize| {
        let seed = (batch * rows + row) as u64 * 1000 + column as u64;
        let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 8
    };
    let column = |i: usize| -> (String, ArrayRef) {
        let values = (0..rows).map(|row| hash(i, row));
        let array: ArrayRef = match i % 20 {
            0 => Arc::new(StringArray::from_iter_values(
                values.map(|it| format!("{it:x}").repeat(1 + i / 10)),
            )),
            1..5 => Arc::new(Int64Array::from_iter_values(
                values.map(|it| it.cast_signed()),
            )),
            5..8 => Arc::new(Float64Array::from_iter(
                values.map(|it| (it % 3 > 0).then_some(it as f64)),
            )),
            8 => Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(
                values.map(|it| (it % 5 > 0).then(|| vec![Some(it as i32); it as usize % 9])),
            )),
            9..15 => Arc::new(Int8Array::from_iter_values(values.map(|it| it as i8))),
            _ => Arc::new(Int64Array::from_iter_values(
                values.map(|it| (it % (1 + i as u64)) as i64),
            )),
        };
        (format!("c{i}"), array)
    };
    RecordBatch::try_from_iter((0..400).map(column)).unwrap()
}

/// More is held than the budget only by what a batch, which is a slice here, adds: its bytes, four
/// times where they become codes. What compression in C takes is not counted.
#[test]
fn the_budget_is_kept() {
    let batches: Vec<_> = (0..12).map(|batch| skewed(batch, 500)).collect();
    let slice = batches[0].get_array_memory_size();
    for threads in [1, 3] {
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let options = WriteOptions::new().memory_bytes(BUDGET).threads(threads);
        let mut writer = Writer::new(io::sink(), batches[0].schema(), options).unwrap();
        let mut said = 0;
        for batch in &batches {
            writer.write(batch).unwrap();
            said = said.max(writer.memory_size());
        }
        let metadata = writer.finish().unwrap();
        let peak = ALLOCATOR.peak_usage() - before;
        assert!(metadata.num_row_groups() > 1);
        assert!(
            said < BUDGET + 2 * slice,
            "{said} bytes said, {threads} threads"
        );
        assert!(said > BUDGET / 2, "{said} bytes said, {threads} threads");
        assert!(
            peak < BUDGET + 4 * slice,
            "{peak} bytes held, {threads} threads"
        );
    }
}
