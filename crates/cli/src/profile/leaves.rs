//! Flattens columns into their leaves.

use std::sync::Arc;

use herringbone::variant::shredding::is_variant;
use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{Array as _, ArrayRef, RecordBatch, make_array};
use herringbone_arrow::buffer::{BooleanBuffer, NullBuffer};
use herringbone_arrow::schema::{DataType, FieldRef};
use herringbone_filter::select;

use crate::base::failure::{Failure, Result};

/// A column or nested field without fields of its own.
pub(crate) struct Leaf {
    /// The names from the column down. Groups that only form a list or a map are left out, since
    /// users don't name them.
    pub(crate) path: Vec<String>,
    pub(crate) field: FieldRef,
    /// The values of all rows, or all elements if the leaf is in a list.
    pub(crate) array: ArrayRef,
    /// True if the leaf is in a list or map.
    pub(crate) is_in_list: bool,
}

/// Returns a batch's leaves in the order of its schema.
///
/// # Errors
/// Fails with [`Failure::Data`] if a type cannot be taken apart.
pub(crate) fn leaves(batch: &RecordBatch) -> Result<Vec<Leaf>> {
    let mut all = Vec::new();
    for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        let path = vec![field.name().clone()];
        push(&mut all, path, field, array, false)?;
    }
    Ok(all)
}

fn push(
    all: &mut Vec<Leaf>,
    path: Vec<String>,
    field: &FieldRef,
    array: &ArrayRef,
    is_in_list: bool,
) -> Result<()> {
    match field.data_type() {
        DataType::Struct(fields) if !is_variant(field) => {
            let structs = array.as_struct();
            for (field, column) in fields.iter().zip(structs.columns()) {
                let mut path = path.clone();
                path.push(field.name().clone());
                let column = within(column, structs.nulls())?;
                push(all, path, field, &column, is_in_list)?;
            }
            Ok(())
        }
        DataType::Map(entries, _) => {
            let maps = array.as_map();
            let (first, last) = ends(maps.value_offsets());
            let entries_array: ArrayRef = Arc::new(maps.entries().slice(first, last - first));
            push(all, path, entries, &entries_array, true)
        }
        DataType::List(item) => {
            let lists = array.as_list::<i32>();
            let (first, last) = ends(lists.value_offsets());
            let items = lists.values().slice(first, last - first);
            push(all, path, item, &items, true)
        }
        DataType::LargeList(item) => {
            let lists = array.as_list::<i64>();
            let (first, last) = ends(lists.value_offsets());
            let items = lists.values().slice(first, last - first);
            push(all, path, item, &items, true)
        }
        DataType::FixedSizeList(item, _) => push(all, path, item, &items_of_lists(array)?, true),
        _ => {
            all.push(Leaf {
                path,
                field: field.clone(),
                array: array.clone(),
                is_in_list,
            });
            Ok(())
        }
    }
}

/// Returns the elements of fixed-size lists, dropping the meaningless elements of null lists.
fn items_of_lists(array: &ArrayRef) -> Result<ArrayRef> {
    let lists = array.as_fixed_size_list();
    let items = lists.values();
    let Some(nulls) = lists.nulls().filter(|nulls| nulls.null_count() > 0) else {
        return Ok(items.clone());
    };
    let length = items.len() / nulls.len().max(1);
    let bits = BooleanBuffer::collect_bool(items.len(), |at| nulls.is_valid(at / length.max(1)));
    let rows = bits.count_set_bits();
    select(items, &bits, rows).map_err(|error| Failure::Data(error.message().to_owned()))
}

fn ends<O: TryInto<usize> + Copy>(offsets: &[O]) -> (usize, usize) {
    let at = |offset: Option<&O>| {
        offset
            .and_then(|offset| (*offset).try_into().ok())
            .unwrap_or(0)
    };
    (at(offsets.first()), at(offsets.last()))
}

/// Returns the array with the enclosing struct's nulls applied.
fn within(array: &ArrayRef, nulls: Option<&NullBuffer>) -> Result<ArrayRef> {
    let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else {
        return Ok(array.clone());
    };
    if matches!(
        array.data_type(),
        DataType::Null | DataType::RunEndEncoded(..)
    ) {
        return Ok(array.clone());
    }
    let nulls = NullBuffer::union(Some(nulls), array.nulls());
    let data = array.to_data().into_builder().nulls(nulls).build();
    Ok(make_array(
        data.map_err(|error| Failure::Data(error.to_string()))?,
    ))
}
