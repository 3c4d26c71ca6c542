//! Sorts rows of several blocks. The facade's tests sort fewer rows, but of more types.

use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::Int32Type;
use herringbone_arrow::array::{Array as _, ArrayRef, Int32Array, RecordBatch, StringArray};
use herringbone_write::{SortingColumnOption, WriteOptions, WritePlan};

use super::Sorter;

mod layouts;

const ROWS: usize = 150_000;

/// Memory for all rows, for the rows of more than one block, and for a part of a block's rows.
const MEMORY: [usize; 3] = [1 << 30, 12 << 20, 1 << 20];

fn numbers(values: impl Iterator<Item = Option<usize>>) -> ArrayRef {
    let number = |value| i32::try_from(value).unwrap();
    Arc::new(
        values
            .map(|values| values.map(number))
            .collect::<Int32Array>(),
    )
}

fn texts(values: impl Iterator<Item = Option<String>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

/// Returns unordered keys with duplicates. Null is the least key.
fn keys() -> Vec<Option<usize>> {
    let key = |row: usize| (row * 7_919 + row * row / 31) % 20_011;
    (0..ROWS).map(|row| key(row).checked_sub(9)).collect()
}

/// Asserts that rows of a key and a value are sorted by the key, and that equal rows keep the order
/// of their ordinals.
fn check(about: &str, key: ArrayRef, value: ArrayRef, order: &[usize]) {
    let ordinals = numbers((0..ROWS).map(Some));
    let columns = [
        ("k", key, true),
        ("v", value.clone(), true),
        ("n", ordinals, false),
    ];
    let whole = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let value = value.as_string::<i32>();
    for memory in MEMORY {
        let by = SortingColumnOption::new(["k"]).nulls_first(true);
        let mut options = WriteOptions::new();
        options.sort_by = vec![by];
        options.sort_memory_bytes = memory;
        let plan = Arc::new(WritePlan::new(whole.schema(), &options, None).unwrap());
        let mut sorter = Sorter::new(&plan, None).unwrap().unwrap();
        for start in (0..ROWS).step_by(47_000) {
            let rows = 47_000.min(ROWS - start);
            sorter.push(&whole.slice(start, rows)).unwrap();
        }
        let mut rest = order.iter();
        while let Some(batch) = sorter.next_batch().unwrap() {
            let values = batch.column(1).as_string::<i32>().iter();
            let ordinals = batch.column(2).as_primitive::<Int32Type>().values();
            for (ordinal, found) in ordinals.iter().zip(values) {
                let row = *rest.next().unwrap();
                assert_eq!(*ordinal as usize, row, "{about}, memory of {memory}");
                let expected = value.is_valid(row).then(|| value.value(row));
                assert_eq!(found, expected, "{about}, memory of {memory}");
            }
        }
        assert_eq!(rest.len(), 0, "{about}, memory of {memory}");
        assert_eq!(sorter.heap_bytes(), 0, "{about}, memory of {memory}");
    }
}

#[test]
fn rows_of_several_blocks() {
    let keys = keys();
    let mut order: Vec<usize> = (0..ROWS).collect();
    order.sort_by_key(|row| keys[*row]);
    let short = || (0..ROWS).map(|row| (row % 5 > 0).then(|| "é".repeat(row % 47)));
    let long = (0..ROWS).map(|row| Some(format!("{row:>700}")));
    // A row's entry contains the whole key.
    check(
        "numbers",
        numbers(keys.iter().copied()),
        texts(short()),
        &order,
    );
    // The first bytes of these keys are equal.
    let urls = || {
        keys.iter()
            .map(|key| key.map(|key| format!("https://example.com/{key:05}")))
    };
    check("texts", texts(urls()), texts(short()), &order);
    // These blocks are too large to be moved.
    check("long rows", texts(urls()), texts(long), &order);
    let in_order: Vec<usize> = (0..ROWS).collect();
    let rising = || in_order.iter().map(|row| Some(row / 3));
    check("sorted", numbers(rising()), texts(short()), &in_order);
    let rising = rising().map(|key| key.map(|key| format!("https://example.com/{key:06}")));
    check("sorted texts", texts(rising), texts(short()), &in_order);
}
