//! Implements the extension traits for [`Geospatial`].

use std::sync::Arc;

use herringbone_arrow::schema::{Field, Schema};
use herringbone_core::extension::{
    AnnotatedField, ExtensionField, ExtensionMapping, ExtensionType, StorageWriter, StoredField,
    WrittenField,
};
use herringbone_format::Result;

use super::geo_file::GeoFile;
use super::write::{Geometries, meaning};
use super::{GeoParquetOptions, Geospatial, read};
use crate::geoparquet::{GeoMetadata, KEY, Version};

impl ExtensionMapping for Geospatial {
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        let geoparquet = || self.known.of(stored.value_of(KEY)?);
        let field = read::field(stored, geoparquet)?;
        Ok(field.map(ExtensionField::of_storage))
    }

    fn to_parquet(&self, field: &Field) -> Result<Option<AnnotatedField>> {
        let meaning = meaning(field)?;
        Ok(meaning.map(|meaning| AnnotatedField::new(field.clone(), meaning.logical_type())))
    }
}

impl ExtensionType for Geospatial {
    fn for_file(&self, schema: &Schema) -> Result<Option<Arc<dyn ExtensionType>>> {
        let former = schema.metadata().get(KEY);
        let former = former.and_then(|text| GeoMetadata::parse_usable(text).ok());
        let former = former.map(|(former, _)| former);
        let options = match (&self.geoparquet, &former) {
            (Some(options), _) => options.clone(),
            (None, Some(former)) => GeoParquetOptions::new(true_version(former)),
            (None, None) => return Ok(None),
        };
        let file = GeoFile::new(self.clone(), schema, &options, former.as_ref())?;
        Ok(file.map(|file| -> Arc<dyn ExtensionType> { Arc::new(file) }))
    }

    fn storage_writer(&self, written: &WrittenField<'_>) -> Result<Option<Box<dyn StorageWriter>>> {
        let Some(meaning) = meaning(written.field)? else {
            return Ok(None);
        };
        let geometries = Geometries::new(written.field, &meaning, self.writes_iso)?;
        Ok(Some(Box::new(geometries)))
    }
}

/// Returns the metadata's actual version. Some writers record 1.0 but use features of 1.1, so we
/// don't trust the recorded version.
fn true_version(metadata: &GeoMetadata) -> Version {
    let has_covering = metadata.columns.iter().any(|(_, it)| it.covering.is_some());
    match has_covering {
        true => metadata.version.max(Version::V1_1),
        false => metadata.version,
    }
}
