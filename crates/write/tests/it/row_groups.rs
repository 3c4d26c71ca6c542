//! Row groups put together by hand from column chunks.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::{Compression, ErrorKind, ParquetFile};
use herringbone_arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use herringbone_write::{
    BlockMemory, BloomFilterOptions, ChunkPages, ColumnOptions, EncodedColumn, FileEncoder,
    SortingColumnOption, WriteOptions, WritePlan,
};

/// Returns `rows` ascending rows starting at `first`.
fn batch(first: i64, rows: i64) -> RecordBatch {
    let numbers = first..first + rows;
    let names = numbers.clone().map(|number| format!("name {number:04}"));
    let columns: [(&str, ArrayRef); 2] = [
        ("number", Arc::new(Int64Array::from_iter_values(numbers))),
        ("name", Arc::new(StringArray::from_iter_values(names))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn plan() -> Arc<WritePlan> {
    let columns = ColumnOptions::new().compression(Compression::Uncompressed);
    let mut options = WriteOptions::new().columns(columns.page_rows(100)).column(
        "name",
        ColumnOptions::new().bloom_filter(BloomFilterOptions::default()),
    );
    options.sorting_columns = vec![SortingColumnOption::new(["number"])];
    Arc::new(WritePlan::new(batch(0, 0).schema(), &options, None).unwrap())
}

/// Encodes a column of a batch.
fn column(plan: &WritePlan, batch: &RecordBatch, column: usize) -> EncodedColumn {
    let mut writer = plan.column_writer(column, 0, None).unwrap();
    let mut pages = ChunkPages::default();
    let rows = 0..batch.num_rows();
    let mut memory = BlockMemory::default();
    writer
        .write(batch.column(column), rows, &mut memory, &mut pages)
        .unwrap();
    let ended = writer.finish(&mut pages).unwrap();
    ended.with_pages(pages).unwrap()
}

/// Appends parts to a file. Their encoder must count the same bytes.
fn append(file: &mut Vec<u8>, parts: Vec<Bytes>, encoder: &FileEncoder) {
    assert!(parts.iter().all(|part| !part.is_empty()));
    parts.iter().for_each(|part| file.extend_from_slice(part));
    assert_eq!(encoder.position(), file.len() as u64);
}

#[test]
fn row_groups_have_their_places_sizes_and_order() {
    let plan = plan();
    let mut encoder = FileEncoder::new(plan.clone());
    let mut file = encoder.start();
    let batches = [batch(0, 250), batch(250, 40)];
    let mut starts = Vec::new();
    for (batch, is_sorted) in batches.iter().zip([true, false]) {
        starts.push(file.len() as i64);
        for ordinal in 0..2 {
            let parts = encoder.column(column(&plan, batch, ordinal)).unwrap();
            append(&mut file, parts, &encoder);
        }
        let chunks_end = file.len();
        let rows = batch.num_rows() as u64;
        let parts = encoder.end_row_group(rows, is_sorted).unwrap();
        append(&mut file, parts, &encoder);
        // The bloom filter of `name` follows the chunks.
        assert!(file.len() > chunks_end);
        let row_group = encoder.row_groups().last().unwrap();
        let size = chunks_end as i64 - starts.last().unwrap();
        assert_eq!(row_group.total_compressed_size, Some(size));
    }
    assert_eq!((encoder.num_rows(), encoder.num_row_groups()), (290, 2));
    file.extend_from_slice(&encoder.finish().unwrap().bytes);
    let file = ParquetFile::from_bytes(file).unwrap();
    let headers = [0, 1].map(|ordinal| file.metadata().row_group_header(ordinal).unwrap());
    assert_eq!(headers.each_ref().map(|header| header.num_rows), [250, 40]);
    let offsets = headers.each_ref().map(|header| header.file_offset);
    assert_eq!(offsets.map(Option::unwrap), starts.as_slice());
    let sorted = headers.map(|header| header.sorting_columns.is_some());
    assert_eq!(sorted, [true, false]);
    let found = file.read(Default::default()).unwrap().map(Result::unwrap);
    let found: Vec<_> = found.collect();
    let rows: usize = found.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows, 290);
    let mut first = 0;
    for part in &found {
        let rows = part.num_rows() as i64;
        assert_eq!(part.columns(), batch(first, rows).columns());
        first += rows;
    }
}

#[test]
fn a_row_group_has_all_columns_with_all_rows() {
    let plan = plan();
    let batch = batch(0, 30);
    let mut encoder = FileEncoder::new(plan.clone());
    assert_eq!(encoder.start(), b"PAR1");
    encoder.column(column(&plan, &batch, 0)).unwrap();
    let lacking = encoder.end_row_group(30, false).unwrap_err();
    assert_eq!(lacking.kind(), ErrorKind::Argument);
    for ordinal in 0..2 {
        encoder.column(column(&plan, &batch, ordinal)).unwrap();
    }
    let more = encoder.column(column(&plan, &batch, 1)).unwrap_err();
    assert_eq!(more.kind(), ErrorKind::Argument);
    let other = encoder.end_row_group(31, false).unwrap_err();
    assert_eq!(other.kind(), ErrorKind::Argument);
    assert_eq!(encoder.num_row_groups(), 0);
}
