//! Tests rows that the writer sorts, both in memory and with temporary files.

mod order;
mod rows;
mod temporary;

use std::cmp::Ordering;
use std::sync::Arc;

use herringbone::{ParquetFile, SortingColumnOption};
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::Int32Type;
use herringbone_arrow::array::{ArrayRef, Int32Array};

/// The amounts of memory for all rows, for some rows and for none.
const MEMORY: [usize; 3] = [1 << 30, 6_000, 1];

fn by(column: &str, descending: bool, nulls_first: bool) -> SortingColumnOption {
    SortingColumnOption::new(column.split('.'))
        .descending(descending)
        .nulls_first(nulls_first)
}

/// Returns the ordinals of rows.
fn numbers(rows: usize) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(
        0..i32::try_from(rows).unwrap(),
    ))
}

/// Compares two values. `None` is null.
fn compare(a: Option<usize>, b: Option<usize>, descending: bool, nulls_first: bool) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if descending => b.cmp(&a),
        (Some(a), Some(b)) => a.cmp(&b),
        (None, None) => Ordering::Equal,
        (None, Some(_)) if nulls_first => Ordering::Less,
        (Some(_), None) if !nulls_first => Ordering::Less,
        _ => Ordering::Greater,
    }
}

/// Returns the column `n` of a file.
fn order_of(file: &[u8]) -> Vec<usize> {
    order_in(&ParquetFile::from_bytes(file.to_vec()).unwrap())
}

fn order_in(file: &ParquetFile) -> Vec<usize> {
    let mut order = Vec::new();
    for batch in file.read(herringbone::ReadOptions::default()).unwrap() {
        let batch = batch.unwrap();
        let n = batch.column_by_name("n").unwrap();
        let n = n.as_primitive::<Int32Type>().values();
        order.extend(n.iter().map(|n| usize::try_from(*n).unwrap()));
    }
    order
}
