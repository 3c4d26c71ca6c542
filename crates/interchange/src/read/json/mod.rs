//! Reads JSON rows, with one object per row. The objects are on separate lines or in arrays.

mod dates;
mod infer;
pub(super) mod rows;

use std::sync::Arc;

use herringbone::variant::shredding::is_variant;
use herringbone_arrow::array::{RecordBatch, RecordBatchOptions};
use herringbone_arrow::schema::{Field, FieldRef, Fields, Schema, SchemaRef};
use herringbone_text::json::JsonReader;

pub(in crate::read) use self::dates::ExactDates;
pub use self::dates::JsonDates;
use self::infer::{Found, Inference, Kind};
use self::rows::{Collection, FileRows, RowTexts, Sampled, line_ends};
use super::foreign::NOT_UTF8;
use super::geojson::for_each_member;
use super::lenient::Losses;
use super::row_size::batch_rows;
use super::sample::Sample;
use super::value::{Column as _, ParseError, Rules, Slot, Struct, variant_type};
use super::{BATCH_BYTES, GIVEN, INFERRED, Rows, Stream, TextOptions, until_error};
use crate::error::{Error, Result};

/// Reads JSON lines, and arrays of objects.
///
/// # Errors
/// Fails with [Data](crate::Error::Data) if a schema cannot be inferred, and with
/// [System](crate::Error::System) if the text cannot be read.
pub fn jsonl<'a>(stream: Stream, options: &TextOptions<'a>) -> Result<Rows<'a>> {
    let (name, work) = (stream.name.clone(), stream.work());
    let collection = options
        .json_path
        .as_ref()
        .map(|key| collection(&name, key, options));
    let rows = FileRows::new(name.clone(), Sample::start(stream)?.whole(), collection)
        .limited(options.limits);
    let (schema, batches) = batches(&name, rows, options)?;
    Ok(Rows {
        schema,
        batches,
        work,
    })
}

/// Describes objects with an array of rows under a key. Their other members are left out, so a note
/// lists them.
fn collection<'a>(name: &str, key: &str, options: &TextOptions<'a>) -> Collection<'a> {
    let (name, key, note) = (name.to_owned(), key.to_owned(), options.note);
    Collection {
        key: Arc::from(key.as_bytes()),
        is_required: true,
        see: Box::new(move |text| {
            let mut others = Vec::new();
            for_each_member(text, "the text", &mut |member, _| {
                others.extend((member != key).then_some(member));
                Ok(())
            })?;
            if !others.is_empty() {
                note(&format!(
                    "{name}: members next to `{key}` are left out: `{}`",
                    others.join("`, `")
                ));
            }
            Ok(())
        }),
    }
}

type Batch = Result<RecordBatch>;

/// Converts rows to batches.
///
/// # Errors
/// Fails with [Data](crate::Error::Data) if a schema cannot be inferred, and with
/// [System](crate::Error::System) if the text cannot be read.
pub(super) fn batches<'a>(
    name: &str,
    rows: impl RowTexts + 'a,
    options: &TextOptions<'_>,
) -> Result<(SchemaRef, Box<dyn Iterator<Item = Batch> + 'a>)> {
    let wanted = match options.schema {
        Some(_) => 0,
        None => options.infer_rows,
    };
    let rows = Sampled::new(rows, wanted)?;
    let (schema, rules) = match &options.schema {
        Some(schema) => (with_variants(schema), Rules::default()),
        None => infer(name, &rows, options)?,
    };
    options.all_are_in(name, |options| schema.fields().find(options).is_some())?;
    if !rules.mixed.is_empty() {
        let columns = rules.mixed.join("`, `");
        let text = format!("{name}: `{columns}`: values of several types become text");
        (options.note)(&text);
    }
    let refused = |text: String| Error::Data(format!("{name}: {text}"));
    let batch_rows = batch_rows(&schema, options.limits).map_err(refused)?;
    let slots = schema.fields().iter().map(|field| {
        let given = Rules::default();
        let chosen = options
            .types
            .iter()
            .any(|type_| type_.name() == field.name());
        Slot::new(field, "", if chosen { &given } else { &rules })
    });
    let columns = slots.collect::<Result<_, _>>();
    let columns = columns.map_err(|error: ParseError| refused(error.into_text()))?;
    let mut batches = Batches {
        name: name.to_owned(),
        rows,
        row: Vec::new(),
        batch_rows,
        columns: Struct::of(schema.fields(), columns),
        schema: schema.clone(),
        inferred: rules.inferred,
        losses: options
            .lenient
            .as_ref()
            .map(|lenient| Losses::new(name, lenient)),
    };
    Ok((schema, until_error(move || batches.next_batch())))
}

