//! Casts values to a wanted type.

mod number;
mod parse;

use std::borrow::Cow;
use std::fmt;

use herringbone_format::{Error, Result};

use crate::decimal::{Decimal, MAX_DECIMAL_DIGITS};
use crate::json::plain_text;
use crate::path::VariantPath;
use crate::temporal::Unit;
use crate::types::VariantType;
use crate::value::Value;
use crate::variant::Variant;

/// A target type for casting and shredding primitive values.
///
/// *Variant Shredding, "Shredded Value Types".*
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PrimitiveType {
    /// True or false.
    Boolean,
    /// 8-bit signed integer.
    Int8,
    /// 16-bit signed integer.
    Int16,
    /// 32-bit signed integer.
    Int32,
    /// 64-bit signed integer.
    Int64,
    /// 32-bit floating point number.
    Float,
    /// 64-bit floating point number.
    Double,
    /// Decimal of up to `precision` digits, with `scale` of them after the point.
    Decimal {
        /// The maximum number of digits, 1 to 38.
        precision: u8,
        /// The number of digits after the point, 0 to `precision`.
        scale: u8,
    },
    /// Calendar date.
    Date,
    /// Local time of day in microseconds.
    Time,
    /// Date and time.
    Timestamp {
        /// True if the unit is the nanosecond, false if it is the microsecond.
        nanos: bool,
        /// True for an instant in UTC, false for a local timestamp.
        utc: bool,
    },
    /// Text.
    String,
    /// Bytes.
    Binary,
    /// UUID.
    Uuid,
}

/// Prints the type's name in SQL. Timestamps in nanoseconds have no SQL name, so they print as in
/// Arrow.
impl fmt::Display for PrimitiveType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boolean => "boolean",
            Self::Int8 => "tinyint",
            Self::Int16 => "smallint",
            Self::Int32 => "int",
            Self::Int64 => "bigint",
            Self::Float => "float",
            Self::Double => "double",
            Self::Decimal { precision, scale } => {
                return write!(f, "decimal({precision}, {scale})");
            }
            Self::Date => "date",
            Self::Time => "time",
            Self::Timestamp {
                nanos: false,
                utc: true,
            } => "timestamp",
            Self::Timestamp {
                nanos: false,
                utc: false,
            } => "timestamp_ntz",
            Self::Timestamp { utc: true, .. } => "Timestamp(ns, \"UTC\")",
            Self::Timestamp { utc: false, .. } => "Timestamp(ns)",
            Self::String => "string",
            Self::Binary => "binary",
            Self::Uuid => "uuid",
        })
    }
}

/// A value in one of the [`PrimitiveType`]s.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Scalar<'a> {
    /// A value of [`PrimitiveType::Boolean`].
    Boolean(bool),
    /// A value of an integer type, within its range.
    Int(i64),
    /// A value of [`PrimitiveType::Float`].
    Float(f32),
    /// A value of [`PrimitiveType::Double`].
    Double(f64),
    /// A value of [`PrimitiveType::Decimal`], already at its scale and within its precision.
    Decimal(Decimal),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds or nanoseconds since 1970-01-01 00:00:00.
    Timestamp(i64),
    /// Text.
    String(Cow<'a, str>),
    /// Bytes.
    Binary(Cow<'a, [u8]>),
    /// UUID bytes, in printed order.
    Uuid([u8; 16]),
}

/// The result of a cast.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Cast<'a> {
    /// There is no value at the path.
    Missing,
    /// The value is the variant null.
    Null,
    /// The wanted type cannot represent the value. This is the value's own type.
    Mismatch(VariantType),
    /// The value in the wanted type.
    Value(Scalar<'a>),
}

/// Opt-in casts between text and other types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CastOptions {
    /// True to parse strings as text of the wanted type.
    pub parse_strings: bool,
    /// True to format primitive values as text if strings are wanted. The text is as in JSON, but
    /// without quotes.
    pub format_strings: bool,
}

impl CastOptions {
    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

herringbone_format::setters! { CastOptions {
    /// Selects whether strings are parsed as text of the wanted type.
    parse_strings: bool;
    /// Selects whether primitive values are formatted as text if strings are wanted.
    format_strings: bool;
}}

impl<'a> Variant<'a> {
    /// Casts the value at `path` to `wanted`. This is [`Variant::get`] followed by
    /// [`Variant::cast`].
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Variant::get`] and [`Variant::cast`]. Note that a missing value
    /// or a mismatch is not an error.
    pub fn get_as(
        &self,
        path: &VariantPath,
        wanted: PrimitiveType,
        options: CastOptions,
    ) -> Result<Cast<'a>> {
        match self.get(path)? {
            Some(value) => value.cast(wanted, options),
            None => Ok(Cast::Missing),
        }
    }

    /// Casts this value to the type `wanted`.
    ///
    /// A cast loses nothing, because a value that `wanted` cannot represent is a mismatch.
    ///
    /// | wanted | values that fit |
    /// |---|---|
    /// | integers | integers in range; decimals, floats and doubles without a fraction |
    /// | decimal | integers, decimals, floats and doubles whose digits fit |
    /// | double | floats; integers with an exact double; decimals, to the nearest double |
    /// | float | doubles and integers with an exact float; decimals, to the nearest float |
    /// | date | dates; local timestamps at midnight |
    /// | timestamp | timestamps in the other unit, if whole and in range there; dates, if local; never between UTC and local |
    /// | others | values of the same type |
    ///
    /// A decimal without a fraction counts as an integer here. But decimals with a fraction rarely
    /// have an exact binary form, so casting one to a float or double rounds to the nearest number,
    /// as if we had parsed its text.
    ///
    /// With [`CastOptions::parse_strings`], a string fits if it is the text of a value that fits:
    ///
    /// - numbers as in JSON, and also `NaN` and `Infinity`;
    /// - `true` and `false`, in any letter case;
    /// - dates, times and timestamps of ISO 8601, where UTC needs a time zone and local timestamps
    ///   must not have one;
    /// - base64;
    /// - UUIDs with hyphens.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Variant::value`], and with
    /// [Argument](herringbone_format::ErrorKind::Argument) if `wanted` is an invalid decimal type.
    pub fn cast(&self, wanted: PrimitiveType, options: CastOptions) -> Result<Cast<'a>> {
        wanted.check()?;
        Ok(cast_value(self.value()?, wanted, options))
    }
}

