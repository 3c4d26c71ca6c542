//! Keeps the memory of dropped tables for the next table.

use std::hint::black_box;
use std::sync::Once;

/// The byte count above which a table makes us let the C library retain memory.
const LARGE: usize = 8 << 20;

/// The size of the buffer that raises the C library's thresholds. It is below 32 MiB, which is the
/// largest that the library considers.
const BUFFER: usize = 31 << 20;

/// Lets the C library of GNU/Linux retain about 62 MiB of freed memory, if the table is large.
///
/// The library unmaps free memory at the end of its heap if there is more than twice the size of
/// the largest mapped buffer ever freed. The next table then takes a page fault for every 4 KiB,
/// which may take longer than decoding. Other allocators only free a buffer that was never touched.
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
