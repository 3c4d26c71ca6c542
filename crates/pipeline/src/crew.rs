//! Work that several threads share: the caller that owns it, and its helpers.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::helper_count::{HelpPermit, HelperCount};
use crate::pool::{self, Spawn, process_id};

/// The panic message for a caller that continues after a panic.
const AFTER_PANIC: &str = "a task of this reader or writer panicked before";

/// The tasks, and the way in which they are performed.
///
/// All methods but [`run`](Self::run) and [`attend`](Self::attend) are called under the state's lock, so they should be
/// short.
pub trait Work: Send + Sync + Sized + 'static {
    /// The state that all threads share. It has tasks that may run, and results that are not due yet.
    type State: Send;
    /// A unit of work, which owns its input.
    type Task;
    /// The outcome of a task.
    type Output;
    /// A thread's scratch memory, such as codec contexts, buffers, or the column in its caches.
    type Scratch: Default + Send;

    /// Takes the most urgent task that may run now, if there is one.
    fn take(&self, state: &mut Self::State, scratch: &mut Self::Scratch) -> Option<Self::Task>;

    /// Returns true if another thread would find a task that it is worth waking for.
    ///
    /// This is only a hint. If a thread is woken in vain, this costs some microseconds, and if one is missing, the
    /// other threads make up for it.
    fn wants_help(&self, state: &mut Self::State) -> bool;

    /// Performs a task. The state is not locked meanwhile.
    fn run(
        &self,
        task: Self::Task,
        scratch: &mut Self::Scratch,
        shared: &Shared<Self>,
    ) -> Self::Output;

    /// Stores a task's output in the state.
    fn finish(&self, state: &mut Self::State, output: Self::Output);

    /// Returns the time after which a caller that waits for helpers calls [`attend`](Self::attend), again and again. By
    /// default, it never calls it.
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// Lets the program act while its thread waits. The state is not locked meanwhile.
    fn attend(&self) {}
}

/// The caller's handle to some work.
///
/// If you drop the crew, it waits for running tasks and starts no new ones. A process that was forked while tasks ran
/// has lost them, because a fork copies no threads. So neither [`next`](Self::next) nor dropping waits for them there.
pub struct Crew<W: Work> {
    shared: Arc<Shared<W>>,
    scratch: W::Scratch,
    /// The id of the process with the helpers.
    process: u32,
}

/// The work and its state, which all threads of a crew share.
pub struct Shared<W: Work> {
    work: W,
    inner: Mutex<Inner<W>>,
    /// Notified when the state may have changed in a way that matters to the waiting caller.
    changed: Condvar,
    helpers: Arc<HelperCount>,
    max_helpers: usize,
    host: Option<Arc<dyn Spawn>>,
    myself: Weak<Self>,
}

struct Inner<W: Work> {
    state: W::State,
    /// The scratch memory that helpers left behind when they left.
    scratches: Vec<W::Scratch>,
    /// The number of tasks taken but not finished yet.
    running: usize,
    /// True if the state was changed since the caller last looked at it.
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
    /// Helpers come from `host`, or from the process's pool if there is no host. The pool has as many threads as the
    /// machine has cores, or as the largest `threads` of any crew, if this is more.
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

    /// Waits until `ready` finds a result in the state, and performs tasks meanwhile.
    ///
    /// Returns `None` if `ready` finds nothing, no task may be taken and none is running, because then no result can
    /// follow.
    ///
    /// # Panics
    /// Resumes the first panic that a task raised. If you call it again after that, it panics again.
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

    /// Changes the state, and wakes the threads that the change affects.
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

    /// Implements [`Crew::next`], for a crew whose helpers are in the given process.
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

    /// Waits until the state was changed, or until the caller's patience is over.
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

    /// Releases the lock, and wakes a thread if there is something for it to do. This makes no system call if no thread
    /// must be woken.
    ///
    /// A waiting caller takes precedence over a helper, because it requests helpers itself.
    fn release(&self, inner: MutexGuard<'_, Inner<W>>) {
        if let Some(inner) = self.wake_caller(inner) {
            self.ask_for_help(inner);
        }
    }

    /// Wakes the caller if it waits and the state was changed. Otherwise this returns the lock.
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

    /// Releases the lock, and requests one more helper if there is work for it.
    ///
    /// One helper is enough, because a helper that takes a task requests the next one, and so does the caller.
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
        // We release the lock first, because a host may run or drop the job immediately.
        drop(inner);
        let shared = self.myself.clone();
        let job = Box::new(move || {
            // This is dropped last. A crew that ends waits for this, and is then the only owner of the work.
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

    /// Performs tasks as a helper, until none is left.
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
            // We return the permit under the lock, so that a later change can request help again.
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
