//! Predicates of one's own.

use std::fmt;

use herringbone_arrow::array::{Array as _, BooleanArray, RecordBatch, RecordBatchOptions};
use herringbone_arrow::buffer::{BooleanBuffer, BooleanBufferBuilder};
use herringbone_format::{Error, FileMetadata, Result};
use herringbone_schema::ParquetSchema;

use super::{Predicate, Verdict, select};
use crate::extension::ExtensionColumnOption;

/// A predicate that looks at Arrow arrays by itself: a function, or a kind of test that the library does not know.
pub trait RowPredicate: fmt::Debug + Send + Sync {
    /// The columns that it looks at: each a path, from the root to a field.
    fn columns(&self) -> Vec<Vec<String>>;

    /// Further columns that it looks at, which extension types make: in the batch under their names.
    fn extension_columns(&self) -> Vec<ExtensionColumnOption> {
        Vec::new()
    }

    /// Whether each row is wanted; null where that is unknown, which wants none. `batch` has the columns that were asked
    /// for, in the order of the file, and may have others.
    ///
    /// # Errors
    /// Whatever is wrong; the read ends with it.
    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray>;

    /// A predicate that is true wherever this one is, by which rows are passed over: its statistics, page indexes and bloom
    /// filters are looked at, its values only [on request](Self::tests_implied). Its columns are leaves of the file, wherever
    /// they lie; they need not be among [those](Self::columns) that this one looks at.
    ///
    /// # Errors
    /// Whatever is wrong; the read does not begin.
    fn implied(&self, _schema: &ParquetSchema) -> Result<Option<Predicate>> {
        Ok(None)
    }

    /// Whether rows are tested by what is [implied](Self::implied) before the columns of this one are decoded, and those alone
    /// that are left by it: worth it where it looks at other columns, of far fewer bytes.
    fn tests_implied(&self) -> bool {
        false
    }

    /// What the metadata of a row group tells without any row of it.
    ///
    /// # Errors
    /// Whatever is wrong; the read ends with it.
    fn verdict(&self, _metadata: &FileMetadata, _row_group: usize) -> Result<Verdict> {
        Ok(Verdict::Some)
    }
}

/// Returns one bit per row, which is set if a predicate, or its opposite, selects the row. The predicate sees only the rows
/// `among` these; the other bits are not set.
///
/// # Errors
/// Errors of the predicate; Argument if it answers for another number of rows.
pub(super) fn evaluate_rows(
    predicate: &dyn RowPredicate,
    is_negated: bool,
    batch: &RecordBatch,
    among: Option<&BooleanBuffer>,
) -> Result<BooleanBuffer> {
    let num_rows = batch.num_rows();
    let among = among.map(|among| (among, among.count_set_bits()));
    let Some((among, seen)) = among.filter(|(_, seen)| *seen < num_rows) else {
        return selected(predicate, is_negated, batch);
    };
    if seen == 0 {
        return Ok(BooleanBuffer::new_unset(num_rows));
    }
    let columns = batch.columns().iter();
    let columns = columns.map(|array| select(array, among, seen));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(seen));
    let seen = RecordBatch::try_new_with_options(batch.schema(), columns, &options);
    let seen = seen.map_err(|error| Error::corrupt(error.to_string()))?;
    let found = selected(predicate, is_negated, &seen)?;
    let mut bits = BooleanBufferBuilder::new(num_rows);
    bits.append_n(num_rows, false);
    for (row, is_found) in among.set_indices().zip(&found) {
        bits.set_bit(row, is_found);
    }
    Ok(bits.finish())
}

/// Returns one bit per row of a batch, which is set if a predicate, or its opposite, selects the row.
fn selected(
    predicate: &dyn RowPredicate,
    is_negated: bool,
    batch: &RecordBatch,
) -> Result<BooleanBuffer> {
    let found = predicate.evaluate(batch)?;
    if found.len() != batch.num_rows() {
        return Err(Error::argument(format!(
            "a predicate answered for {} of {} rows",
            found.len(),
            batch.num_rows()
        )));
    }
    let bits = match is_negated {
        true => !found.values(),
        false => found.values().clone(),
    };
    Ok(match found.nulls() {
        Some(nulls) => &bits & nulls.inner(),
        None => bits,
    })
}
