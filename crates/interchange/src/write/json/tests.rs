use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::array::types::{
    Decimal128Type, Int8Type, Int32Type, IntervalDayTime, IntervalMonthDayNano,
};
use herringbone_arrow::array::{self as a, Array, ArrayRef, RecordBatch, RecordBatchOptions};
use herringbone_arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer, i256};
use herringbone_arrow::schema::{DataType, Field, Fields, Schema};

use super::*;
use crate::write::written;

/// Returns the values of a column named `c`, with one JSON text per value.
fn column_of(field: Field, array: impl Array + 'static) -> Vec<String> {
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(schema, vec![Arc::new(array)]).unwrap();
    let text = written(|output| Rows::lines().write(&batch, output));
    text.lines()
        .map(|line| {
            line.strip_prefix(r#"{"c":"#)
                .unwrap()
                .strip_suffix('}')
                .unwrap()
                .into()
        })
        .collect()
}

fn column(array: impl Array + 'static) -> Vec<String> {
    column_of(Field::new("c", array.data_type().clone(), true), array)
}

#[test]
fn rows_are_objects_on_lines() {
    let batch = RecordBatch::try_from_iter_with_nullable([
        (
            "id",
            Arc::new(a::Int64Array::from(vec![1, 2])) as ArrayRef,
            true,
        ),
        (
            "na\"me",
            Arc::new(a::StringArray::from(vec![Some("x\n"), None])),
            true,
        ),
    ])
    .unwrap();
    assert_eq!(
        written(|output| Rows::lines().write(&batch, output)),
        "{\"id\":1,\"na\\\"me\":\"x\\n\"}\n{\"id\":2,\"na\\\"me\":null}\n"
    );
}

#[test]
fn duplicate_names_stay() {
    let fields = vec![
        Field::new("x", DataType::Int32, false),
        Field::new("x", DataType::Utf8, false),
    ];
    let batch = RecordBatch::try_new(
        Arc::new(Schema::new(fields)),
        vec![
            Arc::new(a::Int32Array::from(vec![1])),
            Arc::new(a::StringArray::from(vec!["a"])),
        ],
    )
    .unwrap();
    assert_eq!(
        written(|output| Rows::lines().write(&batch, output)),
        "{\"x\":1,\"x\":\"a\"}\n"
    );
}

#[test]
fn rows_without_columns_are_empty_objects() {
    let options = RecordBatchOptions::new().with_row_count(Some(2));
    let batch =
        RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).unwrap();
    assert_eq!(
        written(|output| Rows::lines().write(&batch, output)),
        "{}\n{}\n"
    );
}

#[test]
fn integers_are_numbers_of_any_size() {
    assert_eq!(
        column(a::UInt64Array::from(vec![u64::MAX, 0])),
        ["18446744073709551615", "0"]
    );
    assert_eq!(
        column(a::Int64Array::from(vec![i64::MIN])),
        ["-9223372036854775808"]
    );
    assert_eq!(
        column(a::Int8Array::from(vec![Some(-128), None])),
        ["-128", "null"]
    );
    assert_eq!(
        column(a::BooleanArray::from(vec![true, false])),
        ["true", "false"]
    );
    assert_eq!(column(a::NullArray::new(1)), ["null"]);
}

