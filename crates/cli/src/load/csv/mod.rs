//! CSV.
//!
//! arrow-csv finds the types. It does not know whether a field was quoted, and passes over blank
//! lines, so nulls would be lost: records are read here.

mod columns;
mod records;

use std::sync::Arc;

use arrow_csv::reader::Format;
use herringbone_arrow::array::{ArrayRef, RecordBatch};
use herringbone_arrow::schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef};
use regex::Regex;

use self::columns::{column, may_be_empty};
use self::records::Records;
use super::json::{INFERRED, message};
use super::sample::Sample;
use super::text::{Batches, Decode, Text};
use super::{Rows, Stream, TextOptions};
use crate::failure::{Failure, Result};

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
    let null = Regex::new(&format!("^({})?$", regex::escape(&options.null)))
        .map_err(|error| wrong(error.to_string()))?;
    let format = Format::default()
        .with_header(options.header)
        .with_delimiter(options.delimiter)
        .with_null_regex(null);
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
            let schema = completed(&found, &sample.text, options);
            let order = (0..schema.fields().len()).collect();
            (schema, order)
        }
    };
    let table = Table {
        schema: schema.clone(),
        order,
        delimiter: options.delimiter,
        header: options.header,
        null: options.null.clone(),
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
fn completed(found: &Schema, sample: &[u8], options: &TextOptions) -> SchemaRef {
    let mut records = Records::new(options.delimiter, found.fields().len());
    // Whether all of it is right is seen when it is read.
    _ = records.read(sample, usize::MAX).is_ok() && records.read(&[], usize::MAX).is_ok();
    let data_type = |(at, field): (usize, &FieldRef)| {
        let texts = records.column(at).skip(usize::from(options.header));
        let mut texts = texts.flatten().map(|(text, _)| text);
        let is_value = |text: &&str| !text.is_empty() && *text != options.null;
        match field.data_type() {
            DataType::Null => DataType::Utf8,
            DataType::Timestamp(unit, None) if texts.by_ref().filter(is_value).all(has_offset) => {
                DataType::Timestamp(*unit, Some("UTC".into()))
            }
            other => other.clone(),
        }
    };
    let fields = found.fields().iter().enumerate();
    let fields = fields.map(|it| Field::new(it.1.name(), data_type(it), true));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
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
    delimiter: u8,
    header: bool,
    null: String,
    inferred: bool,
}

impl Text for Table {
    fn decoder(&self, rows: usize, first: bool) -> Result<Box<dyn Decode>, ArrowError> {
        let header = self.header && first;
        let mut records = Records::new(self.delimiter, self.order.len());
        records.blanks = self.order.len() == 1 && !header;
        Ok(Box::new(Rest {
            records,
            rows,
            header,
            schema: self.schema.clone(),
            order: self.order.clone(),
            null: self.null.clone(),
        }))
    }

    fn explain(&self, error: ArrowError) -> String {
        let text = message(error);
        if self.inferred && text.contains(" for column `") {
            text + INFERRED
        } else {
            text
        }
    }
}

/// The records that are still to come.
struct Rest {
    records: Records,
    /// Rows of a batch.
    rows: usize,
    /// Whether the names of the columns come first.
    header: bool,
    schema: SchemaRef,
    order: Vec<usize>,
    null: String,
}

impl Rest {
    /// A column as the field wants it.
    ///
    /// Without quotes, a field may be a null. With quotes it is none, but where no value has an
    /// empty text: programs that quote everything leave nothing else.
    fn column(&self, field: &FieldRef, at: usize) -> Result<ArrayRef, ArrowError> {
        let may_be_empty = may_be_empty(field.data_type());
        let texts = self.records.column(at).map(|it| {
            let (text, quoted) = it?;
            let is_null = !quoted && text == self.null || !may_be_empty && text.is_empty();
            Ok((!is_null).then_some(text))
        });
        column(field, &texts.collect::<Result<Vec<_>, ArrowError>>()?)
    }
}

impl Decode for Rest {
    fn blank(&self, text: &[u8]) -> usize {
        let is_blank = |byte: &&u8| !self.records.blanks && matches!(byte, b'\r' | b'\n');
        text.iter().take_while(is_blank).count()
    }

    fn decode(&mut self, text: &[u8]) -> Result<usize, ArrowError> {
        if !self.header {
            return self.records.read(text, self.rows);
        }
        let taken = self.records.read(text, 1)?;
        if self.records.len() == 1 {
            self.header = false;
            self.records.clear();
            // Of several columns, none is there in a blank line.
            self.records.blanks = self.order.len() == 1;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        let rows = self.records.len();
        if rows == 0 {
            return Ok(None);
        }
        if i32::try_from(self.records.bytes()).is_err() {
            let text = format!("more than 2 GiB of text in {rows} rows");
            return Err(ArrowError::CsvError(text));
        }
        let fields = self.schema.fields().iter().zip(&self.order);
        let columns: Vec<ArrayRef> = fields
            .map(|(field, &at)| self.column(field, at))
            .collect::<Result<_, _>>()?;
        self.records.clear();
        RecordBatch::try_new(self.schema.clone(), columns).map(Some)
    }
}
