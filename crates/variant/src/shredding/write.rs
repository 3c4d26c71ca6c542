//! Writes values into shredded columns.

use std::sync::Arc;

use herringbone_arrow::array::builder::BinaryViewBuilder;
use herringbone_arrow::array::{Array as _, ArrayRef, StructArray};
use herringbone_arrow::buffer::NullBufferBuilder;
use herringbone_arrow::schema::{DataType, Fields};
use herringbone_format::{Error, Result};

use super::columns::GroupBuilder;
use super::{ShreddingType, of_arrow};
use crate::metadata::Metadata;
use crate::variant::Variant;

/// Shreds values one after another into the columns of an Arrow array.
///
/// *Variant Shredding.* A value is shredded if the column can represent it exactly. Integers and
/// decimals are converted to the column's type and scale, and timestamps to its unit. All other
/// values stay in `value`.
///
/// ```
/// use herringbone::variant::shredding::{Shredder, ShreddingType};
/// use herringbone::variant::{PrimitiveType, VariantBuf};
///
/// let id = ShreddingType::Primitive(PrimitiveType::Int64);
/// let mut shredder = Shredder::new(ShreddingType::Object(vec![("id".to_owned(), id)]))?;
/// shredder.append(VariantBuf::from_json(r#"{"id": 7, "name": "x"}"#)?.as_variant())?;
/// shredder.append_null()?;
/// let array = shredder.finish()?;
/// assert_eq!(array.column_names(), ["metadata", "value", "typed_value"]);
/// # Ok::<(), herringbone::Error>(())
/// ```
pub struct Shredder {
    fields: Fields,
    metadata: MetadataColumn,
    group: GroupBuilder,
    nulls: NullBufferBuilder,
    /// True if an append has failed. It might have appended to some of the columns only, so the
    /// array can't be finished.
    has_failed: bool,
}

enum MetadataColumn {
    /// The metadata of each appended value.
    OfValues(BinaryViewBuilder),
    /// The metadata of all future values.
    Known(ArrayRef),
}

impl Shredder {
    /// Creates a shredder for this shredding type.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`ShreddingType::storage_type`].
    pub fn new(shredding: ShreddingType) -> Result<Self> {
        // Values in a column often share their metadata, so we store each distinct one once.
        let metadata = BinaryViewBuilder::new().with_deduplicate_strings();
        Self::with_metadata(&shredding, MetadataColumn::OfValues(metadata), 0)
    }

    /// Creates a shredder for values with this metadata. It has one view per row, and no nulls.
    pub(super) fn of_metadata(shredding: &ShreddingType, metadata: ArrayRef) -> Result<Self> {
        let rows = metadata.len();
        Self::with_metadata(shredding, MetadataColumn::Known(metadata), rows)
    }

    fn with_metadata(
        shredding: &ShreddingType,
        metadata: MetadataColumn,
        rows: usize,
    ) -> Result<Self> {
        let DataType::Struct(fields) = shredding.storage_type()? else {
            return Err(Error::argument("a variant must be stored as a struct"));
        };
        Ok(Self {
            fields,
            metadata,
            group: GroupBuilder::with_capacity(shredding, rows),
            nulls: NullBufferBuilder::new(rows),
            has_failed: false,
        })
    }

    /// Appends a value.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if the shredder meets invalid
    /// bytes in the value, and with [Argument](herringbone_format::ErrorKind::Argument) if arrays
    /// have 2^31 or more elements in total. After an error you cannot finish the array.
    pub fn append(&mut self, variant: Variant<'_>) -> Result<()> {
        let row = self.start(true, variant.metadata())?;
        let metadata = variant.metadata();
        let appended = self.group.append(row, &metadata, variant.as_bytes());
        self.has_failed |= appended.is_err();
        appended
    }

    /// Starts a row and returns its index. This appends to the metadata and to the nulls, but not
    /// to the group.
    fn start(&mut self, is_there: bool, metadata: Metadata<'_>) -> Result<usize> {
        let row = self.nulls.len();
        self.nulls.append(is_there);
        if let MetadataColumn::OfValues(column) = &mut self.metadata {
            let metadata = metadata.as_bytes();
            column.try_append_value(metadata).map_err(of_arrow)?;
        }
        Ok(row)
    }

    /// Appends a null, which is not a value.
    ///
    /// # Errors
    ///
    /// Fails only if the column becomes too large.
    pub fn append_null(&mut self) -> Result<()> {
        let row = self.start(false, Metadata::EMPTY)?;
        let is_shredded = self.fields.len() > 2;
        match is_shredded {
            true => Ok(()),
            // The column isn't nullable, so it needs some value. Any bytes are fine below a null.
            false => self.group.append_value(row, &[0]),
        }
    }

    /// Returns the array of all values, whose type is [`ShreddingType::storage_type`].
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if a value was appended only
    /// in part.
    pub fn finish(mut self) -> Result<StructArray> {
        if self.has_failed {
            return Err(Error::argument(
                "the column contains a variant that could not be shredded",
            ));
        }
        let rows = self.nulls.len();
        let metadata = match self.metadata {
            MetadataColumn::OfValues(mut metadata) => Arc::new(metadata.finish()),
            MetadataColumn::Known(metadata) => metadata,
        };
        let mut columns = vec![metadata];
        let group_fields = self.fields.get(1..).unwrap_or_default();
        columns.extend(self.group.finish(rows, group_fields, &mut None)?);
        StructArray::try_new(self.fields, columns, self.nulls.finish()).map_err(of_arrow)
    }
}
