//! FILE (specification, logical types, FILE): a reference to a file, or the file itself.
//!
//! ```text
//! optional group f (FILE) {                 Struct, arrow.parquet.file
//!   optional binary uri (STRING);             uri: Utf8
//!   optional int64 offset;                    offset: Int64
//!   optional int64 size;                      size: Int64
//!   optional binary content_type (STRING);    content_type: Utf8
//!   optional binary checksum (STRING);        checksum: Utf8
//!   optional binary inline;                   inline: Binary
//! }
//! ```
//!
//! We recognize fields by name, so they can be in any order, and some can be missing. Nothing is
//! fetched, so the arrays are the struct's own.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef};
use herringbone_format::{LogicalType, Result};

use super::{
    AnnotatedField, ExtensionField, ExtensionMapping, FILE_EXTENSION_NAME, StoredField, extended,
};
use crate::LOGICAL_TYPE_KEY;

#[derive(Debug)]
pub(super) struct File;

impl ExtensionMapping for File {
    /// Maps a FILE group with at least one known field. A single field is enough, because other
    /// writers might add further ones.
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        let is_file = stored.logical_type() == Some(&LogicalType::File)
            && fields(stored.storage).is_some_and(|fields| fields.iter().any(is_known));
        let field = is_file.then(|| extended(stored.storage, FILE_EXTENSION_NAME, Some("")));
        let Some(mut field) = field.flatten() else {
            return Ok(None);
        };
        // We drop the annotation from the metadata, because the extension type's name already
        // identifies a FILE.
        let mut metadata = field.metadata().clone();
        metadata.remove(LOGICAL_TYPE_KEY);
        field.set_metadata(metadata);
        Ok(Some(ExtensionField::of_storage(field)))
    }

    /// Annotates a struct only if it has no unknown fields, because not every reader accepts these
    /// in a FILE. The fields become OPTIONAL, as the specification requires.
    fn to_parquet(&self, field: &Field) -> Result<Option<AnnotatedField>> {
        if field.extension_type_name() != Some(FILE_EXTENSION_NAME) {
            return Ok(None);
        }
        let Some(fields) = fields(field).filter(|fields| is_a_file(fields)) else {
            return Ok(None);
        };
        let optional = |field: &FieldRef| match field.is_nullable() {
            true => field.clone(),
            false => Arc::new(Field::clone(field).with_nullable(true)),
        };
        let fields = fields.iter().map(optional).collect();
        let field = field.clone().with_data_type(DataType::Struct(fields));
        Ok(Some(AnnotatedField::new(field, LogicalType::File)))
    }
}

fn fields(field: &Field) -> Option<&[FieldRef]> {
    match field.data_type() {
        DataType::Struct(fields) => Some(fields),
        _ => None,
    }
}

/// Returns true if all fields are known and no name repeats.
fn is_a_file(fields: &[FieldRef]) -> bool {
    let repeats = |at: usize| {
        fields[..at]
            .iter()
            .any(|field| field.name() == fields[at].name())
    };
    !fields.is_empty() && fields.iter().all(is_known) && !(0..fields.len()).any(repeats)
}

/// Returns true if a field has a name from the specification and a matching type.
fn is_known(field: &FieldRef) -> bool {
    use DataType as T;
    let value = match field.data_type() {
        T::Dictionary(_, values) => values,
        other => other,
    };
    if field.metadata().contains_key(LOGICAL_TYPE_KEY) || field.extension_type_name().is_some() {
        return false;
    }
    match field.name().as_str() {
        "uri" | "content_type" | "checksum" => {
            matches!(value, T::Utf8 | T::LargeUtf8 | T::Utf8View)
        }
        "offset" | "size" => *value == T::Int64,
        "inline" => matches!(value, T::Binary | T::LargeBinary | T::BinaryView),
        _ => false,
    }
}
