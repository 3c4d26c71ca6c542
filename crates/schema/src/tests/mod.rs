//! Schemas in message syntax, and Arrow fields as short text.

mod describe;
mod parse;

mod extensions;
mod builder;
mod flat;
mod hints;
mod message;
mod nested;
mod projected;
mod tree;
mod write;

use herringbone_format::Limits;

use crate::{ArrowMapping, ParquetSchema, SchemaOptions, to_arrow};

pub(crate) use describe::{describe, levels};
pub(crate) use parse::elements;

/// Returns the schema `message m { fields }`.
pub(crate) fn schema(fields: &str) -> ParquetSchema {
    let text = format!("message m {{ {fields} }}");
    ParquetSchema::new(&elements(&text), &Limits::default()).unwrap()
}

/// Maps the fields under the default options, without key-value metadata.
pub(crate) fn mapped(fields: &str) -> ArrowMapping {
    to_arrow(&schema(fields), &[], &SchemaOptions::default()).unwrap()
}

/// Returns the Arrow fields as text.
pub(crate) fn arrow(fields: &str) -> String {
    describe(&mapped(fields))
}
