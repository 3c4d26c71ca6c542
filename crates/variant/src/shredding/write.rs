//! Values into shredded columns.

use std::sync::Arc;

use herringbone_arrow::array::builder::BinaryViewBuilder;
use herringbone_arrow::array::{ArrayRef, StructArray};
use herringbone_arrow::buffer::{BooleanBufferBuilder, NullBuffer};
use herringbone_arrow::schema::{DataType, Fields};
use herringbone_format::{Error, Result};

use super::columns::GroupBuilder;
use super::{ShreddingType, of_arrow};
use crate::metadata::Metadata;
use crate::variant::Variant;

/// Shreds values one after the other into the columns of an Arrow array.
///
/// *Variant Shredding.* A value is shredded where the column can hold it as the same value: numbers
/// of the exact class in any width, with the scale of the column; timestamps in either unit. The
/// rest stays in `value`.
///
/// ```
/// use herringbone_variant::shredding::{Shredder, ShreddingType};
/// use herringbone_variant::{PrimitiveType, VariantBuf};
///
/// let id = ShreddingType::Primitive(PrimitiveType::Int64);
/// let mut shredder = Shredder::new(ShreddingType::Object(vec![("id".to_owned(), id)]))?;
/// shredder.append(VariantBuf::from_json(r#"{"id": 7, "name": "x"}"#)?.as_variant())?;
/// shredder.append_null()?;
/// let array = shredder.finish()?;
/// assert_eq!(array.column_names(), ["metadata", "value", "typed_value"]);
/// # Ok::<(), herringbone_format::Error>(())
/// ```
pub struct Shredder {
    shredding: ShreddingType,
    fields: Fields,
    metadata: BinaryViewBuilder,
    group: GroupBuilder,
    nulls: BooleanBufferBuilder,
}

impl Shredder {
    /// Shreds like this.
    ///
    /// # Errors
    ///
    /// As [`ShreddingType::storage_type`].
    pub fn new(shredding: ShreddingType) -> Result<Self> {
        let DataType::Struct(fields) = shredding.storage_type()? else {
            return Err(Error::argument("a variant is stored as a struct"));
        };
        Ok(Self {
            fields,
            // Values of a column tend to have the same names.
            metadata: BinaryViewBuilder::new().with_deduplicate_strings(),
            group: GroupBuilder::new(&shredding),
            nulls: BooleanBufferBuilder::new(0),
            shredding,
        })
    }

    /// Appends a value.
    ///
    /// # Errors
    ///
    /// Bytes of the value that are wrong, as far as they are looked at: the array cannot be finished
    /// then.
    pub fn append(&mut self, variant: Variant<'_>) -> Result<()> {
        self.nulls.append(true);
        let metadata = variant.metadata().as_bytes();
        self.metadata.try_append_value(metadata).map_err(of_arrow)?;
        self.group.append(variant)
    }

    /// Appends a null, which is no value.
    ///
    /// # Errors
    ///
    /// None that bytes could cause.
    pub fn append_null(&mut self) -> Result<()> {
        self.nulls.append(false);
        let metadata = Metadata::EMPTY.as_bytes();
        self.metadata.try_append_value(metadata).map_err(of_arrow)?;
        if self.shredding == ShreddingType::Unshredded {
            // The column is not nullable; below a null anything may be.
            return self.group.append_value(&[0]);
        }
        self.group.append_missing();
        Ok(())
    }

    /// The array of all values, of the type [`ShreddingType::storage_type`].
    ///
    /// # Errors
    ///
    /// More elements of arrays than 31 bits count.
    pub fn finish(mut self) -> Result<StructArray> {
        let metadata: ArrayRef = Arc::new(self.metadata.finish());
        let mut columns = vec![metadata];
        columns.extend(self.group.columns(&self.shredding)?);
        let nulls = Some(NullBuffer::new(self.nulls.finish()));
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        StructArray::try_new(self.fields, columns, nulls).map_err(of_arrow)
    }
}
