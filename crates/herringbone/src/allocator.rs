//! Allocator tuning, so that the memory of dropped batches and written row groups can be reused for
//! the next ones.
//!
//! The GNU/Linux C library maps large buffers individually, and immediately returns free memory at
//! the end of its heap to the system. Two thresholds decide which buffers are large, and how much
//! free memory can stay. They start at 128 KiB, rising to the largest mapped buffer ever freed.
//! Until a program frees such a buffer, each batch and each written row group takes a page fault
//! per 4 KiB. These faults can take longer than the decoding itself.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ReadPlan;

/// The number of values below which a read needs neither a second thread nor retained memory.
const FEW_VALUES: u64 = 1 << 17;

/// The most bytes that one thread's batches of ordinary rows use at a time.
const ONE_THREAD: usize = 4 << 20;

/// The most bytes that several threads use at a time. They need more than one thread does, because
/// they work ahead and finished columns are waiting for their turn. A writer needs as much, since
/// its columns wait for the end of the row group.
pub(crate) const SEVERAL_THREADS: usize = 16 << 20;

/// The most memory to retain for fetched bytes. The C library never raises its thresholds above 32
/// MiB, which includes the buffer's header, so we stay just below that.
const FETCHED: usize = 31 << 20;

/// Returns true if a read has few values.
pub(crate) fn is_small(plan: &ReadPlan) -> bool {
    let rows: u64 = plan
        .row_groups()
        .iter()
        .map(|row_group| row_group.num_wanted())
        .sum();
    (plan.num_columns() as u64).saturating_mul(rows) < FEW_VALUES
}

/// Lets the C library of GNU/Linux retain freed memory for the next batch, if
/// [`tune_allocator`](crate::ReadOptions::tune_allocator) permits it and the read is not small.
///
/// This crate's readers call it themselves. If you drive a read yourself, call it before the read,
/// passing the number of decoding threads and the number of fetched bytes held at a time. The
/// setting applies to the whole process, and retains 62 MiB at most.
pub fn keep_memory_of_read(plan: &ReadPlan, threads: usize, fetched_bytes: usize) {
    if plan.options().tune_allocator && !is_small(plan) {
        let decoded = match threads {
            1 => ONE_THREAD,
            _ => SEVERAL_THREADS,
        };
        keep_memory(decoded.max(fetched_bytes.min(FETCHED)));
    }
}

/// Raises the C library's thresholds, unless an earlier call has already raised them this far. From
/// then on, buffers of up to `bytes` bytes come from the heap, and up to twice as many free bytes
/// can stay at its end. With other allocators, this only allocates and frees a buffer without
/// touching its memory.
pub(crate) fn keep_memory(bytes: usize) {
    static KEPT: AtomicUsize = AtomicUsize::new(0);
    if KEPT.fetch_max(bytes, Ordering::Relaxed) >= bytes {
        return;
    }
    let mut buffer = Vec::<u8>::new();
    // If the allocation fails, the thresholds stay as they are.
    if buffer.try_reserve_exact(bytes).is_ok() {
        drop(black_box(buffer));
    }
}
