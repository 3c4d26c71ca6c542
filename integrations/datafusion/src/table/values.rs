//! Turns directory names into values of partition columns.

use std::sync::Arc;

use arrow::datatypes::{DataType, FieldRef};
use datafusion_common::stats::Precision;
use datafusion_common::tree_node::{Transformed, TreeNode};
use datafusion_common::{Column, Result, ScalarValue, Statistics, internal_datafusion_err};
use datafusion_datasource::PartitionedFile;
use datafusion_expr::expr::Cast;
use datafusion_expr::{BinaryExpr, Expr, Operator, lit, when};

use crate::partitions::NULL_PARTITION;

/// Gives a file the values that its texts stand for, with their statistics.
///
/// # Errors
/// Returns the errors of casting a text to its column's type.
pub(super) fn with_values(
    mut file: PartitionedFile,
    columns: &[FieldRef],
) -> Result<PartitionedFile> {
    let mut values = Vec::with_capacity(columns.len());
    for (text, column) in file.partition_values.iter().zip(columns) {
        let text = text.try_as_str().flatten();
        let text = text.ok_or_else(|| internal_datafusion_err!("a name is not text"))?;
        values.push(match text {
            NULL_PARTITION => ScalarValue::try_from(column.data_type())?,
            text => ScalarValue::try_from_string(text.to_owned(), column.data_type())?,
        });
    }
    file.partition_values = values;
    let Some(statistics) = file.statistics.take() else {
        return Ok(file);
    };
    // The last ones are the statistics of the texts, so we drop them.
    let mut statistics = Arc::unwrap_or_clone(statistics);
    let in_file = statistics.column_statistics.len();
    let in_file = in_file.saturating_sub(columns.len());
    statistics.column_statistics.truncate(in_file);
    let mut file = file.with_statistics(Arc::new(statistics));
    if file.partition_values.iter().any(ScalarValue::is_null) {
        let statistics = file.statistics.take().map(Arc::unwrap_or_clone);
        file.statistics =
            statistics.map(|of| Arc::new(with_nulls(of, &file.partition_values, in_file)));
    }
    Ok(file)
}

/// Corrects the statistics for nulls, because the engine counts no nulls in partition columns.
fn with_nulls(mut statistics: Statistics, values: &[ScalarValue], in_file: usize) -> Statistics {
    let rows = statistics.num_rows;
    let columns = statistics.column_statistics.iter_mut().skip(in_file);
    for (column, _) in columns.zip(values).filter(|(_, value)| value.is_null()) {
        column.null_count = rows;
        column.min_value = Precision::Absent;
        column.max_value = Precision::Absent;
        column.distinct_count = Precision::Absent;
    }
    statistics
}

/// Returns filters on the texts of partition columns that select the same files as the filters on
/// the values.
///
/// # Errors
/// Returns the errors of the engine's expressions.
pub(super) fn over_text(filters: &[Expr], columns: &[FieldRef]) -> Result<Vec<Expr>> {
    let mut over_text = Vec::new();
    for filter in filters {
        over_text.extend(of_one_directory(filter, columns));
        let filter = filter.clone().transform_up(|expr| match &expr {
            Expr::Column(column) => Ok(match field(column, columns) {
                Some(field) => Transformed::yes(value(field)?),
                None => Transformed::no(expr),
            }),
            _ => Ok(Transformed::no(expr)),
        })?;
        // We ask if the filter is true, because the engine takes the filter's value without asking
        // for nulls.
        over_text.push(Expr::IsTrue(Box::new(filter.data)));
    }
    Ok(over_text)
}

fn field<'a>(column: &Column, columns: &'a [FieldRef]) -> Option<&'a FieldRef> {
    columns.iter().find(|field| *field.name() == column.name)
}

/// Computes a column's value from its text.
fn value(field: &FieldRef) -> Result<Expr> {
    let text = Expr::Column(Column::from_name(field.name()));
    let null = lit(ScalarValue::Utf8(None));
    let text = when(text.clone().eq(lit(NULL_PARTITION)), null).otherwise(text)?;
    Ok(Expr::Cast(Cast::new(
        Box::new(text),
        field.data_type().clone(),
    )))
}

/// Returns `k = 'text'` for such a filter on a text column, because the engine then only lists that
/// directory. We do not do this for numbers, which may have several texts, such as 1 and 01.
fn of_one_directory(filter: &Expr, columns: &[FieldRef]) -> Option<Expr> {
    let Expr::BinaryExpr(BinaryExpr {
        left,
        op: Operator::Eq,
        right,
    }) = filter
    else {
        return None;
    };
    let ((Expr::Column(column), Expr::Literal(literal, _))
    | (Expr::Literal(literal, _), Expr::Column(column))) = (left.as_ref(), right.as_ref())
    else {
        return None;
    };
    let field = field(column, columns).filter(|field| is_text(field.data_type()))?;
    let text = literal.try_as_str().flatten()?;
    Some(Expr::Column(Column::from_name(field.name())).eq(lit(text)))
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}
