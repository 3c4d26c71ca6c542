//! Pushed-down sorts, which read row groups and files in an order that fills a `TopK` early.

use std::cmp::Ordering;
use std::fmt;

use arrow::datatypes::{Schema, SchemaRef};
use datafusion_common::{Result, ScalarValue};
use datafusion_datasource::PartitionedFile;
use datafusion_physical_expr::expressions::Column;
use datafusion_physical_expr::{EquivalenceProperties, PhysicalSortExpr};

use crate::bounds::FileBounds;

/// The order in which files and row groups are read, while the rows themselves are not sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReadOrder {
    /// Row groups and files are ordered by this column's bounds.
    By { column: String, descending: bool },
    /// Each file is read from its end, because it is sorted the other way around.
    Reversed,
}

/// The answer to a request for an order of the rows.
pub(crate) enum SortPushdown {
    /// The rows already have this order.
    Exact,
    /// Files and row groups can be read in roughly this order.
    Inexact(ReadOrder),
    Unsupported,
}

/// Answers a request for an order of the rows.
///
/// # Errors
/// Fails for the same reasons as [`EquivalenceProperties::ordering_satisfy`].
pub(crate) fn push_down(
    order: &[PhysicalSortExpr],
    properties: &EquivalenceProperties,
    file_schema: &SchemaRef,
) -> Result<SortPushdown> {
    let Some(first) = order.first() else {
        return Ok(SortPushdown::Unsupported);
    };
    if properties.ordering_satisfy(order.iter().cloned())? {
        return Ok(SortPushdown::Exact);
    }
    // If the rows have a part of the order, a sort above the scan makes use of it, so we must not
    // lose it.
    for length in 1..order.len() {
        if properties.ordering_satisfy(order.iter().take(length).cloned())? {
            return Ok(SortPushdown::Unsupported);
        }
    }
    if let Some(column) = first.expr.downcast_ref::<Column>()
        && file_schema.field_with_name(column.name()).is_ok()
    {
        let column = column.name().to_owned();
        let descending = first.options.descending;
        return Ok(SortPushdown::Inexact(ReadOrder::By { column, descending }));
    }
    let mut reversed = properties.clone();
    reversed.clear_orderings();
    let orderings = properties.oeq_class().iter();
    let reverse = |it: &PhysicalSortExpr| it.reverse();
    reversed.add_orderings(
        orderings.map(|orderings| orderings.iter().map(reverse).collect::<Vec<_>>()),
    );
    Ok(match reversed.ordering_satisfy(order.iter().cloned())? {
        true => SortPushdown::Inexact(ReadOrder::Reversed),
        false => SortPushdown::Unsupported,
    })
}

impl ReadOrder {
    /// Orders a file's row groups, with those that have no bounds at the end.
    pub(crate) fn row_groups(&self, row_groups: &mut [usize], bounds: &FileBounds) {
        match self {
            Self::Reversed => row_groups.reverse(),
            Self::By { column, descending } => {
                let Some(column_bounds) = bounds.column(column) else {
                    return;
                };
                let best = if *descending {
                    &column_bounds.max
                } else {
                    &column_bounds.min
                };
                let value = |row_group: usize| {
                    let slot = bounds.slot(row_group).filter(|slot| *slot < best.len())?;
                    ScalarValue::try_from_array(best, slot).ok()
                };
                row_groups.sort_by_cached_key(|row_group| Key::new(value(*row_group), *descending));
            }
        }
    }

    /// Orders a partition's files, with those that have no statistics at the end.
    pub(crate) fn files(
        &self,
        mut files: Vec<PartitionedFile>,
        table: &Schema,
    ) -> Vec<PartitionedFile> {
        let Self::By { column, descending } = self else {
            return files;
        };
        let Ok(column) = table.index_of(column) else {
            return files;
        };
        let value = |file: &PartitionedFile| {
            let statistics = file.statistics.as_ref()?.column_statistics.get(column)?;
            let best = if *descending {
                &statistics.max_value
            } else {
                &statistics.min_value
            };
            best.get_value().cloned()
        };
        files.sort_by_cached_key(|file| Key::new(value(file), *descending));
        files
    }
}

/// A bound that files or row groups are ordered by.
#[derive(PartialEq, Eq)]
struct Key {
    value: Option<ScalarValue>,
    descending: bool,
}

impl Key {
    fn new(value: Option<ScalarValue>, descending: bool) -> Self {
        Self {
            value: value.filter(|value| !value.is_null()),
            descending,
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.value, &other.value) {
            (Some(one), Some(other)) => {
                let order = one.partial_cmp(other).unwrap_or(Ordering::Equal);
                if self.descending {
                    order.reverse()
                } else {
                    order
                }
            }
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        }
    }
}

impl fmt::Display for ReadOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::By { column, descending } => {
                let direction = if *descending { "DESC" } else { "ASC" };
                write!(f, "row_group_order=[{column} {direction}]")
            }
            Self::Reversed => f.write_str("reverse_row_groups=true"),
        }
    }
}
