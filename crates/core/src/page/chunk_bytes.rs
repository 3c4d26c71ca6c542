//! The bytes of one column chunk, as far as they have been handed in.
//!
//! Nothing here reads. Whoever needs bytes that are absent gets the range that is missing, passes
//! it up to the driver, and asks again once the driver has supplied it.

use std::ops::Range;

use bytes::{Buf as _, Bytes};

/// No more than one byte of so many in a window is moved to let go of the others.
const MOST_MOVED: usize = 8;

/// A window on the file that moves forward over one column chunk.
#[derive(Debug)]
pub(crate) struct ChunkBytes {
    /// Where the chunk lies in the file.
    chunk: Range<u64>,
    /// File offset of the first byte of `window`.
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

    /// Where the chunk ends.
    pub(crate) fn end(&self) -> u64 {
        self.chunk.end
    }

    /// Hands in bytes of the file; a window that holds less of what is needed is replaced.
    pub(crate) fn supply(&mut self, offset: u64, bytes: Bytes) {
        self.start = offset;
        self.window = bytes;
    }

    /// Lets go of the bytes before `offset` where few are behind it, which then move.
    pub(crate) fn leave(&mut self, offset: u64) {
        let rest = self.available(offset);
        if rest.len() <= self.window.len() / MOST_MOVED {
            (self.start, self.window) = (offset, Bytes::copy_from_slice(rest));
        }
    }

    /// Lets go of all bytes, where fewer than `few` are here from `offset` on.
    pub(crate) fn let_go(&mut self, offset: u64, few: u64) {
        if (self.available(offset).len() as u64) < few {
            self.window = Bytes::new();
        }
    }

    /// The bytes from `offset` on that are here.
    pub(crate) fn available(&self, offset: u64) -> &[u8] {
        let from = offset
            .checked_sub(self.start)
            .and_then(|from| usize::try_from(from).ok());
        from.and_then(|from| self.window.get(from..))
            .unwrap_or_default()
    }

    /// The bytes of `range`, if they are all here; the last ones are not kept.
    pub(crate) fn take(&mut self, range: Range<u64>) -> Option<Bytes> {
        let from = usize::try_from(range.start.checked_sub(self.start)?).ok()?;
        let to = usize::try_from(range.end.checked_sub(self.start)?).ok()?;
        if from > to || to > self.window.len() {
            return None;
        }
        if to < self.window.len() {
            return Some(self.window.slice(from..to));
        }
        // Who holds bytes alone is spared what counts the holders.
        let mut last = std::mem::take(&mut self.window);
        last.advance(from);
        self.start = range.end;
        Some(last)
    }
}
