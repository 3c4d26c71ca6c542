//! Prints the column `id` for the rows of a dataset that have a value.
//!
//!     cargo run -p herringbone-dataset --example find [FOLDER COLUMN VALUE]
//!
//! We compare the value as an integer if it is one, and as text otherwise. `NULL` finds nulls.

use std::error::Error;
use std::io::{self, Write};

use herringbone::ReadOptions;
use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::filter::{Predicate, col};
use herringbone_dataset::{Dataset, DatasetOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let codes = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/datasets/codes");
    let (folder, filter) = match arguments.as_slice() {
        [folder, column, value] => (folder.as_str(), predicate(column, value)),
        [] => (codes, predicate("code", "01001")),
        _ => return Err("expected FOLDER COLUMN VALUE".into()),
    };
    // If the column is a partition column, files with other values are not opened.
    let dataset = Dataset::open(folder, DatasetOptions::new())?;
    let mut out = io::stdout().lock();
    let mut ids = Vec::new();
    for batch in dataset.read(ReadOptions::new().filter(filter).columns(["id"]))? {
        for id in batch?.column(0).as_primitive::<Int64Type>().values() {
            writeln!(out, "{id}")?;
            ids.push(*id);
        }
    }
    if arguments.is_empty() {
        ids.sort_unstable();
        assert_eq!(ids, [0, 4]);
    }
    Ok(())
}

fn predicate(column: &str, value: &str) -> Predicate {
    // We treat the value as partition columns do, so `01` is text.
    let number = value.parse::<i64>().ok();
    match number.filter(|number| number.to_string() == value) {
        _ if value == "NULL" => col(column).is_null(),
        Some(number) => col(column).eq(number),
        None => col(column).eq(value),
    }
}
