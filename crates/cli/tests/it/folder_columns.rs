//! Tests directories whose files differ in their columns.

use std::fs;

use serde_json::Value;

use crate::common::{Folder, herringbone};
use crate::folders::copy;

#[test]
fn columns_are_those_of_the_first_file() {
    let folder = Folder::new();
    let union = copy(&folder, "union");
    herringbone(&["cat", &union]).fails(3, "p=2/b.parquet");
    herringbone(&["cat", &union]).fails(3, "; --by-name reads the columns of all files");
    fs::remove_dir_all(format!("{union}/p=2")).unwrap();
    let first = herringbone(&["cat", &union]);
    first.fails(
        0,
        "p=3/c.parquet: the column `f` is left out, because the first file does not have it; the column `x` \
         is null, because this file does not have it; --by-name reads the columns of all files",
    );
    assert!(
        first
            .stdout
            .contains("{\"id\":4,\"x\":null,\"t\":null,\"p\":3}"),
        "{}",
        first.stdout
    );
    assert_eq!(first.stderr.lines().count(), 1);
    let some = herringbone(&["cat", "-c", "id", &union]);
    assert_eq!(some.stderr, "");
}

#[test]
fn fields_that_the_first_file_lacks_are_noted() {
    let folder = Folder::new();
    let write = |name: &str, row: &str| {
        let rows = folder.with(&format!("{name}.jsonl"), row);
        let file = folder.file(&format!("t/{name}.parquet"));
        herringbone(&["convert", "-q", &rows, &file]).ok("");
    };
    fs::create_dir(folder.file("t")).unwrap();
    write("a", r#"{"id":1,"s":{"x":1},"l":[{"x":1}]}"#);
    write("b", r#"{"id":2,"s":{"x":2,"y":5},"l":[{"x":1}]}"#);
    let table = folder.file("t");
    let all = herringbone(&["cat", &table]);
    let note = "b.parquet: the column `s.y` is left out, because the first file does not have it";
    all.fails(0, note);
    assert_eq!(all.stdout.lines().count(), 2);
    for columns in ["id", "!s"] {
        assert_eq!(
            herringbone(&["cat", "-c", columns, &table]).stderr,
            "",
            "{columns}"
        );
    }
    fs::remove_file(folder.file("t/b.parquet")).unwrap();
    write("c", r#"{"id":3,"s":{"x":2},"l":[{"x":1,"z":7}]}"#);
    herringbone(&["cat", &table]).fails(0, "c.parquet: the column `l.z` is left out");
}

/// Commands that write refuse a directory as they would refuse its files if the user named them.
#[test]
fn no_written_file_lacks_columns_of_a_directory() {
    let folder = Folder::new();
    let write = |name: &str, row: &str| {
        let rows = folder.with("rows.jsonl", row);
        let file = folder.file(&format!("{name}.parquet"));
        fs::create_dir_all(std::path::Path::new(&file).parent().unwrap()).unwrap();
        herringbone(&["convert", "-q", "-f", &rows, &file]).ok("");
    };
    write("later/1", r#"{"id":1}"#);
    write("later/2", r#"{"id":2,"new":"x","s":{"a":1}}"#);
    write("renamed/1", r#"{"id":1,"amt":1.5}"#);
    write("renamed/2", r#"{"id":2,"amount":2.5}"#);
    write("nested/1", r#"{"id":1,"s":{"a":1}}"#);
    write("nested/2", r#"{"id":2,"s":{"a":2,"b":3}}"#);
    let out = |extension: &str| folder.file(&format!("out.{extension}"));
    let (parquet, csv, parts) = (out("parquet"), out("csv"), folder.file("part-{}.parquet"));
    for (table, lost, rows) in [
        (
            "later",
            "the columns `new`, `s` would be left out",
            "{\"id\":1,\"new\":null,\"s\":null}\n{\"id\":2,\"new\":\"x\",\"s\":{\"a\":1}}\n",
        ),
        (
            "renamed",
            "the column `amount` would be left out, because the first file does not have it; the column \
             `amt` would be null",
            "{\"id\":1,\"amt\":1.5,\"amount\":null}\n{\"id\":2,\"amt\":null,\"amount\":2.5}\n",
        ),
        (
            "nested",
            "the column `s.b` would be left out",
            "{\"id\":1,\"s\":{\"a\":1,\"b\":null}}\n{\"id\":2,\"s\":{\"a\":2,\"b\":3}}\n",
        ),
    ] {
        let table = folder.file(table);
        for line in [
            &["concat", &table, "-o", &parquet][..],
            &["rewrite", &table, &parquet],
            &["convert", &table, &parquet],
            &["convert", &table, &csv],
            &["split", &table, "--part-rows", "5", "-o", &parts],
        ] {
            let run = herringbone(line);
            run.fails(3, lost);
            run.fails(3, "--by-name reads the columns of all files, and --cast");
            let outputs = folder.names().into_iter();
            let mut outputs =
                outputs.filter(|output| output.starts_with("out") || output.starts_with("part"));
            assert_eq!(outputs.next(), None, "{line:?}");
            if line.contains(&csv.as_str()) {
                continue;
            }
            herringbone(&[line, &["-q", "--by-name"]].concat()).ok("");
            let written = match line[0] {
                "split" => folder.file("part-00000.parquet"),
                _ => parquet.clone(),
            };
            herringbone(&["cat", &written]).ok(rows);
            fs::remove_file(&written).unwrap();
            // Columns that all files have are written.
            herringbone(&[line, &["-q", "-c", "id"]].concat()).ok("");
            fs::remove_file(&written).unwrap();
        }
        // Commands that print write a note, which -q does not hide.
        let printed = herringbone(&["cat", "-q", &table]);
        printed.fails(
            0,
            &lost.replace("would be", "is").replace("s` is", "s` are"),
        );
    }
}

/// pyarrow, DuckDB and polars read such files. cuDF writes them, because it declares a column as
/// `not null` if the file has no null.
#[test]
fn a_later_file_may_have_nulls() {
    let folder = Folder::new();
    let table = folder.file("t");
    fs::create_dir(&table).unwrap();
    let schema = |required: &str| {
        let text = format!(
            "a: Int64{required}\ns: Struct{required}\n  x: Int64{required}\nl: List\n  item: Int64{required}\n"
        );
        folder.with("schema.txt", text)
    };
    let write = |name: &str, required: &str, row: &str| {
        let rows = folder.with("rows.jsonl", row);
        let (schema, file) = (schema(required), folder.file(&format!("t/{name}.parquet")));
        let run = herringbone(&["convert", "-q", "--schema", &schema, &rows, &file]);
        assert_eq!(run.code, 0, "{}", run.stderr);
    };
    let rows = [
        r#"{"a":1,"s":{"x":1},"l":[1]}"#,
        r#"{"a":null,"s":{"x":null},"l":[null]}"#,
    ];
    write("1", " not null", rows[0]);
    write("2", "", rows[1]);
    let both = format!("{}\n{}\n", rows[0], rows[1]);
    herringbone(&["cat", "-q", &table]).ok(&both);
    let out = folder.file("out.parquet");
    for line in [
        &["rewrite", &table, &out][..],
        &["concat", &table, "-o", &out],
    ] {
        herringbone(&[line, &["-q", "-f"]].concat()).ok("");
        herringbone(&["cat", &out]).ok(&both);
    }
    // Columns stay `not null` if all files declare them so.
    fs::remove_file(folder.file("t/2.parquet")).unwrap();
    write("3", " not null", rows[0]);
    herringbone(&["rewrite", "-q", "-f", &table, &out]).ok("");
    let schema = herringbone(&["schema", "--format", "arrow", &out]).stdout;
    assert!(schema.starts_with("a: Int64 not null\n"), "{schema}");
}

#[test]
fn advice_about_types_is_true() {
    let folder = Folder::new();
    let table = folder.file("t");
    fs::create_dir(&table).unwrap();
    let write = |name: &str, row: &str| {
        let rows = folder.with("rows.jsonl", row);
        let file = folder.file(&format!("t/{name}.parquet"));
        herringbone(&["convert", "-q", "-f", &rows, &file]).ok("");
    };
    write("1", r#"{"a":1,"b":true}"#);
    write("2", r#"{"a":1.5,"b":false}"#);
    let run = herringbone(&["cat", &table]);
    run.fails(
        3,
        "no type has the values of both: leave the column out with -c '!COLUMN'",
    );
    assert!(!run.stderr.contains("--cast"), "{}", run.stderr);
    let rows = "{\"b\":true}\n{\"b\":false}\n";
    herringbone(&["cat", "-c", "!a", &table]).ok(rows);
}

/// The counts are computed by hand.
#[test]
fn all_commands_that_read_rows_find_columns_by_name() {
    let folder = Folder::new();
    fs::create_dir(folder.file("t")).unwrap();
    for (name, row) in [("1", r#"{"id":1}"#), ("2", r#"{"id":2.5,"new":"x"}"#)] {
        let rows = folder.with("rows.jsonl", row);
        let file = folder.file(&format!("t/{name}.parquet"));
        let types: &[&str] = if name == "1" {
            &["--type", "id=Int32"]
        } else {
            &[]
        };
        herringbone(&[&["convert", "-q", &rows, &file], types].concat()).ok("");
    }
    let table = folder.file("t");
    let both = ["--by-name", "--cast"];
    let count = ["count", "-w", "new = 'x'", &table];
    herringbone(&count).fails(2, "--by-name");
    herringbone(&[&count[..], &both].concat()).ok("1\n");
    herringbone(&["freq", "new", &table]).fails(2, "--by-name");
    let run = herringbone(&[&["freq", "--json", "new", &table][..], &both].concat());
    assert_eq!(run.stdout.lines().count(), 2, "{}", run.stderr);
    herringbone(&["stats", "-c", "new", &table]).fails(2, "--by-name");
    let run = herringbone(&[&["stats", "--json", &table][..], &both].concat());
    let max: Vec<Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["max"].clone())
        .collect();
    assert_eq!(max, [Value::from(2.5), "x".into()], "{}", run.stderr);
    let out = folder.file("out.jsonl");
    herringbone(&[&["convert", &table, &out][..], &both].concat()).ok("");
    let rows = fs::read_to_string(&out).unwrap();
    assert_eq!(
        rows,
        "{\"id\":1.0,\"new\":null}\n{\"id\":2.5,\"new\":\"x\"}\n"
    );
    let out = folder.file("out.parquet");
    herringbone(&[&["rewrite", "-q", &table, &out][..], &both].concat()).ok("");
    herringbone(&["cat", &out]).ok(&rows);
}
