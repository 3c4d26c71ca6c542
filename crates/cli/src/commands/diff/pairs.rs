//! Pairs the rows of two files. Rows are paired by key, or by position if there is no key.

use std::cmp::Ordering;
use std::sync::Arc;

use herringbone_arrow::array::{ArrayRef, RecordBatch, new_empty_array};
use herringbone_arrow::row::{OwnedRow, RowConverter, Rows, SortField};
use herringbone_arrow::schema::{ArrowError, DataType, Field, FieldRef, SchemaRef, SortOptions};
use herringbone_interchange::write::value;

use super::form::{Form, Which, counterparts};
use crate::base::failure::{Failure, Result};
use crate::base::type_name::type_name;
use crate::profile::one_per_number;
use crate::rows::Source;

/// A pair of differing rows, or a row without a counterpart. Equal rows are only counted.
pub(super) enum Pair<'a> {
    /// A row only in the first file, given as a batch, the row's index and the row's name.
    OnlyA(&'a RecordBatch, usize, String),
    /// A row only in the second file, given as a batch, the row's index and the row's name.
    OnlyB(&'a RecordBatch, usize, String),
    /// A number of equal rows.
    Equal(u64),
    /// A changed row, given as its name and the differing columns with both values as JSON.
    Changed(String, Vec<(String, String, String)>),
}

/// The rows of two files.
pub(super) struct Pairs<'a> {
    a: Side<'a>,
    b: Side<'a>,
    /// The common columns' fields, each with the form for comparing it.
    common: Vec<(FieldRef, FieldRef, Form)>,
    has_key: bool,
    /// The number of pairs so far.
    position: u64,
    /// The number of rows to compare at once. This grows while rows are equal and shrinks after a
    /// difference.
    span: usize,
}

/// One file's rows with a cursor.
struct Side<'a> {
    which: Which,
    source: Source<'a>,
    batch: Option<RecordBatch>,
    at: usize,
    /// The common columns, as indexes in this file and forms.
    common: Vec<(usize, Form)>,
    /// The current batch's common columns, in their forms.
    columns: Vec<ArrayRef>,
    /// The key columns, as indexes in this file and forms.
    key: Vec<(usize, Form)>,
    order: RowConverter,
    keys: Option<Rows>,
    last: Option<OwnedRow>,
    repeats: Repeats,
}

/// Rows with the same key as the previous row. We report them, because pairing them by order might
/// not be what the user wants.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    pub(super) rows: u64,
    /// The first repeated key.
    pub(super) key: String,
}

/// A key column, as its index in either file and the form of its values.
pub(super) type KeyColumn = (usize, usize, Form);

/// Returns the key's columns.
///
/// # Errors
/// Fails with [`Failure::Usage`] if a file does not have a column of the key or has several of this
/// name, or if the types in the two files have no common order.
pub(super) fn key_columns(
    a: &SchemaRef,
    b: &SchemaRef,
    key: &[Vec<String>],
) -> Result<Vec<KeyColumn>> {
    let column = |path: &Vec<String>| {
        let [name] = path.as_slice() else {
            return Err(Failure::Usage(format!(
                "--key: `{}` is inside a column; a key has whole columns",
                path.join(".")
            )));
        };
        let found = |schema: &SchemaRef, file: &str| {
            let fields = schema.fields().iter().enumerate();
            let mut named = fields.filter(|(_, field)| field.name() == name);
            match (named.next(), named.next()) {
                (Some((at, field)), None) => Ok((at, field.clone())),
                (None, _) => Err(Failure::Usage(format!(
                    "--key: there is no column `{name}` in the {file} file"
                ))),
                (Some(_), Some(_)) => Err(Failure::Usage(format!(
                    "--key: the {file} file has several columns `{name}`"
                ))),
            }
        };
        let ((at_a, key_of_a), (at_b, key_of_b)) = (found(a, "first")?, found(b, "second")?);
        if key_of_a.data_type().is_nested() || key_of_b.data_type().is_nested() {
            return Err(Failure::Usage(format!(
                "--key: `{name}` is a struct, list or map; a key has columns of single values"
            )));
        }
        match Form::new(&key_of_a, &key_of_b) {
            Form::Never | Form::Json(..) => Err(Failure::Usage(format!(
                "--key: `{name}` is {} in the first file and {} in the second; `rewrite` one of them with -c",
                type_name(&key_of_a),
                type_name(&key_of_b)
            ))),
            form => Ok((at_a, at_b, form)),
        }
    };
    key.iter().map(column).collect()
}

