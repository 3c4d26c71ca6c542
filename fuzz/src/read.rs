//! Reads an in-memory file. No read may panic, and every way of reading must return the same rows.

use std::ops::Range;

use bytes::Bytes;
use herringbone::schema::{ByteLayout, DictionaryOutput, ListLayout};
use herringbone::{Error, ErrorKind, Limits, ParquetFile, ReadOptions, SchemaOptions};

use crate::table::Table;

/// The largest number of rows that we read from a file, because fuzzing relies on many small
/// inputs.
pub const ROWS: u64 = 1000;

/// Returns small limits, so that errors are reached quickly.
pub fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.page_bytes = 4 << 20;
    limits.page_values = 1 << 20;
    limits.dictionary_values = 1 << 18;
    limits.batch_column_bytes = 4 << 20;
    limits.page_index_bytes = 1 << 20;
    limits
}

/// Returns the options to read all rows, up to [`ROWS`], on one thread.
pub fn options() -> ReadOptions {
    ReadOptions::default()
        .threads(1)
        .limit(ROWS)
        .limits(limits())
}

/// Opens an in-memory file under small limits.
pub fn open(bytes: &Bytes) -> Result<ParquetFile, Error> {
    ParquetFile::from_source(bytes.clone(), limits())
}

/// Reads all structures of a file, and its rows in two ways.
pub fn whole_file(data: &[u8]) {
    let bytes = Bytes::copy_from_slice(data);
    let Ok(file) = open(&bytes) else { return };
    all_of(&file, data.len());
    let sum = data.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    in_two_ways(|| open(&bytes), sum & 0x10 != 0, sum);
}

/// Reads everything except rows from a file of `length` bytes.
pub fn all_of(file: &ParquetFile, length: usize) {
    for row_group in 0..file.metadata().num_row_groups().min(5) {
        for leaf in 0..file.metadata().num_columns(row_group).min(20) {
            drop(file.metadata().column_chunk(row_group, leaf));
            drop(file.column_index(row_group, leaf));
            drop(file.offset_index(row_group, leaf));
            drop(file.bloom_filter_header(row_group, leaf));
            if let Ok(pages) = file.pages(row_group, leaf) {
                assert!(pages.take(2 * length).count() <= length);
            }
        }
    }
}

/// Reads a file, then reads it again in another way.
pub fn in_two_ways(open: impl Fn() -> Result<ParquetFile, Error>, verify_crc: bool, way: u8) {
    let Ok(file) = open() else { return };
    let read = |options: ReadOptions| {
        let reader = file.read(options.verify_crc(verify_crc))?;
        Table::read(reader)
    };
    let whole = read(options());
    let (options, ranges) = another_way(way, &whole);
    let again = read(options);
    match (&whole, &again, ranges) {
        (Ok(whole), Ok(again), None) => assert_eq!(again.difference(whole, false), None),
        (Ok(whole), Ok(again), Some(ranges)) => {
            assert_eq!(again.difference(&whole.rows_of(&ranges), false), None);
        }
        (Ok(_), Err(error), _) => panic!("read whole, but way {way}: {error}"),
        // Another layout may take less memory, for example for the nulls of fixed-size lists.
        (Err(error), Ok(_), None) if error.kind() == ErrorKind::Limit => {}
        // Data that the second read skips need not be valid.
        (Err(_), _, Some(_)) => {}
        (Err(error), Ok(_), None) => panic!("way {way} reads what is wrong: {error}"),
        (Err(_), Err(_), None) => {}
    }
}

/// Returns other options, with the rows of a whole read that they select, or `None` for all rows.
fn another_way(way: u8, whole: &Result<Table, Error>) -> (ReadOptions, Option<Vec<Range<usize>>>) {
    let mut schema = SchemaOptions::default();
    match way % 4 {
        0 => (options().batch_size(3), None),
        1 => {
            let rows = whole.as_ref().map_or(0, |table| table.rows);
            let ranges = [1..2, 4..5, 7..30, 33..ROWS as usize];
            let asked = ranges.iter().map(|r| r.start as u64..r.end as u64);
            let options = options().batch_size(5).row_ranges(asked);
            let found = ranges.iter().map(|r| r.start.min(rows)..r.end.min(rows));
            (options, Some(found.collect()))
        }
        2 => {
            schema.strings = ByteLayout::Views;
            schema.lists = ListLayout::LargeOffsets;
            (options().batch_size(7).schema(schema), None)
        }
        _ => {
            schema.dictionary = DictionaryOutput::Always;
            (options().schema(schema), None)
        }
    }
}
