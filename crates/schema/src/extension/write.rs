//! Finding the extension type of a written field.

use std::sync::Arc;

use herringbone_arrow::schema::Field;
use herringbone_format::Result;

use super::{AnnotatedField, BUILTIN, ExtensionMapping};

/// Returns a field's stored form according to the first extension type that recognizes it.
pub(crate) fn to_parquet(
    types: &[Arc<dyn ExtensionMapping>],
    field: &Field,
) -> Result<Option<AnnotatedField>> {
    if field.extension_type_name().is_none() {
        return Ok(None);
    }
    for extension in types.iter().map(AsRef::as_ref).chain(BUILTIN) {
        if let Some(annotated) = extension.to_parquet(field)? {
            return Ok(Some(annotated));
        }
    }
    Ok(None)
}
