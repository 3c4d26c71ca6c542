//! Rows in another order, in memory.

use std::sync::Arc;

use arrow_row::{RowConverter, SortField};
use arrow_select::interleave::interleave_record_batch;
use herringbone::SortingColumnOption;
use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{Array as _, ArrayRef, RecordBatch, make_array};
use herringbone_arrow::buffer::NullBuffer;
use herringbone_arrow::schema::{ArrowError, DataType, Schema, SortOptions};

use crate::failure::{Failure, Result};

/// Rows of a batch.
const BATCH_ROWS: usize = 8192;

/// Batches in memory.
pub(crate) type Sorted = Box<dyn Iterator<Item = Result<RecordBatch>>>;

/// Reads all batches and gives their rows in order; those that are equal stay as they were.
///
/// Held are all rows, and for each the bytes that it is compared by.
///
/// # Errors
/// Usage where there is no such column, or nothing to sort by in it; what the batches end with.
pub(crate) fn sorted(
    batches: impl Iterator<Item = Result<RecordBatch>>,
    schema: &Schema,
    keys: &[SortingColumnOption],
) -> Result<Sorted> {
    let fields: Vec<SortField> = keys
        .iter()
        .map(|key| sort_field(schema, key))
        .collect::<Result<_>>()?;
    let converter =
        RowConverter::new(fields).map_err(|error| Failure::Usage(format!("--sort-by: {error}")))?;
    let mut texts = converter.empty_rows(0, 0);
    let mut all = Vec::new();
    // Where each batch begins.
    let mut starts = Vec::new();
    for batch in batches {
        let batch = batch?;
        let columns: Vec<ArrayRef> = keys
            .iter()
            .map(|key| column(&batch, &key.path))
            .collect::<Result<_, _>>()
            .map_err(unsortable)?;
        starts.push(texts.num_rows());
        converter.append(&mut texts, &columns).map_err(unsortable)?;
        all.push(batch);
    }
    let mut order: Vec<usize> = (0..texts.num_rows()).collect();
    order.sort_by(|a, b| texts.row(*a).cmp(&texts.row(*b)));
    drop(texts);
    share_dictionaries(&mut all, schema)?;
    let mut at = 0;
    Ok(Box::new(std::iter::from_fn(move || {
        let end = (at + BATCH_ROWS).min(order.len());
        let rows = order.get(at..end).filter(|rows| !rows.is_empty())?;
        at = end;
        let place = |row: &usize| {
            let batch = starts.partition_point(|start| start <= row) - 1;
            (batch, row - starts.get(batch).unwrap_or(&0))
        };
        let places: Vec<(usize, usize)> = rows.iter().map(place).collect();
        let batches: Vec<&RecordBatch> = all.iter().collect();
        Some(interleave_record_batch(&batches, &places).map_err(unsortable))
    })))
}

/// Lets batches share their dictionaries where these are equal: others are merged when rows are put
/// together, which keeps neither their order nor values that no row has.
///
/// # Errors
/// Data where the order of a dictionary means something, and batches have several.
fn share_dictionaries(batches: &mut [RecordBatch], schema: &Schema) -> Result<()> {
    for (place, field) in schema.fields().iter().enumerate() {
        let mut first: Option<ArrayRef> = None;
        for batch in &mut *batches {
            let Some(array) = batch.column(place).as_any_dictionary_opt() else {
                break;
            };
            let first = first.get_or_insert_with(|| array.values().clone());
            if Arc::ptr_eq(first, array.values()) {
                continue;
            }
            if first.as_ref() == array.values().as_ref() {
                let mut columns = batch.columns().to_vec();
                let shared = array.with_values(first.clone());
                if let Some(column) = columns.get_mut(place) {
                    *column = shared;
                }
                *batch = RecordBatch::try_new(batch.schema(), columns).map_err(unsortable)?;
            } else if field.dict_is_ordered() == Some(true) {
                let name = field.name();
                return Err(Failure::Data(format!(
                    "cannot be sorted: `{name}` is an ordered dictionary, and its parts differ"
                )));
            }
        }
    }
    Ok(())
}

fn unsortable(error: ArrowError) -> Failure {
    Failure::Data(format!("cannot be sorted: {error}"))
}

/// What is compared, and how.
fn sort_field(schema: &Schema, key: &SortingColumnOption) -> Result<SortField> {
    let name = key.path.join(".");
    let mut fields = schema.fields();
    let mut found = None;
    for part in &key.path {
        let field = fields.iter().find(|field| field.name() == part);
        let field = field
            .ok_or_else(|| Failure::Usage(format!("there is no column `{name}` to sort by")))?;
        if let DataType::Struct(children) = field.data_type() {
            fields = children;
        }
        found = Some(field.data_type().clone());
    }
    match found {
        Some(data_type) if !data_type.is_nested() => {
            let options = SortOptions {
                descending: key.descending,
                nulls_first: key.nulls_first,
            };
            Ok(SortField::new_with_options(data_type, options))
        }
        _ => Err(Failure::Usage(format!(
            "`{name}` has no order to sort by: name a column without parts"
        ))),
    }
}

/// The column with this path; null where a struct around it is.
fn column(batch: &RecordBatch, path: &[String]) -> Result<ArrayRef, ArrowError> {
    let missing = || ArrowError::SchemaError(format!("no column `{}`", path.join(".")));
    let (first, rest) = path.split_first().ok_or_else(missing)?;
    let mut array = batch.column_by_name(first).ok_or_else(missing)?.clone();
    for part in rest {
        let parent = array.as_struct_opt().ok_or_else(missing)?;
        let child = parent.column_by_name(part).ok_or_else(missing)?;
        let nulls = NullBuffer::union(parent.nulls(), child.nulls());
        let data = child.to_data().into_builder().nulls(nulls).build()?;
        array = make_array(data);
    }
    Ok(array)
}
