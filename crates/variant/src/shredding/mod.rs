//! Stores values in Arrow arrays, shredded into columns of their types or not.
//!
//! *Variant Shredding; Arrow canonical extension types, "Parquet Variant".*
//!
//! ```text
//! struct                    the values of one column
//! ├─ metadata: binary       the dictionary of each value
//! ├─ value: binary          the unshredded values, and the unshredded fields of objects
//! └─ typed_value            the shredded values: primitive values, or
//!    ├─ struct              objects: for each field a struct of value and typed_value
//!    └─ list                arrays: for the elements a struct of value and typed_value
//! ```

mod bytes;
mod columns;
mod data_type;
mod field_names;
mod get;
mod in_value;
mod infer;
mod leaf;
mod one_path;
mod primitive;
mod read;
mod residual;
mod typed;
mod unpack;
mod unshred;
mod value_column;
mod write;

use std::collections::HashMap;

use herringbone_arrow::schema::{ArrowError, DataType, Field};
use herringbone_format::{Error, Result};

use crate::cast::PrimitiveType;

pub(crate) use data_type::values_type;
pub use get::{GetOptions, OnCastError};
pub(crate) use get::{check_path, metadata_type};
pub(crate) use infer::infer_from;
pub use infer::{InferOptions, ShreddedTypes};
pub use one_path::variant_get;
pub use read::VariantArray;
pub use unshred::UnshredOptions;
pub(crate) use unshred::unshredded_type;
pub use write::Shredder;

/// The name of the Arrow extension type.
pub use herringbone_schema::VARIANT_EXTENSION_NAME as EXTENSION_NAME;
/// The name that older writers use for the extension type.
const OLD_EXTENSION_NAME: &str = "parquet.variant";
/// The metadata key for an extension type's name in Arrow fields.
const EXTENSION_NAME_KEY: &str = "ARROW:extension:name";
/// The metadata key for an extension type's metadata in Arrow fields.
const EXTENSION_METADATA_KEY: &str = "ARROW:extension:metadata";

/// The name of the metadata column.
pub(crate) const METADATA: &str = "metadata";
/// The name of the column of unshredded values.
pub(crate) const VALUE: &str = "value";
/// The name of the column of shredded values.
pub(crate) const TYPED_VALUE: &str = "typed_value";

/// The maximum nesting depth of shredded objects and arrays. We walk columns by recursion, so this
/// bounds the stack.
pub const MAX_SHREDDING_DEPTH: usize = 100;

/// The columns into which values are shredded.
///
/// *Variant Shredding, "Value Shredding".*
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ShreddingType {
    /// No columns. Values are stored as bytes.
    Unshredded,
    /// Primitive values of one type.
    Primitive(PrimitiveType),
    /// Arrays, whose elements have this shredding.
    Array(Box<Self>),
    /// Objects, with each shredded field's name and shredding.
    Object(Vec<(String, Self)>),
}

impl ShreddingType {
    /// Checks that names are unique, that decimal types are valid, and that the nesting is not too deep.
    fn check(&self, depth: usize) -> Result<()> {
        if depth > MAX_SHREDDING_DEPTH {
            return Err(too_deep());
        }
        match self {
            Self::Unshredded => Ok(()),
            Self::Primitive(primitive) => primitive.check(),
            Self::Array(element) => element.check(depth + 1),
            Self::Object(fields) => {
                let mut names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
                names.sort_unstable();
                if let Some(name) = repeated(&names) {
                    return Err(Error::argument(format!(
                        "a variant's field `{name}` is to be shredded twice"
                    )));
                }
                let mut fields = fields.iter();
                fields.try_for_each(|(_, field)| field.check(depth + 1))
            }
        }
    }
}

/// Returns true if an Arrow field is marked as a column of variants.
#[must_use]
pub fn is_variant(field: &Field) -> bool {
    let name = field.metadata().get(EXTENSION_NAME_KEY);
    name.is_some_and(|name| matches!(name.as_str(), EXTENSION_NAME | OLD_EXTENSION_NAME))
}

/// Returns a field of this storage type, marked as a column of variants.
#[must_use]
pub fn variant_field(name: &str, storage: DataType, nullable: bool) -> Field {
    with_extension(Field::new(name, storage, nullable), EXTENSION_NAME)
}

/// Returns the metadata that marks a field as a column of variants.
pub(crate) fn variant_metadata() -> HashMap<String, String> {
    extension_metadata(EXTENSION_NAME)
}

fn with_extension(field: Field, name: &str) -> Field {
    field.with_metadata(extension_metadata(name))
}

fn extension_metadata(name: &str) -> HashMap<String, String> {
    let entries = [(EXTENSION_NAME_KEY, name), (EXTENSION_METADATA_KEY, "")];
    let entries = entries.map(|(key, value)| (key.to_owned(), value.to_owned()));
    HashMap::from(entries)
}

#[cold]
fn too_deep() -> Error {
    Error::argument(format!(
        "a variant shredded into more than {MAX_SHREDDING_DEPTH} levels of columns"
    ))
}

#[cold]
fn of_arrow(error: ArrowError) -> Error {
    Error::argument(error.to_string())
}

/// Returns the first of these sorted names that occurs twice.
fn repeated<T: PartialEq>(names: &[T]) -> Option<&T> {
    let next = names.iter().skip(1);
    names.iter().zip(next).find(|(a, b)| a == b).map(|(a, _)| a)
}
