//! Values that columns are compared with.

use std::fmt;

use herringbone_arrow::buffer::i256;

/// A value that a column is compared with. It is cast to the type of the column when the predicate meets a file, so
/// `5` serves integers of any width, floating-point numbers and decimals.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Literal {
    /// No value: comparisons with it are never true.
    Null,
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i128),
    /// A number in floating point. NaN equals itself and is above all other numbers.
    ///
    /// A column of floating-point numbers is compared with the number of its own type that is nearest to a literal, of
    /// whatever kind. A literal beyond the range of the type, or too close to 0, equals none of its values.
    Float(f64),
    /// `unscaled` × 10^-`scale`.
    Decimal {
        /// The digits.
        unscaled: i256,
        /// How many of them are behind the point.
        scale: i32,
    },
    /// Text; also a date, a time or a timestamp in ISO 8601, for columns of these types, and a UUID as
    /// `00112233-4455-6677-8899-aabbccddeeff`. For columns of other bytes it stands for its own bytes.
    Text(String),
    /// Bytes. For a column whose values have a fixed length, they need to have that length.
    Bytes(Vec<u8>),
    /// Days since 1970-01-01.
    Date(i32),
    /// Nanoseconds of the day.
    Time(i64),
    /// Nanoseconds since 1970-01-01 00:00:00.
    Timestamp {
        /// They may be more than 64 bits hold.
        nanos: i128,
        /// Whether they are counted in UTC. Otherwise they are those of a clock that hangs anywhere.
        is_utc: bool,
    },
}

impl Literal {
    /// Returns its text for errors, cut if it is long.
    pub(super) fn shown(&self) -> String {
        const MOST_CHARACTERS: usize = 80;
        let text = self.to_string();
        match text.char_indices().nth(MOST_CHARACTERS) {
            Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
            None => text,
        }
    }

    /// What kind of value it is, for errors.
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
