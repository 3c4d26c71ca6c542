//! Tests `--by-name` and `--cast`, which merge files with different columns.

use std::sync::Arc;

use herringbone::{WriteOptions, Writer};
use herringbone_arrow::array::types::{Int32Type, Int64Type};
use herringbone_arrow::array::{
    ArrayRef, BinaryArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array,
    Float64Array, Int16Array, Int32Array, Int64Array, ListArray, NullArray, RecordBatch,
    StringArray, StructArray, TimestampMicrosecondArray, TimestampMillisecondArray, UInt64Array,
};

use crate::common::{Folder, Run, herringbone};

/// Returns a file with one row of these columns.
fn file(columns: &[(&str, ArrayRef)]) -> Vec<u8> {
    let columns = columns
        .iter()
        .map(|(name, array)| (*name, array.clone(), true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), WriteOptions::new()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file
}

fn int(value: i32) -> ArrayRef {
    Arc::new(Int32Array::from(vec![value]))
}

fn long(value: i64) -> ArrayRef {
    Arc::new(Int64Array::from(vec![value]))
}

fn text(value: &str) -> ArrayRef {
    Arc::new(StringArray::from(vec![value]))
}

fn object(columns: &[(&str, ArrayRef)]) -> ArrayRef {
    let columns = columns.iter().map(|(name, array)| (*name, array.clone()));
    Arc::new(StructArray::try_from(columns.collect::<Vec<_>>()).unwrap())
}

/// Merges two files with these options. Checks that `cat` prints the same rows for the inputs as
/// for the output of `concat`.
fn merged(a: &[(&str, ArrayRef)], b: &[(&str, ArrayRef)], options: &[&str]) -> Run {
    let folder = Folder::new();
    let a = folder.with("a.parquet", file(a));
    let b = folder.with("b.parquet", file(b));
    let out = folder.file("out.parquet");
    let run = herringbone(&[&["cat", &a, &b], options].concat());
    let concat = herringbone(&[&["concat", &a, &b, "-o", &out], options].concat());
    assert_eq!(run.code, concat.code, "{} {}", run.stderr, concat.stderr);
    if run.code == 0 {
        assert_eq!(herringbone(&["cat", &out]).stdout, run.stdout);
    }
    run
}

const BOTH: [&str; 2] = ["--by-name", "--cast"];

#[test]
fn columns_are_found_by_name() {
    let a = [("a", int(1)), ("b", text("x"))];
    let run = merged(&a, &[("b", text("y")), ("a", int(2))], &["--by-name"]);
    run.ok("{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n");
    let run = merged(&a, &[("a", int(2))], &["--by-name"]);
    run.ok("{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":null}\n");
    let run = merged(
        &[("a", int(2))],
        &[("c", long(3)), ("a", int(4))],
        &["--by-name"],
    );
    run.ok("{\"a\":2,\"c\":null}\n{\"a\":4,\"c\":3}\n");
    // This column has nothing but nulls.
    let nulls = [
        ("b", Arc::new(NullArray::new(1)) as ArrayRef),
        ("a", int(2)),
    ];
    let run = merged(&a, &nulls, &["--by-name"]);
    assert_eq!(run.stdout, "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":null}\n");
    let run = merged(&nulls, &a, &["--by-name"]);
    assert_eq!(run.stdout, "{\"b\":null,\"a\":2}\n{\"b\":\"x\",\"a\":1}\n");
    // The fields of structs are matched by name, too.
    let one = object(&[("x", int(1)), ("y", text("a"))]);
    let other = object(&[("y", text("b")), ("z", int(2))]);
    let run = merged(&[("s", one)], &[("s", other)], &["--by-name"]);
    run.ok(concat!(
        "{\"s\":{\"x\":1,\"y\":\"a\",\"z\":null}}\n",
        "{\"s\":{\"x\":null,\"y\":\"b\",\"z\":2}}\n"
    ));
}

#[test]
fn columns_that_are_asked_for_may_be_in_some_files_only() {
    let folder = Folder::new();
    let a = folder.with("a.parquet", file(&[("a", int(1)), ("b", text("x"))]));
    let s = object(&[("x", int(3)), ("y", int(4))]);
    let b = folder.with("b.parquet", file(&[("a", int(2)), ("s", s)]));
    let cat = |more: &[&str]| herringbone(&[&["cat", "--by-name", &a, &b], more].concat());
    cat(&["--columns", "s.y,b"]).ok(concat!(
        "{\"s\":null,\"b\":\"x\"}\n",
        "{\"s\":{\"y\":4},\"b\":null}\n"
    ));
    cat(&["--columns", "b,nope"]).fails(2, "there is no column `nope` in any of the files");
    cat(&["--where", "b = 'x'"]).ok("{\"a\":1,\"b\":\"x\",\"s\":null}\n");
    cat(&["--where", "b is null"]).ok("{\"a\":2,\"b\":null,\"s\":{\"x\":3,\"y\":4}}\n");
    // A condition can test columns that are not read.
    cat(&["--where", "b = 'x'", "--columns", "a"]).ok("{\"a\":1}\n");
    cat(&["--where", "b = 'x'", "--columns", "s.x,b"]).ok("{\"s\":null,\"b\":\"x\"}\n");
    cat(&["--where", "b = 'x'", "--explain"]).code(&[0]);
    cat(&["--offset", "1"]).ok("{\"a\":2,\"b\":null,\"s\":{\"x\":3,\"y\":4}}\n");
}

#[test]
fn names_that_differ_in_case_are_noted() {
    let run = merged(&[("a", int(1))], &[("A", int(2))], &["--by-name"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (0, "{\"a\":1,\"A\":null}\n{\"a\":null,\"A\":2}\n")
    );
    assert!(run.stderr.contains("differ only in case"), "{}", run.stderr);
}

/// Each case has values of two types, and both as JSON in their common type.
#[test]
fn values_are_cast_to_a_type_that_has_all_of_them() {
    let decimal = |value: i128, precision, scale| -> ArrayRef {
        let array = Decimal128Array::from(vec![value]);
        Arc::new(array.with_precision_and_scale(precision, scale).unwrap())
    };
    let micros: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1_000_001]));
    let ints = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    let longs = ListArray::from_iter_primitive::<Int64Type, _, _>([Some([Some(2)])]);
    let dictionary: DictionaryArray<Int32Type> = ["d"].into_iter().collect();
    for (a, b, expected) in [
        (int(1), long(1 << 40), ["1", "1099511627776"]),
        (int(1), Arc::new(Int16Array::from(vec![-5])), ["1", "-5"]),
        (
            long(-1),
            Arc::new(UInt64Array::from(vec![u64::MAX])),
            ["\"-1\"", "\"18446744073709551615\""],
        ),
        (
            int(i32::MAX),
            Arc::new(Float32Array::from(vec![0.5])),
            ["2147483647.0", "0.5"],
        ),
        (
            Arc::new(Float32Array::from(vec![0.1])),
            Arc::new(Float64Array::from(vec![0.1])),
            // This is the double nearest to the float that is nearest to 0.1.
            ["0.10000000149011612", "0.1"],
        ),
        (
            decimal(1, 9, 2),
            decimal(1, 18, 4),
            ["\"0.0100\"", "\"0.0001\""],
        ),
        (int(7), decimal(15, 4, 1), ["\"7.0\"", "\"1.5\""]),
        (
            Arc::new(TimestampMillisecondArray::from(vec![1])),
            micros.clone(),
            [
                "\"1970-01-01T00:00:00.001000\"",
                "\"1970-01-01T00:00:01.000001\"",
            ],
        ),
        (
            Arc::new(Date32Array::from(vec![1])),
            micros,
            [
                "\"1970-01-02T00:00:00.000000\"",
                "\"1970-01-01T00:00:01.000001\"",
            ],
        ),
        // YQ== is the base64 of a.
        (
            text("a"),
            Arc::new(BinaryArray::from(vec![&b"\xFF"[..]])),
            ["\"YQ==\"", "\"/w==\""],
        ),
        (Arc::new(NullArray::new(1)), text("a"), ["null", "\"a\""]),
        (Arc::new(ints), Arc::new(longs), ["[1]", "[2]"]),
        (Arc::new(dictionary), text("e"), ["\"d\"", "\"e\""]),
    ] {
        let run = merged(&[("x", a.clone())], &[("x", b.clone())], &["--cast"]);
        let [first, second] = expected;
        let types = format!("{}, {}", a.data_type(), b.data_type());
        let rows = |a, b| format!("{{\"x\":{a}}}\n{{\"x\":{b}}}\n");
        assert_eq!(run.code, 0, "{types} {}", run.stderr);
        assert_eq!(run.stdout, rows(first, second), "{types}");
        let run = merged(&[("x", b)], &[("x", a)], &BOTH);
        assert_eq!(run.stdout, rows(second, first), "{types}");
    }
    for (a, b) in [
        (long(1), Arc::new(Float64Array::from(vec![0.5])) as ArrayRef),
        (int(1), text("1")),
    ] {
        let run = merged(&[("x", a)], &[("x", b)], &BOTH);
        run.fails(3, "field `x` is ");
        assert!(!run.stderr.contains("--cast"), "{}", run.stderr);
    }
}

