//! Tests columns whose values change in the middle of a row group, so that the writer revises the choice for the first
//! values.

use std::sync::Arc;

use herringbone::Compatibility::{Modern, Widest};
use herringbone::ParquetFile;
use herringbone::format::Encoding::{DeltaBinaryPacked, Plain, RleDictionary};
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::Int64Type;
use herringbone_arrow::array::{ArrayRef, Int64Array};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::chosen::{of_one, options};
use crate::batches::Random;

/// The number of rows in a page.
const PAGE: usize = 1 << 15;

/// The number of pages after which values are sampled again, including the sampled page.
const AGAIN: usize = 8;

/// Returns integers of 64 random bits, which have the same size in any encoding.
fn random(n: usize) -> Vec<i64> {
    let mut random = Random(11);
    (0..n).map(|_| random.next().cast_signed()).collect()
}

/// Returns equal steps, which DELTA_BINARY_PACKED stores in a few bytes per page.
fn steps(n: usize) -> impl Iterator<Item = i64> {
    (0..n as i64).map(|i| 1_700_000_000_000_000 + 1000 * i)
}

fn array(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

/// Returns the values that the `parquet` crate reads.
fn by_peer(file: &ParquetFile) -> Vec<i64> {
    let source = file.source();
    let bytes = source.read(0..source.len()).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
    let batches = reader.build().unwrap().map(Result::unwrap);
    batches
        .flat_map(|batch| {
            batch
                .column(0)
                .as_primitive::<Int64Type>()
                .values()
                .to_vec()
        })
        .collect()
}

#[test]
fn random_values_then_sorted_ones() {
    let mut values = random(4 * PAGE);
    values.extend(steps(20 * PAGE));
    let (file, encodings) = of_one(array(&values), options(Modern, "none"));
    assert_eq!(encodings, [Plain, DeltaBinaryPacked]);
    assert!(by_peer(&file) == values);
    // The file has the random values, and the others up to the next sample.
    assert!(file.source().len() < (4 + AGAIN as u64) * PAGE as u64 * 8);
}

#[test]
fn sorted_values_then_random_ones() {
    let mut values: Vec<i64> = steps(4 * PAGE).collect();
    values.extend(random(20 * PAGE));
    let (file, encodings) = of_one(array(&values), options(Modern, "none"));
    assert_eq!(encodings, [DeltaBinaryPacked, Plain]);
    assert!(by_peer(&file) == values);
    // The random values take 8 bytes each, and a bit or two more while they are stored as differences.
    let random = 20 * PAGE as u64 * 8;
    assert!(file.source().len() < random + random / 64);
}

#[test]
fn few_values_then_many() {
    // The column has a dictionary until that is too large. Then the values are sampled again, because a sample of the
    // few distinct values does not represent them.
    let few = random(10);
    let mut values: Vec<i64> = few.iter().copied().cycle().take(10 * PAGE).collect();
    values.extend(steps(20 * PAGE));
    let (file, encodings) = of_one(array(&values), options(Modern, "none"));
    assert_eq!(encodings, [RleDictionary, DeltaBinaryPacked]);
    assert!(by_peer(&file) == values);
    // The dictionary has at most 1 MiB, plus the entries of a page. Indices then have 17 or 18 bits.
    assert!(file.source().len() < (2 << 20) + 10 * PAGE as u64);
    let (_, encodings) = of_one(array(&values), options(Widest, "none"));
    assert_eq!(encodings, [RleDictionary, Plain]);
}
