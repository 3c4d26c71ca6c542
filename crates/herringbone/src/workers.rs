//! Threads of a reader: as many as it asks for, and as the system gives.

use std::thread::{Builder, JoinHandle};

/// Threads that are started with the first work, and waited for at the end.
pub(crate) struct Workers {
    started: Vec<JoinHandle<()>>,
    unstarted: usize,
}

impl Workers {
    /// So many, none of which is started yet.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            started: Vec::new(),
            unstarted: count,
        }
    }

    /// Starts them, the first time, or as many of them as the system gives: who asked for them works as well, and does
    /// without the others.
    pub(crate) fn start<W: FnOnce() + Send + 'static>(&mut self, mut work: impl FnMut() -> W) {
        let spawn = || {
            let builder = Builder::new().name("herringbone".to_owned());
            builder.spawn(work()).ok()
        };
        let workers = std::iter::repeat_with(spawn).take(std::mem::take(&mut self.unstarted));
        self.started.extend(workers.map_while(|worker| worker));
    }

    /// Waits for all of them to end, once they were told to.
    pub(crate) fn join(&mut self) {
        for worker in self.started.drain(..) {
            // A worker hands its panic over before it ends, so there is nothing to learn here.
            drop(worker.join());
        }
    }
}