/// Returns the schema with our own storage type for variants.
fn with_variants(schema: &SchemaRef) -> SchemaRef {
    let variant = |field: &FieldRef| match variant_type() {
        Ok(data_type) if is_variant(field) => {
            FieldRef::new(Field::clone(field).with_data_type(data_type))
        }
        _ => field.clone(),
    };
    let fields: Fields = schema.fields().iter().map(variant).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Infers the schema from the sample.
fn infer<S: RowTexts>(
    name: &str,
    rows: &Sampled<S>,
    options: &TextOptions<'_>,
) -> Result<(SchemaRef, Rules)> {
    let mut inference = Inference::new(options.limits.schema_nodes);
    let mut columns = Kind::Null;
    let is_chosen = |name: &str| options.types.iter().any(|type_| type_.name() == name);
    for (line, row) in &rows.sample {
        inference.line = *line;
        let kind = with_text(row, |json| inference.row(json, &is_chosen));
        let kind = kind.and_then(|kind| {
            let before = std::mem::replace(&mut columns, Kind::Null);
            inference.both(before, kind).map_err(|error| (0, error))
        });
        match kind {
            Ok(kind) => columns = kind,
            // Reading the rows reports this error.
            Err(_) if options.lenient.is_some() => {}
            Err((below, error)) => return Err(rows.failure(line + below, error)),
        }
    }
    let refused = |text: String| Error::Data(format!("{name}: {text}"));
    let Kind::Struct(columns) = columns else {
        let text = "there is no row to infer a schema from; supply one with --schema FILE";
        return Err(refused(text.into()));
    };
    // A row isn't bad just because it contradicts our guess of a date. So when leaving out bad
    // rows, we only infer dates after seeing all rows.
    let seen_only = JsonDates::IfAllSeen;
    let mut found = Found::new(match options.lenient {
        Some(_) => (&seen_only, rows.is_whole),
        None => (&options.json_dates, rows.is_whole),
    });
    let field = |(name, kind): &(String, Kind)| {
        if let Some(chosen) = options.types.iter().find(|type_| type_.name() == name) {
            return Ok(chosen.clone());
        }
        let data_type = kind.data_type(name, &mut found)?;
        Ok(Field::new(name, data_type, true))
    };
    let fields = columns.fields.iter().map(field);
    let fields: Fields = fields.collect::<Result<_, String>>().map_err(refused)?;
    if !found.dates.is_empty() {
        let columns = found.dates.join("`, `");
        (options.note)(&format!(
            "{name}: `{columns}`: dates and times in several forms stay text, which keeps them as they are; --type \
             COLUMN=timestamp, or timestamptz, converts them"
        ));
    }
    let rules = Rules {
        inferred: true,
        mixed: found.mixed,
        has_exact_dates: true,
    };
    Ok((Arc::new(Schema::new(fields)), rules))
}

/// Reads a row's text. Errors come with a line offset within the row.
fn with_text<T>(
    row: &[u8],
    read: impl FnOnce(&mut JsonReader<'_>) -> Result<T, ParseError>,
) -> Result<T, (usize, ParseError)> {
    let text = str::from_utf8(row).map_err(|error| {
        let before = row.get(..error.valid_up_to()).unwrap_or_default();
        (line_ends(before), ParseError::new(NOT_UTF8))
    })?;
    let mut json = JsonReader::new(text);
    let value =
        read(&mut json).and_then(|value| json.end().map(|()| value).map_err(ParseError::from));
    value.map_err(|error| {
        let before = row.get(..json.position()).unwrap_or(row);
        (line_ends(before), error)
    })
}

/// Appends one row's text. Errors come with a line offset within the row.
fn append(columns: &mut Struct, row: &[u8]) -> Result<(), (usize, ParseError)> {
    with_text(row, |json| {
        json.value()?;
        columns.object(json)
    })
}

/// An iteration over the batches of a text.
struct Batches<S> {
    name: String,
    rows: S,
    /// A buffer for the current row.
    row: Vec<u8>,
    schema: SchemaRef,
    columns: Struct,
    inferred: bool,
    /// The maximum number of rows in a batch.
    batch_rows: usize,
    /// The losses of a text with bad rows, or `None` if bad rows are errors.
    losses: Option<Losses>,
}

impl<S: RowTexts> Batches<S> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.losses.is_some() {
            return self.next_lenient_batch();
        }
        let mut bytes = 0;
        while self.columns.len() < self.batch_rows && bytes < BATCH_BYTES {
            let Some(line) = self.rows.next_row(&mut self.row)? else {
                break;
            };
            bytes += self.row.len();
            let appended = append(&mut self.columns, &self.row);
            if let Err((below, mut error)) = appended {
                // If a text isn't a date, the caller reads again, so the user needs no advice.
                if error.path.is_some() && !error.is_no_date {
                    error.message += if self.inferred { INFERRED } else { GIVEN };
                }
                let column = error.path.clone().filter(|_| error.is_no_date);
                let failure = self.rows.failure(line + below, error);
                return Err(match (column, failure) {
                    (Some(column), Error::Data(message)) => Error::NotADate { column, message },
                    (_, failure) => failure,
                });
            }
        }
        self.flush()
    }

    /// Returns the next batch, without its bad rows.
    fn next_lenient_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let mut rows: Vec<(usize, Vec<u8>)> = Vec::new();
            let mut bytes = 0;
            while rows.len() < self.batch_rows && bytes < BATCH_BYTES {
                let Some(line) = self.rows.next_row(&mut self.row)? else {
                    break;
                };
                bytes += self.row.len();
                rows.push((line, self.row.clone()));
            }
            if rows.is_empty() {
                return Ok(None);
            }
            let columns = &mut self.columns;
            if rows.iter().all(|(_, row)| append(columns, row).is_ok()) {
                return self.flush();
            }
            // The columns might contain parts of a bad row, so we discard their contents.
            self.columns.columns().ok();
            self.drop_bad(&mut rows);
            let columns = &mut self.columns;
            for (line, row) in &rows {
                let appended = append(columns, row);
                appended.map_err(|(below, error)| self.rows.failure(line + below, error))?;
            }
            if !rows.is_empty() {
                return self.flush();
            }
        }
    }

    /// Reports and drops unreadable rows. We read each row on its own, because columns can be left
    /// with parts of a bad row.
    fn drop_bad(&mut self, rows: &mut Vec<(usize, Vec<u8>)>) {
        rows.retain(|(line, row)| {
            let appended = append(&mut self.columns, row);
            let finished = self.columns.columns().map_err(|error| (0, error));
            let Err((below, error)) = appended.and(finished.map(drop)) else {
                return true;
            };
            if let Some(losses) = &mut self.losses {
                losses.row(line + below, &error.into_text());
            }
            false
        });
    }

    fn flush(&mut self) -> Result<Option<RecordBatch>> {
        let rows = self.columns.len();
        if rows == 0 {
            return Ok(None);
        }
        let refused = |text: String| Error::Data(format!("{}: {text}", self.name));
        let columns = self
            .columns
            .columns()
            .map_err(|error| refused(error.into_text()))?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options);
        batch.map(Some).map_err(|error| refused(error.to_string()))
    }
}
