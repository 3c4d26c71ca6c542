//! Adapts the column descriptions that Spark, Avro and pandas write in key-value metadata to the
//! written columns.

use std::sync::Arc;

use herringbone::arrow::schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use herringbone::{SortingColumnOption, WriteOptions};
use herringbone_rewrite::{CarryOver, InputFile, Note};

use crate::files::{collected, empty, field, nulls, schema, value, with_keys};

const SPARK: &str = "org.apache.spark.sql.parquet.row.metadata";
const AVRO: &str = "parquet.avro.schema";
const PANDAS: &str = "pandas";

/// Rewrites a file with the columns `old` and a description as one with the columns `new`. Returns
/// the new description, and true if a note names the missing key.
fn adapted(key: &str, text: &str, old: &SchemaRef, new: &SchemaRef) -> (Option<String>, bool) {
    let file = empty(old, with_keys(&[(key, text)]));
    let mut options = WriteOptions::new();
    let carried = collected(CarryOver::new(), &[&file])
        .apply(new, &mut options)
        .unwrap();
    let left_out = Note::KeyLeftOut {
        file: "1".to_owned(),
        key: key.to_owned(),
    };
    (value(&options, key), carried.notes.contains(&left_out))
}

fn list(element: Field) -> DataType {
    DataType::List(Arc::new(element))
}

fn map(key: Field, value: Field) -> DataType {
    let entries = DataType::Struct(vec![key, value].into());
    DataType::Map(Arc::new(Field::new("entries", entries, false)), false)
}

fn group(fields: Vec<Field>) -> DataType {
    DataType::Struct(Fields::from(fields))
}

fn columns(fields: Vec<Field>) -> SchemaRef {
    Arc::new(Schema::new(fields))
}

