//! Gathers rows from several batches into one batch.
//!
//! Each row is given as a place: a batch and a row within it. We gather column by column, taking
//! lists and structs apart until there are only values left to copy.

mod extents;
mod lists;
mod values;

use std::collections::VecDeque;
use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::{Int16Type, Int32Type, Int64Type};
use herringbone_arrow::array::{
    Array as _, ArrayRef, BooleanArray, NullArray, RecordBatch, RecordBatchOptions, StructArray,
    make_array,
};
use herringbone_arrow::buffer::{BooleanBuffer, NullBuffer, i256};
use herringbone_arrow::data::{ArrayData, ArrayDataBuilder};
use herringbone_arrow::schema::DataType;
use herringbone_core::array::join::{concat, slots_of};
use herringbone_format::{Error, ErrorKind, Result};

use super::unsortable;
use lists::{fixed_size_lists, gather_runs, list_views, lists};
use values::{byte_arrays, fixed_size_binary, fixed_width, views};

/// The most byte array bytes or list elements that gathered rows can have together.
const MAX_ELEMENTS: usize = 1 << 28;

/// A row's place in one of several batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowPosition {
    source: u32,
    row: u32,
}

impl RowPosition {
    /// Creates the place of `row` in the batch with the ordinal `source`. Both must fit into 32
    /// bits.
    pub(super) fn new(source: usize, row: usize) -> Self {
        Self {
            source: source as u32,
            row: row as u32,
        }
    }

    fn source(self) -> usize {
        self.source as usize
    }

    fn row(self) -> usize {
        self.row as usize
    }
}

/// Appends the rows at `places` to `out`, splitting them into several batches if their values are
/// too long for one.
///
/// # Errors
/// Fails with Limit if the values of a single row are too long for an array.
pub(super) fn gather_batches(
    sources: &[RecordBatch],
    places: &[RowPosition],
    out: &mut VecDeque<RecordBatch>,
) -> Result<()> {
    match gather_batch(sources, places) {
        Err(error) if error.kind() == ErrorKind::Limit && places.len() > 1 => {
            let (front, back) = places.split_at(places.len() / 2);
            gather_batches(sources, front, out)?;
            gather_batches(sources, back, out)
        }
        batch => {
            out.push_back(batch?);
            Ok(())
        }
    }
}

fn gather_batch(sources: &[RecordBatch], places: &[RowPosition]) -> Result<RecordBatch> {
    let first = sources.first();
    let schema = first.ok_or_else(|| Error::argument("there are no rows to gather"))?;
    let schema = schema.schema();
    let most = match places.len() {
        1 => usize::MAX,
        _ => MAX_ELEMENTS,
    };
    let columns = (0..schema.fields().len()).map(|column| {
        let columns = sources
            .iter()
            .filter_map(|source| source.columns().get(column));
        let arrays: Vec<ArrayRef> = columns.cloned().collect();
        gather(&arrays, places, most)
    });
    let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(places.len()));
    RecordBatch::try_new_with_options(schema, columns, &options).map_err(unsortable)
}

/// Gathers the slots at `places` from arrays of one type. The result has at most `most` list
/// elements or byte array bytes.
///
/// # Errors
/// Fails with Limit if it would have more, or if its values are too long for one array's offsets.
pub(super) fn gather(arrays: &[ArrayRef], places: &[RowPosition], most: usize) -> Result<ArrayRef> {
    let Some(data_type) = arrays.first().map(|array| array.data_type().clone()) else {
        return Err(Error::argument("there are no arrays to gather"));
    };
    if arrays
        .iter()
        .any(|array| u32::try_from(array.len()).is_err())
    {
        return Err(Error::unsupported(
            "rows of a batch with more than 2^32 elements in a list column cannot be sorted; write \
             smaller batches",
        ));
    }
    let data: Vec<ArrayData> = match &data_type {
        DataType::Null => return Ok(Arc::new(NullArray::new(places.len()))),
        DataType::Struct(_) => return gather_struct(arrays, places, most),
        DataType::Boolean => return gather_booleans(arrays, places),
        DataType::Dictionary(..) => return gather_dictionaries(arrays, places),
        DataType::RunEndEncoded(ends, _) => {
            return match ends.data_type() {
                DataType::Int16 => gather_runs::<Int16Type>(arrays, places, most),
                DataType::Int32 => gather_runs::<Int32Type>(arrays, places, most),
                _ => gather_runs::<Int64Type>(arrays, places, most),
            };
        }
        _ => arrays.iter().map(|array| array.to_data()).collect(),
    };
    let gathered = match &data_type {
        DataType::Utf8 | DataType::Binary => byte_arrays::<i32>(&data, places, most)?,
        DataType::LargeUtf8 | DataType::LargeBinary => byte_arrays::<i64>(&data, places, most)?,
        DataType::Utf8View | DataType::BinaryView => views(&data, places)?,
        DataType::List(_) | DataType::Map(..) => lists::<i32>(&data, places, most)?,
        DataType::LargeList(_) => lists::<i64>(&data, places, most)?,
        DataType::ListView(_) => list_views::<i32>(&data, places, most)?,
        DataType::LargeListView(_) => list_views::<i64>(&data, places, most)?,
        DataType::FixedSizeList(_, size) => {
            fixed_size_lists(&data, usize::try_from(*size).unwrap_or(0), places, most)?
        }
        DataType::FixedSizeBinary(size) => {
            fixed_size_binary(&data, usize::try_from(*size).unwrap_or(0), places)
        }
        _ => match data_type.primitive_width() {
            Some(1) => fixed_width(&data, places, u8::from_ne_bytes),
            Some(2) => fixed_width(&data, places, u16::from_ne_bytes),
            Some(4) => fixed_width(&data, places, u32::from_ne_bytes),
            Some(8) => fixed_width(&data, places, u64::from_ne_bytes),
            Some(16) => fixed_width(&data, places, i128::from_ne_bytes),
            Some(32) => fixed_width(&data, places, i256::from_le_bytes),
            _ => return Err(no_gather()),
        },
    };
    let gathered = gathered.len(places.len()).nulls(nulls(arrays, places));
    gathered.build().map(make_array).map_err(unsortable)
}

