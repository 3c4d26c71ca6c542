//! If a file is read with a wanted schema, the result is the values that other libraries return, or an error with both
//! types.

mod selections;

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Decimal128Array, Float64Array, Int32Array,
    Int64Array, RecordBatch, StringArray, StructArray, TimestampMillisecondArray,
};
use herringbone::arrow::schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use herringbone::schema::FIELD_ID_KEY;
use herringbone::{FieldMatching, FieldNames, ReadOptions, WantedSchema, WriteOptions, Writer};

use crate::files;
use crate::push::{SUPPLIES, pushed, read};
use crate::remote;

/// Returns all rows as one batch for comparison, as lines of values, column by column.
fn lines(batches: &[RecordBatch]) -> Vec<Vec<String>> {
    let columns = batches.first().map_or(0, RecordBatch::num_columns);
    let column = |index: usize| {
        let arrays = batches.iter().map(|batch| batch.column(index));
        arrays
            .flat_map(|array| crate::canonical::lines(array))
            .collect()
    };
    (0..columns).map(column).collect()
}

fn evolution(name: &str) -> Bytes {
    let path = files::testdata().join("evolution").join(name);
    Bytes::from(std::fs::read(path).unwrap())
}

/// Reads with every driver, checks that the batches are the same, and returns them.
fn read_everywhere(file: &Bytes, options: &ReadOptions) -> Vec<RecordBatch> {
    let expected = read(file, &options.clone().threads(1)).unwrap();
    for threads in [2, 8] {
        let got = read(file, &options.clone().threads(threads)).unwrap();
        assert_eq!(got, expected, "{threads} threads");
    }
    for how in SUPPLIES {
        assert_eq!(pushed(file, options, how).unwrap(), expected, "{how:?}");
    }
    remote::compare_bytes(file, options);
    expected
}

/// Compares a file in the folder with its expected rows.
fn check(name: &str, matching: &FieldMatching) {
    let wanted = evolution(&format!("{name}.wanted.parquet"));
    let expected = read(&wanted, &ReadOptions::new()).unwrap();
    let schema = expected[0].schema();
    let schema = Arc::new(Schema::new(schema.fields().clone()));
    for batch_size in [1, 3, 8192] {
        let wanted = WantedSchema::new(schema.clone()).matching(matching.clone());
        let options = ReadOptions::new()
            .wanted_schema(wanted)
            .batch_size(batch_size);
        let got = read_everywhere(&evolution(&format!("{name}.parquet")), &options);
        assert!(got.iter().all(|batch| batch.schema() == schema), "{name}");
        let (got, expected) = (lines(&got), lines(&expected));
        for ((field, got), expected) in schema.fields().iter().zip(got).zip(expected) {
            assert_eq!(got, expected, "{} of {name}", field.name());
        }
    }
}

#[test]
fn values_are_those_of_pyarrows_casts() {
    check("cast_all", &FieldMatching::Name);
}

#[test]
fn rows_are_those_of_duckdbs_union_by_name() {
    for name in ["union_old", "union_new"] {
        for matching in [FieldMatching::Name, FieldMatching::NameIgnoringCase] {
            check(name, &matching);
        }
    }
}

#[test]
fn fields_that_moved_are_found_by_their_ids_at_any_depth() {
    check("ids_moved", &FieldMatching::FieldId(Vec::new()));
}

/// If the file has none of the wanted fields in a struct, list or map, we still read its nulls and lengths.
#[test]
fn what_has_only_new_fields_keeps_its_nulls_and_lengths() {
    check("ids_hollow", &FieldMatching::FieldId(Vec::new()));
}

fn written(batch: &RecordBatch, rows_of_group: usize) -> Bytes {
    let options = WriteOptions::new().row_group_rows(rows_of_group);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    file.into()
}

fn schema(fields: impl IntoIterator<Item = Field>) -> SchemaRef {
    Arc::new(Schema::new(fields.into_iter().collect::<Vec<_>>()))
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true)))
        .unwrap()
}

