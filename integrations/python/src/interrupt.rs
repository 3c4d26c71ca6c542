//! Lets Ctrl-C end reads and writes.
//!
//! Python only notes a signal, and its main thread runs the handler when it asks for signals. So
//! while we work in that thread, we ask at most every 50 ms: while we wait for a request, before we
//! read bytes, between two batches, between two parts and two pages of a write, between pieces of a
//! page at slow levels, and while we wait for threads that encode. If the handler raises an
//! exception, it ends the call.

use std::cell::Cell;
use std::io;
use std::ops::Range;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use bytes::Bytes;
use herringbone::Interrupt;
use herringbone::source::{FetchPolicy, Source};
use pyo3::prelude::*;

use crate::error::Failure;

/// The time between two questions for signals.
const INTERVAL: Duration = Duration::from_millis(50);

thread_local! {
    /// The time at which this thread last asked, if signals are handled here.
    static ASKED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Notes that a read or write starts in this thread, and asks for signals if they are handled here.
pub(crate) fn start(py: Python<'_>) -> PyResult<()> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?;
    let is_main = threading.call_method0("current_thread")?.is(&main);
    ASKED.set(is_main.then(Instant::now));
    py.check_signals()
}

/// Fails if a signal handler raised an exception. Call this only without the GIL, which it takes to
/// ask.
pub(crate) fn check() -> herringbone::Result<()> {
    let is_due = |asked: Instant| asked.elapsed() >= INTERVAL;
    if !ASKED.get().is_some_and(is_due) {
        return Ok(());
    }
    ASKED.set(Some(Instant::now()));
    let result = Python::try_attach(|py| py.check_signals()).unwrap_or(Ok(()));
    result.map_err(|error| io::Error::other(error).into())
}

/// Waits for a future that needs no runtime, and fails if a signal handler raised an exception.
/// Call this only without the GIL.
pub(crate) fn block_on<T>(
    future: impl Future<Output = herringbone::Result<T>>,
) -> herringbone::Result<T> {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(result) = future.as_mut().poll(&mut cx) {
            return result;
        }
        thread::park_timeout(INTERVAL);
        check()?;
    }
}

/// The means to end a write after Ctrl-C in all threads that encode. Only the thread that writes
/// asks for signals.
#[derive(Debug, Default)]
pub(crate) struct WriteInterrupt {
    has_ended: AtomicBool,
    /// The exception that the signal handler raised.
    raised: Mutex<Option<herringbone::Error>>,
}

impl WriteInterrupt {
    /// Makes the threads that encode end at their next page.
    pub(crate) fn end(&self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    /// Returns the exception of the signal handler, or this error if there is none.
    pub(crate) fn cause(&self, error: Failure) -> Failure {
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.take().map_or(error, Failure::from)
    }
}

impl Interrupt for WriteInterrupt {
    fn check(&self) -> herringbone::Result<()> {
        if !self.has_ended() {
            let Err(error) = check() else {
                return Ok(());
            };
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            self.end();
        }
        Err(io::Error::other("the write was ended").into())
    }
}

/// A source whose reads fail after Ctrl-C.
pub(crate) struct Interruptible(pub(crate) Arc<dyn Source>);

impl Source for Interruptible {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read(&self, range: Range<u64>) -> herringbone::Result<Bytes> {
        check()?;
        self.0.read(range)
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> herringbone::Result<Vec<Bytes>> {
        check()?;
        self.0.read_many(ranges)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.0.fetch_policy()
    }
}
