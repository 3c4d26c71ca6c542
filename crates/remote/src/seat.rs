//! A step of the decoder, on the polling task or in a job of the host.
//!
//! ```text
//! Waiting ── a thread starts the job ──► Running ──► Done ──► the task takes the decoder back
//!    └────── the host drops the job ───► Dropped ───────────► the task takes the step itself
//! ```

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use herringbone::push::{self, Needs, PushDecoder};
use herringbone::{Result, Spawn};

/// The outcome of a step.
pub(crate) struct Step {
    pub(crate) result: Result<push::Poll>,
    /// The ranges needed later, if the step looked ahead after a batch.
    pub(crate) ahead: Option<Needs>,
}

/// Decodes the next batch, or lists missing ranges. If fewer than `look_ahead` bytes are buffered after that, it also
/// lists the ranges needed later.
fn step(decoder: &mut PushDecoder, look_ahead: u64) -> Step {
    let mut result = decoder.poll();
    let mut ahead = None;
    let may_look = decoder.buffered_bytes() < look_ahead && !decoder.is_refused_memory();
    if may_look && matches!(result, Ok(push::Poll::Batch(_))) {
        match decoder.look_ahead() {
            Ok(needs) => ahead = Some(needs),
            Err(error) => result = Err(error),
        }
    }
    Step { result, ahead }
}

/// A started step. Dropping it drops the decoder: at once if no thread runs the step yet, otherwise after the step.
pub(crate) struct Job(Arc<Mutex<Seat>>);

struct Seat {
    place: Place,
    waker: Option<Waker>,
}

/// The place of the decoder.
enum Place {
    /// In the seat: the job was not started.
    Waiting(Box<PushDecoder>, u64),
    /// Taken by the thread that runs the job.
    Running,
    Done(Box<PushDecoder>, Box<Step>),
    /// In the seat: the job will never be started.
    Dropped(Box<PushDecoder>, u64),
    Panicked(Box<dyn Any + Send>),
    /// The task does not wait for it any more.
    Left,
}

impl Job {
    /// Starts a step as a job of `host`, or takes it on this thread.
    pub(crate) fn start(
        host: Option<&dyn Spawn>,
        mut decoder: Box<PushDecoder>,
        look_ahead: u64,
    ) -> Self {
        let place = match host {
            None => {
                let step = step(&mut decoder, look_ahead);
                Place::Done(decoder, Box::new(step))
            }
            Some(_) => Place::Waiting(decoder, look_ahead),
        };
        let seat = Arc::new(Mutex::new(Seat { place, waker: None }));
        if let Some(host) = host {
            let runner = Runner(seat.clone());
            host.spawn(Box::new(move || runner.run()));
        }
        Self(seat)
    }

    /// Returns the decoder and the outcome, when the step is over.
    ///
    /// # Panics
    /// Resumes a panic of the step, such as that of a custom predicate.
    pub(crate) fn poll(&self, cx: &Context<'_>) -> Poll<(Box<PushDecoder>, Step)> {
        let mut seat = lock(&self.0);
        match std::mem::replace(&mut seat.place, Place::Left) {
            Place::Done(decoder, step) => Poll::Ready((decoder, *step)),
            Place::Dropped(mut decoder, look_ahead) => {
                drop(seat);
                let step = step(&mut decoder, look_ahead);
                Poll::Ready((decoder, step))
            }
            Place::Panicked(panic) => {
                drop(seat);
                resume_unwind(panic)
            }
            place @ (Place::Waiting(..) | Place::Running | Place::Left) => {
                seat.place = place;
                seat.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let place = std::mem::replace(&mut lock(&self.0).place, Place::Left);
        // Without the lock: the decoder may own much.
        drop(place);
    }
}

/// The job, as the host has it.
struct Runner(Arc<Mutex<Seat>>);

impl Runner {
    fn run(self) {
        let Some((mut decoder, look_ahead)) = self.take() else {
            return;
        };
        let run = AssertUnwindSafe(|| {
            let step = step(&mut decoder, look_ahead);
            (decoder, step)
        });
        self.put(match catch_unwind(run) {
            Ok((decoder, step)) => Place::Done(decoder, Box::new(step)),
            Err(panic) => Place::Panicked(panic),
        });
    }

    fn take(&self) -> Option<(Box<PushDecoder>, u64)> {
        let mut seat = lock(&self.0);
        match std::mem::replace(&mut seat.place, Place::Running) {
            Place::Waiting(decoder, look_ahead) => Some((decoder, look_ahead)),
            place => {
                seat.place = place;
                None
            }
        }
    }

    /// Puts the decoder back, unless the task has left.
    fn put(&self, place: Place) {
        let mut seat = lock(&self.0);
        if matches!(seat.place, Place::Left) {
            drop(seat);
            return drop(place);
        }
        seat.place = place;
        let waker = seat.waker.take();
        drop(seat);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl Drop for Runner {
    /// Reports that a dropped job never starts.
    fn drop(&mut self) {
        if let Some((decoder, look_ahead)) = self.take() {
            self.put(Place::Dropped(decoder, look_ahead));
        }
    }
}

fn lock(seat: &Mutex<Seat>) -> MutexGuard<'_, Seat> {
    seat.lock().unwrap_or_else(PoisonError::into_inner)
}
