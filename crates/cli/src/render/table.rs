//! Rows as a table for people to look at.
//!
//! Tables are printed in blocks of [`BLOCK_ROWS`] rows, each with its header, so that a long file
//! needs no more memory than a short one. Cells are cut at [`CELL_CHARACTERS`] characters and show
//! control characters as escapes: what a file holds must not drive the terminal.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{DataType, FieldRef, Schema, SchemaRef};

use super::value::{Boxed, of};
use crate::failure::Result;
use crate::output::Output;

/// Rows of one table.
const BLOCK_ROWS: usize = 1000;
/// Characters of a cell that are shown.
const CELL_CHARACTERS: usize = 72;
/// Characters that a column needs to be readable; where a terminal has less, lines run over.
const COLUMN_CHARACTERS: usize = 8;

/// Rows on their way into a table.
pub(crate) struct Rows {
    schema: SchemaRef,
    block: Vec<Vec<String>>,
    /// Whether a table was printed.
    begun: bool,
    /// Rows so far.
    count: u64,
}

impl Rows {
    /// No rows yet.
    pub(crate) fn new(schema: SchemaRef) -> Self {
        Self {
            schema,
            block: Vec::new(),
            begun: false,
            count: 0,
        }
    }

    /// Adds the rows of `batch`, and prints what makes a full table.
    pub(crate) fn write(&mut self, batch: &RecordBatch, output: &mut Output<'_>) -> Result<()> {
        self.count += batch.num_rows() as u64;
        let columns: Vec<Boxed<'_>> = self
            .schema
            .fields()
            .iter()
            .zip(batch.columns())
            .map(|(field, column)| of(field, column.as_ref()))
            .collect::<Result<_>>()?;
        if columns.is_empty() {
            return Ok(());
        }
        for row in 0..batch.num_rows() {
            self.block.push(
                columns
                    .iter()
                    .map(|column| cell(column.as_ref(), row))
                    .collect(),
            );
            if self.block.len() == BLOCK_ROWS {
                self.print(output)?;
            }
        }
        Ok(())
    }

    /// Prints the rest.
    pub(crate) fn finish(&mut self, output: &mut Output<'_>) -> Result<()> {
        if self.schema.fields().is_empty() {
            return output.line(&format!("{} rows without columns", self.count));
        }
        if self.begun && self.block.is_empty() {
            return Ok(());
        }
        self.print(output)
    }

    fn print(&mut self, output: &mut Output<'_>) -> Result<()> {
        let names = self.schema.fields().iter().map(|field| shown(field.name()));
        let mut table = new(names, output.width());
        table.add_rows(self.block.drain(..));
        align(&mut table, numbers(&self.schema));
        self.begun = true;
        output.line(&table.trim_fmt())
    }
}

/// A table in the style of this command, for a terminal of `width` columns or for a file.
pub(crate) fn new(names: impl IntoIterator<Item = String>, width: Option<u16>) -> Table {
    let header: Vec<String> = names.into_iter().collect();
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    match width {
        Some(width) if usize::from(width) >= header.len() * COLUMN_CHARACTERS => {
            table
                .set_content_arrangement(ContentArrangement::Dynamic)
                .set_width(width);
        }
        _ => {
            table.set_content_arrangement(ContentArrangement::Disabled);
        }
    }
    table.set_header(header);
    table
}

/// Puts numbers, by the places of their columns, to the right.
pub(crate) fn align(table: &mut Table, numbers: impl IntoIterator<Item = usize>) {
    for column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// The places of the columns that hold numbers.
fn numbers(schema: &Schema) -> impl Iterator<Item = usize> {
    let is_number = |field: &FieldRef| match field.data_type() {
        DataType::Dictionary(_, values) => values.is_numeric(),
        DataType::RunEndEncoded(_, values) => values.data_type().is_numeric(),
        other => other.is_numeric(),
    };
    let fields = schema.fields().iter().enumerate();
    fields
        .filter(move |(_, field)| is_number(field))
        .map(|(at, _)| at)
}

fn cell(column: &(dyn super::value::Value + '_), row: usize) -> String {
    if column.is_null(row) {
        return "null".into();
    }
    let mut text = String::new();
    column.text(row, &mut text);
    shown(&text)
}

/// At most [`CELL_CHARACTERS`] characters of `text`, none of which a terminal obeys.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::new();
    for (at, character) in text.chars().enumerate() {
        if at == CELL_CHARACTERS {
            out.push('…');
            break;
        }
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests;
