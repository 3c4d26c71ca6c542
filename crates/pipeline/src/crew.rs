//! Work shared by several threads, that is, the owning caller and its helpers.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::helper_count::{HelpPermit, HelperCount};
use crate::pool::{self, Spawn, process_id};

/// The panic message for callers that carry on after a panic.
const AFTER_PANIC: &str = "a task of this reader or writer panicked before";

/// The tasks and how to perform them. Implement this to run your own kind of work with a [`Crew`].
///
/// All methods but [`run`](Self::run) and [`attend`](Self::attend) are called with the state locked, so they should be
/// short.
pub trait Work: Send + Sync + Sized + 'static {
    /// The state shared by all threads, with runnable tasks and any results that aren't due yet.
    type State: Send;
    /// A unit of work. It owns its input.
    type Task;
    /// The outcome of a task.
    type Output;
    /// A thread's scratch memory, for example codec contexts, buffers, or the column in its caches.
    type Scratch: Default + Send;

    /// Takes the most urgent runnable task, if there is one.
    fn take(&self, state: &mut Self::State, scratch: &mut Self::Scratch) -> Option<Self::Task>;

    /// Returns true if there is a task worth waking another thread for.
    ///
    /// This is only a hint. Waking a thread in vain costs some microseconds, and if we wake too few, the other threads
    /// make up for it.
    fn wants_help(&self, state: &mut Self::State) -> bool;

    /// Performs a task. The state isn't locked while this is running.
    fn run(
        &self,
        task: Self::Task,
        scratch: &mut Self::Scratch,
        shared: &Shared<Self>,
    ) -> Self::Output;

    /// Stores a task's output in the state.
    fn finish(&self, state: &mut Self::State, output: Self::Output);

    /// Returns the interval for calling [`attend`](Self::attend) while the caller is waiting for helpers. By default,
    /// the caller never does.
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// Lets the program act while its thread is waiting. The state isn't locked while this is running.
    fn attend(&self) {}
}

/// The caller's handle to some work. Ask it for results with [`next`](Self::next).
///
/// Dropping the crew waits for running tasks without starting new ones. Note that forking a process loses its running
/// tasks, because a fork copies no threads. So in the child, neither [`next`](Self::next) nor dropping waits for them.
pub struct Crew<W: Work> {
    shared: Arc<Shared<W>>,
    scratch: W::Scratch,
    /// The id of the process with the helpers.
    process: u32,
}

/// The work and its state, shared by all of a crew's threads.
pub struct Shared<W: Work> {
    work: W,
    inner: Mutex<Inner<W>>,
    /// Notified when a state change might matter to the waiting caller.
    changed: Condvar,
    helpers: Arc<HelperCount>,
    max_helpers: usize,
    host: Option<Arc<dyn Spawn>>,
    myself: Weak<Self>,
}

struct Inner<W: Work> {
    state: W::State,
    /// Scratch memory left by former helpers, kept for reuse.
    scratches: Vec<W::Scratch>,
    /// The number of unfinished tasks, already taken by a thread.
    running: usize,
    /// True if the state has changed since the caller last looked at it.
    is_changed: bool,
    caller_waits: bool,
    /// True after a panic, and once the crew ends. From then on, no more tasks are taken.
    is_stopped: bool,
    /// The first panic, until it is passed on to the caller.
    panic: Option<Box<dyn Any + Send>>,
}

impl<W: Work> Crew<W> {
    /// Creates a crew of at most `threads` threads, including the caller's.
    ///
    /// Helpers come from `host`, or from the process's pool if there is no host. The pool has one thread per core, or
    /// as many as the largest `threads` of any crew if that's more.
    pub fn new(work: W, state: W::State, threads: usize, host: Option<Arc<dyn Spawn>>) -> Self {
        let shared = Arc::new_cyclic(|myself| Shared {
            work,
            inner: Mutex::new(Inner {
                state,
                scratches: Vec::new(),
                running: 0,
                is_changed: false,
                caller_waits: false,
                is_stopped: false,
                panic: None,
            }),
            changed: Condvar::new(),
            helpers: Arc::default(),
            max_helpers: threads.saturating_sub(1),
            host,
            myself: myself.clone(),
        });
        Self {
            shared,
            scratch: W::Scratch::default(),
            process: process_id(),
        }
    }

    /// Waits until `ready` finds a result in the state, performing tasks in the meantime.
    ///
    /// Returns `None` if `ready` finds nothing and there are no runnable or running tasks left, since no result can
    /// follow then.
    ///
    /// # Panics
    /// Resumes the first panic that a task raised. Calling this again after that panics again.
    pub fn next<R>(&mut self, ready: impl FnMut(&mut W::State) -> Option<R>) -> Option<R> {
        let (shared, process) = (&self.shared, self.process);
        let scratch = &mut self.scratch;
        let wait = AssertUnwindSafe(|| shared.wait_for(ready, scratch, process));
        match catch_unwind(wait) {
            Ok(result) => result,
            Err(panic) => {
                shared.lock().is_stopped = true;
                resume_unwind(panic)
            }
        }
    }
}

impl<W: Work> std::ops::Deref for Crew<W> {
    type Target = Shared<W>;

    fn deref(&self) -> &Shared<W> {
        &self.shared
    }
}

impl<W: Work> Drop for Crew<W> {
    fn drop(&mut self) {
        if self.process == process_id() {
            self.shared.lock().is_stopped = true;
            self.shared.helpers.close();
        }
    }
}

