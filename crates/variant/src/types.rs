//! The types of values, and the bits that encode them.

use std::fmt;

/// The basic type of primitive values. The basic type is in the two low bits of a value's first
/// byte.
pub(crate) const BASIC_PRIMITIVE: u8 = 0;
/// The basic type of short strings.
pub(crate) const BASIC_SHORT_STRING: u8 = 1;
/// The basic type of objects.
pub(crate) const BASIC_OBJECT: u8 = 2;
/// The basic type of arrays.
pub(crate) const BASIC_ARRAY: u8 = 3;

/// A bit in an object's first byte. It is set if the number of fields takes 4 bytes instead of 1.
pub(crate) const OBJECT_LARGE: u8 = 0x40;
/// A bit in an array's first byte. It is set if the number of elements takes 4 bytes instead of 1.
pub(crate) const ARRAY_LARGE: u8 = 0x10;

/// The maximum byte count of a short string.
pub(crate) const SHORT_STRING_BYTES: usize = 63;

/// The type of a value.
///
/// *Variant Binary Encoding, "Encoding types".* Short and long strings have one type here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VariantType {
    /// The variant null, which is a value. Note that a missing value has no type.
    Null,
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
    /// 64-bit floating point number.
    Double,
    /// Decimal of up to 9 digits.
    Decimal4,
    /// Decimal of up to 18 digits.
    Decimal8,
    /// Decimal of up to 38 digits.
    Decimal16,
    /// Calendar date.
    Date,
    /// Instant in microseconds.
    Timestamp,
    /// Local date and time in microseconds.
    TimestampNtz,
    /// 32-bit floating point number.
    Float,
    /// Bytes.
    Binary,
    /// Text.
    String,
    /// Local time of day in microseconds.
    Time,
    /// Instant in nanoseconds.
    TimestampNanos,
    /// Local date and time in nanoseconds.
    TimestampNtzNanos,
    /// UUID.
    Uuid,
    /// Fields with names.
    Object,
    /// Elements in order.
    Array,
    /// A primitive type of a newer specification, with its ID.
    Unknown(u8),
}

/// The primitive types, in the order of their IDs. Boolean appears twice, because ID 1 is true and
/// ID 2 is false.
const PRIMITIVES: [VariantType; 21] = [
    VariantType::Null,
    VariantType::Boolean,
    VariantType::Boolean,
    VariantType::Int8,
    VariantType::Int16,
    VariantType::Int32,
    VariantType::Int64,
    VariantType::Double,
    VariantType::Decimal4,
    VariantType::Decimal8,
    VariantType::Decimal16,
    VariantType::Date,
    VariantType::Timestamp,
    VariantType::TimestampNtz,
    VariantType::Float,
    VariantType::Binary,
    VariantType::String,
    VariantType::Time,
    VariantType::TimestampNanos,
    VariantType::TimestampNtzNanos,
    VariantType::Uuid,
];

/// Returns a primitive value's first byte.
pub(crate) const fn primitive_header(type_id: u8) -> u8 {
    type_id << 2
}

/// The IDs of the primitive types that builders write.
pub(crate) mod id {
    pub(crate) const NULL: u8 = 0;
    pub(crate) const TRUE: u8 = 1;
    pub(crate) const FALSE: u8 = 2;
    pub(crate) const INT8: u8 = 3;
    pub(crate) const INT16: u8 = 4;
    pub(crate) const INT32: u8 = 5;
    pub(crate) const INT64: u8 = 6;
    pub(crate) const DOUBLE: u8 = 7;
    pub(crate) const DECIMAL4: u8 = 8;
    pub(crate) const DECIMAL8: u8 = 9;
    pub(crate) const DECIMAL16: u8 = 10;
    pub(crate) const DATE: u8 = 11;
    pub(crate) const TIMESTAMP: u8 = 12;
    pub(crate) const TIMESTAMP_NTZ: u8 = 13;
    pub(crate) const FLOAT: u8 = 14;
    pub(crate) const BINARY: u8 = 15;
    pub(crate) const STRING: u8 = 16;
    pub(crate) const TIME: u8 = 17;
    pub(crate) const TIMESTAMP_NANOS: u8 = 18;
    pub(crate) const TIMESTAMP_NTZ_NANOS: u8 = 19;
    pub(crate) const UUID: u8 = 20;
}

impl VariantType {
    /// Returns the type that a value's first byte encodes.
    #[must_use]
    pub fn of_header(header: u8) -> Self {
        match header & 3 {
            BASIC_PRIMITIVE => {
                let id = header >> 2;
                let known = PRIMITIVES.get(usize::from(id)).copied();
                known.unwrap_or(Self::Unknown(id))
            }
            BASIC_SHORT_STRING => Self::String,
            BASIC_OBJECT => Self::Object,
            _ => Self::Array,
        }
    }

    /// Returns the type's name in the specification, without spaces.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Double => "double",
            Self::Decimal4 => "decimal4",
            Self::Decimal8 => "decimal8",
            Self::Decimal16 => "decimal16",
            Self::Date => "date",
            Self::Timestamp => "timestamp",
            Self::TimestampNtz => "timestamp_ntz",
            Self::Float => "float",
            Self::Binary => "binary",
            Self::String => "string",
            Self::Time => "time",
            Self::TimestampNanos => "timestamp_nanos",
            Self::TimestampNtzNanos => "timestamp_ntz_nanos",
            Self::Uuid => "uuid",
            Self::Object => "object",
            Self::Array => "array",
            Self::Unknown(_) => "unknown",
        }
    }
}

impl fmt::Display for VariantType {
    /// Prints the name, such as `int8`, `timestamp_ntz` or `unknown (id 33)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Unknown(id) => write!(f, " (id {id})"),
            _ => Ok(()),
        }
    }
}
