//! Determines how we write a field with geometries.

use std::sync::Arc;

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use herringbone_arrow::schema::{Field, FieldRef};
use herringbone_core::extension::StorageWriter;
use herringbone_format::{KeyValue, LogicalType, Result};
use herringbone_schema::{LOGICAL_TYPE_KEY, asked_logical_type};

use super::iso::iso;
use super::read::is_binary;
use crate::Edges;
use crate::crs::{Crs, CrsForm};
use crate::geoarrow::{EXTENSION_NAME, ExtensionCrs, ExtensionMetadata, FORMER_EXTENSION_NAME};

/// Parses a WKB field's extension metadata. Returns `None` for other fields.
///
/// # Errors
/// Fails if the metadata cannot be parsed.
pub(super) fn meaning(field: &Field) -> Result<Option<ExtensionMetadata>> {
    if !is_geometry(field) || !is_binary(field.data_type()) {
        return Ok(None);
    }
    let text = field.extension_type_metadata().unwrap_or_default();
    ExtensionMetadata::parse(text).map(Some)
}

/// Returns true if a field has the extension type of well-known binary, whatever its array type is.
pub(super) fn is_geometry(field: &Field) -> bool {
    matches!(
        field.extension_type_name(),
        Some(EXTENSION_NAME | FORMER_EXTENSION_NAME)
    )
}

/// Returns true if a field's metadata requests an annotation as GEOMETRY or GEOGRAPHY.
///
/// # Errors
/// Fails if the metadata cannot be parsed.
pub(super) fn has_annotation(field: &Field) -> Result<bool> {
    Ok(matches!(
        asked_logical_type(field)?,
        Some(LogicalType::Geometry { .. } | LogicalType::Geography { .. })
    ))
}

/// A writer for one field's geometries.
pub(super) struct Geometries {
    pub(super) field: FieldRef,
    /// The CRS definition for the annotation to refer to.
    pub(super) definition: Option<KeyValue>,
    writes_iso: bool,
}

impl Geometries {
    pub(super) fn new(
        field: &Field,
        meaning: &ExtensionMetadata,
        writes_iso: bool,
    ) -> Result<Self> {
        let asked = asked_logical_type(field)?;
        let is_geospatial = has_annotation(field)?;
        let mut field = field.clone();
        let mut definition = None;
        if let Some(asked) = asked.filter(|_| is_geospatial) {
            match kept(&asked, meaning)? {
                Some(pair) => definition = pair,
                // The extension type wins, since users of Arrow change that and not the annotation.
                None => {
                    let mut pairs = field.metadata().clone();
                    pairs.remove(LOGICAL_TYPE_KEY);
                    field.set_metadata(pairs);
                }
            }
        }
        let field = Arc::new(field);
        Ok(Self {
            field,
            definition,
            writes_iso,
        })
    }
}

/// Returns the field without an annotation of its own, since the extension type is sufficient.
pub(super) fn by_extension_type(field: &Field) -> FieldRef {
    without(field, &[LOGICAL_TYPE_KEY])
}

/// Returns the field as plain bytes, stripped of annotation and extension type.
pub(super) fn as_bytes(field: &Field) -> FieldRef {
    without(
        field,
        &[
            LOGICAL_TYPE_KEY,
            EXTENSION_TYPE_NAME_KEY,
            EXTENSION_TYPE_METADATA_KEY,
        ],
    )
}

fn without(field: &Field, keys: &[&str]) -> FieldRef {
    let mut pairs = field.metadata().clone();
    for &key in keys {
        pairs.remove(key);
    }
    Arc::new(field.clone().with_metadata(pairs))
}

/// Checks if an annotation agrees with the extension type, even if the CRS has another form there.
/// If so, we keep the annotation. If it refers to a key of the file's metadata, this also returns
/// the definition of the CRS.
fn kept(asked: &LogicalType, meaning: &ExtensionMetadata) -> Result<Option<Option<KeyValue>>> {
    if Edges::of(asked)? != Some(meaning.edges) {
        return Ok(None);
    }
    let crs = Crs::of(asked);
    if let (CrsForm::ProjjsonKey(key), Some(ExtensionCrs::Projjson(definition))) =
        (crs.form(), &meaning.crs)
    {
        return Ok(Some(Some(KeyValue::new(key, definition.as_bytes()))));
    }
    let is_same = crs.is_same(&Crs::of(&meaning.logical_type()));
    Ok(is_same.then_some(None))
}

impl StorageWriter for Geometries {
    fn fields(&mut self, _: &ArrayRef) -> Result<Vec<FieldRef>> {
        Ok(vec![self.field.clone()])
    }

    fn arrays(&mut self, array: &ArrayRef) -> Result<Vec<ArrayRef>> {
        Ok(vec![match self.writes_iso {
            true => iso(array)?,
            false => array.clone(),
        }])
    }

    fn key_values(&mut self) -> Result<Vec<KeyValue>> {
        Ok(self.definition.take().into_iter().collect())
    }
}
