//! Which requests a source gets. The figures of its policy that matter stand next to each count.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::push::{FooterDecoder, FooterStep};
use herringbone::source::{FetchPolicy, Source};
use herringbone::{
    ColumnOptions, ErrorKind, Limits, ParquetFile, ReadOptions, Result, WriteOptions, Writer,
};

/// A source that notes the ranges of each request: of each call of `read` or `read_many`.
#[derive(Clone)]
struct Recorder {
    file: Bytes,
    policy: FetchPolicy,
    requests: Arc<Mutex<Vec<Vec<Range<u64>>>>>,
}

impl Recorder {
    fn new(file: Bytes, policy: FetchPolicy) -> Self {
        Self {
            file,
            policy,
            requests: Arc::default(),
        }
    }

    /// Opens the file, under the limits that the default options have.
    fn open(&self) -> ParquetFile {
        ParquetFile::from_source(self.clone(), Limits::default()).unwrap()
    }

    /// The requests since the last call.
    fn take(&self) -> Vec<Vec<Range<u64>>> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

impl Source for Recorder {
    fn len(&self) -> u64 {
        self.file.len() as u64
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        self.requests.lock().unwrap().push(vec![range.clone()]);
        Source::read(&self.file, range)
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.requests.lock().unwrap().push(ranges.to_vec());
        self.file.read_many(ranges)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.policy.clone()
    }
}

/// The remote policy with so many bytes of the first request.
fn remote(suffix_bytes: u64) -> FetchPolicy {
    let mut policy = FetchPolicy::remote();
    policy.suffix_bytes = suffix_bytes;
    policy
}

/// A file of columns `c0`, `c1`, … of 1,000 numbers, with page indexes: pages of 100 rows in row
/// groups of 400, 400 and 200 rows.
fn file(columns: usize) -> Bytes {
    let column = |column: usize| -> (String, ArrayRef) {
        let first = column as i64;
        let values = Int64Array::from_iter_values(first..first + 1000);
        (format!("c{column}"), Arc::new(values))
    };
    let batch = RecordBatch::try_from_iter((0..columns).map(column)).unwrap();
    let options = WriteOptions::new()
        .columns(ColumnOptions::new().page_rows(100))
        .row_group_rows(400);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file.into()
}

/// Where the footer of a file starts, which its last eight bytes give.
fn footer_start(file: &Bytes) -> u64 {
    let tail = file.len() - 8;
    let footer = u32::from_le_bytes(file[tail..tail + 4].try_into().unwrap());
    tail as u64 - u64::from(footer)
}

fn rows(file: &ParquetFile, options: ReadOptions) -> usize {
    let batches = file.read(options).unwrap();
    batches.map(|batch| batch.unwrap().num_rows()).sum()
}

#[test]
fn a_file_smaller_than_the_tail_takes_one_request() {
    let file = file(4);
    let length = file.len() as u64;
    // 262,144 bytes are read first.
    let policy = FetchPolicy::remote();
    assert!(length < 262_144);
    for threads in [1, 3] {
        let source = Recorder::new(file.clone(), policy.clone());
        let opened = source.open();
        assert_eq!(rows(&opened, ReadOptions::new().threads(threads)), 1000);
        assert!(opened.pages(1, 2).unwrap().count() > 1);
        assert!(opened.column_index(2, 3).unwrap().is_some());
        assert_eq!(source.take(), [[0..length]]);
    }
}

#[test]
fn a_longer_footer_takes_one_more_request_for_the_missing_part() {
    let file = file(40);
    let (length, start) = (file.len() as u64, footer_start(&file));
    assert!(length - start > 1000);
    let source = Recorder::new(file.clone(), remote(1000));
    let opened = source.open();
    assert_eq!(opened.metadata().num_rows(), 1000);
    assert_eq!(
        source.take(),
        [[length - 1000..length], [start..length - 1000]]
    );
    // Not even its length and magic come with the first request.
    let source = Recorder::new(file.clone(), remote(0));
    source.open();
    assert_eq!(source.take(), [[length - 8..length], [start..length - 8]]);
    // All of it comes, and not a byte more.
    let source = Recorder::new(file, remote(length - start));
    source.open();
    assert_eq!(source.take(), [[start..length]]);
}

#[test]
fn a_footer_decoder_takes_a_suffix_that_it_did_not_ask_for() {
    let file = file(4);
    let (length, start) = (file.len() as u64, footer_start(&file));
    let decoder = || FooterDecoder::new(length, Limits::default());
    // The answer to a request for a suffix has the length of the file.
    let mut suffix = decoder();
    suffix.supply(file.slice(start as usize - 5..));
    assert!(matches!(suffix.poll().unwrap(), FooterStep::Ready(_)));
    assert_eq!(suffix.into_supplied(), file[start as usize - 5..]);

    let mut cut = decoder();
    cut.supply(file.slice(file.len() - 50..));
    match cut.poll().unwrap() {
        FooterStep::Need(range) => assert_eq!(range, start..length - 50),
        other => panic!("{other:?}"),
    }
    // Fewer bytes than were asked for would be asked for without end.
    cut.supply(file.slice(file.len() - 60..file.len() - 50));
    assert_eq!(cut.poll().unwrap_err().kind(), ErrorKind::Argument);

    let mut longer = FooterDecoder::new(length - 1, Limits::default());
    longer.supply(file);
    assert_eq!(longer.poll().unwrap_err().kind(), ErrorKind::Argument);
}