/// Returns the validity of the gathered slots, or `None` if no array has nulls.
fn nulls(arrays: &[ArrayRef], places: &[RowPosition]) -> Option<NullBuffer> {
    let all: Vec<Option<&NullBuffer>> = arrays.iter().map(|array| array.nulls()).collect();
    if all.iter().flatten().all(|nulls| nulls.null_count() == 0) {
        return None;
    }
    let is_valid = |slot: usize| {
        let place = places.get(slot)?;
        let nulls = (*all.get(place.source())?)?;
        Some(nulls.is_valid(place.row()))
    };
    let bits = BooleanBuffer::collect_bool(places.len(), |slot| is_valid(slot).unwrap_or(true));
    Some(NullBuffer::new(bits))
}

fn gather_booleans(arrays: &[ArrayRef], places: &[RowPosition]) -> Result<ArrayRef> {
    let all: Vec<&BooleanBuffer> = arrays
        .iter()
        .map(|array| array.as_boolean().values())
        .collect();
    let value = |slot: usize| {
        let place = places.get(slot)?;
        Some(all.get(place.source())?.value(place.row()))
    };
    let bits = BooleanBuffer::collect_bool(places.len(), |slot| value(slot).unwrap_or(false));
    let array = BooleanArray::new(bits, nulls(arrays, places));
    Ok(Arc::new(array))
}

fn gather_struct(arrays: &[ArrayRef], places: &[RowPosition], most: usize) -> Result<ArrayRef> {
    let structs: Vec<&StructArray> = arrays.iter().map(|array| array.as_struct()).collect();
    let fields = structs.first().map(|array| array.fields().clone());
    let fields = fields.unwrap_or_default();
    let column = |ordinal: usize| {
        let columns = structs.iter().filter_map(|it| it.columns().get(ordinal));
        gather(&columns.cloned().collect::<Vec<_>>(), places, most)
    };
    let columns = (0..fields.len()).map(column).collect::<Result<Vec<_>>>()?;
    let nulls = nulls(arrays, places);
    let array = StructArray::try_new_with_length(fields, columns, nulls, places.len());
    Ok(Arc::new(array.map_err(unsortable)?))
}

/// Returns a builder for the arrays' type.
fn builder(data: &[ArrayData]) -> ArrayDataBuilder {
    let first = data.first().map(|data| data.data_type().clone());
    ArrayDataBuilder::new(first.unwrap_or(DataType::Null))
}

/// Gathers dictionary arrays. At this point, they only occur as the values of other dictionaries.
///
/// # Errors
/// Fails with Limit if there are more values than their keys can number.
fn gather_dictionaries(arrays: &[ArrayRef], places: &[RowPosition]) -> Result<ArrayRef> {
    let data: Vec<ArrayData> = arrays.iter().map(|array| array.to_data()).collect();
    // We first take the wanted rows from each array, in the order of `places`. Any other rows would
    // only add dictionary values.
    let mut parts = Vec::with_capacity(data.len());
    for data in &data {
        parts.push(slots_of(vec![data], false, 0)?);
    }
    for place in places {
        let part = parts.get_mut(place.source()).ok_or_else(no_gather)?;
        let row = place.row();
        part.try_extend(0, row, row + 1).map_err(unsortable)?;
    }
    let parts: Vec<ArrayRef> = parts
        .into_iter()
        .map(|part| make_array(part.freeze()))
        .collect();
    let starts = parts.iter().scan(0, |next, part| {
        let start = *next;
        *next += part.len();
        Some(start)
    });
    let mut next: Vec<usize> = starts.collect();
    let all = concat(&parts)?.ok_or_else(no_gather)?.to_data();
    let mut out = slots_of(vec![&all], false, places.len())?;
    for place in places {
        let row = next.get_mut(place.source()).ok_or_else(no_gather)?;
        out.try_extend(0, *row, *row + 1).map_err(unsortable)?;
        *row += 1;
    }
    Ok(make_array(out.freeze()))
}

#[cold]
fn no_gather() -> Error {
    Error::unsupported("rows of this type cannot be sorted")
}

#[cold]
fn too_long(bytes: usize) -> Error {
    Error::beyond_format(
        "bytes or elements in the rows of one array",
        bytes as u64,
        i32::MAX as u64,
    )
}
