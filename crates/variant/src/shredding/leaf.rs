//! Finds the column with all values at a path.

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{Array as _, ArrayRef, StructArray};
use herringbone_arrow::buffer::NullBuffer;
use herringbone_arrow::schema::DataType;

use super::{METADATA, TYPED_VALUE, VALUE};
use crate::cast::PrimitiveType;
use crate::path::PathPart;

/// The typed column of a fully shredded field. It has all of the field's values.
pub(super) struct Leaf<'a> {
    pub(super) array: &'a ArrayRef,
    pub(super) stored: PrimitiveType,
    /// The nulls of the values and of the groups around them.
    pub(super) nulls: Option<NullBuffer>,
}

/// Returns the column of the values at a path, if no value is elsewhere. `storage` is a group of
/// `value` and `typed_value`. This inspects only the columns on the path, and returns `None` if
/// they do not determine the values.
pub(super) fn shredded_leaf<'a>(
    storage: &'a StructArray,
    parts: &[PathPart],
    is_lenient: bool,
) -> Option<Leaf<'a>> {
    let mut nulls = actual_nulls(storage.nulls()).cloned();
    let mut add = |more: Option<&NullBuffer>| {
        if let Some(more) = actual_nulls(more) {
            nulls = NullBuffer::union(nulls.as_ref(), Some(more));
        }
    };
    let (mut group, mut is_top) = (storage, true);
    for part in parts {
        let (_, typed) = columns(group, is_top)?;
        let object = typed?.as_struct_opt()?;
        let PathPart::Field(name) = part else {
            return None;
        };
        // A lenient read also inspects the data next to the column.
        if is_lenient {
            return None;
        }
        group = object.column_by_name(name)?.as_struct_opt()?;
        is_top = false;
        add(object.nulls());
        add(group.nulls());
    }
    let (value, typed) = columns(group, is_top)?;
    let array = typed?;
    if value.is_some_and(|value| value.null_count() < value.len()) {
        return None;
    }
    add(array.nulls());
    Some(Leaf {
        array,
        stored: PrimitiveType::of_data_type(array.data_type()).ok()?,
        nulls,
    })
}

/// Returns `value` and `typed_value` of a group, or `None` if the group has other columns or
/// `value` is encoded.
#[allow(clippy::type_complexity, reason = "two columns")]
fn columns(group: &StructArray, is_top: bool) -> Option<(Option<&ArrayRef>, Option<&ArrayRef>)> {
    let (mut value, mut typed) = (None, None);
    for (field, column) in group.fields().iter().zip(group.columns()) {
        let slot = match field.name().as_str() {
            VALUE if is_binary(column.data_type()) => &mut value,
            TYPED_VALUE => &mut typed,
            METADATA if is_top => continue,
            _ => return None,
        };
        if slot.replace(column).is_some() {
            return None;
        }
    }
    Some((value, typed))
}

fn is_binary(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView
    )
}

/// Returns the nulls, if any row is null.
fn actual_nulls(nulls: Option<&NullBuffer>) -> Option<&NullBuffer> {
    nulls.filter(|nulls| nulls.null_count() > 0)
}
