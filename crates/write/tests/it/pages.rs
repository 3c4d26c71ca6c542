//! The ends of pages, and the time at which a column passes its pages on.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::{Compression, ParquetFile, Writer};
use herringbone_arrow::array::{ArrayRef, Int32Array, RecordBatch};
use herringbone_write::{
    BlockMemory, ChunkPages, ColumnOptions, FileEncoder, WriteOptions, WritePlan,
};

/// Returns rows of numbers from 0 to 99.
fn few_numbers(rows: i32) -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values((0..rows).map(|row| row % 100)));
    RecordBatch::try_from_iter([("number", numbers)]).unwrap()
}

/// Returns the row counts of the pages of the only column chunk.
fn page_rows(file: Bytes) -> Vec<i32> {
    let file = ParquetFile::from_bytes(file).unwrap();
    let pages = file.pages(0, 0).unwrap().map(Result::unwrap);
    let headers = pages.map(|page| page.header);
    headers
        .filter_map(|header| {
            let v1 = header.data_page_header.map(|it| it.num_values);
            v1.or(header.data_page_header_v2.map(|it| it.num_values))
        })
        .collect()
}

/// Returns options without compression, which this crate need not have.
fn plain() -> WriteOptions {
    WriteOptions::new().compression(Compression::Uncompressed)
}

fn written(batch: &RecordBatch, columns: ColumnOptions) -> Bytes {
    let mut file = Vec::new();
    let options = plain().columns(columns);
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    file.into()
}

#[test]
fn the_first_pages_are_shorter_while_a_dictionary_is_on_trial() {
    let batch = few_numbers(5_000);
    let columns = ColumnOptions::new().page_rows(1_000);
    let expected = [250, 500, 1_000, 1_000, 1_000, 1_000, 250];
    assert_eq!(page_rows(written(&batch, columns.clone())), expected);
    let plain = page_rows(written(&batch, columns.dictionary(false)));
    assert_eq!(plain, [1_000; 5]);
}

/// The size of a page is only checked where a block of rows ends. A block of the first page has 1,024 rows, so that a
/// useless dictionary is noticed soon. A later block ends before it exceeds the size of a page: of 8,192 bytes, each
/// row takes 32 bits for its number and two bits for its levels, so that 1,927 rows fit.
///
/// As long as the form of the page is not chosen, we expect two bytes per number, and a quarter of a byte for its levels.
/// So the page is full once it has 3,641 rows: after the fourth block of 1,024 rows, or the second one of 1,927.
#[test]
fn a_page_on_trial_is_full_after_its_last_block() {
    let columns = ColumnOptions::new().page_bytes(8_192).page_rows(100_000);
    let pages = page_rows(written(&few_numbers(20_000), columns));
    assert_eq!(pages, [4_096, 3_854, 3_854, 3_854, 3_854, 488]);
}

/// The form of the values is chosen after 2^18 of them. Until then, the pages are buffered as indices.
#[test]
fn pages_wait_until_their_form_is_chosen() {
    const DECIDED_AT: usize = 1 << 18;
    const ROWS: usize = 300_000;
    let batch = few_numbers(ROWS as i32);
    let plan = WritePlan::new(batch.schema(), &plain(), None).unwrap();
    let plan = Arc::new(plan);
    let mut column = plan.column_writer(0, 0, None).unwrap();
    let (mut memory, mut pages) = (BlockMemory::default(), ChunkPages::default());
    let mut write = |column: &mut herringbone_write::ColumnWriter, rows, pages: &mut ChunkPages| {
        column
            .write(batch.column(0), rows, &mut memory, pages)
            .unwrap();
    };
    write(&mut column, 0..DECIDED_AT - 1, &mut pages);
    assert_eq!(pages.num_pages(), 0);
    // 100 numbers need indices of seven bits.
    assert!(column.estimated_bytes() >= DECIDED_AT / 8 * 7);
    write(&mut column, DECIDED_AT - 1..ROWS, &mut pages);
    assert!(pages.num_pages() > 0);
    assert!(column.estimated_bytes() < DECIDED_AT / 8 * 7);
    let column = column.finish(&mut pages).unwrap();
    let mut encoder = FileEncoder::new(plan);
    let mut file = encoder.start();
    let column = column.with_pages(pages).unwrap();
    let mut parts = encoder.column(column).unwrap();
    parts.extend(encoder.end_row_group(ROWS as u64, false).unwrap());
    parts.push(encoder.finish().unwrap().bytes);
    parts.iter().for_each(|part| file.extend_from_slice(part));
    let file = ParquetFile::from_bytes(file).unwrap();
    let rows = file.read(Default::default()).unwrap().map(Result::unwrap);
    let mut first = 0;
    for found in rows {
        assert_eq!(found, batch.slice(first, found.num_rows()));
        first += found.num_rows();
    }
    assert_eq!(first, ROWS);
}
