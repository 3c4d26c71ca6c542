//! Writes values as JSON text, without recursion.

use std::borrow::Cow;
use std::fmt::Write as _;

use herringbone_format::{Error, Result, uuid};
use herringbone_text::json::push_quoted;

use super::digits::{push_decimal, push_integer};
use super::{LostTypes, NonFinite};
use crate::children::Children;
use crate::container::Container;
use crate::limits::Limits;
use crate::metadata::Metadata;
use crate::temporal::{Unit, push_date, push_time, push_timestamp};
use crate::text::push_base64;
use crate::types::VariantType;
use crate::value::{Value, integer, text};
use crate::variant::Variant;

/// Writes values as JSON text, and records which types are lost. The module [`json`](crate::json)
/// shows the text of each type.
///
/// ```
/// use herringbone::variant::json::JsonWriter;
/// use herringbone::variant::{Value, VariantBuilder};
///
/// let mut builder = VariantBuilder::new();
/// builder.push(Value::Date(0))?;
/// let date = builder.finish()?;
/// let mut writer = JsonWriter::new();
/// let mut text = String::new();
/// writer.write(date.as_variant(), &mut text)?;
/// assert_eq!(text, r#""1970-01-01""#);
/// assert_eq!(writer.lost_types().to_string(), "date");
/// # Ok::<(), herringbone::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct JsonWriter {
    non_finite: NonFinite,
    limits: Limits,
    lost: LostTypes,
}

impl Variant<'_> {
    /// Returns the value as JSON text without spaces, as a [`JsonWriter`] writes it by default.
    /// Types that JSON does not have, such as dates, become strings.
    ///
    /// ```
    /// use herringbone::variant::VariantBuf;
    ///
    /// let event = VariantBuf::from_json(r#"{"id": 7, "tags": ["new"]}"#)?;
    /// assert_eq!(event.as_variant().to_json()?, r#"{"id":7,"tags":["new"]}"#);
    /// # Ok::<(), herringbone::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`JsonWriter::write`].
    pub fn to_json(self) -> Result<String> {
        let mut text = String::new();
        JsonWriter::new().write(self, &mut text)?;
        Ok(text)
    }
}

impl JsonWriter {
    /// Creates a writer with the default limits, which writes NaN and infinities as strings.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the form of NaN and infinities.
    #[must_use]
    pub fn non_finite(mut self, non_finite: NonFinite) -> Self {
        self.non_finite = non_finite;
        self
    }

    /// Sets the limits for each value.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns the types that all values written so far have lost.
    #[must_use]
    pub fn lost_types(&self) -> LostTypes {
        self.lost
    }

    /// Appends `variant` to `out` as JSON without spaces. Fields keep their order in the object.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if the value's bytes are
    /// invalid, and with [Unsupported](herringbone_format::ErrorKind::Unsupported) for types of
    /// newer specifications, and for NaN and infinities if they are an error. Fails with
    /// [Limit](herringbone_format::ErrorKind::Limit) if the nesting is too deep or the JSON too
    /// long. After an error nothing has been appended.
    pub fn write(&mut self, variant: Variant<'_>, out: &mut String) -> Result<()> {
        let start = out.len();
        let result = self.write_all(variant, start, out);
        if result.is_err() {
            out.truncate(start);
        }
        result
    }

    fn write_all(&mut self, variant: Variant<'_>, start: usize, out: &mut String) -> Result<()> {
        let metadata = variant.metadata();
        let mut levels = Vec::new();
        self.begin(&metadata, variant.as_bytes(), &mut levels, out)?;
        while let Some(level) = levels.last_mut() {
            self.limits.check_json_bytes(out.len() - start)?;
            match next(level, &metadata, out)? {
                Some(value) => self.begin(&metadata, value, &mut levels, out)?,
                None => drop(levels.pop()),
            }
        }
        self.limits.check_json_bytes(out.len() - start)
    }

