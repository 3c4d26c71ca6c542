//! A sink in memory that records its requests, counts those in flight, and misbehaves on demand.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use herringbone::Result;
use herringbone_remote::{BoxFuture, ObjectSink, Upload};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Put(usize),
    Start,
    Part(usize, usize),
    Complete,
    Abort,
}

/// The error for a request to fail with, if any.
type Fault = Box<dyn Fn(Call) -> Option<io::ErrorKind> + Send + Sync>;

#[derive(Default)]
pub(crate) struct State {
    pub(crate) object: Option<Bytes>,
    pub(crate) calls: Vec<Call>,
    /// The number of uploads neither completed nor aborted.
    pub(crate) open: usize,
    /// The number of requests in flight, and the byte count of their parts.
    pub(crate) in_flight: (usize, usize),
    pub(crate) most_in_flight: (usize, usize),
    /// Futures that no task waits for.
    pub(crate) detached: Vec<BoxFuture<()>>,
    fault: Option<Fault>,
}

#[derive(Clone)]
pub(crate) struct Bucket {
    state: Arc<Mutex<State>>,
    /// The number of polls that each request takes.
    polls: usize,
}

impl std::fmt::Debug for Bucket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bucket")
    }
}

impl Bucket {
    pub(crate) fn new(polls: usize) -> Self {
        Self {
            state: Arc::default(),
            polls,
        }
    }

    pub(crate) fn fails(
        self,
        fault: impl Fn(Call) -> Option<io::ErrorKind> + Send + Sync + 'static,
    ) -> Self {
        self.look(|state| state.fault = Some(Box::new(fault)));
        self
    }

    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap())
    }

    pub(crate) fn object(&self) -> Option<Bytes> {
        self.look(|state| state.object.clone())
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.look(|state| state.calls.clone())
    }

    /// Sends a request. It only takes effect when it is over.
    fn request<T: 'static + Send>(
        &self,
        call: Call,
        effect: impl FnOnce(&mut State) -> T + Send + 'static,
    ) -> BoxFuture<Result<T>> {
        let bytes = match call {
            Call::Part(_, bytes) | Call::Put(bytes) => bytes,
            _ => 0,
        };
        self.look(|state| {
            state.calls.push(call);
            let (requests, all) = state.in_flight;
            state.in_flight = (requests + 1, all + bytes);
            let most = state.most_in_flight;
            state.most_in_flight = (most.0.max(requests + 1), most.1.max(all + bytes));
        });
        Box::pin(Request {
            bucket: self.clone(),
            bytes,
            call,
            polls: self.polls,
            effect: Some(Box::new(effect)),
        })
    }
}

/// The change that a request makes to the bucket when it arrives.
type Effect<T> = Box<dyn FnOnce(&mut State) -> T + Send>;

/// A request that stays pending for some polls.
struct Request<T> {
    bucket: Bucket,
    bytes: usize,
    call: Call,
    polls: usize,
    effect: Option<Effect<T>>,
}

impl<T> Unpin for Request<T> {}

impl<T> Future for Request<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.polls > 0 {
            self.polls -= 1;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let effect = self.effect.take().expect("polled once after it is ready");
        let call = self.call;
        let bucket = self.bucket.clone();
        bucket.look(|state| {
            let failed = state.fault.as_ref().and_then(|fault| fault(call));
            Poll::Ready(match failed {
                Some(kind) => Err(io::Error::new(kind, "no luck").into()),
                None => Ok(effect(state)),
            })
        })
    }
}

impl<T> Drop for Request<T> {
    fn drop(&mut self) {
        let bytes = self.bytes;
        self.bucket.look(|state| {
            state.in_flight.0 -= 1;
            state.in_flight.1 -= bytes;
        });
    }
}

impl ObjectSink for Bucket {
    fn name(&self) -> &str {
        "mem://bucket/new.parquet"
    }

    fn put(&self, bytes: Bytes) -> BoxFuture<Result<()>> {
        self.request(Call::Put(bytes.len()), |state| state.object = Some(bytes))
    }

    fn start(&self) -> BoxFuture<Result<Box<dyn Upload>>> {
        let bucket = self.clone();
        self.request(Call::Start, move |state| {
            state.open += 1;
            Box::new(Parts {
                bucket,
                parts: Arc::default(),
                num_parts: 0,
            }) as _
        })
    }

    fn run_detached(&self, abort: BoxFuture<()>) {
        self.look(|state| state.detached.push(abort));
    }
}

#[derive(Debug)]
struct Parts {
    bucket: Bucket,
    parts: Arc<Mutex<Vec<Option<Bytes>>>>,
    num_parts: usize,
}

impl Upload for Parts {
    fn put_part(&mut self, bytes: Bytes) -> BoxFuture<Result<()>> {
        self.num_parts += 1;
        let (parts, index) = (self.parts.clone(), self.num_parts - 1);
        parts.lock().unwrap().push(None);
        let call = Call::Part(self.num_parts, bytes.len());
        self.bucket
            .request(call, move |_| parts.lock().unwrap()[index] = Some(bytes))
    }

    fn complete(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
        let parts = self.parts.clone();
        self.bucket.request(Call::Complete, move |state| {
            let parts = parts.lock().unwrap();
            let parts = parts.iter().map(|part| part.clone().expect("it arrived"));
            state.object = Some(parts.collect::<Vec<_>>().concat().into());
            state.open -= 1;
        })
    }

    fn abort(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
        self.bucket.request(Call::Abort, |state| {
            state.open = state.open.saturating_sub(1)
        })
    }
}
