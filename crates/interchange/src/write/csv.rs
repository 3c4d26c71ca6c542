//! Writes rows as CSV according to RFC 4180, with a header, commas (or another separator), and
//! quotes if needed. Lines end with LF, as Unix programs expect, or with CR LF.
//!
//! A nested value is its JSON text. A null is an empty field, or another text without quotes. To
//! distinguish them, we quote empty strings and strings that equal this text. A null alone in its
//! row gives a blank line, since a blank line is a record with one empty field.
//!
//! Readers infer types, so we quote any text that looks like another type, such as a number or a
//! date. Decimals are always quoted, since readers would turn them into floats.

use herringbone::variant::json::LostTypes;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{DataType, Schema};

use super::TextOutput;
use super::value::{Boxed, of};
use crate::error::Result;
use crate::read::reads_as_text;

/// The style of CSV.
#[derive(Debug)]
pub struct CsvStyle {
    /// The text of a null. It must not need quotes.
    pub null: String,
    /// The character between fields.
    pub delimiter: u8,
    /// True to write a header with the column names.
    pub has_header: bool,
    /// The end of each line, LF or CR LF.
    pub line_end: &'static str,
}

impl Default for CsvStyle {
    fn default() -> Self {
        Self {
            null: String::new(),
            delimiter: b',',
            has_header: true,
            line_end: "\n",
        }
    }
}

/// A writer of rows in one style.
pub struct Rows {
    style: CsvStyle,
}

impl Rows {
    /// Creates a writer that uses this style.
    pub fn new(style: CsvStyle) -> Self {
        Self { style }
    }

    /// Writes the header, if the style has one.
    pub fn write_header<O: TextOutput>(
        &self,
        schema: &Schema,
        output: &mut O,
    ) -> Result<(), O::Error> {
        if !self.style.has_header {
            return Ok(());
        }
        let delimiter = self.style.delimiter;
        let mut line = String::new();
        for (at, field) in schema.fields().iter().enumerate() {
            if at > 0 {
                line.push(delimiter.into());
            }
            let start = line.len();
            line.push_str(field.name());
            quote_from((&mut line, start), delimiter, "", Quotes::Needed);
        }
        self.end(&line, output)
    }

    /// Writes a line with its end.
    fn end<O: TextOutput>(&self, line: &str, output: &mut O) -> Result<(), O::Error> {
        output.record(line)?;
        output.write(self.style.line_end)
    }

    /// Writes each row in `batch`. Returns the variant types lost in the text.
    pub fn write<O: TextOutput>(
        &self,
        batch: &RecordBatch,
        output: &mut O,
    ) -> Result<LostTypes, O::Error> {
        let (schema, delimiter) = (batch.schema_ref(), self.style.delimiter);
        let columns: Vec<(Boxed<'_>, Quotes)> = schema
            .fields()
            .iter()
            .zip(batch.columns())
            .map(|(field, column)| {
                let quotes = Quotes::of(field.data_type(), &self.style);
                Ok((of(field, column.as_ref())?, quotes))
            })
            .collect::<Result<_>>()?;
        let mut line = String::new();
        for row in 0..batch.num_rows() {
            line.clear();
            for (at, (column, quotes)) in columns.iter().enumerate() {
                if at > 0 {
                    line.push(delimiter.into());
                }
                if column.is_null(row) {
                    line.push_str(&self.style.null);
                    continue;
                }
                let start = line.len();
                match quotes {
                    Quotes::Never => column.text(row, &mut line),
                    Quotes::Around => {
                        line.push('"');
                        column.text(row, &mut line);
                        line.push('"');
                    }
                    _ => {
                        column.text(row, &mut line);
                        quote_from((&mut line, start), delimiter, &self.style.null, *quotes);
                    }
                }
            }
            self.end(&line, output)?;
        }
        let lost = columns.iter().map(|(column, _)| column.lost());
        Ok(lost.fold(LostTypes::default(), LostTypes::union))
    }
}

/// A column's quoting policy, determined once per column from its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// No value needs quotes.
    Never,
    /// Values are quoted if their text needs it.
    Needed,
    /// Values are quoted if their text needs it or looks like another type.
    Text,
    /// Every value is quoted, and none of them contains a quote.
    Around,
}

impl Quotes {
    fn of(data_type: &DataType, style: &CsvStyle) -> Self {
        match data_type {
            DataType::Dictionary(_, values) => Self::of(values, style),
            DataType::RunEndEncoded(_, values) => Self::of(values.data_type(), style),
            data_type if data_type.is_string() || data_type.is_binary() => Self::Text,
            data_type if data_type.is_decimal() => Self::Around,
            data_type if is_plain(data_type) && style.leaves_plain_values() => Self::Never,
            _ => Self::Needed,
        }
    }
}

/// Returns true if values of this type are never empty and only consist of letters, digits and the
/// characters `+-.:`.
fn is_plain(data_type: &DataType) -> bool {
    data_type.is_numeric() || data_type.is_temporal() || *data_type == DataType::Boolean
}

impl CsvStyle {
    /// Returns true if no value of a [plain](is_plain) type looks like a null or like two fields.
    fn leaves_plain_values(&self) -> bool {
        let delimiter = self.delimiter;
        let is_in_values = delimiter.is_ascii_alphanumeric() || b"+-.:".contains(&delimiter);
        self.null.is_empty() && !is_in_values
    }
}

/// Quotes the field starting at `start` if necessary. This includes empty fields and fields that
/// look like a null.
fn quote_from((line, start): (&mut String, usize), delimiter: u8, null: &str, quotes: Quotes) {
    let field = line.get(start..).unwrap_or_default();
    // No early exit here, so that the compiler can vectorize the loop. That's faster than stopping
    // at the first special byte.
    let special = field.bytes().fold(false, |special, byte| {
        special | matches!(byte, b'"' | b'\r' | b'\n') | (byte == delimiter)
    });
    let is_other = quotes == Quotes::Text && !reads_as_text(field);
    if !special && !field.is_empty() && field != null && !is_other {
        return;
    }
    if special && field.contains('"') {
        let doubled = field.replace('"', "\"\"");
        line.truncate(start);
        line.push_str(&doubled);
    }
    line.insert(start, '"');
    line.push('"');
}

#[cfg(test)]
mod tests;