impl<W: Work> Shared<W> {
    /// Returns the work.
    pub fn work(&self) -> &W {
        &self.work
    }

    /// Passes the state to `at`, under the lock.
    pub fn look<R>(&self, at: impl FnOnce(&W::State) -> R) -> R {
        at(&self.lock().state)
    }

    /// Changes the state, waking any threads affected by the change.
    pub fn update<R>(&self, change: impl FnOnce(&mut W::State) -> R) -> R {
        let mut inner = self.lock();
        let result = change(&mut inner.state);
        inner.is_changed = true;
        self.release(inner);
        result
    }

    fn lock(&self) -> MutexGuard<'_, Inner<W>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Implements [`Crew::next`] for a crew with helpers in the given process.
    fn wait_for<R>(
        &self,
        mut ready: impl FnMut(&mut W::State) -> Option<R>,
        scratch: &mut W::Scratch,
        process: u32,
    ) -> Option<R> {
        let mut inner = self.lock();
        loop {
            if inner.is_stopped {
                let panic = inner.panic.take();
                drop(inner);
                resume_unwind(panic.unwrap_or_else(|| Box::new(AFTER_PANIC)));
            }
            inner.is_changed = false;
            if let Some(result) = ready(&mut inner.state) {
                self.release(inner);
                return Some(result);
            }
            if let Some(task) = self.take(&mut inner, scratch) {
                self.release(inner);
                let output = self.work.run(task, scratch, self);
                inner = self.lock();
                self.finish(&mut inner, output);
            } else if inner.running == 0 || process != process_id() {
                return None;
            } else {
                inner = self.sleep(inner);
            }
        }
    }

    /// Waits until the state has changed or the caller's patience runs out.
    fn sleep<'a>(&'a self, mut inner: MutexGuard<'a, Inner<W>>) -> MutexGuard<'a, Inner<W>> {
        inner.caller_waits = true;
        let Some(patience) = self.work.patience() else {
            let woken = self.changed.wait(inner);
            inner = woken.unwrap_or_else(PoisonError::into_inner);
            inner.caller_waits = false;
            return inner;
        };
        let woken = self.changed.wait_timeout(inner, patience);
        let (mut inner, _) = woken.unwrap_or_else(PoisonError::into_inner);
        inner.caller_waits = false;
        drop(inner);
        self.work.attend();
        self.lock()
    }

    fn take(&self, inner: &mut Inner<W>, scratch: &mut W::Scratch) -> Option<W::Task> {
        if inner.is_stopped {
            return None;
        }
        let task = self.work.take(&mut inner.state, scratch)?;
        inner.running += 1;
        Some(task)
    }

    fn finish(&self, inner: &mut Inner<W>, output: W::Output) {
        inner.running -= 1;
        inner.is_changed = true;
        self.work.finish(&mut inner.state, output);
    }

    /// Releases the lock, waking a thread if there's something for it to do. Otherwise this makes no system call.
    ///
    /// A waiting caller takes precedence over helpers, because it requests helpers itself.
    fn release(&self, inner: MutexGuard<'_, Inner<W>>) {
        if let Some(inner) = self.wake_caller(inner) {
            self.ask_for_help(inner);
        }
    }

    /// Wakes the caller if it's waiting and the state has changed. Otherwise this returns the lock.
    fn wake_caller<'a>(
        &self,
        mut inner: MutexGuard<'a, Inner<W>>,
    ) -> Option<MutexGuard<'a, Inner<W>>> {
        if !inner.caller_waits || !inner.is_changed {
            return Some(inner);
        }
        inner.caller_waits = false;
        drop(inner);
        self.changed.notify_one();
        None
    }

    /// Releases the lock, requesting one more helper if there's work for it.
    ///
    /// One helper is enough, because any helper that takes a task requests the next helper, and so does the caller.
    fn ask_for_help(&self, mut inner: MutexGuard<'_, Inner<W>>) {
        if inner.is_stopped {
            return;
        }
        let Some(permit) = self.helpers.permit(self.max_helpers) else {
            return;
        };
        if !self.work.wants_help(&mut inner.state) {
            return;
        }
        // We release the lock first, because a host is allowed to run or drop the job immediately.
        drop(inner);
        let shared = self.myself.clone();
        let job = Box::new(move || {
            // This is dropped last. An ending crew waits for this, and by then it's the only owner of the work.
            let Some(_at_work) = permit.begin() else {
                return;
            };
            if let Some(shared) = shared.upgrade() {
                shared.help(permit);
            }
        });
        match &self.host {
            Some(host) => host.spawn(job),
            None => pool::spawn(job, self.max_helpers + 1),
        }
    }

    /// Performs tasks as a helper until there are none left.
    fn help(&self, permit: HelpPermit) {
        let work = AssertUnwindSafe(|| {
            let mut inner = self.lock();
            let mut scratch = inner.scratches.pop().unwrap_or_default();
            while let Some(task) = self.take(&mut inner, &mut scratch) {
                self.release(inner);
                let output = self.work.run(task, &mut scratch, self);
                inner = self.lock();
                self.finish(&mut inner, output);
            }
            inner.scratches.push(scratch);
            // We return the permit while still holding the lock, so that a later change can request help again.
            drop(permit);
            drop(self.wake_caller(inner));
        });
        if let Err(panic) = catch_unwind(work) {
            let mut inner = self.lock();
            inner.is_stopped = true;
            inner.panic.get_or_insert(panic);
            drop(inner);
            self.changed.notify_one();
        }
    }
}