fn small() -> RecordBatch {
    let point = Fields::from(vec![Field::new("x", DataType::Int32, true)]);
    let xs: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
    let points = StructArray::new(point, vec![xs.clone()], None);
    batch(vec![
        ("Id", Arc::new(Int64Array::from(vec![10, 20, 30]))),
        (
            "name",
            Arc::new(StringArray::from(vec![Some("a"), None, Some("c")])),
        ),
        ("point", Arc::new(points)),
        ("xs", xs),
        (
            "time",
            Arc::new(TimestampMillisecondArray::from(vec![
                1,
                1000,
                i64::MAX / 10,
            ])),
        ),
        (
            "bytes",
            Arc::new(BinaryArray::from_vec(vec![b"a", b"\xff", b"c"])),
        ),
        ("float", Arc::new(Float64Array::from(vec![0.5, 1.5, 2.5]))),
        (
            "decimal",
            Arc::new(
                Decimal128Array::from(vec![1, 2, 3])
                    .with_precision_and_scale(10, 2)
                    .unwrap(),
            ),
        ),
    ])
}

fn error(file: &Bytes, wanted: WantedSchema) -> String {
    let options = ReadOptions::new().wanted_schema(wanted);
    remote::compare_bytes(file, &options);
    read(file, &options).unwrap_err()
}

#[test]
#[allow(clippy::too_many_lines, reason = "a case after the other")]
fn what_is_illegal_names_the_column_and_both_types() {
    let file = written(&small(), 100);
    use DataType as T;
    let micros = T::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    for (name, data_type, message) in [
        (
            "Id",
            T::Int32,
            "Int64 in the file cannot be cast to the wanted Int32",
        ),
        (
            "Id",
            T::UInt64,
            "Int64 in the file cannot be cast to the wanted UInt64",
        ),
        (
            "Id",
            T::Float64,
            "Int64 in the file cannot be cast to the wanted Float64",
        ),
        (
            "Id",
            T::Utf8,
            "Int64 in the file cannot be cast to the wanted Utf8",
        ),
        (
            "Id",
            T::Decimal128(18, 0),
            "Int64 in the file cannot be cast to the wanted Decimal128(18, 0)",
        ),
        (
            "float",
            T::Float32,
            "Float64 in the file cannot be cast to the wanted Float32",
        ),
        (
            "decimal",
            T::Decimal128(10, 3),
            "Decimal128(10, 2) in the file cannot be cast to the wanted Decimal128(10, 3)",
        ),
        (
            "decimal",
            T::Decimal128(20, 1),
            "Decimal128(10, 2) in the file cannot be cast to the wanted Decimal128(20, 1)",
        ),
        (
            "time",
            micros,
            "Timestamp(ms) in the file cannot be cast to the wanted Timestamp(µs, \"UTC\")",
        ),
        (
            "name",
            T::Int32,
            "Utf8 in the file cannot be cast to the wanted Int32",
        ),
        (
            "xs",
            T::new_list(T::Int32, true),
            "Int32 in the file cannot be cast to the wanted List(Int32)",
        ),
        (
            "point",
            T::Int32,
            "in the file cannot be cast to the wanted Int32",
        ),
        (
            "xs",
            T::Struct(Fields::empty()),
            "Int32 in the file cannot be cast to the wanted Struct()",
        ),
    ] {
        let wanted = WantedSchema::new(schema([Field::new(name, data_type, true)]));
        let error = error(&file, wanted);
        assert!(error.contains(message), "{name}: {error}");
        assert!(error.contains(name), "{name}: {error}");
    }
    let point = T::Struct(vec![Field::new("x", T::Utf8, true)].into());
    let error = error(
        &file,
        WantedSchema::new(schema([Field::new("point", point, true)])),
    );
    assert!(
        error.contains("Int32 in the file cannot be cast to the wanted Utf8"),
        "{error}"
    );
    assert!(error.contains("point.x"), "{error}");
}

