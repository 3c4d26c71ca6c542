//! Small files, and a source that records its requests.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use herringbone::arrow::array::cast::AsArray as _;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::source::{FetchPolicy, Source};
use herringbone::{Compression, ParquetFile, Reader, Result, WriteOptions, Writer};

/// A batch with a column `a`, counting from `first`, and a column `b` of its squares.
pub(crate) fn numbers(first: i64, rows: i64) -> RecordBatch {
    let a: ArrayRef = Arc::new((first..first + rows).collect::<Int64Array>());
    let b: ArrayRef = Arc::new((first..first + rows).map(|a| a * a).collect::<Int64Array>());
    RecordBatch::try_from_iter([("a", a), ("b", b)]).unwrap()
}

/// Returns options without dictionaries and compression, so that page bodies have exactly eight
/// bytes per value.
pub(crate) fn plain() -> WriteOptions {
    let mut options = WriteOptions::new().compression(Compression::Uncompressed);
    options.columns.dictionary = Some(false);
    options.columns.encoding = Some(herringbone::format::Encoding::Plain);
    options
}

pub(crate) fn written(batch: &RecordBatch, options: WriteOptions) -> Bytes {
    let mut writer = Writer::new(Vec::new(), batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish_into().unwrap().1.into()
}

/// Returns a file of numbers with this many row groups of this many rows.
pub(crate) fn file(row_groups: i64, rows: i64) -> Bytes {
    let options = plain().row_group_rows(usize::try_from(rows).unwrap());
    written(&numbers(0, row_groups * rows), options)
}

/// Returns the values of `a` in all remaining batches.
pub(crate) fn rest(reader: &mut Reader) -> Vec<i64> {
    let mut values = Vec::new();
    while let Some(batch) = reader.next_batch().unwrap() {
        values.extend(batch.column(0).as_primitive::<Int64Type>().values());
    }
    values
}

/// A source that records each requested range.
#[derive(Clone)]
pub(crate) struct Recorded {
    bytes: Bytes,
    policy: FetchPolicy,
    pub(crate) requests: Arc<Mutex<Vec<Range<u64>>>>,
}

impl Recorded {
    pub(crate) fn new(bytes: Bytes, policy: FetchPolicy) -> Self {
        Self {
            bytes,
            policy,
            requests: Arc::default(),
        }
    }

    pub(crate) fn open(&self) -> ParquetFile {
        ParquetFile::from_source(self.clone(), herringbone::OpenOptions::new()).unwrap()
    }

    /// Returns the requests since the last call.
    pub(crate) fn take(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut *self.requests.lock().unwrap())
    }
}

impl Source for Recorded {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        self.requests.lock().unwrap().push(range.clone());
        self.bytes.read(range)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.policy.clone()
    }
}
