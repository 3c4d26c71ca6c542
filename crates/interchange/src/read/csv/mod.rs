//! Reads CSV.
//!
//! Quotes distinguish an empty string from a null and text from a number, so the reader keeps track
//! of quoted fields. But if a file quotes every field, quotes mean nothing.

mod beginning;
mod delimiter;
mod dialect;
mod hint;
mod kind;
mod look;
mod names;
mod records;

use std::collections::HashMap;
use std::io::BufRead;

use herringbone_arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_arrow::schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use herringbone_filter::select;

pub use self::dialect::{DateFormat, Dialect, Marks};

use self::beginning::Beginning;
use self::dialect::Notation;
use self::kind::Kind;
use self::records::Records;
use super::lenient::Losses;
use super::row_size::batch_rows;
use super::value::number::Number;
use super::value::{ParseError, Rules, Scalar, Slot, may_be_empty};
use super::{
    BATCH_BYTES, GIVEN, INFERRED, Rows, Stream, TextOptions, max_row_bytes, too_long, unreadable,
    until_error,
};
use crate::error::{Error, Result};

/// Reads the rows of CSV.
///
/// # Errors
/// Fails with [Data](crate::Error::Data) if a schema cannot be inferred, or if the given schema
/// does not fit, and with [System](crate::Error::System) if the text cannot be read.
pub fn csv(stream: Stream, options: &TextOptions<'_>) -> Result<Rows<'static>> {
    let name = stream.name.clone();
    let work = stream.work();
    let data_failure = |text: String| Error::Data(format!("{name}: {text}"));
    let beginning = Beginning::of(stream, options)?;
    let (schema, order) = match &options.schema {
        Some(schema) if options.header => {
            beginning.note_dates(&name, options);
            let order = matched(&beginning.names, schema).map_err(data_failure)?;
            (schema.clone(), order)
        }
        Some(schema) => {
            beginning.note_dates(&name, options);
            (schema.clone(), (0..schema.fields().len()).collect())
        }
        None => {
            options.all_are_in(&name, |column| beginning.names.contains(column))?;
            let schema = beginning.schema(options).map_err(data_failure)?;
            let order = (0..schema.fields().len()).collect();
            beginning.notes(&name, options);
            (schema, order)
        }
    };
    let rows = batch_rows(&schema, options.limits).map_err(data_failure)?;
    let column = |(field, &from): (&FieldRef, &usize)| {
        let chosen = options
            .types
            .iter()
            .any(|type_| type_.name() == field.name());
        let inferred = options.schema.is_none() && !chosen;
        Column::new(field, (from, beginning.notation(from)), inferred)
    };
    let columns = schema.fields().iter().zip(&order).map(column);
    let columns = columns.collect::<Result<Vec<_>, ParseError>>();
    let columns = columns.map_err(|error| data_failure(error.into_text()))?;
    let mut records = Records::new(
        beginning.delimiter,
        Some(order.len()),
        options.limits.schema_nodes,
    );
    records.line = beginning.line;
    records.comment = options.comment;
    records.drops_bad = options.lenient.is_some();
    records.blanks = order.is_empty() || order.len() == 1 && !options.header;
    let losses = options.lenient.as_ref();
    let mut batches = Batches {
        losses: losses.map(|lenient| Losses::new(&name, lenient)),
        name,
        all_quoted: beginning.all_quoted,
        input: beginning.sample.whole(),
        schema: schema.clone(),
        columns,
        records,
        header: options.header,
        null: options.null.clone(),
        dialect: options.dialect.clone(),
        max_row_bytes: max_row_bytes(options.limits),
        rows,
    };
    Ok(Rows {
        schema,
        batches: until_error(move || batches.next_batch()),
        work,
    })
}

/// Returns the columns of CSV with their inferred types. If a column has no value in the first
/// rows, its type is Null.
///
/// # Errors
/// Fails with [Data](crate::Error::Data) if a record has another number of fields than the first
/// one, and with [System](crate::Error::System) if the text cannot be read.
pub fn csv_fields(stream: Stream, options: &TextOptions<'_>) -> Result<Vec<Field>> {
    let beginning = Beginning::of(stream, options)?;
    let field = |(name, kind): (&String, &Kind)| {
        let data_type = match kind {
            Kind::Nothing => DataType::Null,
            kind => kind.data_type(),
        };
        Field::new(name, data_type, true)
    };
    let columns = beginning.names.iter().zip(&beginning.kinds);
    Ok(columns.map(field).collect())
}

/// Returns true if this command would read an unquoted field as text if it were alone in its
/// column. To be safe, anything that another program might take for a number doesn't count as text.
pub fn reads_as_text(text: &str) -> bool {
    let may_be_number =
        text.starts_with(|character: char| matches!(character, '+' | '-' | '.' | '0'..='9'));
    let is_number = may_be_number && Number::of(text).is_some();
    !is_number && Kind::of(text).is_text()
}

/// Matches fields to columns by name. Returns the index of the file's column for each field in the
/// schema.
fn matched(names: &[String], schema: &Schema) -> Result<Vec<usize>, String> {
    let mut places = HashMap::new();
    for (at, name) in names.iter().enumerate() {
        if places.insert(name, at).is_some() {
            return Err(format!("there are two columns `{name}`"));
        }
    }
    let place = |field: &FieldRef| {
        let place = places.remove(field.name());
        place.ok_or_else(|| {
            let name = field.name();
            format!("the column `{name}` of the schema is missing")
        })
    };
    let order = schema.fields().iter().map(place).collect();
    match names.iter().find(|name| places.contains_key(name)) {
        Some(name) => Err(format!("the column `{name}` is not in the schema")),
        None => order,
    }
}

/// A column while it is being built.
struct Column {
    slot: Slot,
    /// The index of the column's field in a record.
    from: usize,
    may_be_empty: bool,
    data_type: DataType,
    notation: Notation,
    /// True if the type was inferred.
    inferred: bool,
}

impl Column {
    fn new(
        field: &Field,
        (from, notation): (usize, Notation),
        inferred: bool,
    ) -> Result<Self, ParseError> {
        Ok(Self {
            slot: Slot::new(field, "", &Rules::default())?,
            from,
            may_be_empty: may_be_empty(field.data_type()),
            data_type: field.data_type().clone(),
            notation,
            inferred,
        })
    }

    /// Returns true if a failed append leaves nothing behind. Lists and dictionaries can be left
    /// with parts of the value.
    fn is_flat(&self) -> bool {
        let data_type = &self.data_type;
        !data_type.is_nested()
            && !matches!(
                data_type,
                DataType::Dictionary(..) | DataType::RunEndEncoded(..)
            )
    }

    /// Appends a field.
    ///
    /// `text_in_quotes` is true if quotes turn the field into text. An unquoted field can be a
    /// null. A quoted field is never a null, unless it is empty and the type has no value with an
    /// empty text.
    fn append(
        &mut self,
        (text, quoted): (&str, bool),
        text_in_quotes: bool,
        null: &str,
    ) -> Result<(), ParseError> {
        let is_empty = text.is_empty() && !self.may_be_empty;
        if !quoted && text == null || is_empty && !(self.inferred && text_in_quotes) {
            return self.slot.null();
        }
        let notation = &self.notation;
        if notation.is_usual() && !text_in_quotes && self.slot.usual(text) {
            return Ok(());
        }
        let data_type = &self.data_type;
        let invalid = |why| ParseError::invalid(Scalar::Cell(text), data_type, why);
        if self.inferred && *data_type != DataType::Utf8 {
            if text_in_quotes {
                let error = invalid("it is quoted and therefore text");
                return Err(self.slot.locate(error));
            }
            if !notation.kind(text).goes_with(data_type) {
                return Err(self.slot.locate(invalid("")));
            }
        }
        let value = match notation.value(text, data_type) {
            Ok(value) => value,
            Err(why) => return Err(self.slot.locate(invalid(why))),
        };
        self.slot.scalar(Scalar::Cell(&value))
    }
}

/// An iteration over the batches of a table.
struct Batches<R> {
    name: String,
    input: R,
    schema: SchemaRef,
    columns: Vec<Column>,
    records: Records,
    /// True if the header is still ahead.
    header: bool,
    null: String,
    dialect: Dialect,
    all_quoted: bool,
    max_row_bytes: usize,
    /// The maximum number of rows in a batch.
    rows: usize,
    /// The losses of a text with bad rows, or `None` if bad rows are errors.
    losses: Option<Losses>,
}

impl<R: BufRead> Batches<R> {
    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.header {
            self.header = false;
            self.fill(1)?;
            self.records.clear();
            // A blank line is only a row if there is a single column.
            self.records.blanks = self.columns.len() <= 1;
        }
        while self.records.len() == 0 {
            self.fill(self.rows)?;
            if self.records.len() == 0 && self.records.dropped.is_empty() {
                return Ok(None);
            }
            for (line, text) in self.records.dropped.drain(..) {
                if let Some(losses) = &mut self.losses {
                    losses.row(line, &text);
                }
            }
        }
        let arrays = self.arrays();
        let (columns, rows) = arrays.map_err(|(line, error)| self.failure(line, error))?;
        let rows = RecordBatchOptions::new().with_row_count(Some(rows));
        self.records.clear_to(BATCH_BYTES);
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), columns, &rows);
        batch
            .map(Some)
            .map_err(|error| Error::Data(format!("{}: {error}", self.name)))
    }

    /// Reads up to `rows` records, stopping early at `BATCH_BYTES`.
    fn fill(&mut self, rows: usize) -> Result<()> {
        loop {
            let text = self
                .input
                .fill_buf()
                .map_err(|error| unreadable(&self.name, &error))?;
            let available = text.len();
            let taken = self.records.read(text, rows, BATCH_BYTES);
            let taken = taken.map_err(|(line, text)| self.failure(line, ParseError::new(text)))?;
            if self.records.bytes() > self.max_row_bytes.saturating_add(BATCH_BYTES) {
                let last = self.records.line(self.records.len());
                let error = ParseError::new(too_long(self.max_row_bytes));
                return Err(self.failure(last, error));
            }
            self.input.consume(taken);
            // We stop once the parser has seen the end of the input, or has enough records.
            if available == 0 || taken < available {
                return Ok(());
            }
        }
    }

    /// Converts the records to columns and returns their row count. Errors come with a line number.
    fn arrays(&mut self) -> Result<(Vec<ArrayRef>, usize), (usize, ParseError)> {
        let record_error = |(line, text): records::RecordError| (line, ParseError::new(text));
        if i32::try_from(self.records.bytes()).is_err() {
            let last = self.records.len().saturating_sub(1);
            let error = ParseError::new(too_long(i32::MAX as usize));
            return Err((self.records.line(last), error));
        }
        let delimiter = self.records.delimiter;
        let fields = self.records.text().map_err(record_error)?;
        let mut bad: Vec<usize> = Vec::new();
        for record in 0..self.records.len() {
            for column in &mut self.columns {
                if bad.last() == Some(&record) {
                    column.slot.fill();
                    continue;
                }
                let field = fields.get(record, column.from).map_err(record_error)?;
                let is_text = !self.all_quoted && self.dialect.is_text(field, delimiter);
                let Err(error) = column.append(field, is_text, &self.null) else {
                    continue;
                };
                let line = self.records.line(record);
                match self.losses.as_mut().filter(|_| column.is_flat()) {
                    None => return Err((line, error)),
                    Some(losses) if losses.makes_nulls() && column.slot.is_nullable() => {
                        losses.value(line, &error.into_text());
                    }
                    Some(losses) => {
                        losses.row(line, &error.into_text());
                        bad.push(record);
                    }
                }
                column.slot.fill();
            }
        }
        let last = self.records.line(self.records.len());
        let columns = self.columns.iter_mut().map(|column| column.slot.finish());
        let columns = columns.collect::<Result<Vec<_>, _>>();
        let columns = columns.map_err(|error| (last, error))?;
        without(columns, self.records.len(), &bad)
            .map_err(|error| (last, ParseError::new(error.message())))
    }

    fn failure(&self, line: usize, error: ParseError) -> Error {
        let is_inferred = |path: &String| {
            let mut columns = self.columns.iter();
            let column = columns.find(|column| column.slot.is_called(path));
            column.is_some_and(|column| column.inferred)
        };
        let hint = match &error.path {
            Some(path) if is_inferred(path) => INFERRED,
            Some(_) => GIVEN,
            None => "",
        };
        Error::Data(format!(
            "{}: line {line}: {}{hint}",
            self.name,
            error.into_text()
        ))
    }
}

