//! Tests `diff` with files whose columns have other types, other names, or the same name twice.

use std::sync::Arc;

use herringbone::{WriteOptions, Writer};
use herringbone_arrow::array::types::{
    Decimal128Type, Int32Type, TimestampMicrosecondType, TimestampMillisecondType,
};
use herringbone_arrow::array::{
    ArrayRef, Decimal128Array, DictionaryArray, Float32Array, Float64Array, Int32Array, Int64Array,
    LargeListArray, LargeStringArray, ListArray, PrimitiveArray, RecordBatch, StringArray,
    StringViewArray, StructArray,
};
use herringbone_arrow::buffer::OffsetBuffer;
use herringbone_arrow::schema::{Field, Schema};
use serde_json::Value;

use crate::common::{Folder, Run, herringbone};

fn write(folder: &Folder, name: &str, columns: &[(&str, ArrayRef)]) -> String {
    let field =
        |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let arrays = columns.iter().map(|(_, array)| array.clone()).collect();
    let batch = RecordBatch::try_new(schema.clone(), arrays).unwrap();
    let path = folder.file(name);
    std::fs::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = Writer::new(file, schema, WriteOptions::new()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    path
}

fn diff(arguments: &[&str]) -> Run {
    herringbone(&[&["diff", "--json"], arguments].concat())
}

/// Returns the number of changed rows, and the numbers of rows that only one file has.
fn counts(run: &Run) -> [u64; 3] {
    let last = run.stdout.lines().last().unwrap();
    let last: Value = serde_json::from_str(last).unwrap();
    ["changed", "only_in_a", "only_in_b"].map(|name| last[name].as_u64().unwrap())
}

fn changes(run: &Run) -> Vec<String> {
    let first: Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
    let changes = first["changes"].as_array().unwrap();
    changes
        .iter()
        .map(|change| change.as_str().unwrap().to_owned())
        .collect()
}

fn ints(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

#[test]
fn columns_of_one_name_are_compared_in_their_order() {
    let folder = Folder::new();
    let file = |name: &str, second: i64| {
        let columns = [
            ("a", ints(&[1])),
            ("a", ints(&[second])),
            ("id", ints(&[7])),
        ];
        write(&folder, name, &columns)
    };
    let (one, nine) = (file("1", 1), file("9", 9));
    for key in [&[][..], &["--key", "id"]] {
        let same = diff(&[key, &[&nine, &nine]].concat());
        assert_eq!(
            (same.code, counts(&same)),
            (0, [0, 0, 0]),
            "{}",
            same.stdout
        );
        let other = diff(&[key, &[&one, &nine]].concat());
        assert_eq!(
            (other.code, counts(&other)),
            (1, [1, 0, 0]),
            "{}",
            other.stdout
        );
        assert!(changes(&other).is_empty(), "{}", other.stdout);
    }
    diff(&["--key", "a", &one, &one]).fails(2, "several columns `a`");
    let single = write(&folder, "s", &[("a", ints(&[1])), ("id", ints(&[7]))]);
    assert_eq!(changes(&diff(&[&one, &single])), ["a: int64 missing"]);
    assert_eq!(changes(&diff(&[&single, &one])), ["a: int64 added"]);
}

/// Returns pairs of columns with different types, and the number of rows in which their values
/// differ.
///
/// For all pairs but the last two, the numbers are those that `except` finds in DuckDB, which
/// compares floating-point numbers and decimals only after rounding.
fn unlike() -> [(ArrayRef, ArrayRef, u64); 14] {
    const ODD: i64 = (1 << 53) + 1;
    let decimal = |values: &[i128], precision, scale| -> ArrayRef {
        let array = Decimal128Array::from(values.to_vec());
        Arc::new(array.with_precision_and_scale(precision, scale).unwrap())
    };
    let text = ["b", "a"];
    let dictionary: DictionaryArray<Int32Type> = text.into_iter().collect();
    // This is 9999-12-31 in microseconds, which is too late for 64 bits of nanoseconds.
    let far = 253_402_214_400_000_000_i64;
    [
        (
            Arc::new(PrimitiveArray::<TimestampMillisecondType>::from(vec![1, 2])),
            Arc::new(PrimitiveArray::<TimestampMicrosecondType>::from(vec![
                1000, 2001,
            ])),
            1,
        ),
        (
            Arc::new(PrimitiveArray::<TimestampMicrosecondType>::from(vec![
                far, 5,
            ])),
            Arc::new(PrimitiveArray::<
                herringbone_arrow::array::types::TimestampNanosecondType,
            >::from(vec![1, 5000])),
            1,
        ),
        (decimal(&[150, 275], 9, 2), decimal(&[1500, 2755], 12, 3), 1),
        (decimal(&[100, 900], 9, 2), ints(&[1, 9]), 0),
        (
            ints(&[1, ODD]),
            Arc::new(Float64Array::from(vec![1.0, ODD as f64])),
            1,
        ),
        (ints(&[-7, 3]), Arc::new(Int32Array::from(vec![-7, 4])), 1),
        (
            Arc::new(StringArray::from(text.to_vec())),
            Arc::new(LargeStringArray::from(text.to_vec())),
            0,
        ),
        (
            Arc::new(StringArray::from(text.to_vec())),
            Arc::new(StringViewArray::from(text.to_vec())),
            0,
        ),
        (
            Arc::new(StringArray::from(text.to_vec())),
            Arc::new(dictionary),
            0,
        ),
        (
            Arc::new(Float32Array::from(vec![0.1, f32::NAN])),
            Arc::new(Float64Array::from(vec![0.1, f64::NAN])),
            1,
        ),
        (
            Arc::new(Float64Array::from(vec![0.0, -0.0])),
            Arc::new(Float64Array::from(vec![0.0, 0.0])),
            1,
        ),
        (
            ints(&[1, 2]),
            Arc::new(StringArray::from(vec!["1", "2"])),
            2,
        ),
        // A quarter is exact in both types, but a tenth is not.
        (
            decimal(&[25, 10], 9, 2),
            Arc::new(Float64Array::from(vec![0.25, 0.1])),
            1,
        ),
        (
            decimal(&[25, 10], 9, 2),
            Arc::new(Float32Array::from(vec![0.25, 0.1])),
            1,
        ),
    ]
}

#[test]
fn values_of_different_types_are_compared_exactly() {
    for (at, (a, b, changed)) in unlike().into_iter().enumerate() {
        let folder = Folder::new();
        let names = format!("{at}: {} and {}", a.data_type(), b.data_type());
        let has_order = !(a.data_type().is_string() ^ b.data_type().is_string());
        let is_zero = at == 10;
        let (one, other) = (
            write(&folder, "a", &[("v", a.clone())]),
            write(&folder, "b", &[("v", b.clone())]),
        );
        assert_eq!(counts(&diff(&[&one, &other])), [changed, 0, 0], "{names}");
        assert_eq!(counts(&diff(&[&other, &one])), [changed, 0, 0], "{names}");
        if has_order && !is_zero {
            let run = diff(&["--key", "v", &one, &other]);
            assert_eq!(
                counts(&run),
                [0, changed, changed],
                "{names} {}",
                run.stderr
            );
        }
        // The fields of structs are compared like columns.
        let of = |name: &str, array: ArrayRef| {
            let field = Field::new("x", array.data_type().clone(), true);
            let fields = StructArray::new(vec![field].into(), vec![array], None);
            write(&folder, name, &[("s", Arc::new(fields))])
        };
        let (one, other) = (of("c", a), of("d", b));
        assert_eq!(counts(&diff(&[&one, &other])), [changed, 0, 0], "{names}");
    }
}

#[test]
fn numbers_that_differ_have_different_texts() {
    let folder = Folder::new();
    let short = write(
        &folder,
        "a",
        &[("v", Arc::new(Float32Array::from(vec![0.1])))],
    );
    let long = write(
        &folder,
        "b",
        &[("v", Arc::new(Float64Array::from(vec![0.1])))],
    );
    let run = diff(&[&short, &long]);
    // The value is `numpy.float32(0.1).astype(float)`.
    let expected = r#""a":0.10000000149011612,"b":0.1}"#;
    assert!(run.stdout.contains(expected), "{}", run.stdout);
}

#[test]
fn lists_of_two_writers_are_equal() {
    let folder = Folder::new();
    let list = Arc::new(ListArray::new(
        Arc::new(Field::new(
            "item",
            herringbone_arrow::schema::DataType::Utf8,
            true,
        )),
        OffsetBuffer::from_lengths([2, 0, 1]),
        Arc::new(StringArray::from(vec!["a", "b", "c"])),
        None,
    ));
    let large = |last: &str| {
        Arc::new(LargeListArray::new(
            Arc::new(Field::new(
                "element",
                herringbone_arrow::schema::DataType::LargeUtf8,
                true,
            )),
            OffsetBuffer::from_lengths([2, 0, 1]),
            Arc::new(LargeStringArray::from(vec!["a", "b", last])),
            None,
        ))
    };
    let a = write(&folder, "a", &[("l", list)]);
    let b = write(&folder, "b", &[("l", large("c"))]);
    let c = write(&folder, "c", &[("l", large("d"))]);
    let run = diff(&[&a, &b]);
    assert_eq!((run.code, counts(&run)), (0, [0, 0, 0]), "{}", run.stdout);
    let run = diff(&[&a, &c]);
    assert_eq!((run.code, counts(&run)), (1, [1, 0, 0]), "{}", run.stdout);
    herringbone(&["diff", "--format", "table", &a, &b, &c]).ok(&format!("3 files as {a}\n"));
}

#[test]
fn repeated_and_null_keys_are_told_apart() {
    let folder = Folder::new();
    let keys = |keys: &[Option<&str>]| Arc::new(StringArray::from(keys.to_vec())) as ArrayRef;
    let file = |name: &str, of: &[Option<&str>], values: &[i64]| {
        write(&folder, name, &[("k", keys(of)), ("v", ints(values))])
    };
    let all = [Some(""), None, Some("null"), Some("x")];
    let (a, b) = (
        file("a", &all, &[1, 2, 3, 4]),
        file("b", &all, &[5, 6, 7, 4]),
    );
    let run = diff(&["--key", "k", &a, &b]);
    let lines = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let names = lines.filter_map(|line| line["row"].as_str().map(str::to_owned));
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["k=\"\"", "k=\"null\"", "k=null"]
    );
    assert_eq!(run.stderr, "");
    let twice = file(
        "c",
        &[Some("x"), Some("y"), Some("x"), Some("x")],
        &[1, 2, 3, 4],
    );
    let run = diff(&["--key", "k", &twice, &twice]);
    run.fails(0, "2 rows have the --key of another, such as k=x");
}

#[test]
fn all_columns_of_directories_are_compared() {
    let folder = Folder::new();
    let new: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    write(&folder, "a/1.parquet", &[("id", ints(&[1]))]);
    write(&folder, "a/2.parquet", &[("id", ints(&[2])), ("new", new)]);
    write(&folder, "b/1.parquet", &[("id", ints(&[1]))]);
    write(&folder, "b/2.parquet", &[("id", ints(&[2]))]);
    let run = diff(&["-q", &folder.file("a"), &folder.file("b")]);
    assert_eq!((run.code, counts(&run)), (1, [0, 0, 0]), "{}", run.stderr);
    assert_eq!(changes(&run), ["new: text missing"]);
    let decimal = Decimal128Array::from(vec![20])
        .with_precision_and_scale(9, 1)
        .unwrap();
    let decimal: PrimitiveArray<Decimal128Type> = decimal;
    write(&folder, "c/1.parquet", &[("id", ints(&[1]))]);
    write(&folder, "c/2.parquet", &[("id", Arc::new(decimal))]);
    diff(&[&folder.file("b"), &folder.file("c")]).fails(3, "--cast reads both");
    let run = diff(&["--cast", &folder.file("b"), &folder.file("c")]);
    assert_eq!((run.code, counts(&run)), (1, [0, 0, 0]), "{}", run.stderr);
}

/// DuckDB groups both zeros as one value.
#[test]
fn both_zeros_are_one_value_of_summaries() {
    let folder = Folder::new();
    for zeros in [
        Arc::new(Float64Array::from(vec![0.0, -0.0, 0.0])) as ArrayRef,
        Arc::new(Float32Array::from(vec![-0.0, 0.0, -0.0])),
    ] {
        let file = write(&folder, "a", &[("f", zeros)]);
        let frequent = herringbone(&["freq", "--json", "f", &file]);
        let expected = "{\"column\":\"f\",\"value\":0.0,\"count\":3,\"share\":1.0}\n";
        frequent.ok(expected);
        let stats = crate::common::json(&herringbone(&["stats", "--json", &file]));
        assert_eq!(stats["distinct_count"], 1, "{stats}");
        assert_eq!(stats["sorted"], Value::Null, "{stats}");
        herringbone(&["count", "-w", "f = 0", &file]).ok("3\n");
        let pattern = folder.file("f={f}.parquet");
        herringbone(&["split", "-f", "-q", &file, "--by", "f", "-o", &pattern]).ok("");
        herringbone(&["count", &folder.file("f=0.0.parquet")]).ok("3\n");
    }
}

/// If only one file has a row, each of its columns is listed, whatever the column's name is.
#[test]
fn rows_of_one_file_have_all_columns() {
    let folder = Folder::new();
    let columns = |values: &[i64]| -> Vec<(&'static str, ArrayRef)> {
        let names = ["x", "x", "kind", "row", "a"].into_iter().enumerate();
        names
            .map(|(at, name)| {
                let values: Vec<i64> = values.iter().map(|value| value + 10 * at as i64).collect();
                (name, ints(&values))
            })
            .collect()
    };
    let a = write(&folder, "a.parquet", &columns(&[1]));
    let b = write(&folder, "b.parquet", &columns(&[1, 2]));
    let run = diff(&[&a, &b]);
    let line = run.stdout.lines().find(|line| line.contains("only_in_b"));
    assert_eq!(
        line.unwrap(),
        concat!(
            r#"{"kind":"only_in_b","row":"row 1","values":[{"column":"x","value":2},"#,
            r#"{"column":"x","value":12},{"column":"kind","value":22},"#,
            r#"{"column":"row","value":32},{"column":"a","value":42}]}"#
        )
    );
}
