//! `convert` of text: what goes in comes out, or an error says what would be lost, and where.

use crate::common::{Folder, Run, herringbone};

/// A text, in a folder of its own, made into Parquet.
struct Import {
    folder: Folder,
    file: String,
    out: String,
}

impl Import {
    fn of(name: &str, text: impl AsRef<[u8]>) -> Self {
        let folder = Folder::new();
        let file = folder.with(name, text);
        let out = folder.file("out.parquet");
        Self { folder, file, out }
    }

    fn run(&self, options: &[&str]) -> Run {
        herringbone(&[&["convert", "-f", &self.file, &self.out], options].concat())
    }

    /// The Arrow fields and the rows that come of it.
    fn becomes(&self, options: &[&str]) -> (String, String) {
        let run = self.run(options);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        let print = |words: &[&str]| herringbone(&[words, &[&self.out]].concat()).stdout;
        let schema = print(&["schema", "--format", "arrow"]);
        let lines = |text: String| text.trim_end().replace('\n', "; ");
        (lines(schema), lines(print(&["cat", "--format", "jsonl"])))
    }

    /// With types in a text, the error.
    fn fails_as(&self, types: &str, message: &str) {
        let types = self.folder.with("types.txt", types);
        self.run(&["--schema", &types]).fails(3, message);
    }
}

#[track_caller]
fn becomes(name: &str, text: &str, options: &[&str], schema: &str, rows: &str) {
    let found = Import::of(name, text).becomes(options);
    assert_eq!(found, (schema.into(), rows.into()), "{text:?}");
}

#[test]
fn integers_of_json_keep_their_digits() {
    for (values, data_type, shown) in [
        (
            ["9223372036854775807", "-9223372036854775808"],
            "Int64",
            ["9223372036854775807", "-9223372036854775808"],
        ),
        (
            ["18446744073709551615", "18446744073709551614"],
            "UInt64",
            ["18446744073709551615", "18446744073709551614"],
        ),
        (
            ["18446744073709551616", "-1"],
            "Decimal128(38, 0)",
            ["\"18446744073709551616\"", "\"-1\""],
        ),
        (
            ["9223372036854775808", "-1"],
            "Decimal128(38, 0)",
            ["\"9223372036854775808\"", "\"-1\""],
        ),
        (["1", "19.99"], "Float64", ["1.0", "19.99"]),
        (
            ["9007199254740993", "0.5"],
            "Decimal128(38, 1)",
            ["\"9007199254740993.0\"", "\"0.5\""],
        ),
    ] {
        let [a, b] = values;
        let [c, d] = shown;
        becomes(
            "x.jsonl",
            &format!("{{\"a\":{a}}}\n{{\"a\":{b}}}\n"),
            &[],
            &format!("a: {data_type}"),
            &format!("{{\"a\":{c}}}; {{\"a\":{d}}}"),
        );
    }
    let long = "9".repeat(76);
    let row = |digits: &str| format!("{{\"a\":{digits}}}\n");
    let rows = format!("{{\"a\":\"{long}\"}}");
    becomes("x.jsonl", &row(&long), &[], "a: Decimal256(76, 0)", &rows);
    let longer = Import::of("x.jsonl", row(&(long + "9")));
    longer
        .run(&[])
        .fails(3, "column `a`: an integer of more than 76 digits");
}

