//! Tests that a stream leaves no request, job or memory, whichever await it is dropped at.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::executor::block_on;
use futures::task::noop_waker;
use herringbone::arrow::array::RecordBatch;
use herringbone::arrow::schema::SchemaRef;
use herringbone::filter::{Predicate, RowError, RowPredicate, RowTest, col};
use herringbone::push::FetchPolicy;
use herringbone::{ErrorKind, Limits, MemoryPool, ReadOptions, SharedMemory};
use herringbone_remote::RemoteFile;

use crate::files::{blocking, file};
use crate::memory::{Host, Memory, Runs, read};

/// Polls a read `polls` times, and then drops it. Returns false if the read was over before.
fn dropped_after(object: &Arc<Memory>, options: &ReadOptions, polls: usize) -> bool {
    let waker = noop_waker();
    let mut cx = Context::from_waker(&waker);
    let object = object.clone();
    let options = options.clone();
    let mut read = pin!(async move {
        let file = RemoteFile::open(object, Limits::default()).await.unwrap();
        let mut stream = file.read(options).unwrap();
        while let Some(_batch) = stream.next_batch().await.unwrap() {
            // The read also waits between batches.
            let mut has_waited = false;
            std::future::poll_fn(|_| match std::mem::replace(&mut has_waited, true) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            })
            .await;
        }
    });
    (0..polls).all(|_| read.as_mut().poll(&mut cx).is_pending())
}

fn options(pool: &Arc<SharedMemory>, host: Option<&Host>) -> ReadOptions {
    let filter = col("id").ge(1000).and(col("c1").lt(0));
    let options = ReadOptions::new().filter(filter).batch_size(700);
    let options = options.memory_pool(pool.clone());
    match host {
        Some(host) => options.spawn(Arc::new(host.clone())).threads(3),
        None => options,
    }
}

fn object() -> Arc<Memory> {
    let mut policy = FetchPolicy::remote();
    (policy.suffix_bytes, policy.max_request_bytes) = (100, 20_000);
    (policy.max_bytes_ahead, policy.round_trip_bytes) = (60_000, 10_000);
    Arc::new(Memory::new(file(4, 4, 3_000)).policy(policy))
}

#[test]
fn a_read_dropped_at_every_await_leaves_nothing() {
    for runs in [None, Some(Runs::AtOnce), Some(Runs::Never)] {
        let host = runs.map(Host::new);
        let pool = SharedMemory::new(1 << 30);
        let object = object();
        let mut polls = 0;
        while dropped_after(&object, &options(&pool, host.as_ref()), polls) {
            assert_eq!(object.live(), 0, "{polls}");
            assert_eq!(pool.used(), 0, "{polls}");
            let jobs = host
                .as_ref()
                .map_or(0, |host| host.jobs.load(Ordering::SeqCst));
            assert_eq!(jobs, 0, "{polls}");
            // No read holds the object any more: only this test has it.
            assert_eq!(Arc::strong_count(&object), 1);
            polls += 1;
        }
        assert!(polls > 20, "{polls}");
    }
}

/// A running job ends only with its batch, so the test waits for it.
#[test]
fn a_read_dropped_while_threads_decode_leaves_nothing() {
    let host = Host::new(Runs::OnThreads);
    let pool = SharedMemory::new(1 << 30);
    let object = object();
    for polls in 0..60 {
        dropped_after(&object, &options(&pool, Some(&host)), polls);
        assert_eq!(object.live(), 0, "{polls}");
        let patience = Instant::now() + Duration::from_secs(60);
        while host.jobs.load(Ordering::SeqCst) > 0 && Instant::now() < patience {
            std::thread::yield_now();
        }
        assert_eq!(host.jobs.load(Ordering::SeqCst), 0);
        assert_eq!(pool.used(), 0, "{polls}");
        assert_eq!(Arc::strong_count(&object), 1);
    }
}

#[test]
fn futures_move_between_threads() {
    fn check(_: &impl Send) {}
    let opening = RemoteFile::open(object(), Limits::default());
    check(&opening);
    let file = block_on(opening).unwrap();
    let mut stream = file.read(ReadOptions::new()).unwrap();
    check(&stream);
    check(&stream.next_batch());
    check(&file.int96_units(&ReadOptions::new()));
}

#[test]
fn a_future_of_a_batch_may_be_dropped_and_the_read_goes_on() {
    let object = object();
    let pool = SharedMemory::new(1 << 30);
    let options = options(&pool, None);
    let expected = blocking(&object.bytes.lock().unwrap(), Limits::default(), &options).unwrap();
    let batches = block_on(async {
        let file = RemoteFile::open(object, Limits::default()).await.unwrap();
        let mut stream = file.read(options).unwrap();
        let mut batches = Vec::new();
        loop {
            let waker = noop_waker();
            let poll = pin!(stream.next_batch()).poll(&mut Context::from_waker(&waker));
            match poll.map(Result::unwrap) {
                Poll::Ready(Some(batch)) => batches.push(batch),
                Poll::Ready(None) => return batches,
                Poll::Pending => {}
            }
        }
    });
    assert_eq!(batches, expected);
}

/// A pool that refuses all memory.
#[derive(Debug)]
struct Refuses;

impl MemoryPool for Refuses {
    fn take(&self, _: u64) -> bool {
        false
    }

    fn give_back(&self, _: u64) {}
}

#[test]
fn a_pool_that_refuses_is_the_error_of_the_blocking_read() {
    let object = object();
    let options = ReadOptions::new().memory_pool(Arc::new(Refuses));
    let bytes: Bytes = object.bytes.lock().unwrap().clone();
    let expected = blocking(&bytes, Limits::default(), &options).unwrap_err();
    let error = read(object.clone(), Limits::default(), &options).unwrap_err();
    assert_eq!(error.to_string(), expected.to_string());
    assert_eq!(object.live(), 0);
}

