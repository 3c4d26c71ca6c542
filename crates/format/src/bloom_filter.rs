//! The header of a bloom filter, stored right before the filter's bits.

use crate::{
    Error, Limits, Result,
    logical_type_thrift::{Empty, read_id},
    thrift::{
        CompactReader, CompactWriter, Value, Wire, decode_prefix, thrift_struct, write_union,
    },
};

/// The maximum size of a bloom filter header in bytes. In practice headers have fewer than 20 bytes, so this leaves
/// room for future fields.
const HEADER_BYTES: usize = 1024;

thrift_struct! {
    /// The header of a bloom filter.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct BloomFilterHeader {
        /// The byte count of the filter's bits, not negative.
        1: count num_bytes: i32,
        /// The algorithm that selects bits.
        2: required algorithm: BloomFilterAlgorithm,
        /// The function that hashes values.
        3: required hash: BloomFilterHash,
        /// The compression of the bits.
        4: required compression: BloomFilterCompression,
    }
}

/// A union with one known, parameterless variant.
macro_rules! single_union {
    ($(#[$meta:meta])* $name:ident { $(#[$variant_meta:meta])* $variant:ident }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[$variant_meta])*
            $variant,
            /// An id unknown to this version, or 0 if no field was set.
            Unknown(i16),
        }

        impl Value for $name {
            const WIRE: Wire = Wire::Struct;

            fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
                Ok(match read_id(reader, wire)? {
                    1 => Self::$variant,
                    id => Self::Unknown(id),
                })
            }

            fn write(&self, writer: &mut CompactWriter) {
                let id = match self {
                    Self::$variant => 1,
                    Self::Unknown(id) => *id,
                };
                write_union(writer, id, &Empty {});
            }
        }
    };
}

single_union! {
    /// The algorithm for selecting a bloom filter's bits.
    BloomFilterAlgorithm {
        /// Blocks of 256 bits, where each value sets one bit in each of a block's 32-bit words.
        Block
    }
}

single_union! {
    /// The hash function for a bloom filter's values.
    BloomFilterHash {
        /// XXH64 with seed 0 of the PLAIN value. Byte arrays are hashed without their length.
        Xxhash
    }
}

single_union! {
    /// The compression of a bloom filter's bits.
    BloomFilterCompression {
        /// Not compressed.
        Uncompressed
    }
}

impl BloomFilterHeader {
    /// Decodes the header at the start of `bytes` and returns it with its byte count, or `None` if `bytes` end inside
    /// the header.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt) if the header is malformed, with the byte in the message,
    /// and with [Limit](crate::ErrorKind::Limit) if the filter is larger than [`Limits::bloom_filter_bytes`].
    pub fn decode_prefix(bytes: &[u8], limits: &Limits) -> Result<Option<(Self, usize)>> {
        let allowed = HEADER_BYTES.min(limits.bloom_filter_bytes);
        let decoded = decode_prefix::<Self>(bytes, limits, "bloom_filter_bytes", allowed)?;
        if let Some((header, _)) = &decoded {
            let (asked, allowed) = (header.num_bytes as u64, limits.bloom_filter_bytes as u64);
            if asked > allowed {
                return Err(Error::limit("bloom_filter_bytes", asked, allowed));
            }
        }
        Ok(decoded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn reads_the_header_that_writers_write() {
        // The bytes are `num_bytes` = 32 and the three unions, followed by bits.
        let bytes = [
            0x15, 0x40, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0, 0xaa, 0xbb,
        ];
        let expected = BloomFilterHeader {
            num_bytes: 32,
            algorithm: BloomFilterAlgorithm::Block,
            hash: BloomFilterHash::Xxhash,
            compression: BloomFilterCompression::Uncompressed,
        };
        let limits = Limits::default();
        let read = BloomFilterHeader::decode_prefix(&bytes, &limits).unwrap();
        assert_eq!(read, Some((expected, 15)));
        for length in 0..15 {
            let read = BloomFilterHeader::decode_prefix(&bytes[..length], &limits).unwrap();
            assert_eq!(read, None);
        }
        let mut writer = CompactWriter::new();
        expected.encode(&mut writer);
        assert_eq!(writer.finish(), bytes[..15]);
    }

    #[test]
    fn sizes_are_checked() {
        let header = |num_bytes| {
            let mut writer = CompactWriter::new();
            BloomFilterHeader {
                num_bytes,
                algorithm: BloomFilterAlgorithm::Unknown(2),
                hash: BloomFilterHash::Unknown(0),
                compression: BloomFilterCompression::Uncompressed,
            }
            .encode(&mut writer);
            BloomFilterHeader::decode_prefix(&writer.finish(), &Limits::default())
        };
        assert!(header(1 << 20).unwrap().is_some());
        assert_eq!(header(-1).unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(header(i32::MAX).unwrap_err().kind(), ErrorKind::Limit);
    }
}
