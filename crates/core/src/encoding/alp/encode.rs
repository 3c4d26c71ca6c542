//! Encoding of values to page bytes: Encodings, "Adaptive Lossless floating-Point (ALP = 10)".

use herringbone_format::Result;
use herringbone_kernels::alp::AlpEncoder;

use crate::encoding::physical_values::Values;
use crate::encoding::{ValueEncoder, mismatch};

/// Declares the encoder of one type.
macro_rules! encoder {
    ($name:ident, $type:ty, $values:ident) => {
        pub(crate) struct $name {
            values: Vec<$type>,
            encoder: AlpEncoder<$type>,
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    values: Vec::new(),
                    encoder: AlpEncoder::new(),
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
                self.encoder.encode(&self.values, out);
                self.values.clear();
            }

            fn heap_bytes(&self) -> usize {
                self.values.capacity() * size_of::<$type>()
            }
        }
    };
}

encoder! { Floats, f32, Float }
encoder! { Doubles, f64, Double }
