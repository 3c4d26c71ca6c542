//! Rows as a table for people.
//!
//! Tables are printed in blocks of [`BLOCK_ROWS`] rows, each with its header, so that memory does not depend on the
//! length of the file. Cells are truncated to [`CELL_CHARACTERS`] characters, and control characters are escaped,
//! because the contents of a file must not control the terminal. If a terminal has no room for all columns, those at
//! both ends are shown and the others counted.

mod fit;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use herringbone::variant::json::LostTypes;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{DataType, FieldRef, SchemaRef};

use super::plural::counted;
use super::printable::push_printable;
use super::value::{Boxed, of};
use crate::failure::Result;
use crate::output::Output;
use fit::Ends;

/// The number of rows in one table.
const BLOCK_ROWS: usize = 1000;
/// The maximum number of characters shown of a cell.
const CELL_CHARACTERS: usize = 72;

/// Rows collected for a table.
pub(crate) struct Rows {
    schema: SchemaRef,
    block: Vec<Vec<String>>,
    /// The columns to show. Set once a table has been printed.
    ends: Option<Ends>,
    /// The number of rows so far.
    count: u64,
}

impl Rows {
    /// Creates an empty collection.
    pub(crate) fn new(schema: SchemaRef) -> Self {
        Self {
            schema,
            block: Vec::new(),
            ends: None,
            count: 0,
        }
    }

    /// Adds the rows of `batch`, and prints each complete table. Returns the types of variants lost in the text.
    pub(crate) fn write(
        &mut self,
        batch: &RecordBatch,
        output: &mut Output<'_>,
    ) -> Result<LostTypes> {
        self.count += batch.num_rows() as u64;
        let columns: Vec<Boxed<'_>> = self
            .schema
            .fields()
            .iter()
            .zip(batch.columns())
            .map(|(field, column)| of(field, column.as_ref()))
            .collect::<Result<_>>()?;
        let lost = columns.iter().map(|column| column.lost());
        let lost = lost.fold(LostTypes::default(), LostTypes::union);
        if columns.is_empty() {
            return Ok(lost);
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
        Ok(lost)
    }

    /// Prints the remaining rows.
    pub(crate) fn finish(&mut self, output: &mut Output<'_>) -> Result<()> {
        if self.schema.fields().is_empty() {
            return output.line(&format!("{} without columns", counted(self.count, "row")));
        }
        if self.ends.is_some() && self.block.is_empty() {
            return Ok(());
        }
        self.print(output)
    }

    fn print(&mut self, output: &mut Output<'_>) -> Result<()> {
        let fields = self.schema.fields().iter();
        let names: Vec<String> = fields.map(|field| shown(field.name())).collect();
        let count = names.len();
        let ends = *self
            .ends
            .get_or_insert_with(|| ends(&names, &self.block, output.width()));
        let numbers: Vec<bool> = self.schema.fields().iter().map(is_number).collect();
        let numbers = ends.of(numbers, false).into_iter().enumerate();
        let between = fit::left_out(ends.left_out(count));
        let mut table = new(ends.of(names, between), output.width());
        let rows = self.block.drain(..);
        table.add_rows(rows.map(|row| ends.of(row, "…".into())));
        align(&mut table, numbers.filter(|(_, is)| *is).map(|(at, _)| at));
        output.line(&table.trim_fmt())
    }
}

/// Returns the columns to show. Without a `width`, these are all columns.
fn ends(names: &[String], rows: &[Vec<String>], width: Option<u16>) -> Ends {
    let width = width.map_or(usize::MAX, usize::from);
    let need = |(at, name): (usize, &String)| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        fit::need(name, cells.map(String::as_str), width)
    };
    let needs: Vec<usize> = names.iter().enumerate().map(need).collect();
    Ends::fitting(&needs, width)
}

/// Creates a table in the style of this command, for a terminal of `width` columns or for a file. Headers are broken
/// only between words. If even that is too wide, the terminal wraps lines.
pub(crate) fn new(names: impl IntoIterator<Item = String>, width: Option<u16>) -> Table {
    let header: Vec<String> = names.into_iter().collect();
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_content_arrangement(ContentArrangement::Disabled);
    let words: Vec<usize> = width.map_or_else(Vec::new, |width| {
        let words = header.iter();
        words.map(|name| fit::word(name, width.into())).collect()
    });
    table.set_header(header);
    if let Some(width) = width
        && Ends::fitting(&words, width.into()).left_out(words.len()) == 0
    {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width);
        for (column, word) in table.column_iter_mut().zip(words) {
            // The spaces at either side are included.
            let least = u16::try_from(word + 2).unwrap_or(u16::MAX);
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
        }
    }
    table
}

/// Aligns number columns, given by their indexes, to the right.
pub(crate) fn align(table: &mut Table, numbers: impl IntoIterator<Item = usize>) {
    for column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Returns true if a column contains numbers.
fn is_number(field: &FieldRef) -> bool {
    match field.data_type() {
        DataType::Dictionary(_, values) => values.is_numeric(),
        DataType::RunEndEncoded(_, values) => values.data_type().is_numeric(),
        other => other.is_numeric(),
    }
}

fn cell(column: &(dyn super::value::Value + '_), row: usize) -> String {
    if column.is_null(row) {
        return "null".into();
    }
    let mut text = String::new();
    column.cell(row, &mut text);
    shown(&text)
}

/// Returns at most [`CELL_CHARACTERS`] characters of `text`, with escapes for active characters.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::new();
    for (at, character) in text.chars().enumerate() {
        if at == CELL_CHARACTERS {
            out.push('…');
            break;
        }
        push_printable(&mut out, character);
    }
    out
}

#[cfg(test)]
mod tests;
