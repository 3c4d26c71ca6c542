//! Every byte of small files changed, and the files cut at every length: errors or data, no panic.

use std::ops::ControlFlow;

use bytes::Bytes;
use herringbone::{Error, ParquetFile, ReadOptions};

use crate::files;
use crate::table::without_panic;

/// Files of different encodings, nestings and page kinds, each small enough to be read thousands of
/// times.
const FILES: [&str; 20] = [
    "built/bit_packed_levels",
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
    "built/alp_float",
    "built/float16",
    "built/intervals",
    "built/int96_nanoseconds",
    "built/decimal_dictionary",
    "built/duplicate_names",
    "built/list_two_level_of_map",
    "built/row_groups_of_zero_rows",
];

fn read(bytes: Bytes) -> Result<usize, Error> {
    let options = ReadOptions::default().threads(1).limit(10_000);
    let mut reader = ParquetFile::from_bytes(bytes)?.read(options)?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.num_rows();
    }
    Ok(rows)
}

/// Reads one damaged copy; the answer says how it panicked, and whether there were enough of them.
fn attempt(wrong: &mut Vec<String>, what: impl Fn() -> String, bytes: Vec<u8>) -> ControlFlow<()> {
    if let Err(panic) = without_panic(|| read(Bytes::from(bytes))) {
        wrong.push(format!("{}: {panic}", what()));
    }
    if wrong.len() > 20 {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}

fn damage(wrong: &mut Vec<String>, name: &str, bytes: &[u8]) -> ControlFlow<()> {
    for at in 0..bytes.len() {
        for flip in [0x01, 0x02, 0x10, 0x7f, 0x80, 0xff] {
            let mut copy = bytes.to_vec();
            copy[at] ^= flip;
            attempt(wrong, || format!("{name}: byte {at} ^ {flip:#04x}"), copy)?;
        }
        // Bytes taken out of the middle move everything behind them.
        let mut copy = bytes.to_vec();
        copy.remove(at);
        attempt(wrong, || format!("{name}: byte {at} removed"), copy)?;
        attempt(
            wrong,
            || format!("{name}: cut to {at} bytes"),
            bytes[..at].to_vec(),
        )?;
        // The front is cut off, the footer stays whole.
        attempt(
            wrong,
            || format!("{name}: {at} bytes cut off the front"),
            bytes[at..].to_vec(),
        )?;
    }
    ControlFlow::Continue(())
}

fn open(name: &str) -> Vec<u8> {
    let path = files::testdata().join(format!("{name}.parquet"));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let rows = read(Bytes::from(bytes.clone())).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(rows > 0, "{name} has rows while it is whole");
    bytes
}

#[test]
fn damaged_files_do_not_panic() {
    let mut wrong = Vec::new();
    for name in FILES {
        if damage(&mut wrong, name, &open(name)).is_break() {
            break;
        }
    }
    assert!(
        wrong.is_empty(),
        "{} panics:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
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
        for step in 0..600 {
            let at = step * bytes.len() / 600;
            let mut copy = bytes.clone();
            copy[at] ^= [0x01, 0x80, 0xff, 0x55][step % 4];
            if attempt(
                &mut wrong,
                || format!("{name}: byte {at}, step {step}"),
                copy,
            )
            .is_break()
            {
                break;
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} panics:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
