//! Encoding of values to page bytes: Encodings, "Delta Encoding (DELTA_BINARY_PACKED = 5)".

use herringbone_format::Result;
use herringbone_kernels::delta::{self, Blocks};

use crate::compression::Compression;
use crate::encoding::physical_values::Values;
use crate::encoding::{ValueEncoder, mismatch};

/// Declares the encoder of one width.
macro_rules! encoder {
    ($name:ident, $type:ty, $values:ident, $encode:path) => {
        pub(crate) struct $name {
            values: Vec<$type>,
            blocks: Blocks,
        }

        impl $name {
            /// Creates an encoder for pages with this codec. A codec may benefit from smaller blocks.
            pub(crate) fn new(compression: Compression) -> Self {
                Self {
                    values: Vec::new(),
                    blocks: match compression {
                        Compression::Uncompressed => Blocks::FastToRead,
                        _ => Blocks::Smallest,
                    },
                }
            }
        }

        impl ValueEncoder for $name {
            fn append(&mut self, values: &Values<'_>) -> Result<()> {
                let Values::$values(values) = values else {
                    return Err(mismatch());
                };
                self.values.extend_from_slice(values);
                Ok(())
            }

            fn page_bytes(&self) -> usize {
                size_of_val(self.values.as_slice())
            }

            fn finish_page(&mut self, out: &mut Vec<u8>, _: &mut Vec<usize>) {
                $encode(&self.values, self.blocks, out);
                self.values.clear();
            }

            fn heap_bytes(&self) -> usize {
                self.values.capacity() * size_of::<$type>()
            }
        }
    };
}

encoder! { Int32, i32, Int32, delta::encode_i32 }
encoder! { Int64, i64, Int64, delta::encode_i64 }
