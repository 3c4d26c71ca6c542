//! Tests of servers that answer each request for a range with the whole object, at the second read
//! of a file.

use std::io;
use std::ops::Range;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::push::FetchPolicy;
use herringbone::{Error, ErrorKind, Limits, ReadOptions, Result};
use herringbone_remote::{
    Answer, BoxFuture, Identity, LruMetadataCache, MetadataCache, Object, RemoteFile, RemoteOptions,
};

use crate::files::{blocking, file};
use crate::memory::Memory;

/// A server without ranges. As in engines, its object's identity comes from a listing.
#[derive(Debug)]
struct WithoutRanges {
    memory: Arc<Memory>,
    /// The number of requests for ranges.
    refused: AtomicUsize,
    /// The gate that requests for all bytes wait for.
    gate: Arc<Gate>,
}

/// The state of a gate, and the last waker of each request that waits for it.
#[derive(Debug, Default)]
struct Gate(Mutex<(bool, Vec<Waker>)>);

impl Gate {
    fn open(&self) {
        let mut gate = self.0.lock().unwrap();
        gate.0 = true;
        gate.1.drain(..).for_each(Waker::wake);
    }
}

impl WithoutRanges {
    fn new(bytes: &Bytes) -> Arc<Self> {
        let mut policy = FetchPolicy::remote();
        (policy.suffix_bytes, policy.max_gap_bytes) = (500, 0);
        policy.max_request_bytes = 50_000;
        let mut memory = Memory::new(bytes.clone()).policy(policy);
        memory.listed = true;
        let object = Self {
            memory: Arc::new(memory),
            refused: AtomicUsize::new(0),
            gate: Arc::default(),
        };
        object.gate.open();
        Arc::new(object)
    }

    fn close_gate(&self) {
        self.gate.0.lock().unwrap().0 = false;
    }
}

impl Object for WithoutRanges {
    fn name(&self) -> &str {
        self.memory.name()
    }

    fn tail(&self, _: u64) -> BoxFuture<Result<Answer>> {
        unreachable!("the identity is known")
    }

    fn range(&self, range: Range<u64>, identity: &Identity) -> BoxFuture<Result<Answer>> {
        self.refused.fetch_add(1, Ordering::SeqCst);
        let answer = self.memory.range(range, identity);
        Box::pin(async move {
            answer.await?;
            Err(io::Error::from(io::ErrorKind::Unsupported).into())
        })
    }

    fn whole(&self, most: u64) -> BoxFuture<Result<Answer>> {
        assert_eq!(most, 256 << 20);
        let (memory, gate) = (self.memory.clone(), self.gate.clone());
        let length = memory.bytes.lock().unwrap().len() as u64;
        let answer = memory.tail(length);
        Box::pin(async move {
            std::future::poll_fn(|cx| {
                let mut gate = gate.0.lock().unwrap();
                if gate.0 {
                    return Poll::Ready(());
                }
                gate.1 = vec![cx.waker().clone()];
                Poll::Pending
            })
            .await;
            answer.await
        })
    }

    fn identity(&self) -> Option<Identity> {
        self.memory.identity()
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.memory.fetch_policy()
    }
}

/// Returns a file with a cached footer, and its object without any requests so far.
fn cached(bytes: &Bytes) -> (RemoteFile, Arc<WithoutRanges>) {
    let cache: Arc<dyn MetadataCache> = LruMetadataCache::new(10 << 20);
    let options = || RemoteOptions::new().cache(cache.clone());
    block_on(RemoteFile::open(WithoutRanges::new(bytes), options())).unwrap();
    let object = WithoutRanges::new(bytes);
    let opened = RemoteFile::open_cached(object.clone(), options()).unwrap();
    (opened.unwrap(), object)
}

/// Returns the requests for all bytes.
fn whole(object: &WithoutRanges, bytes: &Bytes) -> usize {
    let all = 0..bytes.len() as u64;
    let requests = object.memory.take();
    requests.iter().filter(|range| **range == all).count()
}

fn read(file: &RemoteFile) -> Vec<herringbone::arrow::array::RecordBatch> {
    block_on(async {
        let mut stream = file.read(ReadOptions::new()).unwrap();
        let mut batches = Vec::new();
        while let Some(batch) = stream.next_batch().await.unwrap() {
            batches.push(batch);
        }
        batches
    })
}

