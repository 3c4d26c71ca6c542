//! Converts finished arrays to the wanted types.

use std::sync::Arc;

use herringbone_arrow::array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray,
    OffsetSizeTrait, StructArray, cast::AsArray,
};
use herringbone_arrow::schema::{ArrowError, DataType, FieldRef, Fields};
use herringbone_format::{Error, Result};

use herringbone_core::cast::{Cast, Constant};

/// The conversion of one array.
#[derive(Debug, Clone)]
pub(crate) enum ArrayConversion {
    /// The array is kept as it is.
    Keep,
    /// A cast of the values.
    Cast(Cast),
    /// A struct with other fields, or with reordered fields.
    Struct {
        fields: Fields,
        sources: Vec<FieldSource>,
    },
    /// A list of any layout, or a map, with other elements or entries.
    List {
        element: FieldRef,
        is_sorted: bool,
        conversion: Box<Self>,
    },
}

/// The origin of a struct field.
#[derive(Debug, Clone)]
pub(crate) enum FieldSource {
    /// A field of the array, to be converted.
    Field(usize, ArrayConversion),
    /// A constant, since the array lacks the field.
    Constant(Constant),
}

impl ArrayConversion {
    /// Returns the approximate number of bytes allocated by [`Self::apply`] for an array.
    pub(crate) fn bytes(&self, array: &ArrayRef) -> usize {
        match self {
            Self::Keep => 0,
            Self::Cast(cast) => cast.bytes(array),
            Self::Struct { sources, .. } => {
                let Some(structs) = array.as_struct_opt() else {
                    return 0;
                };
                let conversion_of = |source: &FieldSource| match source {
                    FieldSource::Field(ordinal, conversion) => structs
                        .columns()
                        .get(*ordinal)
                        .map_or(0, |child| conversion.bytes(child)),
                    FieldSource::Constant(constant) => constant.bytes(structs.len()),
                };
                sources
                    .iter()
                    .map(conversion_of)
                    .fold(0, usize::saturating_add)
            }
            Self::List { conversion, .. } => match array.data_type() {
                DataType::Map(..) => array.as_map_opt().map_or(0, |maps| {
                    conversion.bytes(&(Arc::new(maps.entries().clone()) as ArrayRef))
                }),
                _ => list_values(array).map_or(0, |values| conversion.bytes(values)),
            },
        }
    }

    /// Converts an array to the wanted type.
    ///
    /// # Errors
    /// Fails with `Unsupported` if the wanted type cannot represent a value.
    pub(crate) fn apply(&self, array: &ArrayRef) -> Result<ArrayRef> {
        match self {
            Self::Keep => Ok(array.clone()),
            Self::Cast(cast) => cast.apply(array),
            Self::Struct { fields, sources } => {
                let structs = array.as_struct_opt().ok_or_else(|| mismatch(array))?;
                let children = sources.iter().map(|source| match source {
                    FieldSource::Field(ordinal, conversion) => {
                        let child = structs.columns().get(*ordinal);
                        conversion.apply(child.ok_or_else(|| mismatch(array))?)
                    }
                    FieldSource::Constant(constant) => constant.array(structs.len()),
                });
                let children = children.collect::<Result<Vec<_>>>()?;
                let (nulls, length) = (structs.nulls().cloned(), structs.len());
                let array =
                    StructArray::try_new_with_length(fields.clone(), children, nulls, length);
                Ok(Arc::new(array.map_err(|e| unwanted_null(&e))?))
            }
            Self::List {
                element,
                is_sorted,
                conversion,
            } => match array.data_type() {
                DataType::List(_) => list::<i32>(array, element, conversion),
                DataType::LargeList(_) => list::<i64>(array, element, conversion),
                DataType::ListView(_) => list_view::<i32>(array, element, conversion),
                DataType::LargeListView(_) => list_view::<i64>(array, element, conversion),
                DataType::FixedSizeList(_, size) => {
                    let lists = array.as_fixed_size_list_opt();
                    let lists = lists.ok_or_else(|| mismatch(array))?;
                    let values = conversion.apply(lists.values())?;
                    let (nulls, length) = (lists.nulls().cloned(), lists.len());
                    let lists = FixedSizeListArray::try_new_with_length(
                        element.clone(),
                        *size,
                        values,
                        nulls,
                        length,
                    );
                    Ok(Arc::new(lists.map_err(|e| unwanted_null(&e))?))
                }
                DataType::Map(..) => {
                    let maps = array.as_map_opt().ok_or_else(|| mismatch(array))?;
                    let entries: ArrayRef = Arc::new(maps.entries().clone());
                    let entries = conversion.apply(&entries)?;
                    let entries = entries.as_struct_opt().ok_or_else(|| mismatch(array))?;
                    let maps = MapArray::try_new(
                        element.clone(),
                        maps.offsets().clone(),
                        entries.clone(),
                        maps.nulls().cloned(),
                        *is_sorted,
                    );
                    Ok(Arc::new(maps.map_err(|e| unwanted_null(&e))?))
                }
                _ => Err(mismatch(array)),
            },
        }
    }
}

/// Returns the elements of a list with any layout.
fn list_values(array: &ArrayRef) -> Option<&ArrayRef> {
    Some(match array.data_type() {
        DataType::List(_) => array.as_list_opt::<i32>()?.values(),
        DataType::LargeList(_) => array.as_list_opt::<i64>()?.values(),
        DataType::ListView(_) => array.as_list_view_opt::<i32>()?.values(),
        DataType::LargeListView(_) => array.as_list_view_opt::<i64>()?.values(),
        DataType::FixedSizeList(..) => array.as_fixed_size_list_opt()?.values(),
        _ => return None,
    })
}

fn list<O: OffsetSizeTrait>(
    array: &ArrayRef,
    element: &FieldRef,
    conversion: &ArrayConversion,
) -> Result<ArrayRef> {
    let lists = array.as_list_opt::<O>().ok_or_else(|| mismatch(array))?;
    let lists = GenericListArray::try_new(
        element.clone(),
        lists.offsets().clone(),
        conversion.apply(lists.values())?,
        lists.nulls().cloned(),
    );
    Ok(Arc::new(lists.map_err(|e| unwanted_null(&e))?))
}

fn list_view<O: OffsetSizeTrait>(
    array: &ArrayRef,
    element: &FieldRef,
    conversion: &ArrayConversion,
) -> Result<ArrayRef> {
    let lists = array
        .as_list_view_opt::<O>()
        .ok_or_else(|| mismatch(array))?;
    let lists = GenericListViewArray::try_new(
        element.clone(),
        lists.offsets().clone(),
        lists.sizes().clone(),
        conversion.apply(lists.values())?,
        lists.nulls().cloned(),
    );
    Ok(Arc::new(lists.map_err(|e| unwanted_null(&e))?))
}

fn mismatch(array: &ArrayRef) -> Error {
    let data_type = array.data_type();
    Error::argument(format!("{data_type} is not the type to convert"))
}

/// Converts an Arrow error. The types already match, so only a null can be the cause.
pub(crate) fn unwanted_null(error: &ArrowError) -> Error {
    Error::unsupported(format!(
        "the wanted schema does not allow a null here: {error}"
    ))
}
