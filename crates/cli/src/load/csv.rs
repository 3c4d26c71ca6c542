//! CSV.
//!
//! What arrow-csv has no parser for is read as text, which is then read as JSON: as a string, or, of
//! nested types, as it is.

use std::sync::Arc;

use arrow_csv::ReaderBuilder;
use arrow_csv::reader::{Decoder, Format};
use arrow_json::ReaderBuilder as JsonBuilder;
use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{Array as _, ArrayRef, RecordBatch, RecordBatchOptions};
use herringbone_arrow::schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};

use super::json::{INFERRED, message};
use super::sample::Sample;
use super::text::{Batches, Decode, Text};
use super::values::Values;
use super::{Rows, Stream, TextOptions};
use crate::failure::{Failure, Result};
use crate::render::text::push_json_string;

/// Reads CSV.
///
/// # Errors
/// Data where no schema can be inferred or the given one does not fit, System.
pub(crate) fn csv(stream: Stream, options: &TextOptions) -> Result<Rows<'static>> {
    let name = stream.name.clone();
    let work = stream.work();
    let wrong = |text: String| Failure::Data(format!("{name}: {text}"));
    let rows = if options.schema.is_some() {
        0
    } else {
        options.infer_rows
    };
    let sample = Sample::of(stream, rows.saturating_add(1), true)?;
    let format = Format::default()
        .with_header(options.header)
        .with_delimiter(options.delimiter);
    let (found, _) = format
        .infer_schema(sample.text.as_slice(), Some(rows))
        .map_err(|error| wrong(message(error)))?;
    let inferred = options.schema.is_none();
    let (schema, order) = match &options.schema {
        Some(schema) if options.header => (schema.clone(), matched(&found, schema).map_err(wrong)?),
        Some(schema) => (schema.clone(), (0..schema.fields().len()).collect()),
        None if found.fields().is_empty() => {
            return Err(wrong(
                "there is no row to infer a schema from; --schema gives it".into(),
            ));
        }
        None => {
            let schema =
                completed(&found, &sample.text, &format).map_err(|it| wrong(message(it)))?;
            let order = (0..schema.fields().len()).collect();
            (schema, order)
        }
    };
    let table = Table {
        schema: schema.clone(),
        order,
        format,
        header: options.header,
        inferred,
    };
    Ok(Rows {
        schema,
        batches: Box::new(Batches::new(name, sample.whole(), table)?),
        work,
    })
}

/// For each field of the schema the column of the file that has its name.
fn matched(found: &Schema, schema: &Schema) -> Result<Vec<usize>, String> {
    let known = |field: &&FieldRef| schema.fields().iter().any(|it| it.name() == field.name());
    if let Some(field) = found.fields().iter().find(|field| !known(field)) {
        return Err(format!(
            "the column `{}` is not in the schema",
            field.name()
        ));
    }
    let place = |field: &FieldRef| {
        let columns = found.fields().iter().enumerate();
        let mut places = columns.filter(|(_, column)| column.name() == field.name());
        match (places.next(), places.next()) {
            (Some((at, _)), None) => Ok(at),
            (None, _) => Err(format!(
                "there is no column `{}`, which is in the schema",
                field.name()
            )),
            _ => Err(format!("there are two columns `{}`", field.name())),
        }
    };
    schema.fields().iter().map(place).collect()
}

/// What was inferred, and what arrow-csv does not care for: columns without values are text,
/// timestamps that all have an offset are instants.
fn completed(found: &Schema, sample: &[u8], format: &Format) -> Result<SchemaRef, ArrowError> {
    let texts = found
        .fields()
        .iter()
        .map(|field| Field::new(field.name(), DataType::Utf8, true));
    let texts = Arc::new(Schema::new(texts.collect::<Vec<_>>()));
    let mut instants = vec![true; found.fields().len()];
    // The sample may end within a row.
    for batch in ReaderBuilder::new(texts)
        .with_format(format.clone())
        .build(sample)?
        .map_while(Result::ok)
    {
        for (column, instants) in batch.columns().iter().zip(&mut instants) {
            *instants &= column.as_string::<i32>().iter().flatten().all(has_offset);
        }
    }
    let field = |(field, instants): (&FieldRef, bool)| {
        let data_type = match field.data_type() {
            DataType::Null => DataType::Utf8,
            DataType::Timestamp(unit, None) if instants => {
                DataType::Timestamp(*unit, Some("UTC".into()))
            }
            other => other.clone(),
        };
        Field::new(field.name(), data_type, true)
    };
    let fields = found.fields().iter().zip(instants).map(field);
    Ok(Arc::new(Schema::new(fields.collect::<Vec<_>>())))
}

