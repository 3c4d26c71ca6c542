//! The order of rows in files, which sorting columns declare and bounds must not contradict.

use std::cmp::Ordering;

use arrow::array::Array;
use arrow::compute::SortOptions;
use arrow::datatypes::DataType;
use datafusion_common::ScalarValue;
use datafusion_physical_expr::expressions::Column;
use datafusion_physical_expr::{LexOrdering, PhysicalSortExpr};
use herringbone::format::{SortingColumn, Type};
use herringbone::pruning::ColumnBounds;

use crate::bounds::is_all_null;
use crate::statistics::TableColumns;

/// Returns the order of the rows, or `None` if it is unknown.
///
/// All row groups must declare the order. We trust the declaration within a row group, but bounds
/// must show that the order also holds from one row group to the next.
pub(crate) fn ordering(columns: &TableColumns<'_>) -> Option<LexOrdering> {
    let mut order = Vec::new();
    for sorting in declared(columns)? {
        let Some((name, table_index)) = column_of(columns, &sorting) else {
            break;
        };
        let options = SortOptions {
            descending: sorting.descending,
            nulls_first: sorting.nulls_first,
        };
        // If no two row groups have equal values in the first column, the other columns only order
        // rows within a row group.
        let steps = match columns.bounds.num_row_groups() {
            0 | 1 => Steps::Rising,
            _ if !order.is_empty() => Steps::Rising,
            _ => columns
                .bounds
                .column(&name)
                .map_or(Steps::Unknown, |column| steps(column, options)),
        };
        if steps == Steps::Unknown {
            break;
        }
        order.push(PhysicalSortExpr::new(
            std::sync::Arc::new(Column::new(&name, table_index)),
            options,
        ));
        if steps == Steps::Equal {
            // Rows of two row groups may be equal in this column, so the next column may fall
            // there.
            break;
        }
    }
    LexOrdering::new(order)
}

/// Returns the sorting columns that all row groups begin with.
fn declared(columns: &TableColumns<'_>) -> Option<Vec<SortingColumn>> {
    let metadata = columns.handle.metadata();
    let mut common: Option<Vec<SortingColumn>> = None;
    for row_group in 0..metadata.num_row_groups() {
        let header = metadata.row_group_header(row_group).ok()?;
        let declared = header.sorting_columns.clone().unwrap_or_default();
        common = Some(match common {
            None => declared,
            Some(common) => {
                let both = common.into_iter().zip(declared);
                both.take_while(|(one, other)| one == other)
                    .map(|(one, _)| one)
                    .collect()
            }
        });
    }
    common
}

/// Returns the table's column that a sorting column names, if the engine orders its values as the
/// file does.
fn column_of(columns: &TableColumns<'_>, sorting: &SortingColumn) -> Option<(String, usize)> {
    let leaf = usize::try_from(sorting.column_idx).ok()?;
    let schema = columns.handle.parquet_schema();
    if schema.leaves().get(leaf)?.physical_type == Type::Int96 {
        return None;
    }
    let [name] = *schema.path(leaf) else {
        return None;
    };
    let (index, field) = columns.table.column_with_name(name)?;
    let read = columns.read.field_with_name(name).ok()?;
    let is_plain = columns.bounds.leaf(name) == Some(leaf) && read.data_type() == field.data_type();
    let is_number = read.data_type().is_floating();
    let is_ordered = !is_number || has_no_nan(columns.bounds.column(name)?);
    let is_dictionary = matches!(read.data_type(), DataType::Dictionary(..));
    (is_plain && is_ordered && !is_dictionary).then(|| (name.to_owned(), index))
}

/// Returns true if no row group can have a NaN, because the engine and the writers do not agree on
/// its place.
fn has_no_nan(bounds: &ColumnBounds) -> bool {
    bounds.nan_counts.null_count() == 0
        && bounds.nan_counts.iter().flatten().all(|count| count == 0)
}

/// The order of a column's values from one row group to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Steps {
    /// All rows of a row group are before those of the next one, and none are equal.
    Rising,
    /// Some rows of a row group may equal some of the next one.
    Equal,
    /// Row groups may overlap.
    Unknown,
}

fn steps(bounds: &ColumnBounds, options: SortOptions) -> Steps {
    let mut steps = Steps::Rising;
    // The last value so far, and true if there were nulls.
    let mut last: Option<ScalarValue> = None;
    let mut had_nulls = false;
    for row_group in 0..bounds.row_counts.len() {
        if bounds.row_counts.value(row_group) == 0 {
            continue;
        }
        if bounds.null_counts.is_null(row_group) {
            return Steps::Unknown;
        }
        let has_nulls = bounds.null_counts.value(row_group) > 0;
        let has_values = !is_all_null(bounds, row_group);
        let is_out_of_place = match options.nulls_first {
            true => has_nulls && last.is_some(),
            false => has_values && had_nulls,
        };
        if is_out_of_place {
            return Steps::Unknown;
        }
        if has_nulls && had_nulls {
            steps = Steps::Equal;
        }
        had_nulls |= has_nulls;
        if has_values {
            let (first, end) = match options.descending {
                true => (&bounds.max, &bounds.min),
                false => (&bounds.min, &bounds.max),
            };
            let value = |of: &arrow::array::ArrayRef| {
                let value = ScalarValue::try_from_array(of, row_group).ok();
                value.filter(|value| !value.is_null())
            };
            let (Some(first), Some(end)) = (value(first), value(end)) else {
                return Steps::Unknown;
            };
            let order = last
                .as_ref()
                .map_or(Some(Ordering::Less), |last| last.partial_cmp(&first));
            let order = match options.descending && last.is_some() {
                true => order.map(Ordering::reverse),
                false => order,
            };
            match order {
                Some(Ordering::Less) => {}
                Some(Ordering::Equal) => steps = Steps::Equal,
                _ => return Steps::Unknown,
            }
            last = Some(end);
        }
    }
    steps
}
