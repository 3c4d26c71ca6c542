//! Which decoder serves an encoding and a type.
//!
//! A decoder is made for a page and appends the next values straight to the vector that it is
//! given. It works in *units*: a number is one unit, a FIXED_LEN_BYTE_ARRAY or INT96 value is as
//! many units of one byte as it is long.

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

/// The values of one data page, from the next one on.
///
/// **Errors**: Corrupt where the page has fewer values, or bytes that break the encoding's rules.
pub(crate) trait ValueDecoder<U>: Send {
    /// Appends the next `n` units.
    fn extend(&mut self, n: usize, out: &mut Vec<U>) -> Result<()>;

    /// Passes over the next `n` units.
    fn skip(&mut self, n: usize) -> Result<()>;

    /// Tells whether the page has values beyond those that were taken.
    fn has_more(&self) -> bool;
}

/// A unit that pages decode to.
pub(crate) trait Native: Plain {
    /// The decoder of an encoding that only this type has, for values of `units` units each;
    /// none if the encoding does not serve this type.
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
    /// RLE_DICTIONARY and its older name PLAIN_DICTIONARY.
    Dictionary(Indices),
    /// Encodings of units.
    Other(Box<dyn ValueDecoder<U>>),
}

impl<U: Native> Page<U> {
    /// The page of `values`, of `units` units each.
    ///
    /// # Errors
    /// Unsupported for encodings that do not serve the type, Corrupt for bytes that break theirs.
    pub(crate) fn new(encoding: Encoding, values: Buffer, units: usize) -> Result<Self> {
        Ok(match encoding {
            Encoding::Plain => Self::Plain(PlainDecoder::new(values)),
            // Where all values are null, writers may leave out the header of the encoding.
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

    /// Appends the next `n` units of a page without dictionary.
    pub(crate) fn extend(&mut self, n: usize, out: &mut Vec<U>) -> Result<()> {
        match self {
            Self::Plain(plain) => plain.extend(n, out),
            Self::Other(decoder) => decoder.extend(n, out),
            Self::Empty | Self::Dictionary(_) if n == 0 => Ok(()),
            Self::Empty | Self::Dictionary(_) => Err(ends_early()),
        }
    }

    /// Passes over the next `n` values, of `units` units each.
    pub(crate) fn skip(&mut self, n: usize, units: usize) -> Result<()> {
        match self {
            Self::Plain(plain) => plain.skip::<U>(product(n, units)?),
            Self::Dictionary(indices) => indices.skip(n),
            Self::Other(decoder) => decoder.skip(product(n, units)?),
            Self::Empty if n == 0 => Ok(()),
            Self::Empty => Err(ends_early()),
        }
    }

    /// Returns the part after the values that were taken.
    pub(crate) fn rest(&self) -> Rest<'_> {
        match self {
            Self::Empty => Rest::Nothing,
            Self::Plain(plain) => plain.rest(),
            Self::Dictionary(indices) => indices.rest(),
            Self::Other(decoder) => Rest::values(decoder.has_more()),
        }
    }
}

/// What [`Native::decoder`] returns.
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
    // FIXED_LEN_BYTE_ARRAY of any length, and of lengths that are a number's.
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
