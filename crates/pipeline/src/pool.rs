//! Sources of helpers, that is, the process's pool or a host.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, available_parallelism};

/// The maximum number of threads for one caller or the pool. We need a limit because some systems kill a process with
/// no room left for another thread's stack.
const MAX_THREADS: usize = 1024;

/// The maximum number of jobs queued for the pool's threads.
const MAX_WAITING_JOBS: usize = 1024;

/// The maximum number of processes with a pool in a chain of forks.
const MAX_FORKS: usize = 16;

/// The process id of an unused pool.
const NO_PROCESS: u32 = 0;

/// The help that one thread gives to one crew, until the crew has no task for it.
type Job = Box<dyn FnOnce() + Send>;

/// A source of threads. Implement this to lend your program's own threads to readers and writers.
///
/// A reader or writer requests a thread when it has a task for it. It never waits for a job to start and works alone if
/// none does, so you may drop a job instead of running it. You may also run it before `spawn` returns, but then the
/// caller has to wait for it.
///
/// A job might wait for started jobs of the same reader or writer, but never for a job that hasn't started.
///
/// ```
/// use std::sync::Arc;
/// use herringbone::{ReadOptions, Spawn, WriteOptions};
///
/// /// Starts one new thread per job. With a pool of your own, pass the job to it.
/// #[derive(Debug)]
/// struct NewThreads;
///
/// impl Spawn for NewThreads {
///     fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
///         std::thread::spawn(job);
///     }
/// }
///
/// let read = ReadOptions::new().spawn(Arc::new(NewThreads));
/// let write = WriteOptions::new().spawn(Arc::new(NewThreads));
/// assert!(read.spawn.is_some() && write.spawn.is_some());
/// ```
pub trait Spawn: Debug + Send + Sync {
    /// Runs a job on another thread.
    fn spawn(&self, job: Box<dyn FnOnce() + Send>);
}

/// Returns the number of threads to use, including the caller's. If `asked` is 0, this is one thread per core.
#[must_use]
pub fn threads(asked: usize) -> usize {
    // The system reads several files for an answer, which shows if a read of 10,000 files asks for each of them.
    static CORES: LazyLock<usize> =
        LazyLock::new(|| available_parallelism().map_or(1, usize::from));
    match asked {
        0 => *CORES,
        threads => threads.min(MAX_THREADS),
    }
}

/// The process's pool as a host. Used for streams, because they only use a host's threads.
#[derive(Debug, Clone)]
pub struct ProcessPool {
    threads: usize,
}

impl ProcessPool {
    /// Creates the host for a caller requesting `threads` threads, or one per core if this is 0.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        let threads = self::threads(threads);
        Self { threads }
    }
}

impl Spawn for ProcessPool {
    fn spawn(&self, job: Job) {
        spawn(job, self.threads);
    }
}

/// Runs a job in the process's pool on behalf of a caller that requested `threads` threads.
pub(crate) fn spawn(job: Job, threads: usize) {
    static POOLS: Pools = Pools::new();
    if let Some(pool) = POOLS.of(process_id()) {
        pool.spawn(job, threads);
    }
}

/// Returns the id of this process, which a fork changes. Only Unix has forks. Some other systems have no process ids at
/// all, so they all get the same number.
pub(crate) fn process_id() -> u32 {
    if cfg!(unix) { std::process::id() } else { 1 }
}

/// The pools of this process and its ancestors in a chain of forks.
///
/// A fork copies the parent's pool but not its threads, and the copy's lock might be held forever. So each process uses
/// the first pool with its own id or takes an unused pool.
struct Pools([OwnedPool; MAX_FORKS]);

struct OwnedPool {
    process: AtomicU32,
    pool: Pool,
}

impl Pools {
    const fn new() -> Self {
        Self(
            [const {
                OwnedPool {
                    process: AtomicU32::new(NO_PROCESS),
                    pool: Pool::new(),
                }
            }; MAX_FORKS],
        )
    }

    /// Returns a process's pool, or `None` after too many forks in a chain.
    fn of(&self, process: u32) -> Option<&Pool> {
        let owned = self.0.iter().find(|owned| {
            let order = Ordering::Relaxed;
            let owner = owned
                .process
                .compare_exchange(NO_PROCESS, process, order, order);
            owner.map_or_else(|owner| owner == process, |_| true)
        })?;
        Some(&owned.pool)
    }
}

/// Threads for running jobs, started when there's a job but no idle thread. Threads never end.
struct Pool {
    state: Mutex<State>,
    /// Notified when a job is waiting for an idle thread.
    work: Condvar,
}

struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    /// The number of threads waiting for a job.
    idle: usize,
    /// The maximum number of threads. This is the number of cores or the largest number requested so far, whichever is
    /// more.
    max_threads: usize,
}

