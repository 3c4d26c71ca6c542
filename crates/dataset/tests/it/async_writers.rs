//! Writes datasets to a store and compares them with the files of the blocking writer.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use herringbone::{Error, ErrorKind, Result, WriteOptions};
use herringbone_dataset::{
    AsyncDatasetWriter, DatasetWriteOptions, DatasetWriter, Entry, Listing, LocalFiles, WrittenFile,
};
use herringbone_remote::{BoxFuture, Identity, Object, ObjectSink, RemoteWriteOptions, Upload};

use crate::files::{Folder, later};

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<String, Bytes>,
    in_flight: usize,
    most_in_flight: usize,
    aborted: usize,
    /// A directory where objects cannot be created.
    broken: Option<&'static str>,
}

/// An in-memory store for writes.
#[derive(Debug, Clone, Default)]
struct Store(Arc<Mutex<State>>);

impl Store {
    fn paths(&self) -> Vec<String> {
        self.0.lock().unwrap().objects.keys().cloned().collect()
    }

    fn request(&self, path: &str, bytes: Bytes) -> BoxFuture<Result<()>> {
        let (store, path) = (self.clone(), path.to_owned());
        let mut state = self.0.lock().unwrap();
        state.in_flight += 1;
        state.most_in_flight = state.most_in_flight.max(state.in_flight);
        drop(state);
        Box::pin(async move {
            // Each request takes long enough for several other files to be written meanwhile.
            for _ in 0..50 {
                later((), &Arc::default()).await;
            }
            let mut state = store.0.lock().unwrap();
            state.in_flight -= 1;
            if state.broken.is_some_and(|broken| path.contains(broken)) {
                return Err(io::Error::other("no luck").into());
            }
            state.objects.insert(path, bytes);
            Ok(())
        })
    }
}

impl Listing for Store {
    fn list(&self, _: &str) -> BoxFuture<Result<Vec<Entry>>> {
        unreachable!("for writes")
    }

    fn file(&self, _: &str) -> BoxFuture<Result<Option<Identity>>> {
        unreachable!("for writes")
    }

    fn object(&self, _: &str, _: &Identity) -> Arc<dyn Object> {
        unreachable!("for writes")
    }

    fn sink(&self, path: &str) -> Result<Arc<dyn ObjectSink>> {
        Ok(Arc::new(Sink(self.clone(), path.to_owned())))
    }
}

#[derive(Debug)]
struct Sink(Store, String);

impl ObjectSink for Sink {
    fn name(&self) -> &str {
        &self.1
    }

    fn put(&self, bytes: Bytes) -> BoxFuture<Result<()>> {
        self.0.request(&self.1, bytes)
    }

    fn start(&self) -> BoxFuture<Result<Box<dyn Upload>>> {
        let upload = Parts {
            store: self.0.clone(),
            path: self.1.clone(),
            parts: Vec::new(),
        };
        later(Ok(Box::new(upload) as _), &Arc::default())
    }
}

#[derive(Debug)]
struct Parts {
    store: Store,
    path: String,
    parts: Vec<Bytes>,
}

impl Upload for Parts {
    fn put_part(&mut self, bytes: Bytes) -> BoxFuture<Result<()>> {
        self.parts.push(bytes);
        later(Ok(()), &Arc::default())
    }

    fn complete(&mut self) -> BoxFuture<Result<()>> {
        self.store.request(&self.path, self.parts.concat().into())
    }

    fn abort(&mut self) -> BoxFuture<Result<()>> {
        self.store.0.lock().unwrap().aborted += 1;
        later(Ok(()), &Arc::default())
    }
}

/// Returns rows of six partitions, where two partitions have names that need escapes.
pub(crate) fn rows(ids: std::ops::Range<i64>) -> RecordBatch {
    let text =
        |id: i64| [Some("a/b"), Some("é"), None, Some("x"), Some("y"), Some("")][id as usize % 6];
    let texts: ArrayRef = Arc::new(StringArray::from_iter(ids.clone().map(text)));
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(ids));
    RecordBatch::try_from_iter_with_nullable([("text", texts, true), ("id", ids, false)]).unwrap()
}

fn by_text() -> DatasetWriteOptions {
    DatasetWriteOptions::new().partition_by(["text"])
}

/// Returns a file's path without the part that distinguishes its writer.
fn without_id(path: &str) -> String {
    let (directory, name) = path.rsplit_once('/').unwrap();
    let parts: Vec<_> = name.split('-').collect();
    format!("{directory}/{}-{}", parts[0], parts[2])
}

fn described(files: &[WrittenFile]) -> Vec<(String, u64, i64)> {
    let file = |it: &WrittenFile| (without_id(&it.path), it.bytes, it.metadata.num_rows());
    let mut files: Vec<_> = files.iter().map(file).collect();
    files.sort();
    files
}

