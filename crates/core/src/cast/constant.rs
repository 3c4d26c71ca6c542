//! Constant arrays, used for fields missing from a file.

use herringbone_arrow::array::{Array as _, ArrayRef, make_array, new_null_array};
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result};

use crate::array::join::slots_of;

/// The value of a field missing from the file.
#[derive(Debug, Clone)]
pub enum Constant {
    /// Null.
    Null(DataType),
    /// The value in the only slot of this array.
    Value(ArrayRef),
}

impl Constant {
    /// Returns the approximate byte count of an array with `slots` slots.
    pub fn bytes(&self, slots: usize) -> usize {
        let slot_bytes = match self {
            Self::Null(data_type) => null_bytes(data_type),
            Self::Value(value) => {
                let bytes = value.to_data().get_slice_memory_size();
                bytes.unwrap_or_else(|_| value.get_array_memory_size())
            }
        };
        slots.saturating_mul(slot_bytes)
    }

    /// Returns an array with `slots` slots.
    ///
    /// # Errors
    /// Fails with [Unsupported](herringbone_format::ErrorKind::Unsupported) if the values are too long for one array.
    pub fn array(&self, slots: usize) -> Result<ArrayRef> {
        match self {
            Self::Null(data_type) => Ok(new_null_array(data_type, slots)),
            Self::Value(value) => repeated(value, slots),
        }
    }
}

/// Returns the minimum byte count of a null, rounding bits up to a whole byte.
pub fn null_bytes(data_type: &DataType) -> usize {
    match data_type {
        DataType::FixedSizeBinary(width) => usize::try_from(*width).unwrap_or(0).max(1),
        DataType::FixedSizeList(element, size) => {
            let elements = usize::try_from(*size).unwrap_or(0);
            null_bytes(element.data_type())
                .saturating_mul(elements)
                .max(1)
        }
        DataType::Struct(fields) => fields.iter().fold(1, |bytes: usize, field| {
            bytes.saturating_add(null_bytes(field.data_type()))
        }),
        other => other.primitive_width().unwrap_or(1),
    }
}

/// Repeats the only slot of an array `slots` times.
fn repeated(value: &ArrayRef, slots: usize) -> Result<ArrayRef> {
    if slots == 0 {
        return Ok(value.slice(0, 0));
    }
    // Each step doubles the array, so that few steps are needed.
    let mut array = value.clone();
    while array.len() < slots {
        let more = array.len().min(slots - array.len());
        let data = array.to_data();
        let mut twice = slots_of(vec![&data], false, array.len() + more)?;
        for length in [array.len(), more] {
            twice
                .try_extend(0, 0, length)
                .map_err(|error| Error::unsupported(format!("the default is too long: {error}")))?;
        }
        array = make_array(twice.freeze());
    }
    Ok(array)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use herringbone_arrow::array::{Int64Array, StringArray};

    use super::*;

    #[test]
    fn a_value_is_repeated_as_often_as_there_are_slots() {
        let value = Constant::Value(Arc::new(StringArray::from(vec!["ab"])));
        for slots in [0, 1, 2, 3, 7, 8, 9] {
            let expected: ArrayRef = Arc::new(StringArray::from(vec!["ab"; slots]));
            assert_eq!(&value.array(slots).unwrap(), &expected);
        }
        let nulls = Constant::Null(DataType::Int64).array(2).unwrap();
        let expected: ArrayRef = Arc::new(Int64Array::from(vec![None, None]));
        assert_eq!(&nulls, &expected);
    }
}
