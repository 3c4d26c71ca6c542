//! VARIANT columns of Parquet files, as an extension type of the data path.
//!
//! ```text
//! READ    VARIANT group ─ VariantExtension ─► struct of metadata and value, arrow.parquet.variant
//!         its columns that a path needs ─ VariantGet ─► typed column, or variants
//! WRITE   arrow.parquet.variant ─ VariantExtension ─► metadata, value and, if it is shredded, typed_value
//! ```
//!
//! Without any of this, a VARIANT group is read and written as it is stored, shredded or not.
//!
//! ```
//! use herringbone_read::ReadOptions;
//! use herringbone_write::WriteOptions;
//! use herringbone_variant::PrimitiveType;
//! use herringbone_variant::extension::{Shredding, VariantExtension, VariantGet};
//!
//! let read = ReadOptions::new()
//!     .columns(["id"])
//!     .extension(VariantExtension::new())
//!     .extension_column(
//!         "city",
//!         ["event"],
//!         VariantGet::new("$.user.city".parse()?).as_type(PrimitiveType::String),
//!     );
//! let write = WriteOptions::new()
//!     .extension(VariantExtension::new().shredding(Shredding::Infer(Default::default())));
//! # Ok::<(), herringbone_format::Error>(())
//! ```

mod get;
mod predicate;
mod write;

use std::sync::Arc;

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::schema::{DataType, Field};
use herringbone_core::extension::{
    AnnotatedField, ExtensionField, ExtensionMapping, ExtensionType, StorageWriter, StoredField,
    WrittenField,
};
use herringbone_format::{LogicalType, Result};
use herringbone_schema::LOGICAL_TYPE_KEY;

use crate::shredding::{
    InferOptions, METADATA, ShreddingType, UnshredOptions, VALUE, VariantArray, is_variant,
    metadata_type, unshredded_type, variant_metadata,
};

pub use get::VariantGet;

/// VARIANT groups as arrays of unshredded values, and such arrays as VARIANT groups.
///
/// Reading: a group becomes a struct of `metadata` and `value`, with the name `arrow.parquet.variant`,
/// whether it is shredded or not. Values that are not shredded are not copied. Groups that are no
/// variants by the specification are an error.
///
/// Writing: an array of that name, or of its older one `parquet.variant`, becomes a VARIANT group of
/// version 1, shredded as [`Shredding`] says. Its storage may have any form that the Arrow type allows.
#[derive(Debug, Clone, Default)]
pub struct VariantExtension {
    unshred: UnshredOptions,
    shredding: Shredding,
    of_columns: Vec<(String, Shredding)>,
}

/// How values are shredded when they are written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Shredding {
    /// As the array is.
    #[default]
    AsStored,
    /// Not at all.
    None,
    /// Into these columns.
    As(ShreddingType),
    /// Into columns that the values of the first batch with rows suggest.
    Infer(InferOptions),
}

impl VariantExtension {
    /// Strict, and shredded as arrays are.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses how shredded values are put together.
    #[must_use]
    pub fn unshred(mut self, options: UnshredOptions) -> Self {
        self.unshred = options;
        self
    }

    /// Chooses how values are shredded that are written.
    #[must_use]
    pub fn shredding(mut self, shredding: Shredding) -> Self {
        self.shredding = shredding;
        self
    }

    /// The same for the fields of this name, at any depth.
    #[must_use]
    pub fn shredding_of(mut self, name: impl Into<String>, shredding: Shredding) -> Self {
        self.of_columns.push((name.into(), shredding));
        self
    }
}

impl ExtensionMapping for VariantExtension {
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        let storage = stored.storage;
        if !is_variant_group(stored) || !stored.is_whole() {
            return Ok(None);
        }
        ShreddingType::of_storage_type(storage.data_type())?;
        let part = |name: &str, data_type| Field::new(name, data_type, false);
        let parts = vec![
            part(METADATA, metadata_type(storage.data_type())),
            part(VALUE, unshredded_type(storage.data_type())),
        ];
        let field = storage
            .clone()
            .with_data_type(DataType::Struct(parts.into()));
        Ok(Some(ExtensionField::of_arrays(named(field))))
    }

    /// The annotation is that of the library.
    fn to_parquet(&self, _: &Field) -> Result<Option<AnnotatedField>> {
        Ok(None)
    }
}

impl ExtensionType for VariantExtension {
    fn make_array(&self, storage: &ArrayRef, _: &Field) -> Result<ArrayRef> {
        let array = VariantArray::try_new(storage)?;
        Ok(Arc::new(array.unshred(&self.unshred)?))
    }

    fn storage_writer(&self, written: &WrittenField<'_>) -> Result<Option<Box<dyn StorageWriter>>> {
        let field = written.field;
        if !is_variant(field) {
            return Ok(None);
        }
        let of_name = self.of_columns.iter().rev();
        let mut of_name = of_name.filter(|(name, _)| name == field.name());
        let shredding = of_name.next().map_or(&self.shredding, |(_, it)| it);
        let writer = write::VariantWriter::new(field, shredding.clone(), self.unshred.clone())?;
        Ok(Some(Box::new(writer)))
    }
}

/// Whether a field of a file is of variants: by its annotation, or by the name that `ARROW:schema` gives it.
fn is_variant_group(stored: &StoredField<'_>) -> bool {
    if !stored.node().is_group() {
        // The annotation may not stand on a column.
        return false;
    }
    match stored.logical_type() {
        Some(LogicalType::Variant {
            specification_version,
        }) => specification_version.is_none_or(|version| version == 1),
        Some(_) => false,
        None => is_variant(stored.storage),
    }
}

/// The field with the name of the extension type, and without another word for the same.
fn named(field: Field) -> Field {
    let mut metadata = field.metadata().clone();
    metadata.remove(LOGICAL_TYPE_KEY);
    metadata.extend(variant_metadata());
    field.with_metadata(metadata)
}
