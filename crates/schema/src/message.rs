//! The schema as text, in the specification's message syntax.

use std::fmt;

use herringbone_format::{ConvertedType, LogicalType, Repetition, SchemaElement, Type};

use crate::ParquetSchema;

impl fmt::Display for ParquetSchema {
    /// Prints one field per line: repetition, type, name, annotation, and `= id` if the field has an ID.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.nodes();
        let mut open: Vec<usize> = Vec::new();
        for (ordinal, node) in nodes.iter().enumerate() {
            close(f, &mut open, ordinal)?;
            let indent = open.len() * 2;
            let element = &node.element;
            write!(f, "{:indent$}", "")?;
            if ordinal == 0 {
                write!(f, "message {}", Name(&element.name))?;
            } else {
                let repetition = node.repetition().to_string().to_lowercase();
                write!(
                    f,
                    "{repetition} {} {}",
                    TypeName(element),
                    Name(&element.name)
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

/// A name with its control characters escaped, because the output has one line per field.
struct Name<'a>(&'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in self.0.split_inclusive(char::is_control) {
            let mut chars = part.chars();
            match chars.next_back() {
                Some(last) if last.is_control() => {
                    write!(f, "{}{}", chars.as_str(), last.escape_default())?;
                }
                _ => f.write_str(part)?,
            }
        }
        Ok(())
    }
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

/// Displays an element without its name: `repeated` if it is repeated, its type, and its annotation.
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

/// Writes the effective annotation in parentheses.
fn annotation(f: &mut fmt::Formatter<'_>, element: &SchemaElement) -> fmt::Result {
    match (&element.logical_type, element.converted_type) {
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

/// Writes the short form of the message syntax, with arguments by position.
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
        LogicalType::Geometry { crs: Some(crs) } => write!(f, "GEOMETRY({})", Name(crs)),
        LogicalType::Geography {
            crs,
            algorithm: Some(algorithm),
        } => {
            let crs = crs.as_deref().unwrap_or("OGC:CRS84");
            write!(f, "GEOGRAPHY({},{algorithm})", Name(crs))
        }
        LogicalType::Geography { crs: Some(crs), .. } => write!(f, "GEOGRAPHY({})", Name(crs)),
        other => write!(f, "{other}"),
    }
}
