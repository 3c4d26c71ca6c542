//! Reads and builds columns of binary values, in every layout.

use std::sync::Arc;

use herringbone_arrow::array::builder::BinaryViewBuilder;
use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::{Int16Type, Int32Type, Int64Type};
use herringbone_arrow::array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, RunArray,
};
use herringbone_arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result};

use super::of_arrow;

/// A function that maps a row to the index of its value, or to `None` for a null.
type ValueIndex = Box<dyn Fn(usize) -> Option<usize> + Send + Sync>;

/// A column of binary values.
pub(super) enum BytesColumn {
    Binary(BinaryArray),
    Large(LargeBinaryArray),
    View(BinaryViewArray),
    /// Values with a dictionary or run-end encoding.
    Encoded {
        place: ValueIndex,
        values: Box<Self>,
    },
}

impl BytesColumn {
    fn plain(array: &ArrayRef, name: &str) -> Result<Self> {
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

    /// Creates a column from binary values in any layout, which can have a dictionary or run-end
    /// encoding. `name` is for error messages.
    pub(super) fn new(array: &ArrayRef, name: &str) -> Result<Self> {
        if let Some(dictionary) = array.as_any_dictionary_opt() {
            let values = Box::new(Self::plain(dictionary.values(), name)?);
            let keys = match dictionary.values().len() {
                // Without any values, the keys can't refer to anything, so all of them are null.
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

    /// Returns the value in row `row`, or `None` for a null.
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

/// A builder that collects binary values in one layout.
pub(super) struct BytesBuilder {
    bytes: usize,
    layout: Layout,
}

enum Layout {
    Offsets(Vec<i32>, Vec<u8>),
    LargeOffsets(Vec<i64>, Vec<u8>),
    Views(BinaryViewBuilder),
}

impl BytesBuilder {
    /// Creates a builder for values of this type. If it is not a binary type, the builder makes
    /// views.
    pub(super) fn new(data_type: &DataType, capacity: usize) -> Self {
        let layout = match data_type {
            DataType::Binary => {
                let mut offsets = Vec::with_capacity(capacity + 1);
                offsets.push(0);
                Layout::Offsets(offsets, Vec::new())
            }
            DataType::LargeBinary => {
                let mut offsets = Vec::with_capacity(capacity + 1);
                offsets.push(0);
                Layout::LargeOffsets(offsets, Vec::new())
            }
            _ => Layout::Views(BinaryViewBuilder::with_capacity(capacity)),
        };
        Self { bytes: 0, layout }
    }

    /// Appends a value. The total must stay below 2^31 bytes in every layout. Note that dictionary
    /// values can expand to far more bytes than the dictionary stores.
    #[inline]
    pub(super) fn append(&mut self, value: &[u8]) -> Result<()> {
        self.bytes += value.len();
        let end = i32::try_from(self.bytes).map_err(|_| too_many_bytes())?;
        match &mut self.layout {
            Layout::Offsets(offsets, values) => {
                values.extend_from_slice(value);
                offsets.push(end);
            }
            Layout::LargeOffsets(offsets, values) => {
                values.extend_from_slice(value);
                offsets.push(end.into());
            }
            Layout::Views(values) => values.try_append_value(value).map_err(of_arrow)?,
        }
        Ok(())
    }

    /// Returns the array of the appended values. Bytes below a null are not inspected.
    pub(super) fn finish(self, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        Ok(match self.layout {
            Layout::Offsets(offsets, values) => {
                let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
                let array = BinaryArray::try_new(offsets, Buffer::from_vec(values), nulls);
                Arc::new(array.map_err(of_arrow)?)
            }
            Layout::LargeOffsets(offsets, values) => {
                let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
                let array = LargeBinaryArray::try_new(offsets, Buffer::from_vec(values), nulls);
                Arc::new(array.map_err(of_arrow)?)
            }
            Layout::Views(mut values) => {
                let (views, buffers, _) = values.finish().into_parts();
                let array = BinaryViewArray::try_new(views, buffers, nulls);
                Arc::new(array.map_err(of_arrow)?)
            }
        })
    }
}

#[cold]
fn too_many_bytes() -> Error {
    Error::argument("a batch of variants with more than 2^31 bytes: read fewer rows at a time")
}
