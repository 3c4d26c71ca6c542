//! The byte arrays of a non-dictionary page, in any layout.

mod each_value;

pub(crate) use each_value::EachValue;

use herringbone_arrow::buffer::Buffer;
use herringbone_format::{Encoding, Error, Result};
use herringbone_kernels::Malformed;
use herringbone_kernels::bytes::{fit_plain, skip_plain};

use super::delta_byte_array::DeltaByteArray;
use super::delta_length_byte_array::DeltaLengthByteArray;
use super::{Rest, ValueDecoder, byte_stream_split, ends_early};
use crate::malformed;

/// The byte count of a PLAIN value's length prefix.
const LENGTH_BYTES: usize = 4;

/// A sink for a page's byte arrays, which arrive a few hundred at a time. Each Arrow layout implements this, so that
/// values go straight to its buffers.
pub(crate) trait ByteSink {
    /// Appends `n` PLAIN values from offset `position` on and returns the offset after the last value.
    fn append_plain(
        &mut self,
        page: &Buffer,
        position: usize,
        n: usize,
    ) -> Result<usize, Malformed>;

    /// Appends the values from `position` to `end`. Each value has `width` bytes.
    fn append_fixed(
        &mut self,
        page: &Buffer,
        position: usize,
        end: usize,
        width: usize,
    ) -> Result<(), Malformed>;

    /// Appends values of these lengths from offset `position` on and returns the offset after the last value.
    fn append_lengths(
        &mut self,
        lengths: &[i32],
        page: &Buffer,
        position: usize,
    ) -> Result<usize, Malformed>;

    /// Appends values built from prefixes of `previous` and from suffixes. Returns the byte count of the suffixes.
    fn append_delta_byte_array(
        &mut self,
        prefixes: &[i32],
        suffixes: &[i32],
        bytes: &[u8],
        previous: &mut Vec<u8>,
    ) -> Result<usize, Malformed>;
}

/// The remaining values of a non-dictionary data page.
pub(crate) enum ByteArrays {
    /// No values.
    Empty,
    /// A length and the bytes for each value.
    Plain {
        /// The values.
        values: Buffer,
        /// The number of bytes consumed so far.
        position: usize,
    },
    /// Values of a common length.
    Fixed {
        /// The values.
        values: Buffer,
        /// The number of bytes consumed so far.
        position: usize,
        /// The number of bytes per value. This is never 0.
        width: usize,
    },
    /// All lengths, then all bytes.
    DeltaLength(Box<DeltaLengthByteArray>),
    /// For each value, a suffix and the length of the prefix shared with the previous value.
    Delta(Box<DeltaByteArray>),
}

impl ByteArrays {
    /// Creates a decoder for a page of BYTE_ARRAY, or of FIXED_LEN_BYTE_ARRAY if a `width` is given.
    ///
    /// # Errors
    /// Fails with Unsupported if the encoding does not apply to byte arrays, and with Corrupt if a header is malformed.
    pub(crate) fn new(encoding: Encoding, values: Buffer, width: Option<usize>) -> Result<Self> {
        let position = 0;
        Ok(match (encoding, width) {
            // If all values are null, some writers omit the encoding's header, so we don't require it.
            _ if values.is_empty() => Self::Empty,
            (_, Some(0)) => return Err(Error::unsupported("fixed-length values of 0 bytes")),
            (Encoding::Plain, None) => Self::Plain { values, position },
            (Encoding::Plain, Some(width)) => Self::Fixed {
                values,
                position,
                width,
            },
            (Encoding::ByteStreamSplit, Some(width)) => {
                let mut joined = Vec::with_capacity(values.len());
                let units = values.len();
                byte_stream_split::Bytes::new(values, width)?.extend(units, &mut joined)?;
                Self::Fixed {
                    values: Buffer::from_vec(joined),
                    position,
                    width,
                }
            }
            (Encoding::DeltaLengthByteArray, None) => {
                Self::DeltaLength(Box::new(DeltaLengthByteArray::new(values)?))
            }
            (Encoding::DeltaByteArray, _) => {
                Self::Delta(Box::new(DeltaByteArray::new(values, width)?))
            }
            (_, None) => return Err(Error::unsupported(format!("{encoding} for BYTE_ARRAY"))),
            (_, Some(_)) => {
                return Err(Error::unsupported(format!(
                    "{encoding} for FIXED_LEN_BYTE_ARRAY as byte arrays"
                )));
            }
        })
    }

