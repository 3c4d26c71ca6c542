//! The push decoder gives what the reader gives, however the bytes arrive.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::RecordBatch;
use herringbone::push::{Needs, Poll, PushDecoder};
use herringbone::{ParquetFile, ReadOptions, ReadPlan};

use crate::files;

/// How a driver answers what the decoder needs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Supply {
    /// Each range alone, the last one first.
    Backwards,
    /// All of them with everything between them, as one.
    Coalesced,
    /// A part that covers no range first, which is of no use, then each range and more.
    Generous,
}

pub(crate) const SUPPLIES: [Supply; 3] = [Supply::Backwards, Supply::Coalesced, Supply::Generous];

fn supply(decoder: &mut PushDecoder, file: &Bytes, needs: &Needs, how: Supply) {
    let slice = |from: u64, to: u64| file.slice(from as usize..(to as usize).min(file.len()));
    match how {
        Supply::Backwards => {
            for range in needs.now.iter().rev() {
                decoder.supply(range.start, &slice(range.start, range.end));
            }
        }
        Supply::Coalesced => {
            let start = needs.now.iter().map(|range| range.start).min().unwrap();
            let end = needs.now.iter().map(|range| range.end).max().unwrap();
            decoder.supply(start, &slice(start, end));
        }
        Supply::Generous => {
            for range in &needs.now {
                decoder.supply(range.start + 1, &slice(range.start + 1, range.end));
                let start = range.start.saturating_sub(7);
                decoder.supply(start, &slice(start, range.end + 1000));
            }
        }
    }
}

pub(crate) fn pushed(
    file: &Bytes,
    options: &ReadOptions,
    how: Supply,
) -> Result<Vec<RecordBatch>, String> {
    let limits = options.limits.clone();
    let plan = ParquetFile::from_source(file.clone(), limits)
        .and_then(|file| file.plan(options))
        .map_err(|error| error.to_string())?;
    pushed_by(plan, file, how)
}

/// Reads by a plan, with bytes of the file that are supplied in this way.
pub(crate) fn pushed_by(
    plan: ReadPlan,
    file: &Bytes,
    how: Supply,
) -> Result<Vec<RecordBatch>, String> {
    let mut decoder = PushDecoder::new(Arc::new(plan));
    let mut batches = Vec::new();
    loop {
        match decoder.poll().map_err(|error| error.to_string())? {
            Poll::Batch(batch) => batches.push(batch),
            Poll::Needs(needs) => supply(&mut decoder, file, &needs, how),
            Poll::NeedsKey(request) => return Err(format!("{request:?}")),
            Poll::Finished => return Ok(batches),
        }
    }
}

pub(crate) fn read(file: &Bytes, options: &ReadOptions) -> Result<Vec<RecordBatch>, String> {
    let limits = options.limits.clone();
    let reader =
        ParquetFile::from_source(file.clone(), limits).and_then(|file| file.read(options.clone()));
    let mut reader = reader.map_err(|error| error.to_string())?;
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch().map_err(|error| error.to_string())? {
        batches.push(batch);
    }
    Ok(batches)
}

/// Compares all rows, or as many as `most`.
fn compare(path: &Path, most: u64) {
    let file = Bytes::from(std::fs::read(path).unwrap());
    for options in [
        ReadOptions::new().threads(1).limit(most),
        ReadOptions::new()
            .threads(1)
            .batch_size(7)
            .offset(3)
            .limit(40),
    ] {
        let expected = read(&file, &options);
        for how in SUPPLIES {
            let got = pushed(&file, &options, how);
            assert_eq!(got, expected, "{how:?} of {}", path.display());
        }
    }
}

#[test]
fn pushed_bytes_give_the_same_batches() {
    let files = files::generated();
    assert!(files.len() > 50);
    files.iter().for_each(|path| compare(path, u64::MAX));
}

#[test]
fn pushed_bytes_give_the_same_errors() {
    let growing = crate::hostile::growing();
    for path in files::parquet_files(&files::testdata().join("hostile")) {
        // The rows of these are gigabytes, each a byte longer than the one before.
        let is_growing = growing
            .iter()
            .any(|name| path.file_stem() == Some(name.as_ref()));
        compare(&path, if is_growing { 3_000 } else { u64::MAX });
    }
}
