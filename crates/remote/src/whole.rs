//! Objects on servers that might ignore ranges.
//!
//! ```text
//! Ranges ── a range is answered with all of the object ──► Requested ── the answer ──► Held: ranges are slices
//!   ▲                                                          │
//!   └──────── an error, or no range waits any more ────────────┘
//! ```

use std::fmt;
use std::future::ready;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use herringbone::push::FetchPolicy;
use herringbone::{Error, Result};

use crate::object::{Answer, BoxFuture, Identity, Object};
use crate::request::{self, MAX_WHOLE_BYTES};

/// An object with a fallback for servers that ignore ranges. Bytes are requested by range until the
/// server answers with the whole object. From then on, the whole object is requested once and kept
/// in memory.
pub(crate) struct MaybeWhole(Arc<Shared>);

/// The state shared by an object's requests.
struct Shared {
    object: Arc<dyn Object>,
    state: Mutex<State>,
    /// The tasks waiting for the whole object.
    tasks: Arc<Tasks>,
}

struct State {
    bytes: AllBytes,
    /// The number of futures waiting for the whole object.
    waiting: usize,
}

enum AllBytes {
    /// The server might support ranges.
    Ranges,
    Requested(BoxFuture<Result<Answer>>),
    Held(Answer),
}

impl MaybeWhole {
    pub(crate) fn new(object: Arc<dyn Object>) -> Self {
        Self(Arc::new(Shared {
            object,
            state: Mutex::new(State {
                bytes: AllBytes::Ranges,
                waiting: 0,
            }),
            tasks: Arc::default(),
        }))
    }

    /// Returns the whole object if it is in memory.
    pub(crate) fn held(&self) -> Option<Bytes> {
        match &self.0.lock().bytes {
            AllBytes::Held(answer) => Some(answer.bytes.clone()),
            AllBytes::Ranges | AllBytes::Requested(_) => None,
        }
    }

    /// Sends a request, unless we already know that the server ignores ranges. `part` selects the
    /// requested range from the whole object.
    fn answer(
        &self,
        request: impl FnOnce(&dyn Object) -> BoxFuture<Result<Answer>>,
        part: impl FnOnce(&Identity) -> Range<u64> + Send + 'static,
    ) -> BoxFuture<Result<Answer>> {
        let shared = self.0.clone();
        let request = match &shared.lock().bytes {
            AllBytes::Held(whole) => {
                return Box::pin(ready(Ok(slice(whole, part(&whole.identity)))));
            }
            AllBytes::Requested(_) => None,
            AllBytes::Ranges => Some(request(&*shared.object)),
        };
        Box::pin(async move {
            if let Some(request) = request {
                match request.await {
                    Err(error) if ignores_ranges(&error) => {}
                    answer => return answer,
                }
            }
            let whole = Waiting::new(shared).await?;
            Ok(slice(&whole, part(&whole.identity)))
        })
    }
}

/// Returns true if an error shows that the server ignores ranges.
fn ignores_ranges(error: &Error) -> bool {
    let kind = error.io_error().map(io::Error::kind);
    kind == Some(io::ErrorKind::Unsupported)
}

/// Returns the answer for a range, taken from the answer for the whole object.
fn slice(whole: &Answer, range: Range<u64>) -> Answer {
    let length = whole.bytes.len();
    let at = |at: u64| usize::try_from(at).map_or(length, |at| at.min(length));
    let (start, end) = (at(range.start), at(range.end));
    Answer {
        bytes: whole.bytes.slice(start.min(end)..end),
        range,
        identity: whole.identity.clone(),
    }
}

impl fmt::Debug for MaybeWhole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaybeWhole")
            .field("object", &self.0.object)
            .field("is_held", &self.held().is_some())
            .finish_non_exhaustive()
    }
}

impl Object for MaybeWhole {
    fn name(&self) -> &str {
        self.0.object.name()
    }

    fn tail(&self, bytes: u64) -> BoxFuture<Result<Answer>> {
        let request = |object: &dyn Object| object.tail(bytes);
        self.answer(request, move |identity| {
            identity.length.saturating_sub(bytes)..identity.length
        })
    }

    fn range(&self, range: Range<u64>, identity: &Identity) -> BoxFuture<Result<Answer>> {
        let request = |object: &dyn Object| object.range(range.clone(), identity);
        let part = range.clone();
        self.answer(request, move |_| part)
    }

    fn whole(&self, most: u64) -> BoxFuture<Result<Answer>> {
        self.0.object.whole(most)
    }

    fn identity(&self) -> Option<Identity> {
        self.0.object.identity()
    }

    fn fetch_policy(&self) -> FetchPolicy {
        match self.held() {
            Some(_) => FetchPolicy::local(),
            None => self.0.object.fetch_policy(),
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A future waiting for the whole object. The request is dropped along with the last such future.
struct Waiting(Arc<Shared>);

impl Waiting {
    fn new(shared: Arc<Shared>) -> Self {
        shared.lock().waiting += 1;
        Self(shared)
    }
}

impl Future for Waiting {
    type Output = Result<Answer>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let shared = &self.0;
        let mut state = shared.lock();
        let mut request = match std::mem::replace(&mut state.bytes, AllBytes::Ranges) {
            AllBytes::Held(answer) => {
                state.bytes = AllBytes::Held(answer.clone());
                return Poll::Ready(Ok(answer));
            }
            AllBytes::Requested(request) => request,
            AllBytes::Ranges => shared.object.whole(MAX_WHOLE_BYTES),
        };
        // The task that last polled might stop polling, so the answer has to wake all tasks.
        shared.tasks.add(cx.waker());
        let waker = shared.tasks.clone().into();
        let Poll::Ready(answer) = request.as_mut().poll(&mut Context::from_waker(&waker)) else {
            state.bytes = AllBytes::Requested(request);
            return Poll::Pending;
        };
        let answer = answer.and_then(checked).map_err(instead);
        state.bytes = match &answer {
            Ok(answer) => AllBytes::Held(answer.clone()),
            // One of the other tasks will send the request again.
            Err(_) => AllBytes::Ranges,
        };
        drop(state);
        shared.tasks.wake_by_ref();
        Poll::Ready(answer)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.waiting = state.waiting.saturating_sub(1);
        if state.waiting > 0 || !matches!(state.bytes, AllBytes::Requested(_)) {
            return;
        }
        let request = std::mem::replace(&mut state.bytes, AllBytes::Ranges);
        drop(state);
        // We don't hold the lock here, because dropping the request can run arbitrary code.
        drop(request);
    }
}

fn checked(answer: Answer) -> Result<Answer> {
    request::check(&answer, &(0..answer.identity.length))?;
    Ok(answer)
}

/// Adds to an error that the failed request was for the whole object, rather than for a range.
fn instead(error: Error) -> Error {
    let message = format!("all bytes were requested instead: {}", error.message());
    request::with_message(error, message)
}

/// The wakers of all tasks waiting for one request.
#[derive(Default)]
struct Tasks(Mutex<Vec<Waker>>);

impl Tasks {
    fn lock(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, waker: &Waker) {
        let mut wakers = self.lock();
        if !wakers.iter().any(|other| other.will_wake(waker)) {
            wakers.push(waker.clone());
        }
    }
}

impl Wake for Tasks {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let wakers = std::mem::take(&mut *self.lock());
        wakers.into_iter().for_each(Waker::wake);
    }
}
