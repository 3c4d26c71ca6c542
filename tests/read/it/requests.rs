//! Tests the requests that a source receives. The relevant constants of its fetch policy are next to each count.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::push::{FooterDecoder, FooterStep};
use herringbone::source::{FetchPolicy, Source};
use herringbone::{
    ColumnOptions, ErrorKind, Limits, MetadataHandle, PageIndexCell, ParquetFile, ReadOptions,
    Result, Step, WriteOptions, Writer,
};

/// A source that records the ranges in each request. A request is a call of `read` or `read_many`.
#[derive(Clone)]
pub(crate) struct Recorder {
    file: Bytes,
    policy: FetchPolicy,
    requests: Arc<Mutex<Vec<Vec<Range<u64>>>>>,
}

impl Recorder {
    pub(crate) fn new(file: Bytes, policy: FetchPolicy) -> Self {
        Self {
            file,
            policy,
            requests: Arc::default(),
        }
    }

    /// Opens the file with the default limits.
    pub(crate) fn open(&self) -> ParquetFile {
        ParquetFile::from_source(self.clone(), Limits::default()).unwrap()
    }

    /// Returns the requests since the last call.
    pub(crate) fn take(&self) -> Vec<Vec<Range<u64>>> {
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

/// Returns the remote policy, with `suffix_bytes` bytes in the first request.
fn remote(suffix_bytes: u64) -> FetchPolicy {
    let mut policy = FetchPolicy::remote();
    policy.suffix_bytes = suffix_bytes;
    policy
}

/// Writes a file with columns `c0`, `c1`, ... of 1,000 numbers and page indexes. Pages have 100 rows, and row groups
/// have 400, 400 and 200 rows.
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

/// Returns the footer's offset, which is computed from the file's last eight bytes.
fn footer_start(file: &Bytes) -> u64 {
    let tail = file.len() - 8;
    let footer = u32::from_le_bytes(file[tail..tail + 4].try_into().unwrap());
    tail as u64 - u64::from(footer)
}

pub(crate) fn rows(file: &ParquetFile, options: ReadOptions) -> usize {
    let batches = file.read(options).unwrap();
    batches.map(|batch| batch.unwrap().num_rows()).sum()
}

#[test]
fn a_file_smaller_than_the_tail_takes_one_request() {
    let file = file(4);
    let length = file.len() as u64;
    // The first request reads 262,144 bytes.
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
    // Here the first request does not even include the footer's length and magic.
    let source = Recorder::new(file.clone(), remote(0));
    source.open();
    assert_eq!(source.take(), [[length - 8..length], [start..length - 8]]);
    // Here the first request includes the whole footer, and not a byte more.
    let source = Recorder::new(file, remote(length - start));
    source.open();
    assert_eq!(source.take(), [[start..length]]);
}

#[test]
fn a_footer_decoder_takes_a_suffix_that_it_did_not_ask_for() {
    let file = file(4);
    let (length, start) = (file.len() as u64, footer_start(&file));
    let decoder = || FooterDecoder::new(length, Limits::default());
    // The response to a suffix request includes the file's length.
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
    // If we accepted fewer bytes than requested, the request would repeat forever.
    cut.supply(file.slice(file.len() - 60..file.len() - 50));
    assert_eq!(cut.poll().unwrap_err().kind(), ErrorKind::Argument);

    let mut longer = FooterDecoder::new(length - 1, Limits::default());
    longer.supply(file);
    assert_eq!(longer.poll().unwrap_err().kind(), ErrorKind::Argument);
}

#[test]
fn neighbouring_page_indexes_take_one_request() {
    let file = file(10);
    let policy = |max_gap_bytes| {
        let mut policy = remote(0);
        policy.max_gap_bytes = max_gap_bytes;
        policy
    };
    let index_ranges = |opened: &ParquetFile, row_group, leaf| {
        let chunk = opened.metadata().column_chunk(row_group, leaf).unwrap();
        let range = |offset: Option<i64>, length: Option<i32>| {
            let start = offset.unwrap() as u64;
            start..start + length.unwrap() as u64
        };
        [
            range(chunk.column_index_offset, chunk.column_index_length),
            range(chunk.offset_index_offset, chunk.offset_index_length),
        ]
    };
    // No gap is read over. The column indexes of all columns are contiguous, and the offset indexes follow them.
    let source = Recorder::new(file.clone(), policy(0));
    let opened = source.open();
    source.take();
    let all = (0..3).flat_map(|row_group| (0..10).map(move |leaf| (row_group, leaf)));
    let cells = opened.load_page_indexes(all.clone()).unwrap();
    let [first, _] = index_ranges(&opened, 0, 0);
    let [_, last] = index_ranges(&opened, 2, 9);
    assert_eq!(source.take(), [[first.start..last.end]]);
    for ((row_group, leaf), cell) in all.clone().zip(&cells) {
        // Each index must be the same as if it is read alone from bytes in memory.
        let alone = ParquetFile::from_bytes(file.clone()).unwrap();
        let columns = alone.column_index(row_group, leaf).unwrap();
        assert_eq!(cell.columns.as_deref(), columns.as_ref());
        let offsets = alone.offset_index(row_group, leaf).unwrap();
        assert_eq!(cell.offsets.as_deref(), offsets.as_ref());
    }
    // The indexes are retained.
    opened.load_page_indexes(all).unwrap();
    opened.column_index(1, 4).unwrap();
    assert!(source.take().is_empty());

    // Two neighbouring columns take two ranges in one request, or one range that includes the gap between the two kinds
    // of index.
    let source = Recorder::new(file.clone(), policy(0));
    let opened = source.open();
    source.take();
    opened.load_page_indexes([(1, 4), (1, 3)]).unwrap();
    let [columns, offsets] = index_ranges(&opened, 1, 3);
    let [next_columns, next_offsets] = index_ranges(&opened, 1, 4);
    let two = [
        columns.start..next_columns.end,
        offsets.start..next_offsets.end,
    ];
    assert_eq!(source.take(), std::slice::from_ref(&two));
    let gap = two[1].start - two[0].end;
    for (max_gap, expected) in [
        (gap - 1, two.to_vec()),
        (gap, vec![two[0].start..two[1].end]),
    ] {
        let source = Recorder::new(file.clone(), policy(max_gap));
        let opened = source.open();
        source.take();
        opened.load_page_indexes([(1, 3), (1, 4)]).unwrap();
        assert_eq!(source.take(), [expected]);
    }

    // The bounds of pages read both indexes of a chunk in one request if they are at most 10 MB apart, and retain
    // neither.
    let source = Recorder::new(file.clone(), policy(10_000_000));
    let opened = source.open();
    source.take();
    for _ in 0..2 {
        let [columns, offsets] = index_ranges(&opened, 0, 9);
        let bounds = opened.page_bounds(0, 9).unwrap();
        let rows = bounds.unwrap().row_counts;
        assert_eq!(rows.iter().flatten().sum::<u64>(), 400);
        assert_eq!(source.take(), [[columns.start..offsets.end]]);
    }

    // An index that exceeds the maximum request, which is 10 bytes here, is reassembled from several requests.
    let mut small = policy(0);
    small.max_request_bytes = 10;
    let source = Recorder::new(file, small);
    let split = source.open().load_page_index(1, 3).unwrap();
    assert_eq!(split.columns, opened.load_page_index(1, 3).unwrap().columns);
    assert_eq!(split.offsets, opened.load_page_index(1, 3).unwrap().offsets);
}

#[test]
fn a_kept_handle_spares_footer_and_page_indexes() {
    let file = file(10);
    let source = Recorder::new(file.clone(), remote(0));
    let first = source.open();
    let all = (0..3).flat_map(|row_group| (0..10).map(move |leaf| (row_group, leaf)));
    first.load_page_indexes(all.clone()).unwrap();
    // The indexes and the footer are after all pages.
    let chunk = first.metadata().column_chunk(0, 0).unwrap();
    let pages_end = chunk.column_index_offset.unwrap() as u64;
    let options = |threads| {
        let filter = herringbone::filter::col("c3").eq(450_i64);
        ReadOptions::new().filter(filter).threads(threads)
    };
    let handle = first.metadata_handle();
    for threads in [1, 3] {
        let unloaded = MetadataHandle::new(
            first.metadata().clone(),
            handle.file_length(),
            Limits::default(),
        );
        source.take();
        let opened = ParquetFile::with_metadata(source.clone(), unloaded.unwrap()).unwrap();
        assert_eq!(rows(&opened, options(threads)), 1);
        let reads_indexes =
            |ranges: &[Range<u64>]| ranges.iter().any(|range| range.end > pages_end);
        assert!(source.take().iter().any(|ranges| reads_indexes(ranges)));

        let opened = ParquetFile::with_metadata(source.clone(), handle.clone()).unwrap();
        assert_eq!(rows(&opened, options(threads)), 1);
        let taken = source.take();
        assert!(!taken.is_empty());
        assert!(
            !taken.iter().any(|ranges| reads_indexes(ranges)),
            "{taken:?}"
        );
    }

    // We can insert cells that were decoded elsewhere.
    let other = MetadataHandle::decode(&file, file.len() as u64, Limits::default()).unwrap();
    let Step::Ready(other) = other else {
        panic!("all bytes are there");
    };
    for (row_group, leaf) in all {
        let cell = handle.page_index(row_group, leaf).unwrap();
        let cell = PageIndexCell::new(cell.columns, cell.offsets);
        other.insert_page_index(row_group, leaf, cell).unwrap();
    }
    let error = other.insert_page_index(3, 0, PageIndexCell::default());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Argument);
    let opened = ParquetFile::with_metadata(source.clone(), other).unwrap();
    assert_eq!(rows(&opened, options(1)), 1);
    let taken = source.take();
    assert!(
        taken.iter().flatten().all(|range| range.end <= pages_end),
        "{taken:?}"
    );
}

/// The column `c3` of row `row` is 3 more than `row`, so the expected rows follow from the literal.
#[test]
fn kept_page_indexes_prune_rows_once_a_read_has_checked_them() {
    let mut policy = remote(0);
    // Nothing is fetched before it is needed, so that the header is a request of its own.
    policy.round_trip_bytes = 0;
    let source = Recorder::new(file(10), policy);
    let opened = source.open();
    opened.load_page_indexes((0..3).map(|at| (at, 3))).unwrap();
    let handle = opened.metadata_handle();
    let opened = ParquetFile::with_metadata(source.clone(), handle.clone()).unwrap();
    let wide = herringbone::filter::col("c3").between(450_i64, 451_i64);
    let rows_left = |handle: &MetadataHandle| -> Vec<(usize, u64)> {
        let left = handle.prune(&wide).unwrap();
        left.iter()
            .map(|group| (group.ordinal(), group.num_wanted()))
            .collect()
    };
    source.take();
    // The index may count rows wrongly, so all rows of the row group remain.
    let unchecked = rows_left(&handle);
    assert_eq!(unchecked.len(), 1);
    assert_eq!(unchecked[0].1, 400);
    let frozen = handle.frozen();
    assert_eq!(source.take().len(), 0);
    let read = || {
        let filter = herringbone::filter::col("c3").eq(450_i64);
        rows(&opened, ReadOptions::new().filter(filter).threads(1))
    };
    assert_eq!(read(), 1);
    let first = source.take();
    let checked = rows_left(&handle);
    assert_eq!(checked.len(), 1);
    assert!((2..400).contains(&checked[0].1), "{checked:?}");
    assert_eq!(rows_left(&frozen), unchecked);
    // This value lies between two pages, so the bounds of pages rule out all rows.
    let none = herringbone::filter::col("c3").eq(-1_i64);
    assert!(handle.prune(&none).unwrap().is_empty());
    assert_eq!(source.take().len(), 0);
    // The next read needs no header before it fetches pages.
    assert_eq!(read(), 1);
    assert!(source.take().len() < first.len(), "{first:?}");
}

#[test]
fn a_frozen_handle_does_not_grow() {
    let source = Recorder::new(file(10), remote(0));
    let opened = source.open();
    opened.load_page_index(0, 0).unwrap();
    let handle = opened.metadata_handle();
    let frozen = handle.frozen();
    let bytes = frozen.heap_bytes();
    assert_eq!(bytes, handle.heap_bytes());
    let second = ParquetFile::with_metadata(source.clone(), frozen.clone()).unwrap();
    source.take();
    for _ in 0..2 {
        assert!(second.load_page_index(0, 0).unwrap().offsets.is_some());
        assert_eq!(source.take().len(), 0);
        assert!(second.load_page_index(0, 1).unwrap().offsets.is_some());
        assert_eq!(source.take().len(), 1);
    }
    let cell = second.load_page_index(0, 1).unwrap();
    frozen.insert_page_index(0, 1, cell.clone()).unwrap();
    assert!(frozen.page_index(0, 1).is_none());
    assert_eq!(frozen.heap_bytes(), bytes);
    assert_eq!(second.metadata_handle().heap_bytes(), bytes);
    // The handle from which it was frozen still accepts cells.
    handle.insert_page_index(0, 1, cell).unwrap();
    assert!(handle.heap_bytes() > bytes);
}

#[test]
fn indexes_that_share_bytes_are_not_decoded_without_end() {
    let file = file(10);
    let mut limits = Limits::default();
    // Together, the indexes are smaller than the file, but not if they are repeated `file.len()` times.
    limits.overlap_ratio = 1;
    let opened = ParquetFile::from_source(file.clone(), limits).unwrap();
    opened.load_page_indexes([(0, 0), (0, 1)]).unwrap();
    let many = std::iter::repeat_n((2, 9), file.len());
    let error = opened.load_page_indexes(many).unwrap_err();
    assert_eq!(error.limit_name(), Some("overlap_ratio"));
}

#[test]
fn ranges_of_bytes_tile_the_rows() {
    let opened = ParquetFile::from_bytes(file(3)).unwrap();
    let handle = opened.metadata_handle();
    let length = handle.file_length();
    for parts in 1..8 {
        let mut found = 0;
        for part in 0..parts {
            let bytes = length * part / parts..length * (part + 1) / parts;
            let row_groups = handle.row_groups_in(bytes).unwrap();
            found += rows(&opened, ReadOptions::new().row_groups(row_groups));
        }
        assert_eq!(found, 1000);
    }
}
