//! Part sizes, and the buffer that divides a writer's output into parts.

use std::collections::VecDeque;
use std::io;

use bytes::Bytes;

/// The most parts per object accepted by S3, GCS and R2.
pub(crate) const MAX_PARTS: u64 = 10_000;

/// The number of equally large parts at the start.
const EQUAL_PARTS: u64 = 1_000;

/// The divisor for the growth of later parts: each is larger than the previous one by this fraction
/// of the first part's size.
const GROWTH: u64 = 50;

/// The largest part in bytes accepted by S3, GCS and R2.
pub(crate) const MAX_PART_BYTES: u64 = 5 << 30;

/// The smallest capacity of a part's buffer.
const MIN_CAPACITY: usize = 64 << 10;

/// The rule for part sizes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartSizes {
    /// The size of the first parts in bytes.
    pub(crate) first: u64,
    /// True if all parts except the last have the same size.
    pub(crate) are_equal: bool,
}

impl PartSizes {
    /// Returns the size of the part with this ordinal, counted from 0. Note that a file's last part
    /// can be smaller.
    pub(crate) fn size(&self, ordinal: u64) -> u64 {
        let steps = match self.are_equal {
            true => 0,
            false => (ordinal.min(MAX_PARTS) + 1).saturating_sub(EQUAL_PARTS),
        };
        let growth = (self.first.saturating_mul(steps)) / GROWTH;
        self.first.saturating_add(growth).min(MAX_PART_BYTES)
    }
}

/// A writer's output, divided into parts.
#[derive(Debug)]
pub(crate) struct PartBuffer {
    sizes: PartSizes,
    /// The number of parts begun so far.
    begun: u64,
    /// The full parts. There is at least one byte after each.
    full: VecDeque<Bytes>,
    /// The last part so far.
    open: Vec<u8>,
}

impl PartBuffer {
    pub(crate) fn new(sizes: PartSizes) -> Self {
        Self {
            sizes,
            begun: 1,
            full: VecDeque::new(),
            open: Vec::new(),
        }
    }

    /// Returns true if a part is full.
    pub(crate) fn has_full(&self) -> bool {
        !self.full.is_empty()
    }

    /// Returns the byte count of the next full part.
    pub(crate) fn next_len(&self) -> Option<u64> {
        self.full.front().map(|part| part.len() as u64)
    }

    /// Removes the next full part.
    pub(crate) fn take_full(&mut self) -> Option<Bytes> {
        self.full.pop_front()
    }

    /// Takes the buffer, leaving an empty one with the same part sizes.
    #[cfg(feature = "blocking")]
    pub(crate) fn take(&mut self) -> Self {
        let empty = Self::new(self.sizes);
        std::mem::replace(self, empty)
    }

    /// Closes the last part, whatever its size.
    pub(crate) fn end(&mut self) {
        self.full.push_back(std::mem::take(&mut self.open).into());
    }

    /// Returns the number of buffered bytes.
    pub(crate) fn len(&self) -> u64 {
        let full: usize = self.full.iter().map(Bytes::len).sum();
        (full + self.open.capacity()) as u64
    }
}

impl io::Write for PartBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let size = self.sizes.size(self.begun - 1) as usize;
        if self.open.len() >= size && !bytes.is_empty() {
            self.full.push_back(std::mem::take(&mut self.open).into());
            self.begun += 1;
            return self.write(bytes);
        }
        let taken = bytes.len().min(size - self.open.len());
        let wanted = self.open.len() + taken;
        if wanted > self.open.capacity() {
            // We grow the capacity step by step, so that a small file's buffer stays small, but
            // never beyond the part's size.
            let capacity = wanted.max(2 * self.open.capacity()).max(MIN_CAPACITY);
            self.open
                .reserve_exact(capacity.min(size) - self.open.len());
        }
        self.open
            .extend_from_slice(bytes.get(..taken).unwrap_or_default());
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn total(sizes: PartSizes) -> u64 {
        (0..MAX_PARTS).map(|ordinal| sizes.size(ordinal)).sum()
    }

    #[test]
    fn ten_thousand_parts_suffice_for_the_largest_objects() {
        let sizes = PartSizes {
            first: 8 * MIB,
            are_equal: false,
        };
        assert_eq!(sizes.size(0), 8 * MIB);
        assert_eq!(sizes.size(999), 8 * MIB);
        // The 1,001st part is 2 % larger than the first ones, and the 1,002nd is 4 % larger.
        assert_eq!(sizes.size(1_000), 8 * MIB + 8 * MIB / 50);
        assert_eq!(sizes.size(1_001), 8 * MIB + 16 * MIB / 50);
        assert!(total(sizes) > 5 << 40, "{}", total(sizes));
        assert!(sizes.size(MAX_PARTS - 1) < 2 << 30);
        let large = PartSizes {
            first: 80 * MIB,
            ..sizes
        };
        // S3's limit is 50 TB, in parts of at most 5 GiB.
        assert_eq!(large.size(MAX_PARTS), MAX_PART_BYTES);
        let largest = PartSizes {
            first: MAX_PART_BYTES,
            ..sizes
        };
        assert!(total(largest) > 50_000_000_000_000);
    }

    #[test]
    fn equal_parts_do_not_grow() {
        let sizes = PartSizes {
            first: 8 * MIB,
            are_equal: true,
        };
        assert_eq!(total(sizes), MAX_PARTS * 8 * MIB);
    }

    #[test]
    fn parts_have_their_sizes_and_a_full_one_waits_for_the_next_byte() {
        let mut buffer = PartBuffer::new(PartSizes {
            first: 100,
            are_equal: false,
        });
        buffer.write_all(&[1; 100]).unwrap();
        assert!(!buffer.has_full());
        buffer.write_all(&[2; 101]).unwrap();
        assert_eq!(buffer.take_full().unwrap(), vec![1; 100]);
        assert_eq!(buffer.take_full().unwrap(), vec![2; 100]);
        assert!(!buffer.has_full());
        buffer.end();
        assert_eq!(buffer.next_len(), Some(1));
        assert_eq!(buffer.len(), 1);
    }
}
