//! Geometry columns and the metadata describing them.

use std::sync::Arc;

use herringbone::geospatial::geoarrow::FORMER_EXTENSION_NAME;
use herringbone::geospatial::geoparquet::{GeoMetadata, KEY};
use herringbone_arrow::schema::{Field, Schema, SchemaRef};

/// Returns true if a schema has a geometry column at any depth.
pub(crate) fn has_geometries(schema: &Schema) -> bool {
    schema.flattened_fields().into_iter().any(is_geoarrow)
}

/// Returns true if the field's extension type belongs to GeoArrow.
#[must_use]
pub fn is_geoarrow(field: &Field) -> bool {
    let name = field.extension_type_name().unwrap_or_default();
    name.starts_with("geoarrow.") || name == FORMER_EXTENSION_NAME
}

/// Returns the schema without its GeoParquet metadata.
pub(crate) fn without_geoparquet(schema: &SchemaRef) -> SchemaRef {
    let mut metadata = schema.metadata().clone();
    metadata.remove(KEY);
    Arc::new(Schema::new_with_metadata(schema.fields().clone(), metadata))
}

/// Returns the first defect in GeoParquet metadata that turns a written column, or all of them,
/// into plain bytes.
pub(crate) fn unusable(text: Option<&str>, schema: &Schema) -> Option<String> {
    let Some(text) = text else {
        return Some("the GeoParquet metadata is not UTF-8".into());
    };
    let (usable, defects) = match GeoMetadata::parse_usable(text) {
        Ok(parsed) => parsed,
        Err(error) => return Some(error.message().to_owned()),
    };
    let mut plain = schema.fields().iter().filter(|field| !is_geoarrow(field));
    let plain_defect = plain.find_map(|field| {
        let place = format!("columns.{}", field.name());
        defects.iter().find(|defect| {
            let member = defect.message().strip_prefix(&place);
            member.is_some_and(|rest| rest.starts_with(['.', ' ']))
        })
    });
    let general_defect = defects.first().filter(|_| usable.columns.is_empty());
    plain_defect
        .or(general_defect)
        .map(|defect| defect.message().to_owned())
}
