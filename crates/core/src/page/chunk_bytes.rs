//! One column chunk's bytes, as far as supplied.
//!
//! This module does no I/O. If bytes are missing, the caller passes their range up to the driver and tries again once
//! the driver has supplied the bytes.

use std::ops::Range;

use bytes::{Buf as _, Bytes};

/// We copy at most one in `MAX_MOVED` of a window's bytes to free the rest.
const MAX_MOVED: usize = 8;

/// A window on the file, moving forward over one column chunk.
#[derive(Debug)]
pub(crate) struct ChunkBytes {
    /// The chunk's range in the file.
    chunk: Range<u64>,
    /// The file offset of the first byte of `window`.
    start: u64,
    window: Bytes,
}

impl ChunkBytes {
    pub(crate) fn new(chunk: Range<u64>) -> Self {
        Self {
            start: chunk.start,
            chunk,
            window: Bytes::new(),
        }
    }

    /// Returns the end of the chunk.
    pub(crate) fn end(&self) -> u64 {
        self.chunk.end
    }

    /// Supplies bytes of the file. They replace the current window.
    pub(crate) fn supply(&mut self, offset: u64, bytes: Bytes) {
        self.start = offset;
        self.window = bytes;
    }

    /// Frees the bytes before `offset`, but only if few bytes follow, because these must be copied.
    pub(crate) fn free_before(&mut self, offset: u64) {
        let rest = self.available(offset);
        if rest.len() <= self.window.len() / MAX_MOVED {
            (self.start, self.window) = (offset, Bytes::copy_from_slice(rest));
        }
    }

    /// Frees the whole window if it contains fewer than `few` bytes from `offset` on.
    pub(crate) fn free_if_few(&mut self, offset: u64, few: u64) {
        if (self.available(offset).len() as u64) < few {
            self.window = Bytes::new();
        }
    }

    /// Returns the available bytes from `offset` on.
    pub(crate) fn available(&self, offset: u64) -> &[u8] {
        let from = offset
            .checked_sub(self.start)
            .and_then(|from| usize::try_from(from).ok());
        from.and_then(|from| self.window.get(from..))
            .unwrap_or_default()
    }

    /// Returns the bytes of `range` if they're all available. Bytes at the end of the window are moved out of it.
    pub(crate) fn take(&mut self, range: Range<u64>) -> Option<Bytes> {
        let from = usize::try_from(range.start.checked_sub(self.start)?).ok()?;
        let to = usize::try_from(range.end.checked_sub(self.start)?).ok()?;
        if from > to || to > self.window.len() {
            return None;
        }
        if to < self.window.len() {
            return Some(self.window.slice(from..to));
        }
        // These bytes end the window, so we move them out. This makes the caller their only owner, which avoids the
        // reference count.
        let mut last = std::mem::take(&mut self.window);
        last.advance(from);
        self.start = range.end;
        Some(last)
    }
}
