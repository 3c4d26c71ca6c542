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

/// Starts so many threads, or as many of them as the system gives: who asked for them works as well, and
/// does without the others.
pub fn start<W: FnOnce() + Send + 'static>(
    count: usize,
    mut work: impl FnMut() -> W,
) -> Vec<JoinHandle<()>> {
    let spawn = || {
        let builder = Builder::new().name("herringbone".to_owned());
        builder.spawn(work()).ok()
    };
    std::iter::repeat_with(spawn)
        .take(count)
        .map_while(|worker| worker)
        .collect()
}
