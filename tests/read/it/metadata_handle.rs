//! Opens a file again with the metadata that we retained, without reading.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::source::{FetchPolicy, Source};
use herringbone::{
    ColumnOptions, ErrorKind, Limits, MetadataHandle, ParquetFile, ReadOptions, Result, Step,
    WriteOptions, Writer,
};

use crate::noting::without_tail;

/// A source that records the ranges that are read from it.
#[derive(Clone)]
struct Noted {
    file: Bytes,
    reads: Arc<Mutex<Vec<Range<u64>>>>,
}

impl Noted {
    fn new(file: Bytes) -> Self {
        let reads = Arc::default();
        Self { file, reads }
    }

    fn take(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.reads.lock().unwrap())
    }
}

impl Source for Noted {
    fn len(&self) -> u64 {
        self.file.len() as u64
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        self.reads.lock().unwrap().push(range.clone());
        Source::read(&self.file, range)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        without_tail()
    }
}

fn file() -> Bytes {
    let column =
        |first: i64| -> ArrayRef { Arc::new(Int64Array::from_iter_values(first..first + 1000)) };
    let batch = RecordBatch::try_from_iter([("a", column(0)), ("b", column(5))]).unwrap();
    // The column chunks have several pages, so that they have page indexes.
    let options = WriteOptions::new()
        .columns(ColumnOptions::new().page_rows(100))
        .row_group_rows(400);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file.into()
}

fn shared_between_threads<T: Send + Sync + Clone>(_: &T) {}

#[test]
fn neither_footer_nor_index_is_read_again() {
    let source = Noted::new(file());
    let first = ParquetFile::from_source(source.clone(), Limits::default()).unwrap();
    assert_eq!(source.take().len(), 2);
    let handle = first.metadata_handle();
    shared_between_threads(&handle);

    let second = ParquetFile::with_metadata(source.clone(), handle.clone()).unwrap();
    assert_eq!(second.metadata().num_row_groups(), 3);
    assert_eq!(source.take(), []);
    assert!(handle.page_index(1, 0).is_none());
    let before = handle.heap_bytes();
    let cell = second.load_page_index(1, 0).unwrap();
    // One read is enough, because the gap between the column index and the offset index is less than 4 KiB.
    assert_eq!(source.take().len(), 1);
    let (columns, offsets) = (cell.columns.unwrap(), cell.offsets.unwrap());
    assert_eq!(offsets.page_locations[0].first_row_index, 0);
    assert!(handle.heap_bytes() >= before + columns.heap_bytes() + offsets.heap_bytes());

    // A third file that uses the same handle also has the cell.
    let third = ParquetFile::with_metadata(source.clone(), handle.clone()).unwrap();
    third.load_page_index(1, 0).unwrap();
    assert_eq!(third.column_index(1, 0).unwrap().as_ref(), Some(&*columns));
    assert_eq!(third.offset_index(1, 0).unwrap().as_ref(), Some(&*offsets));
    assert_eq!(source.take(), []);
    assert_eq!(handle.page_index(1, 0).unwrap().offsets, Some(offsets));
    assert!(handle.page_index(1, 1).is_none());
    handle.drop_page_indexes();
    assert_eq!(handle.heap_bytes(), before);

    let rows = third.read(ReadOptions::new().row_groups(vec![2])).unwrap();
    assert_eq!(
        rows.map(|batch| batch.unwrap().num_rows()).sum::<usize>(),
        200
    );
    // Only column chunks are read.
    let footer = source.file.len() as u64 - 8;
    assert!(source.take().iter().all(|read| read.end < footer));
}

#[test]
fn a_handle_is_made_from_the_end_of_a_file() {
    let file = file();
    let length = file.len() as u64;
    let footer = u32::from_le_bytes(file[file.len() - 8..file.len() - 4].try_into().unwrap());
    let footer = file.len() - 8 - footer as usize;
    for from in [0, footer - 1, footer] {
        let handle = MetadataHandle::decode(&file.slice(from..), length, Limits::default());
        let Step::Ready(handle) = handle.unwrap() else {
            panic!("the footer is there");
        };
        assert_eq!(handle.metadata().num_rows(), 1000);
        assert_eq!(handle.parquet_schema().leaves().len(), 2);
        let opened = ParquetFile::with_metadata(file.clone(), handle).unwrap();
        assert_eq!(opened.read(ReadOptions::new()).unwrap().rows_left(), 1000);
    }
    for from in [file.len() - 8, footer + 1] {
        let few = MetadataHandle::decode(&file.slice(from..), length, Limits::default());
        match few.unwrap() {
            Step::Need(range) => assert_eq!(range, footer as u64..from as u64),
            Step::Ready(_) => panic!("a byte of the footer is missing"),
        }
    }
    let many = MetadataHandle::decode(&file, length - 1, Limits::default()).unwrap_err();
    assert_eq!(many.kind(), ErrorKind::Argument);
}

#[test]
fn a_file_of_another_length_is_refused() {
    let file = file();
    let handle = ParquetFile::from_bytes(file.clone())
        .unwrap()
        .metadata_handle();
    let error = ParquetFile::with_metadata(file.slice(1..), handle)
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(
        error
            .message()
            .contains("the metadata belongs to a file of"),
        "{error}"
    );
}
