//! Rebuilds structs, lists and maps around replaced arrays.

use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray,
    OffsetSizeTrait, StructArray,
};
use herringbone_arrow::schema::{DataType, Field, FieldRef};
use herringbone_format::{Error, Result};

use super::invalid;

pub(super) fn with_type(field: &FieldRef, data_type: DataType) -> FieldRef {
    Arc::new(Field::clone(field).with_data_type(data_type))
}

pub(super) fn struct_of(array: &ArrayRef) -> Result<&StructArray> {
    let array = array.as_struct_opt();
    array.ok_or_else(|| Error::argument("internal error: expected a struct array"))
}

pub(super) fn with_columns(
    data_type: &DataType,
    whole: &StructArray,
    columns: Vec<ArrayRef>,
) -> Result<ArrayRef> {
    let DataType::Struct(fields) = data_type else {
        return Err(Error::argument("internal error: expected a struct type"));
    };
    let nulls = whole.nulls().cloned();
    let array = StructArray::try_new_with_length(fields.clone(), columns, nulls, whole.len());
    Ok(Arc::new(array.map_err(invalid)?))
}

/// Returns the list or map type with another element field.
pub(super) fn list_type(list: &DataType, child: FieldRef) -> DataType {
    match list {
        DataType::LargeList(_) => DataType::LargeList(child),
        DataType::ListView(_) => DataType::ListView(child),
        DataType::LargeListView(_) => DataType::LargeListView(child),
        DataType::FixedSizeList(_, size) => DataType::FixedSizeList(child, *size),
        DataType::Map(_, sorted) => DataType::Map(child, *sorted),
        _ => DataType::List(child),
    }
}

/// Returns all list elements or map entries, including any outside every list.
pub(super) fn elements(array: &ArrayRef) -> Result<ArrayRef> {
    let values = match array.data_type() {
        DataType::List(_) => array.as_list_opt::<i32>().map(|list| list.values().clone()),
        DataType::LargeList(_) => array.as_list_opt::<i64>().map(|list| list.values().clone()),
        DataType::ListView(_) => array
            .as_list_view_opt::<i32>()
            .map(|list| list.values().clone()),
        DataType::LargeListView(_) => array
            .as_list_view_opt::<i64>()
            .map(|list| list.values().clone()),
        DataType::FixedSizeList(..) => array
            .as_fixed_size_list_opt()
            .map(|list| list.values().clone()),
        DataType::Map(..) => array
            .as_map_opt()
            .map(|map| -> ArrayRef { Arc::new(map.entries().clone()) }),
        _ => None,
    };
    values.ok_or_else(|| Error::argument("internal error: expected a list array"))
}

/// Returns the lists or maps with their elements replaced.
pub(super) fn with_elements(
    data_type: &DataType,
    array: &ArrayRef,
    values: ArrayRef,
) -> Result<ArrayRef> {
    let nulls = array.nulls().cloned();
    let lists: Option<ArrayRef> = match data_type {
        DataType::List(field) => list::<i32>(field, array, values)?,
        DataType::LargeList(field) => list::<i64>(field, array, values)?,
        DataType::ListView(field) => list_view::<i32>(field, array, values)?,
        DataType::LargeListView(field) => list_view::<i64>(field, array, values)?,
        DataType::FixedSizeList(field, size) => {
            let (field, len) = (field.clone(), array.len());
            let lists = FixedSizeListArray::try_new_with_length(field, *size, values, nulls, len);
            Some(Arc::new(lists.map_err(invalid)?))
        }
        DataType::Map(field, sorted) => {
            let parts = array.as_map_opt().zip(values.as_struct_opt());
            let map = parts.map(|(map, entries)| {
                let (offsets, entries) = (map.offsets().clone(), entries.clone());
                MapArray::try_new(field.clone(), offsets, entries, nulls, *sorted)
            });
            let map = map.transpose().map_err(invalid)?;
            map.map(|map| -> ArrayRef { Arc::new(map) })
        }
        _ => None,
    };
    lists.ok_or_else(|| Error::argument("internal error: expected a list array"))
}

fn list<O: OffsetSizeTrait>(
    field: &FieldRef,
    array: &ArrayRef,
    values: ArrayRef,
) -> Result<Option<ArrayRef>> {
    let Some(list) = array.as_list_opt::<O>() else {
        return Ok(None);
    };
    let (offsets, nulls) = (list.offsets().clone(), list.nulls().cloned());
    let list = GenericListArray::<O>::try_new(field.clone(), offsets, values, nulls);
    Ok(Some(Arc::new(list.map_err(invalid)?)))
}

fn list_view<O: OffsetSizeTrait>(
    field: &FieldRef,
    array: &ArrayRef,
    values: ArrayRef,
) -> Result<Option<ArrayRef>> {
    let Some(list) = array.as_list_view_opt::<O>() else {
        return Ok(None);
    };
    let (offsets, sizes) = (list.offsets().clone(), list.sizes().clone());
    let nulls = list.nulls().cloned();
    let list = GenericListViewArray::<O>::try_new(field.clone(), offsets, sizes, values, nulls);
    Ok(Some(Arc::new(list.map_err(invalid)?)))
}
