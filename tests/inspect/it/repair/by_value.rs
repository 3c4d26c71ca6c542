//! Repairs damaged copies of random tables. Each recovered row is a row of the original, complete row groups are
//! recovered, and losses are reported.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::{
    ArrayRef, Float64Array, Int32Array, Int64Array, ListArray, RecordBatch, StringArray,
    types::Int32Type,
};
use herringbone::{
    ColumnOptions, Compression, DataPageVersion, ParquetFile, ReadOptions, WriteOptions, Writer,
};
use herringbone_inspect::repair::{Repair, RepairOptions};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression as PeerCompression;
use parquet::file::properties::{WriterProperties, WriterVersion};

use super::{Rows, all, footer, like, opened, row_groups, which};
use crate::random::Random;

/// The number of tables, each of which is damaged in several ways.
const TABLES: u64 = 24;
/// The number of damaged copies that we make of each table, for each kind of damage.
const COPIES: usize = 6;

/// A table, and the number of rows in each row group.
struct Case {
    file: Vec<u8>,
    row_group_rows: usize,
    /// True if page bodies have checksums.
    has_checksums: bool,
    /// True if the last column has lists in pages of version 1, because these may continue in a missing page.
    may_go_on: bool,
}

fn column(random: &mut Random, kind: usize, rows: usize) -> ArrayRef {
    let range = [3, 40, 1 << 40][random.below(3)];
    let numbers: Vec<i64> = (0..rows).map(|_| random.below(range) as i64).collect();
    let is_null = |random: &mut Random| random.below(5) == 0;
    match kind {
        0 => Arc::new(Int64Array::from(numbers)),
        1 => Arc::new(Int32Array::from_iter_values(
            numbers.iter().map(|number| *number as i32),
        )),
        2 => Arc::new(StringArray::from_iter_values(
            numbers.iter().map(|number| format!("s{number}")),
        )),
        3 => Arc::new(Float64Array::from_iter_values(
            numbers.iter().map(|number| *number as f64),
        )),
        4 => {
            let numbers = numbers.into_iter();
            let some = numbers.map(|number| (!is_null(random)).then_some(number));
            Arc::new(some.collect::<Int64Array>())
        }
        _ => {
            let lists = numbers.into_iter().map(|number| {
                (!is_null(random)).then(|| {
                    (0..number % 4)
                        .map(|i| Some(number as i32 + i as i32))
                        .collect::<Vec<_>>()
                })
            });
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))
        }
    }
}

fn case(seed: u64) -> Case {
    let mut random = Random(seed);
    let rows = 40 + random.below(200);
    let row_group_rows = 10 + random.below(60);
    // Every second table only has columns of one type.
    let one = random.below(6);
    let mut kinds: Vec<usize> = (0..1 + random.below(4)).map(|_| random.below(6)).collect();
    if seed.is_multiple_of(2) {
        kinds.fill(one);
    }
    let columns: Vec<(String, ArrayRef)> = kinds
        .iter()
        .enumerate()
        .map(|(ordinal, kind)| (format!("c{ordinal}"), column(&mut random, *kind, rows)))
        .collect();
    let is_nullable = |kind: usize| kind > 3;
    let columns = columns.into_iter().zip(&kinds);
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.map(|((name, array), kind)| (name, array, is_nullable(*kind))),
    )
    .unwrap();
    let version = random.below(2);
    let page_rows = 3 + random.below(40);
    let dictionary = random.below(2) == 0;
    let codec = random.below(6);
    let may_go_on = version == 0 && kinds.last() == Some(&5);
    let file = match random.below(2) {
        0 => ours(
            &batch,
            version,
            (page_rows, row_group_rows),
            dictionary,
            codec,
        ),
        _ => theirs(
            &batch,
            version,
            (page_rows, row_group_rows),
            dictionary,
            codec,
        ),
    };
    let original = opened(&file);
    let page = original.pages(0, 0).unwrap().next().unwrap().unwrap();
    Case {
        has_checksums: page.header.crc.is_some(),
        row_group_rows,
        file,
        may_go_on,
    }
}

fn ours(
    batch: &RecordBatch,
    version: usize,
    (page_rows, row_group_rows): (usize, usize),
    dictionary: bool,
    codec: usize,
) -> Vec<u8> {
    let codecs = [
        Compression::Uncompressed,
        Compression::Snappy,
        Compression::Gzip(Default::default()),
        Compression::Zstd(Default::default()),
        Compression::Brotli(Default::default()),
        Compression::Lz4Raw,
    ];
    let versions = [DataPageVersion::V1, DataPageVersion::V2];
    let mut columns = ColumnOptions::new().page_rows(page_rows);
    if !dictionary {
        columns = columns.dictionary(false);
    }
    let options = WriteOptions::new()
        .columns(columns)
        .compression(codecs[codec])
        .data_page_version(versions[version])
        .row_group_rows(row_group_rows);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    file
}

