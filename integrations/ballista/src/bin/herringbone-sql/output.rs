//! Writes a query's rows in the format that the arguments choose.

use std::io::{self, Write};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv::WriterBuilder;
use datafusion::arrow::datatypes::SchemaRef;
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
    let mut out = Output { out, error: None };
    let written = write_rows(format, schema, rows, &mut out).await;
    // The CSV writer turns the output's errors into texts, so that only `Output` knows their kind.
    match out.error {
        Some(error) => Err(Error::Output(error)),
        None => written,
    }
}

async fn write_rows(
    format: Format,
    schema: SchemaRef,
    rows: SendableRecordBatchStream,
    out: &mut Output<'_>,
) -> Result<(), Error> {
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
                writer.write(&batch)?;
            }
        }
        Format::Arrow => {
            let mut rows = rows;
            let mut writer = StreamWriter::try_new(&mut *out, &schema)?;
            while let Some(batch) = rows.try_next().await? {
                writer.write(&batch)?;
            }
            writer.finish()?;
        }
    }
    out.flush().map_err(Error::Output)
}

/// An output that keeps its first error. Interrupted writes are left out, because they are tried
/// again.
struct Output<'a> {
    out: &'a mut dyn Write,
    error: Option<io::Error>,
}

impl Output<'_> {
    fn keep<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let kind = error.kind();
            if kind != io::ErrorKind::Interrupted {
                self.error.get_or_insert(error);
            }
            kind.into()
        })
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.keep(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.keep(flushed)
    }
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::SessionContext;
    use herringbone_ballista::process::runtime;

    use super::*;

    /// An output whose reader has gone, and which has nothing left to flush.
    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn each_format_returns_the_errors_of_the_output() {
        for format in [Format::Table, Format::Csv, Format::Arrow] {
            let written = runtime().unwrap().block_on(async {
                let frame = SessionContext::new().sql("select 7 as v").await.unwrap();
                write(format, frame.execute_stream().await.unwrap(), &mut Closed).await
            });
            let Err(Error::Output(error)) = written else {
                panic!("{format:?}");
            };
            assert_eq!(error.kind(), io::ErrorKind::BrokenPipe, "{format:?}");
        }
    }
}
