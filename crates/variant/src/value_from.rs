//! Converts Rust values to variant values of the corresponding types.

use crate::value::Value;

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<i8> for Value<'_> {
    fn from(value: i8) -> Self {
        Self::Int8(value)
    }
}

impl From<i16> for Value<'_> {
    fn from(value: i16) -> Self {
        Self::Int16(value)
    }
}

impl From<i32> for Value<'_> {
    fn from(value: i32) -> Self {
        Self::Int32(value)
    }
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Self::Int64(value)
    }
}

impl From<f32> for Value<'_> {
    fn from(value: f32) -> Self {
        Self::Float(value)
    }
}

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Self::Double(value)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Self::String(value)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(value: &'a [u8]) -> Self {
        Self::Binary(value)
    }
}
