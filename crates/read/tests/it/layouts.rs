//! Arrays around the stored values: dictionaries, runs, decimals of negative scale, and nested lists.

use std::sync::Arc;

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::{Int16Type, Int32Type};
use herringbone::arrow::array::{
    Array, ArrayRef, Decimal128Array, DictionaryArray, FixedSizeListArray, Int32Array,
    LargeListArray, LargeListViewArray, ListArray, ListViewArray, RecordBatch, RunArray,
    StringArray, StructArray,
};
use herringbone::arrow::buffer::{NullBuffer, OffsetBuffer};
use herringbone::arrow::schema::{DataType, Field, Fields};
use herringbone::filter::col;
use herringbone::{ColumnOptions, ReadOptions};

use crate::table::{options, pushed, read, written};

const ROWS: usize = 400;

/// Writes a column next to a column of row numbers, reads it in several ways, and compares all slots with the written
/// ones.
fn round_trip(name: &str, column: ArrayRef) {
    let rows = Int32Array::from_iter_values(0..column.len() as i32);
    let columns = [("row", Arc::new(rows) as ArrayRef), (name, column.clone())];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = written(&batch, options().row_group_rows(150));
    for options in [
        ReadOptions::new(),
        ReadOptions::new().batch_size(37),
        ReadOptions::new().batch_size(37).offset(40).limit(200),
        ReadOptions::new().filter(col("row").is_in((0..400).step_by(3))),
        ReadOptions::new()
            .batch_size(50)
            .filter(col("row").between(100, 333)),
    ] {
        for batches in [
            pushed(&file, &options),
            read(&file, &options.clone().threads(3)),
        ] {
            for batch in &batches {
                let found = batch.column(1);
                assert_eq!(found.data_type(), column.data_type(), "{name}");
                let numbers = batch.column(0).as_primitive::<Int32Type>().values();
                for (at, row) in numbers.iter().enumerate() {
                    let (found, written) = (found.slice(at, 1), column.slice(*row as usize, 1));
                    assert_eq!(&found, &written, "{name}, row {row}");
                }
            }
            assert!(batches.iter().any(|batch| batch.num_rows() > 0));
        }
    }
}

fn texts() -> StringArray {
    (0..ROWS)
        .map(|row| (row % 7 > 0).then(|| format!("text {}", row / 9)))
        .collect()
}

#[test]
fn dictionaries_keep_the_width_of_their_keys() {
    let values = || {
        texts()
            .iter()
            .map(|text| text.map(str::to_owned))
            .collect::<Vec<_>>()
    };
    let texts = values();
    let small: DictionaryArray<Int16Type> = texts.iter().map(Option::as_deref).collect();
    round_trip("keys of 16 bits", Arc::new(small));
    let wide: DictionaryArray<Int32Type> = texts.iter().map(Option::as_deref).collect();
    round_trip("keys of 32 bits", Arc::new(wide));
}

#[test]
fn runs_are_read_as_runs() {
    let texts = texts();
    let ends = (0..ROWS as i16 / 4).map(|run| 4 * run + 4);
    let values = texts.slice(0, ROWS / 4);
    let runs = RunArray::<Int16Type>::try_new(&ends.collect(), &values).unwrap();
    let rows: Vec<usize> = (0..ROWS).map(|row| row / 4).collect();
    let plain: StringArray = rows
        .iter()
        .map(|run| values.is_valid(*run).then(|| values.value(*run)))
        .collect();
    // We compare the slots by value, since runs might be sliced.
    let columns = [("runs", Arc::new(runs) as ArrayRef, true)];
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let file = written(&batch, options());
    for options in [ReadOptions::new(), ReadOptions::new().batch_size(37)] {
        let mut first = 0;
        for batch in pushed(&file, &options) {
            let runs = batch
                .column(0)
                .as_any()
                .downcast_ref::<RunArray<Int16Type>>()
                .unwrap();
            let values = runs.values().as_string::<i32>();
            for row in 0..runs.len() {
                let run = runs.get_physical_index(row);
                let found = values.is_valid(run).then(|| values.value(run));
                let at = first + row;
                assert_eq!(found, plain.is_valid(at).then(|| plain.value(at)), "{at}");
            }
            // Equal neighbours share a run, so there are hardly more runs than were written.
            assert!(runs.run_ends().values().len() <= runs.len() / 4 + 2);
            first += runs.len();
        }
        assert_eq!(first, ROWS);
    }
}

#[test]
fn decimals_of_negative_scale_keep_it() {
    let values = (0..ROWS as i128).map(|row| (row % 6 > 0).then_some(row - 200));
    let decimals: Decimal128Array = values.collect();
    let decimals = decimals.with_precision_and_scale(9, -2).unwrap();
    round_trip("hundreds", Arc::new(decimals));
}

