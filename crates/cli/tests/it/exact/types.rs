//! Tests types that the user gives.

use super::{Import, becomes};

#[test]
fn given_types_are_exact() {
    for (data_type, text, message) in [
        (
            "Decimal128(5, 2)",
            "1.999",
            "it has too many digits for the type",
        ),
        (
            "Decimal128(5, 2)",
            "1000",
            "it has too many digits for the type",
        ),
        ("Decimal256(76, 0)", "1e77", "it is out of range"),
        ("Float32", "1e39", "it is out of range"),
        ("Float32", "1e-50", "it is out of range"),
        ("Float32", "16777217", "it has too many digits for the type"),
        ("Float16", "65537.5", "it is out of range"),
        ("Float64", "1e500", "it is out of range"),
        (
            "Float64",
            "9007199254740993",
            "it has too many digits for the type",
        ),
        ("Int8", "128", "it is out of range"),
        ("UInt64", "-1", "it is out of range"),
        ("Int64", "1.5", "it has a fraction"),
        (
            "Time32(s)",
            "12:34:56.7",
            "it has too many digits for the type",
        ),
        (
            "Time64(µs)",
            "12:34:56.0000001",
            "it has too many digits for the type",
        ),
        ("Time32(ms)", "24:00:00", ""),
        ("Date32", "2024-01-02T23:59:59", "it has a time"),
        ("Date32", "2024-02-30", ""),
        (
            "Timestamp(ms)",
            "2024-01-02T03:04:05.0001",
            "it has too many digits for the type",
        ),
        (
            "Timestamp(ms)",
            "2024-01-02T03:04:05+05:00",
            "it has an offset",
        ),
        (
            "Timestamp(ms, \"UTC\")",
            "2024-01-02T03:04:05",
            "it lacks an offset",
        ),
        ("Timestamp(ns)", "1600-01-01T00:00:00", "it is out of range"),
        ("Duration(s)", "PT1.5S", ""),
        ("Duration(ns)", "P1M", ""),
        ("Interval(YearMonth)", "P1D", ""),
        ("Boolean", "yes", ""),
        ("Binary", "Zg", ""),
        ("FixedSizeBinary(2)", "Zg==", ""),
        ("Null", "x", ""),
    ] {
        let csv = Import::of("x.csv", format!("a,b\n,\n\"{text}\",\n"));
        let types = format!("a: {data_type}\nb: Utf8\n");
        csv.fails_as(
            &types,
            &format!("line 3: column `a`: \"{text}\" is not a valid "),
        );
        csv.fails_as(&types, message);
        let json = Import::of("x.jsonl", format!("{{}}\n{{\"a\":\"{text}\"}}\n"));
        json.fails_as(
            &types,
            &format!("line 2: column `a`: \"{text}\" is not a valid "),
        );
    }
}

#[test]
fn given_types_take_every_form_of_a_value() {
    for (data_type, text, shown) in [
        ("Decimal128(5, 2)", "1.990", "\"1.99\""),
        ("Decimal128(5, -2)", "12300", "\"12300\""),
        ("Int64", "007", "7"),
        ("Int64", "1e3", "1000"),
        ("UInt8", "2.0", "2"),
        ("Float32", "0.1234567890123", "0.12345679"),
        ("Float64", "-inf", "\"-Infinity\""),
        ("Time32(s)", "12:34:56.000", "\"12:34:56\""),
        ("Date32", "2024-01-02T00:00:00", "\"2024-01-02\""),
        ("Timestamp(ms)", "2024-01-02", "\"2024-01-02T00:00:00.000\""),
        (
            "Timestamp(s, \"UTC\")",
            "2024-01-02 03:04:05+05:00",
            "\"2024-01-01T22:04:05Z\"",
        ),
        ("Utf8", "007", "\"007\""),
    ] {
        let csv = Import::of("x.csv", format!("a\n{text}\n"));
        let chosen = format!("a={data_type}");
        let rows = format!("{{\"a\":{shown}}}");
        assert_eq!(
            csv.becomes(&["--type", &chosen]).1,
            rows,
            "{data_type} {text}"
        );
    }
}

#[test]
fn types_of_columns_are_chosen() {
    let text = "zip,n,\"x=y\"\n501,1,1\n";
    let all = r#"{"zip":"501","n":"1","x=y":"1"}"#;
    becomes(
        "x.csv",
        text,
        &["--infer-rows", "0"],
        "zip: Utf8; n: Utf8; x=y: Utf8",
        all,
    );
    becomes(
        "x.csv",
        "1,2\n3,4\n",
        &["--infer-rows", "0", "--no-header"],
        "column_1: Utf8; column_2: Utf8",
        r#"{"column_1":"1","column_2":"2"}; {"column_1":"3","column_2":"4"}"#,
    );
    let some = [
        "--type",
        "zip,x=y=Utf8",
        "--type",
        "n=Decimal128(9, 2) not null",
    ];
    let rows = r#"{"zip":"501","n":"1.00","x=y":"1"}"#;
    becomes(
        "x.csv",
        text,
        &some,
        "zip: Utf8; n: Decimal128(9, 2) not null; x=y: Utf8",
        rows,
    );
    let json = "{\"a\":1,\"b\":[{}]}\n{\"a\":\"x\",\"b\":7}\n";
    let json = Import::of("x.jsonl", json);
    json.run(&["--type", "a=Utf8"])
        .fails(3, "column `b`: line 2: found a number here");
    becomes(
        "y.jsonl",
        "{\"a\":1}\n{\"a\":\"x\"}\n",
        &["--type", "a=Utf8"],
        "a: Utf8",
        r#"{"a":"1"}; {"a":"x"}"#,
    );
    let csv = Import::of("x.csv", text);
    csv.run(&["--type", "q=Utf8"])
        .fails(2, "does not have a column `q`");
    csv.run(&["--type", "n=Utf9"])
        .fails(2, "unknown type `Utf9`; use a name of SQL");
    csv.run(&["--type", "Utf8"])
        .fails(2, "expected COLUMN=TYPE");
    csv.run(&["--type", "n.m=Utf8"])
        .fails(2, "`n.m` is a field within a column; name a whole column");
    csv.run(&["--type", "n=Utf8", "--schema", "x"])
        .fails(2, "cannot be used with");
    json.run(&["--infer-rows", "0"])
        .fails(2, "--infer-rows 0 is for CSV");
}
