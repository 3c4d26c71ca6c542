//! Tests that JSON lines are converted exactly.

use super::{Import, becomes};
use crate::common::herringbone;

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
        .fails(3, "x.jsonl: line 2: column `a`: 19.99 is not a valid Int64");
    json.fails_as(
        "a: Int64\n",
        "line 2: column `a`: 19.99 is not a valid Int64: it has a fraction",
    );
    json.fails_as(
        "a: Timestamp(ms)\n",
        "line 2: column `a`: 19.99 is not a valid Timestamp(ms)",
    );
    json.fails_as(
        "a: Decimal128(5, 1)\n",
        "line 2: column `a`: 19.99 is not a valid Decimal128(5, 1)",
    );
    json.fails_as(
        "a: Boolean\n",
        "line 1: column `a`: 1 is not a valid Boolean",
    );
    json.fails_as("a: Binary\n", "line 1: column `a`: 1 is not a valid string");
    let list = Import::of("x.jsonl", "{\"a\":[1]}\n{\"a\":[2,\n-0.9]}\n");
    list.fails_as(
        "a: List\n  item: Int8\n",
        "line 3: column `a.item`: -0.9 is not a valid Int8",
    );
    list.run(&["--infer-rows", "1"])
        .fails(3, "line 3: column `a.item`: -0.9 is not a valid Int64");
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
            "9223372036854775808 is not a valid Int64: it is out of range",
        ),
        ("1", "\"2\"", "\"2\" is not a valid Int64: a string"),
        ("1", "true", "true is not a valid Int64"),
        ("1", "-0", "-0 is not a valid Int64: it is a negative zero"),
        (
            "1.5",
            "1e500",
            "1e500 is not a valid Float64: it is out of range",
        ),
        (
            "1.5",
            "1e-400",
            "1e-400 is not a valid Float64: it is out of range",
        ),
        (
            "1.5",
            "0.1234567890123456789",
            "0.1234567890123456789 is not a valid Float64: it has too many digits",
        ),
        (
            "1.5",
            "9007199254740993",
            "9007199254740993 is not a valid Float64: it has too many digits",
        ),
        ("\"x\"", "2", "2 is not a valid string"),
        ("true", "\"true\"", "\"true\" is not a valid Boolean"),
        ("null", "1", "1 is not a valid null"),
        ("[1]", "1", "1 is not a valid array"),
        ("[1]", "{}", "expected an array, found an object"),
        ("{\"b\":1}", "[1]", "expected an object, found an array"),
        ("1", "[1]", "expected a single value, found an array"),
        (
            "[[\"a\",1]]",
            "[[\"a\"]]",
            "expected an array of [key, value]",
        ),
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
            "line 1: the key `a` occurs twice",
        ),
        (
            "{\"a\":1}\n{\"b\":{\"c\":1,\n\"c\":1}}",
            "line 3: the key `c` occurs twice",
        ),
        (
            "{\"a\":\"\\ud800\"}",
            "line 1: this is not JSON: expected \\u with four hexadecimal digits of a complete \
             character, found '\\\\'",
        ),
        (
            "{\"a\":\"\0\"}",
            "line 1: this is not JSON: expected an escape for a control character, found '\\0'",
        ),
        (
            "{\"a\":01}",
            "line 1: this is not JSON: expected a JSON number, found '0'",
        ),
        (
            "{\"a\":NaN}",
            "line 1: this is not JSON: expected a value, found 'N'",
        ),
        ("{\"a\":1}\n{\"a\":2", "line 2: the file ends within a row"),
        (
            "{\"a\":1} x",
            "line 1: expected a row (an object {…}) or an array of rows, found `x`",
        ),
        (
            "{\"a\":1}\n[1]",
            "line 2: expected a row (an object {…}) or `]`, found `1`",
        ),
        (
            "{\"a\":1}\n\"x\"",
            "line 2: expected a row (an object {…}) or an array of rows, found `\"`",
        ),
        (
            "{\"a\":1}}\n",
            "line 1: expected a row (an object {…}) or an array of rows, found `}`",
        ),
        (
            "{\"a\":[1}]\n",
            "line 1: this is not JSON: expected `,` or `]`, found '}'",
        ),
        (
            "\u{feff}\u{feff}{}\n",
            "line 1: expected a row (an object {…}) or an array of rows, found the byte 0xef",
        ),
        (
            "[{\"a\":1}\n",
            "line 2: the file ends within an array of rows",
        ),
        (
            "[{\"a\":1},\n{\"a\":}]",
            "line 2: this is not JSON: expected a value, found '}'",
        ),
    ] {
        Import::of("x.jsonl", text).run(&[]).fails(3, message);
    }
    Import::of("x.jsonl", b"{\"a\":1}\n{\"a\":\n\"\xff\"}")
        .run(&[])
        .fails(3, "text that is not UTF-8");
    Import::of("x.jsonl", b"\xff\xfe{\0}\0")
        .run(&[])
        .fails(3, "but this is text in UTF-16");
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    Import::of("x.jsonl", deep)
        .run(&[])
        .fails(3, "nested more than 64 levels deep");
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

