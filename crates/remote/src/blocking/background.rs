//! Running requests on the shared request thread, for futures polled elsewhere.

use std::future::ready;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use herringbone::Result;
use herringbone::push::FetchPolicy;
use tokio::task::JoinSet;

use super::{lost, runtime};
use crate::object::{Answer, BoxFuture, Identity, Object};

/// Starts a future on the shared request thread, returning a future for its result. You can poll
/// the returned future on any thread. Dropping it cancels the original one.
pub fn background<T: Send + 'static>(
    future: impl Future<Output = Result<T>> + Send + 'static,
) -> BoxFuture<Result<T>> {
    // Dropping this set cancels the task.
    let mut task = JoinSet::new();
    match runtime() {
        Ok(runtime) => task.spawn_on(future, &runtime),
        Err(error) => return Box::pin(ready(Err(error.into()))),
    };
    Box::pin(async move {
        match task.join_next().await {
            Some(done) => done.map_err(|error| lost(&error))?,
            None => Err(io::Error::other("a request ended without an answer").into()),
        }
    })
}

/// An object with its requests running on the shared request thread, so that its futures need no
/// runtime.
///
/// ```
/// use std::sync::Arc;
///
/// use herringbone::{OpenOptions, Result};
/// use herringbone_remote::blocking::BackgroundObject;
/// use herringbone_remote::{Object, RemoteFile};
///
/// async fn rows(object: Arc<dyn Object>) -> Result<i64> {
///     let object = Arc::new(BackgroundObject::new(object));
///     Ok(RemoteFile::open(object, OpenOptions::new()).await?.metadata().num_rows())
/// }
/// ```
#[derive(Debug)]
pub struct BackgroundObject(Arc<dyn Object>);

impl BackgroundObject {
    /// Wraps an object.
    #[must_use]
    pub fn new(object: Arc<dyn Object>) -> Self {
        Self(object)
    }
}

impl Object for BackgroundObject {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn tail(&self, bytes: u64) -> BoxFuture<Result<Answer>> {
        background(self.0.tail(bytes))
    }

    fn range(&self, range: Range<u64>, identity: &Identity) -> BoxFuture<Result<Answer>> {
        background(self.0.range(range, identity))
    }

    fn whole(&self, most: u64) -> BoxFuture<Result<Answer>> {
        background(self.0.whole(most))
    }

    fn identity(&self) -> Option<Identity> {
        self.0.identity()
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.0.fetch_policy()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::task::{Context, Poll, Waker};
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_future_needs_no_runtime_and_is_cancelled_when_it_is_dropped() {
        let mut sleep = background(async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Ok(1)
        });
        let mut cx = Context::from_waker(Waker::noop());
        let done = loop {
            if let Poll::Ready(done) = sleep.as_mut().poll(&mut cx) {
                break done;
            }
        };
        assert_eq!(done.unwrap(), 1);
        let (sender, receiver) = channel::<()>();
        let forever = background(async move {
            std::future::pending::<()>().await;
            drop(sender);
            Ok(())
        });
        drop(forever);
        // The sender is dropped along with its future.
        assert!(receiver.recv_timeout(Duration::from_secs(10)).is_err());
        let panics = background::<()>(async { std::panic::panic_any(()) });
        let ended = super::super::wait(panics);
        assert!(ended.unwrap_err().message().contains("a request ended"));
    }
}
