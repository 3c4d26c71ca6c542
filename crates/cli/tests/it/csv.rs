//! Tests CSV as it is found in practice. The expected types and values are the ones on which duckdb
//! 1.5, polars, pandas and pyarrow agree.

use crate::common::{Folder, Run, herringbone, path, stdin};

/// Converts a text with these options. Returns the run, the rows and the types.
fn convert(text: impl AsRef<[u8]>, options: &[&str]) -> (Run, String, String) {
    let folder = Folder::new();
    let (csv, out) = (folder.with("x.csv", text), folder.file("x.parquet"));
    let run = herringbone(&[&["convert", &csv, &out], options].concat());
    let rows = herringbone(&["cat", &out]).stdout;
    let types = herringbone(&["schema", "--format", "arrow", &out]).stdout;
    (run, rows, types)
}

#[test]
fn names_that_are_there_twice_are_changed() {
    let (run, rows, _) = convert("a,a,b,a\n1,2,3,4\n", &[]);
    assert_eq!(run.code, 0);
    assert!(
        run.stderr.ends_with(
            "the header repeats a name: column 2, `a`, is called `a_1`; column 4, `a`, is called \
             `a_2`\n"
        ),
        "{}",
        run.stderr
    );
    assert_eq!(rows, "{\"a\":1,\"a_1\":2,\"b\":3,\"a_2\":4}\n");
    let (_, rows, _) = convert(",a,\n0,1,2\n", &[]);
    assert_eq!(rows, "{\"column_1\":0,\"a\":1,\"column_3\":2}\n");
    // pandas writes its index without a name.
    let (run, rows, _) = convert(",a\n0,1\n", &[]);
    run.ok("");
    assert_eq!(rows, "{\"\":0,\"a\":1}\n");
    let (run, _, _) = convert("a,A\n1,2\n", &[]);
    assert!(run.stderr.contains("`a` and `A` differ only in case"));
    // `--type` uses the changed names.
    let (_, rows, _) = convert("a,a\n1,2\n", &["--type", "a_1=Utf8", "--quiet"]);
    assert_eq!(rows, "{\"a\":1,\"a_1\":\"2\"}\n");
}

#[test]
fn names_of_floats_are_those_of_other_programs() {
    let text = "pandas,duckdb,numpy,names\ninf,inf,nan,Nan\n-inf,-inf,1,Inf\n1.5,nan,inf,Ann\n";
    let (run, rows, types) = convert(text, &[]);
    run.ok("");
    assert_eq!(
        types,
        "pandas: Float64\nduckdb: Utf8\nnumpy: Float64\nnames: Utf8\n"
    );
    assert_eq!(
        rows.lines().next().unwrap(),
        r#"{"pandas":"Infinity","duckdb":"inf","numpy":"NaN","names":"Nan"}"#
    );
}

