//! The table of a read, in normal form.

use std::panic::{AssertUnwindSafe, catch_unwind};

use herringbone::{Error, Reader};
use herringbone_arrow::array::{Array, RecordBatch};
use herringbone_arrow::schema::Schema;

use crate::canonical;

/// All rows of a read, column by column.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// The number of rows of all batches.
    pub rows: usize,
    /// Name and type of each column.
    pub fields: Vec<(String, String)>,
    /// The values of each column.
    pub columns: Vec<Vec<String>>,
    /// The number of rows of each batch.
    pub batches: Vec<usize>,
}

impl Table {
    /// A table of `schema` without rows.
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

    /// Appends the rows of a batch.
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

    /// Reads to the end.
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

    /// The rows of `ranges`.
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

    /// The columns of `ordinals`.
    pub fn columns_of(&self, ordinals: &[usize]) -> Self {
        Self {
            rows: self.rows,
            fields: ordinals.iter().map(|i| self.fields[*i].clone()).collect(),
            columns: ordinals.iter().map(|i| self.columns[*i].clone()).collect(),
            batches: Vec::new(),
        }
    }

    /// Returns the first difference in rows and values. If `types` is true, types are compared too.
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

/// Arrow's own full check of an array: offsets, UTF-8, keys, lengths of children.
fn validate(array: &dyn Array, name: &str, data_type: &str) {
    if let Err(error) = array.to_data().validate_full() {
        panic!("invalid array of {name} {data_type}: {error}");
    }
}

/// The start of a long text.
pub fn cut(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

/// Runs `work`. A panic is returned as its message.
pub fn without_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("panic")
            .to_owned()
    })
}
