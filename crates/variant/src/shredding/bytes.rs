//! Columns of binary values, in every layout.

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::{Int16Type, Int32Type, Int64Type};
use herringbone_arrow::array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, RunArray,
};
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result};

/// The place among the values of a row, or `None` of a null.
type Place = Box<dyn Fn(usize) -> Option<usize> + Send + Sync>;

/// A column of binary values.
pub(super) enum BytesColumn {
    Binary(BinaryArray),
    Large(LargeBinaryArray),
    View(BinaryViewArray),
    /// Dictionary- or run-end-encoded.
    Encoded {
        place: Place,
        values: Box<Self>,
    },
}

impl BytesColumn {
    /// A column of binary values in any layout; `name` is for messages.
    pub(super) fn plain(array: &ArrayRef, name: &str) -> Result<Self> {
        Ok(match array.data_type() {
            DataType::Binary => Self::Binary(array.as_binary::<i32>().clone()),
            DataType::LargeBinary => Self::Large(array.as_binary::<i64>().clone()),
            DataType::BinaryView => Self::View(array.as_binary_view().clone()),
            other => {
                return Err(Error::corrupt(format!(
                    "`{name}` of a variant is {other}, not binary"
                )));
            }
        })
    }

    /// As [`BytesColumn::plain`], and dictionary- or run-end-encoded.
    pub(super) fn encoded(array: &ArrayRef, name: &str) -> Result<Self> {
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            let values = Box::new(Self::plain(dictionary.values(), name)?);
            let keys = match dictionary.values().len() {
                // Without values there is nothing that keys could point to.
                0 => vec![0; array.len()],
                _ => dictionary.normalized_keys(),
            };
            let nulls = array.logical_nulls();
            let place = move |row: usize| {
                let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
                keys.get(row).copied().filter(|_| !is_null)
            };
            return Ok(Self::Encoded {
                place: Box::new(place),
                values,
            });
        }
        macro_rules! runs {
            ($($run_end:ty),*) => {
                $(if let Some(runs) = array.as_any().downcast_ref::<RunArray<$run_end>>() {
                    let values = Box::new(Self::plain(runs.values(), name)?);
                    let runs = runs.clone();
                    let place = move |row: usize| Some(runs.get_physical_index(row));
                    return Ok(Self::Encoded { place: Box::new(place), values });
                })*
            };
        }
        runs!(Int16Type, Int32Type, Int64Type);
        Self::plain(array, name)
    }

    /// The value of a row, or `None` of a null.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::Binary(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Large(array) => array.is_valid(row).then(|| array.value(row)),
            Self::View(array) => array.is_valid(row).then(|| array.value(row)),
            Self::Encoded { place, values } => values.get(place(row)?),
        }
    }
}