    /// Writes a primitive value, or the beginning of an object or array. Integers and text take a
    /// fast path, which does not build a [`Value`].
    fn begin<'a>(
        &mut self,
        metadata: &Metadata<'a>,
        bytes: &'a [u8],
        levels: &mut Vec<Children<'a>>,
        out: &mut String,
    ) -> Result<()> {
        if let Some(container) = Container::if_any(*metadata, bytes)? {
            out.push(if container.is_object() { '{' } else { '[' });
            self.limits.check_depth(levels.len() + 1)?;
            levels.push(Children::new(container));
        } else if let Some(value) = integer(bytes) {
            push_integer(out, value);
        } else if let Some(value) = text(bytes)? {
            push_quoted(out, value);
        } else {
            let value = Variant::from_parts(*metadata, bytes).value()?;
            self.primitive(&value, out)?;
        }
        Ok(())
    }

    fn primitive(&mut self, value: &Value<'_>, out: &mut String) -> Result<()> {
        self.lost.insert(value.variant_type());
        match *value {
            Value::Null => out.push_str("null"),
            Value::String(value) => push_quoted(out, value),
            _ if push_number(out, value).is_some() => {}
            Value::Double(value) => self.push_non_finite(value, out)?,
            Value::Float(value) => self.push_non_finite(value.into(), out)?,
            _ => {
                out.push('"');
                push_plain(out, value)?;
                out.push('"');
            }
        }
        Ok(())
    }

    fn push_non_finite(&self, value: f64, out: &mut String) -> Result<()> {
        let text = special(value);
        match self.non_finite {
            NonFinite::String => push_quoted(out, text),
            NonFinite::Null => out.push_str("null"),
            NonFinite::Error => {
                return Err(Error::unsupported(format!("JSON has no number for {text}")));
            }
        }
        Ok(())
    }
}

/// Writes the text before the next value, or the end of `level` if there is none.
fn next<'a>(
    level: &mut Children<'a>,
    metadata: &Metadata<'a>,
    out: &mut String,
) -> Result<Option<&'a [u8]>> {
    // No value's text ends in one of these bytes, so the object or array has just begun.
    let is_first = matches!(out.as_bytes().last(), Some(b'{' | b'['));
    let id = level.next_field_id();
    let Some(value) = level.next_bytes()? else {
        let is_object = level.container().is_object();
        out.push(if is_object { '}' } else { ']' });
        return Ok(None);
    };
    if !is_first {
        out.push(',');
    }
    if let Some(id) = id {
        push_quoted(out, metadata.name(id)?);
        out.push(':');
    }
    Ok(Some(value))
}

/// Returns a primitive value as text, as in JSON but without quotes and escapes.
pub(crate) fn plain_text<'a>(value: &Value<'a>) -> Option<Cow<'a, str>> {
    let mut out = String::new();
    match *value {
        Value::String(text) => return Some(text.into()),
        Value::Double(value) if !value.is_finite() => out.push_str(special(value)),
        Value::Float(value) if !value.is_finite() => out.push_str(special(value.into())),
        _ => {
            push_number(&mut out, value).or_else(|| push_plain(&mut out, value).ok())?;
        }
    }
    Some(out.into())
}

/// Returns the name of NaN or of an infinity.
fn special(value: f64) -> &'static str {
    if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}

/// Appends a boolean, or a finite number with all its digits. Returns `None` for any other value.
fn push_number(out: &mut String, value: &Value<'_>) -> Option<()> {
    _ = match *value {
        Value::Boolean(value) => write!(out, "{value}"),
        Value::Int8(value) => write!(out, "{value}"),
        Value::Int16(value) => write!(out, "{value}"),
        Value::Int32(value) => write!(out, "{value}"),
        Value::Int64(value) => write!(out, "{value}"),
        Value::Decimal4(value) | Value::Decimal8(value) | Value::Decimal16(value) => {
            push_decimal(out, value);
            Ok(())
        }
        // Rust prints the shortest text that round-trips, such as 1.0 and 1e300.
        Value::Double(value) if value.is_finite() => write!(out, "{value:?}"),
        Value::Float(value) if value.is_finite() => write!(out, "{value:?}"),
        _ => return None,
    };
    Some(())
}

/// Appends a value whose text needs no escapes.
fn push_plain(out: &mut String, value: &Value<'_>) -> Result<()> {
    match *value {
        Value::Date(days) => push_date(out, days.into()),
        Value::Time(micros) => push_time(out, micros),
        Value::Timestamp(value) => push_timestamp(out, value, Unit::Micros, true),
        Value::TimestampNtz(value) => push_timestamp(out, value, Unit::Micros, false),
        Value::TimestampNanos(value) => push_timestamp(out, value, Unit::Nanos, true),
        Value::TimestampNtzNanos(value) => push_timestamp(out, value, Unit::Nanos, false),
        Value::Binary(value) => push_base64(out, value),
        Value::Uuid(value) => uuid::push(out, value),
        _ => return Err(no_text(value.variant_type())),
    }
    Ok(())
}

#[cold]
fn no_text(variant_type: VariantType) -> Error {
    Error::unsupported(format!("a variant's {variant_type} as JSON"))
}
