//! Arrow's run-end encoded arrays: values as ever, and runs once the array is finished.
//!
//! ```text
//! slots      a a - - b
//! run ends   2   4   5
//! values     a   -   b     nulls are here; the array itself has no validity
//! ```

use herringbone_arrow::array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use herringbone_arrow::array::{
    Array, ArrayAccessor, ArrayRef, PrimitiveArray, RunArray, cast::AsArray, make_array,
};
use herringbone_arrow::buffer::{ArrowNativeType, Buffer, NullBuffer, ScalarBuffer};
use herringbone_arrow::data::ArrayData;
use herringbone_arrow::data::transform::MutableArrayData;
use herringbone_arrow::schema::{ArrowError, DataType};
use herringbone_format::{Encoding, Error, Result};
use herringbone_kernels::bitmap::Bitmap;

use super::{LeafArray, LeafType, leaf_array};

/// The array for a leaf that becomes runs; none for other leaves.
///
/// # Errors
/// Those of the value type's layout.
pub(super) fn run_end_leaf_array(leaf: &LeafType) -> Result<Option<Box<dyn LeafArray>>> {
    let DataType::RunEndEncoded(_, values) = &leaf.data_type else {
        return Ok(None);
    };
    let value = LeafType {
        data_type: values.data_type().clone(),
        ..leaf.clone()
    };
    Ok(Some(Box::new(RunEndLeaf {
        data_type: leaf.data_type.clone(),
        max_slots: max_slots(&leaf.data_type)?,
        values: leaf_array(&value)?,
    })))
}

/// A run-end encoded array under construction: the array of its slots.
struct RunEndLeaf {
    data_type: DataType,
    /// The highest run end.
    max_slots: usize,
    values: Box<dyn LeafArray>,
}

impl LeafArray for RunEndLeaf {
    fn set_dictionary(&mut self, values: &Buffer, num_values: usize) -> Result<()> {
        self.values.set_dictionary(values, num_values)
    }

    fn set_page(&mut self, encoding: Encoding, values: Buffer, num_values: usize) -> Result<()> {
        self.values.set_page(encoding, values, num_values)
    }

    fn max_slots(&self) -> usize {
        self.max_slots
    }

    fn room(&mut self, n: usize, budget: usize) -> Result<usize> {
        self.values.room(n, budget)
    }

    fn append(&mut self, n: usize) -> Result<()> {
        self.values.append(n)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.values.skip(n)
    }

    fn expand(&mut self, validity: &Bitmap, start: usize, slots: usize) -> Result<()> {
        self.values.expand(validity, start, slots)
    }

    fn bytes(&self) -> usize {
        self.values.bytes()
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let slots = self.values.finish(nulls)?;
        let starts = run_starts(&slots)?;
        let values = gathered(&slots, &starts)?;
        let ends = starts.iter().copied().skip(1).chain([slots.len()]);
        run_array(&self.data_type, ends.take(starts.len()), &values)
    }
}

/// The run-end encoded array of type `data_type` with these run ends.
///
/// # Errors
/// Unsupported where their type is too small for one of the run ends.
pub(crate) fn run_array(
    data_type: &DataType,
    ends: impl Iterator<Item = usize>,
    values: &ArrayRef,
) -> Result<ArrayRef> {
    match type_of_ends(data_type) {
        Some(DataType::Int16) => typed_run_array::<Int16Type>(data_type, ends, values),
        Some(DataType::Int32) => typed_run_array::<Int32Type>(data_type, ends, values),
        Some(DataType::Int64) => typed_run_array::<Int64Type>(data_type, ends, values),
        _ => Err(no_runs(data_type)),
    }
}

fn typed_run_array<R: RunEndIndexType>(
    data_type: &DataType,
    ends: impl Iterator<Item = usize>,
    values: &ArrayRef,
) -> Result<ArrayRef> {
    let ends: Option<Vec<R::Native>> = ends.map(R::Native::from_usize).collect();
    let Some(ends) = ends else {
        return Err(Error::unsupported(format!(
            "more values in one array than run ends of type {} count; reading smaller batches, or \
             without `use_arrow_schema`, does without",
            R::DATA_TYPE
        )));
    };
    let ends = PrimitiveArray::<R>::new(ScalarBuffer::from(ends), None);
    let array = RunArray::try_new(&ends, values).map_err(invalid)?;
    // The fields of its type are the usual ones, which are mostly those that are wanted.
    let mut data = ArrayData::from(array);
    if data.data_type() != data_type {
        let builder = data.into_builder().data_type(data_type.clone());
        data = builder.build().map_err(invalid)?;
    }
    Ok(make_array(data))
}

