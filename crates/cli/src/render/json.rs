//! Rows as JSON lines: one object per row, one row per line.

use herringbone::variant::json::LostTypes;
use herringbone_arrow::array::RecordBatch;

use super::nested::Struct;
use super::printable::printable_json;
use super::value::Value as _;
use crate::failure::Result;
use crate::output::Output;

/// Writes each row of `batch` as a JSON object and a line feed.
///
/// A batch without columns still has rows, `{}`. Returns the types of variants lost in the text.
pub(crate) fn write(batch: &RecordBatch, output: &mut Output<'_>) -> Result<LostTypes> {
    let schema = batch.schema_ref();
    let columns = batch.columns().iter().map(AsRef::as_ref);
    let rows = Struct::of_columns(schema.fields(), columns)?;
    let mut line = String::new();
    for row in 0..batch.num_rows() {
        line.clear();
        rows.json(row, &mut line);
        output.line(&output.shown(&line, printable_json))?;
    }
    Ok(rows.lost())
}

#[cfg(test)]
mod tests;
