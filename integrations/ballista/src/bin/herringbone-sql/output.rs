//! The rows of a query in the format of the arguments.

use std::io::{self, Write};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv::WriterBuilder;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::arrow::util::pretty::pretty_format_batches_with_schema;

use crate::args::Format;
use crate::run::Error;

/// Writes the rows of a query.
///
/// # Errors
/// The errors of the output; those of values that the format cannot hold, for example lists in CSV.
pub(crate) fn write(
    format: Format,
    schema: &SchemaRef,
    batches: &[RecordBatch],
    out: &mut dyn Write,
) -> Result<(), Error> {
    match format {
        Format::Table => {
            let table = pretty_format_batches_with_schema(schema.clone(), batches)?;
            writeln!(out, "{table}").map_err(Error::Output)?;
        }
        Format::Csv => {
            // Without rows, the writer writes no header.
            let empty = [RecordBatch::new_empty(schema.clone())];
            let batches = if batches.is_empty() { &empty } else { batches };
            let mut writer = WriterBuilder::new().with_header(true).build(&mut *out);
            for batch in batches {
                writer.write(batch).map_err(from_arrow)?;
            }
        }
        Format::Arrow => {
            let mut writer = StreamWriter::try_new(&mut *out, schema).map_err(from_arrow)?;
            for batch in batches {
                writer.write(batch).map_err(from_arrow)?;
            }
            writer.finish().map_err(from_arrow)?;
        }
    }
    out.flush().map_err(Error::Output)
}

/// Separates errors of the output from those of values.
fn from_arrow(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(text, error) => Error::Output(io::Error::new(error.kind(), text)),
        other => other.into(),
    }
}
