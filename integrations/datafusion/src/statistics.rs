//! The statistics of files, folded over their row groups.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::Array;
use arrow::datatypes::{DataType, SchemaRef};
use datafusion_common::config::TableParquetOptions;
use datafusion_common::stats::Precision;
use datafusion_common::{ColumnStatistics, Result, ScalarValue, Statistics};
use herringbone::MetadataHandle;
use herringbone::pruning::ColumnBounds;

use crate::bounds::{FileBounds, is_complete};
use crate::file_schema::{read_schema, stored_schema};
use crate::options::schema_options;

/// A table's columns in one file.
pub(crate) struct TableColumns<'a> {
    pub(crate) handle: &'a MetadataHandle,
    pub(crate) table: &'a SchemaRef,
    /// The schema that the file is read with.
    pub(crate) read: SchemaRef,
    pub(crate) bounds: Arc<FileBounds>,
}

impl<'a> TableColumns<'a> {
    /// Finds a table's columns in a file.
    ///
    /// # Errors
    /// Fails with Corrupt or Unsupported if the file has no usable schema.
    pub(crate) fn new(
        handle: &'a MetadataHandle,
        options: &TableParquetOptions,
        table: &'a SchemaRef,
    ) -> Result<Self> {
        let options = schema_options(options)?;
        let stored = stored_schema(handle, &options)?;
        let read = read_schema(handle, &options, table, &stored);
        let bounds = FileBounds::new(handle, &options, &read)?;
        Ok(Self {
            handle,
            table,
            read,
            bounds,
        })
    }
}

/// Returns a file's statistics.
pub(crate) fn statistics(columns: &TableColumns<'_>) -> Statistics {
    let metadata = columns.handle.metadata();
    // We add up the row groups' counts, because some writers leave the file's count at 0.
    let rows = usize::try_from(metadata.num_rows_of_row_groups()).unwrap_or_default();
    let bytes = |row_group: usize| {
        metadata
            .row_group_header(row_group)
            .map(|row_group_header| row_group_header.total_byte_size)
    };
    let bytes = (0..metadata.num_row_groups())
        .flat_map(bytes)
        .fold(0, i64::saturating_add);
    let column = |field: &arrow::datatypes::FieldRef| {
        // We only use bounds if the types are equal, because the engine may cast a column that the
        // file has in another type, or fill in a column that it lacks.
        let is_same = |read: &arrow::datatypes::Field| read.data_type() == field.data_type();
        let is_read = columns
            .read
            .field_with_name(field.name())
            .is_ok_and(is_same);
        let bounds = columns.bounds.column(field.name()).filter(|_| is_read);
        bounds.map_or_else(ColumnStatistics::new_unknown, |bounds| {
            column_statistics(bounds, field.data_type())
        })
    };
    Statistics {
        num_rows: Precision::Exact(rows),
        total_byte_size: match usize::try_from(bytes) {
            Ok(bytes) if bytes > 0 => Precision::Inexact(bytes),
            _ => Precision::Absent,
        },
        column_statistics: columns.table.fields().iter().map(column).collect(),
    }
}

fn column_statistics(bounds: &ColumnBounds, data_type: &DataType) -> ColumnStatistics {
    let mut statistics = ColumnStatistics::new_unknown();
    // A missing count does not mean zero.
    if bounds.null_counts.null_count() == 0 {
        let nulls = bounds
            .null_counts
            .iter()
            .flatten()
            .fold(0, u64::saturating_add);
        statistics.null_count = usize::try_from(nulls).map_or(Precision::Absent, Precision::Exact);
    }
    if let ([distinct], 0) = (
        bounds.distinct_counts.values().as_ref(),
        bounds.distinct_counts.null_count(),
    ) {
        let distinct = usize::try_from(*distinct);
        statistics.distinct_count = distinct.map_or(Precision::Absent, Precision::Inexact);
    }
    if is_complete(bounds) {
        let min = (&bounds.min, &bounds.is_min_exact, Ordering::Less);
        let max = (&bounds.max, &bounds.is_max_exact, Ordering::Greater);
        statistics.min_value = fold(min, data_type);
        statistics.max_value = fold(max, data_type);
    }
    statistics
}

/// Returns the least or greatest bound, which is only exact if it occurs in the data.
fn fold(
    (bounds, exact, wins): (
        &arrow::array::ArrayRef,
        &arrow::array::BooleanArray,
        Ordering,
    ),
    data_type: &DataType,
) -> Precision<ScalarValue> {
    let mut best: Option<(ScalarValue, bool)> = None;
    for slot in (0..bounds.len()).filter(|slot| bounds.is_valid(*slot)) {
        let Ok(value) = ScalarValue::try_from_array(bounds, slot) else {
            return Precision::Absent;
        };
        let is_exact = exact.is_valid(slot) && exact.value(slot);
        best = Some(match best {
            None => (value, is_exact),
            Some((best, was_exact)) => match value.partial_cmp(&best) {
                Some(Ordering::Equal) => (best, was_exact || is_exact),
                Some(order) if order == wins => (value, is_exact),
                Some(_) => (best, was_exact),
                None => return Precision::Absent,
            },
        });
    }
    let Some((value, is_exact)) = best else {
        return Precision::Absent;
    };
    // A zero is not exact, because it stands for zeros of both signs.
    let is_zero = data_type.is_floating()
        && ScalarValue::new_zero(data_type).is_ok_and(|zero| is_same_number(&zero, &value));
    match is_exact && !is_zero {
        true => Precision::Exact(value),
        false => Precision::Inexact(value),
    }
}

fn is_same_number(one: &ScalarValue, other: &ScalarValue) -> bool {
    match (one, other) {
        (ScalarValue::Float64(one), ScalarValue::Float64(other)) => one == other,
        (ScalarValue::Float32(one), ScalarValue::Float32(other)) => one == other,
        _ => false,
    }
}