#[test]
fn files_are_those_of_the_blocking_writer() {
    let open_files = |most| by_text().max_open_files(most);
    for options in [
        by_text(),
        by_text().max_rows(7),
        by_text().max_bytes(1),
        open_files(1),
        open_files(3).max_rows(20),
    ] {
        let batches = [rows(0..100), rows(0..0), rows(100..150)];
        let folder = Folder::new("async-write");
        let mut blocking =
            DatasetWriter::create(&folder.0, batches[0].schema(), options.clone()).unwrap();
        let store = Store::default();
        let schema = batches[0].schema();
        let mut written =
            AsyncDatasetWriter::create(Arc::new(store.clone()), "t/", schema, options).unwrap();
        for batch in &batches {
            blocking.write(batch).unwrap();
            block_on(written.write(batch)).unwrap();
        }
        let (blocking, written) = (
            blocking.finish().unwrap(),
            block_on(written.finish()).unwrap(),
        );
        assert_eq!(described(&written), described(&blocking));
        let mut expected = BTreeMap::new();
        for file in &blocking {
            let bytes = fs::read(folder.0.join(&file.path)).unwrap();
            expected.insert(without_id(&format!("t/{}", file.path)), bytes);
        }
        let state = store.0.lock().unwrap();
        let objects = state.objects.iter();
        let objects: BTreeMap<_, _> = objects
            .map(|(path, bytes)| (without_id(path), bytes.to_vec()))
            .collect();
        assert!(objects == expected, "{:?}", objects.keys());
        assert!(written.is_sorted_by_key(|written| &written.path));
    }
}

#[test]
fn files_are_finished_side_by_side() {
    let store = Store::default();
    let options = by_text().max_open_files(1);
    let schema = rows(0..0).schema();
    let store_ = Arc::new(store.clone());
    let mut writer = AsyncDatasetWriter::create(store_, "", schema, options).unwrap();
    for at in 0..40 {
        block_on(writer.write(&rows(at..at + 1))).unwrap();
    }
    assert_eq!(block_on(writer.finish()).unwrap().len(), 40);
    let most = store.0.lock().unwrap().most_in_flight;
    assert!((2..=17).contains(&most), "{most}");
}

#[test]
fn memory_is_bounded_with_files_that_are_being_finished() {
    let store = Store::default();
    let mut options = by_text();
    options.max_buffered_bytes = 1;
    let schema = rows(0..0).schema();
    let shared = Arc::new(store.clone());
    let mut writer = AsyncDatasetWriter::create(shared, "t", schema, options).unwrap();
    block_on(writer.write(&rows(0..60))).unwrap();
    assert_eq!(writer.memory_size(), 0);
    // One file was finished after the other, because two would take too much memory.
    assert_eq!(store.0.lock().unwrap().most_in_flight, 1);
    assert_eq!(writer.finished_files().len(), 6);
}

#[test]
fn a_failed_writer_leaves_complete_files_alone() {
    let store = Store::default();
    store.0.lock().unwrap().broken = Some("text=x/");
    let shared = || Arc::new(store.clone());
    let create = |options| {
        let schema = rows(0..0).schema();
        let uploads = RemoteWriteOptions::new().part_bytes(64);
        let writer = AsyncDatasetWriter::create(shared(), "t", schema, options);
        writer.unwrap().uploads(uploads)
    };
    let mut writer = create(by_text().max_open_files(1));
    let error = block_on(async {
        for at in 0..20 {
            writer.write(&rows(60 * at..60 * (at + 1))).await?;
        }
        Ok(())
    });
    let error: Result<()> = error;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().contains("t/text=x/part-"), "{error}");
    let again = block_on(writer.write(&rows(0..1))).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Argument);
    block_on(writer.abort()).unwrap();
    assert!(store.paths().iter().all(|path| !path.contains("text=x")));
    assert!(!store.paths().is_empty());

    // Nothing is left of unfinished files.
    let store_before = store.paths();
    let mut writer = create(by_text().write(WriteOptions::new().row_group_rows(100)));
    block_on(writer.write(&rows(0..6000))).unwrap();
    let aborted = store.0.lock().unwrap().aborted;
    block_on(writer.abort()).unwrap();
    assert_eq!(store.paths(), store_before);
    assert_eq!(store.0.lock().unwrap().aborted - aborted, 6);
}

#[test]
fn rows_of_a_dropped_write_are_missed() {
    let schema = rows(0..0).schema();
    let options = by_text().max_open_files(1);
    let store = Arc::new(Store::default());
    let mut writer = AsyncDatasetWriter::create(store, "t", schema, options).unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    {
        let batch = rows(0..60);
        let mut write = Box::pin(writer.write(&batch));
        assert!(write.as_mut().poll(&mut cx).is_pending());
    }
    let error = block_on(writer.finish()).unwrap_err();
    assert!(error.message().contains("failed before"), "{error}");
}

#[test]
fn a_listing_for_reads_is_an_error() {
    let local: Arc<dyn Listing> = Arc::new(LocalFiles);
    let schema = rows(0..0).schema();
    let mut writer = AsyncDatasetWriter::create(local, "t", schema, by_text()).unwrap();
    let error: Error = block_on(writer.write(&rows(0..1))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(!PathBuf::from("t").exists());
}
