//! Where the rows of a command go: one of the formats.

use std::io::Write;

use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::ipc::writer::StreamWriter;
use herringbone_arrow::schema::{Schema, SchemaRef};

use super::{csv, geojson, json, table};
use crate::args::RowFormat;
use crate::failure::{Failure, Result};
use crate::output::Output;

/// Takes batches of one schema.
pub(crate) enum Sink<'o, 'w> {
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
        Ok(match format {
            RowFormat::Table => Self::Table(table::Rows::new(schema.clone()), output),
            RowFormat::Jsonl => Self::Json(output),
            RowFormat::Csv => {
                csv::write_header(schema, output)?;
                Self::Csv(csv::Rows::new(null), output)
            }
            RowFormat::Geojson => Self::Geojson(geojson::Rows::new(schema)?, output),
            RowFormat::Arrow => {
                Self::Arrow(output.name().to_owned(), Box::new(stream(schema, output)?))
            }
        })
    }

    /// Takes a batch.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match self {
            Self::Table(rows, output) => rows.write(batch, output),
            Self::Json(output) => json::write(batch, output),
            Self::Csv(rows, output) => rows.write(batch, output),
            Self::Geojson(rows, output) => rows.write(batch, output),
            Self::Arrow(name, stream) => stream
                .write(batch)
                .map_err(|error| Failure::arrow_output(name, &error)),
        }
    }

    /// Ends: the rest of a table, the end marker of a stream.
    pub(crate) fn finish(self) -> Result<()> {
        match self {
            Self::Table(mut rows, output) => rows.finish(output),
            Self::Json(_) | Self::Csv(..) | Self::Geojson(..) => Ok(()),
            Self::Arrow(name, mut stream) => stream
                .finish()
                .map_err(|error| Failure::arrow_output(&name, &error)),
        }
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
