//! Encodes values to page bytes (Encodings, "Delta Strings (DELTA_BYTE_ARRAY = 7)").

use herringbone_format::Result;
use herringbone_kernels::delta::{self, Blocks};

use crate::encoding::physical_values::Values;
use crate::encoding::{ValueEncoder, length, mismatch};

#[derive(Default)]
pub(crate) struct DeltaBytes {
    prefixes: Vec<i32>,
    suffixes: Vec<i32>,
    bytes: Vec<u8>,
    /// The page's last value so far, kept because the next value can share a prefix with it.
    last: Vec<u8>,
}

impl DeltaBytes {
    fn push(&mut self, value: &[u8]) -> Result<()> {
        let shared = shared_bytes(&self.last, value);
        let suffix = value.get(shared..).unwrap_or_default();
        self.prefixes.push(length(shared)?);
        self.suffixes.push(length(suffix.len())?);
        self.bytes.extend_from_slice(suffix);
        self.last.truncate(shared);
        self.last.extend_from_slice(suffix);
        Ok(())
    }
}

/// Returns the length of the common prefix of two values.
fn shared_bytes(a: &[u8], b: &[u8]) -> usize {
    let words = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let mut shared = 0;
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        let differ = words(a) ^ words(b);
        if differ != 0 {
            return shared + differ.trailing_zeros() as usize / 8;
        }
        shared += 8;
    }
    let (a, b) = (a.get(shared..), b.get(shared..));
    let pairs = a.unwrap_or_default().iter().zip(b.unwrap_or_default());
    shared + pairs.take_while(|(a, b)| a == b).count()
}

impl ValueEncoder for DeltaBytes {
    fn append(&mut self, values: &Values<'_>) -> Result<()> {
        match values {
            Values::ByteArray(values) => values.iter().try_for_each(|value| self.push(value)),
            Values::Fixed { bytes, width } => bytes
                .chunks_exact((*width).max(1))
                .try_for_each(|value| self.push(value)),
            _ => Err(mismatch()),
        }
    }

    fn page_bytes(&self) -> usize {
        4 * self.prefixes.len() + self.bytes.len()
    }

    fn finish_page(&mut self, out: &mut Vec<u8>, section_starts: &mut Vec<usize>) {
        delta::encode_i32(&self.prefixes, Blocks::Smallest, out);
        section_starts.push(out.len());
        delta::encode_i32(&self.suffixes, Blocks::Smallest, out);
        section_starts.push(out.len());
        self.prefixes.clear();
        self.suffixes.clear();
        out.append(&mut self.bytes);
        self.last.clear();
    }

    fn heap_bytes(&self) -> usize {
        4 * (self.prefixes.capacity() + self.suffixes.capacity())
            + self.bytes.capacity()
            + self.last.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::shared_bytes;

    #[test]
    fn shared_bytes_are_counted_to_the_last() {
        for (a, b, shared) in [
            ("", "", 0),
            ("a", "", 0),
            ("axis", "axle", 2),
            ("12345678", "12345678", 8),
            ("123456789", "123456780", 8),
            ("1234567812345678abc", "1234567812345678abd", 18),
            ("1234567", "12345678", 7),
            ("12345x78", "12345y78", 5),
        ] {
            assert_eq!(shared_bytes(a.as_bytes(), b.as_bytes()), shared, "{a} {b}");
        }
    }
}