#[test]
fn numbers_of_json_are_not_cut() {
    let rows = "{\"a\":1}\n{\"a\":19.99}\n{\"a\":-0.9}\n";
    let json = Import::of("x.jsonl", rows);
    json.run(&["--infer-rows", "1"])
        .fails(3, "x.jsonl: line 2: column `a`: 19.99 is no Int64");
    json.fails_as(
        "a: Int64\n",
        "line 2: column `a`: 19.99 is no Int64: it has a fraction",
    );
    json.fails_as(
        "a: Timestamp(ms)\n",
        "line 2: column `a`: 19.99 is no Timestamp(ms)",
    );
    json.fails_as(
        "a: Decimal128(5, 1)\n",
        "line 2: column `a`: 19.99 is no Decimal128(5, 1)",
    );
    json.fails_as("a: Boolean\n", "line 1: column `a`: 1 is no Boolean");
    json.fails_as("a: Binary\n", "line 1: column `a`: 1 is no string");
    let list = Import::of("x.jsonl", "{\"a\":[1]}\n{\"a\":[2,\n-0.9]}\n");
    list.fails_as(
        "a: List\n  item: Int8\n",
        "line 3: column `a.item`: -0.9 is no Int8",
    );
    list.run(&["--infer-rows", "1"])
        .fails(3, "line 3: column `a.item`: -0.9 is no Int64");
    let whole = Import::of("x.jsonl", "{\"a\":1.0}\n{\"a\":1e3}\n{\"a\":\"7\"}\n");
    let types = whole.folder.with("types.txt", "a: Int16\n");
    let rows = "{\"a\":1}; {\"a\":1000}; {\"a\":7}";
    assert_eq!(whole.becomes(&["--schema", &types]).1, rows);
}

#[test]
fn later_rows_of_json_are_of_the_inferred_types() {
    for (first, later, message) in [
        (
            "1",
            "9223372036854775808",
            "9223372036854775808 is no Int64: it is out of range",
        ),
        ("1", "\"2\"", "\"2\" is no Int64: a string"),
        ("1", "true", "true is no Int64"),
        ("1", "-0", "-0 is no Int64: it is a zero below zero"),
        ("1.5", "1e500", "1e500 is no Float64: it is out of range"),
        ("1.5", "1e-400", "1e-400 is no Float64: it is out of range"),
        (
            "1.5",
            "0.1234567890123456789",
            "0.1234567890123456789 is no Float64: it has more digits",
        ),
        (
            "1.5",
            "9007199254740993",
            "9007199254740993 is no Float64: it has more digits",
        ),
        ("\"x\"", "2", "2 is no string"),
        ("true", "\"true\"", "\"true\" is no Boolean"),
        ("null", "1", "1 is no null"),
        ("[1]", "1", "1 is no array"),
        ("[1]", "{}", "an object, where an array belongs"),
        ("{\"b\":1}", "[1]", "an array, where an object belongs"),
        ("1", "[1]", "an array, where a value without parts belongs"),
        ("[[\"a\",1]]", "[[\"a\"]]", "no array of [key, value]"),
        (
            "{\"b\":1}",
            "{\"c\":1}",
            "column `a.c`: it is not in the schema",
        ),
    ] {
        let json = Import::of("x.jsonl", format!("{{\"a\":{first}}}\n{{\"a\":{later}}}\n"));
        let run = json.run(&["--infer-rows", "1"]);
        run.fails(3, "line 2: column `a");
        run.fails(3, message);
        run.fails(3, "--type COLUMN=TYPE");
    }
}

#[test]
fn json_that_would_lose_something_is_refused() {
    for (text, message) in [
        (
            "{\"a\":1,\"b\":2,\"a\":3}\n",
            "line 1: the key `a` is there twice",
        ),
        (
            "{\"a\":1}\n{\"b\":{\"c\":1,\n\"c\":1}}",
            "line 3: the key `c` is there twice",
        ),
        (
            "{\"a\":\"\\ud800\"}",
            "line 1: no JSON: \\ud800 alone is half of a character",
        ),
        ("{\"a\":\"\0\"}", "line 1: no JSON: a control character"),
        ("{\"a\":01}", "line 1: no JSON"),
        ("{\"a\":NaN}", "line 1: no JSON"),
        (
            "{\"a\":1}\n{\"a\":2",
            "line 2: no JSON: the file ends within a row",
        ),
        ("{\"a\":1} x", "line 1: a row is an object"),
        ("{\"a\":1}\n[1]", "line 2: a row is an object"),
        ("{\"a\":1}\n\"x\"", "line 2: a row is an object"),
        ("{\"a\":1}}\n", "line 1: a row is an object"),
        ("{\"a\":[1}]\n", "line 1: no JSON"),
        ("\u{feff}\u{feff}{}\n", "line 1: a row is an object"),
    ] {
        Import::of("x.jsonl", text).run(&[]).fails(3, message);
    }
    Import::of("x.jsonl", b"{\"a\":1}\n{\"a\":\n\"\xff\"}")
        .run(&[])
        .fails(3, "text that is not UTF-8");
    Import::of("x.jsonl", b"\xff\xfe{\0}\0")
        .run(&[])
        .fails(3, "the text is UTF-16");
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    Import::of("x.jsonl", deep)
        .run(&[])
        .fails(3, "more than 64 levels of nesting");
}

