//! Rows of two files side by side: those with the same key, or at the same position.

use std::cmp::Ordering;

use herringbone_arrow::array::{ArrayRef, RecordBatch};
use herringbone_arrow::row::{OwnedRow, RowConverter, Rows, SortField};
use herringbone_arrow::schema::{ArrowError, FieldRef, SchemaRef, SortOptions};

use crate::failure::{Failure, Result};
use crate::render::value;
use crate::rows::Source;

/// One row of each file, or of one.
pub(super) enum Pair<'a> {
    /// The row of a batch that only the first file has, and its name.
    OnlyA(&'a RecordBatch, usize, String),
    /// The row of a batch that only the second file has, and its name.
    OnlyB(&'a RecordBatch, usize, String),
    /// A number of equal rows.
    Equal(u64),
    /// A row with other values: its name, and the columns with both values as JSON.
    Changed(String, Vec<(String, String, String)>),
}

/// The rows of two files.
pub(super) struct Pairs<'a> {
    a: Side<'a>,
    b: Side<'a>,
    /// The columns that both files have.
    common: Vec<(usize, usize, FieldRef, FieldRef)>,
    has_key: bool,
    /// The number of pairs so far.
    position: u64,
    /// The number of rows compared at once.
    span: usize,
}

/// The rows of one file.
struct Side<'a> {
    source: Source<'a>,
    batch: Option<RecordBatch>,
    at: usize,
    /// The columns of the key.
    key: Vec<usize>,
    order: RowConverter,
    keys: Option<Rows>,
    last: Option<OwnedRow>,
}