fn theirs(
    batch: &RecordBatch,
    version: usize,
    (page_rows, row_group_rows): (usize, usize),
    dictionary: bool,
    codec: usize,
) -> Vec<u8> {
    let codecs = [
        PeerCompression::UNCOMPRESSED,
        PeerCompression::SNAPPY,
        PeerCompression::GZIP(Default::default()),
        PeerCompression::ZSTD(Default::default()),
        PeerCompression::BROTLI(Default::default()),
        PeerCompression::LZ4_RAW,
    ];
    let versions = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];
    let properties = WriterProperties::builder()
        .set_compression(codecs[codec])
        .set_writer_version(versions[version])
        .set_dictionary_enabled(dictionary)
        .set_data_page_row_count_limit(page_rows)
        .set_write_batch_size(page_rows)
        .set_max_row_group_row_count(Some(row_group_rows))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

/// Returns the rows in each recovered row group, and the repair with its losses.
fn repaired(bytes: &[u8], options: &RepairOptions) -> Option<(Vec<Rows>, Repair)> {
    let mut repair = Repair::open(Bytes::copy_from_slice(bytes), options).ok()?;
    repair.check(&ReadOptions::default(), |_| {}).unwrap();
    let back = row_groups(repair.file(), repair.valid_row_groups().iter().copied());
    Some((back, repair))
}

/// Returns the number of recovered rows, and panics if one of them is not in the original.
fn rows_of(original: &[Rows], back: &[Rows]) -> usize {
    let count = |row_groups: &[Rows]| row_groups.iter().map(|row_group| row_group[0].len()).sum();
    if original[0].len() == 1 {
        // We do not know the ends of row groups, so we compare rows in order.
        let flat = |row_groups: &[Rows]| -> Vec<String> {
            row_groups
                .iter()
                .flat_map(|row_group| row_group[0].clone())
                .collect()
        };
        super::rows_in_order(&flat(original), &flat(back));
    } else {
        which(original, back);
    }
    count(back)
}

/// Returns the offsets at which the file's row groups end.
fn ends(file: &ParquetFile) -> Vec<usize> {
    let metadata = file.metadata();
    let last = file.parquet_schema().leaves().len() - 1;
    let end = |row_group| {
        let chunk = metadata.column_chunk(row_group, last).unwrap();
        let chunk = chunk.meta_data.unwrap();
        let start = chunk
            .dictionary_page_offset
            .unwrap_or(chunk.data_page_offset);
        (start + chunk.total_compressed_size) as usize
    };
    (0..metadata.num_row_groups()).map(end).collect()
}

#[test]
fn every_row_is_one_of_the_original() {
    let (mut complete, mut partial) = (0, 0);
    for seed in 0..TABLES {
        let case = case(seed);
        let original = opened(&case.file);
        let originals = all(&original);
        let total: usize = originals.iter().map(|original| original[0].len()).sum();
        let mut random = Random(seed ^ 0xabcd);
        let footer = footer(&case.file);
        let plain = like(&original);
        let mut knowing = plain.clone();
        knowing.row_group_rows = Some(case.row_group_rows as u64);
        let ends = ends(&original);
        let sizes = originals.iter().map(|original| original[0].len());
        // In a cut file, we cannot distinguish a short last row group from a part of a longer one.
        let full = sizes.filter(|size| *size == case.row_group_rows).count();
        // First, the footer is missing, or the file is cut.
        let cuts = (0..COPIES).map(|_| 4 + random.below(footer - 4));
        for cut in cuts.chain([footer]).collect::<Vec<_>>() {
            for (is_knowing, options) in [(false, &plain), (true, &knowing)] {
                let Some((back, repair)) = repaired(&case.file[..cut], options) else {
                    assert!(
                        !is_knowing || ends[0] > cut || full == 0,
                        "table {seed}, {cut} bytes"
                    );
                    continue;
                };
                let rows = rows_of(&originals, &back);
                let said = !repair.lost().is_empty() || !repair.is_end_known();
                assert!(
                    rows == total || said,
                    "table {seed}, {cut} bytes: {rows} of {total} rows"
                );
                let whole = ends.iter().take(full).filter(|end| **end <= cut).count();
                let whole =
                    whole - usize::from(case.may_go_on && !repair.is_end_known() && whole > 0);
                if is_knowing && originals[0].len() > 1 {
                    assert!(
                        back.len() >= whole,
                        "table {seed}, {cut} bytes: {} of {whole}",
                        back.len()
                    );
                    complete += back.len();
                }
            }
        }
        // Second, bits are flipped in the pages, with and without a footer.
        for _ in 0..COPIES {
            let at = 4 + random.below(ends.last().unwrap() - 4);
            let mut damaged = case.file.clone();
            damaged[at] ^= 1 << random.below(8);
            if !case.has_checksums {
                continue;
            }
            for bytes in [&damaged[..], &damaged[..footer]] {
                for options in [&plain, &knowing] {
                    if let Some((back, _)) = repaired(bytes, options) {
                        partial += rows_of(&originals, &back);
                    }
                }
            }
        }
    }
    assert!(
        complete > 250 && partial > 1000,
        "{complete} row groups, {partial} rows"
    );
}
