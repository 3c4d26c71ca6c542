//! Limits the decompressed size of the pages of a column chunk.
//!
//! A compressed page of forty bytes may claim to contain a gigabyte. One such page may be valid: for example, a
//! single long value of zeros. A chunk of many such pages would cause work that neither its bytes nor its values
//! justify.

use herringbone_format::{Error, Limits, PageHeader, Result, Type};

/// The number of bytes granted for the levels of a value.
const LEVEL_BYTES: u64 = 8;

/// The number of bytes granted for a value of variable length.
const BYTE_ARRAY_BYTES: u64 = 256;

/// The remaining decompressed bytes of a column chunk.
#[derive(Debug, Clone)]
pub struct DecompressionLimit {
    left: u64,
    /// The number of decompressed bytes granted per compressed byte.
    ratio: u64,
    /// The number of decompressed bytes granted per value.
    value_bytes: u64,
    /// The compressed and decompressed size of the pages so far.
    compressed: u64,
    uncompressed: u64,
}

impl DecompressionLimit {
    /// Creates the limit of a chunk with values of this type. The base allowance equals the largest page that fits in
    /// the read's memory limit. Such a page is never refused, whatever its compressed size.
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

    /// Lifts the limit, for pages counted before.
    pub fn unlimited(self) -> Self {
        Self {
            left: u64::MAX,
            ..self
        }
    }

    /// Counts a page of `num_values` values. Its sizes must not be negative.
    ///
    /// # Errors
    /// Limit if the pages so far decompress to more than their bytes and values justify.
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
