//! Reads and writes VARIANT columns in Parquet files, as an extension type.
//!
//! ```text
//! READ    VARIANT group ─ VariantExtension ─► struct of metadata and value, arrow.parquet.variant
//!         its columns that a path needs ─ VariantGet ─► typed column, or variants
//! WRITE   arrow.parquet.variant ─ VariantExtension ─► metadata, value and, if it is shredded, typed_value
//! ```
//!
//! Without these extensions, a VARIANT group is read and written as it is stored, whether it is
//! shredded or not.
//!
//! ```
//! use herringbone::ReadOptions;
//! use herringbone::WriteOptions;
//! use herringbone::variant::PrimitiveType;
//! use herringbone::variant::extension::{Shredding, VariantExtension, VariantGet};
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
//! # Ok::<(), herringbone::Error>(())
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

/// An extension that reads VARIANT groups as arrays of unshredded values, and writes such arrays as
/// VARIANT groups.
///
/// When you read, each group becomes a struct of `metadata` and `value` with the extension name
/// `arrow.parquet.variant`, whether it is shredded or not. Values that are not shredded are not
/// copied. A group that is not a variant according to the specification is an error.
///
/// When you write, an array with that name, or with the older name `parquet.variant`, becomes a
/// VARIANT group of version 1. It is shredded according to [`Shredding`]. The array's storage can
/// have any form that the Arrow type allows.
///
/// ```
/// # use std::sync::Arc;
/// # use herringbone::arrow::array::{Array, RecordBatch, cast::AsArray, types::Int64Type};
/// # use herringbone::arrow::schema::Schema;
/// # use herringbone::variant::VariantBuf;
/// # use herringbone::variant::shredding::{Shredder, ShreddingType, variant_field};
/// # let mut events = Shredder::new(ShreddingType::Unshredded)?;
/// # for json in [r#"{"user": {"id": 7}}"#, r#"{"user": {"id": 8}}"#, "null"] {
/// #     events.append(VariantBuf::from_json(json)?.as_variant())?;
/// # }
/// # let events = events.finish()?;
/// # let field = variant_field("event", events.data_type().clone(), true);
/// # let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(events)])?;
/// use herringbone::variant::extension::{Shredding, VariantExtension};
/// use herringbone::variant::shredding::InferOptions;
/// use herringbone::{ParquetFile, ReadOptions, WriteOptions, Writer};
///
/// // `batch` has the column `event` with JSON such as `{"user": {"id": 7}}`.
/// let shredding = Shredding::Infer(InferOptions::default());
/// let options = WriteOptions::new().extension(VariantExtension::new().shredding(shredding));
/// let mut file = Vec::new();
/// let mut writer = Writer::new(&mut file, batch.schema(), options)?;
/// writer.write(&batch)?;
/// writer.finish()?;
///
/// let file = ParquetFile::from_bytes(file)?;
/// let plan = file.plan(&ReadOptions::new().extension(VariantExtension::new()))?;
/// assert_eq!(plan.schema().field(0).extension_type_name(), Some("arrow.parquet.variant"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct VariantExtension {
    unshred: UnshredOptions,
    shredding: Shredding,
    column_shreddings: Vec<(String, Shredding)>,
}

/// The shredding strategy for written values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Shredding {
    /// The values stay shredded as they are in the array.
    #[default]
    AsStored,
    /// The values are not shredded.
    None,
    /// The values are shredded into these columns.
    As(ShreddingType),
    /// The values are shredded into columns inferred from the first non-empty batch.
    Infer(InferOptions),
}

impl VariantExtension {
    /// Creates a strict extension that keeps the arrays' shredding.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how shredded values are reconstructed.
    #[must_use]
    pub fn unshred(mut self, options: UnshredOptions) -> Self {
        self.unshred = options;
        self
    }

    /// Sets how written values are shredded.
    #[must_use]
    pub fn shredding(mut self, shredding: Shredding) -> Self {
        self.shredding = shredding;
        self
    }

    /// Sets how to shred fields with this name, at any depth.
    #[must_use]
    pub fn shredding_of(mut self, name: impl Into<String>, shredding: Shredding) -> Self {
        self.column_shreddings.push((name.into(), shredding));
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

    /// Leaves the annotation to the library.
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
        let by_name = self.column_shreddings.iter().rev();
        let mut by_name = by_name.filter(|(name, _)| name == field.name());
        let shredding = by_name.next().map_or(&self.shredding, |(_, it)| it);
        let writer = write::VariantWriter::new(field, shredding.clone(), self.unshred.clone())?;
        Ok(Some(Box::new(writer)))
    }
}

/// Returns true if a field of a file contains variants. Its annotation decides, or without one, its
/// extension name in `ARROW:schema`.
fn is_variant_group(stored: &StoredField<'_>) -> bool {
    if !stored.node().is_group() {
        // The annotation is only allowed on a group, so a plain column is not a variant.
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

/// Returns the field with the extension type's name. We drop the logical type, since it would be
/// redundant.
fn named(field: Field) -> Field {
    let mut metadata = field.metadata().clone();
    metadata.remove(LOGICAL_TYPE_KEY);
    metadata.extend(variant_metadata());
    field.with_metadata(metadata)
}
