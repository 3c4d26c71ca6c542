//! Schemas, batches and values that cannot be written: errors that name the column.

use std::sync::Arc;

use herringbone::{Error, ErrorKind, WriteOptions, Writer};
use herringbone_arrow::array::builder::{FixedSizeBinaryBuilder, Int32Builder, ListBuilder};
use herringbone_arrow::array::types::*;
use herringbone_arrow::array::*;
use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::{
    DataType, Field, Fields, Schema, SchemaRef, TimeUnit, UnionFields, UnionMode,
};

use crate::table::without_panic;

fn list_of(data_type: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", data_type, true)))
}

fn struct_of(data_type: DataType) -> DataType {
    DataType::Struct(vec![Field::new("x", data_type, true)].into())
}

/// The error of a schema with this type, behind a column that can be written.
fn schema_error(data_type: DataType) -> Error {
    let fields = vec![
        Field::new("fine", DataType::Int32, true),
        Field::new("odd", data_type, true),
    ];
    let schema = Arc::new(Schema::new(fields));
    let create = || Writer::new(Vec::new(), schema, WriteOptions::new()).map(|_| ());
    without_panic(create).unwrap().unwrap_err()
}

#[test]
fn types_without_a_form_in_parquet() {
    use DataType as T;
    let members = UnionFields::try_new(
        [0, 1],
        [
            Field::new("i", T::Int32, true),
            Field::new("s", T::Utf8, true),
        ],
    )
    .unwrap();
    let sparse = T::Union(members.clone(), UnionMode::Sparse);
    let dense = T::Union(members, UnionMode::Dense);
    let no_fields = T::Struct(Fields::empty());
    let key_null = T::Map(
        Arc::new(Field::new(
            "entries",
            T::Struct(Fields::from(vec![
                Field::new("key", T::Null, true),
                Field::new("value", T::Int32, true),
            ])),
            false,
        )),
        false,
    );
    for (data_type, column) in [
        (sparse.clone(), "odd"),
        (dense, "odd"),
        (list_of(sparse.clone()), "odd.list.element"),
        (struct_of(sparse.clone()), "odd.x"),
        (T::Dictionary(Box::new(T::Int8), Box::new(sparse)), "odd"),
        (T::FixedSizeBinary(0), "odd"),
        (
            struct_of(list_of(T::FixedSizeBinary(0))),
            "odd.x.list.element",
        ),
        (no_fields.clone(), "odd"),
        (list_of(no_fields), "odd.list.element"),
        (key_null, "odd"),
        (T::Decimal256(70, -10), "odd"),
    ] {
        let error = schema_error(data_type.clone());
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{data_type}: {error}");
        let at = error.location().column.clone().unwrap_or_default();
        assert!(at.starts_with(column), "{data_type}: {at}");
        assert!(error.to_string().contains("odd"), "{error}");
    }
}

/// Writes a first batch that is fine, then this one; the error.
fn batch_error(schema: &SchemaRef, batch: &RecordBatch, threads: usize) -> Error {
    let write = || {
        let options = WriteOptions::new().threads(threads);
        let mut writer = Writer::new(Vec::new(), schema.clone(), options)?;
        writer.write(&RecordBatch::new_empty(schema.clone()))?;
        writer.write(batch)?;
        writer.finish().map(|_| ())
    };
    without_panic(write).unwrap().unwrap_err()
}

#[test]
fn batches_of_another_schema() {
    let int: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x", "y"]));
    let long: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let batch = |columns: &[(&str, &ArrayRef)]| {
        RecordBatch::try_from_iter(
            columns
                .iter()
                .map(|(name, array)| (*name, (*array).clone())),
        )
        .unwrap()
    };
    let schema = batch(&[("a", &int), ("b", &text)]).schema();
    for other in [
        batch(&[("a", &int)]),
        batch(&[("a", &int), ("b", &text), ("c", &int)]),
        batch(&[("b", &text), ("a", &int)]),
        batch(&[("a", &int), ("B", &text)]),
        batch(&[("a", &long), ("b", &text)]),
        RecordBatch::new_empty(Arc::new(Schema::empty())),
    ] {
        let error = batch_error(&schema, &other, 1);
        assert_eq!(error.kind(), ErrorKind::Argument);
    }
}

