//! A column's bounds and counts as Arrow arrays, with one slot per row group or page.

use std::sync::Arc;

use herringbone_arrow::array::types::{Float16Type, Float32Type, Float64Type};
use herringbone_arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray, UInt64Array, cast::AsArray,
    make_array, new_null_array,
};
use herringbone_arrow::buffer::NullBuffer;
use herringbone_arrow::row::{RowConverter, SortField};
use herringbone_arrow::schema::{DataType, Field};
use herringbone_format::{
    ColumnIndex, ColumnOrder, Error, FileMetadata, OffsetIndex, Result, Statistics,
};
use herringbone_schema::{ColumnOrderKind, ParquetSchema, SchemaOptions};

use herringbone_core::array::LeafType;

use super::BoundsDecoder;
use super::index_trust::{IndexTrust, has_true_bounds};

/// A file's metadata about a leaf's values, where the leaf may be nested. There is one slot per row group, or per page
/// of a column chunk, in file order. A slot is null if the metadata is missing or unusable.
///
/// [`ColumnBoundsDecoder`] decodes bounds to the column's type according to the Parquet schema alone. FixedSizeBinary
/// of more than 64 bytes is an exception: its bounds are Binary, so that a null slot takes no memory. The plan of a
/// read decodes bounds to the type of its batches. Bounds hold for all values that are neither null nor NaN: none is
/// below `min` or above `max`, though neither bound has to occur as a value.
///
/// Columns without an order, such as INT96 and geometries, have no bounds. A bound is null if it's NaN or doesn't have
/// the bytes of a value. Both bounds are null if the lower bound is above the upper bound. A floating-point bound of
/// zero has whichever sign makes it hold for both zeros.
///
/// ```
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("price", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().row_group_rows(50);
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use herringbone::ParquetFile;
/// use herringbone::arrow::array::{cast::AsArray, types::Int64Type};
///
/// // 100 rows in two row groups, with the columns `id` and `price`.
/// let file = ParquetFile::from_bytes(bytes)?;
/// let bounds = file.row_group_bounds(0)?;
/// let (min, max) = (bounds.min.as_primitive::<Int64Type>(), bounds.max.as_primitive::<Int64Type>());
/// assert_eq!((min.values().to_vec(), max.values().to_vec()), (vec![0, 50], vec![49, 99]));
/// assert_eq!(bounds.null_counts.values().to_vec(), [0, 0]);
/// assert_eq!(bounds.row_counts.values().to_vec(), [50, 50]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ColumnBounds {
    /// The lower bounds.
    pub min: ArrayRef,
    /// The upper bounds.
    pub max: ArrayRef,
    /// True if the lower bound is an actual value.
    pub is_min_exact: BooleanArray,
    /// True if the upper bound is an actual value.
    pub is_max_exact: BooleanArray,
    /// The number of nulls. Below lists, this includes empty and missing lists, since they have no value.
    pub null_counts: UInt64Array,
    /// The number of NaNs.
    pub nan_counts: UInt64Array,
    /// The number of distinct values. In practice, few writers count them.
    pub distinct_counts: UInt64Array,
    /// The number of rows.
    pub row_counts: UInt64Array,
}

impl ColumnBounds {
    /// Creates the bounds of a column missing from the file. All slots of `values` have the column's constant value, or
    /// null.
    ///
    /// # Errors
    /// Fails with [`Unsupported`](herringbone_format::ErrorKind::Unsupported) if the values cannot be compared.
    #[doc(hidden)] // For the plan of a read.
    pub fn of_constant(values: &ArrayRef, rows: &[u64]) -> Result<Self> {
        let is_null = values.logical_null_count() == values.len();
        let is_float = values.data_type().is_floating();
        let (min, max) = match is_float {
            true => (of_numbers(values, true)?, of_numbers(values, false)?),
            false => (values.clone(), values.clone()),
        };
        let exact: BooleanArray = (0..values.len())
            .map(|slot| min.is_valid(slot).then_some(!is_null))
            .collect();
        let all = |is_all: bool| rows.iter().map(move |rows| if is_all { *rows } else { 0 });
        let is_nan = is_float && !is_null && min.null_count() > 0;
        Ok(Self {
            is_min_exact: exact.clone(),
            is_max_exact: exact,
            null_counts: all(is_null).collect(),
            nan_counts: match is_float {
                true => all(is_nan).collect(),
                false => UInt64Array::new_null(rows.len()),
            },
            distinct_counts: rows.iter().map(|_| u64::from(!is_null)).collect(),
            row_counts: rows.iter().copied().collect(),
            min,
            max,
        })
    }

