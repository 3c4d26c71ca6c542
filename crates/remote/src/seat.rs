//! Decoder and encoder steps, run either on the polling task or in a job of the host. A step owns
//! its decoder or encoder and hands it back with the outcome.
//!
//! ```text
//! Waiting ── a thread starts the job ──► Running ──► Done ──► the task takes the outcome
//!    └────── the host drops the job ───► Dropped ───────────► the task takes the step itself
//! ```

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use herringbone::Spawn;

/// A step, returning its outcome.
type Work<T> = Box<dyn FnOnce() -> T + Send>;

/// A started step. Dropping this also drops the step, either immediately or, if a thread is already
/// running it, when it ends.
pub(crate) struct Job<T>(Arc<Mutex<Seat<T>>>);

struct Seat<T> {
    place: StepState<T>,
    waker: Option<Waker>,
}

/// The whereabouts of a step.
enum StepState<T> {
    /// In the seat, because the job has not started yet.
    Waiting(Work<T>),
    /// Taken by the thread running the job.
    Running,
    Done(Box<T>),
    /// In the seat, because the job will never start.
    Dropped(Work<T>),
    Panicked(Box<dyn Any + Send>),
    /// Nowhere, because the task is no longer waiting for the step.
    Left,
}

impl<T: Send + 'static> Job<T> {
    /// Starts a step as a job of `host`, or runs it on this thread if there is no host.
    pub(crate) fn start(
        host: Option<&dyn Spawn>,
        step: impl FnOnce() -> T + Send + 'static,
    ) -> Self {
        let place = match host {
            None => StepState::Done(Box::new(step())),
            Some(_) => StepState::Waiting(Box::new(step)),
        };
        let seat = Arc::new(Mutex::new(Seat { place, waker: None }));
        if let Some(host) = host {
            let runner = Runner(seat.clone());
            host.spawn(Box::new(move || runner.run()));
        }
        Self(seat)
    }

    /// Returns the outcome once the step is over.
    ///
    /// # Panics
    /// Resumes a panic of the step. For example, a custom predicate can panic.
    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<T> {
        let mut seat = lock(&self.0);
        match std::mem::replace(&mut seat.place, StepState::Left) {
            StepState::Done(outcome) => Poll::Ready(*outcome),
            StepState::Dropped(step) => {
                drop(seat);
                Poll::Ready(step())
            }
            StepState::Panicked(panic) => {
                drop(seat);
                resume_unwind(panic)
            }
            place @ (StepState::Waiting(_) | StepState::Running | StepState::Left) => {
                seat.place = place;
                seat.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for Job<T> {
    fn drop(&mut self) {
        let place = std::mem::replace(&mut lock(&self.0).place, StepState::Left);
        // We don't hold the lock here, because the step can own a lot.
        drop(place);
    }
}

/// The host's side of a job.
struct Runner<T>(Arc<Mutex<Seat<T>>>);

impl<T> Runner<T> {
    fn run(self) {
        let Some(step) = self.take() else {
            return;
        };
        self.put(match catch_unwind(AssertUnwindSafe(step)) {
            Ok(outcome) => StepState::Done(Box::new(outcome)),
            Err(panic) => StepState::Panicked(panic),
        });
    }

    fn take(&self) -> Option<Work<T>> {
        let mut seat = lock(&self.0);
        match std::mem::replace(&mut seat.place, StepState::Running) {
            StepState::Waiting(step) => Some(step),
            place => {
                seat.place = place;
                None
            }
        }
    }

    /// Puts the outcome into the seat, unless the task is no longer waiting.
    fn put(&self, place: StepState<T>) {
        let mut seat = lock(&self.0);
        if matches!(seat.place, StepState::Left) {
            drop(seat);
            return drop(place);
        }
        seat.place = place;
        let waker = seat.waker.take();
        drop(seat);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl<T> Drop for Runner<T> {
    /// Reports that a dropped job will never start.
    fn drop(&mut self) {
        if let Some(step) = self.take() {
            self.put(StepState::Dropped(step));
        }
    }
}

fn lock<T>(seat: &Mutex<Seat<T>>) -> MutexGuard<'_, Seat<T>> {
    seat.lock().unwrap_or_else(PoisonError::into_inner)
}
