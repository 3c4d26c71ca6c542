//! What the allocator does with the memory of batches that were dropped, and of row groups that were written.
//!
//! The C library of GNU/Linux maps large buffers one by one, and hands memory at the end of its heap
//! back to the system as soon as it is free. What is large, and how much may stay, are thresholds that
//! start at 128 KiB and rise to the largest mapped buffer that was ever freed. In a program that has
//! freed none, each batch and each row group that is written take a page fault for every 4 KiB, which
//! may be longer than decoding them.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the batches of one thread take at a time, at most, for ordinary rows.
pub(crate) const ONE_THREAD: usize = 4 << 20;

/// The same of several, which work ahead: parts of columns wait for their turn. A writer, whose columns wait for
/// the end of the row group, takes as much.
pub(crate) const SEVERAL_THREADS: usize = 16 << 20;

/// Has the thresholds rise, once a process: from then on, buffers of up to `bytes` come from the heap,
/// whose free end may have twice as many. Allocators without such thresholds get a buffer back that nothing
/// was written to.
pub(crate) fn keep_memory(bytes: usize) {
    static KEPT: AtomicUsize = AtomicUsize::new(0);
    if KEPT.fetch_max(bytes, Ordering::Relaxed) >= bytes {
        return;
    }
    let mut buffer = Vec::<u8>::new();
    // Where there is no room for it, things stay as they are.
    if buffer.try_reserve_exact(bytes).is_ok() {
        drop(black_box(buffer));
    }
}
