//! Bytes that grow without being moved: a list of parts.

use std::mem;

use bytes::Bytes;

/// Bytes of a part that others are copied to, at most.
const PART_BYTES: usize = 1 << 20;

/// Bytes from which on a buffer becomes a part of its own instead of being copied.
const LARGE: usize = 1 << 18;

/// Bytes in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct ChunkedBuffer {
    parts: Vec<Bytes>,
    /// The part behind them, which bytes are copied to.
    open: Vec<u8>,
    /// Bytes that the next one has room for, at least: short chunks get by with short parts, and so does what stands between
    /// buffers that are taken.
    room: usize,
    len: usize,
    /// Bytes held by all parts; of those that were taken, their length.
    held: usize,
}

impl ChunkedBuffer {
    /// All bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes held, which follow from what was appended, not from how much room that had.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of::<Bytes>() * self.parts.capacity() + self.held
    }

    /// Appends a copy of bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.open.capacity() - self.open.len() < bytes.len() {
            self.close(2 * self.open.capacity());
            self.open = Vec::with_capacity(self.room.max(bytes.len()));
            self.held += self.open.capacity();
        }
        self.open.extend_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Appends a copy of the bytes from `start` on, or takes the buffer away where they are many.
    pub(crate) fn push_or_take(&mut self, bytes: &mut Vec<u8>, start: usize) {
        let appended = bytes.get(start..).unwrap_or_default();
        if appended.len() < LARGE {
            self.push(appended);
            return;
        }
        let mut part = mem::take(bytes);
        // What compression had room for, above all.
        part.shrink_to_fit();
        let part = Bytes::from(part).slice(start..);
        self.len += part.len();
        self.held += part.len();
        self.close(2 * self.open.len());
        self.parts.push(part);
    }

    /// Ends the open part, if there is one; the next one has so much room, if that is not too much.
    fn close(&mut self, room: usize) {
        if !self.open.is_empty() {
            self.room = room.min(PART_BYTES);
            self.parts.push(mem::take(&mut self.open).into());
        }
    }

    /// The parts.
    pub(crate) fn finish(mut self) -> Vec<Bytes> {
        self.close(0);
        self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_all_bytes_in_order() {
        let mut parts = ChunkedBuffer::default();
        let mut expected = Vec::new();
        for i in 0..5000_usize {
            let mut bytes = vec![i as u8; i % 300];
            if i % 1000 == 999 {
                bytes = vec![7; LARGE + i];
            }
            let start = (i % 7).min(bytes.len());
            expected.extend_from_slice(&bytes[start..]);
            parts.push_or_take(&mut bytes, start);
        }
        assert_eq!(parts.len(), expected.len());
        assert_eq!(parts.finish().concat(), expected);
    }

    /// Pages that are taken have their headers in between.
    #[test]
    fn what_stands_between_large_buffers_holds_little() {
        let mut parts = ChunkedBuffer::default();
        for _ in 0..100 {
            parts.push(&[1; 40]);
            parts.push_or_take(&mut vec![2; LARGE], 0);
        }
        let (held, len) = (parts.heap_bytes(), parts.len());
        assert!((len..len + 100 * 200).contains(&held), "{held} for {len}");
    }

    /// The last part may be twice as large as all bytes before.
    #[test]
    fn copied_bytes_hold_three_times_as_much_at_most() {
        let mut parts = ChunkedBuffer::default();
        for i in 0..3000_usize {
            parts.push(&vec![1; i % 999]);
            let (held, len) = (parts.heap_bytes(), parts.len());
            assert!(held <= 3 * len.max(1000), "{held} for {len}");
        }
    }
}
