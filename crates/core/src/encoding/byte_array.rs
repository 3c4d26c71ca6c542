//! BYTE_ARRAY values that become numbers: shown to a function one by one.
//!
//! Strings and binaries are copied in bulk instead, where they are built.

use herringbone_arrow::buffer::Buffer;
use herringbone_format::{Encoding, Error, Result};

use super::delta_byte_array::DeltaByteArray;
use super::delta_length_byte_array::DeltaLengthByteArray;
use super::ends_early;

/// Bytes of the length in front of a PLAIN value.
const LENGTH_BYTES: usize = 4;

/// The values of one data page without dictionary, from the next one on.
pub(crate) enum ByteArrays {
    /// A length and so many bytes for each value.
    Plain {
        /// The values.
        values: Buffer,
        /// Bytes passed.
        position: usize,
    },
    /// All lengths, then all bytes.
    DeltaLength(DeltaLengthByteArray),
    /// What each value shares with the one before it, and what not.
    Delta(DeltaByteArray),
}

impl ByteArrays {
    /// The values of a page.
    ///
    /// # Errors
    /// Unsupported for encodings that do not serve byte arrays, Corrupt for broken headers.
    pub(crate) fn new(encoding: Encoding, values: Buffer) -> Result<Self> {
        Ok(match encoding {
            Encoding::Plain => Self::Plain {
                values,
                position: 0,
            },
            _ if values.is_empty() => Self::Plain {
                values,
                position: 0,
            },
            Encoding::DeltaLengthByteArray => Self::DeltaLength(DeltaLengthByteArray::new(values)?),
            Encoding::DeltaByteArray => Self::Delta(DeltaByteArray::new(values)?),
            _ => return Err(Error::unsupported(format!("{encoding} for BYTE_ARRAY"))),
        })
    }

    /// Shows the next `n` values to `see`.
    pub(crate) fn for_each(
        &mut self,
        n: usize,
        mut see: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        match self {
            Self::Plain { values, position } => {
                for _ in 0..n {
                    let rest = values.get(*position..).unwrap_or_default();
                    let (length, rest) = rest
                        .split_first_chunk::<LENGTH_BYTES>()
                        .ok_or_else(ends_early)?;
                    let length = u32::from_le_bytes(*length) as usize;
                    see(rest.get(..length).ok_or_else(ends_early)?)?;
                    *position += LENGTH_BYTES + length;
                }
                Ok(())
            }
            Self::DeltaLength(values) => values.for_each(n, see),
            Self::Delta(values) => values.for_each(n, see),
        }
    }
}
