//! Columns of geometries, and the metadata that describes them.

use std::sync::Arc;

use herringbone::geospatial::geoarrow::FORMER_EXTENSION_NAME;
use herringbone::geospatial::geoparquet::KEY;
use herringbone_arrow::schema::{Field, Schema, SchemaRef};

/// Returns true if a schema has a column of geometries at any depth.
pub(crate) fn has_geometries(schema: &Schema) -> bool {
    schema.flattened_fields().into_iter().any(is_geoarrow)
}

/// Returns true if the extension type of a field is one of GeoArrow.
#[must_use]
pub fn is_geoarrow(field: &Field) -> bool {
    let name = field.extension_type_name().unwrap_or_default();
    name.starts_with("geoarrow.") || name == FORMER_EXTENSION_NAME
}

/// Returns the schema without GeoParquet metadata.
pub(crate) fn without_geoparquet(schema: &SchemaRef) -> SchemaRef {
    let mut metadata = schema.metadata().clone();
    metadata.remove(KEY);
    Arc::new(Schema::new_with_metadata(schema.fields().clone(), metadata))
}
