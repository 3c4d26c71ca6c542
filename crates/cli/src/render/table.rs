//! Prints rows and lists as tables for people.
//!
//! Tables are printed in blocks of [`BLOCK_ROWS`] rows, each with its own header, so that memory
//! does not depend on the file's length. Cells are truncated to [`CELL_CHARACTERS`] characters.
//! Control characters are escaped, because a file's contents must not control the terminal. On a
//! terminal, each row is one line. Numbers and dates are never cut, because they would be misread.
//! Other cells are only cut if necessary. If there isn't room for all columns, we show the first
//! and last columns and count the others.

mod fit;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use herringbone::variant::json::LostTypes;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{DataType, Field, Schema, SchemaRef};
use herringbone_interchange::write::value::{Boxed, Value, is_number, of};

use crate::base::failure::Result;
use crate::base::plural::{counted, grouped};
use crate::base::printable::push_printable;
use crate::base::type_name::type_name;
use crate::output::Output;
use crate::render::color::colored;
use fit::Ends;

/// The number of rows in one table.
const BLOCK_ROWS: usize = 1000;
/// The maximum number of characters to show of a cell.
const CELL_CHARACTERS: usize = 72;
/// The cell that stands for a null. A text `null` is shown in quotes.
pub(super) const NULL: &str = "null";

/// Collects rows for the next table.
pub(crate) struct Rows {
    schema: SchemaRef,
    block: Vec<Vec<String>>,
    /// The columns to show, chosen for the first table and reused for all others.
    layout: Option<Layout>,
    /// The number of rows so far.
    count: u64,
}

impl Rows {
    /// Creates an empty collection.
    pub(crate) fn new(schema: SchemaRef) -> Self {
        Self {
            schema,
            block: Vec::new(),
            layout: None,
            count: 0,
        }
    }

    /// Adds the rows of `batch`, printing each complete table. Returns the variant types lost in
    /// the text.
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
            .map(|(field, column)| Ok(of(field, column.as_ref())?))
            .collect::<Result<_>>()?;
        let lost = columns.iter().map(|column| column.lost());
        let lost = lost.fold(LostTypes::default(), LostTypes::union);
        if columns.is_empty() {
            return Ok(lost);
        }
        for row in 0..batch.num_rows() {
            let fields = self.schema.fields().iter();
            let cells = fields.zip(&columns);
            let cells = cells.map(|(field, column)| cell(field, column.as_ref(), row));
            self.block.push(cells.collect());
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
        if self.layout.is_some() && self.block.is_empty() {
            return Ok(());
        }
        self.print(output)
    }

    fn print(&mut self, output: &mut Output<'_>) -> Result<()> {
        let fields = self.schema.fields();
        let count = fields.len();
        let layout = self
            .layout
            .get_or_insert_with(|| layout(&self.schema, &self.block, output.width()));
        let ends = layout.ends;
        let between = fit::left_out(ends.left_out(count));
        let names = fields.iter().map(|field| shown(field.name())).collect();
        let types = fields.iter().map(|field| type_name(field)).collect();
        let header = layout.cut(ends.of(names, between)).into_iter();
        let types = layout.cut(ends.of(types, String::new()));
        let header = header.zip(types).map(|(name, of)| format!("{name}\n{of}"));
        let mut table = new(header);
        let rows = self.block.drain(..);
        table.add_rows(rows.map(|row| layout.cut(ends.of(row, "…".into()))));
        let numbers: Vec<bool> = fields.iter().map(|field| is_number(field)).collect();
        let numbers = ends.of(numbers, false).into_iter().enumerate();
        align(&mut table, numbers.filter(|(_, is)| *is).map(|(at, _)| at));
        print(&table, output)
    }
}

/// The columns of a table, with their widths.
struct Layout {
    ends: Ends,
    /// The widths of the shown columns, or empty if no cell has to be cut.
    widths: Vec<usize>,
}

impl Layout {
    /// Cuts a row's cells to the widths of their columns.
    fn cut(&self, row: Vec<String>) -> Vec<String> {
        match self.widths.is_empty() {
            true => row,
            false => row
                .into_iter()
                .zip(&self.widths)
                .map(|(cell, width)| fit::cut(cell, *width))
                .collect(),
        }
    }
}

/// Returns the columns to show. If there is no `width`, these are all columns.
fn layout(schema: &Schema, rows: &[Vec<String>], width: Option<u16>) -> Layout {
    let Some(width) = width.map(usize::from) else {
        let ends = Ends::fitting(&vec![0; schema.fields().len()], usize::MAX);
        return Layout {
            ends,
            widths: Vec::new(),
        };
    };
    let needs = schema.fields().iter().enumerate().map(|(at, field)| {
        let header = [shown(field.name()), type_name(field)];
        let cells = rows.iter().filter_map(|row| row.get(at));
        let is_whole = !may_be_cut(field.data_type());
        fit::Need::of(&header, cells, |_| is_whole, width)
    });
    let needs: Vec<fit::Need> = needs.collect();
    let least: Vec<usize> = needs.iter().map(|need| need.least).collect();
    let ends = Ends::fitting(&least, width);
    let between = fit::Need::of(
        &[fit::left_out(ends.left_out(needs.len()))],
        [].iter(),
        |_| true,
        width,
    );
    Layout {
        ends,
        widths: fit::widths(&ends.of(needs, between), width),
    }
}

/// Returns true if a value is still useful with its end cut off.
fn may_be_cut(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => may_be_cut(values),
        DataType::RunEndEncoded(_, values) => may_be_cut(values.data_type()),
        other => !(other.is_numeric() || other.is_temporal() || other == &DataType::Boolean),
    }
}

