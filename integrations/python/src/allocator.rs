//! Memory of dropped tables, which the next table takes.

use std::hint::black_box;
use std::sync::Once;

/// The number of bytes of a table that lets the C library retain memory.
const LARGE: usize = 8 << 20;

/// The size of the buffer that raises the thresholds of the C library: below the largest that it considers, 32 MiB.
const BUFFER: usize = 31 << 20;

/// Lets the C library of GNU/Linux retain about 62 MiB of freed memory, if the table is large.
///
/// It unmaps free memory at the end of its heap beyond twice the size of the largest mapped buffer ever freed. The next table then
/// takes a page fault per 4 KiB, which may take longer than decoding. Other allocators only free an untouched buffer.
pub(crate) fn keep_memory_of(table_bytes: usize) {
    static KEPT: Once = Once::new();
    if table_bytes < LARGE {
        return;
    }
    KEPT.call_once(|| {
        let mut buffer = Vec::<u8>::new();
        // If the allocation fails, the thresholds stay as they are.
        if buffer.try_reserve_exact(BUFFER).is_ok() {
            drop(black_box(buffer));
        }
    });
}
