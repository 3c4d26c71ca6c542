//! The schema of JSON lines, from those at the beginning.
//!
//! Fields come in the order in which they appear first. Numbers without fraction are Int64, others
//! Float64; what is a string here and a number there is Utf8; what is null everywhere is Null.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, Fields, Schema, SchemaRef};
use serde_json::{Deserializer, Value};

/// What values were seen.
enum Kind {
    Null,
    Boolean,
    Integer,
    Float,
    Text,
    List(Box<Self>),
    Struct(Vec<(String, Self)>),
}

/// The schema of the objects in `text`, which may end within one.
///
/// # Errors
/// Words about what is no JSON line, or of no one type.
pub(super) fn schema(text: &[u8]) -> Result<SchemaRef, String> {
    let mut root = Kind::Null;
    let mut values = Deserializer::from_slice(text).into_iter::<Value>();
    loop {
        let start = values.byte_offset();
        let Some(value) = values.next() else { break };
        let place = |message: String| {
            let before = text.get(..start).unwrap_or(text);
            let blank = text
                .iter()
                .skip(start)
                .take_while(|byte| byte.is_ascii_whitespace());
            let lines = before
                .iter()
                .chain(blank)
                .filter(|byte| **byte == b'\n')
                .count();
            format!("line {}: {message}", lines + 1)
        };
        let value = match value {
            Ok(value) => value,
            // The sample ended; what follows is for the reader to judge.
            Err(error) if error.is_eof() && matches!(root, Kind::Struct(_)) => break,
            Err(error) => return Err(place(format!("no JSON: {error}"))),
        };
        if !value.is_object() {
            return Err(place(
                "a row is an object, {…}, on a line of its own".into(),
            ));
        }
        root.add(&value, "").map_err(place)?;
    }
    match root {
        Kind::Struct(fields) => Ok(Arc::new(Schema::new(fields_of(fields)))),
        _ => Err("there is no row to infer a schema from; --schema gives it".into()),
    }
}

impl Kind {
    fn add(&mut self, value: &Value, path: &str) -> Result<(), String> {
        match (&mut *self, value) {
            (_, Value::Null) => {}
            (Self::List(items), Value::Array(values)) => {
                for value in values {
                    items.add(value, path)?;
                }
            }
            (Self::Struct(fields), Value::Object(values)) => {
                for (name, value) in values {
                    let path = format!("{path}{}{name}", if path.is_empty() { "" } else { "." });
                    match fields.iter_mut().find(|(known, _)| known == name) {
                        Some((_, field)) => field.add(value, &path)?,
                        None => {
                            let mut field = Self::Null;
                            field.add(value, &path)?;
                            fields.push((name.clone(), field));
                        }
                    }
                }
            }
            (Self::Null, Value::Array(_)) => {
                *self = Self::List(Box::new(Self::Null));
                self.add(value, path)?;
            }
            (Self::Null, Value::Object(_)) => {
                *self = Self::Struct(Vec::new());
                self.add(value, path)?;
            }
            (Self::List(_) | Self::Struct(_), _) | (_, Value::Array(_) | Value::Object(_)) => {
                return Err(format!(
                    "`{path}` is {} here and {} before",
                    Self::of(value).name(),
                    self.name()
                ));
            }
            (_, scalar) => {
                let before = std::mem::replace(self, Self::Null);
                *self = before.with(Self::of(scalar));
            }
        }
        Ok(())
    }

    /// What is both of two scalars.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Null, kind) | (kind, Self::Null) => kind,
            (Self::Boolean, Self::Boolean) => Self::Boolean,
            (Self::Integer, Self::Integer) => Self::Integer,
            (Self::Integer | Self::Float, Self::Integer | Self::Float) => Self::Float,
            _ => Self::Text,
        }
    }

    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if number.is_i64() => Self::Integer,
            Value::Number(_) => Self::Float,
            Value::String(_) => Self::Text,
            Value::Array(_) => Self::List(Box::new(Self::Null)),
            Value::Object(_) => Self::Struct(Vec::new()),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Integer | Self::Float => "a number",
            Self::Text => "a string",
            Self::List(_) => "an array",
            Self::Struct(_) => "an object",
        }
    }

    fn data_type(self) -> DataType {
        match self {
            Self::Null => DataType::Null,
            Self::Boolean => DataType::Boolean,
            Self::Integer => DataType::Int64,
            Self::Float => DataType::Float64,
            Self::Text => DataType::Utf8,
            Self::List(items) => DataType::new_list(items.data_type(), true),
            Self::Struct(fields) => DataType::Struct(fields_of(fields)),
        }
    }
}

fn fields_of(fields: Vec<(String, Kind)>) -> Fields {
    let field = |(name, kind): (String, Kind)| Field::new(name, kind.data_type(), true);
    fields.into_iter().map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inferred(text: &str) -> String {
        match schema(text.as_bytes()) {
            Ok(schema) => {
                let field = |field: &Arc<Field>| format!("{}: {}", field.name(), field.data_type());
                schema
                    .fields()
                    .iter()
                    .map(field)
                    .collect::<Vec<_>>()
                    .join("; ")
            }
            Err(message) => message,
        }
    }

    #[test]
    fn types_widen() {
        assert_eq!(
            inferred(r#"{"b":1,"a":true,"c":"x"}"#),
            "b: Int64; a: Boolean; c: Utf8"
        );
        assert_eq!(
            inferred("{\"x\":1}\n{\"x\":null}\n{\"x\":1.5}"),
            "x: Float64"
        );
        assert_eq!(inferred(r#"{"x":1} {"y":2}"#), "x: Int64; y: Int64");
        assert_eq!(inferred(r#"{"x":true} {"x":2}"#), "x: Utf8");
        assert_eq!(inferred(r#"{"x":18446744073709551615}"#), "x: Float64");
        assert_eq!(inferred(r#"{"x":null}"#), "x: Null");
    }

    #[test]
    fn nested_types() {
        assert_eq!(inferred(r#"{"x":[]} {"x":[1,null]}"#), "x: List(Int64)");
        assert_eq!(
            inferred(r#"{"x":{"z":1}} {"x":{"y":["a"]}}"#),
            r#"x: Struct("z": Int64, "y": List(Utf8))"#
        );
    }

    #[test]
    fn contradictions_have_a_place() {
        assert_eq!(
            inferred("{\"x\":{\"y\":1}}\n\n{\"x\":{\"y\":[2]}}"),
            "line 3: `x.y` is an array here and a number before"
        );
        assert!(inferred("{\"x\":1}\n[2]").starts_with("line 2: a row is an object"));
        assert!(inferred("{\"x\":1}\n{\"x\":!}").starts_with("line 2: no JSON"));
        assert!(inferred("\n").starts_with("there is no row"));
        assert!(inferred("{\"x").starts_with("line 1: no JSON"));
        assert_eq!(inferred("{\"x\":1}\n{\"x"), "x: Int64");
    }
}