    /// Appends the next `n` values.
    pub(crate) fn append_to(&mut self, n: usize, sink: &mut impl ByteSink) -> Result<()> {
        match self {
            Self::Empty if n == 0 => Ok(()),
            Self::Empty => Err(ends_early()),
            Self::Plain { values, position } => {
                *position = sink.append_plain(values, *position, n).map_err(malformed)?;
                Ok(())
            }
            Self::Fixed {
                values,
                position,
                width,
            } => {
                let end = fixed_end(values, *position, *width, n)?;
                sink.append_fixed(values, *position, end, *width)
                    .map_err(malformed)?;
                *position = end;
                Ok(())
            }
            Self::DeltaLength(values) => values.append_to(n, sink),
            Self::Delta(values) => values.append_to(n, sink),
        }
    }

    /// Calls `see` with each of the next `n` values.
    pub(crate) fn for_each(
        &mut self,
        n: usize,
        see: impl FnMut(&[u8]) -> Result<(), Malformed>,
    ) -> Result<()> {
        self.append_to(n, &mut EachValue(see))
    }

    /// Skips the next `n` values.
    pub(crate) fn skip(&mut self, n: usize) -> Result<()> {
        match self {
            Self::Empty if n == 0 => Ok(()),
            Self::Empty => Err(ends_early()),
            Self::Plain { values, position } => {
                *position = skip_plain(values, *position, n).map_err(malformed)?;
                Ok(())
            }
            Self::Fixed {
                values,
                position,
                width,
            } => {
                *position = fixed_end(values, *position, *width, n)?;
                Ok(())
            }
            Self::DeltaLength(values) => values.skip(n),
            Self::Delta(values) => values.skip(n),
        }
    }

    /// Returns the rest of the page, after the consumed values.
    pub(crate) fn rest(&self) -> Rest<'_> {
        match self {
            Self::Empty => Rest::Nothing,
            // A length prefix alone is enough for another value, because the value can be empty.
            Self::Plain { values, position } => Rest::bytes(values, *position, LENGTH_BYTES),
            Self::Fixed {
                values,
                position,
                width,
            } => Rest::bytes(values, *position, *width),
            Self::DeltaLength(values) => Rest::values(values.has_more()),
            Self::Delta(values) => Rest::values(values.has_more()),
        }
    }

    /// Returns an upper bound for the bytes of the next `n` values. The bound is tight if that's cheap to compute.
    pub(crate) fn most_bytes(&mut self, n: usize) -> usize {
        match self {
            Self::Empty => 0,
            Self::Plain { values, position } => values.len().saturating_sub(*position),
            Self::Fixed { width, .. } => n.saturating_mul(*width),
            Self::DeltaLength(values) => values.most_bytes(),
            Self::Delta(values) => values.most_bytes(n),
        }
    }

    /// Returns how many of the next `n` values fit into `budget` bytes, with `overhead` additional bytes per value.
    /// Missing or malformed values count as fitting, because the append will report the error.
    pub(crate) fn values_that_fit(
        &mut self,
        n: usize,
        overhead: usize,
        budget: usize,
    ) -> Result<usize> {
        let all = |bytes: usize| bytes.saturating_add(n.saturating_mul(overhead)) <= budget;
        match self {
            Self::Empty => Ok(n),
            Self::Plain { values, position } => {
                if all(values.len().saturating_sub(*position)) {
                    return Ok(n);
                }
                Ok(fit_plain(values, *position, n, overhead, budget))
            }
            Self::Fixed { width, .. } => Ok(n.min(budget / width.saturating_add(overhead))),
            Self::DeltaLength(values) => values.values_that_fit(n, overhead, budget),
            Self::Delta(values) => values.values_that_fit(n, overhead, budget),
        }
    }
}

/// Returns the offset after `n` values of `width` bytes each.
fn fixed_end(values: &Buffer, position: usize, width: usize, n: usize) -> Result<usize> {
    let end = n
        .checked_mul(width)
        .and_then(|all| all.checked_add(position));
    end.filter(|end| *end <= values.len())
        .ok_or_else(ends_early)
}
