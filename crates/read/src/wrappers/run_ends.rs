//! Run-end encoded arrays.

use herringbone_arrow::array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use herringbone_arrow::array::{
    Array, ArrayRef, PrimitiveArray, RunArray, cast::AsArray, make_array,
};
use herringbone_arrow::buffer::{ArrowNativeType, ScalarBuffer};
use herringbone_arrow::data::ArrayData;
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Remedy, Result};

use super::{gathered, invalid};

/// Returns an array of type `data_type` with runs starting at these slots.
///
/// # Errors
/// Fails with `Unsupported` if the run end type is too small for the number of slots.
pub(super) fn run_ends(
    slots: &ArrayRef,
    starts: &[usize],
    data_type: &DataType,
) -> Result<ArrayRef> {
    let values = gathered(slots, starts)?;
    let ends = starts.iter().copied().skip(1).chain([slots.len()]);
    run_array(data_type, ends.take(starts.len()), &values)
}

/// Returns the number of slots that run ends of this type can count.
pub(super) fn max_slots(type_of_ends: &DataType) -> usize {
    match type_of_ends {
        DataType::Int16 => i16::MAX as usize,
        DataType::Int32 => i32::MAX as usize,
        _ => usize::MAX,
    }
}

/// Returns the run-end encoded array of type `data_type` with these run ends.
fn run_array(
    data_type: &DataType,
    ends: impl Iterator<Item = usize>,
    values: &ArrayRef,
) -> Result<ArrayRef> {
    let DataType::RunEndEncoded(type_of_ends, _) = data_type else {
        return Err(Error::argument(format!("{data_type} has no run ends")));
    };
    match type_of_ends.data_type() {
        DataType::Int16 => typed_run_array::<Int16Type>(data_type, ends, values),
        DataType::Int32 => typed_run_array::<Int32Type>(data_type, ends, values),
        _ => typed_run_array::<Int64Type>(data_type, ends, values),
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
            "one array has more values than run ends of type {} can number",
            R::DATA_TYPE
        ))
        .with_remedy(Remedy::IgnoreArrowSchema));
    };
    let ends = PrimitiveArray::<R>::new(ScalarBuffer::from(ends), None);
    let array = RunArray::try_new(&ends, values).map_err(invalid)?;
    // The new array's type has the default fields. These are usually the wanted ones.
    let mut data = ArrayData::from(array);
    if data.data_type() != data_type {
        let builder = data.into_builder().data_type(data_type.clone());
        data = builder.build().map_err(invalid)?;
    }
    Ok(make_array(data))
}

/// Adds `width` slots for each empty list to the runs. Returns `None` if the values aren't run-end encoded, or if there
/// are no values.
///
/// The added slots are in null lists and are never read, so we can let them extend an existing run.
pub(crate) fn padded_runs(
    values: &ArrayRef,
    offsets: &[i32],
    width: usize,
) -> Result<Option<ArrayRef>> {
    match values.data_type() {
        DataType::RunEndEncoded(ends, _) if !values.is_empty() => match ends.data_type() {
            DataType::Int16 => padded_run_array::<Int16Type>(values, offsets, width),
            DataType::Int32 => padded_run_array::<Int32Type>(values, offsets, width),
            _ => padded_run_array::<Int64Type>(values, offsets, width),
        }
        .map(Some),
        _ => Ok(None),
    }
}

fn padded_run_array<R: RunEndIndexType>(
    values: &ArrayRef,
    offsets: &[i32],
    width: usize,
) -> Result<ArrayRef> {
    let array = values
        .as_run_opt::<R>()
        .ok_or_else(|| Error::argument("runs of another type"))?;
    let mut lists = offsets.windows(2).enumerate().peekable();
    let last = array.len();
    let padded_len = offsets.len().saturating_sub(1).saturating_mul(width);
    let ends = array.run_ends().sliced_values().map(|end| {
        let end = end.as_usize();
        // We look for the list containing the run's last slot.
        while lists
            .next_if(|(_, pair)| (pair[1] as usize) < end)
            .is_some()
        {}
        match lists.peek() {
            Some((slot, pair)) if end < last => slot
                .saturating_mul(width)
                .saturating_add(end - pair[0] as usize),
            _ => padded_len,
        }
    });
    run_array(values.data_type(), ends, &array.values_slice())
}
