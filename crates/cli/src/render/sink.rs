//! Prints a command's rows in the chosen format.

use std::io::Write;

use herringbone::variant::json::LostTypes;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::ipc::writer::StreamWriter;
use herringbone_arrow::schema::{Schema, SchemaRef};

use herringbone_interchange::write::csv::{self, CsvStyle};
use herringbone_interchange::write::{TextOutput, geojson, json, keys, markdown, value};

use super::{table, vertical};
use crate::args::RowFormat;
use crate::base::failure::{Failure, Result};
use crate::base::printable::{printable, printable_json};
use crate::output::Output;

/// Writes batches that share one schema.
pub(crate) struct Sink<'o, 'w> {
    to: To<'o, 'w>,
    lost: LostTypes,
    /// The number of rows written so far.
    rows: u64,
    /// A note about the column names, if they need one.
    pub(crate) note: Option<String>,
}

/// The writer of the format.
enum To<'o, 'w> {
    /// Tables for people.
    Table(table::Rows, &'o mut Output<'w>),
    /// A line for each value.
    Vertical(vertical::Rows, &'o mut Output<'w>),
    /// A table in Markdown.
    Markdown(&'o mut Output<'w>),
    /// JSON lines, or an array.
    Json(json::Rows, &'o mut Output<'w>),
    /// CSV.
    Csv(csv::Rows, &'o mut Output<'w>),
    /// GeoJSON.
    Geojson(geojson::Rows, &'o mut Output<'w>),
    /// An Arrow IPC stream.
    Arrow(String, Box<StreamWriter<&'o mut (dyn Write + 'w)>>),
}

impl<'o, 'w> Sink<'o, 'w> {
    /// Starts the output. CSV begins with a header, in the style of `csv`, and Arrow begins with
    /// its schema.
    pub(crate) fn new(
        format: RowFormat,
        csv: CsvStyle,
        schema: &SchemaRef,
        output: &'o mut Output<'w>,
    ) -> Result<Self> {
        let note = match format {
            RowFormat::Jsonl | RowFormat::Json => keys::check(schema)?,
            RowFormat::Geojson | RowFormat::Geojsonl => keys::check(schema)?,
            _ => None,
        };
        let to = match format {
            RowFormat::Table => To::Table(table::Rows::new(schema.clone()), output),
            RowFormat::Vertical => To::Vertical(vertical::Rows::new(schema), output),
            RowFormat::Markdown => {
                markdown::write_header(schema, output)?;
                To::Markdown(output)
            }
            RowFormat::Jsonl => To::Json(json::Rows::lines(), output),
            RowFormat::Json => To::Json(json::Rows::array(output)?, output),
            RowFormat::Csv | RowFormat::Tsv => {
                let rows = csv::Rows::new(csv);
                rows.write_header(schema, output)?;
                To::Csv(rows, output)
            }
            RowFormat::Geojson => To::Geojson(geojson::Rows::collection(schema, output)?, output),
            RowFormat::Geojsonl => To::Geojson(geojson::Rows::lines(schema)?, output),
            RowFormat::Arrow => {
                To::Arrow(output.name().to_owned(), Box::new(stream(schema, output)?))
            }
        };
        Ok(Self {
            to,
            lost: LostTypes::default(),
            rows: 0,
            note,
        })
    }

