//! Converts arrays of variants to the form in which files store them.

use std::sync::Arc;

use herringbone_arrow::array::{ArrayRef, StructArray};
use herringbone_arrow::schema::{DataType, Field, FieldRef};
use herringbone_core::extension::StorageWriter;
use herringbone_format::Result;

use super::{Shredding, named};
use crate::shredding::{
    METADATA, ShreddingType, TYPED_VALUE, UnshredOptions, VALUE, VariantArray, infer_from,
};

/// Converts one field's variants to their storage.
pub(super) struct VariantWriter {
    field: Field,
    shredding: Shredding,
    unshred: UnshredOptions,
    /// The requested shredding, or `None` to store arrays unchanged.
    chosen: Option<ShreddingType>,
}

impl VariantWriter {
    pub(super) fn new(
        field: &Field,
        shredding: Shredding,
        unshred: UnshredOptions,
    ) -> Result<Self> {
        ShreddingType::of_storage_type(field.data_type())?;
        if let Shredding::As(shredding) = &shredding {
            shredding.storage_type()?;
        }
        Ok(Self {
            field: field.clone(),
            shredding,
            unshred,
            chosen: None,
        })
    }

    fn choose(&self, first: &ArrayRef) -> Result<ShreddingType> {
        Ok(match &self.shredding {
            Shredding::AsStored => ShreddingType::of_storage_type(self.field.data_type())?,
            Shredding::None => ShreddingType::Unshredded,
            Shredding::As(shredding) => shredding.clone(),
            Shredding::Infer(options) => {
                infer_from(&VariantArray::try_new(first)?, options, &self.unshred)?
            }
        })
    }
}

impl StorageWriter for VariantWriter {
    fn fields(&mut self, first: &ArrayRef) -> Result<Vec<FieldRef>> {
        let shredding = self.choose(first)?;
        let stored = self.field.data_type();
        let is_same = match self.shredding {
            Shredding::AsStored => true,
            // If a shredding was requested, we have to apply it value by value.
            _ => {
                shredding == ShreddingType::Unshredded
                    && ShreddingType::of_storage_type(stored)? == ShreddingType::Unshredded
            }
        };
        // A lenient write repairs values that break the rules, so we can't keep the array.
        let is_kept = is_same && is_in_order(stored) && !self.unshred.lenient;
        let data_type = match is_kept {
            true => stored.clone(),
            false => {
                let data_type = shredding.storage_type()?;
                self.chosen = Some(shredding);
                data_type
            }
        };
        let field = named(self.field.clone().with_data_type(data_type));
        Ok(vec![Arc::new(field)])
    }

    fn arrays(&mut self, array: &ArrayRef) -> Result<Vec<ArrayRef>> {
        let Some(shredding) = &self.chosen else {
            return Ok(vec![array.clone()]);
        };
        let array = VariantArray::try_new(array)?;
        let shredded: StructArray = array.shred(shredding.clone(), &self.unshred)?;
        Ok(vec![Arc::new(shredded)])
    }
}

/// Returns true if all readers accept the columns in this order and form. The order is `metadata`,
/// `value`, `typed_value`. `value` must always be present, and fields and elements must not be
/// nullable.
fn is_in_order(storage: &DataType) -> bool {
    let DataType::Struct(fields) = storage else {
        return false;
    };
    match fields.split_first() {
        // We write an unshredded value as REQUIRED, so its nullability doesn't matter here.
        Some((metadata, [value])) => metadata.name() == METADATA && value.name() == VALUE,
        Some((metadata, group)) => metadata.name() == METADATA && is_group_in_order(group),
        None => false,
    }
}

fn is_group_in_order(fields: &[FieldRef]) -> bool {
    let is = |field: &FieldRef, name: &str| field.name() == name && field.is_nullable();
    match fields {
        [value] => is(value, VALUE),
        [value, typed] => is(value, VALUE) && is(typed, TYPED_VALUE) && is_typed_in_order(typed),
        _ => false,
    }
}

fn is_typed_in_order(typed: &Field) -> bool {
    let group = |field: &FieldRef| match field.data_type() {
        DataType::Struct(fields) => !field.is_nullable() && is_group_in_order(fields),
        _ => false,
    };
    match typed.data_type() {
        DataType::Struct(fields) => fields.iter().all(group),
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element) => group(element),
        _ => true,
    }
}
