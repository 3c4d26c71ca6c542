//! Rows as JSON lines, one object per line, or as an array of such lines.

use herringbone::variant::json::LostTypes;
use herringbone_arrow::array::RecordBatch;

use super::nested::Struct;
use super::printable::printable_json;
use super::value::Value as _;
use crate::failure::Result;
use crate::output::Output;

/// The lines of JSON objects, and the brackets around them.
pub(crate) struct Lines {
    /// The end of the array around the objects. `None` for objects on lines of their own.
    end: Option<&'static str>,
    /// True if there has been an object.
    begun: bool,
}

impl Lines {
    /// Creates lines without anything around them.
    pub(super) fn alone() -> Self {
        Self {
            end: None,
            begun: false,
        }
    }

    /// Begins an array whose brackets are in `start` and `end`.
    pub(super) fn array(start: &str, end: &'static str, output: &mut Output<'_>) -> Result<Self> {
        output.write(start.as_bytes())?;
        Ok(Self {
            end: Some(end),
            begun: false,
        })
    }

    /// Writes an object.
    pub(super) fn line(&mut self, object: &str, output: &mut Output<'_>) -> Result<()> {
        let object = output.shown(object, printable_json);
        if self.end.is_none() {
            return output.line(&object);
        }
        output.write(if self.begun { b",\n" } else { b"\n" })?;
        self.begun = true;
        output.write(object.as_bytes())
    }

    /// Ends the array.
    pub(super) fn finish(self, output: &mut Output<'_>) -> Result<()> {
        match self.end {
            Some(end) => output.line(&format!("\n{end}")),
            None => Ok(()),
        }
    }
}

/// A writer of rows as JSON objects.
pub(crate) struct Rows(Lines);

impl Rows {
    /// Creates a writer of JSON lines.
    pub(crate) fn lines() -> Self {
        Self(Lines::alone())
    }

    /// Begins an array.
    pub(crate) fn array(output: &mut Output<'_>) -> Result<Self> {
        Lines::array("[", "]", output).map(Self)
    }

    /// Writes each row of `batch`.
    ///
    /// A batch without columns still has rows, `{}`. Returns the types of variants lost in the text.
    pub(crate) fn write(
        &mut self,
        batch: &RecordBatch,
        output: &mut Output<'_>,
    ) -> Result<LostTypes> {
        let schema = batch.schema_ref();
        let columns = batch.columns().iter().map(AsRef::as_ref);
        let rows = Struct::of_columns(schema.fields(), columns)?;
        let mut line = String::new();
        for row in 0..batch.num_rows() {
            line.clear();
            rows.json(row, &mut line);
            self.0.line(&line, output)?;
        }
        Ok(rows.lost())
    }

    /// Ends the array, if there is one.
    pub(crate) fn finish(self, output: &mut Output<'_>) -> Result<()> {
        self.0.finish(output)
    }
}

#[cfg(test)]
mod tests;
