//! An in-memory file that records which ranges are read.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use herringbone::arrow::array::RecordBatch;
use herringbone::source::{FetchPolicy, Source};
use herringbone::{Error, OpenOptions, ParquetFile, WriteOptions, Writer};

/// Returns the policy of local files, except that the footer is read without further bytes, so that
/// we see all reads.
pub fn without_tail() -> FetchPolicy {
    let mut policy = FetchPolicy::local();
    policy.suffix_bytes = 0;
    policy
}

/// Bytes in memory that record which of their ranges are read.
#[derive(Clone)]
pub struct Noting {
    pub bytes: Bytes,
    reads: Arc<Mutex<Vec<Range<u64>>>>,
}

impl Source for Noting {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes, Error> {
        self.reads.lock().unwrap().push(range.clone());
        self.bytes.read(range)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        without_tail()
    }
}

impl Noting {
    pub fn new(batch: &RecordBatch, options: WriteOptions) -> (Self, ParquetFile) {
        Self::opened(batch, options, OpenOptions::new())
    }

    /// Writes the batch and opens the file with these options.
    pub fn opened(
        batch: &RecordBatch,
        options: WriteOptions,
        open: OpenOptions,
    ) -> (Self, ParquetFile) {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
        let source = Self {
            bytes: bytes.into(),
            reads: Arc::default(),
        };
        let file = ParquetFile::from_source(source.clone(), open).unwrap();
        source.reads.lock().unwrap().clear();
        (source, file)
    }

    /// Returns the ranges that were read since the last call, in ascending order.
    pub fn take(&self) -> Vec<Range<u64>> {
        let mut reads = std::mem::take(&mut *self.reads.lock().unwrap());
        reads.sort_by_key(|range| (range.start, range.end));
        reads
    }
}

/// Returns the sum of the ranges' lengths.
pub fn total(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}
