//! Literals to compare columns with.

use std::fmt;

use herringbone_arrow::buffer::i256;

/// A value to compare a column with. Binding a predicate to a file casts its literals to the columns' types, so `5`
/// works for integers of any width, floating-point numbers and decimals. You rarely need to build a literal yourself,
/// because comparisons accept anything that converts to one.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Literal {
    /// A null. Comparisons with it are never true.
    Null,
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i128),
    /// A floating-point number. NaN equals itself and is above all other numbers.
    ///
    /// In a column of floating-point numbers, a literal of any kind is rounded to the nearest number of the column's
    /// type. If the literal is out of the type's range or too close to 0, it equals none of its values.
    Float(f64),
    /// A decimal with the value `unscaled` × 10^-`scale`.
    Decimal {
        /// The unscaled digits.
        unscaled: i256,
        /// The number of digits after the decimal point.
        scale: i32,
    },
    /// Text. For columns of dates, times and timestamps, it is parsed as ISO 8601. For UUIDs, it is parsed as
    /// `00112233-4455-6677-8899-aabbccddeeff`. For columns of other bytes, it's used as its own bytes.
    Text(String),
    /// Bytes. For a fixed-length column, they must have the column's length.
    Bytes(Vec<u8>),
    /// A date, in days since 1970-01-01.
    Date(i32),
    /// A time of day, in nanoseconds since midnight.
    Time(i64),
    /// A timestamp, in nanoseconds since 1970-01-01 00:00:00.
    Timestamp {
        /// The number of nanoseconds, which can exceed 64 bits.
        nanos: i128,
        /// True if the nanoseconds are counted in UTC. Otherwise, the time zone is unspecified.
        is_utc: bool,
    },
    /// A duration in nanoseconds, which can exceed 64 bits. You can also compare a duration column with a number, in
    /// the column's unit.
    Duration(i128),
}

impl Literal {
    /// Returns the literal's text for errors, truncated if it is long.
    pub(super) fn shown(&self) -> String {
        const MAX_CHARACTERS: usize = 80;
        let text = self.to_string();
        match text.char_indices().nth(MAX_CHARACTERS) {
            Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
            None => text,
        }
    }

    /// Returns the literal's kind, for errors.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "a boolean",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a floating-point number",
            Self::Decimal { .. } => "a decimal",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
            Self::Date(_) => "a date",
            Self::Time(_) => "a time",
            Self::Timestamp { .. } => "a timestamp",
            Self::Duration(_) => "a duration",
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value}"),
            Self::Decimal { unscaled, scale: 0 } => write!(f, "{unscaled}"),
            Self::Decimal { unscaled, scale } => write!(f, "{unscaled}e{}", -i64::from(*scale)),
            Self::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Self::Bytes(bytes) => {
                let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
                write!(f, "x'{}'", digits.collect::<String>())
            }
            Self::Date(days) => write!(f, "day {days}"),
            Self::Time(nanos) => write!(f, "{nanos} ns of the day"),
            Self::Timestamp { nanos, .. } => write!(f, "{nanos} ns since 1970"),
            Self::Duration(nanos) => write!(f, "{nanos} ns"),
        }
    }
}

macro_rules! from {
    ($($type:ty => |$value:ident| $literal:expr;)+) => { $(
        impl From<$type> for Literal {
            fn from($value: $type) -> Self {
                $literal
            }
        }
    )+ };
}

from! {
    bool => |value| Self::Boolean(value);
    i8 => |value| Self::Integer(value.into());
    i16 => |value| Self::Integer(value.into());
    i32 => |value| Self::Integer(value.into());
    i64 => |value| Self::Integer(value.into());
    i128 => |value| Self::Integer(value);
    u8 => |value| Self::Integer(value.into());
    u16 => |value| Self::Integer(value.into());
    u32 => |value| Self::Integer(value.into());
    u64 => |value| Self::Integer(value.into());
    f32 => |value| Self::Float(value.into());
    f64 => |value| Self::Float(value);
    &str => |value| Self::Text(value.to_owned());
    String => |value| Self::Text(value);
    &[u8] => |value| Self::Bytes(value.to_vec());
    Vec<u8> => |value| Self::Bytes(value);
}

impl<T: Into<Self>> From<Option<T>> for Literal {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
