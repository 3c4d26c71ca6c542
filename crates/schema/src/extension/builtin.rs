//! The Arrow extension types for UUID and JSON.

use herringbone_arrow::schema::{DataType, Field};
use herringbone_format::{LogicalType, Result};

use super::{AnnotatedField, ExtensionField, ExtensionMapping, StoredField, extended};
use crate::resolved_type::ResolvedType;

/// UUID (specification, logical types, UUID) as `arrow.uuid`. In both formats, a value is 16
/// big-endian bytes.
#[derive(Debug)]
pub(super) struct Uuid;

const UUID: &str = "arrow.uuid";

impl ExtensionMapping for Uuid {
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        let is_uuid = resolved_type(stored) == Some(ResolvedType::Uuid);
        let field = is_uuid.then(|| extended(stored.storage, UUID, None));
        Ok(field.flatten().map(ExtensionField::of_storage))
    }

    fn to_parquet(&self, field: &Field) -> Result<Option<AnnotatedField>> {
        let is_uuid = field.extension_type_name() == Some(UUID)
            && *field.data_type() == DataType::FixedSizeBinary(16);
        Ok(is_uuid.then(|| AnnotatedField::new(field.clone(), LogicalType::Uuid)))
    }
}

/// JSON (specification, logical types, JSON) as `arrow.json`. In both formats, a value is a UTF-8
/// document.
#[derive(Debug)]
pub(super) struct Json;

const JSON: &str = "arrow.json";

impl ExtensionMapping for Json {
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        let is_json = resolved_type(stored) == Some(ResolvedType::Json);
        let field = is_json.then(|| extended(stored.storage, JSON, Some("")));
        Ok(field.flatten().map(ExtensionField::of_storage))
    }

    fn to_parquet(&self, field: &Field) -> Result<Option<AnnotatedField>> {
        use DataType::{LargeUtf8, Utf8, Utf8View};
        let is_json = field.extension_type_name() == Some(JSON)
            && matches!(field.data_type(), Utf8 | LargeUtf8 | Utf8View);
        Ok(is_json.then(|| AnnotatedField::new(field.clone(), LogicalType::Json)))
    }
}

fn resolved_type(stored: &StoredField<'_>) -> Option<ResolvedType> {
    let leaf = stored.leaf()?;
    let (physical, length) = (leaf.physical_type, leaf.type_length);
    Some(ResolvedType::of(stored.element(), physical, length))
}