/// Where runs start: at slots that are not as the one before. Floating-point numbers are the same
/// where their bits are.
fn run_starts(slots: &dyn Array) -> Result<Vec<usize>> {
    use DataType::*;
    Ok(match slots.data_type() {
        Null => starts_where(slots, |_| false),
        Boolean => starts_by_value(slots.as_boolean()),
        Utf8 => starts_by_value(slots.as_string::<i32>()),
        LargeUtf8 => starts_by_value(slots.as_string::<i64>()),
        Utf8View => starts_by_value(slots.as_string_view()),
        Binary => starts_by_value(slots.as_binary::<i32>()),
        LargeBinary => starts_by_value(slots.as_binary::<i64>()),
        BinaryView => starts_by_value(slots.as_binary_view()),
        FixedSizeBinary(_) => starts_by_value(slots.as_fixed_size_binary()),
        other => match other.primitive_width() {
            Some(1) => starts_by_bits::<1>(slots),
            Some(2) => starts_by_bits::<2>(slots),
            Some(4) => starts_by_bits::<4>(slots),
            Some(8) => starts_by_bits::<8>(slots),
            Some(16) => starts_by_bits::<16>(slots),
            Some(32) => starts_by_bits::<32>(slots),
            _ => return Err(no_runs(other)),
        },
    })
}

fn starts_by_value<A: ArrayAccessor<Item: PartialEq>>(slots: A) -> Vec<usize> {
    starts_where(&slots, |slot| slots.value(slot - 1) != slots.value(slot))
}

/// The starts in an array of values of `WIDTH` bytes.
fn starts_by_bits<const WIDTH: usize>(slots: &dyn Array) -> Vec<usize> {
    let data = slots.to_data();
    let bytes = data.buffers().first().map_or(&[][..], Buffer::as_slice);
    let (values, _) = bytes.as_chunks::<WIDTH>();
    let values = values.get(data.offset()..).unwrap_or_default();
    starts_where(slots, |slot| values.get(slot - 1) != values.get(slot))
}

/// The starts in an array with `differs` saying whether the value of a slot above 0 is another than
/// the one before, where neither is null.
fn starts_where(slots: &dyn Array, differs: impl Fn(usize) -> bool) -> Vec<usize> {
    let later = 1..slots.len();
    let first = (!slots.is_empty()).then_some(0).into_iter();
    match slots.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => first.chain(later.filter(|&slot| differs(slot))).collect(),
        Some(nulls) => {
            let starts =
                later.filter(
                    |&slot| match (nulls.is_valid(slot - 1), nulls.is_valid(slot)) {
                        (true, true) => differs(slot),
                        (before, here) => before != here,
                    },
                );
            first.chain(starts).collect()
        }
    }
}

/// The slots that the ascending ordinals name.
fn gathered(slots: &ArrayRef, ordinals: &[usize]) -> Result<ArrayRef> {
    if ordinals.len() == slots.len() {
        return Ok(slots.clone());
    }
    let data = slots.to_data();
    let mut values = MutableArrayData::new(vec![&data], false, ordinals.len());
    for neighbours in ordinals.chunk_by(|a, b| a + 1 == *b) {
        if let [first, ..] = neighbours {
            let end = first + neighbours.len();
            values.try_extend(0, *first, end).map_err(invalid)?;
        }
    }
    Ok(make_array(values.freeze()))
}

fn type_of_ends(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::RunEndEncoded(ends, _) => Some(ends.data_type()),
        _ => None,
    }
}

/// How many slots the run ends can count.
fn max_slots(data_type: &DataType) -> Result<usize> {
    Ok(match type_of_ends(data_type) {
        Some(DataType::Int16) => i16::MAX as usize,
        Some(DataType::Int32) => i32::MAX as usize,
        Some(DataType::Int64) => usize::MAX,
        _ => return Err(no_runs(data_type)),
    })
}

#[cold]
fn no_runs(data_type: &DataType) -> Error {
    Error::argument(format!("{data_type} is no type of runs or of their values"))
}

fn invalid(error: ArrowError) -> Error {
    Error::unsupported(error.to_string())
}