#[test]
fn json_has_any_white_space() {
    becomes(
        "x.jsonl",
        "\u{feff}\r\n{\r\n \"a\" :\t1 }{\"a\":2}\r\n\r\n  {\"a\":3}",
        &["--infer-rows", "1"],
        "a: Int64",
        "{\"a\":1}; {\"a\":2}; {\"a\":3}",
    );
}

#[test]
fn values_of_several_types_are_said_to_become_text() {
    let json = Import::of(
        "x.jsonl",
        "{\"a\":\"x\",\"b\":[1,true]}\n{\"a\":1.50,\"b\":[]}\n",
    );
    let run = json.run(&[]);
    assert_eq!(run.code, 0);
    assert!(
        run.stderr.contains("note: ") && run.stderr.contains("`a`, `b.item`"),
        "{}",
        run.stderr
    );
    let rows = herringbone(&["cat", "--format", "jsonl", &json.out]).stdout;
    assert_eq!(
        rows,
        "{\"a\":\"x\",\"b\":[\"1\",\"true\"]}\n{\"a\":\"1.50\",\"b\":[]}\n"
    );
}

#[test]
fn structs_without_fields_may_be_filled() {
    let json = Import::of("x.jsonl", "{\"a\":{}}\n{\"a\":null}\n");
    json.run(&[]).fails(3, "--fill-empty-structs");
    let (_, rows) = json.becomes(&["--fill-empty-structs"]);
    assert_eq!(rows, "{\"a\":{}}; {\"a\":null}");
}

#[test]
fn maps_come_back_as_maps() {
    let rows = "{\"m\":[[\"a\",1],[\"b\",null]]}; {\"m\":[]}; {\"m\":null}";
    let (schema, found) = Import::of("x.jsonl", rows.replace("; ", "\n")).becomes(&[]);
    assert!(schema.starts_with("m: Map"), "{schema}");
    assert_eq!(found, rows);
}

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
            "a\n2024-01-02T00:00:00+05:00\n",
            "a: Timestamp(s, \"+05:00\")",
            r#"{"a":"2024-01-02T00:00:00+05:00"}"#,
        ),
        (
            "a\n2024-01-02T00:00:00\n2024-01-02T00:00:00.999\n",
            "a: Timestamp(ms)",
            r#"{"a":"2024-01-02T00:00:00.000"}; {"a":"2024-01-02T00:00:00.999"}"#,
        ),
        // What no type holds, in the sample itself.
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
        // A file that quotes everything says nothing by it; one whose header needs quotes does.
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
                "x.csv: line 3: column `a`: \"{}\" is no ",
                later.trim_matches('"')
            ),
        );
        run.fails(
            3,
            "the types were inferred: --infer-rows N looks at more rows",
        );
        assert_eq!(csv.run(&["--type", "a=Utf8", "--infer-rows", "1"]).code, 0);
    }
}

