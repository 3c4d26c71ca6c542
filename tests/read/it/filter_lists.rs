//! Tests filters on columns below lists, and comparisons of floating-point numbers, against a row-by-row test.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::builder::{
    Float64Builder, Int64Builder, ListBuilder, MapBuilder, StringBuilder, StructBuilder,
};
use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch};
use herringbone::arrow::schema::{DataType, Field};
use herringbone::filter::{Column, Predicate, PruningStep, PruningSteps, col};
use herringbone::{
    BloomFilterOptions, ColumnOptions, DataPageVersion, ErrorKind, Limits, ParquetFile,
    ReadOptions, WriteOptions, Writer,
};

use crate::random::Random;

const ROWS: usize = 3000;

/// The numbers below a row's lists, or `None` for a null list.
type Numbers = Option<Vec<Option<i64>>>;

fn rows(random: &mut Random) -> Vec<Numbers> {
    let row = |row: usize| match (row / 100 % 5, random.below(6)) {
        (_, 0) => None,
        (_, 1) => Some(Vec::new()),
        // There are long stretches of similar values, so that bounds are useful.
        (stretch, n) => Some(
            (0..n)
                .map(|_| {
                    let value = stretch as i64 * 100 + random.below(20) as i64;
                    (random.below(8) > 0).then_some(value)
                })
                .collect(),
        ),
    };
    (0..ROWS).map(row).collect()
}