    /// Writes a batch of the named file's rows.
    pub(crate) fn write(&mut self, batch: &RecordBatch, file: &str) -> Result<()> {
        let written = self.to.write(batch);
        let place = |failure: Failure| match &failure {
            Failure::Data(_) => failure
                .hinting(&value::unprintable_place(batch, self.rows).unwrap_or_default())
                .in_file(file),
            _ => failure,
        };
        self.lost = self.lost.union(written.map_err(place)?);
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Returns the number of rows so far.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Ends the output by printing the rest of a table or a stream's end marker. Returns the
    /// variant types lost in the text.
    pub(crate) fn finish(self) -> Result<LostTypes> {
        match self.to {
            To::Table(mut rows, output) => rows.finish(output)?,
            To::Json(rows, output) => rows.finish(output)?,
            To::Geojson(rows, output) => rows.finish(output)?,
            To::Vertical(..) | To::Markdown(_) | To::Csv(..) => {}
            To::Arrow(name, mut stream) => {
                let finished = stream.finish();
                finished.map_err(|error| Failure::arrow_output(&name, &error))?;
            }
        }
        Ok(self.lost)
    }
}

impl To<'_, '_> {
    /// Writes a batch. Returns the variant types lost in the text.
    fn write(&mut self, batch: &RecordBatch) -> Result<LostTypes> {
        match self {
            Self::Table(rows, output) => rows.write(batch, output),
            Self::Vertical(rows, output) => rows.write(batch, output),
            Self::Markdown(output) => markdown::write(batch, *output),
            Self::Json(rows, output) => rows.write(batch, *output),
            Self::Csv(rows, output) => rows.write(batch, *output),
            Self::Geojson(rows, output) => {
                rows.write(batch, *output)?;
                Ok(LostTypes::default())
            }
            Self::Arrow(name, stream) => {
                let written = stream.write(batch);
                written.map_err(|error| Failure::arrow_output(name, &error))?;
                Ok(LostTypes::default())
            }
        }
    }
}

impl TextOutput for Output<'_> {
    type Error = Failure;

    fn write(&mut self, text: &str) -> Result<()> {
        self.write(text.as_bytes())
    }

    fn record(&mut self, record: &str) -> Result<()> {
        self.write(self.shown(record, printable).as_bytes())
    }

    fn object(&mut self, object: &str) -> Result<()> {
        self.write(self.shown(object, printable_json).as_bytes())
    }
}

/// Starts an IPC stream. Each row group can have its own dictionary, which is fine for a stream,
/// since a later dictionary is allowed to replace an earlier one (unlike in an IPC file). The
/// writer sends a dictionary whenever it changes.
fn stream<'o, 'w>(
    schema: &Schema,
    output: &'o mut Output<'w>,
) -> Result<StreamWriter<&'o mut (dyn Write + 'w)>> {
    let name = output.name().to_owned();
    StreamWriter::try_new(output.writer(), schema)
        .map_err(|error| Failure::arrow_output(&name, &error))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use herringbone_arrow::array::{ArrayRef, StringArray};

    use super::*;
    use crate::output::{written, written_on_terminal};

    /// Returns the rows of a text column, once unchanged and once as a terminal gets them.
    fn both(format: RowFormat, name: &str, texts: Vec<&str>) -> [String; 2] {
        let text: ArrayRef = Arc::new(StringArray::from(texts));
        let batch = RecordBatch::try_from_iter([(name, text)]).unwrap();
        let write = |output: &mut Output<'_>| {
            let mut sink = Sink::new(format, CsvStyle::default(), &batch.schema(), output)?;
            sink.write(&batch, "memory")?;
            sink.finish()
        };
        [written(write), written_on_terminal(write)]
    }

    #[test]
    fn a_terminal_obeys_no_csv() {
        let texts = vec!["\u{1b}[31mred", "a\nb", "\u{9b}2J,"];
        let [plain, shown] = both(RowFormat::Csv, "n\u{7}", texts);
        assert_eq!(
            shown,
            "n\\u{7}\n\\u{1b}[31mred\n\"a\\nb\"\n\"\\u{9b}2J,\"\n"
        );
        assert_eq!(plain, "n\u{7}\n\u{1b}[31mred\n\"a\nb\"\n\"\u{9b}2J,\"\n");
    }

    #[test]
    fn a_terminal_obeys_no_json() {
        let texts = vec!["\u{1b}[31mred", "\u{9b}2J\u{202e}"];
        let [plain, shown] = both(RowFormat::Jsonl, "n\u{7f}", texts);
        assert_eq!(
            shown,
            "{\"n\\u007f\":\"\\u001b[31mred\"}\n{\"n\\u007f\":\"\\u009b2J\\u202e\"}\n"
        );
        assert_eq!(
            plain,
            "{\"n\u{7f}\":\"\\u001b[31mred\"}\n{\"n\u{7f}\":\"\u{9b}2J\u{202e}\"}\n"
        );
    }
}