/// The error of a column `odd` of this array, which starts with a valid value where it has two.
fn value_error(array: ArrayRef, nullable: bool, threads: usize) -> Error {
    let field = Field::new("odd", array.data_type().clone(), true);
    let of_file = field.clone().with_nullable(nullable);
    let fine: ArrayRef = Arc::new(Int32Array::from_iter_values(0..array.len() as i32));
    let first = Field::new("fine", DataType::Int32, true);
    let schema = Arc::new(Schema::new(vec![first.clone(), of_file]));
    let of_batch = Arc::new(Schema::new(vec![first, field]));
    let batch = RecordBatch::try_new(of_batch, vec![fine, array]).unwrap();
    batch_error(&schema, &batch, threads)
}

fn impossible_values() -> Vec<(ArrayRef, &'static str)> {
    let day_time = |days, millis| IntervalDayTime::new(days, millis);
    let parts = |months, days, nanos| IntervalMonthDayNano::new(months, days, nanos);
    let intervals = |values: Vec<IntervalMonthDayNano>| -> ArrayRef {
        Arc::new(IntervalMonthDayNanoArray::from(values))
    };
    let times: TimestampSecondArray = vec![1, i64::MAX / 1000 + 1].into();
    let decimals = Decimal128Array::from(vec![1, i128::from(i32::MAX) + 1]);
    let wide = Decimal256Array::from(vec![i256::ONE, i256::MAX]);
    let narrow = Decimal64Array::from(vec![1, i64::MAX]);
    vec![
        (
            Arc::new(IntervalYearMonthArray::from(vec![1, -1])),
            "-1 months",
        ),
        (
            Arc::new(IntervalDayTimeArray::from(vec![
                day_time(0, 0),
                day_time(-2, 0),
            ])),
            "-2 days",
        ),
        (
            Arc::new(IntervalDayTimeArray::from(vec![
                day_time(0, 0),
                day_time(0, -3),
            ])),
            "-3 ms",
        ),
        (
            intervals(vec![parts(0, 0, 0), parts(-1, 0, 0)]),
            "-1 months",
        ),
        (
            intervals(vec![parts(0, 0, 0), parts(0, 0, -1_000_000)]),
            "-1000000 ns",
        ),
        (intervals(vec![parts(0, 0, 0), parts(0, 0, 1)]), "1 ns"),
        (
            intervals(vec![
                parts(0, 0, 0),
                parts(0, 0, i64::MAX / 1_000_000 * 1_000_000),
            ]),
            "ns",
        ),
        (Arc::new(Date64Array::from(vec![0, 1])), "1 ms"),
        (
            Arc::new(Date64Array::from(vec![
                0,
                i64::MAX / 86_400_000 * 86_400_000,
            ])),
            "ms",
        ),
        (Arc::new(times.clone()), "seconds since 1970"),
        (Arc::new(times.with_timezone("UTC")), "seconds since 1970"),
        (
            Arc::new(Time32SecondArray::from(vec![1, i32::MAX])),
            "seconds of a day",
        ),
        (
            Arc::new(decimals.with_precision_and_scale(9, 2).unwrap()),
            "2147483648",
        ),
        (
            Arc::new(narrow.with_precision_and_scale(9, 2).unwrap()),
            "9223372036854775807",
        ),
        (
            Arc::new(wide.with_precision_and_scale(40, 2).unwrap()),
            "digits",
        ),
    ]
}

#[test]
fn values_that_parquet_cannot_hold() {
    for (array, words) in impossible_values() {
        for threads in [1, 3] {
            let data_type = array.data_type().clone();
            let error = value_error(array.clone(), true, threads);
            assert_eq!(error.kind(), ErrorKind::Argument, "{data_type}: {error}");
            assert!(error.to_string().contains(words), "{data_type}: {error}");
            assert_eq!(error.location().column.as_deref(), Some("odd"));
        }
        // The same in dictionaries and in runs.
        let keys = Int8Array::from(vec![0, 1, 0]);
        let dictionary = DictionaryArray::new(keys, array.clone());
        let ends = Int32Array::from(vec![2, 5]);
        let runs = RunArray::<Int32Type>::try_new(&ends, &array).unwrap();
        for array in [Arc::new(dictionary) as ArrayRef, Arc::new(runs)] {
            assert_eq!(value_error(array, true, 1).kind(), ErrorKind::Argument);
        }
    }
}

