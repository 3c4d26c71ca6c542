//! Schemas as text, in the message syntax of the specification and of other libraries.
//!
//! ```text
//! message  = "message" word "{" field* "}"
//! field    = repetition ( group | column )
//! group    = "group" word annotated "{" field* "}"
//! column   = type word annotated ";"
//! annotated = [ "(" annotation ")" ] [ "=" id ]
//! ```
//!
//! A word is a name or an annotation's coordinate reference system. It is in double quotes if it
//! could be read as something else. See [`word`].

mod annotation;
mod cursor;
mod parse;
mod word;

use std::fmt;

use herringbone_format::{ConvertedType, LogicalType, Repetition, SchemaElement, Type};

use crate::{ParquetSchema, resolved_type};
use word::Word;

impl fmt::Display for ParquetSchema {
    /// Prints one field per line, with its repetition, type, name and annotation, and with `= id`
    /// if the field has an ID.
    ///
    /// Names with spaces, punctuation or invisible characters are in double quotes, with Rust's
    /// escapes. Use [`FromStr`](std::str::FromStr) to read the text again.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.nodes();
        let mut open: Vec<usize> = Vec::new();
        for (ordinal, node) in nodes.iter().enumerate() {
            close(f, &mut open, ordinal)?;
            let indent = open.len() * 2;
            let element = &node.element;
            write!(f, "{:indent$}", "")?;
            if ordinal == 0 {
                write!(f, "message {}", Word(&element.name))?;
            } else {
                let repetition = node.repetition().to_string().to_lowercase();
                write!(
                    f,
                    "{repetition} {} {}",
                    TypeName(element),
                    Word(&element.name)
                )?;
                annotation(f, element)?;
                if let Some(id) = element.field_id {
                    write!(f, " = {id}")?;
                }
            }
            if node.is_group() {
                f.write_str(" {\n")?;
                open.push(node.end);
            } else {
                f.write_str(";\n")?;
            }
        }
        close(f, &mut open, nodes.len())
    }
}

/// Closes the groups that end before the node `ordinal`.
fn close(f: &mut fmt::Formatter<'_>, open: &mut Vec<usize>, ordinal: usize) -> fmt::Result {
    while open.last().is_some_and(|&end| end <= ordinal) {
        open.pop();
        writeln!(f, "{:indent$}}}", "", indent = open.len() * 2)?;
    }
    Ok(())
}

struct TypeName<'a>(&'a SchemaElement);

impl fmt::Display for TypeName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0.type_ {
            None => "group",
            Some(Type::Boolean) => "boolean",
            Some(Type::Int32) => "int32",
            Some(Type::Int64) => "int64",
            Some(Type::Int96) => "int96",
            Some(Type::Float) => "float",
            Some(Type::Double) => "double",
            Some(Type::ByteArray) => "binary",
            Some(Type::FixedLenByteArray) => {
                let length = self.0.type_length.unwrap_or(0);
                return write!(f, "fixed_len_byte_array({length})");
            }
        };
        f.write_str(name)
    }
}

/// An element, displayed without its name: `repeated` if it is repeated, its type, and its
/// annotation.
pub(crate) struct Described<'a>(pub(crate) &'a SchemaElement);

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.repetition_type == Some(Repetition::Repeated) {
            f.write_str("repeated ")?;
        }
        write!(f, "{}", TypeName(self.0))?;
        annotation(f, self.0)
    }
}

/// An element, displayed as its annotation alone, with a space and parentheses, or as nothing if it
/// has none.
pub(crate) struct Annotation<'a>(pub(crate) &'a SchemaElement);

impl fmt::Display for Annotation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        annotation(f, self.0)
    }
}

/// The bytes of an unrecognized annotation without parameters. These aren't printed.
const EMPTY_STRUCT: &[u8] = &[0];

/// Writes an element's effective annotation in parentheses.
fn annotation(f: &mut fmt::Formatter<'_>, element: &SchemaElement) -> fmt::Result {
    match (resolved_type::annotation(element), element.converted_type) {
        (Some(logical), _) => {
            f.write_str(" (")?;
            logical_type(f, logical)?;
            f.write_str(")")
        }
        (None, Some(ConvertedType::Decimal)) => {
            let (precision, scale) = (element.precision.unwrap_or(0), element.scale.unwrap_or(0));
            write!(f, " (DECIMAL({precision},{scale}))")
        }
        (None, Some(converted)) => write!(f, " ({converted})"),
        (None, None) => Ok(()),
    }
}

/// Writes the short form of the message syntax, with positional arguments.
fn logical_type(f: &mut fmt::Formatter<'_>, logical: &LogicalType) -> fmt::Result {
    match logical {
        LogicalType::Decimal { scale, precision } => write!(f, "DECIMAL({precision},{scale})"),
        LogicalType::Time {
            is_adjusted_to_utc,
            unit,
        } => write!(f, "TIME({unit},{is_adjusted_to_utc})"),
        LogicalType::Timestamp {
            is_adjusted_to_utc,
            unit,
        } => write!(f, "TIMESTAMP({unit},{is_adjusted_to_utc})"),
        LogicalType::Integer {
            bit_width,
            is_signed,
        } => write!(f, "INTEGER({bit_width},{is_signed})"),
        LogicalType::Variant {
            specification_version: Some(version),
        } => write!(f, "VARIANT({version})"),
        LogicalType::Geometry { crs: Some(crs) } => write!(f, "GEOMETRY({})", Word(crs)),
        LogicalType::Geography {
            crs,
            algorithm: Some(algorithm),
        } => {
            let crs = crs.as_deref().unwrap_or("OGC:CRS84");
            write!(f, "GEOGRAPHY({},{algorithm})", Word(crs))
        }
        LogicalType::Geography { crs: Some(crs), .. } => write!(f, "GEOGRAPHY({})", Word(crs)),
        LogicalType::Unrecognized {
            field_id,
            parameters,
        } => {
            write!(f, "UNRECOGNIZED({field_id}")?;
            if parameters != EMPTY_STRUCT {
                f.write_str(",0x")?;
                parameters
                    .iter()
                    .try_for_each(|byte| write!(f, "{byte:02x}"))?;
            }
            f.write_str(")")
        }
        other => write!(f, "{other}"),
    }
}
