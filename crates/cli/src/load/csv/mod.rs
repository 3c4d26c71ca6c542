//! CSV.
//!
//! A null and an empty string are told apart by quotes, and so are numbers and their text, so a field is
//! known with its quotes. A file that quotes everything says nothing by that.

mod kind;
mod records;

use std::io::BufRead;
use std::sync::Arc;

use herringbone_arrow::array::{ArrayRef, RecordBatch};
use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use self::kind::Kind;
use self::records::Records;
use super::sample::Sample;
use super::value::number::Number;
use super::value::{Rules, Scalar, Slot, Wrong, may_be_empty};
use super::{BATCH_BYTES, BATCH_ROWS, INFERRED, Rows, Stream, TextOptions};
use crate::failure::{Failure, Result};

/// Reads CSV.
///
/// # Errors
/// Data where no schema can be inferred or the given one does not fit, System.
pub(crate) fn csv(stream: Stream, options: &TextOptions<'_>) -> Result<Rows<'static>> {
    let name = stream.name.clone();
    let work = stream.work();
    let wrong = |text: String| Failure::Data(format!("{name}: {text}"));
    let beginning = Beginning::of(stream, options)?;
    let (schema, order) = match &options.schema {
        Some(schema) if options.header => {
            let order = matched(&beginning.names, schema).map_err(wrong)?;
            (schema.clone(), order)
        }
        Some(schema) => (schema.clone(), (0..schema.fields().len()).collect()),
        None => {
            options.all_are_in(&name, |column| beginning.names.contains(column))?;
            let schema = beginning.schema(options).map_err(wrong)?;
            let order = (0..schema.fields().len()).collect();
            (schema, order)
        }
    };
    let column = |(field, &from): (&FieldRef, &usize)| {
        let chosen = options.types.iter().any(|it| it.name() == field.name());
        Column::new(field, from, options.schema.is_none() && !chosen)
    };
    let columns = schema.fields().iter().zip(&order).map(column);
    let columns = columns.collect::<Result<Vec<_>, Wrong>>();
    let columns = columns.map_err(|it| wrong(it.words()))?;
    let mut records = Records::new(options.delimiter, Some(order.len()));
    records.blanks = order.len() == 1 && !options.header;
    Ok(Rows {
        schema: schema.clone(),
        batches: Box::new(Batches {
            name,
            all_quoted: beginning.all_quoted,
            input: beginning.sample.whole(),
            schema,
            columns,
            records,
            header: options.header,
            null: options.null.clone(),
            failed: false,
        }),
        work,
    })
}

/// What is known of a file by its first rows.
struct Beginning {
    sample: Sample,
    names: Vec<String>,
    kinds: Vec<Kind>,
    /// Whether quotes say nothing: those of the header are not needed, and all fields have them.
    all_quoted: bool,
}

impl Beginning {
    fn of(stream: Stream, options: &TextOptions<'_>) -> Result<Self> {
        let name = stream.name.clone();
        let wanted = match options.schema {
            Some(_) => 0,
            // Without a header, the first row says how many columns there are.
            None => options.infer_rows.max(usize::from(!options.header)),
        };
        let mut header = Records::new(options.delimiter, None);
        let mut rows = Records::new(options.delimiter, None);
        let mut in_rows = !options.header;
        if let (Some(schema), false) = (&options.schema, options.header) {
            rows.width = Some(schema.fields().len());
        }
        let wrong = |(line, text)| format!("line {line}: {text}");
        let sample = Sample::of(stream, |mut text| {
            if !in_rows {
                let taken = header.read(text, 1, usize::MAX).map_err(wrong)?;
                text = text.get(taken..).unwrap_or_default();
                in_rows = header.len() > 0;
                if !in_rows {
                    return Ok(false);
                }
                rows = header.behind_header();
            }
            rows.read(text, wanted, usize::MAX).map_err(wrong)?;
            Ok(rows.len() >= wanted)
        })?;
        let refused = |it| Failure::Data(format!("{name}: {}", wrong(it)));
        if !in_rows {
            header.cut();
            rows = header.behind_header();
        }
        rows.cut();
        let width = rows.width.unwrap_or(0);
        let fields = header.text().map_err(refused)?;
        let names = (0..width).map(|column| match options.header {
            true => fields.get(0, column).map(|it| it.0.to_owned()),
            false => Ok(format!("column_{}", column + 1)),
        });
        let names = names.collect::<Result<Vec<_>, _>>().map_err(refused)?;
        let all_quoted = options.header && quotes_all(&header, &rows, options).map_err(refused)?;
        let kinds = kinds(&rows, width, all_quoted, options).map_err(refused)?;
        Ok(Self {
            sample,
            names,
            kinds,
            all_quoted,
        })
    }

    /// The schema that was found.
    fn schema(&self, options: &TextOptions<'_>) -> Result<SchemaRef, String> {
        if self.names.is_empty() {
            return Err("there is no row to infer a schema from; --schema gives it".into());
        }
        let field = |(name, kind): (&String, &Kind)| {
            let chosen = options.types.iter().find(|it| it.name() == name);
            let inferred = || Field::new(name, kind.data_type(), true);
            chosen.cloned().unwrap_or_else(inferred)
        };
        let fields = self.names.iter().zip(&self.kinds).map(field);
        Ok(Arc::new(Schema::new(fields.collect::<Fields>())))
    }
}

/// Whether every field is quoted that is no null, and so is the header, which needs it nowhere.
fn quotes_all(
    header: &Records,
    rows: &Records,
    options: &TextOptions<'_>,
) -> Result<bool, records::Wrong> {
    let width = rows.width.unwrap_or(0);
    let (names, fields) = (header.text()?, rows.text()?);
    let mut needless = false;
    for column in 0..width {
        let (name, quoted) = names.get(0, column)?;
        let special = ['"', '\r', '\n', char::from(options.delimiter)];
        needless |= quoted && !name.is_empty() && !name.contains(special);
        if !quoted {
            return Ok(false);
        }
    }
    for record in 0..rows.len() {
        for column in 0..width {
            let (text, quoted) = fields.get(record, column)?;
            if !quoted && !text.is_empty() && text != options.null {
                return Ok(false);
            }
        }
    }
    Ok(needless)
}

/// What each column holds.
fn kinds(
    rows: &Records,
    width: usize,
    all_quoted: bool,
    options: &TextOptions<'_>,
) -> Result<Vec<Kind>, records::Wrong> {
    let mut kinds = vec![Kind::Nothing; width];
    if options.infer_rows == 0 {
        kinds.fill(Kind::Text);
    }
    let fields = rows.text()?;
    for record in 0..rows.len() {
        for (column, kind) in kinds.iter_mut().enumerate() {
            let (text, quoted) = fields.get(record, column)?;
            let is_null =
                text.is_empty() && (!quoted || all_quoted) || !quoted && text == options.null;
            *kind = match *kind {
                known if is_null || known == Kind::Text => known,
                _ if quoted && !all_quoted => Kind::Text,
                known => known.with(Kind::of(text)),
            };
        }
    }
    Ok(kinds)
}

/// Whether a field without quotes would be read as text, were it alone in its column: by this command,
/// and as far as numbers go, by anyone.
pub(crate) fn reads_as_text(text: &str) -> bool {
    let may_be_number = text.starts_with(|it: char| matches!(it, '+' | '-' | '.' | '0'..='9'));
    let is_number = may_be_number && Number::of(text).is_some();
    !is_number && Kind::of(text).data_type() == DataType::Utf8
}

/// For each field of the schema the column of the file that has its name.
fn matched(names: &[String], schema: &Schema) -> Result<Vec<usize>, String> {
    let known = |name: &&String| schema.fields().iter().any(|it| it.name() == *name);
    if let Some(name) = names.iter().find(|name| !known(name)) {
        return Err(format!("the column `{name}` is not in the schema"));
    }
    let place = |field: &FieldRef| {
        let columns = names.iter().enumerate();
        let mut places = columns.filter(|(_, name)| *name == field.name());
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

/// A column of the file on its way.
struct Column {
    slot: Slot,
    /// Which field of a record it is.
    from: usize,
    may_be_empty: bool,
    /// The type, where it was inferred.
    inferred: Option<DataType>,
}

impl Column {
    fn new(field: &Field, from: usize, inferred: bool) -> Result<Self, Wrong> {
        Ok(Self {
            slot: Slot::new(field, "", &Rules::default())?,
            from,
            may_be_empty: may_be_empty(field.data_type()),
            inferred: inferred.then(|| field.data_type().clone()),
        })
    }

    /// Appends a field.
    ///
    /// Without quotes, it may be a null. With quotes it is none, but where no value has an empty text.
    fn append(
        &mut self,
        (text, quoted): (&str, bool),
        null: &str,
        all_quoted: bool,
    ) -> Result<(), Wrong> {
        let text_in_quotes = quoted && !all_quoted;
        let is_empty = text.is_empty() && !self.may_be_empty;
        if !quoted && text == null || is_empty && !(self.inferred.is_some() && text_in_quotes) {
            return self.slot.null();
        }
        if let Some(data_type) = &self.inferred
            && *data_type != DataType::Utf8
        {
            let cell = Scalar::Cell(text);
            if text_in_quotes {
                let wrong = Wrong::misfit(cell, data_type, "it is quoted, so it is text");
                return Err(self.slot.wrong(wrong));
            }
            if !Kind::of(text).goes_with(data_type) {
                return Err(self.slot.wrong(Wrong::misfit(cell, data_type, "")));
            }
        }
        self.slot.scalar(Scalar::Cell(text))
    }
}

/// The batches of a table.
struct Batches<R> {
    name: String,
    input: R,
    schema: SchemaRef,
    columns: Vec<Column>,
    records: Records,
    /// Whether the names of the columns come first.
    header: bool,
    null: String,
    all_quoted: bool,
    failed: bool,
}

impl<R: BufRead> Batches<R> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.header {
            self.header = false;
            self.fill(1)?;
            self.records.clear();
            // Of several columns, none is there in a blank line.
            self.records.blanks = self.columns.len() == 1;
        }
        self.fill(BATCH_ROWS)?;
        if self.records.len() == 0 {
            return Ok(None);
        }
        let columns = self
            .arrays()
            .map_err(|(line, wrong)| self.wrong(line, wrong))?;
        self.records.clear_to(BATCH_BYTES);
        let batch = RecordBatch::try_new(self.schema.clone(), columns);
        batch
            .map(Some)
            .map_err(|error| Failure::Data(format!("{}: {error}", self.name)))
    }

    /// Reads so many records, or as many as a batch may hold bytes of.
    fn fill(&mut self, rows: usize) -> Result<()> {
        loop {
            let text = self
                .input
                .fill_buf()
                .map_err(|error| Failure::System(format!("{}: {error}", self.name)))?;
            let available = text.len();
            let taken = self.records.read(text, rows, BATCH_BYTES);
            let taken = taken.map_err(|(line, text)| self.wrong(line, Wrong::new(text)))?;
            self.input.consume(taken);
            // The end is to be seen.
            if available == 0 || taken < available {
                return Ok(());
            }
        }
    }

    /// The records as columns; an error has its line.
    fn arrays(&mut self) -> Result<Vec<ArrayRef>, (usize, Wrong)> {
        let no_text = |(line, text): records::Wrong| (line, Wrong::new(text));
        if i32::try_from(self.records.bytes()).is_err() {
            let text = "a row of more than 2 GiB";
            let last = self.records.len().saturating_sub(1);
            return Err((self.records.line(last), Wrong::new(text)));
        }
        let fields = self.records.text().map_err(no_text)?;
        for record in 0..self.records.len() {
            for column in &mut self.columns {
                let field = fields.get(record, column.from).map_err(no_text)?;
                column
                    .append(field, &self.null, self.all_quoted)
                    .map_err(|wrong| (self.records.line(record), wrong))?;
            }
        }
        let last = self.records.line(self.records.len());
        let columns = self.columns.iter_mut().map(|it| it.slot.finish());
        columns
            .collect::<Result<_, _>>()
            .map_err(|wrong| (last, wrong))
    }

    fn wrong(&self, line: usize, wrong: Wrong) -> Failure {
        let of_inferred = |path: &String| {
            let is_it = |it: &&Column| it.slot.is_called(path);
            let column = self.columns.iter().find(is_it);
            column.is_some_and(|it| it.inferred.is_some())
        };
        let hint = match &wrong.path {
            Some(path) if of_inferred(path) => INFERRED,
            _ => "",
        };
        Failure::Data(format!(
            "{}: line {line}: {}{hint}",
            self.name,
            wrong.words()
        ))
    }
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