/// A pool that grants memory after it was asked for room several times. It answers every other
/// question later.
#[derive(Debug)]
struct Later {
    questions: AtomicUsize,
    wanted: usize,
}

impl Later {
    fn new(wanted: usize) -> Arc<Self> {
        Arc::new(Self {
            questions: AtomicUsize::new(0),
            wanted,
        })
    }
}

impl MemoryPool for Later {
    fn take(&self, _: u64) -> bool {
        self.questions.load(Ordering::SeqCst) >= self.wanted
    }

    fn give_back(&self, _: u64) {}

    fn poll_room(&self, context: &mut Context<'_>) -> Poll<bool> {
        let questions = self.questions.fetch_add(1, Ordering::SeqCst) + 1;
        match questions % 2 {
            0 => Poll::Ready(true),
            _ => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}

#[test]
fn a_refused_read_waits_until_the_pool_has_room() {
    let object = object();
    let bytes: Bytes = object.bytes.lock().unwrap().clone();
    let expected = blocking(&bytes, Limits::default(), &ReadOptions::new()).unwrap();
    let pool = Later::new(6);
    let options = ReadOptions::new().memory_pool(pool.clone());
    assert_eq!(
        read(object.clone(), Limits::default(), &options).unwrap(),
        expected
    );
    assert_eq!(pool.questions.load(Ordering::SeqCst), 6);
    // If a pool never keeps its word, the read ends.
    let pool = Later::new(usize::MAX);
    let options = ReadOptions::new().memory_pool(pool.clone());
    let error = read(object.clone(), Limits::default(), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(pool.questions.load(Ordering::SeqCst), 16);
    assert_eq!(object.live(), 0);
}

/// If a pool refuses the memory for requests ahead, a read sends only those requests that it waits
/// for.
#[test]
fn a_pool_that_refuses_bytes_ahead_bounds_the_requests() {
    // Each row group has 160,000 bytes.
    let bytes = file(4, 30, 5_000);
    let pool = SharedMemory::new(2 << 20);
    let options = ReadOptions::new().memory_pool(pool.clone());
    let object = Arc::new(Memory::new(bytes.clone()));
    let expected = blocking(&bytes, Limits::default(), &ReadOptions::new()).unwrap();
    block_on(async {
        let file = RemoteFile::open(object.clone(), Limits::default()).await;
        let mut stream = file.unwrap().read(options).unwrap();
        object.take();
        let mut batches = vec![stream.next_batch().await.unwrap().unwrap()];
        let asked = object
            .take()
            .into_iter()
            .map(|object| object.end - object.start);
        assert!((160_000..200_000).contains(&asked.sum::<u64>()));
        while let Some(batch) = stream.next_batch().await.unwrap() {
            batches.push(batch);
        }
        assert_eq!(batches, expected);
    });
    assert_eq!(pool.used(), 0);
}

#[test]
fn jobs_run_on_the_threads_of_the_host() {
    let host = Host::new(Runs::OnThreads);
    let object = object();
    let options = ReadOptions::new().spawn(Arc::new(host.clone()));
    let batches = read(object, Limits::default(), &options).unwrap();
    assert!(host.ran.load(Ordering::SeqCst) >= batches.len());
}

/// A predicate that panics.
#[derive(Debug)]
struct Panics;

impl RowPredicate for Panics {
    fn columns(&self) -> Vec<Vec<String>> {
        vec![vec!["id".to_owned()]]
    }

    fn bind(&self, _: &SchemaRef) -> Result<RowTest, RowError> {
        Ok(Box::new(|_: &RecordBatch| panic!("a predicate")))
    }
}

#[test]
fn a_panic_on_a_thread_reaches_the_task() {
    for runs in [None, Some(Runs::OnThreads)] {
        let object = object();
        let mut options = ReadOptions::new().filter(Predicate::rows(Panics));
        if let Some(runs) = runs {
            options = options.spawn(Arc::new(Host::new(runs)));
        }
        let reading = AssertUnwindSafe(|| read(object.clone(), Limits::default(), &options));
        let panic = catch_unwind(reading).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"a predicate"));
        assert_eq!(object.live(), 0);
    }
}

/// Some reads end, and the others are dropped at an await, each at another of the first 25 polls.
#[test]
fn ten_thousand_files_leave_nothing() {
    let host = Host::new(Runs::AtOnce);
    let pool = SharedMemory::new(1 << 30);
    let mut policy = FetchPolicy::remote();
    (policy.suffix_bytes, policy.max_request_bytes) = (100, 2_000);
    let object = Arc::new(Memory::new(file(2, 2, 300)).policy(policy));
    let (mut ended, mut dropped) = (0, 0);
    for index in 0..10_000 {
        let host = (index % 2 == 0).then_some(&host);
        let options = ReadOptions::new().memory_pool(pool.clone()).batch_size(100);
        let options = match host {
            Some(host) => options.spawn(Arc::new(host.clone())).threads(3),
            None => options,
        };
        match dropped_after(&object, &options, index % 25) {
            true => dropped += 1,
            false => ended += 1,
        }
        assert_eq!((object.live(), pool.used()), (0, 0), "{index}");
        // No read holds the object any more: only this test has it.
        assert_eq!(Arc::strong_count(&object), 1);
    }
    assert_eq!(host.jobs.load(Ordering::SeqCst), 0);
    assert!(ended > 1_000 && dropped > 1_000, "{ended} {dropped}");
}