#[test]
fn errors_name_both_files_and_the_option() {
    let folder = Folder::new();
    let millis: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![1]));
    let micros: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![1]));
    let a = folder.with("a.parquet", file(&[("x", int(1)), ("t", micros)]));
    let b = folder.with("b.parquet", file(&[("x", int(1)), ("t", millis)]));
    let c = folder.with("c.parquet", file(&[("t", long(1)), ("y", long(1))]));
    for command in ["cat", "head"] {
        herringbone(&[command, &a, &b]).fails(
            3,
            &format!(
                "the schemas differ: field `t` is Timestamp(µs) in {a} but Timestamp(ms) in {b}; \
                 --cast reads both as a type that holds all values"
            ),
        );
    }
    herringbone(&["cat", &a, &c]).fails(
        3,
        &format!("the schemas differ: where {a} has the field `x`, {c} has `t`\n"),
    );
    let d = folder.with("d.parquet", file(&[("x", long(1))]));
    herringbone(&["cat", &a, &d]).fails(3, "; --by-name --cast finds columns by name");
    herringbone(&["cat", "--cast", &a, &d]).fails(3, "; --by-name finds columns by name");
    // This value is out of the range of the common unit.
    let late: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![i64::MAX]));
    let e = folder.with("e.parquet", file(&[("x", int(1)), ("t", late)]));
    herringbone(&["cat", "--cast", &a, &e]).fails(3, "does not fit into Timestamp(µs)");
}

/// There are more inputs than the process can have open at once.
#[cfg(unix)]
#[test]
fn inputs_are_opened_when_their_turn_comes() {
    let folder = Folder::new();
    let out = folder.file("out.parquet");
    let names: Vec<String> = (0..300)
        .map(|i| folder.with(&format!("{i}.parquet"), file(&[("a", int(i))])))
        .collect();
    let limited = |arguments: &[&str]| {
        let binary = env!("CARGO_BIN_EXE_herringbone");
        let script = "ulimit -n 40; exec \"$0\" \"$@\"";
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-c", script, binary])
            .args(arguments)
            .args(&names);
        Run::from(shell.output().unwrap())
    };
    for more in [&[][..], &BOTH] {
        limited(&[&["concat", "-f", "-o", &out], more].concat()).ok("");
        herringbone(&["count", &out]).ok("300\n");
        assert_eq!(
            limited(&[&["cat"], more].concat()).stdout.lines().count(),
            300
        );
    }
}
