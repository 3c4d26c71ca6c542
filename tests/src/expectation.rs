//! The contents that a file should have, from JSON that its writer or another reader produced.

use std::collections::HashMap;
use std::path::Path;

use serde_json::value::RawValue;

use crate::table::{Table, cut};

/// The number of values in a block that shares one CRC-32.
const BLOCK: usize = 1000;

type Object = HashMap<String, Box<RawValue>>;

/// The expectation for one file.
pub struct Expectation {
    rows: usize,
    columns: Vec<Column>,
    /// True if the file may also be refused.
    pub or_error: bool,
}

/// A column's name and type, with all of its values, or with the first, the last and checksums.
struct Column {
    name: String,
    data_type: String,
    values: Option<Vec<String>>,
    first: Vec<String>,
    last: Vec<String>,
    crc32: Vec<String>,
}

impl Expectation {
    /// Reads the JSON file.
    pub fn open(path: &Path) -> Self {
        let text = std::fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("no expectation {}: {error}", path.display()));
        let object: Object = serde_json::from_str(&text).unwrap();
        let columns: Vec<Object> = serde_json::from_str(object["columns"].get()).unwrap();
        Self {
            rows: serde_json::from_str(object["rows"].get()).unwrap(),
            columns: columns.iter().map(Column::new).collect(),
            or_error: object.contains_key("or_error"),
        }
    }

    /// Returns the faults of `table`, with one line for each column that differs.
    pub fn check(&self, table: &Table) -> Vec<String> {
        let mut wrong = Vec::new();
        if table.rows != self.rows {
            wrong.push(format!("{} rows, not {}", table.rows, self.rows));
        }
        let names: Vec<_> = self.columns.iter().map(|c| c.name.as_str()).collect();
        let found: Vec<_> = table.fields.iter().map(|(name, _)| name.as_str()).collect();
        if names != found {
            wrong.push(format!("columns {found:?}, not {names:?}"));
            return wrong;
        }
        for (column, ((_, data_type), values)) in self
            .columns
            .iter()
            .zip(table.fields.iter().zip(&table.columns))
        {
            if *data_type != column.data_type {
                wrong.push(format!(
                    "{}: {data_type}, not {}",
                    column.name, column.data_type
                ));
            }
            if let Some(difference) = column.difference(values) {
                wrong.push(format!("{}: {difference}", column.name));
            }
        }
        wrong
    }
}

impl Column {
    fn new(object: &Object) -> Self {
        let text = |key: &str| serde_json::from_str::<String>(object[key].get()).unwrap();
        let raw = |key: &str| {
            let values: Vec<Box<RawValue>> = serde_json::from_str(object.get(key)?.get()).unwrap();
            Some(
                values
                    .iter()
                    .map(|value| value.get().to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        let column = Self {
            name: text("name"),
            data_type: text("type"),
            values: raw("values"),
            first: raw("first").unwrap_or_default(),
            last: raw("last").unwrap_or_default(),
            crc32: raw("crc32").unwrap_or_default(),
        };
        assert!(
            column.values.is_some() || !column.crc32.is_empty(),
            "{} says nothing",
            column.name
        );
        column
    }

    fn difference(&self, values: &[String]) -> Option<String> {
        if let Some(expected) = &self.values {
            return first_difference(values, expected, 0).or_else(|| {
                (values.len() != expected.len()).then(|| format!("{} values", values.len()))
            });
        }
        let tail = values.len().saturating_sub(self.last.len());
        first_difference(values, &self.first, 0)
            .or_else(|| first_difference(&values[tail..], &self.last, tail))
            .or_else(|| {
                let crc32: Vec<_> = values.chunks(BLOCK).map(block_crc32).collect();
                let block = crc32.iter().zip(&self.crc32).position(|(a, b)| a != b);
                let lengths = (crc32.len() != self.crc32.len()).then_some(crc32.len());
                block.or(lengths).map(|block| {
                    let rows = block * BLOCK..((block + 1) * BLOCK).min(values.len());
                    format!("a value in rows {rows:?} differs, as its checksum says")
                })
            })
    }
}

fn first_difference(values: &[String], expected: &[String], base: usize) -> Option<String> {
    let at = values.iter().zip(expected).position(|(a, b)| a != b)?;
    Some(format!(
        "row {} is {}, not {}",
        base + at,
        cut(&values[at]),
        cut(&expected[at])
    ))
}

/// Returns the checksum of a block's lines, as JSON text.
fn block_crc32(values: &[String]) -> String {
    let mut crc = crc32fast::Hasher::new();
    for value in values {
        crc.update(value.as_bytes());
        crc.update(b"\n");
    }
    format!("\"{:08x}\"", crc.finalize())
}