impl<'a> Pairs<'a> {
    /// Creates the pairs for the rows of two files. If there is a key, the rows must be sorted by
    /// it.
    ///
    /// # Errors
    /// Fails with [`Failure::Data`] if keys of this type cannot be compared.
    pub(super) fn new(
        (rows_a, schema_a): (Source<'a>, &SchemaRef),
        (rows_b, schema_b): (Source<'a>, &SchemaRef),
        key: Option<&[KeyColumn]>,
    ) -> Result<Self> {
        let has_key = key.is_some();
        let key = key.unwrap_or_default();
        let key_of_a = key.iter().map(|(at, _, form)| (*at, form.clone()));
        let key_of_b = key.iter().map(|(_, at, form)| (*at, form.clone()));
        let mut a = Side::new(Which::A, rows_a, schema_a, key_of_a.collect())?;
        let mut b = Side::new(Which::B, rows_b, schema_b, key_of_b.collect())?;
        let mut common = Vec::new();
        for (at_a, at_b, field_a, field_b) in counterparts(schema_a.fields(), schema_b.fields()) {
            let form = Form::new(field_a, field_b);
            a.common.push((at_a, form.clone()));
            b.common.push((at_b, form.clone()));
            common.push((field_a.clone(), field_b.clone(), form));
        }
        Ok(Self {
            a,
            b,
            common,
            has_key,
            position: 0,
            span: 1,
        })
    }

    /// Returns each file's repeated keys. Call this after the last pair, when all rows are known.
    pub(super) fn repeats(&self) -> [&Repeats; 2] {
        [&self.a.repeats, &self.b.repeats]
    }

    /// Returns the next pair.
    ///
    /// # Errors
    /// Fails if reading rows fails, or with [`Failure::Data`] if rows cannot be compared.
    pub(super) fn next(&mut self) -> Result<Option<Pair<'_>>> {
        self.a.fill()?;
        self.b.fill()?;
        let (Some(batch_a), Some(batch_b)) = (self.a.batch.clone(), self.b.batch.clone()) else {
            return self.rest();
        };
        let order = match self.has_key {
            true => self.a.compare(&self.b),
            false => Ordering::Equal,
        };
        match order {
            Ordering::Less => return self.rest_of_a(),
            Ordering::Greater => return self.rest_of_b(),
            Ordering::Equal => {}
        }
        let run = self.run(&batch_a, &batch_b);
        let (from_a, from_b) = (self.a.at, self.b.at);
        // Most rows are equal, so we compare many at once, and fewer after a difference.
        if self.is_equal((from_a, from_b), run) {
            self.span = self.span.saturating_mul(2);
            self.advance(run);
            return Ok(Some(Pair::Equal(run as u64)));
        }
        self.span = (self.span / 2).max(1);
        let values = self.changes((&batch_a, &batch_b), (from_a, from_b))?;
        let name = self.a.name(self.has_key, self.position)?;
        self.advance(1);
        Ok(Some(match values.is_empty() {
            true => Pair::Equal(1),
            false => Pair::Changed(name, values),
        }))
    }

    fn rest(&mut self) -> Result<Option<Pair<'_>>> {
        match (&self.a.batch, &self.b.batch) {
            (Some(_), _) => self.rest_of_a(),
            (None, Some(_)) => self.rest_of_b(),
            (None, None) => Ok(None),
        }
    }

