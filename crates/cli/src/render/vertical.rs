//! Prints rows with a line for each value, which works well for rows with many columns.

use herringbone::variant::json::LostTypes;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{FieldRef, Schema};
use herringbone_interchange::write::value::{Boxed, of};
use unicode_width::UnicodeWidthStr as _;

use super::table::cell_text;
use crate::base::failure::Result;
use crate::base::printable::printable;
use crate::base::type_name::type_name;
use crate::output::Output;

/// Writes rows one below the other.
pub(crate) struct Rows {
    /// The columns' names and types, padded to equal widths.
    names: Vec<String>,
    /// The number of rows so far.
    count: u64,
}

impl Rows {
    /// Creates a writer for rows with this schema.
    pub(crate) fn new(schema: &Schema) -> Self {
        let padded = |texts: Vec<String>| {
            let width = texts.iter().map(|text| text.width()).max().unwrap_or(0);
            let pad = move |text: String| {
                let blanks = " ".repeat(width - text.width());
                text + &blanks
            };
            texts.into_iter().map(pad)
        };
        let fields = || schema.fields().iter();
        let names = padded(fields().map(|fields| printable(fields.name())).collect());
        let types = padded(fields().map(|field: &FieldRef| type_name(field)).collect());
        let lines = names.zip(types);
        Self {
            names: lines.map(|(name, of)| format!("{name}  {of}  ")).collect(),
            count: 0,
        }
    }

    /// Writes each row of `batch`. Returns the variant types lost in the text.
    pub(crate) fn write(
        &mut self,
        batch: &RecordBatch,
        output: &mut Output<'_>,
    ) -> Result<LostTypes> {
        let fields = batch.schema_ref().fields().iter();
        let columns = fields.zip(batch.columns());
        let columns: Vec<Boxed<'_>> = columns
            .map(|(field, column)| Ok(of(field, column.as_ref())?))
            .collect::<Result<_>>()?;
        let schema = batch.schema_ref();
        for row in 0..batch.num_rows() {
            self.count += 1;
            output.line(&format!("row {}", self.count))?;
            let lines = self.names.iter().zip(schema.fields()).zip(&columns);
            for ((name, field), column) in lines {
                let text = cell_text(field, column.as_ref(), row);
                output.line(format!("  {name}{}", printable(&text)).trim_end())?;
            }
        }
        let lost = columns.iter().map(|column| column.lost());
        Ok(lost.fold(LostTypes::default(), LostTypes::union))
    }
}
