//! JSON lines: objects, each of which is a row, with white space between them.

mod infer;
pub(super) mod parse;
mod rows;

use std::io::BufRead;
use std::sync::Arc;

use herringbone::variant::shredding::is_variant;
use herringbone_arrow::array::{RecordBatch, RecordBatchOptions};
use herringbone_arrow::schema::{Field, FieldRef, Fields, Schema, SchemaRef};

use self::infer::Kind;
use self::parse::{DEPTH, Json, Start};
use self::rows::{blank, line_ends};
use super::foreign::NOT_UTF8;
use super::row_size::batch_rows;
use super::sample::Sample;
use super::value::{Column as _, Rules, Slot, Struct, Wrong, variant_type};
use super::{BATCH_BYTES, INFERRED, Rows, Stream, TextOptions, unreadable};
use crate::failure::{Failure, Result};

/// Reads JSON lines.
///
/// # Errors
/// Data where no schema can be inferred, System.
pub(crate) fn jsonl(stream: Stream, options: &TextOptions<'_>) -> Result<Rows<'static>> {
    let name = stream.name.clone();
    let work = stream.work();
    let wanted = match options.schema {
        Some(_) => 0,
        None => options.infer_rows,
    };
    let mut scanner = rows::Rows::default();
    let mut seen = 0;
    let sample = Sample::of(stream, |text| {
        seen += scanner.count(text);
        Ok(seen >= wanted)
    })?;
    let wrong = |message: String| Failure::Data(format!("{name}: {message}"));
    let (schema, rules) = match &options.schema {
        Some(schema) => (with_variants(schema), Rules::default()),
        None => infer(&sample.text, options).map_err(wrong)?,
    };
    options.all_are_in(&name, |it| schema.fields().find(it).is_some())?;
    if !rules.mixed.is_empty() {
        let columns = rules.mixed.join("`, `");
        let text = format!("{name}: `{columns}`: values of several types become text");
        (options.note)(&text);
    }
    let batch_rows = batch_rows(&schema, options.limits).map_err(wrong)?;
    let slots = schema.fields().iter().map(|field| {
        let given = Rules::default();
        let chosen = options.types.iter().any(|it| it.name() == field.name());
        Slot::new(field, "", if chosen { &given } else { &rules })
    });
    let columns = slots.collect::<Result<_, _>>();
    let columns = columns.map_err(|it: Wrong| wrong(it.words()))?;
    Ok(Rows {
        schema: schema.clone(),
        batches: Box::new(Batches {
            name,
            input: sample.whole(),
            columns: Struct::of(schema.fields(), columns),
            schema,
            inferred: rules.inferred,
            rows: rows::Rows::default(),
            kept: Vec::new(),
            line: 1,
            batch_rows,
            failed: false,
        }),
        work,
    })
}

/// The schema with variants as they are read, whatever form the columns of the schema have.
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

/// The schema of the objects in `text`, which may end within one.
fn infer(text: &[u8], options: &TextOptions<'_>) -> Result<(SchemaRef, Rules), String> {
    let mut columns = Kind::Null;
    let (mut at, mut line, mut count) = (0, 1, 0);
    while count < options.infer_rows {
        let rest = text.get(at..).unwrap_or_default();
        let (before, rest) = rest.split_at_checked(blank(rest)).unwrap_or((rest, b""));
        line += line_ends(before);
        at += before.len();
        if rest.is_empty() {
            break;
        }
        let end = rows::Rows::default().end(rest);
        let row = rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest);
        if end.is_none() && count > 0 && row.starts_with(b"{") {
            // The sample ended; what follows is for the reader to judge.
            break;
        }
        let text = str::from_utf8(row).map_err(|_| format!("line {line}: {NOT_UTF8}"))?;
        let mut json = Json::new(text);
        let kind = row_kind(&mut json, options, line).map_err(|wrong| {
            let line = line + line_ends(row.get(..json.position()).unwrap_or(row));
            format!("line {line}: {}", wrong.words())
        })?;
        columns = columns.with(kind, line);
        line += line_ends(row);
        at += row.len();
        count += 1;
    }
    let Kind::Struct(columns) = columns else {
        return Err("there is no row to infer a schema from; --schema gives it".into());
    };
    let mut mixed = Vec::new();
    let field = |(name, kind): &(String, Kind)| {
        if let Some(chosen) = options.types.iter().find(|it| it.name() == name) {
            return Ok(chosen.clone());
        }
        let data_type = kind.data_type(name, &mut mixed)?;
        Ok(Field::new(name, data_type, true))
    };
    let fields: Fields = columns.iter().map(field).collect::<Result<_, String>>()?;
    let rules = Rules {
        inferred: true,
        mixed,
    };
    Ok((Arc::new(Schema::new(fields)), rules))
}

