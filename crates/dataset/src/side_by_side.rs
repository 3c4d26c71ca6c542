//! Polling futures concurrently, and waiting for a future without a runtime.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use herringbone::Result;
use herringbone_remote::BoxFuture;

/// Calls `start` for each item, passing the results to `each` in item order. At most `most` futures
/// exist at a time. Note that a finished future still counts until all earlier futures have
/// finished too.
///
/// # Errors
/// Returns the first error in item order, dropping the other futures.
pub(crate) async fn in_order<I, T>(
    items: impl IntoIterator<Item = I>,
    most: usize,
    mut start: impl FnMut(I) -> BoxFuture<Result<T>>,
    mut each: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    enum Slot<T> {
        Running(BoxFuture<Result<T>>),
        Done(Result<T>),
    }
    let mut items = items.into_iter();
    let mut slots: VecDeque<Slot<T>> = VecDeque::new();
    poll_fn(|cx| {
        loop {
            while slots.len() < most.max(1)
                && let Some(item) = items.next()
            {
                slots.push_back(Slot::Running(start(item)));
            }
            for slot in &mut slots {
                if let Slot::Running(future) = slot
                    && let Poll::Ready(result) = future.as_mut().poll(cx)
                {
                    *slot = Slot::Done(result);
                }
            }
            match slots.pop_front() {
                None => return Poll::Ready(Ok(())),
                Some(Slot::Done(result)) => {
                    if let Err(error) = result.and_then(&mut each) {
                        return Poll::Ready(Err(error));
                    }
                }
                Some(running) => {
                    slots.push_front(running);
                    return Poll::Pending;
                }
            }
        }
    })
    .await
}

/// Waits for a future on this thread.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use herringbone::Error;

    use super::*;

    /// Returns a future that has a value after `polls` polls.
    fn after(polls: usize, value: usize) -> BoxFuture<Result<usize>> {
        let mut left = polls;
        Box::pin(poll_fn(move |cx| {
            if left == 0 {
                return Poll::Ready(match value {
                    13 => Err(Error::argument("thirteen")),
                    value => Ok(value),
                });
            }
            left -= 1;
            cx.waker().wake_by_ref();
            Poll::Pending
        }))
    }

    #[test]
    fn results_have_the_order_of_the_items() {
        let started = Rc::new(Cell::new(0));
        let mut results = Vec::new();
        let start = |item: usize| {
            started.set(started.get() + 1);
            after((item * 7) % 5, item)
        };
        let outcome = in_order(0..20, 4, start, |value| {
            assert!(started.get() <= value + 4);
            results.push(value);
            Ok(())
        });
        assert!(block_on(outcome).is_err());
        assert_eq!(results, (0..13).collect::<Vec<_>>());
    }
}
