//! If the writer chooses an encoding for a column in one row group, it reuses the choice for a number of values in
//! later row groups.

use std::sync::Arc;

use herringbone::format::Encoding;
use herringbone::{ColumnChoice, Compatibility, Explanation, ReadOptions, StoredAs, WriteOptions};
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::Int64Type;
use herringbone_arrow::array::*;

use super::chosen::options;
use super::compare::{difference, read, written};
use crate::batches::Random;

/// Returns the choices for the single column of a file with row groups of `rows` rows. Checks that the file reads back
/// unchanged.
fn choices(array: ArrayRef, rows: usize, options: WriteOptions) -> Vec<ColumnChoice> {
    let explanation = Explanation::new();
    let options = options
        .row_group_rows(rows)
        .explanation(explanation.clone());
    let batch = RecordBatch::try_from_iter_with_nullable([("a", array, true)]).unwrap();
    let file = written(&batch.schema(), std::slice::from_ref(&batch), options).unwrap();
    let (_, back) = read(&file, ReadOptions::default()).unwrap();
    assert_eq!(
        difference(std::slice::from_ref(&batch), &back, &batch.schema()),
        None
    );
    explanation.take()
}

/// Returns the row groups whose values were sampled.
fn looked_at(choices: &[ColumnChoice]) -> Vec<usize> {
    let looked_at = choices.iter().filter(|choice| !choice.estimates.is_empty());
    looked_at.map(|choice| choice.row_group).collect()
}

fn is_dictionary(kind: StoredAs) -> bool {
    matches!(kind, StoredAs::Dictionary { .. })
}

/// Returns doubles with two decimals, most of which are small.
fn rounded(n: usize) -> ArrayRef {
    let mut random = Random(11);
    let mut uniform = || (random.below(1 << 20) + 1) as f64 / (1 << 20) as f64;
    let values = (0..n).map(|_| (-2000.0 * (uniform() * uniform()).ln()).round() / 100.0);
    Arc::new(Float64Array::from_iter_values(values))
}

fn new_values(n: usize) -> ArrayRef {
    let mut random = Random(7);
    let values = (0..n).map(|_| random.next().cast_signed());
    Arc::new(Int64Array::from_iter_values(values))
}

fn words(n: usize) -> ArrayRef {
    let mut random = Random(5);
    let words = (0..n).map(|_| format!("word {}", random.below(20) * random.below(20)));
    Arc::new(StringArray::from_iter_values(words))
}

/// The writer takes one sample per 65,536 values, no matter which choice the sample leads to.
#[test]
fn small_row_groups_are_looked_at_now_and_then() {
    for array in [new_values(80_000), words(80_000)] {
        for codec in ["snappy", "zstd"] {
            let modern = || options(Compatibility::Modern, codec);
            let of_1000 = choices(array.clone(), 1000, modern());
            assert_eq!(looked_at(&of_1000), [0, 65], "{codec}");
            let kinds = of_1000.iter().map(|choice| choice.stored_as);
            assert!(kinds.clone().all(|kind| kind == of_1000[0].stored_as));
            let of_30_000 = choices(array.clone(), 30_000, modern());
            assert_eq!(looked_at(&of_30_000), [0, 2], "{codec}");
        }
    }
}

/// Nulls count as values, because their levels are encoded, too.
#[test]
fn nulls_are_among_the_values_that_a_choice_holds_for() {
    let mut random = Random(3);
    let values = (0..80_000).map(|i| (i % 8 == 0).then(|| random.next().cast_signed()));
    let array: ArrayRef = Arc::new(values.collect::<Int64Array>());
    let choices = choices(array, 8_000, options(Compatibility::Modern, "zstd"));
    assert_eq!(looked_at(&choices), [0, 9]);
}

/// Returns the choices for the single column of a file whose row groups end after the given rows.
fn choices_by_hand(array: ArrayRef, ends: &[usize], options: WriteOptions) -> Vec<ColumnChoice> {
    let batch = RecordBatch::try_from_iter([("a", array)]).unwrap();
    let explanation = Explanation::new();
    let options = options.explanation(explanation.clone());
    let mut writer = herringbone::Writer::new(Vec::new(), batch.schema(), options).unwrap();
    let mut start = 0;
    for &end in ends {
        writer.write(&batch.slice(start, end - start)).unwrap();
        writer.flush().unwrap();
        start = end;
    }
    writer.finish().unwrap();
    explanation.take()
}

/// A choice from few values does not apply to many.
#[test]
fn a_large_row_group_is_looked_at_behind_a_small_one() {
    let options = options(Compatibility::Modern, "zstd");
    let choices = choices_by_hand(new_values(100_000), &[1000, 100_000], options);
    assert_eq!(looked_at(&choices), [0, 1]);
}

