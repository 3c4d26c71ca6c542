//! Every byte of small files changed, and the files cut at every length: errors or data, no panic.

use std::ops::ControlFlow;

use bytes::Bytes;
use herringbone::schema::{ByteLayout, DictionaryOutput, ListLayout};
use herringbone::{Error, ParquetFile, ReadOptions, SchemaOptions};
use herringbone_arrow::array::Array;

use crate::files;
use crate::table::without_panic;

/// Files of different encodings, nestings and page kinds, each small enough to be read thousands of
/// times.
const FILES: [&str; 23] = [
    "built/bit_packed_levels",
    "built/delta_strings_small",
    "built/pages_start_inside_a_row",
    "built/nested_mixed_runs",
    "built/list_of_map_of_list",
    "built/dictionary_falls_back_midway",
    "built/plain_dictionary_wide_codes",
    "built/uncompressed_v2_page_in_compressed_chunk",
    "built/index_and_unknown_pages",
    "built/page_checksums",
    "built/gzip_of_three_members",
    "built/lzo_v2_with_matches",
    "built/alp_double",
    "built/byte_stream_split_small",
    "built/lz4_hadoop_small",
    "built/alp_float",
    "built/float16",
    "built/intervals",
    "built/int96_nanoseconds",
    "built/decimal_dictionary",
    "built/duplicate_names",
    "built/list_two_level_of_map",
    "built/row_groups_of_zero_rows",
];

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
            options.verify_crc(false).schema(schema)
        }
    }
}

/// Reads all rows; arrays that come out have to be valid, whatever the file says.
fn read(bytes: Bytes, turn: usize) -> Result<usize, Error> {
    let mut reader = ParquetFile::from_bytes(bytes)?.read(options(turn))?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.num_rows();
        for column in batch.columns() {
            column.to_data().validate_full().expect("a valid array");
        }
    }
    Ok(rows)
}

/// Damaged copies of one file, and those that made the reader panic.
struct Damage<'a> {
    name: &'a str,
    bytes: &'a [u8],
    attempts: usize,
    wrong: &'a mut Vec<String>,
}

impl Damage<'_> {
    /// Reads one copy; stops after too many panics.
    fn attempt(&mut self, what: impl Fn() -> String, copy: Vec<u8>) -> ControlFlow<()> {
        self.attempts += 1;
        let turn = self.attempts;
        if let Err(panic) = without_panic(|| read(Bytes::from(copy), turn)) {
            self.wrong.push(format!(
                "{}: {}, turn {}: {panic}",
                self.name,
                what(),
                turn % 4
            ));
        }
        if self.wrong.len() > 20 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn flip(&mut self, at: usize, flip: u8) -> ControlFlow<()> {
        let mut copy = self.bytes.to_vec();
        copy[at] ^= flip;
        self.attempt(|| format!("byte {at} ^ {flip:#04x}"), copy)
    }

    fn everywhere(&mut self) -> ControlFlow<()> {
        for at in 0..self.bytes.len() {
            for flip in [0x01, 0x02, 0x10, 0x7f, 0x80, 0xff] {
                self.flip(at, flip)?;
            }
            // Bytes taken out of the middle move everything behind them.
            let mut copy = self.bytes.to_vec();
            copy.remove(at);
            self.attempt(|| format!("byte {at} removed"), copy)?;
            self.attempt(|| format!("cut to {at} bytes"), self.bytes[..at].to_vec())?;
            // The front is cut off, the footer stays whole.
            self.attempt(
                || format!("{at} bytes off the front"),
                self.bytes[at..].to_vec(),
            )?;
        }
        ControlFlow::Continue(())
    }
}

fn open(name: &str) -> Vec<u8> {
    let path = files::testdata().join(format!("{name}.parquet"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    for turn in 0..4 {
        let rows = read(Bytes::from(bytes.clone()), turn)
            .unwrap_or_else(|error| panic!("{name}, turn {turn}: {error}"));
        // Files of one row have none where the options pass over the first.
        assert!(
            rows > 0 || turn % 4 != 0,
            "{name} has rows while it is whole"
        );
    }
    bytes
}

fn report(wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{} panics:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn damaged_files_do_not_panic() {
    let mut wrong = Vec::new();
    for name in FILES {
        let bytes = open(name);
        let mut damage = Damage {
            name,
            bytes: &bytes,
            attempts: 0,
            wrong: &mut wrong,
        };
        if damage.everywhere().is_break() {
            break;
        }
        assert_eq!(damage.attempts, bytes.len() * 9);
    }
    report(&wrong);
}

/// Larger files of real writers: a byte here and there.
#[test]
fn damaged_files_of_writers_do_not_panic() {
    let mut wrong = Vec::new();
    for name in [
        "example",
        "pyarrow/codec_snappy_v2",
        "duckdb/uuid_interval_enum",
        "polars/nested_zstd",
    ] {
        let bytes = open(name);
        let mut damage = Damage {
            name,
            bytes: &bytes,
            attempts: 0,
            wrong: &mut wrong,
        };
        for step in 0..600 {
            let flip = [0x01, 0x80, 0xff, 0x55, 0x02][step % 5];
            if damage.flip(step * bytes.len() / 600, flip).is_break() {
                break;
            }
        }
    }
    report(&wrong);
}
