//! Arranges rows from files of any format on their way to the output.
//!
//! ```text
//! batches ─► condition ─► columns ─► sorted ─► offset and limit
//! ```
//!
//! For Parquet files, the condition is pushed down into the read so that it can skip pages. Unless
//! rows are sorted, so are the offset and the limit.

use std::sync::Arc;

use herringbone::WriteOptions;
use herringbone::filter::Predicate;
use herringbone::schema::EmptyStructs;
use herringbone_arrow::array::{Array as _, RecordBatch, RecordBatchOptions};
use herringbone_arrow::schema::SchemaRef;
use herringbone_filter::select;
use herringbone_interchange::read::Work;
use herringbone_sort::{Sorter, sorted_schema};
use herringbone_write::WritePlan;

use super::{Rows, Shape, Window};
use crate::args::{Choice, FileFormat, Sort};
use crate::base::failure::{Failure, Result};

/// A source of batches.
pub(crate) type Source<'a> = Box<dyn Iterator<Item = Result<RecordBatch>> + 'a>;

/// The failure for choosing row groups in a file other than Parquet.
pub(super) const NO_ROW_GROUPS: &str =
    "--row-groups is for Parquet files: others do not have row groups";

/// Returns the chosen rows and columns of a file other than Parquet, for writing as `to`.
///
/// # Errors
/// Fails with [`Failure::Usage`] if a chosen column does not exist, or if row groups are chosen.
pub(crate) fn chosen<'a>(choice: &Choice, rows: Rows<'a>, to: FileFormat) -> Result<Rows<'a>> {
    if choice.row_groups.is_some() {
        return Err(Failure::Usage(NO_ROW_GROUPS.into()));
    }
    let shape = Shape::new(choice.columns.as_ref(), &rows.schema)?;
    let mut batches = rows.batches;
    let refused = |error: herringbone::Error| Failure::Usage(error.message().to_owned());
    if let Some(predicate) = choice
        .wanted
        .condition(Some(&rows.schema))
        .map_err(refused)?
    {
        batches = filtered(batches, predicate);
    }
    let window = Window::of(&choice.part);
    let mut schema = shape.schema().clone();
    let work = match choice.leaves_out_rows() {
        true => Work::Unknown,
        false => rows.work,
    };
    let mut batches: Source<'_> = Box::new(batches.map(move |batch| shape.apply(&batch?)));
    // The Parquet writer sorts all rows itself, so we only have to sort if a window takes some of
    // the sorted rows.
    if choice.has_window() || to != FileFormat::Parquet {
        batches = sorted(batches, &schema, &choice.sort)?;
        schema = schema_of_sorted(&schema, Some(&choice.sort));
    }
    if choice.has_window() {
        batches = windowed(batches, window);
    }
    Ok(Rows {
        schema,
        batches,
        work,
    })
}

/// Returns the rows that match a condition.
fn filtered(batches: Source<'_>, predicate: Predicate) -> Source<'_> {
    let failure = |error: herringbone::Error| Failure::Usage(error.message().to_owned());
    Box::new(batches.map(move |batch| {
        let batch = batch?;
        let found = predicate.evaluate(&batch).map_err(failure)?;
        let bits = match found.nulls() {
            Some(nulls) => found.values() & nulls.inner(),
            None => found.values().clone(),
        };
        let rows = bits.count_set_bits();
        let columns = batch.columns().iter();
        let columns = columns.map(|array| select(array, &bits, rows));
        let columns = columns.collect::<Result<_, _>>().map_err(failure)?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(batch.schema(), columns, &options)
            .map_err(|error| Failure::Data(error.to_string()))
    }))
}

/// Returns the rows inside a window.
pub(crate) fn windowed(mut batches: Source<'_>, mut window: Window) -> Source<'_> {
    Box::new(std::iter::from_fn(move || {
        if window.is_past() {
            return None;
        }
        let batch = batches.next()?;
        Some(batch.map(|batch| window.take(&batch)))
    }))
}

/// Returns the schema of rows after [`sorted`]. Sorting can change it, because dictionaries get
/// other keys.
pub(crate) fn schema_of_sorted(schema: &SchemaRef, sort: Option<&Sort>) -> SchemaRef {
    match sort.is_some_and(Sort::is_given) {
        true => sorted_schema(schema),
        false => schema.clone(),
    }
}

/// Sorts the rows if requested, spilling to temporary files if they don't fit in memory.
///
/// # Errors
/// Fails with [`Failure::Usage`] if a column does not exist or cannot be compared.
pub(crate) fn sorted<'a>(
    batches: Source<'a>,
    schema: &SchemaRef,
    sort: &Sort,
) -> Result<Source<'a>> {
    if !sort.is_given() {
        return Ok(batches);
    }
    let mut options = WriteOptions::new();
    options.schema.empty_structs = EmptyStructs::UnknownLeaf;
    sort.choose(&mut options);
    options.sort_folder.get_or_insert_with(std::env::temp_dir);
    let option = sort.option;
    let failure = move |error: herringbone::Error| Failure::parquet(option, &error);
    let plan = WritePlan::new(schema.clone(), &options, None).map_err(failure)?;
    let Some(sorter) = Sorter::new(&Arc::new(plan), None).map_err(failure)? else {
        return Ok(batches);
    };
    let mut unsorted = Some(batches);
    let mut sorter = sorter;
    let mut next = move || -> Result<Option<RecordBatch>> {
        for batch in unsorted.take().into_iter().flatten() {
            sorter.push(&batch?).map_err(failure)?;
        }
        sorter.next_batch().map_err(failure)
    };
    Ok(Box::new(std::iter::from_fn(move || next().transpose())))
}