    fn rest_of_a(&mut self) -> Result<Option<Pair<'_>>> {
        let name = self.a.name(self.has_key, self.position)?;
        self.position += 1;
        Ok(self
            .a
            .take()
            .map(|(batch, row)| Pair::OnlyA(batch, row, name)))
    }

    fn rest_of_b(&mut self) -> Result<Option<Pair<'_>>> {
        let name = self.b.name(self.has_key, self.position)?;
        self.position += 1;
        Ok(self
            .b
            .take()
            .map(|(batch, row)| Pair::OnlyB(batch, row, name)))
    }

    fn advance(&mut self, rows: usize) {
        self.position += rows as u64;
        self.a.at += rows;
        self.b.at += rows;
    }

    /// Returns the number of next rows that have equal keys in both batches.
    fn run(&self, batch_a: &RecordBatch, batch_b: &RecordBatch) -> usize {
        let left = (batch_a.num_rows() - self.a.at).min(batch_b.num_rows() - self.b.at);
        let left = left.min(self.span);
        let (Some(a), Some(b), true) = (&self.a.keys, &self.b.keys, self.has_key) else {
            return left;
        };
        let same = |row: &usize| a.row(self.a.at + row) == b.row(self.b.at + row);
        (0..left).take_while(same).count()
    }

    fn is_equal(&self, (from_a, from_b): (usize, usize), rows: usize) -> bool {
        let mut columns = self.a.columns.iter().zip(&self.b.columns);
        columns.all(|(a, b)| a.slice(from_a, rows) == b.slice(from_b, rows))
    }

    /// Returns the columns in which two rows differ, with both values as JSON.
    fn changes(
        &self,
        (batch_a, batch_b): (&RecordBatch, &RecordBatch),
        (row_a, row_b): (usize, usize),
    ) -> Result<Vec<(String, String, String)>> {
        let mut changes = Vec::new();
        let places = self.a.common.iter().zip(&self.b.common);
        let formed = self.a.columns.iter().zip(&self.b.columns);
        let pairs = self.common.iter().zip(places).zip(formed);
        for (((key_of_a, key_of_b, form), ((at_a, _), (at_b, _))), (a, b)) in pairs {
            let (formed_a, formed_b) = (a.slice(row_a, 1), b.slice(row_b, 1));
            if *formed_a == *formed_b {
                continue;
            }
            let columns = (batch_a.columns().get(*at_a), batch_b.columns().get(*at_b));
            let (Some(a), Some(b)) = columns else {
                continue;
            };
            let (a, b) = (a.slice(row_a, 1), b.slice(row_b, 1));
            let (a, b) = (json(key_of_a, &a)?, json(key_of_b, &b)?);
            match (a == b, form) {
                // The arrays differ, but the values don't. All NaNs are the same value, and a
                // variant can have several encodings.
                (true, Form::Same | Form::Plain | Form::Json(..)) => {}
                // The shortest text of a 32-bit number is shorter than that of the equal 64-bit
                // number, so the texts would hide the difference.
                (true, Form::Float) => {
                    let wide = |array| {
                        let field = Field::new("", DataType::Float64, true);
                        json(&Arc::new(field), array)
                    };
                    changes.push((key_of_a.name().clone(), wide(&formed_a)?, wide(&formed_b)?));
                }
                _ => changes.push((key_of_a.name().clone(), a, b)),
            }
        }
        Ok(changes)
    }
}

fn json(field: &FieldRef, array: &ArrayRef) -> Result<String> {
    let mut json = String::new();
    value::of(field, array)?.json(0, &mut json);
    Ok(json)
}

impl<'a> Side<'a> {
    fn new(
        which: Which,
        source: Source<'a>,
        schema: &SchemaRef,
        key: Vec<(usize, Form)>,
    ) -> Result<Self> {
        let options = SortOptions {
            descending: false,
            nulls_first: false,
        };
        let mut fields = Vec::new();
        for (at, form) in &key {
            let empty = new_empty_array(schema.field(*at).data_type());
            let data_type = form.of(which, &empty)?.data_type().clone();
            fields.push(SortField::new_with_options(data_type, options));
        }
        Ok(Self {
            which,
            source,
            batch: None,
            at: 0,
            common: Vec::new(),
            columns: Vec::new(),
            key,
            order: RowConverter::new(fields).map_err(|error| failed(&error))?,
            keys: None,
            last: None,
            repeats: Repeats::default(),
        })
    }