/// What the fields of a row are.
fn row_kind(json: &mut Json<'_>, options: &TextOptions<'_>, line: usize) -> Result<Kind, Wrong> {
    if !matches!(json.value(), Ok(Start::Object)) {
        return Err(no_row());
    }
    let mut first = true;
    let mut fields = Vec::new();
    while let Some(name) = json.key(&mut first)? {
        let kind = match options.types.iter().any(|it| *it.name() == name) {
            // Its type is known, whatever the values look like.
            true => json.skip(DEPTH).map(|()| Kind::Null)?,
            false => Kind::read(json, DEPTH, line)?,
        };
        fields.push((name.into_owned(), kind));
    }
    infer::no_name_twice(&fields)?;
    json.end()?;
    Ok(Kind::Struct(fields))
}

fn no_row() -> Wrong {
    Wrong::new("a row is an object, {…}, on a line of its own")
}

/// The batches of a text.
struct Batches<R> {
    name: String,
    input: R,
    schema: SchemaRef,
    columns: Struct,
    inferred: bool,
    rows: rows::Rows,
    /// The beginning of a row that has not come to its end.
    kept: Vec<u8>,
    /// The number of the line that the next row begins in.
    line: usize,
    /// Rows of a batch, at most.
    batch_rows: usize,
    failed: bool,
}

impl<R: BufRead> Batches<R> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let mut bytes = 0;
        while self.columns.len() < self.batch_rows && bytes < BATCH_BYTES {
            let input = self.input.fill_buf();
            let input = input.map_err(|error| unreadable(&self.name, &error))?;
            if input.is_empty() {
                if self.rows.is_open() {
                    let text = "no JSON: the file ends within a row";
                    return Err(self.wrong(0, Wrong::new(text)));
                }
                break;
            }
            if !self.rows.is_open() {
                let blank = blank(input);
                if blank > 0 {
                    self.line += line_ends(input.get(..blank).unwrap_or_default());
                    self.input.consume(blank);
                    continue;
                }
                if !input.starts_with(b"{") {
                    return Err(self.wrong(0, no_row()));
                }
            }
            let Some(end) = self.rows.end(input) else {
                let length = input.len();
                self.kept.extend_from_slice(input);
                self.input.consume(length);
                continue;
            };
            let mut row = input.get(..end).unwrap_or(input);
            if !self.kept.is_empty() {
                self.kept.extend_from_slice(row);
                row = &self.kept;
            }
            bytes += row.len();
            if let Err((before, wrong)) = append(&mut self.columns, row) {
                return Err(self.wrong(before, wrong));
            }
            self.line += line_ends(row);
            self.input.consume(end);
            self.kept.clear();
            // A row of many megabytes is no reason to keep as many.
            self.kept.shrink_to(BATCH_BYTES);
        }
        self.flush()
    }

    fn flush(&mut self) -> Result<Option<RecordBatch>> {
        let rows = self.columns.len();
        if rows == 0 {
            return Ok(None);
        }
        let refused = |text: String| Failure::Data(format!("{}: {text}", self.name));
        let columns = self.columns.columns().map_err(|it| refused(it.words()))?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options);
        batch.map(Some).map_err(|error| refused(error.to_string()))
    }

    /// What is wrong, so many lines below the beginning of the row.
    fn wrong(&self, below: usize, wrong: Wrong) -> Failure {
        let hint = match wrong.path {
            Some(_) if self.inferred => INFERRED,
            _ => "",
        };
        let line = self.line + below;
        Failure::Data(format!(
            "{}: line {line}: {}{hint}",
            self.name,
            wrong.words()
        ))
    }
}

/// Appends a row; an error has the number of lines before it.
fn append(columns: &mut Struct, row: &[u8]) -> Result<(), (usize, Wrong)> {
    if i32::try_from(row.len()).is_err() {
        return Err((0, Wrong::new("a row of more than 2 GiB")));
    }
    let text = str::from_utf8(row).map_err(|error| {
        let before = row.get(..error.valid_up_to()).unwrap_or_default();
        (line_ends(before), Wrong::new(NOT_UTF8))
    })?;
    let mut json = Json::new(text);
    let appended = json.value().and_then(|_| columns.object(&mut json));
    appended.and_then(|()| json.end()).map_err(|wrong| {
        let before = row.get(..json.position()).unwrap_or(row);
        (line_ends(before), wrong)
    })
}

impl<R: BufRead> Iterator for Batches<R> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let batch = self.next_batch();
        self.failed = batch.is_err();
        batch.transpose()
    }
}