#[test]
fn a_file_with_a_cached_footer_is_requested_whole_once() {
    let bytes = file(4, 3, 20_000);
    let expected = blocking(&bytes, Limits::default(), &ReadOptions::new()).unwrap();
    let (file, object) = cached(&bytes);
    assert_eq!(read(&file), expected);
    // The 1,920,000 bytes take requests of 50,000 bytes, and at most 64 were on the way when the
    // first was refused.
    let refused = object.refused.load(Ordering::SeqCst);
    assert!((20..=64).contains(&refused), "{refused}");
    assert_eq!(whole(&object, &bytes), 1);
    assert_eq!(read(&file), expected);
    assert_eq!(object.refused.load(Ordering::SeqCst), refused);
    assert_eq!(object.memory.take(), []);
    // The metadata is from another place.
    let (identity, handle) = (file.identity().clone(), file.metadata_handle().clone());
    let object = WithoutRanges::new(&bytes);
    let options = RemoteOptions::new();
    let file = RemoteFile::with_metadata(object.clone(), identity, handle, options).unwrap();
    assert_eq!(read(&file), expected);
    assert_eq!(whole(&object, &bytes), 1);
}

#[cfg(feature = "blocking")]
#[test]
fn a_blocking_source_with_a_known_identity_is_requested_whole_once() {
    use herringbone::ParquetFile;
    use herringbone_remote::blocking::RemoteSource;

    let bytes = file(4, 3, 20_000);
    let expected = blocking(&bytes, Limits::default(), &ReadOptions::new()).unwrap();
    let object = WithoutRanges::new(&bytes);
    let source = Arc::new(RemoteSource::open(object.clone()).unwrap());
    let file = ParquetFile::from_source(source, Limits::default()).unwrap();
    let batches = file.read(ReadOptions::new().threads(1)).unwrap();
    let batches: Vec<_> = batches.map(|batch| batch.unwrap()).collect();
    assert_eq!(batches, expected);
    assert_eq!(whole(&object, &bytes), 1);
}

/// A waker that counts.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Two tasks wait for the same request, and the one that polled it last leaves.
#[test]
fn a_task_that_leaves_takes_the_request_of_no_other_along() {
    let bytes = file(2, 1, 20_000);
    let (file, object) = cached(&bytes);
    object.close_gate();
    let counts = [Arc::new(Count::default()), Arc::new(Count::default())];
    let wakers = counts.clone().map(Waker::from);
    let mut first = pin!(file.fetch(0..10));
    let mut second = Some(file.fetch(20..30));
    let poll_until_idle = |at: usize, future: &mut BoxFuture<Result<Bytes>>| {
        let mut cx = Context::from_waker(&wakers[at]);
        loop {
            counts[at].0.store(0, Ordering::SeqCst);
            let polled = future.as_mut().poll(&mut cx);
            if polled.is_ready() || counts[at].0.load(Ordering::SeqCst) == 0 {
                return polled;
            }
        }
    };
    assert!(poll_until_idle(0, &mut first).is_pending());
    assert!(poll_until_idle(1, second.as_mut().unwrap()).is_pending());
    drop(second.take());
    object.gate.open();
    assert_eq!(counts[0].0.load(Ordering::SeqCst), 1);
    let Poll::Ready(found) = poll_until_idle(0, &mut first) else {
        panic!("the request was not polled");
    };
    assert_eq!(found.unwrap(), bytes.slice(0..10));
    assert_eq!(whole(&object, &bytes), 1);
}

#[test]
fn a_request_for_all_bytes_ends_with_the_last_task() {
    let bytes = file(2, 1, 20_000);
    let (file, object) = cached(&bytes);
    object.close_gate();
    let mut cx = Context::from_waker(Waker::noop());
    let mut waiting = [file.fetch(0..10), file.fetch(20..30)];
    for future in &mut waiting {
        for _ in 0..5 {
            assert!(future.as_mut().poll(&mut cx).is_pending());
        }
    }
    assert_eq!(object.memory.live(), 1);
    drop(waiting);
    assert_eq!(object.memory.live(), 0);
    object.gate.open();
    assert_eq!(block_on(file.fetch(20..30)).unwrap(), bytes.slice(20..30));
}

#[test]
fn a_failed_request_for_all_bytes_is_sent_again() {
    let bytes = file(2, 1, 20_000);
    let (file, object) = cached(&bytes);
    let length = bytes.len() as u64;
    object.memory.break_by(move |range, answer| match range {
        range if *range == (0..length) => Err(io::Error::other("no answer").into()),
        _ => Ok(answer),
    });
    let error = block_on(file.fetch(0..10)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let message =
        "mem://bucket/file.parquet, bytes 0..10: all bytes were requested instead: no answer";
    assert_eq!(error.message(), message);
    // An answer that ends early is not mistaken for the object.
    object.memory.break_by(|range, mut answer| {
        answer.bytes = answer.bytes.slice(..answer.bytes.len() - 5);
        match range.start {
            0 => Ok(answer),
            _ => Err(Error::argument("no range")),
        }
    });
    let error = block_on(file.fetch(0..10)).unwrap_err();
    assert!(error.message().contains("the answer ends after"), "{error}");
    // Another object has taken the place of the first one.
    object.memory.break_by(|_, mut answer| {
        answer.identity = answer.identity.e_tag(Some("\"second\"".to_owned()));
        Ok(answer)
    });
    let error = block_on(file.fetch(0..10)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Replaced, "{error}");
}