#[test]
fn given_types_are_exact() {
    for (data_type, text, message) in [
        ("Decimal128(5, 2)", "1.999", "it has more digits than fit"),
        ("Decimal128(5, 2)", "1000", "it has more digits than fit"),
        ("Decimal256(76, 0)", "1e77", "it is out of range"),
        ("Float32", "1e39", "it is out of range"),
        ("Float32", "1e-50", "it is out of range"),
        ("Float32", "16777217", "it has more digits than fit"),
        ("Float16", "65537.5", "it is out of range"),
        ("Float64", "1e500", "it is out of range"),
        ("Float64", "9007199254740993", "it has more digits than fit"),
        ("Int8", "128", "it is out of range"),
        ("UInt64", "-1", "it is out of range"),
        ("Int64", "1.5", "it has a fraction"),
        ("Time32(s)", "12:34:56.7", "it has more digits than fit"),
        (
            "Time64(µs)",
            "12:34:56.0000001",
            "it has more digits than fit",
        ),
        ("Time32(ms)", "24:00:00", ""),
        ("Date32", "2024-01-02T23:59:59", "it has a time"),
        ("Date32", "2024-02-30", ""),
        (
            "Timestamp(ms)",
            "2024-01-02T03:04:05.0001",
            "it has more digits than fit",
        ),
        (
            "Timestamp(ms)",
            "2024-01-02T03:04:05+05:00",
            "it has an offset",
        ),
        (
            "Timestamp(ms, \"UTC\")",
            "2024-01-02T03:04:05",
            "it has no offset",
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
        csv.fails_as(&types, &format!("line 3: column `a`: \"{text}\" is no "));
        csv.fails_as(&types, message);
        let json = Import::of("x.jsonl", format!("{{}}\n{{\"a\":\"{text}\"}}\n"));
        json.fails_as(&types, &format!("line 2: column `a`: \"{text}\" is no "));
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
        .fails(3, "column `b`: line 2: there is a number here");
    becomes(
        "y.jsonl",
        "{\"a\":1}\n{\"a\":\"x\"}\n",
        &["--type", "a=Utf8"],
        "a: Utf8",
        r#"{"a":"1"}; {"a":"x"}"#,
    );
    let csv = Import::of("x.csv", text);
    csv.run(&["--type", "q=Utf8"]).fails(2, "has no column `q`");
    csv.run(&["--type", "n=Utf9"])
        .fails(2, "there is no type `Utf9`");
    csv.run(&["--type", "Utf8"])
        .fails(2, "expected COLUMN=TYPE");
    csv.run(&["--type", "n.m=Utf8"])
        .fails(2, "`n.m` is within a column");
    csv.run(&["--type", "n=Utf8", "--schema", "x"])
        .fails(2, "cannot be used with");
    json.run(&["--infer-rows", "0"])
        .fails(2, "--infer-rows 0 is for CSV");
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
        "t,u,d,b,n,f\r\n\"1\",\"007\",\"12.50\",\"1234\",1,1.0\r\n\"true\",\"\",\"3.00\",,,NaN\r\n"
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
        ("a,b\n1,2\n3\n", "line 3: expected 2 fields, got 1"),
        (
            "a,b\n1,2\n\"3\n\",4,5\n",
            "line 3: expected 2 fields, got 3",
        ),
        (
            "a\n1\n\"2\" \n",
            "line 3: text behind the closing quote of a field",
        ),
        ("a\n1\n\"2\n", "line 3: quotes that are not closed"),
        ("a\n1\r\r\rx,y\r", "line 5: expected 1 fields, got 2"),
    ] {
        Import::of("x.csv", text).run(&[]).fails(3, message);
    }
    Import::of("x.csv", b"a\nx\n\xff\n")
        .run(&[])
        .fails(3, "line 3: text that is not UTF-8");
    Import::of("x.csv", b"\xfe\xff\0a")
        .run(&[])
        .fails(3, "the text is UTF-16");
    becomes(
        "x.csv",
        "a,b\r\nx\0y,\u{feff}\r\n",
        &[],
        "a: Utf8; b: Utf8",
        "{\"a\":\"x\\u0000y\",\"b\":\"\u{feff}\"}",
    );
}
