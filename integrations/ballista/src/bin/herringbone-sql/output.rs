//! Writes a query's rows in the format that the arguments choose.

use std::io::{self, Write};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv::WriterBuilder;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::arrow::util::pretty::pretty_format_batches_with_schema;
use datafusion::execution::SendableRecordBatchStream;
use futures::{StreamExt, TryStreamExt, stream};

use crate::args::Format;
use crate::run::Error;

/// Writes a query's rows as they arrive. A table is only written after the last row, because all
/// rows decide its widths.
///
/// # Errors
/// Returns the errors of the query and of the output. Fails if the format cannot hold a value, for
/// example a list in CSV.
pub(crate) async fn write(
    format: Format,
    rows: SendableRecordBatchStream,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let schema = rows.schema();
    match format {
        Format::Table => {
            let batches: Vec<RecordBatch> = rows.try_collect().await?;
            let table = pretty_format_batches_with_schema(schema, &batches)?;
            writeln!(out, "{table}").map_err(Error::Output)?;
        }
        Format::Csv => {
            // We first write an empty batch, because the writer writes no header if there are no
            // rows.
            let empty = RecordBatch::new_empty(schema);
            let mut rows = stream::iter([Ok(empty)]).chain(rows);
            let mut writer = WriterBuilder::new().with_header(true).build(&mut *out);
            while let Some(batch) = rows.try_next().await? {
                if let Err(error) = writer.write(&batch) {
                    drop(writer);
                    // The CSV writer turns the output's errors into texts, but the output returns
                    // them again when it is flushed.
                    out.flush().map_err(Error::Output)?;
                    return Err(from_arrow(error));
                }
            }
        }
        Format::Arrow => {
            let mut rows = rows;
            let mut writer = StreamWriter::try_new(&mut *out, &schema).map_err(from_arrow)?;
            while let Some(batch) = rows.try_next().await? {
                writer.write(&batch).map_err(from_arrow)?;
            }
            writer.finish().map_err(from_arrow)?;
        }
    }
    out.flush().map_err(Error::Output)
}

/// Separates the output's errors from the errors of values.
fn from_arrow(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(text, error) => Error::Output(io::Error::new(error.kind(), text)),
        other => other.into(),
    }
}