/// One value in ten repeats, which does not begin a sampled trial while more rows may follow.
#[test]
fn a_dictionary_that_saves_nothing_is_none_behind_one_that_did() {
    let new = new_values(2000);
    let new = new.as_primitive::<Int64Type>().values();
    let values = (0..2000).map(|i| match i {
        0..1000 => new[i % 20],
        _ if i % 10 == 0 => new[1001],
        _ => new[i],
    });
    let array: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
    let options = options(Compatibility::Modern, "snappy");
    let choices = choices_by_hand(array, &[1000, 2000], options);
    assert!(is_dictionary(choices[0].stored_as));
    assert!(matches!(choices[1].stored_as, StoredAs::Values(_)));
    assert_eq!(looked_at(&choices), [0, 1]);
}

/// If a dictionary was chosen, this does not apply to later values that do not repeat.
#[test]
fn values_behind_a_dictionary_are_looked_at() {
    let few = new_values(50);
    let few = few.as_primitive::<Int64Type>().values();
    let values = (0..2000).map(|i| match i {
        0..1000 => few[i % 50],
        _ => 1_700_000_000_000_000 + 1000 * i as i64,
    });
    let array: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
    let choices = choices(array, 1000, options(Compatibility::Modern, "snappy"));
    assert!(is_dictionary(choices[0].stored_as));
    let delta = StoredAs::Values(Encoding::DeltaBinaryPacked);
    assert_eq!(choices[1].stored_as, delta);
    assert_eq!(looked_at(&choices), [0, 1]);
}

/// New values do not become a dictionary. If few distinct values follow, they become one in the first row group that
/// has such values.
#[test]
fn values_that_become_few_are_a_dictionary_at_once() {
    let mut random = Random(9);
    let values = (0..20_000).map(|i| match i < 10_000 {
        true => random.next().cast_signed(),
        false => random.below(50) as i64,
    });
    let array: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
    for codec in ["none", "snappy"] {
        let choices = choices(array.clone(), 1000, options(Compatibility::Widest, codec));
        let first = choices
            .iter()
            .position(|choice| is_dictionary(choice.stored_as));
        assert_eq!(first, Some(10), "{codec}");
        let dictionaries = choices
            .iter()
            .filter(|choice| is_dictionary(choice.stored_as));
        assert_eq!(dictionaries.count(), 10, "{codec}");
    }
}

/// Few distinct values come first, and then new ones. A dictionary that saves nothing is abandoned, even if it was
/// chosen.
#[test]
fn values_that_become_new_are_no_dictionary() {
    let mut random = Random(9);
    let values = (0..20_000).map(|i| match i < 10_000 {
        true => random.below(50) as i64,
        false => random.next().cast_signed(),
    });
    let array: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
    for codec in ["none", "snappy"] {
        let choices = choices(array.clone(), 1000, options(Compatibility::Widest, codec));
        let kinds: Vec<bool> = choices
            .iter()
            .map(|choice| choice.stored_as == StoredAs::Values(Encoding::Plain))
            .collect();
        assert_eq!(kinds, [vec![false; 10], vec![true; 10]].concat(), "{codec}");
    }
}

/// A dictionary of about 3,000 values takes fewer bytes before the codec, but more after it. Later row groups do not
/// try one as long as the first one's choice holds.
#[test]
fn what_was_declined_by_the_codec_is_not_tried_again() {
    let choices = choices(
        rounded(75_000),
        5000,
        options(Compatibility::Modern, "zstd"),
    );
    assert!(!choices.iter().any(|choice| is_dictionary(choice.stored_as)));
    assert_eq!(looked_at(&choices), [0, 13]);
    for choice in [&choices[0], &choices[13]] {
        let mut tried = choice.estimates.iter();
        assert!(tried.any(|tried| is_dictionary(tried.stored_as)));
    }
}

/// In a sampled trial, a dictionary receives the first 64 of each 512 values. These are all new, and the values between
/// them are all equal. After 65,536 values, the dictionary is tried with all values.
#[test]
fn what_tests_do_not_see_is_found_now_and_then() {
    let new = new_values(80_000);
    let new = new.as_primitive::<Int64Type>().values();
    let values = (0..80_000).map(|i| match i % 1000 % 512 < 64 || i < 1000 {
        true => new[i],
        false => 7,
    });
    let array: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
    let choices = choices(array, 1000, options(Compatibility::Widest, "none"));
    let kinds = choices.iter().map(|choice| is_dictionary(choice.stored_as));
    let kinds: Vec<bool> = kinds.collect();
    assert_eq!(kinds, [vec![false; 66], vec![true; 14]].concat());
}
