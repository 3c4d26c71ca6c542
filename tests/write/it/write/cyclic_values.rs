//! Tests values that are all new at first. They become a dictionary if they repeat later, and only then.

use std::sync::Arc;

use herringbone::format::Encoding::{self, Plain, RleDictionary};
use herringbone::{BloomFilterOptions, ColumnOptions, Compatibility, WriteOptions};
use herringbone_arrow::array::types::Int64Type;
use herringbone_arrow::array::{Array, ArrayRef, Int64Array, ListArray, RecordBatch, StringArray};

use super::chosen::{of_one, options};
use super::compare::{findings, in_batches, written};
use crate::batches::Random;

const ROWS: usize = 100_000;

fn widest() -> WriteOptions {
    options(Compatibility::Widest, "none")
}

/// Returns `n` distinct integers.
fn distinct(n: usize) -> Vec<i64> {
    let mut random = Random(17);
    let values = (0..n as i64).map(|i| (random.next() >> 32).cast_signed() << 32 | i);
    values.collect()
}

fn cyclic(period: usize) -> Vec<i64> {
    distinct(period).into_iter().cycle().take(ROWS).collect()
}

fn integers(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn strings(values: &[i64]) -> ArrayRef {
    let values = values.iter().map(|value| format!("name {value}"));
    Arc::new(StringArray::from_iter_values(values))
}

fn lists(values: &[i64]) -> ArrayRef {
    let lists = values
        .chunks(10)
        .map(|list| Some(list.iter().map(|value| Some(*value))));
    Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists))
}

fn arrays(values: &[i64]) -> [ArrayRef; 3] {
    [integers(values), strings(values), lists(values)]
}

/// Checks that all pages have this encoding, for each kind of column.
#[track_caller]
fn all_are(values: &[i64], encoding: Encoding) {
    for array in arrays(values) {
        let about = format!("{}, {} values", array.data_type(), values.len());
        let (_, encodings) = of_one(array, widest());
        assert_eq!(encodings, [encoding], "{about}");
    }
}

#[test]
fn cyclic_values_are_a_dictionary() {
    // A dictionary takes 10,000 entries of 8 bytes, and 14 bits per value instead of 8 bytes per value. 20,000 values
    // repeat in the second page.
    for period in [5000, 10_000, 20_000] {
        all_are(&cyclic(period), RleDictionary);
    }
}

#[test]
fn values_that_do_not_come_back_are_none() {
    for n in [5000, 9000, 20_000, 30_000, ROWS] {
        all_are(&distinct(n), Plain);
    }
}

/// After a first page of distinct values, all values are equal or few.
#[test]
fn values_that_become_few_are_a_dictionary() {
    let mut random = Random(3);
    for few in [1, 2, 100] {
        let mut values = distinct(8192);
        values.extend((8192..ROWS).map(|_| random.below(few) as i64));
        let (file, encodings) = of_one(integers(&values), widest());
        assert_eq!(encodings, [RleDictionary], "{few}");
        // The first 8,192 values take 14 bits each, and an entry of 8 bytes. The others take 14 bits, or are runs.
        assert!(file.source().len() < 8192 * 10 + (ROWS as u64 - 8192) * 2);
    }
}

/// Pages that are withheld from the dictionary have correct bounds, and their values are in the bloom filter. This
/// holds for numbers and strings, whether or not a dictionary results. The bytes depend neither on the batches nor on
/// the threads.
#[test]
fn pages_of_a_sampled_trial_are_whole() {
    for values in [distinct(ROWS), cyclic(20_000), distinct(20_000)] {
        for array in arrays(&values) {
            for compatibility in [Compatibility::Widest, Compatibility::Modern] {
                let columns = ColumnOptions::new().bloom_filter(BloomFilterOptions::new(0.01));
                let options = options(compatibility, "snappy").column("*", columns);
                let batch = RecordBatch::try_from_iter([("a", array.clone())]).unwrap();
                let whole = written(
                    &batch.schema(),
                    std::slice::from_ref(&batch),
                    options.clone(),
                )
                .unwrap();
                assert_eq!(findings(&whole), [""; 0]);
                for (rows, threads) in [(7, 1), (1000, 2), (65_536, 8)] {
                    let batches = in_batches(&batch, rows);
                    let options = options.clone().threads(threads);
                    let pieces = written(&batch.schema(), &batches, options).unwrap();
                    assert!(pieces == whole, "{rows} rows, {threads} threads");
                }
            }
        }
    }
}

/// A long string that repeats a few times saves more than all indices take. Averages miss this. The string is not
/// stored as an index, either, because the values after it are not.
#[test]
fn a_long_value_among_new_ones_is_written_with_those_behind() {
    let values = distinct(20_000);
    let long = "long".repeat(2500);
    let strings = values.iter().enumerate().map(|(at, value)| match at % 137 {
        0 if at < 4096 => long.clone(),
        _ => format!("{value}"),
    });
    let (_, encodings) = of_one(Arc::new(StringArray::from_iter_values(strings)), widest());
    assert_eq!(encodings, [Plain]);
}
