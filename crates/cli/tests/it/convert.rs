//! Tests that `convert` writes the same rows in another format.

use crate::common::{EXAMPLE, Folder, herringbone, into, path, stdin};

/// Returns a file's rows as JSON lines.
fn rows(file: &str) -> String {
    let run = herringbone(&["cat", file]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    run.stdout
}

/// Returns the Arrow fields of a Parquet file.
fn schema(file: &str) -> String {
    herringbone(&["schema", "--format", "arrow", file]).stdout
}

#[test]
fn csv_becomes_parquet_and_comes_back() {
    let folder = Folder::new();
    let text = "id,name,ok,x,day,at,instant,none\n\
                1,\"a,\"\"b\"\"\",true,1.5,2024-02-29,2024-01-02T03:04:05,2024-01-02T03:04:05.250Z,\n\
                -2,\"two\nlines\",false,2.0,1969-12-31,2024-01-02T03:04:06,1969-01-02T03:04:05.000Z,\n\
                ,,,,,,,\n";
    let (csv, parquet, back) = (
        folder.with("x.csv", text),
        folder.file("x.parquet"),
        folder.file("back.csv"),
    );
    herringbone(&["convert", &csv, &parquet]).ok("");
    assert_eq!(
        schema(&parquet),
        "id: Int64\nname: Utf8\nok: Boolean\nx: Float64\nday: Date32\nat: Timestamp(s)\n\
         instant: Timestamp(ms, \"UTC\")\nnone: Utf8\n"
    );
    assert_eq!(
        rows(&parquet).lines().next().unwrap(),
        r#"{"id":1,"name":"a,\"b\"","ok":true,"x":1.5,"day":"2024-02-29","at":"2024-01-02T03:04:05","instant":"2024-01-02T03:04:05.250Z","none":null}"#
    );
    herringbone(&["convert", &parquet, &back]).ok("");
    assert_eq!(std::fs::read_to_string(back).unwrap(), text);
}

#[test]
fn json_lines_become_parquet_and_come_back() {
    let folder = Folder::new();
    let text = "{\"b\":1,\"a\":\"x\",\"s\":{\"y\":null,\"x\":[1.5]},\"l\":[[1],[]]}\n\
                {\"b\":null,\"a\":null,\"s\":null,\"l\":null}\n";
    let (json, parquet, back) = (
        folder.with("x.ndjson", text),
        folder.file("x.parquet"),
        folder.file("back.jsonl"),
    );
    herringbone(&["convert", &json, &parquet]).ok("");
    assert_eq!(rows(&parquet), text);
    herringbone(&["convert", &parquet, &back]).ok("");
    assert_eq!(std::fs::read_to_string(back).unwrap(), text);
}

#[test]
fn every_format_holds_the_example() {
    let folder = Folder::new();
    let expected = rows(EXAMPLE);
    let types = folder.with("types.txt", schema(EXAMPLE));
    for name in ["x.arrow", "x.arrows"] {
        let (file, back) = (folder.file(name), folder.file("back.parquet"));
        herringbone(&["convert", EXAMPLE, &file]).ok("");
        herringbone(&["convert", "-f", &file, &back]).ok("");
        assert_eq!(
            (rows(&back), schema(&back)),
            (expected.clone(), schema(EXAMPLE))
        );
    }
    for name in ["x.csv", "x.jsonl"] {
        let (file, back) = (folder.file(name), folder.file("back.parquet"));
        herringbone(&["convert", EXAMPLE, &file]).ok("");
        for schema in [
            EXAMPLE,
            &types,
            &folder.file("x.arrow"),
            &folder.file("x.arrows"),
        ] {
            herringbone(&["convert", "-f", "--schema", schema, &file, &back]).ok("");
            assert_eq!(rows(&back), expected, "{name} {schema}");
        }
    }
}

#[test]
fn uncommon_types_come_back_with_a_schema() {
    let folder = Folder::new();
    for file in [
        "testdata/duckdb/uuid_interval_enum.parquet",
        "testdata/built/map.parquet",
        "testdata/pyarrow/hinted.parquet",
        "testdata/pyarrow/int96.parquet",
    ] {
        let (json, back) = (folder.file("x.jsonl"), folder.file("x.parquet"));
        herringbone(&["convert", "-f", file, &json]).ok("");
        herringbone(&["convert", "-f", "--schema", file, &json, &back]).ok("");
        assert_eq!(rows(&back), rows(file), "{file}");
        assert_eq!(schema(&back), schema(file), "{file}");
    }
}

/// The name of the extension type is enough to get the annotation, which survives a copy.
#[test]
fn a_schema_names_files() {
    let folder = Folder::new();
    let rows_of_files = "{\"f\":{\"uri\":\"s3://a\",\"inline\":null}}\n{\"f\":null}\n";
    let json = folder.with("x.jsonl", rows_of_files);
    let types_of_files = "f: Struct (arrow.parquet.file)\n  uri: Utf8\n  inline: Binary\n";
    let types = folder.with("types.txt", types_of_files);
    let (out, copy) = (folder.file("x.parquet"), folder.file("copy.parquet"));
    herringbone(&["convert", "--schema", &types, &json, &out]).ok("");
    herringbone(&["rewrite", &out, &copy]).ok("");
    for file in [&out, &copy] {
        assert_eq!(rows(file), rows_of_files);
        assert_eq!(schema(file), types_of_files);
        let run = herringbone(&["schema", file]);
        let message = &run.stdout;
        assert!(message.contains("optional group f (FILE) {"), "{message}");
    }
}

#[test]
fn errors_have_lines_and_leave_no_file() {
    let folder = Folder::new();
    let out = folder.file("out.parquet");
    for (name, text, message) in [
        (
            "a.csv",
            "a,b\n1,x\n\n2,\"y\ny\"\nz,3\n",
            "line 6: column `a`: \"z\" is not a valid Int64; the types were inferred",
        ),
        (
            "b.csv",
            "a,b\n1,x\n2\n",
            "line 3: expected 2 fields, found 1",
        ),
        (
            "c.jsonl",
            "{\"a\":1}\n{\"a\":2}\n\n{\"a\":\"x\"}\n",
            "line 4: column `a`: \"x\" is not a valid Int64: a string; the types were inferred",
        ),
        (
            "d.jsonl",
            "{\"a\":1}\n{\"b\":2}\n",
            "line 2: column `b`: it is not in the schema; the types were inferred",
        ),
        ("e.jsonl", "{\"a\":1}\n{\"a\":]}\n", "line 2: "),
        (
            "f.jsonl",
            "[[\"a\"]]\n",
            "line 1: expected a row (an object {…}) or `]`, found `[`",
        ),
        ("g.jsonl", "", "there is no row to infer a schema from"),
        ("h.csv", "", "there is no row to infer a schema from"),
    ] {
        let file = folder.with(name, text);
        let run = herringbone(&["convert", "--infer-rows", "1", &file, &out]);
        run.fails(3, &format!("{file}: {message}"));
        std::fs::remove_file(file).unwrap();
    }
    let arrow = folder.file("x.arrow");
    herringbone(&["convert", EXAMPLE, &arrow]).ok("");
    let mut bytes = std::fs::read(&arrow).unwrap();
    bytes.truncate(bytes.len() / 2);
    std::fs::write(&arrow, &bytes).unwrap();
    herringbone(&["convert", &arrow, &out])
        .fails(3, "damaged Arrow data: the file does not end in \"ARROW1\"");
    let mut bytes = std::fs::read(path(EXAMPLE)).unwrap();
    for byte in &mut bytes[100..400] {
        *byte ^= 0x55;
    }
    std::fs::remove_file(arrow).unwrap();
    for name in ["out.csv", "out.jsonl", "out.arrow", "out.arrows"] {
        let run = stdin(
            &["convert", "--from", "parquet", "-", &folder.file(name)],
            &bytes,
        );
        run.fails(3, "corrupt file");
    }
    assert!(folder.names().is_empty());
}

#[test]
fn wrong_schemas_are_refused() {
    let folder = Folder::new();
    let csv = folder.with("x.csv", "a,b\n1,2\n");
    let out = folder.file("out.parquet");
    let with = |text: &str| {
        let types = folder.with("types.txt", text);
        herringbone(&["convert", "--schema", &types, &csv, &out])
    };
    with("a: Int64\n").fails(3, "x.csv: the column `b` is not in the schema");
    with("a: Int64\nb: Int64\nc: Int64\n").fails(3, "the column `c` of the schema is missing");
    with("a: Int64\nb: Boolean\n").fails(3, "line 2: column `b`: \"2\" is not a valid Boolean");
    with("a: Int65\n").fails(3, "types.txt: line 1: `a`: unknown type `Int65`");
    with("b: Int8 not null\na: Utf8\n").ok("");
    assert_eq!(rows(&out), "{\"b\":2,\"a\":\"1\"}\n");
    herringbone(&["convert", "--schema", "nope", &csv, &out, "-f"]).fails(4, "nope: ");
    herringbone(&["convert", &csv, &out]).fails(2, "the file already exists; --force replaces it");
}

#[test]
fn csv_has_dialects() {
    let folder = Folder::new();
    let out = folder.file("out.parquet");
    let csv = folder.with("x.txt", "\u{feff}1;2\n3;4\n");
    herringbone(&[
        "convert",
        "--from",
        "csv",
        "--no-header",
        "--delimiter",
        ";",
        &csv,
        &out,
    ])
    .ok("");
    assert_eq!(
        rows(&out),
        "{\"column_1\":1,\"column_2\":2}\n{\"column_1\":3,\"column_2\":4}\n"
    );
    let csv = folder.with("x.csv", "\u{feff}a\tb\n1\t2");
    herringbone(&["convert", "-f", "--delimiter", "tab", &csv, &out]).ok("");
    assert_eq!(rows(&out), "{\"a\":1,\"b\":2}\n");
}

#[test]
fn nulls_and_empty_strings_stay_apart_in_csv() {
    let folder = Folder::new();
    let (csv, out) = (folder.file("x.csv"), folder.file("x.parquet"));
    for (options, text, expected) in [
        // There are two columns. Numbers do not have an empty value, and programs might quote
        // everything.
        (
            &["--type", "n=Int64"][..],
            "t,n\r\n,1\r\n\"\",\"\"\r\n\n\"x\",\"2\"\r\n",
            r#"{"t":null,"n":1} {"t":"","n":null} {"t":"x","n":2}"#,
        ),
        // There is one column, so blank lines are rows, except before the header.
        (
            &[],
            "\n\nt\r\n\r\n\"\"\r\nx\r\n\r\n",
            r#"{"t":null} {"t":""} {"t":"x"} {"t":null}"#,
        ),
        (
            &[],
            "n\n1\n\n\n3\n",
            r#"{"n":1} {"n":null} {"n":null} {"n":3}"#,
        ),
        (
            &["--no-header"],
            "\n1\n\n",
            r#"{"column_1":null} {"column_1":1} {"column_1":null}"#,
        ),
        // The user has chosen another text for null.
        (
            &["--null", "NA"],
            "t,n\nNA,NA\n\"NA\",\n,1\n",
            r#"{"t":null,"n":null} {"t":"NA","n":null} {"t":"","n":1}"#,
        ),
        (
            &["--null", r"\N"],
            "day,at\n\\N,2024-01-02T03:04:05Z\n2024-01-02,\\N\n",
            r#"{"day":null,"at":"2024-01-02T03:04:05Z"} {"day":"2024-01-02","at":null}"#,
        ),
    ] {
        std::fs::write(&csv, text).unwrap();
        let words = ["convert", "-f", &csv, &out];
        herringbone(&[&words, options].concat()).ok("");
        assert_eq!(rows(&out), expected.replace(' ', "\n") + "\n", "{text:?}");
    }
    herringbone(&["convert", EXAMPLE, "x.jsonl", "--null", "NA"]).fails(2, "neither IN nor OUT");
    herringbone(&["convert", &csv, &out, "--null", "a;b", "--delimiter", ";"])
        .fails(2, "contain the delimiter");
    herringbone(&["cat", EXAMPLE, "--null", "NA"]).fails(2, "needs --format csv or tsv");
}

#[test]
fn nulls_and_empty_strings_survive_a_round_trip_through_csv() {
    let folder = Folder::new();
    let (csv, back) = (folder.file("x.csv"), folder.file("back.parquet"));
    let pairs = "{\"t\":null,\"b\":\"\",\"n\":0}\n{\"t\":\"\",\"b\":null,\"n\":null}\n\
                 {\"t\":\"NA\",\"b\":\"Zg==\",\"n\":1}\n";
    let alone = "{\"t\":null}\n{\"t\":\"\"}\n{\"t\":\"0\"}\n{\"t\":\"NA\"}\n{\"t\":null}\n";
    for (text, types) in [
        (pairs, "t: Utf8\nb: Binary\nn: Int64\n"),
        (alone, "t: Utf8\n"),
        (alone, "t: LargeUtf8\n"),
        (alone, "t: Utf8View\n"),
        (&alone.replace(",\"NA\"", ""), "t: Utf8\n"),
    ] {
        let types = folder.with("types.txt", types);
        let json = folder.with("x.jsonl", text);
        for null in ["", "NA", "0", "NULL"] {
            herringbone(&[
                "convert", "-f", "--schema", &types, &json, &csv, "--null", null,
            ])
            .ok("");
            herringbone(&[
                "convert", "-f", "--schema", &types, &csv, &back, "--null", null,
            ])
            .ok("");
            assert_eq!(rows(&back), text, "{null}");
            let cat = herringbone(&["cat", "--format", "csv", "--null", null, &back]);
            cat.ok(&std::fs::read_to_string(&csv).unwrap());
        }
    }
}

#[test]
fn lines_of_errors_count_blank_ones_and_headers() {
    let folder = Folder::new();
    let out = folder.file("x.parquet");
    for (text, types, message) in [
        (
            "\nn\n\n1\n\nx\n",
            "n: Int64\n",
            "line 6: column `n`: \"x\" is not a valid Int64",
        ),
        (
            "n\n1\n\n2\n",
            "n: Int64 not null\n",
            "line 3: column `n`: found a null, but the column is `not null`",
        ),
        (
            "n,m\n1,1\n\n2,2,2\n",
            "n: Int8\nm: Int8\n",
            "line 4: expected 2 fields, found 3",
        ),
        (
            "n\n1\n\"2\n3\n4\n",
            "n: Int64\n",
            "line 3: quotes are not closed",
        ),
    ] {
        let types = folder.with("types.txt", types);
        let csv = folder.with("x.csv", text);
        herringbone(&["convert", "--schema", &types, &csv, &out]).fails(3, message);
    }
    let csv = folder.with("x.csv", b"n\n1\n\xff\n");
    herringbone(&[
        "convert",
        "--schema",
        &folder.with("t", "n: Utf8\n"),
        &csv,
        &out,
    ])
    .fails(3, "line 3: text that is not UTF-8");
}

#[test]
fn standard_input_and_output_are_files() {
    let run = herringbone(&["convert", EXAMPLE, "-", "--to", "jsonl"]);
    run.ok(&rows(EXAMPLE));
    let arrow = herringbone(&["convert", EXAMPLE, "-", "--to", "arrow"]);
    let parquet = stdin(
        &["convert", "--from", "arrow", "-", "-", "--to", "parquet"],
        &arrow.bytes,
    );
    stdin(&["cat", "-"], &parquet.bytes).ok(&run.stdout);
    let csv = stdin(&["convert", "--from=csv", "-", "-", "--to=csv"], b"a\n1\n");
    csv.ok("a\n1\n");
    herringbone(&["convert", "-", "x.parquet"]).fails(3, "its size is 0 bytes");
    herringbone(&["convert", EXAMPLE, "-"]).fails(2, "use --to FORMAT");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let run = into(&["convert", EXAMPLE, "-", "--to", "csv"], writer);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn options_go_with_formats() {
    herringbone(&["convert", EXAMPLE, "x.csv", "--compression", "none"])
        .fails(2, "need a Parquet file as OUT");
    herringbone(&["convert", EXAMPLE, "x.csv", "--schema", EXAMPLE])
        .fails(2, "--schema is for CSV and JSON");
    herringbone(&["convert", EXAMPLE, "x.csv", "--decimal-comma"])
        .fails(2, "--decimal-comma is for CSV, ");
    let folder = Folder::new();
    let (csv, out) = (
        folder.with("x.csv", "a\n1\n2\n3\n"),
        folder.file("x.parquet"),
    );
    herringbone(&[
        "convert",
        &csv,
        &out,
        "--compression",
        "snappy",
        "--row-group-rows",
        "2",
    ])
    .ok("");
    let meta = crate::common::json(&herringbone(&["meta", &out]));
    assert_eq!(meta["row_groups"][1]["num_rows"], 1);
    assert_eq!(
        meta["row_groups"][0]["columns"][0]["meta_data"]["codec"],
        "SNAPPY"
    );
}

#[test]
fn damaged_arrow_data_are_no_panic() {
    let folder = Folder::new();
    let out = folder.file("out.parquet");
    let good = herringbone(&["convert", EXAMPLE, "-", "--to", "arrow-stream"]).bytes;
    for at in (0..good.len()).step_by(61) {
        let mut bytes = good.clone();
        bytes[at] ^= 0x7f;
        stdin(&["convert", "-f", "--from", "arrow", "-", &out], &bytes).code(&[0, 3]);
    }
}
