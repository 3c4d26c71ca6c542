//! Rows that have nulls in partition columns.
//!
//! The engine takes the values of partition columns without asking for nulls, so that a null
//! becomes 0, a day in 1970 or the empty text. So we split the batches by the partition columns in
//! which their rows have nulls, and put the name of the null partition into these columns, where
//! the engine finds it.

use std::sync::Arc;

use arrow::array::cast::AsArray;
use arrow::array::{
    Array, ArrayRef, BooleanArray, LargeStringArray, RecordBatch, StringArray, new_null_array,
};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion_common::Result;
use datafusion_execution::SendableRecordBatchStream;
use datafusion_physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, TryStreamExt, stream};

use crate::partitions::NULL_PARTITION;

/// Returns a stream that has the name of the null partition in place of nulls in the table's
/// partition columns.
pub(super) fn named(
    data: SendableRecordBatchStream,
    columns: &[(String, DataType)],
) -> SendableRecordBatchStream {
    let columns: Vec<_> = columns.iter().map(|(name, _)| name.clone()).collect();
    let schema = data.schema();
    let batches = data
        .map(move |batch| split(batch?, &columns))
        .map_ok(|parts| stream::iter(parts.into_iter().map(Ok)))
        .try_flatten();
    Box::pin(RecordBatchStreamAdapter::new(schema, batches))
}

/// Splits a batch by the columns in which its rows have nulls, and keeps the order of the rows
/// within each part.
fn split(batch: RecordBatch, columns: &[String]) -> Result<Vec<RecordBatch>> {
    let mut parts = vec![batch];
    for name in columns {
        let mut split = Vec::with_capacity(parts.len());
        for part in parts {
            let at = part.schema().index_of(name)?;
            let nulls = part.column(at).logical_nulls();
            let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else {
                split.push(part);
                continue;
            };
            let is_valid = BooleanArray::new(nulls.inner().clone(), None);
            let is_null = BooleanArray::new(!nulls.inner(), None);
            if nulls.null_count() < part.num_rows() {
                split.push(filter_record_batch(&part, &is_valid)?);
            }
            split.push(with_name(&filter_record_batch(&part, &is_null)?, at)?);
        }
        parts = split;
    }
    Ok(parts)
}

/// Replaces a column of nulls by the name of their partition. The new column has another type than
/// the old one, by which `restored` recognises it.
fn with_name(batch: &RecordBatch, at: usize) -> Result<RecordBatch> {
    let names = std::iter::repeat_n(NULL_PARTITION, batch.num_rows());
    let names: ArrayRef = match batch.column(at).data_type() {
        DataType::LargeUtf8 => Arc::new(StringArray::from_iter_values(names)),
        _ => Arc::new(LargeStringArray::from_iter_values(names)),
    };
    let schema = batch.schema();
    let (mut fields, mut columns) = (Vec::new(), Vec::new());
    for (place, (field, column)) in schema.fields().iter().zip(batch.columns()).enumerate() {
        let is_named = place == at;
        fields.push(match is_named {
            true => Arc::new(Field::new(field.name(), names.data_type().clone(), false)),
            false => field.clone(),
        });
        columns.push(if is_named { &names } else { column }.clone());
    }
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    Ok(RecordBatch::try_new(Arc::new(schema), columns)?)
}

/// Returns the nulls of a column in which the engine found the name of their partition. Other
/// columns are returned as they are.
pub(super) fn restored(column: &ArrayRef, field: &Field) -> ArrayRef {
    let is_name = match column.data_type() {
        found if found == field.data_type() || column.is_empty() => false,
        DataType::Utf8 => column.as_string::<i32>().value(0) == NULL_PARTITION,
        DataType::LargeUtf8 => column.as_string::<i64>().value(0) == NULL_PARTITION,
        _ => false,
    };
    match is_name {
        true => new_null_array(field.data_type(), column.len()),
        false => column.clone(),
    }
}
