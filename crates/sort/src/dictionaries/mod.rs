//! Keeps Arrow dictionaries out of the sort. While rows are being sorted, they only hold keys into one dictionary
//! shared by all batches. We put the dictionary back once the rows are sorted.
//!
//! ```text
//! batch ─ take_out ─► keys as UInt32 in place of dictionaries ─ put_back ─► batch with the dictionary of all
//! ```
//!
//! Note that the restored keys stay UInt32, since the original key types might be too narrow for the merged dictionary.

mod dictionary;
mod value_bytes;

use std::sync::Arc;

use herringbone_arrow::array::{Array as _, ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use herringbone_arrow::data::ArrayData;
use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use herringbone_format::{Error, Result};

use super::unsortable;
use dictionary::Dictionary;

/// A schema's dictionaries at any depth, in schema order.
pub(super) struct Dictionaries {
    /// The output schema, with the merged dictionaries.
    whole: SchemaRef,
    stored: SchemaRef,
    dictionaries: Vec<Dictionary>,
}

impl Dictionaries {
    pub(super) fn new(schema: &SchemaRef) -> Self {
        let mut dictionaries = Vec::new();
        let fields = schema.fields().iter();
        let fields: Vec<FieldRef> = fields
            .map(|field| stored_field(field, field.name(), &mut dictionaries))
            .collect();
        Self {
            whole: sorted_schema(schema),
            // We drop the metadata, because every run would store it.
            stored: Arc::new(Schema::new(fields)),
            dictionaries,
        }
    }

    /// Returns the schema of batches without their dictionaries.
    pub(super) fn stored_schema(&self) -> &SchemaRef {
        &self.stored
    }

    /// Returns the number of heap bytes that the dictionaries use.
    pub(super) fn heap_bytes(&self) -> usize {
        self.dictionaries
            .iter()
            .map(|dictionary| dictionary.bytes)
            .sum()
    }

    /// Replaces a batch's dictionaries with keys, merging their values into the shared dictionaries.
    ///
    /// # Errors
    /// Fails with Argument if a dictionary is ordered and batches have different ones.
    pub(super) fn take_out(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut next = self.dictionaries.iter_mut();
        let columns = batch.columns().iter().zip(self.stored.fields());
        let columns = columns.map(|(column, stored)| {
            if column.data_type() == stored.data_type() {
                return Ok(column.clone());
            }
            take_out(column.to_data(), stored.data_type(), &mut next).map(make_array)
        });
        let columns = columns.collect::<Result<_>>()?;
        with_columns(&self.stored, columns, batch.num_rows())
    }

    /// Replaces a batch's keys with dictionary arrays. They share one dictionary, holding the values of all batches so
    /// far.
    ///
    /// # Errors
    /// Fails with Limit if an array of dictionary values would be too long.
    pub(super) fn put_back(&mut self, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut next = self.dictionaries.iter_mut();
        let columns = batch.columns().iter().zip(self.whole.fields());
        let columns = columns.map(|(column, field)| {
            if column.data_type() == field.data_type() {
                return Ok(column.clone());
            }
            put_back(column.to_data(), field.data_type(), &mut next).map(make_array)
        });
        let columns = columns.collect::<Result<_>>()?;
        with_columns(&self.whole, columns, batch.num_rows())
    }
}

/// Returns the schema of sorted batches: the rows' schema, but with UInt32 keys in all dictionaries.
pub fn sorted_schema(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(whole_field);
    let metadata = schema.metadata().clone();
    Arc::new(Schema::new_with_metadata(
        fields.collect::<Fields>(),
        metadata,
    ))
}

fn with_columns(
    schema: &SchemaRef,
    columns: Vec<ArrayRef>,
    num_rows: usize,
) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(num_rows));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options).map_err(unsortable)
}

/// Returns the field without its dictionaries, appending them to `found`.
fn stored_field(field: &Field, column: &str, found: &mut Vec<Dictionary>) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Dictionary(..) => {
            found.push(Dictionary::new(
                column,
                field.dict_is_ordered() == Some(true),
            ));
            DataType::UInt32
        }
        data_type => {
            let children = children(data_type).into_iter();
            let children = children.map(|child| stored_field(child, column, found));
            with_children(data_type, children.collect())
        }
    };
    // We leave out the field metadata, since its promises are checked when the batch is written.
    Arc::new(Field::new(field.name(), data_type, field.is_nullable()))
}

