//! Text into record batches and back, as functions of bytes: for tests and fuzzing.

use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::SchemaRef;

use crate::args::RowFormat;
use crate::failure::{Failure, Result};
use crate::load::{self, Stream, TextOptions};
use crate::output::Output;
use crate::render::sink::Sink;

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Commas between fields, a header, nulls that are nothing.
    Csv,
    /// An object a row.
    JsonLines,
}

/// The schema and the rows of a text. Without `schema`, it is inferred from so many rows.
///
/// # Errors
/// What the command says.
pub fn read(
    format: Format,
    text: Vec<u8>,
    schema: Option<&SchemaRef>,
    infer_rows: usize,
) -> Result<(SchemaRef, Vec<RecordBatch>), String> {
    let options = TextOptions {
        schema: schema.cloned(),
        infer_rows,
        types: Vec::new(),
        note: &|_| {},
        header: true,
        delimiter: b',',
        null: String::new(),
    };
    let stream = Stream::of_bytes("text", text);
    let rows = match format {
        Format::Csv => load::csv(stream, &options),
        Format::JsonLines => load::jsonl(stream, &options),
    };
    let words = |failure: Failure| failure.to_string();
    let rows = rows.map_err(words)?;
    let batches = rows.batches.collect::<Result<_>>().map_err(words)?;
    Ok((rows.schema, batches))
}

/// Rows as text.
///
/// # Errors
/// What the command says.
pub fn write(
    format: Format,
    schema: &SchemaRef,
    batches: &[RecordBatch],
) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut output = Output::new("text", &mut bytes);
    let format = match format {
        Format::Csv => RowFormat::Csv,
        Format::JsonLines => RowFormat::Jsonl,
    };
    let written = Sink::new(format, "", schema, &mut output).and_then(|mut sink| {
        batches.iter().try_for_each(|batch| sink.write(batch))?;
        sink.finish()
    });
    let flushed = output.flush();
    drop(output);
    let both = written.and(flushed);
    both.map_err(|failure| failure.to_string())?;
    Ok(bytes)
}