    /// Reads the next non-empty batch, unless the current batch has rows left.
    fn fill(&mut self) -> Result<()> {
        while self
            .batch
            .as_ref()
            .is_none_or(|batch| self.at >= batch.num_rows())
        {
            self.batch = self.source.next().transpose()?;
            self.at = 0;
            let Some(batch) = &self.batch else {
                return Ok(());
            };
            let columns = self.common.iter();
            let columns = columns.map(|(at, form)| form.of(self.which, column(batch, *at)?));
            self.columns = columns.collect::<Result<_>>()?;
            if self.key.is_empty() || batch.num_rows() == 0 {
                continue;
            }
            let columns = self.key.iter();
            let columns =
                columns.map(|(at, form)| form.of(self.which, &one_per_number(column(batch, *at)?)));
            let columns = columns.collect::<Result<Vec<_>>>()?;
            let keys = self
                .order
                .convert_columns(&columns)
                .map_err(|error| failed(&error))?;
            self.follow(keys)?;
        }
        Ok(())
    }

    /// Takes the next batch's keys, counting repeated keys.
    ///
    /// # Errors
    /// Fails with [`Failure::Data`] if the keys do not ascend.
    fn follow(&mut self, keys: Rows) -> Result<()> {
        let last = self.last.take();
        let mut before = last.as_ref().map(OwnedRow::row);
        for (at, row) in keys.iter().enumerate() {
            match before.map(|before| before.cmp(&row)) {
                Some(Ordering::Greater) => {
                    return Err(Failure::Data(
                        "--key: rows with special values of this type have no single order".into(),
                    ));
                }
                Some(Ordering::Equal) => {
                    if self.repeats.rows == 0 {
                        self.repeats.key = self.key_of(at)?;
                    }
                    self.repeats.rows += 1;
                }
                _ => {}
            }
            before = Some(row);
        }
        let last = before.map(|row| row.owned());
        self.last = last;
        self.keys = Some(keys);
        Ok(())
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (&self.keys, &other.keys) {
            (Some(a), Some(b)) => a.row(self.at).cmp(&b.row(other.at)),
            _ => Ordering::Equal,
        }
    }

    /// Returns the next row, moving past it.
    fn take(&mut self) -> Option<(&RecordBatch, usize)> {
        let row = self.at;
        self.at += 1;
        self.batch.as_ref().map(|batch| (batch, row))
    }

    /// Returns the next row's name, that is, its key or position.
    fn name(&self, has_key: bool, position: u64) -> Result<String> {
        match has_key {
            true => self.key_of(self.at),
            false => Ok(format!("row {position}")),
        }
    }

    /// Returns a row's key as text. We quote text where needed, so that a null differs from an
    /// empty text and the text `null`.
    fn key_of(&self, row: usize) -> Result<String> {
        let mut parts = Vec::new();
        let Some(batch) = &self.batch else {
            return Ok(String::new());
        };
        for (at, _) in &self.key {
            let (schema, array) = (batch.schema(), column(batch, *at)?.slice(row, 1));
            let field = schema.field(*at);
            let values = value::of(field, &array)?;
            let mut text = String::new();
            values.cell(0, &mut text);
            if values.is_null(0) {
                text = "null".into();
            } else if text.is_empty() || text == "null" {
                text = format!("\"{text}\"");
            }
            parts.push(format!("{}={text}", field.name()));
        }
        Ok(parts.join(", "))
    }
}

/// Returns a column of a batch.
fn column(batch: &RecordBatch, at: usize) -> Result<&ArrayRef> {
    let missing = || Failure::Data("a column is missing in a batch".into());
    batch.columns().get(at).ok_or_else(missing)
}

fn failed(error: &ArrowError) -> Failure {
    Failure::Data(error.to_string())
}
