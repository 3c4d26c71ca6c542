//! The rows of a query in the format of the arguments.

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

/// Writes the rows of a query as they arrive. A table is written after the last row, because all rows decide its widths.
///
/// # Errors
/// The errors of the query and of the output; those of values that the format cannot hold, for example lists in CSV.
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
            // Without rows, the writer writes no header.
            let empty = RecordBatch::new_empty(schema);
            let mut rows = stream::iter([Ok(empty)]).chain(rows);
            let mut writer = WriterBuilder::new().with_header(true).build(&mut *out);
            while let Some(batch) = rows.try_next().await? {
                if let Err(error) = writer.write(&batch) {
                    drop(writer);
                    // The writer of CSV makes texts of the errors of the output, which returns them again.
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

/// Separates errors of the output from those of values.
fn from_arrow(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(text, error) => Error::Output(io::Error::new(error.kind(), text)),
        other => other.into(),
    }
}
