//! The table that a read returns, in normal form.

use std::panic::{AssertUnwindSafe, catch_unwind};

use herringbone::{Error, Reader};
use herringbone_arrow::array::{Array, RecordBatch};
use herringbone_arrow::schema::Schema;

use crate::canonical;

/// All rows of a read, column by column.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// The row count of all batches together.
    pub rows: usize,
    /// Each column's name and type.
    pub fields: Vec<(String, String)>,
    /// Each column's values.
    pub columns: Vec<Vec<String>>,
    /// Each batch's row count.
    pub batches: Vec<usize>,
}

impl Table {
    /// Creates a table of `schema` that has no rows.
    pub fn empty(schema: &Schema) -> Self {
        let fields: Vec<_> = schema
            .fields()
            .iter()
            .map(|f| (f.name().clone(), canonical::slot_text(f)))
            .collect();
        Self {
            columns: vec![Vec::new(); fields.len()],
            fields,
            ..Self::default()
        }
    }

    /// Appends a batch's rows.
    pub fn push(&mut self, batch: &RecordBatch) {
        for ((column, array), (name, data_type)) in self
            .columns
            .iter_mut()
            .zip(batch.columns())
            .zip(&self.fields)
        {
            validate(array, name, data_type);
            column.extend(canonical::lines(array));
        }
        self.rows += batch.num_rows();
        self.batches.push(batch.num_rows());
    }

    /// Reads all remaining rows.
    pub fn read(mut reader: Reader) -> Result<Self, Error> {
        let schema = reader.schema();
        let mut table = Self::empty(&schema);
        while let Some(batch) = reader.next_batch()? {
            assert_eq!(
                batch.schema(),
                schema,
                "a batch has the schema of its reader"
            );
            table.push(&batch);
        }
        Ok(table)
    }

    /// Returns the rows in `ranges`.
    pub fn rows_of(&self, ranges: &[std::ops::Range<usize>]) -> Self {
        let columns = self
            .columns
            .iter()
            .map(|c| {
                ranges
                    .iter()
                    .flat_map(|r| c[r.clone()].iter().cloned())
                    .collect()
            })
            .collect();
        let rows = ranges.iter().map(ExactSizeIterator::len).sum();
        Self {
            rows,
            fields: self.fields.clone(),
            columns,
            batches: Vec::new(),
        }
    }

    /// Returns the columns with these `ordinals`.
    pub fn columns_of(&self, ordinals: &[usize]) -> Self {
        Self {
            rows: self.rows,
            fields: ordinals.iter().map(|i| self.fields[*i].clone()).collect(),
            columns: ordinals.iter().map(|i| self.columns[*i].clone()).collect(),
            batches: Vec::new(),
        }
    }

    /// Returns the first difference in rows and values, and also compares types if `types` is true.
    pub fn difference(&self, other: &Self, types: bool) -> Option<String> {
        if self.rows != other.rows {
            return Some(format!("{} rows, not {}", self.rows, other.rows));
        }
        if self.columns.len() != other.columns.len() {
            return Some(format!(
                "{} columns, not {}",
                self.columns.len(),
                other.columns.len()
            ));
        }
        for (i, (a, b)) in self.fields.iter().zip(&other.fields).enumerate() {
            if a.0 != b.0 || (types && a.1 != b.1) {
                return Some(format!("column {i} is {a:?}, not {b:?}"));
            }
            if let Some(row) = self.columns[i]
                .iter()
                .zip(&other.columns[i])
                .position(|(a, b)| a != b)
            {
                let (is, want) = (&self.columns[i][row], &other.columns[i][row]);
                return Some(format!(
                    "{}: row {row} is {}, not {}",
                    a.0,
                    cut(is),
                    cut(want)
                ));
            }
        }
        None
    }
}

/// Runs Arrow's own full check of an array, which covers offsets, UTF-8, keys and the lengths of
/// children.
fn validate(array: &dyn Array, name: &str, data_type: &str) {
    if let Err(error) = array.to_data().validate_full() {
        panic!("invalid array of {name} {data_type}: {error}");
    }
}

/// Returns the start of a long text.
pub fn cut(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

/// Runs `work` and returns a panic as its message.
pub fn without_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("panic")
            .to_owned()
    })
}
