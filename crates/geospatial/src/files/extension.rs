//! The extension type.

use herringbone_arrow::schema::Field;
use herringbone_core::extension::{
    AnnotatedField, ExtensionField, ExtensionMapping, ExtensionType, StorageWriter, StoredField,
};
use herringbone_format::Result;

use super::write::{Geometries, meaning};
use super::{Geospatial, read};

impl ExtensionMapping for Geospatial {
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        let geoparquet = || self.known.of(stored.key_values);
        let field = read::field(stored, geoparquet)?;
        Ok(field.map(ExtensionField::of_storage))
    }

    fn to_parquet(&self, field: &Field) -> Result<Option<AnnotatedField>> {
        let meaning = meaning(field)?;
        Ok(meaning.map(|it| AnnotatedField::new(field.clone(), it.logical_type())))
    }
}

impl ExtensionType for Geospatial {
    fn storage_writer(&self, field: &Field) -> Result<Option<Box<dyn StorageWriter>>> {
        let Some(meaning) = meaning(field)? else {
            return Ok(None);
        };
        Ok(Some(Box::new(Geometries::new(field, &meaning)?)))
    }
}