    /// Converts the bounds with a function that keeps their order. Bounds become null if the function cannot convert
    /// them.
    ///
    /// # Errors
    /// Fails with the function's error if it cannot even convert a null.
    #[doc(hidden)] // For the plan of a read.
    pub fn converted(self, convert: impl Fn(&ArrayRef) -> Result<ArrayRef>) -> Result<Self> {
        let convert = |bounds: &ArrayRef| {
            let all = convert(bounds);
            all.or_else(|_| convert(&new_null_array(bounds.data_type(), bounds.len())))
        };
        let (min, max) = (convert(&self.min)?, convert(&self.max)?);
        let only_valid = |exact: &BooleanArray, bounds: &ArrayRef| {
            let nulls = NullBuffer::union(exact.nulls(), bounds.logical_nulls().as_ref());
            BooleanArray::new(exact.values().clone(), nulls)
        };
        Ok(Self {
            is_min_exact: only_valid(&self.is_min_exact, &min),
            is_max_exact: only_valid(&self.is_max_exact, &max),
            min,
            max,
            ..self
        })
    }
}

/// A decoder for one leaf's bounds and counts.
#[derive(Debug)]
pub struct ColumnBoundsDecoder {
    decoder: BoundsDecoder,
    /// The decoder for the type used by a read, applied to the usable bounds.
    read: Option<BoundsDecoder>,
    order: ColumnOrderKind,
    /// True if `min_value` and `max_value` follow the order in `order`.
    is_ordered: bool,
    /// True if the older `min` and `max` follow the order in `order`. Writers compared those as signed values.
    is_signed: bool,
    leaf: usize,
    trust: IndexTrust,
}

/// The metadata about one row group or page.
#[derive(Default)]
struct Slot<'a> {
    min: Option<&'a [u8]>,
    max: Option<&'a [u8]>,
    is_min_exact: Option<bool>,
    is_max_exact: Option<bool>,
    null_count: Option<i64>,
    nan_count: Option<i64>,
    distinct_count: Option<i64>,
    rows: Option<u64>,
}

impl ColumnBoundsDecoder {
    /// Creates a decoder for the leaf with this ordinal.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if there is no such leaf.
    pub fn new(metadata: &FileMetadata, schema: &ParquetSchema, leaf: usize) -> Result<Self> {
        let decoder = BoundsDecoder::new(schema, leaf, &SchemaOptions::default())?;
        let order = schema.order(leaf);
        let column = schema.leaves().get(leaf);
        let column =
            column.ok_or_else(|| Error::argument(format!("the schema has no column {leaf}")))?;
        let is_ignored = column.annotation_ignored;
        let stated = metadata
            .column_orders()
            .and_then(|column_orders| column_orders.get(leaf));
        let is_ordered = match stated {
            Some(ColumnOrder::TypeDefined) => {
                !matches!(order, ColumnOrderKind::Int96 | ColumnOrderKind::Undefined)
            }
            Some(ColumnOrder::Ieee754Total) => order.is_float(),
            _ => false,
        };
        Ok(Self {
            decoder,
            read: None,
            order,
            is_ordered: is_ordered && !is_ignored && has_true_bounds(metadata, order),
            is_signed: order == ColumnOrderKind::Signed && !is_ignored,
            leaf,
            trust: IndexTrust::new(metadata, column),
        })
    }

    /// Makes the decoder use the type that a read decodes the leaf to.
    #[doc(hidden)] // For the plan of a read.
    #[must_use]
    pub fn as_read(self, leaf_type: LeafType) -> Self {
        let decoder = BoundsDecoder::of_type(leaf_type, self.decoder.field().name());
        Self {
            read: Some(decoder),
            ..self
        }
    }

    /// Returns the bounds' name and type, as a field.
    #[must_use]
    pub fn field(&self) -> &Field {
        self.read.as_ref().unwrap_or(&self.decoder).field()
    }

    /// Returns the bounds with one slot for each of these row groups.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if there is no such row group, and with
    /// [`Corrupt`](herringbone_format::ErrorKind::Corrupt) if the metadata of a column chunk cannot be decoded.
    pub fn row_groups(
        &self,
        metadata: &FileMetadata,
        row_groups: impl IntoIterator<Item = usize>,
    ) -> Result<ColumnBounds> {
        let mut chunks = Vec::new();
        for ordinal in row_groups {
            let rows = metadata.row_group_header(ordinal)?.num_rows;
            // Without a column's key, we do not know its metadata.
            let chunk = metadata.column_chunk(ordinal, self.leaf)?.meta_data;
            let statistics = chunk.and_then(|chunk| chunk.statistics);
            chunks.push((statistics.unwrap_or_default(), u64::try_from(rows).ok()));
        }
        let slots: Vec<Slot<'_>> = chunks
            .iter()
            .map(|(statistics, rows)| Slot {
                rows: *rows,
                ..self.chunk(statistics)
            })
            .collect();
        self.bounds(&slots)
    }

