//! Ways to read a file.

use bytes::Bytes;
use herringbone::schema::{ByteLayout, DictionaryOutput, ListLayout};
use herringbone::{Error, ParquetFile, ReadOptions, SchemaOptions};
use herringbone_arrow::array::Array;

/// Ways through the reader, one after the other for one damage after the other: plain reads, skips,
/// and other Arrow layouts.
fn options(turn: usize) -> ReadOptions {
    let mut schema = SchemaOptions::default();
    let options = ReadOptions::default().threads(1).limit(10_000);
    match turn % 4 {
        0 => options,
        1 => options
            .batch_size(3)
            .row_ranges(vec![1..2, 4..5, 7..30, 33..1000]),
        2 => {
            schema.strings = ByteLayout::Views;
            schema.lists = ListLayout::LargeOffsets;
            options.batch_size(7).offset(2).schema(schema)
        }
        _ => {
            schema.dictionary = DictionaryOutput::Always;
            options.schema(schema)
        }
    }
}

/// Reads all rows; arrays that come out have to be valid, whatever the file says.
pub(crate) fn rows(bytes: Bytes, turn: usize, crc: bool) -> Result<usize, Error> {
    let file = ParquetFile::from_bytes(bytes)?;
    let mut reader = file.read(options(turn).verify_crc(crc))?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.num_rows();
        for column in batch.columns() {
            column.to_data().validate_full().expect("a valid array");
        }
    }
    Ok(rows)
}

/// Reads on one thread and on three: the same batches, and then the same error.
pub(crate) fn on_threads(bytes: Bytes) -> Result<(), Error> {
    let outcome = |threads: usize| {
        let mut batches = Vec::new();
        let mut read = || {
            let file = ParquetFile::from_bytes(bytes.clone())?;
            let options = ReadOptions::default().threads(threads).limit(1_000_000);
            let mut reader = file.read(options)?;
            while let Some(batch) = reader.next_batch()? {
                batches.push(batch.num_rows());
            }
            Ok::<(), Error>(())
        };
        let result = read();
        (batches, result)
    };
    let (batches, result) = outcome(1);
    let (batches_of_three, of_three) = outcome(3);
    assert_eq!(batches, batches_of_three);
    assert_eq!(format!("{result:?}"), format!("{of_three:?}"));
    result
}

/// Asks for everything that stands beside the values: indexes, bloom filters, page headers.
pub(crate) fn beside(bytes: Bytes) -> Result<(), Error> {
    let file = ParquetFile::from_bytes(bytes)?;
    let mut wrong = None;
    for row_group in 0..file.metadata().num_row_groups().min(10) {
        for leaf in 0..file.metadata().num_columns(row_group).min(100) {
            let asked = [
                file.metadata().column_chunk(row_group, leaf).map(drop),
                file.column_index(row_group, leaf).map(drop),
                file.offset_index(row_group, leaf).map(drop),
                file.bloom_filter_header(row_group, leaf).map(drop),
                file.pages(row_group, leaf)
                    .and_then(|pages| pages.take(1000).try_for_each(|page| page.map(drop))),
            ];
            wrong = asked.into_iter().find_map(Result::err).or(wrong);
        }
    }
    wrong.map_or(Ok(()), Err)
}

/// The whole file is read in every way, or there is nothing to damage.
pub(crate) fn check_whole(name: &str, bytes: &[u8], crc: bool) {
    for turn in 0..4 {
        rows(Bytes::copy_from_slice(bytes), turn, crc)
            .unwrap_or_else(|error| panic!("{name}, way {turn}: {error}"));
    }
    beside(Bytes::copy_from_slice(bytes)).unwrap_or_else(|error| panic!("{name}: {error}"));
}
