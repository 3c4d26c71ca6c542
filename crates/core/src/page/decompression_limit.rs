//! How many bytes the pages of a column chunk may decompress to.
//!
//! A compressed page of forty bytes may say that it holds a gigabyte. One such page may be right: a
//! single long value of zeros is. A chunk of many is work that neither its bytes nor its values ask for.

use herringbone_format::{Error, Limits, PageHeader, Result, Type};

/// Bytes for the levels of a value.
const LEVEL_BYTES: u64 = 8;

/// Bytes for a value of variable length.
const BYTE_ARRAY_BYTES: u64 = 256;

/// What is left of the bytes that a column chunk may decompress to.
#[derive(Debug, Clone)]
pub struct DecompressionLimit {
    left: u64,
    /// Bytes for each compressed byte.
    ratio: u64,
    /// Bytes for each value.
    value_bytes: u64,
    /// Of the pages so far, compressed and not.
    compressed: u64,
    uncompressed: u64,
}

impl DecompressionLimit {
    /// That of a chunk with values of this type. As many bytes are granted as the largest page may have
    /// that a read can hold: such a page is never too much, whatever it was compressed to.
    pub fn new(limits: &Limits, physical_type: Type, type_length: usize) -> Self {
        let width = match physical_type {
            Type::Boolean => 1,
            Type::Int32 | Type::Float => 4,
            Type::Int64 | Type::Double => 8,
            Type::Int96 => 12,
            Type::FixedLenByteArray => type_length as u64,
            Type::ByteArray => BYTE_ARRAY_BYTES,
        };
        Self {
            left: limits.memory_bytes.min(limits.page_bytes as u64),
            ratio: limits.decompression_ratio as u64,
            value_bytes: width.saturating_mul(2).saturating_add(LEVEL_BYTES),
            compressed: 0,
            uncompressed: 0,
        }
    }

    /// That of pages that were counted before.
    pub fn unlimited(self) -> Self {
        Self {
            left: u64::MAX,
            ..self
        }
    }

    /// Counts a page of `num_values` values, whose sizes are known not to be negative.
    ///
    /// # Errors
    /// Limit where the pages so far decompress to more than their bytes and values account for.
    pub fn spend(&mut self, header: &PageHeader, num_values: usize) -> Result<()> {
        let compressed = u64::try_from(header.compressed_page_size).unwrap_or_default();
        let uncompressed = u64::try_from(header.uncompressed_page_size).unwrap_or_default();
        self.compressed = self.compressed.saturating_add(compressed);
        self.uncompressed = self.uncompressed.saturating_add(uncompressed);
        let of_bytes = compressed.saturating_mul(self.ratio);
        let of_values = (num_values as u64).saturating_mul(self.value_bytes);
        let granted = self.left.saturating_add(of_bytes).saturating_add(of_values);
        match granted.checked_sub(uncompressed) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                let ratio = self.uncompressed / self.compressed.max(1);
                Err(Error::limit("decompression_ratio", ratio, self.ratio))
            }
        }
    }
}
