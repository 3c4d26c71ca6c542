//! Bytes that grow without being moved: a list of parts.

/// Bytes of a part that small column batches are collected in.
const PART_BYTES: usize = 1 << 20;

/// Bytes from which on a buffer becomes a part of its own instead of being copied.
const LARGE: usize = 1 << 18;

/// Bytes in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct ChunkedBuffer {
    parts: Vec<Vec<u8>>,
    len: usize,
    /// Bytes held by the parts; of those that were taken, their length.
    held: usize,
}

impl ChunkedBuffer {
    /// All bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes held, which follow from what was appended, not from how much room that had.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of::<Vec<u8>>() * self.parts.capacity() + self.held
    }

    /// Appends a copy of bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.len += bytes.len();
        match self.parts.last_mut() {
            Some(part) if part.capacity() - part.len() >= bytes.len() => {
                part.extend_from_slice(bytes);
            }
            last => {
                // Short chunks get by with a short part.
                let room = last.map_or(0, |part| 2 * part.len()).min(PART_BYTES);
                let mut part = Vec::with_capacity(room.max(bytes.len()));
                part.extend_from_slice(bytes);
                self.held += part.capacity();
                self.parts.push(part);
            }
        }
    }

    /// Appends a copy of the bytes, or takes them away where they are many.
    pub(crate) fn push_or_take(&mut self, bytes: &mut Vec<u8>) {
        if bytes.len() < LARGE {
            self.push(bytes);
            return;
        }
        let mut part = std::mem::take(bytes);
        // What compression had room for, above all.
        part.shrink_to_fit();
        self.len += part.len();
        self.held += part.len();
        self.parts.push(part);
    }

    /// The parts.
    pub(crate) fn finish(self) -> Vec<Vec<u8>> {
        self.parts
    }
}

/// Bytes held by parts.
pub(crate) fn heap_bytes(parts: &[Vec<u8>]) -> usize {
    parts.iter().map(Vec::capacity).sum()
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
            expected.extend_from_slice(&bytes);
            parts.push_or_take(&mut bytes);
        }
        assert_eq!(parts.len(), expected.len());
        assert_eq!(parts.finish().concat(), expected);
    }
}