/// From each of these files, pyarrow, pandas and duckdb read the rows 1 and 2.
#[test]
fn arrays_of_objects_are_rows() {
    for text in [
        "[{\"a\":1},{\"a\":2}]",
        "[\n  {\n    \"a\": 1\n  },\n  {\n    \"a\": 2\n  }\n]\n",
        "[{\"a\":1}]\n[]\n[{\"a\":2}]",
        "\u{1e}{\"a\":1}\n\u{1e}{\"a\":2}\n",
    ] {
        let rows = "{\"a\":1}; {\"a\":2}";
        becomes("x.json", text, &[], "a: Int64", rows);
        becomes("x.json", text, &["--infer-rows", "1"], "a: Int64", rows);
    }
}

/// A float cannot represent all digits of the integer, and a decimal cannot be NaN.
#[test]
fn all_rows_that_a_type_is_inferred_from_fit_it() {
    for (values, schema, rows) in [
        (["18446744073709551617", "\"NaN\""], "a: Utf8", None),
        (["\"Infinity\"", "9007199254740993"], "a: Utf8", None),
        (["-0", "18446744073709551617"], "a: Utf8", None),
        (["1e400", "1"], "a: Utf8", None),
        (["true", "1"], "a: Utf8", None),
        (["1", "\"NaN\""], "a: Float64", Some(["1.0", "\"NaN\""])),
        (["-0", "7"], "a: Float64", Some(["-0.0", "7.0"])),
        (["1e3", "7"], "a: Float64", Some(["1000.0", "7.0"])),
        (["null", "null"], "a: Null", Some(["null", "null"])),
        (
            ["9223372036854775809", "-1.5"],
            "a: Decimal128(38, 1)",
            Some(["\"9223372036854775809.0\"", "\"-1.5\""]),
        ),
    ] {
        let text = |values: [&str; 2]| values.map(|value| format!("{{\"a\":{value}}}")).join("; ");
        let json = Import::of("x.jsonl", text(values).replace("; ", "\n"));
        let run = json.run(&[]);
        assert_eq!(run.code, 0, "{values:?}: {}", run.stderr);
        let is_mixed = rows.is_none();
        assert_eq!(
            run.stderr
                .contains("`a`: values of several types become text"),
            is_mixed
        );
        let print = |words: &[&str]| herringbone(&[words, &[&json.out]].concat()).stdout;
        assert_eq!(print(&["schema", "--format", "arrow"]).trim_end(), schema);
        let expected = rows.unwrap_or(values);
        let quoted = |text: &str| match is_mixed {
            true => format!("\"{}\"", text.trim_matches('"')),
            false => text.to_owned(),
        };
        let expected = expected
            .map(|expected| format!("{{\"a\":{}}}\n", quoted(expected)))
            .concat();
        assert_eq!(print(&["cat", "--format", "jsonl"]), expected);
    }
}

/// A builder that reserves 1,024 slots per column takes 8 KiB for each, which would be 2 GiB for
/// these columns.
#[test]
fn keys_have_a_limit_before_columns_are_made() {
    let row = |count: usize| {
        let members: Vec<String> = (0..count).map(|i| format!("\"{i}\":1")).collect();
        format!("{{{}}}\n", members.join(","))
    };
    Import::of("x.jsonl", row(262_145)).run(&[]).fails(
        3,
        "line 1: objects have more than 262144 different keys, the limit `schema_nodes`",
    );
}

/// A null in a list takes five bytes of text, but it would take a MiB of memory here.
#[test]
fn items_of_a_fixed_length_have_a_limit() {
    let nulls = vec!["null"; 2_000].join(",");
    let json = Import::of("x.jsonl", format!("{{\"a\":[{nulls}]}}\n"));
    json.run(&["--type", "a=List(FixedSizeBinary(1048576))"])
        .fails(
            3,
            "line 1: column `a`: items of a fixed length need more than",
        );
    json.run(&["--type", "a=List(FixedSizeBinary(16))"]).ok("");
}