#[test]
fn lists_within_lists_and_structs_keep_their_places() {
    let number = || Arc::new(Field::new("item", DataType::Int32, true));
    // Row `r` has `r % 4` inner lists, and the inner list `i` has `i % 3` numbers. Some of each are null.
    let outer: Vec<usize> = (0..ROWS).map(|row| row % 4).collect();
    let num_inner: usize = outer.iter().sum();
    let inner: Vec<usize> = (0..num_inner).map(|at| at % 3).collect();
    let num_numbers: usize = inner.iter().sum();
    let numbers: Int32Array = (0..num_numbers as i32)
        .map(|at| (at % 5 > 0).then_some(at))
        .collect();
    let inner = ListArray::new(
        number(),
        OffsetBuffer::from_lengths(inner.clone()),
        Arc::new(numbers),
        Some(
            inner
                .iter()
                .enumerate()
                .map(|(at, length)| *length > 0 || at % 2 > 0)
                .collect(),
        ),
    );
    let is_list = |row: usize| !row.is_multiple_of(8);
    let nulls: NullBuffer = (0..ROWS).map(is_list).collect();
    let element = Arc::new(Field::new("item", inner.data_type().clone(), true));
    let lists = LargeListArray::new(
        element,
        OffsetBuffer::from_lengths(outer),
        Arc::new(inner),
        Some(nulls),
    );
    round_trip("lists of lists", Arc::new(lists.clone()));
    let fields = Fields::from(vec![
        Field::new("lists", lists.data_type().clone(), true),
        Field::new("text", DataType::Utf8, true),
    ]);
    let is_struct: NullBuffer = (0..ROWS).map(|row| row % 10 > 0).collect();
    let structs = StructArray::new(
        fields,
        vec![Arc::new(lists), Arc::new(texts())],
        Some(is_struct),
    );
    round_trip("structs", Arc::new(structs));
    let numbers: Int32Array = (0..3 * ROWS as i32)
        .map(|at| (at % 4 > 0).then_some(at))
        .collect();
    let is_list: NullBuffer = (0..ROWS).map(|row| row % 6 > 0).collect();
    let fixed = FixedSizeListArray::new(number(), 3, Arc::new(numbers), Some(is_list));
    round_trip("lists of three", Arc::new(fixed));
}

#[test]
fn views_of_lists_keep_their_values() {
    let lengths: Vec<usize> = (0..ROWS).map(|row| row % 4).collect();
    let total: usize = lengths.iter().sum();
    let numbers: Int32Array = (0..total as i32)
        .map(|at| (at % 5 > 0).then_some(at))
        .collect();
    let offsets = OffsetBuffer::<i32>::from_lengths(lengths.clone());
    let is_list: NullBuffer = (0..ROWS).map(|row| !row.is_multiple_of(8)).collect();
    let number = || Arc::new(Field::new("item", DataType::Int32, true));
    let starts = || offsets.iter().take(ROWS);
    let views = ListViewArray::new(
        number(),
        starts().copied().collect(),
        lengths.iter().map(|length| *length as i32).collect(),
        Arc::new(numbers.clone()),
        Some(is_list.clone()),
    );
    round_trip("list views", Arc::new(views));
    let views = LargeListViewArray::new(
        number(),
        starts().map(|start| i64::from(*start)).collect(),
        lengths.iter().map(|length| *length as i64).collect(),
        Arc::new(numbers),
        Some(is_list),
    );
    round_trip("large list views", Arc::new(views));
}

/// Each text takes more bytes than the first read of a page header, and headers contain texts as bounds.
#[test]
fn long_page_headers_are_read() {
    let texts: StringArray = (0..ROWS).map(|row| Some(format!("{row:0>2000}"))).collect();
    let columns = ColumnOptions::new().truncate_bounds(4_000).page_rows(40);
    let rows = Int32Array::from_iter_values(0..ROWS as i32);
    let columns_of = [
        ("row", Arc::new(rows) as ArrayRef),
        ("text", Arc::new(texts.clone()) as ArrayRef),
    ];
    let batch = RecordBatch::try_from_iter(columns_of).unwrap();
    let file = written(&batch, options().columns(columns).row_group_rows(150));
    for filter in [
        col("text").eq(format!("{:0>2000}", 222)),
        col("row").eq(222),
    ] {
        let options = ReadOptions::new().filter(filter);
        let [found] = pushed(&file, &options).try_into().unwrap();
        assert_eq!(
            found.column(1),
            &(Arc::new(texts.slice(222, 1)) as ArrayRef)
        );
    }
}

#[test]
fn structs_without_fields_have_rows() {
    let nulls: NullBuffer = (0..ROWS).map(|row| row % 3 > 0).collect();
    let numbers = Int32Array::from_iter_values(0..ROWS as i32);
    let fields = Fields::from(vec![Field::new("x", DataType::Int32, true)]);
    let inner = StructArray::new(fields.clone(), vec![Arc::new(numbers)], Some(nulls));
    let outer = Fields::from(vec![Field::new("inner", DataType::Struct(fields), true)]);
    let structs = StructArray::new(outer, vec![Arc::new(inner)], None);
    round_trip("a struct in a struct", Arc::new(structs));
}
