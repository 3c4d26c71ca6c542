//! A read stays within its budget for every encoding and layout.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::format::Encoding;
use herringbone::push::{Poll, PushDecoder};
use herringbone::schema::{ByteLayout, DictionaryOutput};
use herringbone::source::{FetchPolicy, Source};
use herringbone::{ColumnOptions, Compression, ParquetFile, ReadOptions, WriteOptions, Writer};
use herringbone_arrow::array::{
    ArrayRef, BinaryArray, FixedSizeBinaryArray, RecordBatch, StringArray,
};

use super::{ALLOCATOR, ONE_AT_A_TIME, files};

/// Returns the memory that a read may take beyond its budget, as SECURITY.md documents it. It is an eighth of the
/// budget for each thread, a quarter for prefetched bytes, and small uncounted amounts for each column and for the
/// read.
fn margin(budget: u64, columns: usize, shares: usize) -> u64 {
    budget / 8 * shares as u64 + 4096 * columns as u64 + (256 << 10)
}

/// A file whose bytes are allocated when they are read, just as from a disk or a network.
struct Copying(Bytes, FetchPolicy);

impl Source for Copying {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&self, range: Range<u64>) -> herringbone::Result<Bytes> {
        Ok(Bytes::copy_from_slice(&Source::read(&self.0, range)?))
    }

    fn fetch_policy(&self) -> FetchPolicy {
        // No bytes arrive with the footer, so that all reads are visible.
        let mut policy = self.1.clone();
        policy.suffix_bytes = 0;
        policy
    }
}

/// The result of a read.
struct Outcome {
    /// The peak memory after the start, including the last emitted batch while it existed.
    held: u64,
    /// The byte count of the largest batch.
    batch: u64,
    /// True if the budget was too small.
    refused: bool,
}

fn outcome(bytes: &Bytes, options: &ReadOptions, (policy, budget): (&FetchPolicy, u64)) -> Outcome {
    let mut options = options.clone();
    options.limits.get_or_insert_default().memory_bytes = budget;
    let source = Copying(bytes.clone(), policy.clone());
    let file = ParquetFile::from_source(source, options.limits_or_default().into_owned()).unwrap();
    let mut reader = file.read(options).unwrap();
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let mut largest = 0;
    let refused = loop {
        match reader.next_batch() {
            Ok(Some(batch)) => largest = largest.max(batch.get_array_memory_size() as u64),
            Ok(None) => break false,
            Err(error) => break error.limit_name() == Some("memory_bytes"),
        }
    };
    drop(reader);
    Outcome {
        held: ALLOCATOR.peak_usage().saturating_sub(before) as u64,
        batch: largest,
        refused,
    }
}

/// Reads with a budget that grows by a factor of four until it is large enough.
fn keeps(name: &str, bytes: &Bytes, options: &ReadOptions, threads: &[usize]) {
    let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
    let columns = file.parquet_schema().leaves().len();
    let policies = [FetchPolicy::local(), FetchPolicy::remote()];
    for (&threads, policy) in threads
        .iter()
        .flat_map(|thread| policies.iter().map(move |policy| (thread, policy)))
    {
        let options = options.clone().threads(threads);
        // The fetched bytes of each column may remain until it needs its next page.
        let shares = threads + 2 * usize::from(policy.max_bytes_ahead > 0);
        let mut budget = 16 << 10;
        loop {
            let Outcome {
                held,
                batch,
                refused,
            } = outcome(bytes, &options, (policy, budget));
            // An emitted batch does not count, because other threads may continue before it is dropped.
            let emitted = if threads > 1 { batch } else { 0 };
            assert!(
                held <= budget + margin(budget, columns, shares) + emitted,
                "{name}, {threads} threads, {policy:?}: {held} bytes held with a budget of {budget}"
            );
            if !refused {
                break;
            }
            budget *= 4;
        }
    }
}

fn layouts() -> Vec<(String, ReadOptions)> {
    let layouts = [
        (ByteLayout::Offsets, 8192),
        (ByteLayout::LargeOffsets, 8192),
        (ByteLayout::Views, 1000),
    ];
    let mut all = Vec::new();
    for (layout, batch_size) in layouts {
        let mut options = ReadOptions::new().batch_size(batch_size);
        options.schema.strings = layout;
        all.push((format!("{layout:?}"), options));
    }
    let mut options = ReadOptions::new();
    options.schema.dictionary = DictionaryOutput::Always;
    all.push(("dictionaries".to_owned(), options));
    all
}

#[test]
fn official_files() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let Some(root) = files::official() else {
        return;
    };
    let mut paths = files::parquet_files(&root.join("data"));
    // This file has 2 GiB of strings, for which there is a separate test.
    paths.retain(|path| !path.ends_with("large_string_map.brotli.parquet"));
    paths.extend(files::generated());
    for path in paths {
        let bytes = Bytes::from(std::fs::read(&path).unwrap());
        if ParquetFile::from_bytes(bytes.clone()).is_err() {
            // This file is signed or encrypted.
            continue;
        }
        for (layout, options) in layouts() {
            let name = format!("{}, {layout}", files::short(&path));
            keeps(&name, &bytes, &options, &[1, 3]);
        }
    }
}

