//! The callback that sees the progress of a read or a write, and may end it.

use std::ffi::c_void;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};

use bytes::Bytes;
use herringbone::Interrupt;
use herringbone::source::{FetchPolicy, Source};

use crate::error::Cancelled;

/// Sees the number of rows that were read or written so far. A result other than 0 ends the call with `HB_ERROR_KIND_CANCELLED`.
/// It is only called by the thread that is in a function of the library or of its stream, many times a second, and
/// must not call the library with the same objects. Null means no callback.
pub type HbProgress = Option<unsafe extern "C" fn(data: *mut c_void, rows: u64) -> i32>;

/// A callback of a read or a write.
#[derive(Debug)]
pub(crate) struct Progress {
    callback: HbProgress,
    data: *mut c_void,
    rows: AtomicU64,
    has_ended: AtomicBool,
    /// The thread that is in a function of the library.
    caller: Mutex<Option<ThreadId>>,
}

// SAFETY: `callback` and `data` are only used by the thread that is in a function of the library, one at a time. The header
// allows another thread for each call.
unsafe impl Send for Progress {}
// SAFETY: as above. Other threads only ask whether the read has ended.
unsafe impl Sync for Progress {}

impl Progress {
    pub(crate) fn new(callback: HbProgress, data: *mut c_void) -> Arc<Self> {
        Arc::new(Self {
            callback,
            data,
            rows: AtomicU64::new(0),
            has_ended: AtomicBool::new(false),
            caller: Mutex::default(),
        })
    }

    /// Notes that this thread is in a function of the library.
    pub(crate) fn enter(&self) -> Entered<'_> {
        *self.caller() = Some(thread::current().id());
        Entered(self)
    }

    /// Adds rows.
    pub(crate) fn add(&self, rows: usize) -> herringbone::Result<()> {
        let rows = u64::try_from(rows).unwrap_or(u64::MAX);
        self.rows.fetch_add(rows, Ordering::Relaxed);
        self.check()
    }

    /// Returns a source whose reads ask the callback.
    pub(crate) fn watch(self: &Arc<Self>, source: Arc<dyn Source>) -> impl Source + 'static {
        Watched {
            source,
            progress: self.clone(),
        }
    }

    pub(crate) fn is_needed(&self) -> bool {
        self.callback.is_some()
    }

    fn caller(&self) -> std::sync::MutexGuard<'_, Option<ThreadId>> {
        self.caller.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Interrupt for Progress {
    fn check(&self) -> herringbone::Result<()> {
        let is_caller = *self.caller() == Some(thread::current().id());
        if let Some(callback) = self.callback.filter(|_| is_caller) {
            // SAFETY: the caller of the library promises that the callback may be called with its data.
            let ends = unsafe { callback(self.data, self.rows.load(Ordering::Relaxed)) } != 0;
            self.has_ended.fetch_or(ends, Ordering::Relaxed);
        }
        match self.has_ended.load(Ordering::Relaxed) {
            true => Err(io::Error::other(Cancelled).into()),
            false => Ok(()),
        }
    }
}

/// The time in which a thread is in a function of the library.
pub(crate) struct Entered<'a>(&'a Progress);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        *self.0.caller() = None;
    }
}

struct Watched {
    source: Arc<dyn Source>,
    progress: Arc<Progress>,
}

impl Source for Watched {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read(&self, range: Range<u64>) -> herringbone::Result<Bytes> {
        self.progress.check()?;
        self.source.read(range)
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> herringbone::Result<Vec<Bytes>> {
        self.progress.check()?;
        self.source.read_many(ranges)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.source.fetch_policy()
    }
}
