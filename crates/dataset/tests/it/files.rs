//! Files to read, and a listing that counts requests.

use std::collections::BTreeMap;
use std::fs;
use std::future::poll_fn;
use std::ops::Range;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch, cast::AsArray, types};
use herringbone::{Error, Result, WriteOptions, Writer};
use herringbone_dataset::{DatasetReader, Entry, Listing};
use herringbone_remote::{Answer, BoxFuture, Identity, Object};

/// A folder in the temporary directory, removed at the end of the test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let name = format!("herringbone-dataset-{}-{name}", process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// Writes a file with these values in a column `id`.
    pub(crate) fn add(&self, path: &str, ids: Range<i64>) {
        self.put(path, &file(&batch(ids)));
    }

    pub(crate) fn put(&self, path: &str, bytes: &[u8]) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

pub(crate) fn batch(ids: Range<i64>) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(ids));
    RecordBatch::try_from_iter([("id", ids)]).unwrap()
}

pub(crate) fn file(batch: &RecordBatch) -> Bytes {
    let mut file = Vec::new();
    let options = WriteOptions::new().row_group_rows(1000);
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    file.into()
}

/// Returns the values of the column `id`.
pub(crate) fn ids(batches: &[RecordBatch]) -> Vec<i64> {
    let ids = batches.iter().flat_map(|batch| {
        let ids = batch.column_by_name("id").unwrap();
        ids.as_primitive::<types::Int64Type>().values().to_vec()
    });
    ids.collect()
}

pub(crate) fn all(mut reader: DatasetReader) -> Result<Vec<RecordBatch>> {
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        assert_eq!(batch.schema(), reader.schema());
        batches.push(batch);
    }
    Ok(batches)
}

/// A value that counts itself among the live ones until it is dropped.
struct Live(Arc<AtomicUsize>);

impl Live {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count.clone())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Returns a future that stays pending for one poll. It counts as live until it is dropped.
pub(crate) fn later<T: Send + Unpin + 'static>(
    value: T,
    futures: &Arc<AtomicUsize>,
) -> BoxFuture<T> {
    let live = Live::new(futures);
    let (mut value, mut is_polled) = (Some(value), false);
    Box::pin(poll_fn(move |cx| {
        let _live = &live;
        if !is_polled {
            is_polled = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(value.take().unwrap())
    }))
}

/// The paths and byte ranges of requests.
type Requests = Vec<(String, Range<u64>)>;

/// In-memory files. The bucket counts listed directories and each file's requests.
#[derive(Debug, Default)]
pub(crate) struct Bucket {
    files: BTreeMap<String, Bytes>,
    pub(crate) listed: Mutex<Vec<String>>,
    pub(crate) requests: Arc<Mutex<Requests>>,
    pub(crate) open: Arc<AtomicUsize>,
    pub(crate) most_open: Arc<AtomicUsize>,
    /// The number of the bucket's live futures.
    pub(crate) futures: Arc<AtomicUsize>,
}

impl Bucket {
    pub(crate) fn new<P: Into<String>>(files: impl IntoIterator<Item = (P, Bytes)>) -> Arc<Self> {
        let files = files.into_iter().map(|(path, bytes)| (path.into(), bytes));
        Arc::new(Self {
            files: files.collect(),
            ..Self::default()
        })
    }

    /// Returns the directories listed since the last call.
    pub(crate) fn take_listed(&self) -> Vec<String> {
        std::mem::take(&mut self.listed.lock().unwrap())
    }

    /// Returns the files with footers requested since the last call.
    pub(crate) fn take_footers(&self) -> Vec<String> {
        let requests = std::mem::take(&mut *self.requests.lock().unwrap());
        let is_footer = |it: &(String, Range<u64>)| it.1.end == self.files[&it.0].len() as u64;
        requests
            .into_iter()
            .filter(is_footer)
            .map(|request| request.0)
            .collect()
    }

    /// Returns the distinct paths requested since the last call.
    pub(crate) fn take_requested(&self) -> Vec<String> {
        let requests = std::mem::take(&mut *self.requests.lock().unwrap());
        let mut requests: Vec<_> = requests.into_iter().map(|request| request.0).collect();
        requests.sort();
        requests.dedup();
        requests
    }
}

fn identity(bytes: &Bytes) -> Identity {
    Identity::new(bytes.len() as u64).e_tag(Some("\"1\"".to_owned()))
}

impl Listing for Bucket {
    fn list(&self, directory: &str) -> BoxFuture<Result<Vec<Entry>>> {
        self.listed.lock().unwrap().push(directory.to_owned());
        let mut entries: Vec<Entry> = Vec::new();
        for (path, bytes) in &self.files {
            let rest = path.strip_prefix(directory);
            let Some(rest) = rest.and_then(|rest| rest.strip_prefix('/')) else {
                continue;
            };
            let entry = match rest.split_once('/') {
                Some((name, _)) => Entry::directory(name),
                None => Entry::file(rest, identity(bytes)),
            };
            // The paths are sorted, so equal entries are adjacent.
            if entries.last() != Some(&entry) {
                entries.push(entry);
            }
        }
        later(Ok(entries), &self.futures)
    }

    fn file(&self, path: &str) -> BoxFuture<Result<Option<Identity>>> {
        later(Ok(self.files.get(path).map(identity)), &self.futures)
    }

    fn object(&self, path: &str, _: &Identity) -> Arc<dyn Object> {
        let open = self.open.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_open.fetch_max(open, Ordering::SeqCst);
        Arc::new(Memory {
            path: path.to_owned(),
            bytes: self.files[path].clone(),
            requests: self.requests.clone(),
            open: self.open.clone(),
            futures: self.futures.clone(),
        })
    }
}

#[derive(Debug)]
struct Memory {
    path: String,
    bytes: Bytes,
    requests: Arc<Mutex<Requests>>,
    open: Arc<AtomicUsize>,
    futures: Arc<AtomicUsize>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Object for Memory {
    fn name(&self) -> &str {
        &self.path
    }

    fn tail(&self, _: u64) -> BoxFuture<Result<Answer>> {
        later(Err(Error::argument("the identity is known")), &self.futures)
    }

    fn range(&self, range: Range<u64>, _: &Identity) -> BoxFuture<Result<Answer>> {
        let request = (self.path.clone(), range.clone());
        self.requests.lock().unwrap().push(request);
        let bytes = self.bytes.slice(range.start as usize..range.end as usize);
        let identity = identity(&self.bytes);
        let answer = Answer {
            bytes,
            range,
            identity,
        };
        later(Ok(answer), &self.futures)
    }

    fn identity(&self) -> Option<Identity> {
        Some(identity(&self.bytes))
    }
}