    /// Returns the bounds with one slot for each page of a column chunk, in a row group with `num_rows` rows.
    ///
    /// # Errors
    /// Fails with [`Corrupt`](herringbone_format::ErrorKind::Corrupt) if the indexes contradict each other or the row
    /// group.
    pub fn pages(
        &self,
        columns: &ColumnIndex,
        offsets: &OffsetIndex,
        num_rows: u64,
    ) -> Result<ColumnBounds> {
        let pages = columns.null_pages.len();
        if offsets.page_locations.len() != pages {
            return Err(Error::corrupt(format!(
                "the column index has {pages} pages, but the offset index has {}",
                offsets.page_locations.len()
            )));
        }
        let rows = rows_of_pages(offsets, num_rows)?;
        let at = |counts: &Option<Vec<i64>>, page| {
            counts.as_ref().and_then(|counts| counts.get(page).copied())
        };
        let slot = |(page, rows): (usize, u64)| Slot {
            min: self.trust.min(columns, page).filter(|_| self.is_ordered),
            max: self.trust.max(columns, page).filter(|_| self.is_ordered),
            null_count: at(&columns.null_counts, page),
            nan_count: at(&columns.nan_counts, page),
            rows: Some(rows),
            ..Slot::default()
        };
        let slots: Vec<Slot<'_>> = rows.into_iter().enumerate().map(slot).collect();
        self.bounds(&slots)
    }

    /// Returns the usable metadata in a chunk's statistics.
    fn chunk<'a>(&self, statistics: &'a Statistics) -> Slot<'a> {
        let is_new = statistics.min_value.is_some() || statistics.max_value.is_some();
        let counts = Slot {
            null_count: statistics.null_count,
            nan_count: statistics.nan_count,
            distinct_count: statistics.distinct_count,
            ..Slot::default()
        };
        if self.is_ordered && is_new {
            return Slot {
                min: statistics.min_value.as_deref(),
                max: statistics.max_value.as_deref(),
                is_min_exact: statistics.is_min_value_exact,
                is_max_exact: statistics.is_max_value_exact,
                ..counts
            };
        }
        // Writers of the older bounds compared values as signed, regardless of the column.
        match self.is_signed {
            true => Slot {
                min: statistics.min.as_deref(),
                max: statistics.max.as_deref(),
                ..counts
            },
            false => counts,
        }
    }

    fn bounds(&self, slots: &[Slot<'_>]) -> Result<ColumnBounds> {
        let decode = |bounds: Vec<Option<&[u8]>>| self.decoder.decode(&bounds);
        let min = decode(slots.iter().map(|slot| slot.min).collect())?;
        let max = decode(slots.iter().map(|slot| slot.max).collect())?;
        let (min, max) = match self.order.is_float() {
            true => (of_numbers(&min, true)?, of_numbers(&max, false)?),
            false => (min, max),
        };
        let (mut min, mut max) = without_contradictions(min, max)?;
        if let Some(read) = &self.read {
            min = as_read(read, &min, slots.iter().map(|slot| slot.min))?;
            max = as_read(read, &max, slots.iter().map(|slot| slot.max))?;
        }
        let exact = |array: &ArrayRef, exact: fn(&Slot<'_>) -> Option<bool>| -> BooleanArray {
            let slots = slots.iter().enumerate();
            slots
                .map(|(at, slot)| exact(slot).filter(|_| array.is_valid(at)))
                .collect()
        };
        let counts = |count: fn(&Slot<'_>) -> Option<i64>| -> UInt64Array {
            let counts = slots.iter().map(count);
            // We ignore negative counts.
            counts
                .map(|count| count.and_then(|count| u64::try_from(count).ok()))
                .collect()
        };
        Ok(ColumnBounds {
            is_min_exact: exact(&min, |slot| slot.is_min_exact),
            is_max_exact: exact(&max, |slot| slot.is_max_exact),
            null_counts: counts(|slot| slot.null_count),
            nan_counts: counts(|slot| slot.nan_count),
            distinct_counts: counts(|slot| slot.distinct_count),
            row_counts: slots.iter().map(|slot| slot.rows).collect(),
            min,
            max,
        })
    }
}

