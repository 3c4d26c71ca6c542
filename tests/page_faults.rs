//! Memory of row groups that were written is there for the next ones: it is not taken from the system again.
//!
//! A process of its own, and one test: page faults of the process are counted, and no buffer may be freed before that the C
//! library would learn from. Other systems than GNU/Linux do not count so, or keep memory by rules of their own.

#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used, reason = "a test that cannot run has failed")]

use std::sync::Arc;

use herringbone::{WriteOptions, Writer};
use herringbone_arrow::array::{ArrayRef, Int64Array, RecordBatch};

/// Bytes of a page of memory.
const PAGE: usize = 4096;

const COLUMNS: usize = 8;
const ROWS: usize = 1 << 18;

/// Page faults of this process so far that needed no disk.
fn page_faults() -> usize {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name may have spaces; behind it the state is the third field, and these the tenth.
    let (_, fields) = stat.rsplit_once(')').unwrap();
    fields.split_whitespace().nth(7).unwrap().parse().unwrap()
}

#[test]
fn a_second_file_takes_no_memory_from_the_system() {
    // Numbers without an order, so that nothing becomes small.
    let numbers = |column: usize| {
        let values = (0..ROWS).map(move |row| (row * COLUMNS + column) as u64);
        values.map(|value| value.wrapping_mul(0x9e37_79b9_7f4a_7c15) as i64)
    };
    let columns = (0..COLUMNS).map(|column| {
        let array: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers(column)));
        (format!("c{column}"), array)
    });
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut file = Vec::with_capacity(2 * batch.get_array_memory_size());
    let mut faults = Vec::new();
    for _ in 0..3 {
        file.clear();
        let before = page_faults();
        let options = WriteOptions::default().threads(1).row_group_rows(ROWS / 4);
        let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        faults.push(page_faults() - before);
    }
    // A row group has a fourth of the pages.
    let pages = batch.get_array_memory_size() / PAGE;
    assert!(faults[2] < pages / 16, "{faults:?} faults, {pages} pages");
}