/// Casts a decoded value as [`Variant::cast`] does. The type must be valid.
pub(crate) fn cast_value<'a>(
    value: Value<'a>,
    wanted: PrimitiveType,
    options: CastOptions,
) -> Cast<'a> {
    if matches!(value, Value::Null) {
        return Cast::Null;
    }
    let scalar = match value {
        Value::String(text) if options.parse_strings && wanted != PrimitiveType::String => {
            parse::parse(text, wanted)
        }
        _ if options.format_strings && wanted == PrimitiveType::String => {
            plain_text(&value).map(Scalar::String)
        }
        _ => cast(&value, wanted),
    };
    match scalar {
        Some(scalar) => Cast::Value(scalar),
        None => Cast::Mismatch(value.variant_type()),
    }
}

/// Casts `value` to the type `wanted`, but never from or to text. Returns `None` for a mismatch.
pub(crate) fn cast<'a>(value: &Value<'a>, wanted: PrimitiveType) -> Option<Scalar<'a>> {
    use PrimitiveType as T;
    match wanted {
        T::Int8 => number::int(value, i8::MIN.into()..=i8::MAX.into()),
        T::Int16 => number::int(value, i16::MIN.into()..=i16::MAX.into()),
        T::Int32 => number::int(value, i32::MIN.into()..=i32::MAX.into()),
        T::Int64 => number::int(value, i64::MIN..=i64::MAX),
        T::Float => number::float(value).map(Scalar::Float),
        T::Double => number::double(value).map(Scalar::Double),
        T::Decimal { precision, scale } => {
            number::decimal(value, precision, scale).map(Scalar::Decimal)
        }
        T::Date => date(value).map(Scalar::Date),
        T::Timestamp { nanos, utc } => timestamp(value, nanos, utc).map(Scalar::Timestamp),
        T::Boolean | T::Time | T::String | T::Binary | T::Uuid => same_type(value, wanted),
    }
}

fn same_type<'a>(value: &Value<'a>, wanted: PrimitiveType) -> Option<Scalar<'a>> {
    use PrimitiveType as T;
    Some(match (wanted, *value) {
        (T::Boolean, Value::Boolean(value)) => Scalar::Boolean(value),
        (T::Time, Value::Time(value)) => Scalar::Time(value),
        (T::String, Value::String(value)) => Scalar::String(value.into()),
        (T::Binary, Value::Binary(value)) => Scalar::Binary(value.into()),
        (T::Uuid, Value::Uuid(value)) => Scalar::Uuid(value),
        _ => return None,
    })
}

const DAY_SECONDS: i64 = 86_400;

fn date(value: &Value<'_>) -> Option<i32> {
    let (value, unit) = match *value {
        Value::Date(days) => return Some(days),
        Value::TimestampNtz(value) => (value, Unit::Micros),
        Value::TimestampNtzNanos(value) => (value, Unit::Nanos),
        _ => return None,
    };
    let day = DAY_SECONDS * i64::from(unit.per_second());
    let days = i32::try_from(value.div_euclid(day)).ok()?;
    (value.rem_euclid(day) == 0).then_some(days)
}

fn timestamp(value: &Value<'_>, nanos: bool, utc: bool) -> Option<i64> {
    let (value, from_nanos) = match (utc, *value) {
        (true, Value::Timestamp(value)) | (false, Value::TimestampNtz(value)) => (value, false),
        (true, Value::TimestampNanos(value)) | (false, Value::TimestampNtzNanos(value)) => {
            (value, true)
        }
        (false, Value::Date(days)) => {
            let seconds = i64::from(days) * DAY_SECONDS;
            (
                seconds.checked_mul(Unit::Micros.per_second().into())?,
                false,
            )
        }
        _ => return None,
    };
    match (from_nanos, nanos) {
        (false, true) => value.checked_mul(1000),
        (true, false) => (value % 1000 == 0).then_some(value / 1000),
        _ => Some(value),
    }
}

impl PrimitiveType {
    /// Checks that a decimal type has a precision of 1 to 38, and a scale no larger than the precision.
    pub(crate) fn check(self) -> Result<()> {
        if let Self::Decimal { precision, scale } = self
            && (!(1..=MAX_DECIMAL_DIGITS).contains(&precision) || scale > precision)
        {
            return Err(Error::argument(format!(
                "a variant decimal has 1 to {MAX_DECIMAL_DIGITS} digits, and a scale of at most \
                 its precision; got ({precision}, {scale})"
            )));
        }
        Ok(())
    }
}