/// No value is lost without an error.
#[test]
fn values_without_a_place_are_errors() {
    let file = written(&small(), 100);
    let wanted = |name, data_type, nullable| {
        WantedSchema::new(schema([Field::new(name, data_type, nullable)]))
    };
    use DataType as T;
    for (wanted, message) in [
        (
            wanted("time", T::Timestamp(TimeUnit::Nanosecond, None), true),
            "the value 922337203685477580 of Timestamp(ms) does not fit into Timestamp(ns)",
        ),
        (
            wanted("time", T::Timestamp(TimeUnit::Second, None), true),
            "the value 1 of Timestamp(ms) does not fit into Timestamp(s)",
        ),
        (wanted("bytes", T::Utf8, true), "the bytes are not text"),
        (
            wanted("name", T::Utf8, false),
            "the wanted schema does not allow a null here",
        ),
        (
            wanted(
                "point",
                T::Struct(vec![Field::new("x", T::Int32, false)].into()),
                true,
            ),
            "the wanted schema does not allow a null here",
        ),
    ] {
        let error = error(&file, wanted);
        assert!(error.contains(message), "{error}");
    }
    // If the column has no null, a wanted field may be non-nullable.
    let id = read(
        &file,
        &ReadOptions::new().wanted_schema(wanted("Id", T::Int64, false)),
    );
    assert_eq!(id.unwrap()[0].column(0).null_count(), 0);
}

#[test]
fn fields_are_found_by_case_and_place() {
    let file = written(&small(), 100);
    let ids = |wanted: WantedSchema| {
        let batches = read(&file, &ReadOptions::new().wanted_schema(wanted)).unwrap();
        batches[0].column(0).clone()
    };
    let id = schema([Field::new("ID", DataType::Int64, true)]);
    let expected: ArrayRef = Arc::new(Int64Array::from(vec![10, 20, 30]));
    let wanted = WantedSchema::new(id);
    assert_eq!(ids(wanted.clone()).null_count(), 3);
    assert_eq!(
        &ids(wanted.clone().matching(FieldMatching::NameIgnoringCase)),
        &expected
    );
    assert_eq!(&ids(wanted.matching(FieldMatching::Position)), &expected);
    // By position, the fields after the file's last field are missing.
    let fields = (0..10).map(|place| match place {
        1 => Field::new("n", DataType::Utf8View, true),
        9 => Field::new("i", DataType::Int8, true),
        _ => Field::new(format!("c{place}"), small_type(place), true),
    });
    let wanted = WantedSchema::new(schema(fields)).matching(FieldMatching::Position);
    let batches = read(&file, &ReadOptions::new().wanted_schema(wanted)).unwrap();
    assert_eq!(batches[0].column(9).null_count(), 3);
    assert_eq!(batches[0].column(1).null_count(), 1);
}

fn small_type(place: usize) -> DataType {
    let schema = small().schema();
    let field = schema.fields().get(place);
    field.map_or(DataType::Boolean, |field| field.data_type().clone())
}

#[test]
fn names_that_differ_in_case_alone_are_ambiguous() {
    let ones: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let twos: ArrayRef = Arc::new(Int32Array::from(vec![2]));
    let file = written(&batch(vec![("aB", ones), ("Ab", twos.clone())]), 100);
    let wanted = |name| {
        WantedSchema::new(schema([Field::new(name, DataType::Int32, true)]))
            .matching(FieldMatching::NameIgnoringCase)
    };
    let exact = ReadOptions::new().wanted_schema(wanted("Ab"));
    assert_eq!(read(&file, &exact).unwrap()[0].column(0), &twos);
    let error = error(&file, wanted("AB"));
    assert!(
        error.contains("several fields of the file match the wanted field `AB`"),
        "{error}"
    );
}

fn with_id(field: Field, id: i32) -> Field {
    field.with_metadata(HashMap::from([(FIELD_ID_KEY.to_owned(), id.to_string())]))
}

