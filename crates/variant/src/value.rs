//! Decoded values, with one enum variant per type of the encoding.

use herringbone_format::{Error, Result};

use crate::array::Array;
use crate::bytes::utf8;
use crate::container::{Container, ends_early};
use crate::decimal::{Decimal, MAX_DECIMAL_DIGITS};
use crate::object::Object;
use crate::types::{
    BASIC_ARRAY, BASIC_OBJECT, BASIC_PRIMITIVE, BASIC_SHORT_STRING, VariantType, id,
    primitive_header,
};
use crate::variant::Variant;

/// A decoded value, for matching on its type. Text, bytes, objects and arrays borrow from the
/// encoded bytes.
///
/// *Variant Binary Encoding, "Encoding types".*
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Value<'a> {
    /// The variant null, which is a value.
    Null,
    /// True or false.
    Boolean(bool),
    /// 8-bit signed integer.
    Int8(i8),
    /// 16-bit signed integer.
    Int16(i16),
    /// 32-bit signed integer.
    Int32(i32),
    /// 64-bit signed integer.
    Int64(i64),
    /// 64-bit floating point number.
    Double(f64),
    /// Decimal stored in 4 bytes.
    Decimal4(Decimal),
    /// Decimal stored in 8 bytes.
    Decimal8(Decimal),
    /// Decimal stored in 16 bytes.
    Decimal16(Decimal),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since 1970-01-01 00:00:00 UTC.
    Timestamp(i64),
    /// Microseconds since 1970-01-01 00:00:00, local.
    TimestampNtz(i64),
    /// 32-bit floating point number.
    Float(f32),
    /// Bytes.
    Binary(&'a [u8]),
    /// Text, whether the string is short or long.
    String(&'a str),
    /// Microseconds since midnight, local.
    Time(i64),
    /// Nanoseconds since 1970-01-01 00:00:00 UTC.
    TimestampNanos(i64),
    /// Nanoseconds since 1970-01-01 00:00:00, local.
    TimestampNtzNanos(i64),
    /// UUID, in the byte order of its printed form.
    Uuid([u8; 16]),
    /// Object with named fields.
    Object(Object<'a>),
    /// Array with elements in order.
    Array(Array<'a>),
    /// A primitive type of a newer specification.
    Unknown {
        /// The type's ID.
        id: u8,
        /// The bytes after the value's header, up to the next value.
        data: &'a [u8],
    },
}

impl Value<'_> {
    /// Returns an integer or decimal of any width as a decimal, or `None` for other types.
    #[must_use]
    pub fn to_decimal(&self) -> Option<Decimal> {
        let integer = |value: i64| Some(Decimal::new(value.into(), 0));
        match *self {
            Self::Int8(value) => integer(value.into()),
            Self::Int16(value) => integer(value.into()),
            Self::Int32(value) => integer(value.into()),
            Self::Int64(value) => integer(value),
            Self::Decimal4(value) | Self::Decimal8(value) | Self::Decimal16(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the value's type.
    #[must_use]
    pub fn variant_type(&self) -> VariantType {
        match self {
            Self::Null => VariantType::Null,
            Self::Boolean(_) => VariantType::Boolean,
            Self::Int8(_) => VariantType::Int8,
            Self::Int16(_) => VariantType::Int16,
            Self::Int32(_) => VariantType::Int32,
            Self::Int64(_) => VariantType::Int64,
            Self::Double(_) => VariantType::Double,
            Self::Decimal4(_) => VariantType::Decimal4,
            Self::Decimal8(_) => VariantType::Decimal8,
            Self::Decimal16(_) => VariantType::Decimal16,
            Self::Date(_) => VariantType::Date,
            Self::Timestamp(_) => VariantType::Timestamp,
            Self::TimestampNtz(_) => VariantType::TimestampNtz,
            Self::Float(_) => VariantType::Float,
            Self::Binary(_) => VariantType::Binary,
            Self::String(_) => VariantType::String,
            Self::Time(_) => VariantType::Time,
            Self::TimestampNanos(_) => VariantType::TimestampNanos,
            Self::TimestampNtzNanos(_) => VariantType::TimestampNtzNanos,
            Self::Uuid(_) => VariantType::Uuid,
            Self::Object(_) => VariantType::Object,
            Self::Array(_) => VariantType::Array,
            Self::Unknown { id, .. } => VariantType::Unknown(*id),
        }
    }
}

/// Decodes `variant`, whose first byte is `header`.
pub(crate) fn decode<'a>(variant: &Variant<'a>, header: u8) -> Result<Value<'a>> {
    let bytes = variant.as_bytes();
    match header & 3 {
        BASIC_SHORT_STRING => Ok(Value::String(utf8(
            bytes.get(1..).unwrap_or_default(),
            "string",
        )?)),
        BASIC_OBJECT => {
            let container = Container::new(variant.metadata(), bytes)?;
            Ok(Value::Object(Object::new(container)))
        }
        BASIC_ARRAY => {
            let container = Container::new(variant.metadata(), bytes)?;
            Ok(Value::Array(Array::new(container)))
        }
        _ => primitive(header >> 2, bytes.get(1..).unwrap_or_default()),
    }
}

fn primitive(type_id: u8, data: &[u8]) -> Result<Value<'_>> {
    Ok(match type_id {
        id::NULL => Value::Null,
        id::TRUE => Value::Boolean(true),
        id::FALSE => Value::Boolean(false),
        id::INT8 => Value::Int8(i8::from_le_bytes(*fixed(data)?)),
        id::INT16 => Value::Int16(i16::from_le_bytes(*fixed(data)?)),
        id::INT32 => Value::Int32(i32::from_le_bytes(*fixed(data)?)),
        id::INT64 => Value::Int64(i64_of(data)?),
        id::DOUBLE => Value::Double(f64::from_le_bytes(*fixed(data)?)),
        id::DECIMAL4 => {
            let (scale, unscaled) = decimal(data)?;
            Value::Decimal4(Decimal::new(i32::from_le_bytes(*unscaled).into(), scale))
        }
        id::DECIMAL8 => {
            let (scale, unscaled) = decimal(data)?;
            Value::Decimal8(Decimal::new(i64::from_le_bytes(*unscaled).into(), scale))
        }
        id::DECIMAL16 => {
            let (scale, unscaled) = decimal(data)?;
            Value::Decimal16(Decimal::new(i128::from_le_bytes(*unscaled), scale))
        }
        id::DATE => Value::Date(i32::from_le_bytes(*fixed(data)?)),
        id::TIMESTAMP => Value::Timestamp(i64_of(data)?),
        id::TIMESTAMP_NTZ => Value::TimestampNtz(i64_of(data)?),
        id::FLOAT => Value::Float(f32::from_le_bytes(*fixed(data)?)),
        id::BINARY => Value::Binary(data.get(4..).ok_or_else(ends_early)?),
        id::STRING => Value::String(utf8(data.get(4..).ok_or_else(ends_early)?, "string")?),
        id::TIME => Value::Time(i64_of(data)?),
        id::TIMESTAMP_NANOS => Value::TimestampNanos(i64_of(data)?),
        id::TIMESTAMP_NTZ_NANOS => Value::TimestampNtzNanos(i64_of(data)?),
        id::UUID => Value::Uuid(*fixed(data)?),
        id => Value::Unknown { id, data },
    })
}

/// Decodes an integer of any width without building a [`Value`]. Returns `None` if the value has
/// another type.
#[inline]
pub(crate) fn integer(bytes: &[u8]) -> Option<i64> {
    let (header, data) = bytes.split_first()?;
    Some(match header >> 2 {
        _ if header & 3 != BASIC_PRIMITIVE => return None,
        id::INT8 => i8::from_le_bytes(*data.first_chunk()?).into(),
        id::INT16 => i16::from_le_bytes(*data.first_chunk()?).into(),
        id::INT32 => i32::from_le_bytes(*data.first_chunk()?).into(),
        id::INT64 => i64::from_le_bytes(*data.first_chunk()?),
        _ => return None,
    })
}

/// Decodes text, short or long, without building a [`Value`]. Returns `None` if the value has
/// another type.
#[inline]
pub(crate) fn text(bytes: &[u8]) -> Result<Option<&str>> {
    const LONG: u8 = primitive_header(id::STRING);
    let text = match bytes.first() {
        Some(header) if header & 3 == BASIC_SHORT_STRING => bytes.get(1..),
        Some(&LONG) => bytes.get(5..),
        _ => return Ok(None),
    };
    utf8(text.ok_or_else(ends_early)?, "string").map(Some)
}

#[inline]
fn fixed<const N: usize>(data: &[u8]) -> Result<&[u8; N]> {
    data.first_chunk().ok_or_else(ends_early)
}

#[inline]
fn i64_of(data: &[u8]) -> Result<i64> {
    Ok(i64::from_le_bytes(*fixed(data)?))
}

#[inline]
fn decimal<const N: usize>(data: &[u8]) -> Result<(u8, &[u8; N])> {
    let (scale, unscaled) = data.split_first().ok_or_else(ends_early)?;
    if *scale > MAX_DECIMAL_DIGITS {
        return Err(Error::corrupt(format!(
            "a variant decimal has a scale of {scale}, more than {MAX_DECIMAL_DIGITS}"
        )));
    }
    Ok((*scale, fixed(unscaled)?))
}
