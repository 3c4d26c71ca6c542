//! JSON lines.

use std::sync::Arc;

use arrow_json::ReaderBuilder;
use arrow_json::reader::Decoder;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{ArrowError, SchemaRef};

use super::sample::Sample;
use super::text::{Batches, Decode, Text};
use super::values::Values;
use super::{Rows, Stream, TextOptions, infer};
use crate::failure::{Failure, Result};

/// Reads JSON lines.
///
/// # Errors
/// Data where no schema can be inferred, System.
pub(crate) fn jsonl(stream: Stream, options: &TextOptions) -> Result<Rows<'static>> {
    let name = stream.name.clone();
    let work = stream.work();
    let lines = if options.schema.is_some() {
        1
    } else {
        options.infer_rows
    };
    let sample = Sample::of(stream, lines, false)?;
    let schema = match &options.schema {
        Some(schema) => schema.clone(),
        None => infer::schema(&sample.text)
            .map_err(|message| Failure::Data(format!("{name}: {message}")))?,
    };
    let text = Lines {
        schema: schema.clone(),
        inferred: options.schema.is_none(),
    };
    Ok(Rows {
        schema,
        batches: Box::new(Batches::new(name, sample.whole(), text)?),
        work,
    })
}

/// What helps where types do not fit.
pub(super) const INFERRED: &str = "; the types were inferred: --infer-rows N looks at more rows, \
    --schema FILE gives them";

struct Lines {
    schema: SchemaRef,
    inferred: bool,
}

impl Text for Lines {
    fn decoder(&self, rows: usize, _first: bool) -> Result<Box<dyn Decode>, ArrowError> {
        let decoder = ReaderBuilder::new(self.schema.clone())
            .with_batch_size(rows)
            // What was found to be text here and a number there is text.
            .with_coerce_primitive(self.inferred)
            .with_strict_mode(true)
            .with_decoder_factory(Arc::new(Values))
            .build_decoder()?;
        Ok(Box::new(decoder))
    }

    fn explain(&self, error: ArrowError) -> String {
        let message = message(error);
        let of_types = message.starts_with("whilst decoding") || message.contains("from schema");
        if self.inferred && of_types {
            message + INFERRED
        } else {
            message
        }
    }
}

impl Decode for Decoder {
    fn blank(&self, text: &[u8]) -> usize {
        let is_blank = |byte: &&u8| byte.is_ascii_whitespace();
        let blank = text.get(..text.iter().take_while(is_blank).count());
        let ended = blank.and_then(|it| it.iter().rposition(|byte| *byte == b'\n'));
        ended.map_or(0, |at| at + 1)
    }

    fn decode(&mut self, text: &[u8]) -> Result<usize, ArrowError> {
        Self::decode(self, text)
    }

    fn flush(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        Self::flush(self)
    }
}

/// What an error says, without the module that says it.
pub(super) fn message(error: ArrowError) -> String {
    match error {
        ArrowError::JsonError(text)
        | ArrowError::CsvError(text)
        | ArrowError::ParseError(text)
        | ArrowError::CastError(text)
        | ArrowError::NotYetImplemented(text)
        | ArrowError::InvalidArgumentError(text)
        | ArrowError::SchemaError(text) => text,
        other => other.to_string(),
    }
}
