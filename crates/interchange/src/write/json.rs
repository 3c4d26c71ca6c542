//! Writes rows as JSON lines, with one object per line, or as an array of such lines.

use herringbone::variant::json::LostTypes;
use herringbone_arrow::array::RecordBatch;

use super::TextOutput;
use super::nested::Struct;
use super::value::Value as _;
use crate::error::Result;

/// JSON objects on separate lines, optionally with brackets around them.
pub struct Lines {
    /// The closing brackets of the array, or `None` for plain JSON lines.
    end: Option<&'static str>,
    /// True if an object has been written.
    begun: bool,
}

impl Lines {
    /// Creates plain JSON lines.
    pub(super) fn alone() -> Self {
        Self {
            end: None,
            begun: false,
        }
    }

    /// Begins an array with `start` and `end` as brackets.
    pub(super) fn array<O: TextOutput>(
        start: &str,
        end: &'static str,
        output: &mut O,
    ) -> Result<Self, O::Error> {
        output.write(start)?;
        Ok(Self {
            end: Some(end),
            begun: false,
        })
    }

    /// Writes an object.
    pub(super) fn line<O: TextOutput>(
        &mut self,
        object: &str,
        output: &mut O,
    ) -> Result<(), O::Error> {
        if self.end.is_none() {
            output.object(object)?;
            return output.write("\n");
        }
        output.write(if self.begun { ",\n" } else { "\n" })?;
        self.begun = true;
        output.object(object)
    }

    /// Ends the array.
    pub(super) fn finish<O: TextOutput>(self, output: &mut O) -> Result<(), O::Error> {
        match self.end {
            Some(end) => output.write(&format!("\n{end}\n")),
            None => Ok(()),
        }
    }
}

/// A writer of rows as JSON objects.
pub struct Rows(Lines);

impl Rows {
    /// Creates a writer of JSON lines.
    pub fn lines() -> Self {
        Self(Lines::alone())
    }

    /// Begins an array.
    pub fn array<O: TextOutput>(output: &mut O) -> Result<Self, O::Error> {
        Lines::array("[", "]", output).map(Self)
    }

    /// Writes each row in `batch`. Returns the variant types lost in the text.
    ///
    /// If a batch has no columns, its rows are `{}`.
    pub fn write<O: TextOutput>(
        &mut self,
        batch: &RecordBatch,
        output: &mut O,
    ) -> Result<LostTypes, O::Error> {
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
    pub fn finish<O: TextOutput>(self, output: &mut O) -> Result<(), O::Error> {
        self.0.finish(output)
    }
}

#[cfg(test)]
mod tests;
