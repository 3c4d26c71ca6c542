//! Selects the decoder for an encoding and a type.
//!
//! Each page gets its own decoder, which appends values directly to the given vector. It works in *units*. A number is
//! one unit, whereas a FIXED_LEN_BYTE_ARRAY or INT96 value consists of one-byte units.

use herringbone_arrow::buffer::Buffer;
use herringbone_format::{Encoding, Error, Result};
use herringbone_kernels::alp::AlpFloat;
use herringbone_kernels::delta::Delta;
use herringbone_kernels::plain::Plain;

use super::byte_stream_split::{Bytes, Numbers};
use super::delta_byte_array::FixedLength;
use super::dictionary::Indices;
use super::plain::PlainDecoder;
use super::{Rest, alp, delta_binary_packed, ends_early, product};

/// The remaining values of a data page.
///
/// **Errors**: Corrupt if the page has fewer values or its bytes violate the encoding.
pub(crate) trait ValueDecoder<U>: Send + Sync {
    /// Appends the next `n` units.
    fn extend(&mut self, n: usize, out: &mut Vec<U>) -> Result<()>;

    /// Skips the next `n` units.
    fn skip(&mut self, n: usize) -> Result<()>;

    /// Returns true if the page has more values after the consumed ones.
    fn has_more(&self) -> bool;
}

/// A unit for pages to be decoded to.
pub(crate) trait Native: Plain {
    /// Returns the decoder for values of `units` units each, or `None` if the encoding does not apply to this type.
    /// PLAIN and dictionary pages need no such decoder.
    fn decoder(
        encoding: Encoding,
        values: &Buffer,
        units: usize,
    ) -> Result<Option<Box<dyn ValueDecoder<Self>>>>;
}

/// The values section of a data page.
pub(crate) enum Page<U> {
    /// No values.
    Empty,
    /// PLAIN.
    Plain(PlainDecoder),
    /// RLE_DICTIONARY, or its older name PLAIN_DICTIONARY.
    Dictionary(Indices),
    /// Any other encoding, as units.
    Other(Box<dyn ValueDecoder<U>>),
}

impl<U: Native> Page<U> {
    /// Creates the page for a values section whose values have `units` units each.
    ///
    /// # Errors
    /// Fails with Unsupported if the encoding does not apply to the type, and with Corrupt if the bytes violate the
    /// encoding.
    pub(crate) fn new(encoding: Encoding, values: Buffer, units: usize) -> Result<Self> {
        Ok(match encoding {
            Encoding::Plain => Self::Plain(PlainDecoder::new(values)),
            // If all values are null, some writers omit the encoding's header, so we don't require it.
            _ if values.is_empty() => Self::Empty,
            Encoding::RleDictionary | Encoding::PlainDictionary => {
                Self::Dictionary(Indices::new(values)?)
            }
            _ => {
                Self::Other(U::decoder(encoding, &values, units)?.ok_or_else(|| {
                    Error::unsupported(format!("{encoding} for this physical type"))
                })?)
            }
        })
    }

    /// Appends the next `n` units of a page without a dictionary.
    pub(crate) fn extend(&mut self, n: usize, out: &mut Vec<U>) -> Result<()> {
        match self {
            Self::Plain(plain) => plain.extend(n, out),
            Self::Other(decoder) => decoder.extend(n, out),
            Self::Empty | Self::Dictionary(_) if n == 0 => Ok(()),
            Self::Empty | Self::Dictionary(_) => Err(ends_early()),
        }
    }

    /// Skips the next `n` values. Each value has `units` units.
    pub(crate) fn skip(&mut self, n: usize, units: usize) -> Result<()> {
        match self {
            Self::Plain(plain) => plain.skip::<U>(product(n, units)?),
            Self::Dictionary(indices) => indices.skip(n),
            Self::Other(decoder) => decoder.skip(product(n, units)?),
            Self::Empty if n == 0 => Ok(()),
            Self::Empty => Err(ends_early()),
        }
    }

    /// Returns the rest of the page, after the consumed values. Each value has `units` units.
    pub(crate) fn rest(&self, units: usize) -> Rest<'_> {
        match self {
            Self::Empty => Rest::Nothing,
            Self::Plain(plain) => plain.rest(units.saturating_mul(size_of::<U>())),
            Self::Dictionary(indices) => indices.rest(),
            Self::Other(decoder) => Rest::values(decoder.has_more()),
        }
    }
}

/// The result of [`Native::decoder`].
type Decoder<U> = Option<Box<dyn ValueDecoder<U>>>;

macro_rules! native {
    ($($type:ty: $decoder:ident;)*) => {$(
        impl Native for $type {
            fn decoder(encoding: Encoding, values: &Buffer, units: usize) -> Result<Decoder<Self>> {
                $decoder(encoding, values, units)
            }
        }
    )*};
}
native! {
    i32: integers;
    i64: integers;
    f32: floats;
    f64: floats;
    // FIXED_LEN_BYTE_ARRAY values are bytes in general, or numbers if the length matches.
    u8: bytes;
    u16: fixed;
    u32: fixed;
    u64: fixed;
    i128: fixed;
}

fn integers<T: Delta>(encoding: Encoding, values: &Buffer, _units: usize) -> Result<Decoder<T>> {
    Ok(match encoding {
        Encoding::DeltaBinaryPacked => Some(Box::new(delta_binary_packed::Decoder::<T>::new(
            values.clone(),
        )?)),
        Encoding::ByteStreamSplit => Some(Box::new(Numbers::new::<T>(values.clone())?)),
        _ => None,
    })
}

fn floats<T: AlpFloat>(encoding: Encoding, values: &Buffer, _units: usize) -> Result<Decoder<T>> {
    Ok(match encoding {
        Encoding::Alp => Some(Box::new(alp::Decoder::<T>::new(values.clone())?)),
        Encoding::ByteStreamSplit => Some(Box::new(Numbers::new::<T>(values.clone())?)),
        _ => None,
    })
}

fn fixed<T: Plain>(encoding: Encoding, values: &Buffer, _units: usize) -> Result<Decoder<T>> {
    Ok(match encoding {
        Encoding::DeltaByteArray => {
            Some(Box::new(FixedLength::new(values.clone(), size_of::<T>())?))
        }
        Encoding::ByteStreamSplit => Some(Box::new(Numbers::new::<T>(values.clone())?)),
        _ => None,
    })
}

fn bytes(encoding: Encoding, values: &Buffer, units: usize) -> Result<Decoder<u8>> {
    Ok(match encoding {
        Encoding::DeltaByteArray => Some(Box::new(FixedLength::new(values.clone(), units)?)),
        Encoding::ByteStreamSplit => Some(Box::new(Bytes::new(values.clone(), units)?)),
        _ => None,
    })
}
