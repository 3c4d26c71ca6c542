//! Tests names that could control a terminal. Text output shows escapes, but data output preserves
//! the bytes.

use std::sync::Arc;

use herringbone::{WriteOptions, Writer};
use herringbone_arrow::array::{ArrayRef, Int32Array, RecordBatch};
use herringbone_arrow::schema::{DataType, Field, Schema};

use crate::common::{Folder, herringbone, json};

/// A sequence that controls a terminal, and a mark that reverses the direction of text.
const NAME: &str = "a\u{9b}2J\u{202e}b\u{2029}";
const SHOWN: &str = "a\\u{9b}2J\\u{202e}b\\u{2029}";

fn file(folder: &Folder) -> String {
    let csv = folder.with("in.csv", format!("{NAME},long\n{NAME},{NAME}\n"));
    let file = folder.file("out.parquet");
    herringbone(&["--quiet", "convert", &csv, &file]).ok("");
    file
}

fn is_harmless(text: &str) {
    let active = |character: char| {
        (character.is_control() && character != '\n')
            || ('\u{2028}'..'\u{202f}').contains(&character)
    };
    assert!(!text.contains(active), "{text:?}");
}

#[test]
fn text_has_escapes() {
    let folder = Folder::new();
    let file = file(&folder);
    for command in [
        &["info"][..],
        &["schema"],
        &["head", "--format", "table"],
        &["pages", "--format", "table"],
    ] {
        let run = herringbone(&[command, &[&file]].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stdout.contains(SHOWN), "{command:?}: {}", run.stdout);
        is_harmless(&run.stdout);
    }
    // The printed schema can be read again.
    let run = herringbone(&["schema", "--format", "arrow", &file]);
    let name = r#""a\u009b2J\u202eb\u2029": "#;
    assert!(run.stdout.contains(name), "{}", run.stdout);
    is_harmless(&run.stdout);
    let run = herringbone(&["cat", &file, "testdata/example.parquet"]);
    run.fails(3, SHOWN);
    is_harmless(&run.stderr);
}

#[test]
fn descriptions_in_json_have_escapes_of_json() {
    let folder = Folder::new();
    let file = file(&folder);
    let meta = herringbone(&["meta", &file]);
    is_harmless(&meta.stdout);
    let path = &json(&meta)["row_groups"][0]["columns"][0]["meta_data"]["path_in_schema"][0];
    assert_eq!(path, NAME);
    let schema = herringbone(&["schema", "--format", "json", &file]);
    is_harmless(&schema.stdout);
    assert_eq!(json(&schema)["fields"][0]["name"], NAME);
    let pages = herringbone(&["pages", "--columns", "long", &file]);
    is_harmless(&pages.stdout);
}

#[test]
fn rows_keep_their_bytes() {
    let folder = Folder::new();
    let file = file(&folder);
    herringbone(&["cat", "--format", "csv", &file]).ok(&format!("{NAME},long\n{NAME},{NAME}\n"));
    herringbone(&["cat", "--columns", "long", &file]).ok(&format!("{{\"long\":\"{NAME}\"}}\n"));
}

#[test]
fn long_names_are_whole_in_schemas() {
    let folder = Folder::new();
    let name = "n".repeat(200);
    let csv = folder.with("in.csv", format!("{name},b\n1,2\n"));
    let file = folder.file("out.parquet");
    herringbone(&["--quiet", "convert", &csv, &file]).ok("");
    herringbone(&["schema", "--format", "arrow", &file]).ok(&format!("{name}: Int64\nb: Int64\n"));
}

/// Returns a file with numbers in columns of these names.
fn of_columns(folder: &Folder, names: &[&str]) -> String {
    let fields: Vec<Field> = names
        .iter()
        .map(|name| Field::new(*name, DataType::Int32, true))
        .collect();
    let column = |at: usize| Arc::new(Int32Array::from_iter_values([at as i32])) as ArrayRef;
    let columns = (0..names.len()).map(column).collect();
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
    let path = folder.file("names.parquet");
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = Writer::new(file, batch.schema(), WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    path
}

/// Python's `json` and JavaScript only keep the last value of a key, so a key must not occur twice.
#[test]
fn a_key_of_json_is_there_once() {
    let folder = Folder::new();
    let file = of_columns(&folder, &["a", "b", "a"]);
    let message = "two columns are called `a`";
    herringbone(&["cat", "--format", "jsonl", &file]).fails(3, message);
    herringbone(&["convert", &file, &folder.file("out.jsonl")]).fails(3, message);
    let csv = herringbone(&["cat", "--format", "csv", &file]);
    assert_eq!((csv.code, csv.stdout.lines().next()), (0, Some("a,b,a")));

    let file = of_columns(&folder, &["id", "ID"]);
    let run = herringbone(&["cat", "--format", "jsonl", &file]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (0, "{\"id\":0,\"ID\":1}\n")
    );
    assert!(
        run.stderr.contains("`id` and `ID` differ only in case"),
        "{}",
        run.stderr
    );
}

/// Names that would have a meaning in a schema's text are in quotes there, so that they can be read
/// again.
#[test]
fn names_in_a_printed_schema_are_read_again() {
    let folder = Folder::new();
    let csv = folder.with(
        "a.csv",
        "#CHROM, y,\"l\nm\",\"\"\"q\"\"\",a: b,z \n1,2,3,4,5,6\n",
    );
    let (first, second) = (folder.file("1.parquet"), folder.file("2.parquet"));
    herringbone(&["convert", "-q", &csv, &first]).ok("");
    let schema = herringbone(&["schema", "--format", "arrow", &first]);
    schema.ok(
        "\"#CHROM\": Int64\n\" y\": Int64\n\"l\\nm\": Int64\n\"\\\"q\\\"\": Int64\na: b: Int64\nz : Int64\n",
    );
    let schema = folder.with("schema.txt", schema.stdout.replace("Int64", "Utf8"));
    herringbone(&["convert", "-q", "--schema", &schema, &csv, &second]).ok("");
    herringbone(&["cat", &second]).ok(
        "{\"#CHROM\":\"1\",\" y\":\"2\",\"l\\nm\":\"3\",\"\\\"q\\\"\":\"4\",\"a: b\":\"5\",\"z \":\"6\"}\n",
    );
}
