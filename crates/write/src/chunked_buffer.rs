//! A buffer made of parts, so that it grows without moving its bytes.

use std::mem;

use bytes::Bytes;

/// The maximum capacity of a part that smaller buffers are copied into, in bytes. A single larger buffer can exceed it.
const PART_BYTES: usize = 1 << 20;

/// The size at which a buffer becomes a part of its own rather than being copied, in bytes.
const LARGE: usize = 1 << 18;

/// A buffer of parts that keeps bytes in append order.
#[derive(Debug, Default)]
pub(crate) struct ChunkedBuffer {
    parts: Vec<Bytes>,
    /// The last part. It is open, that is, bytes are still being copied to it.
    open: Vec<u8>,
    /// The minimum capacity of the next open part, in bytes. Short chunks only need short parts, and so do the bytes
    /// between taken buffers.
    room: usize,
    len: usize,
    /// The number of bytes reserved by all parts. Taken buffers count with their length.
    reserved: usize,
}

impl ChunkedBuffer {
    /// Returns the number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of reserved bytes. It depends on the appended bytes only, and not on the capacity of the
    /// buffers they came in.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of::<Bytes>() * self.parts.capacity() + self.reserved
    }

    /// Appends a copy of bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.open.capacity() - self.open.len() < bytes.len() {
            self.close(2 * self.open.capacity());
            self.open = Vec::with_capacity(self.room.max(bytes.len()));
            self.reserved += self.open.capacity();
        }
        self.open.extend_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Appends a copy of the bytes from `start` on. A large buffer is taken over instead of copied.
    pub(crate) fn push_or_take(&mut self, bytes: &mut Vec<u8>, start: usize) {
        let appended = bytes.get(start..).unwrap_or_default();
        if appended.len() < LARGE {
            self.push(appended);
            return;
        }
        let mut part = mem::take(bytes);
        // Compression in particular reserves much more than it needs, so we give the excess back.
        part.shrink_to_fit();
        let part = Bytes::from(part).slice(start..);
        self.len += part.len();
        self.reserved += part.len();
        self.close(2 * self.open.len());
        self.parts.push(part);
    }

    /// Closes the open part, if there is one. The next part gets a capacity of `room`, up to [`PART_BYTES`].
    fn close(&mut self, room: usize) {
        if !self.open.is_empty() {
            self.room = room.min(PART_BYTES);
            self.parts.push(mem::take(&mut self.open).into());
        }
    }

    /// Returns the parts.
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

    /// Taken pages have their headers in between.
    #[test]
    fn what_stands_between_large_buffers_holds_little() {
        let mut parts = ChunkedBuffer::default();
        for _ in 0..100 {
            parts.push(&[1; 40]);
            parts.push_or_take(&mut vec![2; LARGE], 0);
        }
        let (reserved, len) = (parts.heap_bytes(), parts.len());
        assert!(
            (len..len + 100 * 200).contains(&reserved),
            "{reserved} for {len}"
        );
    }

    /// The last part can be twice as large as all bytes before it.
    #[test]
    fn copied_bytes_hold_three_times_as_much_at_most() {
        let mut parts = ChunkedBuffer::default();
        for i in 0..3000_usize {
            parts.push(&vec![1; i % 999]);
            let (reserved, len) = (parts.heap_bytes(), parts.len());
            assert!(reserved <= 3 * len.max(1000), "{reserved} for {len}");
        }
    }
}
