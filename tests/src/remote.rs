//! Checks that async reads of objects return the batches, losses and errors of blocking reads. The
//! suites call [`compare`] for each of their cases.

use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use herringbone::arrow::array::RecordBatch;
use herringbone::push::FetchPolicy;
use herringbone::source::Source;
use herringbone::{Loss, Losses, Lost, ParquetFile, ReadOptions, Result, Spawn};
use herringbone_remote::{Answer, BoxFuture, Identity, Object, RemoteFile, RemoteOptions};

/// The step between compared cases, because suites with many cases only compare those whose number
/// is a multiple of it.
pub const EVERY_NTH_CASE: usize = 12;

/// A file's bytes as an object, whose requests are pending once.
struct Stored {
    source: Arc<dyn Source>,
    requests: AtomicU64,
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Stored")
    }
}

impl Stored {
    fn answer(&self, range: Range<u64>) -> BoxFuture<Result<Answer>> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let identity = Identity::new(self.source.len());
        let answer = self.source.read(range.clone()).map(|bytes| Answer {
            bytes,
            range,
            identity,
        });
        let (is_pending, mut answer) = (AtomicBool::new(true), Some(answer));
        Box::pin(std::future::poll_fn(move |cx| {
            if is_pending.swap(false, Ordering::Relaxed) {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            Poll::Ready(answer.take().unwrap())
        }))
    }
}

impl Object for Stored {
    fn name(&self) -> &str {
        "an object"
    }

    fn tail(&self, bytes: u64) -> BoxFuture<Result<Answer>> {
        let length = self.source.len();
        self.answer(length.saturating_sub(bytes)..length)
    }

    fn range(&self, range: Range<u64>, _: &Identity) -> BoxFuture<Result<Answer>> {
        self.answer(range)
    }
}

/// Waits for a future on this thread.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let (mut future, mut cx) = (pin!(future), Context::from_waker(&waker));
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// A host that starts a thread for each job.
#[derive(Debug)]
struct Threads;

impl Spawn for Threads {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        drop(std::thread::spawn(job));
    }
}

/// The outcome of a read, with the batches that came before an error.
#[derive(Debug, PartialEq)]
struct Outcome {
    batches: Vec<RecordBatch>,
    losses: Vec<String>,
    error: Option<String>,
}

/// Returns the losses as texts. If a filter selects rows, the number of lost rows is an upper
/// bound. It is lower if more rows were tested before the damage was found.
fn texts(losses: &Losses, is_filtered: bool) -> Vec<String> {
    let text = |loss: &Loss| match loss.lost {
        Lost::Rows(_) if is_filtered => format!("rows: {}", loss.error),
        lost => format!("{lost:?}: {}", loss.error),
    };
    losses.kept().iter().map(text).collect()
}

fn blocking(file: &ParquetFile, options: ReadOptions) -> Outcome {
    let mut outcome = Outcome {
        batches: Vec::new(),
        losses: Vec::new(),
        error: None,
    };
    let is_filtered = options.filter.is_some();
    // If a file was opened by its path, its errors begin with the path, but an object's do not.
    let file = file.without_name();
    let result = file.read(options).and_then(|mut reader| {
        let mut next = || reader.next_batch();
        let result = loop {
            match next() {
                Ok(Some(batch)) => outcome.batches.push(batch),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        outcome.losses = texts(reader.losses(), is_filtered);
        result
    });
    outcome.error = result.err().map(|error| error.to_string());
    outcome
}

/// Reads a file by a stream.
fn remote(file: &ParquetFile, options: ReadOptions, policy: FetchPolicy) -> Outcome {
    let stored = Arc::new(Stored {
        source: file.source().clone(),
        requests: AtomicU64::new(0),
    });
    let identity = Identity::new(stored.source.len());
    let open = RemoteOptions::new().fetch_policy(policy);
    let handle = file.metadata_handle();
    let opened = RemoteFile::with_metadata(stored.clone(), identity, handle, open).unwrap();
    let mut outcome = Outcome {
        batches: Vec::new(),
        losses: Vec::new(),
        error: None,
    };
    let is_filtered = options.filter.is_some();
    let result = opened.read(options).and_then(|mut stream| {
        let result = block_on(async {
            while let Some(batch) = stream.next_batch().await? {
                outcome.batches.push(batch);
            }
            Ok(())
        });
        assert_eq!(stream.rows_left(), 0);
        outcome.losses = texts(stream.losses(), is_filtered);
        let metrics = stream.metrics();
        assert_eq!(
            metrics.fetched.requests,
            stored.requests.load(Ordering::Relaxed)
        );
        result
    });
    outcome.error = result.err().map(|error| error.to_string());
    outcome
}

/// Returns a policy with many small requests.
fn small() -> FetchPolicy {
    let mut policy = FetchPolicy::remote();
    (policy.max_gap_bytes, policy.max_request_bytes) = (0, 10_000);
    (policy.max_bytes_ahead, policy.round_trip_bytes) = (50_000, 1000);
    policy.max_requests_in_flight = 3;
    policy
}

/// Compares an async read on the polling task, with small requests, with a blocking read on one
/// thread.
pub fn compare(file: &ParquetFile, options: &ReadOptions) {
    let options = options.clone().threads(1);
    let expected = blocking(file, options.clone());
    assert_same(&remote(file, options, small()), &expected);
}

/// Compares the async read on three threads, too.
pub fn compare_on_threads(file: &ParquetFile, options: &ReadOptions) {
    compare(file, options);
    let expected = blocking(file, options.clone().threads(1));
    let options = options.clone().threads(3).spawn(Arc::new(Threads));
    assert_same(&remote(file, options, FetchPolicy::remote()), &expected);
}

fn assert_same(found: &Outcome, expected: &Outcome) {
    assert_eq!(found.error, expected.error);
    assert_eq!(found.losses, expected.losses);
    let rows =
        |it: &Outcome| -> Vec<usize> { it.batches.iter().map(RecordBatch::num_rows).collect() };
    assert_eq!(rows(found), rows(expected), "{:?}", expected.error);
    assert!(found.batches == expected.batches);
}

/// Opens and reads a file whose footer may also be damaged, and compares the outcome with a
/// blocking read.
pub fn compare_bytes(bytes: &Bytes, options: &ReadOptions) {
    let limits = options.limits_or_default().into_owned();
    let expected = match ParquetFile::from_source(bytes.clone(), limits.clone()) {
        Ok(file) => return compare(&file, options),
        Err(error) => error,
    };
    let stored = Arc::new(Stored {
        source: Arc::new(bytes.clone()),
        requests: AtomicU64::new(0),
    });
    let error = block_on(RemoteFile::open(stored, limits)).unwrap_err();
    assert_eq!(error.kind(), expected.kind(), "{error}, not {expected}");
    assert!(
        error.message().contains(expected.message()),
        "{error}, not {expected}"
    );
}

/// Opens and reads a file on the polling task. Returns the numbers of requests and rounds, without
/// those for the footer.
pub fn traffic(file: &ParquetFile, options: &ReadOptions, policy: FetchPolicy) -> (u64, u64) {
    let stored = Arc::new(Stored {
        source: file.source().clone(),
        requests: AtomicU64::new(0),
    });
    let open = RemoteOptions::new().fetch_policy(policy);
    let metrics = block_on(async {
        let file = RemoteFile::open(stored, open).await?;
        let mut stream = file.read(options.clone())?;
        while stream.next_batch().await?.is_some() {}
        Ok::<_, herringbone::Error>(stream.metrics())
    });
    let metrics = metrics.unwrap();
    (metrics.fetched.requests, metrics.rounds)
}