/// Returns the columns without the bad rows, and the number of remaining rows.
fn without(
    columns: Vec<ArrayRef>,
    rows: usize,
    bad: &[usize],
) -> herringbone::Result<(Vec<ArrayRef>, usize)> {
    if bad.is_empty() {
        return Ok((columns, rows));
    }
    // Bad rows are sorted, so we can use a binary search.
    let good = BooleanBuffer::collect_bool(rows, |row| bad.binary_search(&row).is_err());
    let left = rows - bad.len();
    let selected = columns.iter().map(|column| select(column, &good, left));
    Ok((selected.collect::<herringbone::Result<_>>()?, left))
}

#[cfg(test)]
mod tests {
    use herringbone_arrow::schema::TimeUnit;

    use super::*;

    fn read(
        text: &str,
        data_type: &DataType,
        inferred: bool,
        notation: &Notation,
    ) -> Result<ArrayRef, ParseError> {
        let field = Field::new("c", data_type.clone(), true);
        let mut column = Column::new(&field, (0, notation.clone()), inferred)?;
        column.append((text, false), false, "")?;
        column.slot.finish()
    }

    #[test]
    fn usual_forms_are_read_like_all_others() {
        // This date format matches nothing, but turns off the fast path for usual forms.
        let slow = Notation {
            date: Some("@%F".parse().unwrap()),
            ..Notation::default()
        };
        assert!(Notation::default().is_usual() && !slow.is_usual());
        let mut texts: Vec<String> = [
            "9007199254740993",
            "999999999999999999",
            "-9223372036854775808",
            "18446744073709551615",
            "123456789012345.6",
            "0.1234567890123456789",
            "-0.00",
            "2024-02-29",
            "2023-02-29",
            "0000-01-01",
            "+10000-01-01",
            "2024-02-29T12:34:56",
            "2024-02-29 12:34:56.789",
            "2024-02-29T12:34:56.123456Z",
            "2024-02-29T12:34+01:00",
            "1500-01-01T00:00:00.000000001",
            "true",
            "NaN",
            "-inf",
            "x",
        ]
        .map(str::to_owned)
        .into();
        let mut bits = 1_u64;
        texts.extend((0..20_000).map(|_| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let length = (bits >> 60) as usize % 11;
            let alphabet = b"0123456789-.1200+e";
            let byte = |at| alphabet[(bits >> (at * 5 + 4)) as usize % alphabet.len()];
            (0..length).map(|at| char::from(byte(at))).collect()
        }));
        let types = [
            DataType::Int64,
            DataType::UInt64,
            DataType::Float64,
            DataType::Date32,
            DataType::Timestamp(TimeUnit::Microsecond, None),
            DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
            DataType::Utf8,
        ];
        for data_type in types {
            let (mut usual, mut values) = (0, 0);
            for text in &texts {
                for inferred in [true, false] {
                    let expected = read(text, &data_type, inferred, &slow);
                    let found = read(text, &data_type, inferred, &Notation::default());
                    let shown = |array: &Result<ArrayRef, ParseError>| format!("{array:?}");
                    assert_eq!(shown(&found), shown(&expected), "{text:?} as {data_type}");
                    values += usize::from(expected.is_ok());
                }
                let field = Field::new("c", data_type.clone(), true);
                let place = (0, Notation::default());
                let mut column = Column::new(&field, place, true).unwrap();
                usual += usize::from(column.slot.usual(text));
            }
            assert!(
                usual > 0 && values > usual,
                "{data_type}: {usual} of {values}"
            );
        }
    }
}