/// What no slot shows may be anything.
#[test]
fn impossible_values_that_nobody_sees() {
    for (array, _) in impossible_values() {
        let hidden = array.slice(0, 1);
        let keys = Int8Array::from(vec![Some(0), None, Some(0)]);
        let unnamed = DictionaryArray::new(keys, array.clone());
        let ends = Int32Array::from(vec![2, 5]);
        let runs = RunArray::<Int32Type>::try_new(&ends, &array)
            .unwrap()
            .slice(0, 2);
        for array in [hidden, Arc::new(unnamed), Arc::new(runs)] {
            let batch = RecordBatch::try_from_iter([("a", array)]).unwrap();
            let mut writer = Writer::new(Vec::new(), batch.schema(), WriteOptions::new()).unwrap();
            writer.write(&batch).unwrap();
            writer.finish().unwrap();
        }
    }
}

#[test]
fn nulls_in_required_fields() {
    let int: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
    let keys = Int8Array::from(vec![0, 1]);
    let dictionary: ArrayRef = Arc::new(DictionaryArray::new(keys, int.clone()));
    let ends = Int16Array::from(vec![2, 3]);
    let runs: ArrayRef = Arc::new(RunArray::<Int16Type>::try_new(&ends, &int).unwrap());
    let mut fixed = FixedSizeBinaryBuilder::new(3);
    fixed.append_value(b"abc").unwrap();
    fixed.append_null();
    let mut lists = ListBuilder::new(Int32Builder::new());
    lists.append_value([Some(1)]);
    lists.append_null();
    let bools = BooleanArray::from(vec![Some(true), None]);
    for array in [
        int,
        dictionary,
        runs,
        Arc::new(fixed.finish()),
        Arc::new(lists.finish()),
        Arc::new(bools),
    ] {
        for threads in [1, 3] {
            let data_type = array.data_type().clone();
            let error = value_error(array.clone(), false, threads);
            assert_eq!(error.kind(), ErrorKind::Argument, "{data_type}: {error}");
            let column = error.location().column.clone().unwrap();
            assert!(column.starts_with("odd"), "{data_type}: {error}");
        }
    }
}

/// The first error of the first slice counts, whatever the threads do.
#[test]
fn the_same_error_for_any_number_of_threads() {
    let bad = |at: usize| -> ArrayRef {
        let values = (0..5000).map(|i| if i == at { -1 } else { 1 });
        Arc::new(IntervalYearMonthArray::from_iter_values(values))
    };
    let columns: Vec<(String, ArrayRef)> = [4990, 3000, 2999, 3001]
        .into_iter()
        .enumerate()
        .map(|(i, at)| (format!("c{i}"), bad(at)))
        .collect();
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let schema = batch.schema();
    let message = batch_error(&schema, &batch, 1).to_string();
    for threads in [2, 3, 4, 0] {
        assert_eq!(batch_error(&schema, &batch, threads).to_string(), message);
    }
}

#[test]
fn options_that_make_no_sense() {
    use herringbone::format::Encoding;
    use herringbone::{BloomFilterOptions, ColumnOptions};
    let fields = vec![
        Field::new("a", DataType::Int32, true),
        Field::new("b", DataType::Boolean, true),
        Field::new("c", DataType::Timestamp(TimeUnit::Second, None), true),
    ];
    let schema = Arc::new(Schema::new(fields));
    let column = |options: ColumnOptions| WriteOptions::new().column("a", options);
    let new = ColumnOptions::new;
    for options in [
        WriteOptions::new().row_group_rows(0),
        column(new().page_rows(0)),
        column(new().page_bytes(0)),
        column(new().truncate_bounds(0)),
        column(new().encoding(Encoding::Rle)),
        column(new().encoding(Encoding::DeltaByteArray)),
        column(new().encoding(Encoding::BitPacked)),
        column(new().bloom_filter(BloomFilterOptions::new(0.0))),
        column(new().bloom_filter(BloomFilterOptions::new(1.0))),
        column(new().bloom_filter(BloomFilterOptions::new(f64::NAN))),
        WriteOptions::new().column("b", new().bloom_filter(BloomFilterOptions::new(0.1))),
        WriteOptions::new().sorting_columns(vec![herringbone::core::write::SortingColumnOption {
            path: vec!["none".into()],
            descending: false,
            nulls_first: false,
        }]),
    ] {
        let about = format!("{options:?}");
        let result = Writer::new(Vec::new(), schema.clone(), options).map(|_| ());
        let error = result.expect_err(&about);
        assert_eq!(error.kind(), ErrorKind::Argument, "{about}");
    }
}
