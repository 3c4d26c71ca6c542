//! Encodes primitive values as bytes. Strings become short strings if they fit.

use herringbone_format::{Error, Result};

use crate::decimal::Decimal;
use crate::types::{BASIC_SHORT_STRING, SHORT_STRING_BYTES, id, primitive_header};
use crate::value::Value;

/// Appends `value`, which must be a primitive value. Objects and arrays are an error.
pub(super) fn push_primitive(out: &mut Vec<u8>, value: &Value<'_>) -> Result<()> {
    match *value {
        Value::Null => out.push(primitive_header(id::NULL)),
        Value::Boolean(true) => out.push(primitive_header(id::TRUE)),
        Value::Boolean(false) => out.push(primitive_header(id::FALSE)),
        Value::Int8(value) => push(out, id::INT8, &value.to_le_bytes()),
        Value::Int16(value) => push(out, id::INT16, &value.to_le_bytes()),
        Value::Int32(value) => push(out, id::INT32, &value.to_le_bytes()),
        Value::Int64(value) => push(out, id::INT64, &value.to_le_bytes()),
        Value::Double(value) => push(out, id::DOUBLE, &value.to_le_bytes()),
        Value::Float(value) => push(out, id::FLOAT, &value.to_le_bytes()),
        Value::Decimal4(value) => push_decimal(out, id::DECIMAL4, 4, value)?,
        Value::Decimal8(value) => push_decimal(out, id::DECIMAL8, 8, value)?,
        Value::Decimal16(value) => push_decimal(out, id::DECIMAL16, 16, value)?,
        Value::Date(value) => push(out, id::DATE, &value.to_le_bytes()),
        Value::Time(value) => push(out, id::TIME, &value.to_le_bytes()),
        Value::Timestamp(value) => push(out, id::TIMESTAMP, &value.to_le_bytes()),
        Value::TimestampNtz(value) => push(out, id::TIMESTAMP_NTZ, &value.to_le_bytes()),
        Value::TimestampNanos(value) => push(out, id::TIMESTAMP_NANOS, &value.to_le_bytes()),
        Value::TimestampNtzNanos(value) => {
            push(out, id::TIMESTAMP_NTZ_NANOS, &value.to_le_bytes());
        }
        Value::Uuid(value) => push(out, id::UUID, &value),
        Value::Binary(value) => push_sized(out, id::BINARY, value)?,
        Value::String(value) => push_string(out, value)?,
        Value::Unknown { id, data } => push(out, id, data),
        Value::Object(_) | Value::Array(_) => {
            return Err(Error::argument(
                "an object or array is not a primitive value",
            ));
        }
    }
    Ok(())
}

/// Appends an integer in the narrowest type that holds it.
#[inline]
pub(super) fn push_int(out: &mut Vec<u8>, value: i64) {
    if let Ok(value) = i8::try_from(value) {
        push(out, id::INT8, &value.to_le_bytes());
    } else if let Ok(value) = i16::try_from(value) {
        push(out, id::INT16, &value.to_le_bytes());
    } else if let Ok(value) = i32::try_from(value) {
        push(out, id::INT32, &value.to_le_bytes());
    } else {
        push(out, id::INT64, &value.to_le_bytes());
    }
}

#[inline]
fn push(out: &mut Vec<u8>, type_id: u8, data: &[u8]) {
    out.push(primitive_header(type_id));
    out.extend_from_slice(data);
}

/// Appends a string. Up to 63 bytes it becomes a short string, whose length is in the header.
#[inline]
fn push_string(out: &mut Vec<u8>, value: &str) -> Result<()> {
    match u8::try_from(value.len()) {
        Ok(len) if usize::from(len) <= SHORT_STRING_BYTES => {
            out.push(len << 2 | BASIC_SHORT_STRING);
            out.extend_from_slice(value.as_bytes());
            Ok(())
        }
        _ => push_sized(out, id::STRING, value.as_bytes()),
    }
}

fn push_sized(out: &mut Vec<u8>, type_id: u8, data: &[u8]) -> Result<()> {
    let size = u32::try_from(data.len())
        .map_err(|_| Error::argument("a value of a variant must be smaller than 4 GiB"))?;
    push(out, type_id, &size.to_le_bytes());
    out.extend_from_slice(data);
    Ok(())
}

/// Appends a decimal, storing the `width` low bytes of its unscaled value. Fails if the decimal has
/// more digits than its type allows.
fn push_decimal(out: &mut Vec<u8>, type_id: u8, width: u8, value: Decimal) -> Result<()> {
    if !value.is_valid() || value.width() > width {
        return Err(Error::argument(format!(
            "{value} has too many digits for a variant's decimal{width}"
        )));
    }
    out.push(primitive_header(type_id));
    out.push(value.scale);
    let bytes = value.unscaled.to_le_bytes();
    out.extend_from_slice(bytes.get(..usize::from(width)).unwrap_or(&bytes));
    Ok(())
}
