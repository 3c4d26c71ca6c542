//! An object in memory that records its requests, counts those in flight, and misbehaves on demand.

use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::arrow::array::RecordBatch;
use herringbone::push::FetchPolicy;
use herringbone::{ErrorKind, ReadOptions, Result, Spawn};
use herringbone_remote::{Answer, BoxFuture, Identity, Object, RemoteFile, RemoteOptions};

/// A function that changes the answer to a request.
pub(crate) type Fault = Box<dyn Fn(&Range<u64>, Answer) -> Result<Answer> + Send + Sync>;

pub(crate) struct Memory {
    pub(crate) name: &'static str,
    pub(crate) bytes: Mutex<Bytes>,
    pub(crate) e_tag: Mutex<String>,
    pub(crate) policy: FetchPolicy,
    /// The number of polls that each request takes.
    pub(crate) polls: usize,
    /// The number of further polls that a request for a range takes.
    pub(crate) delay: fn(&Range<u64>) -> usize,
    pub(crate) listed: bool,
    pub(crate) fault: Mutex<Option<Fault>>,
    asked: Mutex<Vec<Range<u64>>>,
    pub(crate) in_flight: Arc<AtomicUsize>,
    pub(crate) most_in_flight: Arc<AtomicUsize>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Memory")
    }
}

impl Memory {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self {
            name: "mem://bucket/file.parquet",
            bytes: Mutex::new(bytes),
            e_tag: Mutex::new("\"first\"".to_owned()),
            policy: FetchPolicy::remote(),
            polls: 1,
            delay: |_| 0,
            listed: false,
            fault: Mutex::default(),
            asked: Mutex::default(),
            in_flight: Arc::default(),
            most_in_flight: Arc::default(),
        }
    }

    pub(crate) fn policy(self, policy: FetchPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Returns the requests since the last call.
    pub(crate) fn take(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    pub(crate) fn live(&self) -> usize {
        self.in_flight.load(Ordering::SeqCst)
    }

    pub(crate) fn break_by(
        &self,
        fault: impl Fn(&Range<u64>, Answer) -> Result<Answer> + Send + Sync + 'static,
    ) {
        *self.fault.lock().unwrap() = Some(Box::new(fault));
    }

    fn current(&self) -> Identity {
        let length = self.bytes.lock().unwrap().len() as u64;
        Identity::new(length).e_tag(Some(self.e_tag.lock().unwrap().clone()))
    }

    fn answer(&self, range: Range<u64>) -> BoxFuture<Result<Answer>> {
        self.asked.lock().unwrap().push(range.clone());
        let file = self.bytes.lock().unwrap().clone();
        let bytes = file.slice(range.start as usize..(range.end as usize).min(file.len()));
        let answer = Answer {
            bytes,
            range: range.clone(),
            identity: self.current(),
        };
        let answer = match &*self.fault.lock().unwrap() {
            Some(fault) => fault(&range, answer),
            None => Ok(answer),
        };
        let live = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_in_flight.fetch_max(live, Ordering::SeqCst);
        Box::pin(Request {
            polls: self.polls + (self.delay)(&range),
            answer: Some(answer),
            in_flight: self.in_flight.clone(),
        })
    }
}

/// A request that stays pending for some polls.
struct Request {
    polls: usize,
    answer: Option<Result<Answer>>,
    in_flight: Arc<AtomicUsize>,
}

impl Future for Request {
    type Output = Result<Answer>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.polls > 0 {
            self.polls -= 1;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.answer.take().unwrap())
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Object for Memory {
    fn name(&self) -> &str {
        self.name
    }

    fn tail(&self, bytes: u64) -> BoxFuture<Result<Answer>> {
        let length = self.bytes.lock().unwrap().len() as u64;
        self.answer(length.saturating_sub(bytes)..length)
    }

    fn range(&self, range: Range<u64>, identity: &Identity) -> BoxFuture<Result<Answer>> {
        // This is a store that knows preconditions.
        if self.fault.lock().unwrap().is_none() && !identity.matches(&self.current()) {
            let error = herringbone::Error::new(ErrorKind::Replaced, "412");
            return Box::pin(async { Err(error) });
        }
        self.answer(range)
    }

    fn identity(&self) -> Option<Identity> {
        self.listed.then(|| self.current())
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.policy.clone()
    }
}

/// Opens an object and reads it with these options.
pub(crate) fn read(
    object: Arc<dyn Object>,
    open: impl Into<RemoteOptions>,
    options: &ReadOptions,
) -> Result<Vec<RecordBatch>> {
    let open = open.into();
    block_on(async move {
        let file = RemoteFile::open(object, open).await?;
        let mut stream = file.read(options.clone())?;
        let mut batches = Vec::new();
        while let Some(batch) = stream.next_batch().await? {
            batches.push(batch);
        }
        assert!(stream.next_batch().await?.is_none());
        assert_eq!(stream.rows_left(), 0);
        Ok(batches)
    })
}

/// A host's way of running jobs. It counts jobs as long as they exist.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    pub(crate) runs: Runs,
    pub(crate) jobs: Arc<AtomicUsize>,
    pub(crate) ran: Arc<AtomicUsize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runs {
    OnThreads,
    AtOnce,
    Never,
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Host {
    pub(crate) fn new(runs: Runs) -> Self {
        Self {
            runs,
            jobs: Arc::default(),
            ran: Arc::default(),
        }
    }
}

impl Spawn for Host {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        self.jobs.fetch_add(1, Ordering::SeqCst);
        let (counted, ran) = (Counted(self.jobs.clone()), self.ran.clone());
        let job = move || {
            let _counted = counted;
            ran.fetch_add(1, Ordering::SeqCst);
            job();
        };
        match self.runs {
            Runs::OnThreads => drop(std::thread::spawn(job)),
            Runs::AtOnce => job(),
            Runs::Never => drop(job),
        }
    }
}
