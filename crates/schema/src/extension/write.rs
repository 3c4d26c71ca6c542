//! Which extension type a field that is written has.

use std::sync::Arc;

use herringbone_arrow::schema::Field;
use herringbone_format::Result;

use super::builtin::{Json, Uuid};
use super::file::File;
use super::{AnnotatedField, ExtensionMapping};

/// How a field is stored if an extension type knows it: the first that does counts.
pub(crate) fn to_parquet(
    types: &[Arc<dyn ExtensionMapping>],
    field: &Field,
) -> Result<Option<AnnotatedField>> {
    if field.extension_type_name().is_none() {
        return Ok(None);
    }
    let builtin: [&dyn ExtensionMapping; 3] = [&Uuid, &Json, &File];
    for extension in types.iter().map(AsRef::as_ref).chain(builtin) {
        if let Some(annotated) = extension.to_parquet(field)? {
            return Ok(Some(annotated));
        }
    }
    Ok(None)
}
