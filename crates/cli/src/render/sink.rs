//! Where the rows of a command go: one of the formats.

use std::io::Write;

use herringbone::variant::json::LostTypes;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::ipc::writer::StreamWriter;
use herringbone_arrow::schema::{Schema, SchemaRef};

use super::{csv, geojson, json, table};
use crate::args::RowFormat;
use crate::failure::{Failure, Result};
use crate::output::Output;

/// Takes batches of one schema.
pub(crate) struct Sink<'o, 'w> {
    to: To<'o, 'w>,
    lost: LostTypes,
}

/// What they become.
enum To<'o, 'w> {
    /// Tables.
    Table(table::Rows, &'o mut Output<'w>),
    /// JSON lines.
    Json(&'o mut Output<'w>),
    /// CSV.
    Csv(csv::Rows, &'o mut Output<'w>),
    /// GeoJSON.
    Geojson(geojson::Rows, &'o mut Output<'w>),
    /// An Arrow IPC stream.
    Arrow(String, Box<StreamWriter<&'o mut (dyn Write + 'w)>>),
}

impl<'o, 'w> Sink<'o, 'w> {
    /// Begins: CSV, where a null is `null`, with its header, Arrow with its schema.
    pub(crate) fn new(
        format: RowFormat,
        null: &str,
        schema: &SchemaRef,
        output: &'o mut Output<'w>,
    ) -> Result<Self> {
        let to = match format {
            RowFormat::Table => To::Table(table::Rows::new(schema.clone()), output),
            RowFormat::Jsonl => To::Json(output),
            RowFormat::Csv => {
                csv::write_header(schema, output)?;
                To::Csv(csv::Rows::new(null), output)
            }
            RowFormat::Geojson => To::Geojson(geojson::Rows::new(schema)?, output),
            RowFormat::Arrow => {
                To::Arrow(output.name().to_owned(), Box::new(stream(schema, output)?))
            }
        };
        let lost = LostTypes::default();
        Ok(Self { to, lost })
    }

    /// Takes a batch.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let lost = match &mut self.to {
            To::Table(rows, output) => rows.write(batch, output)?,
            To::Json(output) => json::write(batch, output)?,
            To::Csv(rows, output) => rows.write(batch, output)?,
            To::Geojson(rows, output) => {
                rows.write(batch, output)?;
                LostTypes::default()
            }
            To::Arrow(name, stream) => {
                let written = stream.write(batch);
                written.map_err(|error| Failure::arrow_output(name, &error))?;
                LostTypes::default()
            }
        };
        self.lost = self.lost.union(lost);
        Ok(())
    }

    /// Ends: the rest of a table, the end marker of a stream. Gives the types of variants that are lost.
    pub(crate) fn finish(self) -> Result<LostTypes> {
        match self.to {
            To::Table(mut rows, output) => rows.finish(output)?,
            To::Json(_) | To::Csv(..) | To::Geojson(..) => {}
            To::Arrow(name, mut stream) => {
                let finished = stream.finish();
                finished.map_err(|error| Failure::arrow_output(&name, &error))?;
            }
        }
        Ok(self.lost)
    }
}

/// An IPC stream. Each row group may bring another dictionary: in a stream, unlike in an IPC file,
/// a later dictionary may replace an earlier one, and the writer sends one whenever it changes.
fn stream<'o, 'w>(
    schema: &Schema,
    output: &'o mut Output<'w>,
) -> Result<StreamWriter<&'o mut (dyn Write + 'w)>> {
    let name = output.name().to_owned();
    StreamWriter::try_new(output.writer(), schema)
        .map_err(|error| Failure::arrow_output(&name, &error))
}
