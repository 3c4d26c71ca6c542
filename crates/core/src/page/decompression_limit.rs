//! Limits the decompressed size of a column chunk's pages, as a defence against decompression bombs.
//!
//! A compressed page of forty bytes can claim to contain a gigabyte. A single such page might be valid, for example
//! with one long value of zeros. But many such pages in a chunk would cause work out of proportion to its bytes and
//! values.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use herringbone_format::{Error, Limits, PageHeader, Result, Type};

/// The number of bytes granted for each value's levels.
const LEVEL_BYTES: u64 = 8;

/// The number of bytes granted for each variable-length value.
const BYTE_ARRAY_BYTES: u64 = 256;

/// A column chunk's remaining allowance of decompressed bytes.
#[derive(Debug, Clone)]
pub struct DecompressionLimit {
    left: Left,
    /// The number of decompressed bytes granted per compressed byte.
    ratio: u64,
    /// The number of decompressed bytes granted per value.
    value_bytes: u64,
    /// The compressed and decompressed size of all pages so far.
    compressed: u64,
    uncompressed: u64,
}

#[derive(Debug, Clone)]
enum Left {
    /// The remaining bytes of a single decoder.
    Own(u64),
    /// The remaining bytes shared by all of a chunk's decoders.
    Shared(Arc<AtomicU64>),
}

impl DecompressionLimit {
    /// Creates the limit for a chunk with values of this type. The base allowance is the largest page within the read's
    /// memory limit, so that such a page is never refused, regardless of its compressed size.
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
            left: Left::Own(limits.memory_bytes.min(limits.page_bytes as u64)),
            ratio: limits.decompression_ratio as u64,
            value_bytes: width.saturating_mul(2).saturating_add(LEVEL_BYTES),
            compressed: 0,
            uncompressed: 0,
        }
    }

    /// Lifts the limit, for pages counted before.
    pub fn unlimited(self) -> Self {
        Self {
            left: Left::Own(u64::MAX),
            ..self
        }
    }

    /// Lets all clones share the remaining bytes. Use this if several decoders each decode a part of one chunk. Note
    /// that the decoders spend bytes in any order, so they might be refused bytes that a single decoder would get.
    #[must_use]
    pub fn shared(self) -> Self {
        let left = match self.left {
            Left::Own(left) => Left::Shared(Arc::new(AtomicU64::new(left))),
            shared @ Left::Shared(_) => shared,
        };
        Self { left, ..self }
    }

    /// Counts a page of `num_values` values, whose sizes must not be negative.
    ///
    /// # Errors
    /// Fails with [Limit](herringbone_format::ErrorKind::Limit) if the pages so far decompress to more than is granted
    /// for their bytes and values.
    pub fn spend(&mut self, header: &PageHeader, num_values: usize) -> Result<()> {
        let compressed = u64::try_from(header.compressed_page_size).unwrap_or_default();
        let uncompressed = u64::try_from(header.uncompressed_page_size).unwrap_or_default();
        self.compressed = self.compressed.saturating_add(compressed);
        self.uncompressed = self.uncompressed.saturating_add(uncompressed);
        let by_ratio = compressed.saturating_mul(self.ratio);
        let by_values = (num_values as u64).saturating_mul(self.value_bytes);
        let granted = by_ratio.saturating_add(by_values);
        let spend = |left: u64| left.saturating_add(granted).checked_sub(uncompressed);
        let left = match &mut self.left {
            Left::Own(left) => spend(*left).inspect(|rest| *left = *rest),
            Left::Shared(left) => left.fetch_update(Relaxed, Relaxed, spend).ok(),
        };
        match left {
            Some(_) => Ok(()),
            None => {
                let ratio = self.uncompressed / self.compressed.max(1);
                Err(Error::limit("decompression_ratio", ratio, self.ratio))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use herringbone_format::{DataPageHeader, Encoding, PageType};

    use super::*;

    fn page(compressed: i32, uncompressed: i32) -> PageHeader {
        let header = DataPageHeader::new(1, Encoding::Plain, Encoding::Rle, Encoding::Rle);
        PageHeader::new(PageType::DataPage, uncompressed, compressed).data_page_header(header)
    }

    #[test]
    fn clones_of_a_shared_limit_spend_the_same_bytes() {
        let mut limits = Limits::default();
        (limits.page_bytes, limits.decompression_ratio) = (1000, 1);
        let limit = DecompressionLimit::new(&limits, Type::Boolean, 0);
        let (mut own, mut other) = (limit.clone(), limit.clone());
        own.spend(&page(100, 1000), 1).unwrap();
        other.spend(&page(100, 1000), 1).unwrap();
        let shared = limit.shared();
        let (mut first, mut second) = (shared.clone(), shared);
        first.spend(&page(100, 1000), 1).unwrap();
        let error = second.spend(&page(100, 1000), 1).unwrap_err();
        assert_eq!(error.limit_name(), Some("decompression_ratio"));
    }
}