/// Returns the field with 32-bit keys in its dictionaries.
fn whole_field(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Dictionary(_, values) => {
            DataType::Dictionary(Box::new(DataType::UInt32), values.clone())
        }
        data_type => {
            let children = children(data_type).into_iter();
            with_children(data_type, children.map(whole_field).collect())
        }
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}

/// Returns a type's child fields, in the order of its arrays' child data.
fn children(data_type: &DataType) -> Vec<&FieldRef> {
    match data_type {
        DataType::List(child)
        | DataType::LargeList(child)
        | DataType::ListView(child)
        | DataType::LargeListView(child)
        | DataType::FixedSizeList(child, _)
        | DataType::Map(child, _) => vec![child],
        DataType::Struct(fields) => fields.iter().collect(),
        DataType::RunEndEncoded(ends, values) => vec![ends, values],
        _ => Vec::new(),
    }
}

/// Returns the type with other child fields.
fn with_children(data_type: &DataType, children: Vec<FieldRef>) -> DataType {
    match (data_type, children.as_slice()) {
        (DataType::List(_), [child]) => DataType::List(child.clone()),
        (DataType::LargeList(_), [child]) => DataType::LargeList(child.clone()),
        (DataType::ListView(_), [child]) => DataType::ListView(child.clone()),
        (DataType::LargeListView(_), [child]) => DataType::LargeListView(child.clone()),
        (DataType::FixedSizeList(_, size), [child]) => {
            DataType::FixedSizeList(child.clone(), *size)
        }
        (DataType::Map(_, sorted), [child]) => DataType::Map(child.clone(), *sorted),
        (DataType::Struct(_), _) => DataType::Struct(children.into()),
        (DataType::RunEndEncoded(..), [ends, values]) => {
            DataType::RunEndEncoded(ends.clone(), values.clone())
        }
        _ => data_type.clone(),
    }
}

/// Replaces an array's dictionaries with keys. `next` must yield the dictionaries in schema order.
fn take_out<'a>(
    data: ArrayData,
    stored: &DataType,
    next: &mut impl Iterator<Item = &'a mut Dictionary>,
) -> Result<ArrayData> {
    if let DataType::Dictionary(key_type, _) = data.data_type() {
        let key_type = key_type.as_ref().clone();
        let dictionary = next.next().ok_or_else(too_few)?;
        return dictionary.take_out(&key_type, &data);
    }
    let types: Vec<DataType> = children(stored)
        .into_iter()
        .map(|field| field.data_type().clone())
        .collect();
    let parts = data.child_data().iter().zip(&types);
    let parts = parts.map(|(child, stored)| take_out(child.clone(), stored, next));
    let parts = parts.collect::<Result<_>>()?;
    let builder = data.into_builder().data_type(stored.clone());
    builder.child_data(parts).build().map_err(unsortable)
}

/// Replaces an array's keys with dictionaries. `next` must yield the dictionaries in schema order.
fn put_back<'a>(
    data: ArrayData,
    data_type: &DataType,
    next: &mut impl Iterator<Item = &'a mut Dictionary>,
) -> Result<ArrayData> {
    if let DataType::Dictionary(_, values) = data_type {
        let dictionary = next.next().ok_or_else(too_few)?;
        return dictionary.put_back(data, values);
    }
    let types: Vec<DataType> = children(data_type)
        .into_iter()
        .map(|field| field.data_type().clone())
        .collect();
    let parts = data.child_data().iter().zip(&types);
    let parts = parts.map(|(child, data_type)| put_back(child.clone(), data_type, next));
    let parts = parts.collect::<Result<_>>()?;
    let builder = data.into_builder().data_type(data_type.clone());
    builder.child_data(parts).build().map_err(unsortable)
}

#[cold]
fn too_few() -> Error {
    Error::argument("the batch has more dictionaries than the file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_is_made_again_with_other_children() {
        let named = |name: &str, data_type| Arc::new(Field::new(name, data_type, true));
        let child = |name: &str| named(name, DataType::Utf8);
        let ends = || named("ends", DataType::Int16);
        let types = |name: &str| {
            [
                DataType::List(child(name)),
                DataType::LargeList(child(name)),
                DataType::ListView(child(name)),
                DataType::LargeListView(child(name)),
                DataType::FixedSizeList(child(name), 3),
                DataType::Map(child(name), true),
                DataType::Struct(vec![child(name), child("second")].into()),
                DataType::RunEndEncoded(ends(), child(name)),
            ]
        };
        for (old, new) in types("old").into_iter().zip(types("new")) {
            let others = children(&new).into_iter().cloned().collect();
            assert_eq!(with_children(&old, others), new);
        }
    }
}