#[test]
fn what_is_no_number_is_a_string() {
    assert_eq!(
        column(a::Float64Array::from(vec![
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            0.1
        ])),
        [r#""NaN""#, r#""Infinity""#, r#""-Infinity""#, "0.1"]
    );
    assert_eq!(
        column(a::Float32Array::from(vec![0.1, 3e38])),
        ["0.1", "3e38"]
    );
    assert_eq!(
        column(a::Float16Array::from_iter_values([Default::default()])),
        ["0.0"]
    );
}

#[test]
fn decimals_are_strings() {
    let decimals = a::PrimitiveArray::<Decimal128Type>::from(vec![Some(-105), None, Some(0)])
        .with_precision_and_scale(38, 2)
        .unwrap();
    assert_eq!(column(decimals), [r#""-1.05""#, "null", r#""0.00""#]);
    let wide = a::Decimal256Array::from(vec![i256::MAX])
        .with_precision_and_scale(76, 0)
        .unwrap();
    assert_eq!(
        column(wide),
        [r#""57896044618658097711785492504343953926634992332820282019728792003956564819967""#]
    );
}

#[test]
fn bytes_are_base64_in_every_layout() {
    let values: Vec<Option<&[u8]>> = vec![Some(b"foobar"), None, Some(b"")];
    let expected = [r#""Zm9vYmFy""#, "null", r#""""#];
    assert_eq!(column(a::BinaryArray::from(values.clone())), expected);
    assert_eq!(column(a::LargeBinaryArray::from(values.clone())), expected);
    assert_eq!(column(a::BinaryViewArray::from(values)), expected);
    let fixed = || a::FixedSizeBinaryArray::try_from_iter([[0_u8; 16]].into_iter()).unwrap();
    assert_eq!(column(fixed()), [r#""AAAAAAAAAAAAAAAAAAAAAA==""#]);
    let uuid =
        Field::new("c", DataType::FixedSizeBinary(16), true).with_metadata(HashMap::from([(
            "ARROW:extension:name".to_owned(),
            "arrow.uuid".to_owned(),
        )]));
    assert_eq!(
        column_of(uuid, fixed()),
        [r#""00000000-0000-0000-0000-000000000000""#]
    );
}

#[test]
fn strings_of_every_layout() {
    assert_eq!(column(a::LargeStringArray::from(vec!["ä\\"])), [r#""ä\\""#]);
    assert_eq!(
        column(a::StringViewArray::from(vec![
            Some("longer than twelve bytes"),
            None
        ])),
        [r#""longer than twelve bytes""#, "null"]
    );
}

#[test]
fn temporal_values_are_iso_8601() {
    assert_eq!(
        column(a::Date32Array::from(vec![19_724])),
        [r#""2024-01-02""#]
    );
    assert_eq!(column(a::Date64Array::from(vec![0])), [r#""1970-01-01""#]);
    assert_eq!(
        column(a::Time32MillisecondArray::from(vec![45_296_789])),
        [r#""12:34:56.789""#]
    );
    assert_eq!(
        column(a::Time64NanosecondArray::from(vec![0])),
        [r#""00:00:00.000000000""#]
    );
    let micros = || a::TimestampMicrosecondArray::from(vec![1_704_164_645_123_456]);
    assert_eq!(column(micros()), [r#""2024-01-02T03:04:05.123456""#]);
    assert_eq!(
        column(micros().with_timezone("UTC")),
        [r#""2024-01-02T03:04:05.123456Z""#]
    );
    assert_eq!(
        column(micros().with_timezone("-08:00")),
        [r#""2024-01-01T19:04:05.123456-08:00""#]
    );
    assert_eq!(
        column(a::DurationMillisecondArray::from(vec![1500])),
        [r#""PT1.5S""#]
    );
    let interval = IntervalMonthDayNano::new(1, 2, 3_000_000_004);
    assert_eq!(
        column(a::IntervalMonthDayNanoArray::from(vec![interval])),
        [r#""P1M2DT3.000000004S""#]
    );
    assert_eq!(
        column(a::IntervalYearMonthArray::from(vec![-14])),
        [r#""P-14M""#]
    );
    let interval = IntervalDayTime::new(i32::MIN, i32::MAX);
    assert_eq!(
        column(a::IntervalDayTimeArray::from(vec![interval])),
        [r#""P-2147483648DT2147483.647S""#]
    );
}

fn lists() -> a::ListArray {
    a::ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1), None]),
        None,
        Some(vec![]),
    ])
}

#[test]
fn lists_of_every_layout() {
    let expected = ["[1,null]", "null", "[]"];
    assert_eq!(column(lists()), expected);
    let values = || Arc::new(a::Int32Array::from(vec![7, 1, 0])) as ArrayRef;
    let item = || Arc::new(Field::new_list_field(DataType::Int32, true));
    let views = a::ListViewArray::new(
        item(),
        ScalarBuffer::from(vec![1, 0, 3]),
        ScalarBuffer::from(vec![2, 2, 0]),
        values(),
        None,
    );
    assert_eq!(column(views), ["[1,0]", "[7,1]", "[]"]);
    let fixed = a::FixedSizeListArray::new(
        Arc::new(Field::new_list_field(DataType::Int32, true)),
        1,
        values(),
        Some(NullBuffer::from(vec![true, false, true])),
    );
    assert_eq!(column(fixed), ["[7]", "null", "[0]"]);
    assert_eq!(column(lists().slice(1, 2)), ["null", "[]"]);
}

#[test]
fn structs_are_objects() {
    let fields = Fields::from(vec![Field::new("a", DataType::Int32, true)]);
    let values: ArrayRef = Arc::new(a::Int32Array::from(vec![Some(1), None, Some(3)]));
    let nulls = NullBuffer::from(vec![true, true, false]);
    let structs = a::StructArray::new(fields, vec![values], Some(nulls));
    assert_eq!(column(structs), [r#"{"a":1}"#, r#"{"a":null}"#, "null"]);
    assert_eq!(column(a::StructArray::new_empty_fields(1, None)), ["{}"]);
}

#[test]
fn maps_are_lists_of_pairs() {
    let fields = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", DataType::Float64, true),
    ]);
    let keys = a::StringArray::from(vec!["a", "a", "b"]);
    let values = a::Float64Array::from(vec![Some(1.5), None, Some(f64::NAN)]);
    let entries = a::StructArray::new(fields.clone(), vec![Arc::new(keys), Arc::new(values)], None);
    let entries_field = Arc::new(Field::new("entries", DataType::Struct(fields), false));
    let offsets = OffsetBuffer::new(vec![0, 2, 2, 3].into());
    let maps = a::MapArray::new(entries_field, offsets, entries, None, false);
    assert_eq!(
        column(maps),
        [r#"[["a",1.5],["a",null]]"#, "[]", r#"[["b","NaN"]]"#]
    );
}

#[test]
fn encoded_values_look_like_plain_ones() {
    let dictionary: a::DictionaryArray<Int8Type> = [Some("x"), None, Some("y"), Some("x")]
        .into_iter()
        .collect();
    assert_eq!(column(dictionary), [r#""x""#, "null", r#""y""#, r#""x""#]);
    let values = a::StringArray::from(vec![Some("x"), None]);
    let holes = a::DictionaryArray::<Int8Type>::new(vec![1, 0].into(), Arc::new(values));
    assert_eq!(column(holes), ["null", r#""x""#]);
    let runs: a::RunArray<Int32Type> = [Some("x"), Some("x"), None].into_iter().collect();
    assert_eq!(column(runs.slice(1, 2)), [r#""x""#, "null"]);
}
