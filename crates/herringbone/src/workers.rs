//! How many threads there are: as many as are asked for, and as the system gives.

use std::thread::{Builder, JoinHandle, available_parallelism};

/// As many threads at most, however many are asked for: some systems end a process that has no room left
/// for the stack of one more.
const MOST_THREADS: usize = 1024;

/// Threads to work on, the caller's included; where 0 are asked for, one a core.
pub fn threads(asked: usize) -> usize {
    match asked {
        0 => available_parallelism().map_or(1, usize::from),
        threads => threads.min(MOST_THREADS),
    }
}

/// Threads that are started with the first work, and waited for at the end.
pub struct Workers {
    started: Vec<JoinHandle<()>>,
    unstarted: usize,
}

impl Workers {
    /// So many, none of which is started yet.
    pub fn new(count: usize) -> Self {
        Self {
            started: Vec::new(),
            unstarted: count,
        }
    }

    /// Starts them, the first time, or as many of them as the system gives: who asked for them works as well, and does
    /// without the others.
    pub fn start<W: FnOnce() + Send + 'static>(&mut self, mut work: impl FnMut() -> W) {
        let spawn = || {
            let builder = Builder::new().name("herringbone".to_owned());
            builder.spawn(work()).ok()
        };
        let workers = std::iter::repeat_with(spawn).take(std::mem::take(&mut self.unstarted));
        self.started.extend(workers.map_while(|worker| worker));
    }

    /// How many were started.
    pub fn len(&self) -> usize {
        self.started.len()
    }

    /// Whether none was started.
    pub fn is_empty(&self) -> bool {
        self.started.is_empty()
    }

    /// Waits for all of them to end, once they were told to.
    pub fn join(&mut self) {
        for worker in self.started.drain(..) {
            // A worker hands its panic over before it ends, so there is nothing to learn here.
            drop(worker.join());
        }
    }
}