#[test]
fn other_delimiters_are_found() {
    for (text, delimiter, expected) in [
        (
            "id;name;price\r\n1;a;1,5\r\n2;b;2,25\r\n",
            ";",
            "{\"id\":1,\"name\":\"a\",\"price\":\"1,5\"}\n{\"id\":2,\"name\":\"b\",\"price\":\"2,25\"}\n",
        ),
        ("id\tname\n1\ta\n", "\\t", "{\"id\":1,\"name\":\"a\"}\n"),
        ("id|name\n1|a", "|", "{\"id\":1,\"name\":\"a\"}\n"),
        (
            "sep=;\r\nid;name\r\n1;a\r\n",
            ";",
            "{\"id\":1,\"name\":\"a\"}\n",
        ),
    ] {
        let (run, rows, _) = convert(text, &[]);
        assert_eq!((run.code, rows.as_str()), (0, expected), "{}", run.stderr);
        let note = format!("the separator is `{delimiter}`; use --delimiter to set another\n");
        assert!(run.stderr.contains(&note), "{}", run.stderr);
    }
    let (run, rows, _) = convert("a;b\n1;2\n", &["--delimiter", ","]);
    run.ok("");
    assert_eq!(rows, "{\"a;b\":\"1;2\"}\n");
    // The line that names the separator for Excel counts as a line.
    let (run, _, _) = convert("sep=;\na;b\n1;2\nx;2\n", &["--infer-rows", "1"]);
    run.fails(3, "line 4: column `a`: \"x\" is not a valid Int64");
    // If the user gives a schema, its names must be found too.
    let folder = Folder::new();
    let types = folder.with("types.txt", "b: Int8\na: Int8\n");
    let (run, rows, _) = convert("a;b\n1;2\n", &["--schema", &types]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(rows, "{\"b\":2,\"a\":1}\n");
}

#[test]
fn offsets_make_instants() {
    let text = "t,u\n2024-01-01T00:00:00+05:30,2024-01-01 00:00:00Z\n\
                2024-06-01T00:00:00.5-02:00,2024-01-01T00:00:00+00:00\n";
    let (run, rows, types) = convert(text, &[]);
    assert!(
        run.stderr
            .contains("column `t`: timestamps become instants in UTC")
    );
    assert!(run.stderr.contains("--type 't=Utf8'"));
    assert_eq!(
        types,
        "t: Timestamp(ms, \"UTC\")\nu: Timestamp(s, \"UTC\")\n"
    );
    assert_eq!(
        rows,
        "{\"t\":\"2023-12-31T18:30:00.000Z\",\"u\":\"2024-01-01T00:00:00Z\"}\n\
         {\"t\":\"2024-06-01T02:00:00.500Z\",\"u\":\"2024-01-01T00:00:00Z\"}\n"
    );
    let zone = "t=Timestamp(ms, \"+05:30\")";
    let (run, _, types) = convert(text, &["--type", zone]);
    run.ok("");
    assert!(
        types.starts_with("t: Timestamp(ms, \"+05:30\")\n"),
        "{types}"
    );
}

/// ISO 8601 allows fractions of minutes. We refuse them, because users mean fractions of a second.
#[test]
fn a_fraction_is_one_of_seconds() {
    let (_, _, types) = convert("t\n2024-01-01T00:00.5\n", &[]);
    assert_eq!(types, "t: Utf8\n");
    let (run, _, _) = convert("t\n2024-01-01T00:00.5\n", &["--type", "t=Timestamp(ms)"]);
    run.fails(3, "\"2024-01-01T00:00.5\" is not a valid Timestamp(ms)");
    let (_, _, types) = convert("t\n2024-01-01T00:00\n", &[]);
    assert_eq!(types, "t: Timestamp(s)\n");
}

#[test]
fn a_header_that_may_be_a_row_is_noted() {
    let note = "line 1 is read as the column names, but `1` looks like a value; --no-header";
    for text in [
        "1,2.5\n3,4.5\n",
        "1,Rome\n2,Oslo\n",
        "\"1\",\"x\"\n\"2\",\"y\"\n",
        "1,x\n",
    ] {
        let (run, _, _) = convert(text, &[]);
        assert_eq!(run.code, 0);
        assert!(run.stderr.contains(note), "{text:?}: {}", run.stderr);
    }
    for text in [
        "a,2\n1,2\n",
        "x,y\n1,2\n",
        ",1\n2,3\n",
        "\"1\",2\n1,2\n",
        "a,b\n",
    ] {
        convert(text, &[]).0.ok("");
    }
    let (run, rows, _) = convert("1,Rome\n2,Oslo\n", &["--no-header"]);
    run.ok("");
    assert_eq!(rows.lines().count(), 2);
}

/// The last row counts whether or not a line end follows it.
#[test]
fn the_last_line_needs_no_end() {
    for end in ["", "\n", "\r\n", "\r"] {
        for (text, types, rows) in [
            ("a\n1\n2.5", "a: Float64\n", "{\"a\":1.0}\n{\"a\":2.5}\n"),
            (
                "a,b\n1,\"1\"",
                "a: Int64\nb: Utf8\n",
                "{\"a\":1,\"b\":\"1\"}\n",
            ),
            ("a,b\n1,", "a: Int64\nb: Utf8\n", "{\"a\":1,\"b\":null}\n"),
            ("a\nx", "a: Utf8\n", "{\"a\":\"x\"}\n"),
        ] {
            let (run, found, found_types) = convert(format!("{text}{end}"), &[]);
            run.ok("");
            assert_eq!(
                (found_types.as_str(), found.as_str()),
                (types, rows),
                "{text}{end:?}"
            );
        }
    }
    let (run, _, _) = convert("a\n1\n\"2", &[]);
    run.fails(3, "line 3: quotes are not closed");
    let (run, _, types) = convert("a,b", &[]);
    run.ok("");
    assert_eq!(types, "a: Utf8\nb: Utf8\n");
}

#[test]
fn a_table_without_columns_has_rows() {
    let folder = Folder::new();
    let types = folder.with("types.txt", "# no columns\n");
    for (options, text) in [(&[][..], "\n\n\n\n"), (&["--no-header"][..], "\n\n\n")] {
        let options = [&["--schema", &types], options].concat();
        let (run, rows, _) = convert(text, &options);
        run.ok("");
        assert_eq!(rows, "{}\n{}\n{}\n");
    }
    let (csv, out) = (folder.with("x.csv", "\n\n\n\n"), folder.file("x.parquet"));
    herringbone(&["convert", "--schema", &types, &csv, &out]).ok("");
    herringbone(&["cat", "--format", "csv", &out]).ok("\n\n\n\n");
    herringbone(&["convert", &csv, &folder.file("y.parquet")]).fails(
        3,
        "there is no row to infer a schema from; supply one with --schema FILE",
    );
}

/// Commands such as `awk -F, '$2=="Rome"'` rely on this.
#[test]
fn lines_end_with_lf() {
    let folder = Folder::new();
    let (csv, out) = (
        folder.with("x.csv", "n,city\n1,Rome\n"),
        folder.file("x.parquet"),
    );
    herringbone(&["convert", &csv, &out]).ok("");
    herringbone(&["cat", "--format", "csv", &out]).ok("n,city\n1,Rome\n");
    herringbone(&["cat", "--format", "csv", "--crlf", &out]).ok("n,city\r\n1,Rome\r\n");
    herringbone(&["head", "--format", "csv", "--crlf", &out]).ok("n,city\r\n1,Rome\r\n");
    herringbone(&["convert", &out, "-", "--to", "csv", "--crlf"]).ok("n,city\r\n1,Rome\r\n");
    herringbone(&["convert", &out, "-", "--to", "csv"]).ok("n,city\n1,Rome\n");
    herringbone(&["cat", "--crlf", &out]).fails(2, "--crlf needs --format csv or tsv");
    let run = herringbone(&["convert", "--crlf", &csv, &folder.file("y.parquet")]);
    run.fails(2, "--crlf is for CSV, but OUT is not CSV");
}

#[test]
fn a_line_of_delimiters_is_not_a_schema() {
    let (run, _, _) = convert(vec![b','; 1 << 20], &[]);
    run.fails(
        3,
        "line 1: more than 262144 fields, the limit `schema_nodes`; raise it with --max schema_nodes=N",
    );
    let (run, _, _) = convert("a,b\n1,2\n", &["--max", "schema_nodes=1"]);
    run.fails(3, "line 1: more than 1 fields");
    let row = [b"a,b\n".as_slice(), &vec![b','; 1 << 20]].concat();
    let (run, _, _) = convert(row, &[]);
    run.fails(3, "line 2: more than 262144 fields");
}

#[test]
fn types_of_a_fixed_size_are_bounded() {
    for data_type in [
        "FixedSizeBinary(2147483647)",
        "FixedSizeList(2147483647 x Int64)",
        "FixedSizeList(2147483647 x FixedSizeBinary(2147483647))",
    ] {
        let (run, _, _) = convert("c,d\n,1\n", &["--type", &format!("c={data_type}")]);
        run.fails(3, "more than the limit `batch_column_bytes` of 1073741824");
        let json = stdin(
            &[
                "convert",
                "--from",
                "jsonl",
                "--to",
                "jsonl",
                "-",
                "-",
                "--type",
                &format!("c={data_type}"),
            ],
            b"{\"c\":null}\n",
        );
        json.fails(3, "raise it with --max batch_column_bytes=N");
    }
    // These are 64 MiB of nulls, which are read 16 MiB at a time.
    let text = format!("c,d\n{}", ",1\n".repeat(64));
    let (run, rows, _) = convert(text, &["--type", "c=FixedSizeBinary(1048576)"]);
    run.ok("");
    assert_eq!(rows, "{\"c\":null,\"d\":1}\n".repeat(64));
}

#[test]
fn files_of_other_formats_are_named() {
    let folder = Folder::new();
    let out = folder.file("out.parquet");
    let gzip = b"\x1f\x8b\x08\0\0\0\0\0\0\x03";
    let zip = b"PK\x03\x04\x14\0\0\0";
    for (name, bytes, message) in [
        (
            "x.gz",
            &gzip[..],
            "expected Parquet, but this is gzip: `herringbone convert --from FORMAT ",
        ),
        (
            "x.zip",
            zip,
            "but this is a ZIP archive, as .xlsx files are: save a workbook as CSV",
        ),
        ("x.arrow", gzip, "expected Arrow IPC, but this is gzip"),
        ("x.parquet", gzip, "expected Parquet, but this is gzip"),
        (
            "x.feather",
            b"FEA1\0\0\0\0",
            "but this is Feather version 1, which is not Arrow IPC",
        ),
        (
            "x.csv",
            b"\xff\xfea\0,\0b\0",
            "but this is text in UTF-16: `herringbone convert --csv-encoding utf-16le ",
        ),
        (
            "x.csv",
            b"PAR1",
            "expected text in UTF-8, but this is Parquet",
        ),
        (
            "x.csv",
            b"a\nM\xfcller\n",
            "line 2: text that is not UTF-8; --csv-encoding latin1 reads",
        ),
        (
            "x.jsonl",
            b"{\"a\":\"M\xfcller\"}\n",
            "line 1: text that is not UTF-8; `iconv",
        ),
    ] {
        let file = folder.with(name, bytes);
        herringbone(&["convert", &file, &out]).fails(3, message);
    }
    let text = folder.with("t.csv", "a,b\n1,2\n");
    let json = folder.with("t.json", "{\"a\":1}\n");
    let packed = folder.with("t.gz", gzip);
    for command in ["cat", "schema", "count", "head", "stats"] {
        herringbone(&[command, &packed]).fails(3, "expected Parquet, but this is gzip");
    }
    // These commands are about how Parquet stores rows, so they do not take text.
    for command in ["info", "meta", "pages", "verify"] {
        let advice =
            format!("but this is text: `herringbone convert --from csv {text} OUT.parquet`");
        herringbone(&[command, &text]).fails(3, &advice);
        herringbone(&[command, &json]).fails(3, "expected Parquet, but this is JSON: `herringbone");
        herringbone(&[command, &packed]).fails(3, "expected Parquet, but this is gzip");
    }
    herringbone(&["repair", &text, &out]).fails(3, "expected Parquet, but this is text");
    // A damaged Parquet file is still reported as Parquet.
    let cut = std::fs::read(path("testdata/example.parquet")).unwrap();
    let cut = folder.with("cut.parquet", &cut[..1000]);
    herringbone(&["cat", &cut]).fails(3, "not a Parquet file: it ends in");
    assert!(!folder.names().contains(&"out.parquet".to_owned()));
}