/// `Z`, `+02:00` or `-0330` behind the time.
fn has_offset(text: &str) -> bool {
    let time = text.get(19..).unwrap_or_default();
    time.ends_with('Z') || time.contains(['+', '-'])
}

/// A table, and what its columns become.
struct Table {
    schema: SchemaRef,
    /// For each field its column.
    order: Vec<usize>,
    format: Format,
    header: bool,
    inferred: bool,
}

impl Table {
    /// The columns as arrow-csv is to read them.
    fn columns(&self) -> Schema {
        let mut columns = vec![Field::new("", DataType::Utf8, true); self.order.len()];
        for (field, &at) in self.schema.fields().iter().zip(&self.order) {
            if let Some(column) = columns.get_mut(at) {
                if has_parser(field.data_type()) {
                    *column = field.as_ref().clone();
                } else {
                    column.set_name(field.name());
                }
            }
        }
        Schema::new(columns)
    }
}

/// Whether arrow-csv reads the type as this command writes it.
fn has_parser(data_type: &DataType) -> bool {
    match data_type {
        DataType::Boolean
        | DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Timestamp(_, None)
        | DataType::Utf8
        | DataType::Utf8View => true,
        other => other.is_numeric(),
    }
}

impl Text for Table {
    fn decoder(&self, rows: usize, first: bool) -> Result<Box<dyn Decode>, ArrowError> {
        let columns = Arc::new(self.columns());
        let builder = ReaderBuilder::new(columns)
            .with_format(self.format.clone())
            .with_header(self.header && first)
            .with_batch_size(rows);
        Ok(Box::new(Columns {
            decoder: builder.build_decoder(),
            schema: self.schema.clone(),
            order: self.order.clone(),
        }))
    }

    fn explain(&self, error: ArrowError) -> String {
        let mut text = message(error);
        // arrow-csv counts columns and rows of its own.
        if let Some((what, place)) = text.split_once(" for column ") {
            let end = place
                .find(|it: char| !it.is_ascii_digit())
                .unwrap_or(place.len());
            let column = place.get(..end).and_then(|at| at.parse::<usize>().ok());
            let field = self.order.iter().position(|at| Some(*at) == column);
            if let Some(field) = field.and_then(|at| self.schema.fields().get(at)) {
                text = format!("{what} for column `{}`", field.name());
            }
            if self.inferred {
                text += INFERRED;
            }
        } else if let Some((what, place)) = text.split_once(" for line ") {
            let (_, counts) = place.split_once(", ").unwrap_or(("", place));
            text = format!("{what}: {counts}");
        }
        text
    }
}

/// Columns on their way to their types.
struct Columns {
    decoder: Decoder,
    schema: SchemaRef,
    order: Vec<usize>,
}

impl Decode for Columns {
    fn decode(&mut self, text: &[u8]) -> Result<usize, ArrowError> {
        // A row may be complete only when its line is: the decoder says that it has room, and takes
        // nothing more.
        self.decoder.decode(text)
    }

    fn flush(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let Some(batch) = self.decoder.flush()? else {
            return Ok(None);
        };
        let column = |(field, &at): (&FieldRef, &usize)| {
            let column = batch.columns().get(at).ok_or_else(|| {
                ArrowError::CsvError(format!("there is no column for `{}`", field.name()))
            })?;
            if column.data_type() == field.data_type() && has_parser(field.data_type()) {
                Ok(column.clone())
            } else {
                parsed(field, column)
            }
        };
        let columns: Vec<ArrayRef> = self
            .schema
            .fields()
            .iter()
            .zip(&self.order)
            .map(column)
            .collect::<Result<_, _>>()?;
        let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &rows).map(Some)
    }
}

/// Texts as values of a field.
fn parsed(field: &FieldRef, texts: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let mut json = String::new();
    for text in texts.as_string::<i32>() {
        match text {
            None => json.push_str("null"),
            Some(text) if field.data_type().is_nested() => json.push_str(text),
            Some(text) => push_json_string(&mut json, text),
        }
        json.push('\n');
    }
    let wrong = |error: ArrowError| {
        ArrowError::CsvError(format!("{} for column `{}`", message(error), field.name()))
    };
    let mut decoder = JsonBuilder::new_with_field(field.clone())
        .with_batch_size(texts.len().max(1))
        .with_strict_mode(true)
        .with_decoder_factory(Arc::new(Values))
        .build_decoder()
        .map_err(wrong)?;
    let taken = decoder.decode(json.as_bytes()).map_err(wrong)?;
    let batch = decoder.flush().map_err(wrong)?;
    let rest = json.get(taken..).unwrap_or_default();
    match batch.map(|batch| batch.column(0).clone()) {
        Some(column) if column.len() == texts.len() && rest.trim().is_empty() => Ok(column),
        _ => Err(wrong(ArrowError::CsvError("no JSON".into()))),
    }
}