fn hash(i: usize) -> u64 {
    let mixed = (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 8
}

fn written(columns: Vec<ArrayRef>, options: WriteOptions) -> Bytes {
    let names = (0..).map(|i| format!("c{i}"));
    let batch = RecordBatch::try_from_iter(names.zip(columns)).unwrap();
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options.threads(1)).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    bytes.into()
}

/// These are columns whose values are concatenated, copied or left in place on the way to their array.
#[test]
fn columns_of_byte_arrays() {
    const ROWS: usize = 24_000;
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let text = |i: usize| format!("{:x}", hash(i)).repeat(1 + i % 4);
    // Half of the values repeat, so that dictionaries are abandoned halfway.
    let half_distinct = |row: usize| {
        text(if row.is_multiple_of(2) {
            row
        } else {
            row % 1000
        })
    };
    let strings =
        || -> ArrayRef { Arc::new(StringArray::from_iter_values((0..ROWS).map(half_distinct))) };
    let binary = || -> ArrayRef { Arc::new(BinaryArray::from_iter_values((0..ROWS).map(text))) };
    let fixed = || -> ArrayRef {
        let values = (0..ROWS).map(|row| [hash(row).to_le_bytes(); 3].concat());
        Arc::new(FixedSizeBinaryArray::try_from_iter(values).unwrap())
    };
    let plain = ColumnOptions::new().dictionary(false).page_bytes(128 << 10);
    for compression in [Compression::Uncompressed, Compression::Snappy] {
        let options = || WriteOptions::new().compression(compression);
        let encoded = |encoding| {
            let column = plain.clone().encoding(encoding).compression(compression);
            let mut options = WriteOptions::new();
            options.columns = column;
            options
        };
        let mut dictionaries = options().row_group_rows(9000);
        dictionaries.columns.dictionary = Some(true);
        dictionaries.columns.dictionary_bytes = Some(40 << 10);
        let cases = [
            (
                "dictionaries, then values",
                (0..6).map(|_| strings()).collect(),
                dictionaries,
            ),
            (
                "lengths",
                (0..6).map(|_| binary()).collect(),
                encoded(Encoding::DeltaLengthByteArray),
            ),
            (
                "prefixes",
                (0..6).map(|_| strings()).collect(),
                encoded(Encoding::DeltaByteArray),
            ),
            (
                "streams",
                (0..6).map(|_| fixed()).collect(),
                encoded(Encoding::ByteStreamSplit),
            ),
        ];
        for (name, columns, options) in cases {
            let bytes = written(columns, options);
            for (layout, options) in layouts() {
                let name = format!("{name}, {compression:?}, {layout}");
                keeps(&name, &bytes, &options, &[1, 3]);
            }
        }
    }
}

/// The bytes in a push decoder exceed the read's memory by at most one needed page per column.
#[test]
fn supplied_bytes_keep_to_the_budget() {
    const ROWS: usize = 40_000;
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let binary = || -> ArrayRef {
        let values = (0..ROWS).map(|row| hash(row).to_le_bytes().repeat(1 + row % 4));
        Arc::new(BinaryArray::from_iter_values(values))
    };
    let columns = ColumnOptions::new().dictionary(false).page_bytes(16 << 10);
    let options = WriteOptions::new().columns(columns).row_group_rows(10_000);
    let bytes = written((0..4).map(|_| binary()).collect(), options);
    let rows = |budget: u64| {
        let mut options = ReadOptions::new().batch_size(500);
        options.limits.get_or_insert_default().memory_bytes = budget;
        let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
        let mut decoder = PushDecoder::new(Arc::new(file.plan(&options).unwrap()));
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let mut rows = 0;
        loop {
            match decoder.poll().unwrap() {
                Poll::Needs(needs) => {
                    let soon = needs.soon.into_iter().map(|soon| soon.range);
                    for range in needs.now.into_iter().chain(soon) {
                        let part = range.start as usize..range.end as usize;
                        decoder.supply(range.start, &Bytes::copy_from_slice(&bytes[part]));
                        let buffered = decoder.buffered_bytes();
                        // A page may exceed its target size by a few values.
                        let due = 4 * ((16 << 10) + 512);
                        assert!(buffered <= budget + due, "{buffered} with {budget}");
                    }
                }
                Poll::Batch(batch) => rows += batch.num_rows(),
                Poll::Finished => break,
                Poll::NeedsKeys(_) => unreachable!("nothing is encrypted"),
            }
        }
        let held = ALLOCATOR.peak_usage().saturating_sub(before) as u64;
        assert!(
            held <= budget + margin(budget, 4, 3),
            "{held} with {budget}"
        );
        rows
    };
    for budget in [256 << 10, 400 << 10, 1 << 20, 16 << 20] {
        assert_eq!(rows(budget), ROWS);
    }
}
