//! Files that are written in memory, and read by a reader and by the push decoder.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::RecordBatch;
use herringbone::push::{Needs, Poll, PushDecoder};
use herringbone::{ParquetFile, ReadOptions, ReadPlan, WriteOptions, Writer};

/// Writes a batch as a file.
pub fn written(batch: &RecordBatch, options: WriteOptions) -> Bytes {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    file.into()
}

/// The way in which a driver supplies the needed bytes.
#[derive(Clone, Copy, Debug)]
pub enum Supply {
    /// The driver supplies each range alone, the last one first.
    Backwards,
    /// The driver supplies all ranges, and everything between them, as one range.
    Coalesced,
    /// For each range, the driver first supplies a useless part without its first byte, then the
    /// range and more.
    Generous,
}

pub const SUPPLIES: [Supply; 3] = [Supply::Backwards, Supply::Coalesced, Supply::Generous];

/// Supplies the bytes of a file that the decoder needs.
pub fn supply(decoder: &mut PushDecoder, file: &Bytes, needs: &Needs, how: Supply) {
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

pub fn pushed(
    file: &Bytes,
    options: &ReadOptions,
    how: Supply,
) -> Result<Vec<RecordBatch>, String> {
    let limits = options.limits_or_default().into_owned();
    let plan = ParquetFile::from_source(file.clone(), limits)
        .and_then(|file| file.plan(options))
        .map_err(|error| error.to_string())?;
    pushed_by(plan, file, how)
}

/// Reads a file by a plan, and supplies the bytes in the given way.
pub fn pushed_by(plan: ReadPlan, file: &Bytes, how: Supply) -> Result<Vec<RecordBatch>, String> {
    let mut decoder = PushDecoder::new(Arc::new(plan));
    let mut batches = Vec::new();
    loop {
        match decoder.poll().map_err(|error| error.to_string())? {
            Poll::Batch(batch) => batches.push(batch),
            Poll::Needs(needs) => supply(&mut decoder, file, &needs, how),
            Poll::NeedsKeys(request) => return Err(format!("{request:?}")),
            Poll::Finished => return Ok(batches),
        }
    }
}

pub fn read(file: &Bytes, options: &ReadOptions) -> Result<Vec<RecordBatch>, String> {
    let limits = options.limits_or_default().into_owned();
    let reader =
        ParquetFile::from_source(file.clone(), limits).and_then(|file| file.read(options.clone()));
    let mut reader = reader.map_err(|error| error.to_string())?;
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch().map_err(|error| error.to_string())? {
        batches.push(batch);
    }
    Ok(batches)
}