/// Returns a field of a Spark schema.
fn spark_field(name: &str, data_type: &str, nullable: bool) -> String {
    format!(r#"{{"name":"{name}","type":{data_type},"nullable":{nullable},"metadata":{{}}}}"#)
}

fn spark(fields: &[String]) -> String {
    format!(r#"{{"type":"struct","fields":[{}]}}"#, fields.join(","))
}

#[test]
fn spark_forgets_columns_and_fields() {
    let long = |name: &str| spark_field(name, r#""long""#, true);
    let int = |name: &str| field(name, DataType::Int64);
    let two = schema(&[("a", DataType::Int64), ("b", DataType::Int64)]);
    let text = spark(&[long("a"), long("b")]);
    let one = |old: &SchemaRef, new: &SchemaRef, text: &str| adapted(SPARK, text, old, new);
    assert_eq!(one(&two, &two, &text), (Some(text.clone()), false));
    let b = schema(&[("b", DataType::Int64)]);
    assert_eq!(one(&two, &b, &text), (Some(spark(&[long("b")])), false));
    // A new column has no description, and a column of another type has a wrong one.
    let new = schema(&[("a", DataType::Int64), ("c", DataType::Int64)]);
    assert_eq!(one(&two, &new, &text), (None, true));
    let cast = schema(&[("a", DataType::Int64), ("b", DataType::Utf8)]);
    assert_eq!(one(&two, &cast, &text), (None, true));
    let twice = spark(&[long("a"), long("a"), long("b")]);
    assert_eq!(
        one(&two, &schema(&[("a", DataType::Int64)]), &twice),
        (None, true)
    );
    // Invalid JSON only misleads readers if the columns differ.
    assert_eq!(one(&two, &two, "{"), (Some("{".to_owned()), false));
    assert_eq!(one(&two, &b, "{"), (None, true));
    assert_eq!(one(&two, &b, r#"{"type":"struct"}"#), (None, true));
    // Columns may be null if the rows come from several files.
    let required = columns(vec![Field::new("a", DataType::Int64, false), int("b")]);
    let text = spark(&[spark_field("a", r#""long""#, false), long("b")]);
    assert_eq!(
        one(&required, &schema(&[("a", DataType::Int64)]), &text),
        (Some(spark(&[long("a")])), false)
    );
    assert_eq!(
        one(
            &required,
            &columns(vec![Field::new("a", DataType::Int64, false)]),
            &text
        ),
        (Some(spark(&[spark_field("a", r#""long""#, false)])), false)
    );
}

#[test]
fn spark_types_are_adapted_at_any_depth() {
    let int = |name: &str| field(name, DataType::Int64);
    let pair = |names: &[&str]| group(names.iter().map(|name| int(name)).collect());
    let long = |name: &str| spark_field(name, r#""long""#, true);
    let array = |element: &str, nulls: bool| {
        format!(r#"{{"type":"array","elementType":{element},"containsNull":{nulls}}}"#)
    };
    let map_of = |value: &str, nulls: bool| {
        format!(
            r#"{{"type":"map","keyType":"string","valueType":{value},"valueContainsNull":{nulls}}}"#
        )
    };
    let xy = spark(&[long("x"), long("y")]);
    let x = spark(&[long("x")]);
    let key = || Field::new("key", DataType::Utf8, false);
    for (old, new, before, after) in [
        (pair(&["x", "y"]), pair(&["x"]), xy.clone(), Some(x.clone())),
        (
            pair(&["x", "y"]),
            pair(&["x"]),
            r#""long""#.to_owned(),
            None,
        ),
        (
            list(field("element", pair(&["x", "y"]))),
            list(field("element", pair(&["x"]))),
            array(&xy, false),
            Some(array(&x, true)),
        ),
        (
            list(field("element", pair(&["x", "y"]))),
            list(Field::new("element", pair(&["x"]), false)),
            array(&xy, false),
            Some(array(&x, false)),
        ),
        (
            map(key(), field("value", pair(&["x", "y"]))),
            map(key(), field("value", pair(&["x"]))),
            map_of(&xy, false),
            Some(map_of(&x, true)),
        ),
        (
            map(key(), field("value", pair(&["x", "y"]))),
            map(key(), field("value", pair(&["x"]))),
            array(&xy, false),
            None,
        ),
        // A class requires all of its fields.
        (
            pair(&["x", "y"]),
            pair(&["x"]),
            format!(r#"{{"type":"udt","sqlType":{xy}}}"#),
            None,
        ),
        (
            pair(&["x", "y"]),
            pair(&["x"]),
            r#"{"type":"other"}"#.to_owned(),
            None,
        ),
    ] {
        let old = columns(vec![field("s", old)]);
        let new = columns(vec![field("s", new)]);
        let before = spark(&[spark_field("s", &before, true)]);
        let after = after.map(|after| spark(&[spark_field("s", &after, true)]));
        let is_left_out = after.is_none();
        assert_eq!(
            adapted(SPARK, &before, &old, &new),
            (after, is_left_out),
            "{before}"
        );
    }
}

#[test]
fn spark_classes_and_variants_keep_their_fields() {
    let int = |name: &str| field(name, DataType::Int64);
    let long = |name: &str| spark_field(name, r#""long""#, true);
    let x = spark(&[long("x")]);
    let pair = |names: &[&str]| group(names.iter().map(|name| int(name)).collect());
    // A class stays if it keeps its fields, even if another column is missing.
    let old = columns(vec![field("s", pair(&["x"])), int("a")]);
    let new = columns(vec![field("s", pair(&["x"]))]);
    let class = spark_field("s", &format!(r#"{{"type":"udt","sqlType":{x}}}"#), true);
    let before = spark(&[class.clone(), long("a")]);
    assert_eq!(
        adapted(SPARK, &before, &old, &new),
        (Some(spark(&[class])), false)
    );
    let variant = spark_field("s", r#""variant""#, true);
    let before = spark(&[variant.clone(), long("a")]);
    assert_eq!(
        adapted(SPARK, &before, &old, &new),
        (Some(spark(&[variant])), false)
    );
}

#[test]
fn avro_forgets_columns_unless_others_refer_to_them() {
    let two = schema(&[("a", DataType::Int64), ("b", DataType::Int64)]);
    let a = schema(&[("a", DataType::Int64)]);
    let record = |fields: &[&str]| {
        format!(
            r#"{{"type":"record","name":"r","fields":[{}]}}"#,
            fields.join(",")
        )
    };
    let of_a = r#"{"name":"a","type":"long"}"#;
    let keeps = |of_b: &str| {
        let (kept, is_left_out) = adapted(AVRO, &record(&[of_a, of_b]), &two, &a);
        assert_eq!(kept.is_none(), is_left_out);
        assert!(kept.is_none_or(|kept| kept == record(&[of_a])));
        !is_left_out
    };
    assert!(keeps(r#"{"name":"b","type":"long"}"#));
    assert!(keeps(r#"{"name":"b","type":["null","long"]}"#));
    assert!(keeps(
        r#"{"name":"b","type":{"type":"array","items":"long"}}"#
    ));
    // These types define a name, which other fields may refer to.
    let named = r#"{"type":"fixed","name":"n","size":8}"#;
    assert!(!keeps(&format!(r#"{{"name":"b","type":{named}}}"#)));
    assert!(!keeps(&format!(
        r#"{{"name":"b","type":["null",{named}]}}"#
    )));
    assert!(!keeps(&format!(
        r#"{{"name":"b","type":{{"type":"array","items":{named}}}}}"#
    )));
    assert!(!keeps(&format!(
        r#"{{"name":"b","type":{{"type":"map","values":{named}}}}}"#
    )));
    let text = record(&[of_a, r#"{"name":"b","type":"long"}"#]);
    let cast = schema(&[("a", DataType::Utf8)]);
    assert_eq!(adapted(AVRO, &text, &two, &cast), (None, true));
    // In Avro, a column that may be null needs another type.
    let required = ["a", "b"].map(|name| Field::new(name, DataType::Int64, false));
    let required = columns(required.to_vec());
    assert_eq!(adapted(AVRO, &text, &required, &a), (None, true));
    assert_eq!(adapted(AVRO, &record(&[]), &two, &a), (None, true));
}

#[test]
fn opaque_and_repeated_descriptions_are_kept_for_equal_columns_alone() {
    let two = schema(&[("a", DataType::Int64), ("b", DataType::Int64)]);
    let swapped = schema(&[("b", DataType::Int64), ("a", DataType::Int64)]);
    for key in [
        "iceberg.schema",
        "parquet.proto.descriptor",
        "thrift.descriptor",
    ] {
        assert_eq!(
            adapted(key, "{}", &two, &two),
            (Some("{}".to_owned()), false)
        );
        assert_eq!(adapted(key, "{}", &two, &swapped), (None, true));
    }
    assert_eq!(
        adapted("mine", "{}", &two, &swapped),
        (Some("{}".to_owned()), false)
    );
    // Neither value is kept, because readers may use any of the two.
    let text = spark(&[
        spark_field("a", r#""long""#, true),
        spark_field("b", r#""long""#, true),
    ]);
    let file = empty(&two, with_keys(&[(SPARK, &text), (SPARK, &text)]));
    let mut options = WriteOptions::new();
    let new = schema(&[("a", DataType::Int64)]);
    collected(CarryOver::new(), &[&file])
        .apply(&new, &mut options)
        .unwrap();
    assert_eq!(value(&options, SPARK), None);
}

/// Returns a column's entry in pandas metadata.
fn pandas_column(name: &str, pandas_type: &str, numpy_type: &str, metadata: &str) -> String {
    format!(
        r#"{{"name":"{name}","field_name":"{name}","pandas_type":"{pandas_type}","numpy_type":"{numpy_type}","metadata":{metadata}}}"#
    )
}

fn pandas(index: &str, columns: &[String]) -> String {
    format!(
        r#"{{"index_columns":[{index}],"columns":[{}]}}"#,
        columns.join(",")
    )
}

const RANGE: &str = r#"{"kind":"range","name":null,"start":0,"stop":2,"step":1}"#;

#[test]
fn pandas_describes_new_and_cast_columns() {
    // A seven-byte value has a type of its own, which no other type is stored as.
    let old = schema(&[("a", DataType::FixedSizeBinary(7))]);
    let text = pandas(RANGE, &[pandas_column("a", "bytes", "object", "null")]);
    let described = |new: DataType| {
        let (text, _) = adapted(PANDAS, &text, &old, &schema(&[("a", new)]));
        text.unwrap()
    };
    let zoned = r#"{"timezone":"UTC"}"#;
    use DataType as T;
    let timestamp = |unit| T::Timestamp(unit, None);
    for (data_type, pandas_type, numpy_type, metadata) in [
        (T::Boolean, "bool", "bool", "null"),
        (T::Int8, "int8", "int8", "null"),
        (T::Int16, "int16", "int16", "null"),
        (T::Int32, "int32", "int32", "null"),
        (T::Int64, "int64", "int64", "null"),
        (T::UInt8, "uint8", "uint8", "null"),
        (T::UInt16, "uint16", "uint16", "null"),
        (T::UInt32, "uint32", "uint32", "null"),
        (T::UInt64, "uint64", "uint64", "null"),
        (T::Float16, "float16", "float16", "null"),
        (T::Float32, "float32", "float32", "null"),
        (T::Float64, "float64", "float64", "null"),
        (T::Utf8, "unicode", "object", "null"),
        (T::LargeUtf8, "unicode", "object", "null"),
        (T::Binary, "bytes", "object", "null"),
        (T::FixedSizeBinary(3), "bytes", "object", "null"),
        (T::Date32, "date", "object", "null"),
        (
            timestamp(TimeUnit::Millisecond),
            "datetime",
            "datetime64[ms]",
            "null",
        ),
        (
            timestamp(TimeUnit::Microsecond),
            "datetime",
            "datetime64[us]",
            "null",
        ),
        (
            timestamp(TimeUnit::Nanosecond),
            "datetime",
            "datetime64[ns]",
            "null",
        ),
        (
            T::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            "datetimetz",
            "datetime64[us]",
            zoned,
        ),
        (
            T::Dictionary(Box::new(T::Int32), Box::new(T::Utf8)),
            "unicode",
            "object",
            "null",
        ),
        (list(field("item", T::Int32)), "object", "object", "null"),
    ] {
        let expected = pandas(
            RANGE,
            &[pandas_column("a", pandas_type, numpy_type, metadata)],
        );
        assert_eq!(described(data_type.clone()), expected, "{data_type}");
    }
    assert_eq!(described(DataType::FixedSizeBinary(7)), text);
}

#[test]
fn pandas_keeps_an_index_that_covers_all_rows() {
    let all = schema(&[("a", DataType::Int64), ("k", DataType::Int64)]);
    let entries = ["a", "k"].map(|name| pandas_column(name, "int64", "int64", "null"));
    let of = |index: &str| pandas(index, &entries);
    let lost = Note::PandasIndex {
        file: "1".to_owned(),
    };
    let one = |index: &str, row_groups: &[usize], sort: bool| {
        let file = nulls(&all, with_keys(&[(PANDAS, &of(index))]));
        let mut carry_over = CarryOver::new();
        carry_over
            .add(InputFile::new("1", &file, row_groups))
            .unwrap();
        let mut options = WriteOptions::new();
        if sort {
            options = options.sort_by(vec![SortingColumnOption::new(["a"])]);
        }
        let carried = carry_over.apply(&all, &mut options).unwrap();
        let kept = value(&options, PANDAS).unwrap();
        let is_kept = match kept {
            kept if kept == of(index) => true,
            kept if kept == of("") => false,
            other => panic!("{other}"),
        };
        (is_kept, carried.notes == [lost.clone()])
    };
    let named = RANGE.replace(r#""name":null"#, r#""name":"n""#);
    let shifted = RANGE.replace(r#""start":0"#, r#""start":5"#);
    let even = RANGE.replace(r#""step":1"#, r#""step":2"#);
    for index in [RANGE, &named, &shifted, &even, r#""k""#] {
        assert_eq!(one(index, &[0, 1], false), (true, false), "{index}");
    }
    // The default index is made again, and any other index is lost with a note.
    for (row_groups, sort) in [(&[0][..], false), (&[1, 0], false), (&[0, 1], true)] {
        assert_eq!(
            one(RANGE, row_groups, sort),
            (false, false),
            "{row_groups:?}"
        );
        for index in [&named, &shifted, &even] {
            assert_eq!(one(index, row_groups, sort), (false, true), "{index}");
        }
        assert_eq!(one(r#""k""#, row_groups, sort), (true, false));
    }
    // The index loses a column that the new file does not have.
    let a = schema(&[("a", DataType::Int64)]);
    let (text, _) = adapted(PANDAS, &of(r#""k""#), &all, &a);
    assert_eq!(text.as_deref(), Some(&*pandas("", &entries[..1])));
}

#[test]
fn pandas_columns_missing_in_some_files_are_nullable() {
    use DataType as T;
    let numpy = |data_type: &DataType| match data_type {
        T::Boolean => "bool".to_owned(),
        other => other.to_string().to_lowercase(),
    };
    for (data_type, nullable) in [
        (T::Boolean, "boolean"),
        (T::Int8, "Int8"),
        (T::Int64, "Int64"),
        (T::UInt16, "UInt16"),
        (T::Float64, "float64"),
    ] {
        let numpy_type = numpy(&data_type);
        let both = schema(&[("a", T::Int64), ("b", data_type.clone())]);
        let of_a = pandas_column("a", "int64", "int64", "null");
        let of_b = pandas_column("b", &numpy_type, &numpy_type, "null");
        let text = pandas(r#""b""#, &[of_a.clone(), of_b]);
        let first = nulls(&both, with_keys(&[(PANDAS, &text)]));
        let second = nulls(&schema(&[("a", T::Int64)]), with_keys(&[]));
        let mut options = WriteOptions::new();
        let carried = collected(CarryOver::new(), &[&first, &second])
            .apply(&both, &mut options)
            .unwrap();
        let of_b = pandas_column("b", &numpy_type, nullable, "null");
        assert_eq!(
            value(&options, PANDAS),
            Some(pandas("", &[of_a, of_b])),
            "{data_type}"
        );
        assert!(carried.notes.contains(&Note::PandasIndex {
            file: "1".to_owned()
        }));
    }
}

#[test]
fn pandas_categories_are_those_of_one_file() {
    let old = schema(&[(
        "a",
        DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
    )]);
    let metadata = r#"{"num_categories":3,"ordered":false}"#;
    let text = pandas("", &[pandas_column("a", "categorical", "int8", metadata)]);
    let file = nulls(&old, with_keys(&[(PANDAS, &text)]));
    let described = |files: &[&herringbone::ParquetFile]| {
        let mut options = WriteOptions::new();
        collected(CarryOver::new(), files)
            .apply(&old, &mut options)
            .unwrap();
        value(&options, PANDAS).unwrap()
    };
    assert_eq!(described(&[&file]), text);
    let plain = pandas("", &[pandas_column("a", "unicode", "object", "null")]);
    assert_eq!(described(&[&file, &file]), plain);
}