/// Returns the numbers as lists, in lists of structs, in lists of lists, as values of maps, and as text.
fn batch(rows: &[Numbers]) -> RecordBatch {
    let mut lists = ListBuilder::new(Int64Builder::new());
    let mut texts = ListBuilder::new(StringBuilder::new());
    let mut nested = ListBuilder::new(ListBuilder::new(Int64Builder::new()));
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
    let fields = vec![
        Field::new("x", DataType::Int64, true),
        Field::new("y", DataType::Float64, true),
    ];
    let builder = StructBuilder::new(
        fields,
        vec![
            Box::new(Int64Builder::new()),
            Box::new(Float64Builder::new()),
        ],
    );
    let mut structs = ListBuilder::new(builder);
    for row in rows {
        for value in row.iter().flatten() {
            lists.values().append_option(*value);
            texts
                .values()
                .append_option(value.map(|value| format!("{value:05}")));
            nested.values().values().append_option(*value);
            nested.values().append(true);
            maps.keys().append_value("key");
            maps.values().append_option(*value);
            let structs = structs.values();
            structs
                .field_builder::<Int64Builder>(0)
                .unwrap()
                .append_option(*value);
            structs
                .field_builder::<Float64Builder>(1)
                .unwrap()
                .append_null();
            structs.append(true);
        }
        lists.append(row.is_some());
        texts.append(row.is_some());
        nested.append(row.is_some());
        maps.append(row.is_some()).unwrap();
        structs.append(row.is_some());
    }
    let columns: [(&str, ArrayRef); 6] = [
        (
            "row",
            Arc::new(Int64Array::from_iter_values(0..rows.len() as i64)),
        ),
        ("lists", Arc::new(lists.finish())),
        ("texts", Arc::new(texts.finish())),
        ("nested", Arc::new(nested.finish())),
        ("maps", Arc::new(maps.finish())),
        ("structs", Arc::new(structs.finish())),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn file(batch: &RecordBatch, columns: ColumnOptions, version: DataPageVersion) -> ParquetFile {
    let mut options = WriteOptions::new().columns(columns.page_rows(100));
    options.row_group_rows = 700;
    options.data_page_version = Some(version);
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    ParquetFile::from_source(Bytes::from(bytes), Limits::default()).unwrap()
}

pub(crate) fn found(
    file: &ParquetFile,
    filter: Predicate,
    steps: PruningSteps,
    threads: usize,
) -> Vec<i64> {
    let options = ReadOptions::new().columns(["row"]).filter(filter);
    let options = options.pruning(steps).threads(threads);
    let mut rows = Vec::new();
    for batch in file.read(options).unwrap() {
        rows.extend_from_slice(
            batch
                .unwrap()
                .column(0)
                .as_primitive::<Int64Type>()
                .values(),
        );
    }
    rows
}

pub(crate) fn steps() -> [PruningSteps; 4] {
    [
        PruningSteps::all(),
        PruningSteps::none(),
        PruningSteps::none().with(PruningStep::Statistics),
        PruningSteps::all().without(PruningStep::Statistics),
    ]
}

type Accepts = fn(i64) -> bool;
type Test = fn(Column) -> Predicate;

/// Returns tests of numbers and of their texts, with the column of each test and the values that it accepts.
fn cases() -> Vec<(&'static str, (Test, Accepts))> {
    let numbers: [(Test, Accepts); 4] = [
        (|it| it.gt(300), |it| it > 300),
        (|it| it.eq(105), |it| it == 105),
        (|it| it.ne(105), |it| it != 105),
        (|it| it.between(90, 110), |it| (90..=110).contains(&it)),
    ];
    let texts: [(Test, Accepts); 2] = [
        (|it| it.eq("00105"), |it| it == 105),
        (|it| it.ge("00300"), |it| it >= 300),
    ];
    let paths = [
        "lists",
        "lists.list.element",
        "lists.element",
        "nested",
        "maps.key_value.value",
        "maps.value",
        "structs.list.element.x",
        "structs.x",
    ];
    let number_paths = paths
        .iter()
        .flat_map(|path| numbers.map(|test| (*path, test)));
    number_paths
        .chain(texts.map(|test| ("texts", test)))
        .collect()
}

#[test]
fn any_and_all_values_of_a_row() {
    let rows = rows(&mut Random(7));
    let batch = batch(&rows);
    let cases = cases();
    // A row is not selected if the test of a value is unknown.
    let any = |row: &Numbers, accepts: Accepts| {
        row.as_ref()
            .is_some_and(|row| row.iter().flatten().any(|it| accepts(*it)))
    };
    let all = |row: &Numbers, accepts: Accepts| {
        let is_accepted = |it: &Option<i64>| it.is_some_and(accepts);
        row.as_ref().is_some_and(|row| row.iter().all(is_accepted))
    };
    let plain = ColumnOptions::new().dictionary(false);
    for (columns, version) in [
        (ColumnOptions::new(), DataPageVersion::V1),
        (
            plain.bloom_filter(BloomFilterOptions::default()),
            DataPageVersion::V1,
        ),
        (ColumnOptions::new(), DataPageVersion::V2),
    ] {
        let file = file(&batch, columns, version);

        for (path, (test, accepts)) in &cases {
            let of = |is_wanted: &dyn Fn(&Numbers) -> bool| -> Vec<i64> {
                let wanted = rows.iter().enumerate().filter(|(_, row)| is_wanted(row));
                wanted.map(|(row, _)| row as i64).collect()
            };
            // `any().not()` is `all` of the negation, so it is unknown if one value is unknown.
            let is_known = |row: &Numbers| {
                row.as_ref()
                    .is_some_and(|row| row.iter().all(Option::is_some))
            };
            let filters = [
                (test(col(path).any()), of(&|row| any(row, *accepts))),
                (test(col(path).all()), of(&|row| all(row, *accepts))),
                (
                    test(col(path).any()).not(),
                    of(&|row| is_known(row) && !any(row, *accepts)),
                ),
                (
                    test(col(path).all()).not(),
                    of(&|row| {
                        row.as_ref()
                            .is_some_and(|row| row.iter().flatten().any(|it| !accepts(*it)))
                    }),
                ),
            ];
            for (filter, expected) in filters {
                for steps in steps() {
                    for threads in [1, 2] {
                        let found = found(&file, filter.clone(), steps, threads);
                        assert_eq!(found, expected, "{filter} {steps:?} {threads}");
                    }
                }
                let kept = filter.evaluate(&batch).unwrap();
                let kept = (0..ROWS).filter(|row| kept.is_valid(*row) && kept.value(*row));
                let kept: Vec<_> = kept.map(|row| row as i64).collect();
                assert_eq!(kept, expected, "{filter}");
            }
        }
    }
}

#[test]
fn bounds_and_dictionaries_of_lists_pass_over_row_groups() {
    let rows: Vec<Numbers> = (0..1400)
        .map(|row| Some(vec![Some(row / 700), None]))
        .collect();
    let file = file(&batch(&rows), ColumnOptions::new(), DataPageVersion::V1);
    let explain = |filter: Predicate| {
        let row_groups = file.explain(&ReadOptions::new().filter(filter)).unwrap();
        let refused = row_groups
            .iter()
            .map(|it| it.steps.last().map_or(0, |step| step.ruled_out));
        refused.collect::<Vec<_>>()
    };
    assert_eq!(explain(col("lists").any().eq(1)), [700, 0]);
    assert_eq!(explain(col("lists").any().is_null()), [0, 0]);
    // If a row group had an empty list, it would have been selected.
    assert_eq!(explain(col("lists").all().eq(1)), [0, 0]);
}

#[test]
fn how_many_values_has_to_be_said_where_there_may_be_several() {
    let file = file(
        &batch(&[Some(vec![Some(1)])]),
        ColumnOptions::new(),
        DataPageVersion::V1,
    );
    let error = |filter: Predicate| {
        let error = file.read(ReadOptions::new().filter(filter)).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Argument);
        error.to_string()
    };
    let several = error(col("lists.list.element").eq(1));
    assert!(
        several.contains("or all(lists.list.element) if every"),
        "{several}"
    );
    let one = error(col("row").any().eq(1));
    assert!(one.contains("is not in a list"), "{one}");
    let two = error(col("structs").any().eq(1));
    assert!(two.contains("is a group"), "{two}");
}

#[test]
fn nan_is_above_all_numbers_unless_ieee_754_is_asked_for() {
    let nan = f64::NAN;
    let values = [1.0, nan, 5.0, -0.0, f64::INFINITY, 7.5];
    let mut all: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
    all.push(None);
    let batch = RecordBatch::try_from_iter([
        (
            "row",
            Arc::new(Int64Array::from_iter_values(0..7)) as ArrayRef,
        ),
        ("x", Arc::new(Float64Array::from(all))),
    ])
    .unwrap();
    let file = file(&batch, ColumnOptions::new(), DataPageVersion::V1);
    let x = || col("x");
    for (filter, total, ieee) in [
        (x().gt(5.0), vec![1, 4, 5], vec![4, 5]),
        (x().ge(5.0), vec![1, 2, 4, 5], vec![2, 4, 5]),
        (x().gt(5.0).not(), vec![0, 2, 3], vec![0, 1, 2, 3]),
        (x().ne(5.0), vec![0, 1, 3, 4, 5], vec![0, 1, 3, 4, 5]),
        (x().eq(nan), vec![1], vec![]),
        (x().ne(nan), vec![0, 2, 3, 4, 5], vec![0, 1, 2, 3, 4, 5]),
        (x().lt(nan), vec![0, 2, 3, 4, 5], vec![]),
        (x().is_in([1.0, nan]), vec![0, 1], vec![0]),
        (x().between(5.0, nan), vec![1, 2, 4, 5], vec![]),
        (x().is_nan(), vec![1], vec![1]),
        (x().eq(0.0), vec![3], vec![3]),
    ] {
        for steps in steps() {
            assert_eq!(found(&file, filter.clone(), steps, 1), total, "{filter}");
            let ieee_filter = filter.clone().with_ieee_floats();
            assert_eq!(found(&file, ieee_filter, steps, 1), ieee, "{filter}");
        }
    }
}
