//! The names of directories for the values of a partition column.

use std::fmt::Write as _;
use std::sync::Arc;

use herringbone::arrow::array::{Array as _, ArrayRef, cast::AsArray as _, types};
use herringbone::arrow::schema::DataType;
use herringbone::{Error, Result};
use herringbone_text::iso8601;

use crate::partition::NULL;

/// The characters that some systems, shells or readers do not accept in names.
const ESCAPED: &str = "\"#%'*/:=?\\{}[]^<>|";

/// The name of a directory: `year=2024`.
pub(crate) type Name = Arc<str>;

/// Returns the names of the directories for all values of a column.
///
/// # Errors
/// Unsupported if values of the type have no text that gives back the same value; Argument if a text is the name for null.
pub(crate) fn names(column: &str, values: &ArrayRef) -> Result<Vec<Name>> {
    let text = text_of(values).map_err(|error| error.in_column(column))?;
    let mut prefix = String::new();
    escape(&mut prefix, column);
    if prefix.starts_with('.') {
        prefix.replace_range(..1, "%2E");
    }
    prefix.push('=');
    let mut names: Vec<Name> = Vec::with_capacity(values.len());
    let mut last: Option<(Option<String>, Name)> = None;
    for row in 0..values.len() {
        let value = values.is_valid(row).then(|| text(row));
        if value.as_deref() == Some(NULL) {
            let message = format!("the text `{NULL}` stands for null in the names of directories");
            return Err(Error::argument(message).in_column(column));
        }
        let name = match &last {
            Some((same, name)) if *same == value => name.clone(),
            _ => {
                let mut name = prefix.clone();
                match &value {
                    Some(value) => escape(&mut name, value),
                    None => name.push_str(NULL),
                }
                name.into()
            }
        };
        last = Some((value, name.clone()));
        names.push(name);
    }
    Ok(names)
}

/// Appends a text, with percent escapes for characters that names should not have.
fn escape(out: &mut String, text: &str) {
    for character in text.chars() {
        match character.is_ascii_control() || ESCAPED.contains(character) {
            // Strings take any text.
            true => _ = write!(out, "%{:02X}", u32::from(character)),
            false => out.push(character),
        }
    }
}

/// Returns a function from a row to the text of its value, which is not null.
fn text_of(values: &ArrayRef) -> Result<Box<dyn Fn(usize) -> String + '_>> {
    macro_rules! numbers {
        ($type:ident) => {{
            let values = values.as_primitive::<types::$type>();
            Box::new(move |row| values.value(row).to_string())
        }};
    }
    macro_rules! texts {
        ($values:expr) => {{
            let values = $values;
            Box::new(move |row| values.value(row).to_owned())
        }};
    }
    Ok(match values.data_type() {
        DataType::Utf8 => texts!(values.as_string::<i32>()),
        DataType::LargeUtf8 => texts!(values.as_string::<i64>()),
        DataType::Utf8View => texts!(values.as_string_view()),
        DataType::Boolean => {
            let values = values.as_boolean();
            Box::new(move |row| values.value(row).to_string())
        }
        DataType::Int8 => numbers!(Int8Type),
        DataType::Int16 => numbers!(Int16Type),
        DataType::Int32 => numbers!(Int32Type),
        DataType::Int64 => numbers!(Int64Type),
        DataType::UInt8 => numbers!(UInt8Type),
        DataType::UInt16 => numbers!(UInt16Type),
        DataType::UInt32 => numbers!(UInt32Type),
        DataType::UInt64 => numbers!(UInt64Type),
        DataType::Date32 => {
            let values = values.as_primitive::<types::Date32Type>();
            Box::new(move |row| {
                let mut text = String::new();
                iso8601::push_date(&mut text, values.value(row).into());
                text
            })
        }
        other => {
            return Err(Error::unsupported(format!(
                "partitions by values of {other}; choose text, an integer, a boolean or Date32"
            )));
        }
    })
}
