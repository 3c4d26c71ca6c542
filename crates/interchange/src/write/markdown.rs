//! Writes rows as a Markdown table (GitHub Flavored Markdown), for reports and issues.

use herringbone::variant::json::LostTypes;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::Schema;

use super::TextOutput;
use super::printable::push_printable;
use super::value::{Boxed, is_number, of};
use crate::error::Result;

/// Writes the header and the delimiter line, aligning numbers to the right.
pub fn write_header<O: TextOutput>(schema: &Schema, output: &mut O) -> Result<(), O::Error> {
    let fields = schema.fields();
    line(fields.iter().map(|field| field.name().as_str()), output)?;
    let sides = fields.iter().map(|field| is_number(field));
    let mut text = "|".to_owned();
    for is_number in sides {
        text += if is_number { " ---: |" } else { " --- |" };
    }
    text.push('\n');
    output.write(&text)
}

/// Writes each row in `batch`. Returns the variant types lost in the text.
pub fn write<O: TextOutput>(batch: &RecordBatch, output: &mut O) -> Result<LostTypes, O::Error> {
    let fields = batch.schema_ref().fields().iter();
    let columns = fields.zip(batch.columns());
    let columns: Vec<Boxed<'_>> = columns
        .map(|(field, column)| of(field, column.as_ref()))
        .collect::<Result<_>>()?;
    for row in 0..batch.num_rows() {
        let cells = columns.iter().map(|column| {
            let mut text = String::new();
            if !column.is_null(row) {
                column.cell(row, &mut text);
            }
            text
        });
        let cells: Vec<String> = cells.collect();
        line(cells.iter().map(String::as_str), output)?;
    }
    let lost = columns.iter().map(|column| column.lost());
    Ok(lost.fold(LostTypes::default(), LostTypes::union))
}

/// Writes a line of cells, escaping characters with a meaning in Markdown or HTML.
fn line<'c, O: TextOutput>(
    cells: impl Iterator<Item = &'c str>,
    output: &mut O,
) -> Result<(), O::Error> {
    let mut text = "|".to_owned();
    for cell in cells {
        text.push(' ');
        for character in cell.chars() {
            match character {
                '\n' => text.push_str("<br>"),
                '<' => text.push_str("&lt;"),
                '&' => text.push_str("&amp;"),
                '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' => {
                    text.push('\\');
                    text.push(character);
                }
                _ => push_printable(&mut text, character),
            }
        }
        text.push_str(" |");
    }
    text.push('\n');
    output.write(&text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use herringbone_arrow::array::{ArrayRef, Int64Array, StringArray};

    use super::*;
    use crate::write::written;

    /// Checks an example table from the specification, with escapes added by us.
    #[test]
    fn cells_do_not_end_their_cell() {
        let text = StringArray::from(vec![Some("a|b\n<c>\u{1b} *_*"), None]);
        let batch = RecordBatch::try_from_iter_with_nullable([
            (
                "id",
                Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef,
                true,
            ),
            ("a_b", Arc::new(text), true),
        ])
        .unwrap();
        let found = written(|output| {
            write_header(batch.schema_ref(), output)?;
            write(&batch, output)
        });
        let expected = "| id | a\\_b |\n| ---: | --- |\n\
                        | 1 | a\\|b<br>&lt;c>\\u{1b} \\*\\_\\* |\n| 2 |  |\n";
        assert_eq!(found, expected);
    }
}
