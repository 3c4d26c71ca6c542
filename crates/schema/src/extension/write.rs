//! Which extension type a field that is written has.

use std::sync::Arc;

use herringbone_arrow::schema::Field;
use herringbone_format::Result;

use super::{AnnotatedField, BUILTIN, ExtensionMapping};

/// How a field is stored if an extension type knows it: the first that does counts.
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
