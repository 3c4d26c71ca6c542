//! Blocking reads and writes of objects. All their requests run on a single background thread,
//! shared by all sources.
//!
//! ```text
//! Object ─► RemoteSource ─┬─► ParquetFile::from_source: several ranges in flight
//!                         └─► RemoteReader: one byte after the other, read ahead
//! bytes ─► RemoteOutput ─► ObjectSink
//! ```
//!
//! ```
//! use std::sync::Arc;
//!
//! use herringbone::{Limits, ParquetFile, Result};
//! use herringbone_remote::Object;
//! use herringbone_remote::blocking::RemoteSource;
//!
//! fn rows(object: Arc<dyn Object>) -> Result<i64> {
//!     let source = Arc::new(RemoteSource::open(object)?);
//!     Ok(ParquetFile::from_source(source, Limits::default())?.metadata().num_rows())
//! }
//! ```
//!
//! If you have a URL, get the object from a `Location` (feature `urls`). If you use no executor, or
//! one other than tokio, poll a [`BackgroundObject`]. Its requests run on the same thread.

mod background;
mod output;
mod reader;
mod source;
mod windows;

use std::cell::Cell;
use std::future::Future;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;
use std::{future, io, process, thread};

use herringbone::{Error, Result};
use tokio::runtime::{Builder, Handle};
use tokio::task::JoinError;

pub use background::{BackgroundObject, background};
pub use output::RemoteOutput;
pub use reader::RemoteReader;
pub use source::{RemoteSource, Traffic};

thread_local! {
    /// True on the shared request thread.
    static IS_THREAD_OF_REQUESTS: Cell<bool> = const { Cell::new(false) };
}

/// The time between two calls of the check function during a wait.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The check function called by waits, if the program has set one.
static CHECK: OnceLock<fn() -> Result<()>> = OnceLock::new();

/// Makes all waits in this process call a function about every 50 ms, on the waiting thread. If the
/// function fails, its error ends the wait and cancels the request. Use this to interrupt reads and
/// writes, for example after Ctrl-C. Only the first call of `check_waits` has an effect.
pub fn check_waits(check: fn() -> Result<()>) {
    CHECK.set(check).ok();
}

/// Waits for a future running on the shared request thread. You can call this on any other thread,
/// including a runtime's threads.
///
/// # Errors
/// Returns the future's errors, and the errors of the function given to [`check_waits`]. Fails with
/// [Io](herringbone::ErrorKind::Io) if the thread cannot be started, or if the future panics. Fails
/// with [Argument](herringbone::ErrorKind::Argument) on the request thread itself, because it would
/// be waiting for itself.
pub fn wait<T: Send + 'static>(
    future: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    if IS_THREAD_OF_REQUESTS.get() {
        return Err(Error::argument("a request cannot wait for another one"));
    }
    let (answer, answered) = sync_channel(1);
    let task = runtime()?.spawn(async move { answer.send(future.await).ok() });
    let lost = || Err(io::Error::other("a request ended without an answer").into());
    let Some(check) = CHECK.get() else {
        return answered.recv().unwrap_or_else(|_| lost());
    };
    loop {
        match answered.recv_timeout(CHECK_INTERVAL) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => return lost(),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = check() {
                    task.abort();
                    return Err(error);
                }
            }
        }
    }
}

/// Returns the runtime for all requests, starting it if necessary.
///
/// # Errors
/// Returns the errors of starting its thread.
fn runtime() -> io::Result<Handle> {
    /// The runtime, with the process it belongs to.
    static RUNTIME: Mutex<Option<(u32, Handle)>> = Mutex::new(None);
    let mut running = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    // A forked process needs its own runtime, because it doesn't have its parent's thread.
    let process = process::id();
    if let Some((_, handle)) = running.as_ref().filter(|(of, _)| *of == process) {
        return Ok(handle.clone());
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    thread::Builder::new()
        .name("requests".into())
        .spawn(move || {
            IS_THREAD_OF_REQUESTS.set(true);
            runtime.block_on(future::pending::<()>());
        })?;
    *running = Some((process, handle.clone()));
    Ok(handle)
}

/// Returns the error for a request that ended without an answer.
fn lost(error: &JoinError) -> Error {
    io::Error::other(format!("a request ended: {error}")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_possible_anywhere_and_a_panic_is_an_error() {
        assert_eq!(wait(async { Ok(1) }).unwrap(), 1);
        // A runtime refuses to block on another one, so `wait` must not do that.
        let runtime = Builder::new_current_thread().build().unwrap();
        let inside = runtime.block_on(async { wait(async { Ok(2) }) });
        assert_eq!(inside.unwrap(), 2);
        let lost = wait::<()>(async { std::panic::panic_any(()) });
        assert!(lost.unwrap_err().message().contains("without an answer"));
        let waits = wait(async { wait(async { Ok(3) }) });
        assert!(waits.unwrap_err().message().contains("cannot wait"));
        assert_eq!(wait(async { Ok(3) }).unwrap(), 3);
    }
}