#[test]
fn fields_without_ids_are_found_by_the_names_they_had() {
    let file = written(&small(), 100);
    let fields = [
        with_id(Field::new("number", DataType::Int64, true), 1),
        with_id(Field::new("float", DataType::Float64, true), 2),
    ];
    let names = vec![FieldNames::new(1, ["no", "Id"])];
    let wanted = WantedSchema::new(schema(fields)).matching(FieldMatching::FieldId(names));
    let batches = read(&file, &ReadOptions::new().wanted_schema(wanted)).unwrap();
    assert_eq!(batches[0].column(0).null_count(), 0);
    // The field matches by name only, but names do not count.
    assert_eq!(batches[0].column(1).null_count(), 3);
    let bare = WantedSchema::new(schema([Field::new("Id", DataType::Int64, true)]));
    let error = error(&file, bare.matching(FieldMatching::FieldId(Vec::new())));
    assert!(
        error.contains("the wanted field `Id` does not have a `PARQUET:field_id`"),
        "{error}"
    );
}

#[test]
fn missing_fields_take_their_default() {
    let file = written(&small(), 2);
    let point = DataType::Struct(
        vec![
            Field::new("new", DataType::Int32, false),
            Field::new("x", DataType::Int64, true),
        ]
        .into(),
    );
    let fields = || {
        schema([
            Field::new("tag", DataType::Utf8, false),
            Field::new("point", point.clone(), true),
            Field::new("gone", DataType::Boolean, true),
        ])
    };
    let tag: ArrayRef = Arc::new(StringArray::from(vec!["t"]));
    let seven: ArrayRef = Arc::new(Int32Array::from(vec![7]));
    let wanted = WantedSchema::new(fields())
        .default_value(["tag"], tag.clone())
        .default_value(["point", "new"], seven.clone());
    let options = ReadOptions::new().wanted_schema(wanted.clone());
    let batches = read_everywhere(&file, &options);
    let expected = [
        vec!["\"t\""; 3],
        vec![
            r#"{"new": 7, "x": 1}"#,
            r#"{"new": 7, "x": null}"#,
            r#"{"new": 7, "x": 3}"#,
        ],
        vec!["null"; 3],
    ];
    let spaceless = |columns: Vec<Vec<String>>| -> Vec<Vec<String>> {
        let line = |line: String| line.replace(' ', "");
        columns
            .into_iter()
            .map(|column| column.into_iter().map(line).collect())
            .collect()
    };
    let expected = expected.map(|column| column.into_iter().map(str::to_owned).collect());
    assert_eq!(spaceless(lines(&batches)), spaceless(expected.to_vec()));

    // None of the file's columns is read, but the number of rows is right.
    let only = WantedSchema::new(schema([Field::new("tag", DataType::Utf8, false)]));
    let only = only.default_value(["tag"], tag.clone());
    let batches = read_everywhere(&file, &ReadOptions::new().wanted_schema(only).offset(1));
    assert_eq!(lines(&batches), [["\"t\"", "\"t\""]]);

    let missing = WantedSchema::new(fields()).default_value(["tag"], tag);
    assert!(
        error(&file, missing)
            .contains("the file does not contain `point.new`, which is not nullable")
    );
    let typed = wanted.clone().default_value(["gone"], seven.clone());
    assert!(error(&file, typed).contains("its type is Boolean, but its default is Int32"));
    let unknown = wanted.default_value(["point", "nowhere"], seven);
    assert!(error(&file, unknown).contains("there is a default for `point.nowhere`"));
}

/// A boolean can only be wanted as a boolean.
#[test]
fn booleans_stay() {
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    let file = written(&batch(vec![("flag", flags.clone())]), 100);
    let wanted = WantedSchema::new(schema([Field::new("flag", DataType::Boolean, true)]));
    let batches = read(&file, &ReadOptions::new().wanted_schema(wanted)).unwrap();
    assert_eq!(batches[0].column(0), &flags);
    let wanted = WantedSchema::new(schema([Field::new("flag", DataType::Int8, true)]));
    assert!(error(&file, wanted).contains("Boolean in the file cannot be cast to the wanted Int8"));
}