/// Decodes the valid bounds in `usable` to a read's type.
fn as_read<'a>(
    read: &BoundsDecoder,
    usable: &ArrayRef,
    bounds: impl Iterator<Item = Option<&'a [u8]>>,
) -> Result<ArrayRef> {
    // Zeros might have changed sign, so we take their bytes from `usable`.
    let zeros = zeros(usable);
    let bounds = bounds.zip(&zeros).enumerate();
    let bounds: Vec<Option<&[u8]>> = bounds
        .map(|(slot, (bytes, zero))| match zero {
            Some(zero) => Some(zero.as_slice()),
            None => bytes.filter(|_| usable.is_valid(slot)),
        })
        .collect();
    read.decode(&bounds)
}

/// Returns the bytes of zero floating-point bounds, or `None` for all other bounds.
fn zeros(bounds: &ArrayRef) -> Vec<Option<Vec<u8>>> {
    macro_rules! of {
        ($type:ty, $zero:expr) => {
            bounds.as_primitive_opt::<$type>().map(|bounds| {
                let bytes = |bound: Option<<$type as ArrowPrimitiveType>::Native>| {
                    let zero = bound.filter(|bound| *bound == $zero)?;
                    Some(zero.to_le_bytes().to_vec())
                };
                bounds.iter().map(bytes).collect()
            })
        };
    }
    let zeros = match bounds.data_type() {
        DataType::Float16 => of!(Float16Type, half::f16::ZERO),
        DataType::Float32 => of!(Float32Type, 0.0_f32),
        DataType::Float64 => of!(Float64Type, 0.0_f64),
        _ => None,
    };
    zeros.unwrap_or_else(|| vec![None; bounds.len()])
}

/// Returns the number of rows in each page.
fn rows_of_pages(offsets: &OffsetIndex, num_rows: u64) -> Result<Vec<u64>> {
    let firsts = offsets.page_locations.iter();
    let firsts = firsts.map(|page| u64::try_from(page.first_row_index).unwrap_or(u64::MAX));
    let firsts: Vec<u64> = firsts.collect();
    let ends = firsts.iter().skip(1).copied().chain([num_rows]);
    let rows = firsts
        .iter()
        .zip(ends)
        .map(|(first, end)| end.checked_sub(*first));
    let rows: Option<Vec<u64>> = rows.collect();
    let starts_at_0 = firsts.first().is_none_or(|first| *first == 0);
    rows.filter(|_| starts_at_0).ok_or_else(|| {
        Error::corrupt("the first rows of the offset index do not ascend within the row group")
    })
}

/// Removes NaN bounds and adjusts the sign of zero bounds, so that they hold for both zeros.
fn of_numbers(bounds: &ArrayRef, is_min: bool) -> Result<ArrayRef> {
    macro_rules! of {
        ($type:ty, $zero:expr) => {{
            let zero = if is_min { -$zero } else { $zero };
            let bounds = bounds.as_primitive_opt::<$type>();
            let bounds = bounds.ok_or_else(|| Error::argument("bounds that are not numbers"))?;
            let bounds = bounds.iter().map(|bound| {
                let bound = bound.filter(|bound| !bound.is_nan());
                bound.map(|bound| if bound == $zero { zero } else { bound })
            });
            let bounds: PrimitiveArray<$type> = bounds.collect();
            Ok(Arc::new(bounds))
        }};
    }
    match bounds.data_type() {
        DataType::Float16 => of!(Float16Type, half::f16::ZERO),
        DataType::Float32 => of!(Float32Type, 0.0_f32),
        DataType::Float64 => of!(Float64Type, 0.0_f64),
        _ => Ok(bounds.clone()),
    }
}

/// Sets both bounds to null in any slot whose lower bound is above its upper bound.
fn without_contradictions(min: ArrayRef, max: ArrayRef) -> Result<(ArrayRef, ArrayRef)> {
    let invalid = |error| Error::unsupported(format!("bounds cannot be compared: {error}"));
    if min.data_type().is_nested() || min.data_type().is_null() {
        return Ok((min, max));
    }
    let field = SortField::new(min.data_type().clone());
    let converter = RowConverter::new(vec![field]).map_err(invalid)?;
    let lower = converter
        .convert_columns(std::slice::from_ref(&min))
        .map_err(invalid)?;
    let upper = converter
        .convert_columns(std::slice::from_ref(&max))
        .map_err(invalid)?;
    let is_sound = |at: usize| min.is_null(at) || max.is_null(at) || lower.row(at) <= upper.row(at);
    let sound: NullBuffer = (0..min.len()).map(is_sound).collect::<Vec<_>>().into();
    if sound.null_count() == 0 {
        return Ok((min, max));
    }
    let only_sound = |array: &ArrayRef| {
        let nulls = NullBuffer::union(array.nulls(), Some(&sound));
        let data = array.to_data().into_builder().nulls(nulls);
        data.build().map(make_array).map_err(invalid)
    };
    Ok((only_sound(&min)?, only_sound(&max)?))
}
