//! Columns that start after rows that were emitted before: they give the tail of a plain read.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{ArrayRef, Int64Array, ListArray, RecordBatch, StringArray};
use herringbone::filter::col;
use herringbone::{ColumnOptions, DataPageVersion, ParquetFile, ReadOptions, WriteOptions, Writer};
use herringbone_core::Step;
use herringbone_core::budget::Budget;
use herringbone_core::read::{
    BatchAssembler, FilteredRead, FilteredRowGroup, Needs, OpenRowGroup, ReadPlan,
};

const ROWS: usize = 5000;

const BATCH: usize = 600;

/// Headers of version 1 do not state the rows of lists, so pages of lists before the first row are decoded.
const VERSIONS: [DataPageVersion; 2] = [DataPageVersion::V1, DataPageVersion::V2];

/// Writes a row group with a flat column, one with nulls, one of lists, and one whose values alternate at random, in pages
/// of 170 rows.
fn file(version: DataPageVersion) -> Bytes {
    let rows = 0..ROWS as i64;
    let mixed = |row: i64| (row.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed()) >> 40) & 0xff;
    let numbers: Int64Array = rows.clone().map(|row| row * 3).collect();
    let texts = rows
        .clone()
        .map(|row| (mixed(row) % 5 > 0).then(|| format!("text {}", row % 900)));
    let lists = rows.clone().map(|row| {
        (mixed(row) % 7 > 0).then(|| (0..mixed(row) % 4).map(move |i| (i != 2).then_some(row + i)))
    });
    let columns: [(&str, ArrayRef); 4] = [
        ("number", Arc::new(numbers)),
        ("text", Arc::new(texts.collect::<StringArray>())),
        (
            "list",
            Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists)),
        ),
        ("mixed", Arc::new(rows.map(mixed).collect::<Int64Array>())),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let columns = ColumnOptions::new().page_rows(170);
    let options = WriteOptions::new()
        .columns(columns)
        .data_page_version(version);
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    bytes.into()
}

fn slice(file: &Bytes, range: &Range<u64>) -> Bytes {
    file.slice(range.start as usize..range.end as usize)
}

/// Decodes the columns of the only row group of a plan after `emitted` rows. Returns also how many pages were decoded.
fn decode(file: &Bytes, plan: &Arc<ReadPlan>, emitted: u64) -> (Vec<RecordBatch>, u64) {
    let budget = Budget::new(&plan.options().limits);
    let read_range = |range| Ok(slice(file, &range));
    let row_group = OpenRowGroup::mapped(plan, 0, &budget, read_range).unwrap();
    let mut assembler = BatchAssembler::new(plan.clone(), &budget);
    assembler.open_index(0);
    let mut columns: Vec<_> = (0..row_group.num_columns())
        .map(|ordinal| row_group.column_from(ordinal, emitted).unwrap())
        .collect();
    let mut batches = Vec::new();
    while columns.iter().any(|column| !column.is_done()) {
        for (ordinal, column) in columns.iter_mut().enumerate() {
            while assembler.needs(ordinal) {
                match column.poll().unwrap() {
                    Step::Need(need) => column.supply(need.start, slice(file, &need)),
                    Step::Ready(column_batch) => assembler.add(ordinal, column_batch.unwrap()),
                }
            }
        }
        batches.push(assembler.assemble().unwrap());
    }
    (batches, budget.read_metrics().pages_read)
}

/// Compares what columns give after some emitted rows with the tail of what they give from the start.
fn check(file: &Bytes, plan: &Arc<ReadPlan>, skips_pages: bool, name: &str) {
    let (all, all_pages) = decode(file, plan, 0);
    let rows: usize = all.iter().map(RecordBatch::num_rows).sum();
    assert!(rows > 3 * BATCH / 2, "{name}");
    for emitted in [1, 7, BATCH - 1, BATCH, BATCH + 1, rows - 71, rows - 1, rows] {
        let (tail, pages) = decode(file, plan, emitted as u64);
        // Batches end at the multiples of the batch size, whatever row the first one starts with.
        let first = emitted / BATCH;
        let expected = all[first.min(all.len())..].iter().zip(first..);
        let expected = expected.map(|(batch, index)| {
            let before = emitted.saturating_sub(index * BATCH);
            batch.slice(before, batch.num_rows() - before)
        });
        let expected: Vec<_> = expected.filter(|batch| batch.num_rows() > 0).collect();
        assert_eq!(tail, expected, "{name} after {emitted}");
        if skips_pages && emitted >= rows - 71 {
            // A dictionary and three data pages, at most, hold the last rows of each column.
            let most = 4 * plan.num_columns() as u64;
            assert!(pages <= most, "{name} after {emitted}: {pages} pages");
            assert!(all_pages > 2 * most, "{name}: {all_pages} pages");
        }
    }
}

fn projections() -> Vec<Vec<&'static str>> {
    let one = ["number", "text", "list"].map(|name| vec![name]);
    let mut projections = Vec::from(one);
    projections.push(vec!["number", "text", "list", "mixed"]);
    projections
}

#[test]
fn tails_of_ranges() {
    VERSIONS.iter().for_each(|version| ranges_of(*version));
}

fn ranges_of(version: DataPageVersion) {
    let bytes = file(version);
    let opened = ParquetFile::from_bytes(bytes.clone()).unwrap();
    let some: Vec<_> = (0..ROWS as u64 / 50).map(|i| 50 * i..50 * i + 23).collect();
    for columns in projections() {
        let options = ReadOptions::new()
            .batch_size(BATCH)
            .columns(columns.clone());
        for ranges in [None, Some(some.clone())] {
            let mut options = options.clone();
            let name = format!(
                "{columns:?}, {} ranges",
                ranges.as_ref().map_or(0, Vec::len)
            );
            if let Some(ranges) = ranges {
                options = options.row_ranges(ranges);
            }
            let plan = Arc::new(opened.plan(&options).unwrap());
            check(&bytes, &plan, version == DataPageVersion::V2, &name);
        }
    }
}

#[test]
fn tails_of_masks() {
    VERSIONS.iter().for_each(|version| mask_of(*version));
}

fn mask_of(version: DataPageVersion) {
    let bytes = file(version);
    let opened = ParquetFile::from_bytes(bytes.clone()).unwrap();
    for columns in projections() {
        let columns = columns.into_iter().filter(|name| *name != "mixed");
        let options = ReadOptions::new().batch_size(BATCH).columns(columns);
        let options = options.filter(col("mixed").lt(160_i64));
        let plan = Arc::new(opened.plan(&options).unwrap());
        let budget = Budget::new(&options.limits);
        let mut read = FilteredRead::new(&plan, &budget).unwrap();
        let mut needs = Needs::default();
        let tested = loop {
            match read.next_row_group(&mut needs).unwrap() {
                FilteredRowGroup::Needs => {
                    for need in std::mem::take(&mut needs.now) {
                        read.supply(need.start, &slice(&bytes, &need));
                    }
                }
                FilteredRowGroup::Tested(plan) => break plan,
                FilteredRowGroup::Whole(_) | FilteredRowGroup::End => panic!("rows are tested"),
            }
        };
        for batch in decode(&bytes, &tested, 0).0 {
            read.test(&batch).unwrap();
        }
        let others = read.others().unwrap();
        let runs = others.row_groups()[0].row_ranges();
        assert!(runs.is_empty(), "the rows are a mask");
        check(&bytes, &others, version == DataPageVersion::V2, "a mask");
    }
}