/// The columns of a list.
#[derive(Clone, Copy)]
pub(crate) struct Header<'a> {
    /// The columns' names.
    pub(crate) names: &'a [&'a str],
    /// The keys of the items' JSON that become the columns of CSV.
    pub(crate) keys: &'a [&'a str],
    /// The indexes of numeric columns. Note that numbers and times are never cut in other columns
    /// either.
    pub(crate) numbers: &'a [usize],
    /// The indexes of optional columns, to leave out in this order if the terminal is too narrow.
    pub(crate) spare: &'a [usize],
}

/// Prints a list. On a terminal, each item is one line. If there isn't enough room, we cut text and
/// leave out columns. A line after the list names the missing columns.
pub(crate) fn print_list(
    header: &Header<'_>,
    rows: Vec<Vec<String>>,
    output: &mut Output<'_>,
) -> Result<()> {
    let Some(width) = output.width().map(usize::from) else {
        let mut table = new(header.names.iter().map(ToString::to_string));
        table.add_rows(rows);
        align(&mut table, header.numbers.iter().copied());
        return print(&table, output);
    };
    let is_number = |at: &usize| header.numbers.contains(at);
    let grouped_rows = rows.into_iter().map(|row| {
        let cells = row.into_iter().enumerate();
        let cells = cells.map(|(at, cell)| match is_number(&at) {
            true => grouped(&cell),
            false => cell,
        });
        cells.collect()
    });
    let rows: Vec<Vec<String>> = grouped_rows.collect();
    let names = header.names.iter().enumerate();
    let needs = names.map(|(at, name)| {
        let words: Vec<String> = name.split(' ').map(str::to_owned).collect();
        let cells = rows.iter().filter_map(|row| row.get(at));
        let is_whole = |cell: &str| is_number(&at) || is_number_or_time(cell);
        fit::Need::of(&words, cells, is_whole, width).or_header(name)
    });
    let needs: Vec<fit::Need> = needs.collect();
    let shown = fit::shown(&needs, header.spare, width);
    let needs: Vec<fit::Need> = shown
        .iter()
        .filter_map(|at| needs.get(*at).copied())
        .collect();
    let widths = fit::widths(&needs, width);
    let names = shown.iter().filter_map(|at| header.names.get(*at));
    let names = names
        .zip(&widths)
        .map(|(name, width)| fit::wrapped(name, *width));
    let mut table = new(names);
    for row in rows {
        let cells = shown.iter().filter_map(|at| row.get(*at)).zip(&widths);
        table.add_row(cells.map(|(cell, width)| fit::cut(cell.clone(), *width)));
    }
    let numbers = shown.iter().enumerate().filter(|(_, at)| is_number(at));
    align(&mut table, numbers.map(|(place, _)| place));
    print(&table, output)?;
    let names = header.names.iter().enumerate();
    let left_out = names.filter(|(at, _)| !shown.contains(at));
    let left_out: Vec<&str> = left_out.map(|(_, name)| *name).collect();
    match left_out.is_empty() {
        true => Ok(()),
        false => output.line(&format!(
            "not shown: {}; --json has them",
            left_out.join(", ")
        )),
    }
}

/// Prints a table, with colours if the terminal has them.
fn print(table: &Table, output: &mut Output<'_>) -> Result<()> {
    let text = table.trim_fmt();
    match output.has_colors() {
        true => output.line(&colored(&text)),
        false => output.line(&text),
    }
}

/// Returns true if a text is a number, a date or a time.
fn is_number_or_time(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_digit() || b"+-.,:eTZ ".contains(&byte);
    text.bytes().all(is_part) && text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Creates a table in the command's style.
fn new(names: impl IntoIterator<Item = String>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(names);
    table
}

/// Aligns the columns with these indexes to the right, because they contain numbers.
fn align(table: &mut Table, numbers: impl IntoIterator<Item = usize>) {
    for at in numbers {
        if let Some(column) = table.column_mut(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

fn cell(field: &Field, column: &(dyn Value + '_), row: usize) -> String {
    shown(&cell_text(field, column, row))
}

/// Returns a cell's text. Times lose their trailing zeros, and the text `null` gets quotes.
pub(crate) fn cell_text(field: &Field, column: &(dyn Value + '_), row: usize) -> String {
    if column.is_null(row) {
        return NULL.into();
    }
    let mut text = String::new();
    column.cell(row, &mut text);
    if text == NULL {
        return format!("\"{NULL}\"");
    }
    match field.data_type() {
        DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) => short_time(&text),
        _ => text,
    }
}

/// Returns a time without trailing zeros and with a blank between date and time.
fn short_time(text: &str) -> String {
    let text = text.replacen('T', " ", 1);
    let Some((whole, rest)) = text.split_once('.') else {
        return text;
    };
    let digits = rest.trim_start_matches(|character: char| character.is_ascii_digit());
    let fraction = rest.strip_suffix(digits).unwrap_or(rest);
    match fraction.trim_end_matches('0') {
        "" => format!("{whole}{digits}"),
        fraction => format!("{whole}.{fraction}{digits}"),
    }
}

/// Returns at most [`CELL_CHARACTERS`] characters of `text`. Characters that could control the
/// terminal are escaped.
pub(crate) fn shown(text: &str) -> String {
    let mut out = String::new();
    let end = text.char_indices().nth(CELL_CHARACTERS);
    let (start, is_cut) = match end {
        Some((end, _)) => (text.get(..end).unwrap_or_default(), true),
        None => (text, false),
    };
    for character in start.chars() {
        push_printable(&mut out, character);
    }
    if out != start && start.contains('\\') {
        // A backslash would look like the start of an escape, so we escape it too.
        out.clear();
        for character in start.chars() {
            match character {
                '\\' => out.push_str("\\\\"),
                _ => push_printable(&mut out, character),
            }
        }
    }
    if is_cut {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests;