impl Pool {
    const fn new() -> Self {
        Self {
            state: Mutex::new(State {
                jobs: VecDeque::new(),
                threads: 0,
                idle: 0,
                max_threads: 0,
            }),
            work: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a job on behalf of a caller that requested `threads` threads. The job is dropped if too many others are
    /// already queued.
    fn spawn(&'static self, job: Job, threads: usize) {
        let mut state = self.lock();
        if state.max_threads == 0 {
            state.max_threads = self::threads(0);
        }
        state.max_threads = state.max_threads.max(threads);
        if state.jobs.len() >= MAX_WAITING_JOBS {
            drop(state);
            return drop(job);
        }
        state.jobs.push_back(job);
        if state.jobs.len() <= state.idle {
            drop(state);
            self.work.notify_one();
        } else if state.threads < state.max_threads {
            state.threads += 1;
            drop(state);
            let thread = Builder::new().name("herringbone".to_owned());
            if thread.spawn(|| self.run_jobs()).is_err() {
                // The job is now waiting for an existing thread, if there is one.
                self.lock().threads -= 1;
            }
        }
    }

    /// Runs one job after another for the process's lifetime.
    fn run_jobs(&self) {
        let mut state = self.lock();
        loop {
            match state.jobs.pop_front() {
                Some(job) => {
                    drop(state);
                    job();
                    state = self.lock();
                }
                None => {
                    state.idle += 1;
                    let woken = self.work.wait(state);
                    state = woken.unwrap_or_else(PoisonError::into_inner);
                    state.idle -= 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::sync::{Arc, Barrier};
    use std::time::Duration;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    /// Simulates a fork with a different process id, leaving the locks unchanged.
    #[test]
    fn a_fork_has_a_pool_of_its_own() {
        static POOLS: Pools = Pools::new();
        let parent = POOLS.of(10).unwrap();
        let (sender, receiver) = channel();
        let send = sender.clone();
        parent.spawn(Box::new(move || send.send("parent").unwrap()), 2);
        assert_eq!(receiver.recv_timeout(MINUTE), Ok("parent"));
        assert!(std::ptr::eq(POOLS.of(10).unwrap(), parent));
        // In the child, the parent's lock is held forever.
        let _held = parent.lock();
        let child = POOLS.of(11).unwrap();
        assert!(!std::ptr::eq(child, parent));
        child.spawn(Box::new(move || sender.send("child").unwrap()), 2);
        assert_eq!(receiver.recv_timeout(MINUTE), Ok("child"));
        assert!(std::ptr::eq(POOLS.of(11).unwrap(), child));
    }

    #[test]
    fn a_long_line_of_forks_ends_without_a_pool() {
        let pools = Pools::new();
        for process in 1..=16 {
            assert!(pools.of(process).is_some(), "{process}");
        }
        assert!(pools.of(17).is_none());
        assert!(pools.of(16).is_some());
    }

    #[test]
    fn jobs_that_find_no_room_are_dropped() {
        static POOL: Pool = Pool::new();
        POOL.lock().max_threads = 1;
        let (sender, receiver) = channel::<()>();
        let (begun, begins) = channel();
        let wait = move || {
            begun.send(()).unwrap();
            assert!(receiver.recv_timeout(MINUTE).is_err());
        };
        POOL.spawn(Box::new(wait), 1);
        begins.recv_timeout(MINUTE).unwrap();
        let (ran, runs) = channel();
        for _ in 0..1024 + 9 {
            let ran = ran.clone();
            POOL.spawn(Box::new(move || ran.send(()).unwrap()), 1);
        }
        drop((ran, sender));
        assert_eq!(runs.iter().count(), 1024);
        assert_eq!(POOL.lock().threads, 1);
    }

    /// An idle thread woken for one job must not count as idle for the next job.
    #[test]
    fn jobs_that_come_together_run_together() {
        static POOL: Pool = Pool::new();
        POOL.lock().max_threads = 2;
        POOL.spawn(Box::new(|| ()), 2);
        while POOL.lock().idle == 0 {
            std::thread::yield_now();
        }
        let barrier = Arc::new(Barrier::new(2));
        let (met, both_met) = channel();
        for _ in 0..2 {
            let (barrier, met) = (barrier.clone(), met.clone());
            let meet = move || {
                barrier.wait();
                met.send(()).unwrap();
            };
            POOL.spawn(Box::new(meet), 2);
        }
        assert_eq!(both_met.recv_timeout(MINUTE), Ok(()));
    }

    #[test]
    fn threads_are_bounded() {
        assert_eq!((threads(3), threads(5000)), (3, 1024));
        assert!(threads(0) >= 1);
    }
}
