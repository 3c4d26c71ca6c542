//! Tests that CSV is converted exactly.

use super::{Import, becomes};
use crate::common::herringbone;

#[test]
fn text_of_csv_stays_text() {
    for (text, schema, rows) in [
        ("a\n007\n1\n", "a: Utf8", r#"{"a":"007"}; {"a":"1"}"#),
        (
            "a,b\n\"1\",1.10\n2,3\n",
            "a: Utf8; b: Float64",
            r#"{"a":"1","b":1.1}; {"a":"2","b":3.0}"#,
        ),
        (
            "a\n18446744073709551616\n",
            "a: Utf8",
            r#"{"a":"18446744073709551616"}"#,
        ),
        (
            "a\n1.5\n1e500\n",
            "a: Utf8",
            r#"{"a":"1.5"}; {"a":"1e500"}"#,
        ),
        (
            "a\n0.1234567890123456789\n",
            "a: Utf8",
            r#"{"a":"0.1234567890123456789"}"#,
        ),
        (
            "a\n2024-01-02\n2024-01-02T23:59:59\n",
            "a: Utf8",
            r#"{"a":"2024-01-02"}; {"a":"2024-01-02T23:59:59"}"#,
        ),
        (
            "a\n2024-01-02T00:00:00\n2024-01-02T00:00:00+05:00\n",
            "a: Utf8",
            r#"{"a":"2024-01-02T00:00:00"}; {"a":"2024-01-02T00:00:00+05:00"}"#,
        ),
        (
            "a\n2024-01-02T00:00:00Z\n2024-01-02T00:00:00\n",
            "a: Utf8",
            r#"{"a":"2024-01-02T00:00:00Z"}; {"a":"2024-01-02T00:00:00"}"#,
        ),
        (
            "a\n2024-01-02T00:00:00\n2024-01-02T00:00:00.999\n",
            "a: Timestamp(ms)",
            r#"{"a":"2024-01-02T00:00:00.000"}; {"a":"2024-01-02T00:00:00.999"}"#,
        ),
    ] {
        becomes("x.csv", text, &[], schema, rows);
    }
}

#[test]
fn what_no_type_holds_is_text() {
    for (text, schema, rows) in [
        ("a\n1234-56-78\n", "a: Utf8", r#"{"a":"1234-56-78"}"#),
        (
            "a\n2023-02-29\n2024-02-29\n",
            "a: Utf8",
            r#"{"a":"2023-02-29"}; {"a":"2024-02-29"}"#,
        ),
        (
            "a\n2024-01-02T24:00:00\n",
            "a: Utf8",
            r#"{"a":"2024-01-02T24:00:00"}"#,
        ),
        ("a\n24:00:00\n", "a: Utf8", r#"{"a":"24:00:00"}"#),
        (
            "a\n1600-01-01T00:00:00\n2024-01-01T00:00:00.123456789\n",
            "a: Utf8",
            r#"{"a":"1600-01-01T00:00:00"}; {"a":"2024-01-01T00:00:00.123456789"}"#,
        ),
    ] {
        becomes("x.csv", text, &[], schema, rows);
    }
}

#[test]
fn quotes_say_what_is_text() {
    for (text, schema, rows) in [
        // In a file that quotes everything, quotes do not mean anything, unless the header needs
        // them.
        (
            "\"a\",\"b\"\n\"1\",\"x\"\n\"\",\n",
            "a: Int64; b: Utf8",
            r#"{"a":1,"b":"x"}; {"a":null,"b":null}"#,
        ),
        ("\"a,b\"\n\"1\"\n", "a,b: Utf8", r#"{"a,b":"1"}"#),
        (
            "a,b\n\"1\",\"2\"\n",
            "a: Utf8; b: Utf8",
            r#"{"a":"1","b":"2"}"#,
        ),
        (
            "\"a\",\"b\"\n\"1\",2\n",
            "a: Utf8; b: Int64",
            r#"{"a":"1","b":2}"#,
        ),
    ] {
        becomes("x.csv", text, &[], schema, rows);
    }
}

#[test]
fn later_rows_of_csv_are_of_the_inferred_types() {
    for (first, later) in [
        ("1", "007"),
        ("1", "\"1\""),
        ("1", "\"\""),
        ("1", "1.0"),
        ("1", "+1"),
        ("1.5", "1e500"),
        ("1.5", "9007199254740993"),
        ("2024-01-02", "2024-01-02T23:59:59"),
        ("2024-01-02", "2024-02-30"),
        ("2024-01-02T00:00:00", "2024-01-02T00:00:00.999"),
        ("2024-01-02T00:00:00", "2024-01-02T00:00:00+05:00"),
        ("2024-01-02T00:00:00Z", "2024-01-02T00:00:00"),
        ("true", "1"),
    ] {
        let csv = Import::of("x.csv", format!("b,a\nx,{first}\n,{later}\n"));
        let run = csv.run(&["--infer-rows", "1"]);
        run.fails(
            3,
            &format!(
                "x.csv: line 3: column `a`: \"{}\" is not a valid ",
                later.trim_matches('"')
            ),
        );
        run.fails(
            3,
            "the types were inferred: use --infer-rows N to look at more rows",
        );
        assert_eq!(csv.run(&["--type", "a=Utf8", "--infer-rows", "1"]).code, 0);
    }
}

#[test]
fn our_csv_comes_back_with_its_types() {
    let json = "{\"t\":\"1\",\"u\":\"007\",\"d\":\"12.50\",\"b\":\"1234\",\"n\":1,\"f\":1.0}\n\
                {\"t\":\"true\",\"u\":\"\",\"d\":\"3.00\",\"b\":null,\"n\":null,\"f\":\"NaN\"}\n";
    let json = Import::of("x.jsonl", json);
    let types = "t: Utf8\nu: Utf8\nd: Decimal128(9, 2)\nb: Binary\nn: Int64\nf: Float64\n";
    let types = json.folder.with("types.txt", types);
    json.becomes(&["--schema", &types]);
    let (csv, back) = (json.folder.file("x.csv"), json.folder.file("back.parquet"));
    herringbone(&["convert", &json.out, &csv]).ok("");
    let text = std::fs::read_to_string(&csv).unwrap();
    assert_eq!(
        text,
        "t,u,d,b,n,f\n\"1\",\"007\",\"12.50\",\"1234\",1,1.0\n\"true\",\"\",\"3.00\",,,NaN\n"
    );
    herringbone(&["convert", &csv, &back]).ok("");
    let schema = herringbone(&["schema", "--format", "arrow", &back]).stdout;
    assert_eq!(
        schema,
        "t: Utf8\nu: Utf8\nd: Utf8\nb: Utf8\nn: Int64\nf: Float64\n"
    );
    herringbone(&["cat", "--format", "csv", &back]).ok(&text);
}

#[test]
fn csv_that_is_none_is_refused() {
    for (text, message) in [
        ("a,b\n1,2\n3\n", "line 3: expected 2 fields, found 1"),
        (
            "a,b\n1,2\n\"3\n\",4,5\n",
            "line 3: expected 2 fields, found 3",
        ),
        (
            "a\n1\n\"2\" \n",
            "line 3: text after the closing quote of a field",
        ),
        ("a\n1\n\"2\n", "line 3: quotes are not closed"),
        ("a\n1\r\r\rx,y\r", "line 5: expected 1 fields, found 2"),
    ] {
        Import::of("x.csv", text).run(&[]).fails(3, message);
    }
    Import::of("x.csv", b"a\nx\n\xff\n")
        .run(&[])
        .fails(3, "line 3: text that is not UTF-8");
    Import::of("x.csv", b"\xfe\xff\0a")
        .run(&[])
        .fails(3, "but this is text in UTF-16");
    becomes(
        "x.csv",
        "a,b\r\nx\0y,\u{feff}\r\n",
        &[],
        "a: Utf8; b: Utf8",
        "{\"a\":\"x\\u0000y\",\"b\":\"\u{feff}\"}",
    );
}