impl<'a> Pairs<'a> {
    pub(super) fn new(
        (rows_a, schema_a): (Source<'a>, &SchemaRef),
        (rows_b, schema_b): (Source<'a>, &SchemaRef),
        key: Option<&[Vec<String>]>,
    ) -> Result<Self> {
        for path in key.unwrap_or_default() {
            let of = |schema: &SchemaRef| {
                let field = path.first().and_then(|name| schema.fields().find(name));
                field.map(|(_, field)| field.data_type().clone())
            };
            if let (Some(a), Some(b)) = (of(schema_a), of(schema_b))
                && a != b
            {
                return Err(Failure::Usage(format!(
                    "--key: `{}` is {a} in the first file and {b} in the second; `rewrite` one of them with -c",
                    path.join(".")
                )));
            }
        }
        let mut common = Vec::new();
        for (at, field) in schema_a.fields().iter().enumerate() {
            if let Some((other, theirs)) = schema_b.fields().find(field.name()) {
                common.push((at, other, field.clone(), theirs.clone()));
            }
        }
        Ok(Self {
            a: Side::new(rows_a, schema_a, key.unwrap_or_default())?,
            b: Side::new(rows_b, schema_b, key.unwrap_or_default())?,
            common,
            has_key: key.is_some(),
            position: 0,
            span: 1,
        })
    }

    /// Returns the next pair.
    ///
    /// # Errors
    /// Errors of reading rows; Data if rows cannot be compared.
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
        // Most rows are equal: one comparison decides on many, and on few after a difference.
        if self.is_equal((&batch_a, &batch_b), (from_a, from_b), run) {
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

    /// Returns the number of next rows in both batches with equal keys.
    fn run(&self, batch_a: &RecordBatch, batch_b: &RecordBatch) -> usize {
        let left = (batch_a.num_rows() - self.a.at).min(batch_b.num_rows() - self.b.at);
        let left = left.min(self.span);
        let (Some(a), Some(b), true) = (&self.a.keys, &self.b.keys, self.has_key) else {
            return left;
        };
        let same = |row: &usize| a.row(self.a.at + row) == b.row(self.b.at + row);
        (0..left).take_while(same).count()
    }

    fn is_equal(
        &self,
        (batch_a, batch_b): (&RecordBatch, &RecordBatch),
        (from_a, from_b): (usize, usize),
        rows: usize,
    ) -> bool {
        self.common.iter().all(|(at, other, field, theirs)| {
            let columns = (batch_a.columns().get(*at), batch_b.columns().get(*other));
            let (Some(a), Some(b)) = columns else {
                return false;
            };
            field.data_type() == theirs.data_type()
                && a.slice(from_a, rows) == b.slice(from_b, rows)
        })
    }

    /// Returns the columns in which two rows differ, with both values as JSON.
    fn changes(
        &self,
        (batch_a, batch_b): (&RecordBatch, &RecordBatch),
        (row_a, row_b): (usize, usize),
    ) -> Result<Vec<(String, String, String)>> {
        let mut changes = Vec::new();
        for (at, other, field, theirs) in &self.common {
            let (Some(a), Some(b)) = (batch_a.columns().get(*at), batch_b.columns().get(*other))
            else {
                continue;
            };
            let (a, b) = (a.slice(row_a, 1), b.slice(row_b, 1));
            if field.data_type() == theirs.data_type() && *a == *b {
                continue;
            }
            let (a, b) = (json(field, &a)?, json(theirs, &b)?);
            if a != b {
                changes.push((field.name().clone(), a, b));
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
    fn new(source: Source<'a>, schema: &SchemaRef, key: &[Vec<String>]) -> Result<Self> {
        let (mut columns, mut fields) = (Vec::new(), Vec::new());
        for path in key {
            let [name] = path.as_slice() else {
                return Err(Failure::Usage(format!(
                    "--key: `{}` is inside a column; a key has whole columns",
                    path.join(".")
                )));
            };
            let found = schema.fields().find(name);
            let (at, field) = found
                .ok_or_else(|| Failure::Usage(format!("--key: there is no column `{name}`")))?;
            columns.push(at);
            // Dictionaries and layouts do not matter.
            let options = SortOptions {
                descending: false,
                nulls_first: false,
            };
            fields.push(SortField::new_with_options(
                field.data_type().clone(),
                options,
            ));
        }
        Ok(Self {
            source,
            batch: None,
            at: 0,
            key: columns,
            order: RowConverter::new(fields).map_err(|error| failed(&error))?,
            keys: None,
            last: None,
        })
    }

    /// Reads the next batch with rows, unless there are rows left.
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
            if self.key.is_empty() || batch.num_rows() == 0 {
                continue;
            }
            let columns = self
                .key
                .iter()
                .filter_map(|at| batch.columns().get(*at))
                .cloned();
            let columns: Vec<ArrayRef> = columns.collect();
            let keys = self
                .order
                .convert_columns(&columns)
                .map_err(|error| failed(&error))?;
            let mut before = self.last.take();
            let first = keys.row(0);
            let ascends = before.as_ref().is_none_or(|last| last.row() <= first)
                && (1..keys.num_rows()).all(|row| keys.row(row - 1) <= keys.row(row));
            if !ascends {
                return Err(Failure::Data(
                    "--key: rows with special values of this type, such as -0.0 or NaN, have no single order"
                        .into(),
                ));
            }
            before.replace(keys.row(keys.num_rows() - 1).owned());
            self.last = before;
            self.keys = Some(keys);
        }
        Ok(())
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (&self.keys, &other.keys) {
            (Some(a), Some(b)) => a.row(self.at).cmp(&b.row(other.at)),
            _ => Ordering::Equal,
        }
    }

    /// Returns the next row, and moves past it.
    fn take(&mut self) -> Option<(&RecordBatch, usize)> {
        let row = self.at;
        self.at += 1;
        self.batch.as_ref().map(|batch| (batch, row))
    }

    /// Returns the name of the next row: its key, or its position.
    fn name(&self, has_key: bool, position: u64) -> Result<String> {
        let Some(batch) = self.batch.as_ref().filter(|_| has_key) else {
            return Ok(format!("row {position}"));
        };
        let mut parts = Vec::new();
        for at in &self.key {
            let schema = batch.schema();
            let Some(column) = batch.columns().get(*at) else {
                continue;
            };
            let mut text = format!("{}=", schema.field(*at).name());
            value::of(schema.field(*at), &column.slice(self.at, 1))?.cell(0, &mut text);
            parts.push(text);
        }
        Ok(parts.join(", "))
    }
}

fn failed(error: &ArrowError) -> Failure {
    Failure::Data(error.to_string())
}
