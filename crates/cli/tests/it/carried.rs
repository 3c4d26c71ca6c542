//! Tests which properties a written file takes over from its input files, in addition to the rows.

use std::fs;
use std::sync::Arc;

use herringbone::format::{KeyValue, LogicalType, Repetition, SchemaElement, Type};
use herringbone::schema::ParquetSchema;
use herringbone::{Limits, ParquetFile, SchemaOptions, WriteOptions, Writer};
use herringbone_arrow::array::{ArrayRef, LargeStringArray, RecordBatch, StringArray};
use herringbone_arrow::schema::{DataType, Field, Schema};
use serde_json::Value;

use crate::common::{EXAMPLE, Folder, herringbone, json, path};

/// Returns all Parquet files that the tests have.
fn files() -> Vec<String> {
    let mut files = Vec::new();
    for folder in ["built", "pyarrow", "duckdb", "polars", "fastparquet"] {
        for entry in fs::read_dir(path("testdata").join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(".parquet") {
                files.push(format!("testdata/{folder}/{name}"));
            }
        }
    }
    files.sort();
    files
}

/// Returns all elements of the schema with all of their properties.
fn schema(file: &str) -> Value {
    json(&herringbone(&["meta", file]))["schema"].clone()
}

/// We rewrite each third file, because all of them take long. A turn of CI sets
/// `HERRINGBONE_CASES`, and then all are rewritten.
#[test]
fn schema_and_rows_of_every_file_stay() {
    let folder = Folder::new();
    let out = folder.file("out.parquet");
    let mut differ = Vec::new();
    let step = match std::env::var_os("HERRINGBONE_CASES") {
        Some(_) => 1,
        None => 3,
    };
    let files: Vec<String> = files().into_iter().step_by(step).collect();
    for file in &files {
        let run = herringbone(&["rewrite", "--force", file, &out]);
        if run.code != 0 {
            differ.push(format!("{file}: {}", run.stderr));
            continue;
        }
        let mut root = [schema(file), schema(&out)];
        for schema in &mut root {
            // The other properties of the root do not mean anything.
            let element = schema[0].as_object_mut().unwrap();
            element.retain(|key, _| key == "name" || key == "num_children");
        }
        if root[0] != root[1] {
            differ.push(format!("{file}: {} instead of {}", root[1], root[0]));
        }
        let rows = |file: &str| herringbone(&["cat", file]).stdout;
        assert_eq!(rows(&out), rows(file), "{file}");
    }
    assert!(files.len() > 100 / step);
    // The writer cannot represent groups without fields. Keys are never null, and other readers
    // refuse annotations that a type cannot have.
    differ.retain(|line| !line.contains("built/empty_group_"));
    let others: Vec<_> = differ
        .iter()
        .filter_map(|line| line.split(':').next())
        .collect();
    let mut expected = vec![
        "testdata/built/map_with_optional_keys.parquet",
        "testdata/built/unknown_and_misplaced_logical_types.parquet",
    ];
    expected.retain(|name| files.iter().any(|file| file == name));
    assert_eq!(others, expected, "{differ:?}");
}

#[test]
fn keys_may_repeat() {
    let folder = Folder::new();
    let (one, two) = (folder.file("one.parquet"), folder.file("two.parquet"));
    fs::write(&one, with_keys(&[("a", "1"), ("b", "x"), ("a", "2")])).unwrap();
    herringbone(&["rewrite", &one, &two]).ok("");
    assert_eq!(keys(&two), ["a=1", "b=x", "a=2"]);

    fs::write(&two, with_keys(&[("a", "1"), ("c", "y"), ("a", "2")])).unwrap();
    let out = folder.file("out.parquet");
    let run = herringbone(&["concat", &one, &two, "-o", &out]);
    assert_eq!(
        (run.code, run.stderr.lines().count()),
        (0, 2),
        "{}",
        run.stderr
    );
    assert_eq!(keys(&out), ["a=1", "b=x", "a=2", "c=y"]);

    fs::write(&two, with_keys(&[("a", "2"), ("a", "1")])).unwrap();
    let run = herringbone(&["concat", "--force", &one, &two, "-o", &out]);
    assert_eq!(run.code, 0);
    assert!(
        run.stderr.contains("the metadata `a` differ"),
        "{}",
        run.stderr
    );
    assert_eq!(keys(&out), ["a=1", "b=x", "a=2"]);
}

/// Returns a file without rows that has one column and this key-value metadata.
fn with_keys(pairs: &[(&str, &str)]) -> Vec<u8> {
    let pair = |(key, value): &(&str, &str)| KeyValue::new(*key, *value);
    let options = WriteOptions::new().key_value_metadata(pairs.iter().map(pair));
    let schema = Schema::new(vec![Field::new("x", DataType::Int32, true)]);
    let mut file = Vec::new();
    let writer = Writer::new(&mut file, schema.into(), options).unwrap();
    writer.finish().unwrap();
    file
}

fn keys(file: &str) -> Vec<String> {
    let meta = json(&herringbone(&["meta", file]));
    let pairs = meta["key_value_metadata"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    pairs
        .map(|pair| text(&pair["key"]) + "=" + &text(&pair["value"]))
        .collect()
}

/// Returns the columns that have a bloom filter.
fn bloom_filters(file: &str) -> Vec<String> {
    let meta = json(&herringbone(&["meta", file]));
    let columns = meta["row_groups"][0]["columns"].as_array().unwrap().iter();
    columns
        .map(|column| &column["meta_data"])
        .filter(|column| column["bloom_filter_offset"].is_number())
        .map(|column| {
            column["path_in_schema"]
                .to_string()
                .replace(['"', '[', ']'], "")
        })
        .collect()
}

#[test]
fn bloom_filters_stay() {
    let folder = Folder::new();
    let (with, out) = (folder.file("with.parquet"), folder.file("out.parquet"));
    herringbone(&[
        "rewrite",
        EXAMPLE,
        &with,
        "--bloom-filter",
        "id,origin.country",
    ])
    .ok("");
    let rewritten = |options: &[&str]| {
        herringbone(&[&["rewrite", "--force", &with, &out], options].concat()).ok("");
        bloom_filters(&out)
    };
    assert_eq!(rewritten(&[]), ["id", "origin,country"]);
    assert_eq!(rewritten(&["--columns", "id,name"]), ["id"]);
    assert_eq!(
        rewritten(&["--bloom-filter", "name"]),
        ["id", "name", "origin,country"]
    );
    assert_eq!(rewritten(&["--no-bloom-filter"]), [""; 0]);
    herringbone(&["concat", "--force", EXAMPLE, &with, "-o", &out]).ok("");
    assert_eq!(bloom_filters(&out), ["id", "origin,country"]);
    herringbone(&["convert", "--force", &with, &out]).ok("");
    assert_eq!(bloom_filters(&out), ["id", "origin,country"]);
}

/// Returns the ordinals of each row group's sorting columns.
fn sorting_columns(file: &str) -> Vec<Vec<i64>> {
    let meta = json(&herringbone(&["meta", file]));
    let columns = |row_group: &Value| {
        let columns = row_group["sorting_columns"]
            .as_array()
            .into_iter()
            .flatten();
        columns
            .map(|columns| columns["column_idx"].as_i64().unwrap())
            .collect()
    };
    meta["row_groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(columns)
        .collect()
}

#[test]
fn sorting_columns_stay_where_rows_are_sorted() {
    let folder = Folder::new();
    let (sorted, out) = (folder.file("sorted.parquet"), folder.file("out.parquet"));
    let by = ["--sort-by", "origin.country,id", "--row-group-rows", "8"];
    herringbone(&[&["rewrite", EXAMPLE, &sorted], &by[..]].concat()).ok("");
    let orders = sorting_columns(&sorted);
    assert_eq!((orders.len(), orders[0].len()), (3, 2));

    herringbone(&["rewrite", "--force", &sorted, &out]).ok("");
    assert_eq!(sorting_columns(&out), [orders[0].clone()]);
    // The last sorting column is not read, so it cannot be kept.
    let run = herringbone(&[
        "rewrite",
        "--force",
        &sorted,
        &out,
        "--columns",
        "name,origin",
    ]);
    assert!(
        run.stderr.contains("only the first 1 of 2 sorting columns"),
        "{}",
        run.stderr
    );
    assert_eq!(sorting_columns(&out).first().map(Vec::len), Some(1));
    herringbone(&["rewrite", "--force", &sorted, &out, "--sort-by", "name"]).ok("");
    assert_eq!(sorting_columns(&out)[0].len(), 1);

    // The last row of one file comes before the first row of the other, so the rows are no longer
    // sorted.
    let twice = ["concat", "--force", &sorted, &sorted, "-o", &out];
    let run = herringbone(&twice);
    assert_eq!(run.code, 0);
    assert!(
        run.stderr
            .contains("1 of 1 row groups do not have sorting columns"),
        "{}",
        run.stderr
    );
    assert_eq!(sorting_columns(&out), [[0; 0]]);
    let run = herringbone(&[&twice[..], &["--row-group-rows", "12"]].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(sorting_columns(&out), vec![orders[0].clone(); 4]);
}

#[test]
fn the_exact_schema_is_not_taken_from_the_input() {
    // The run-end encoded type is stored in a pair next to `ARROW:schema`. That schema includes the
    // column that is left out.
    let folder = Folder::new();
    let (source, out) = (folder.file("runs.parquet"), folder.file("out.parquet"));
    fs::write(&source, with_runs()).unwrap();
    herringbone(&["rewrite", &source, &out, "--columns", "r"]).ok("");
    let run = herringbone(&["schema", "--format", "arrow", &out]);
    assert!(run.stdout.contains("RunEndEncoded"), "{}", run.stdout);
}

/// Returns a file with a run-end encoded column and a column of numbers.
fn with_runs() -> Vec<u8> {
    let ends = Arc::new(Field::new("run_ends", DataType::Int32, false));
    let values = Arc::new(Field::new("values", DataType::Utf8, true));
    let runs = DataType::RunEndEncoded(ends, values);
    let schema = Schema::new(vec![
        Field::new("x", DataType::Int32, true),
        Field::new("r", runs, true),
    ]);
    let mut file = Vec::new();
    let writer = Writer::new(&mut file, schema.into(), WriteOptions::new()).unwrap();
    writer.finish().unwrap();
    file
}

/// Returns a file of one row. Its column has this annotation.
fn annotated(annotation: LogicalType) -> Vec<u8> {
    let root = SchemaElement::new("schema".into()).num_children(1);
    let column = SchemaElement::new("x".into())
        .type_(Type::ByteArray)
        .repetition_type(Repetition::Optional)
        .logical_type(annotation);
    let like = ParquetSchema::new(&[root, column], &Limits::default()).unwrap();
    let column: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    let batch = RecordBatch::try_from_iter_with_nullable([("x", column, true)]).unwrap();
    let options = WriteOptions::new().parquet_schema(like);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    assert_eq!(writer.warnings(), [""; 0]);
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file
}

#[test]
fn annotations_stay_where_the_files_agree() {
    let folder = Folder::new();
    let a = folder.with("a.parquet", annotated(LogicalType::Enum));
    let b = folder.with("b.parquet", annotated(LogicalType::String));
    let out = folder.file("out.parquet");
    let schema = |file: &str| herringbone(&["schema", file]).stdout;
    let of = |annotation| format!("message schema {{\n  optional binary x ({annotation});\n}}\n");
    herringbone(&["concat", &a, &a, "-o", &out]).ok("");
    assert_eq!(schema(&out), of("ENUM"));
    let run = herringbone(&["concat", "--force", &a, &b, "-o", &out]);
    assert_eq!(run.code, 0);
    assert!(
        run.stderr.contains("describe these columns differently"),
        "{}",
        run.stderr
    );
    assert_eq!(schema(&out), of("STRING"));
}

/// Python programs keep pickles in the metadata of files, so values need not be text.
#[test]
fn metadata_of_any_bytes_stay() {
    let folder = Folder::new();
    let pickle: &[u8] = &[0x80, 0x04, 0x95, 0xFF, 0x00, b'a'];
    let texts: ArrayRef = Arc::new(LargeStringArray::from(vec!["a", "b"]));
    let batch = RecordBatch::try_from_iter([("s", texts)]).unwrap();
    let mut bytes = Vec::new();
    let pairs = vec![KeyValue::new("pickle", pickle), KeyValue::new("text", "t")];
    let options = WriteOptions::new().key_value_metadata(pairs);
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let one = folder.file("one.parquet");
    fs::write(&one, bytes).unwrap();
    let out = folder.file("out.parquet");
    let parts = folder.file("{}.parquet");
    for arguments in [
        &["rewrite", &one, &out][..],
        &["rewrite", "--copy", &one, &out],
        &["concat", &one, &one, "-o", &out],
        &["convert", &one, &out],
        &["repair", &one, &out],
        &["split", &one, "-o", &parts, "--part-rows", "2"],
    ] {
        let written = match arguments[0] {
            "split" => folder.file("00000.parquet"),
            _ => out.clone(),
        };
        fs::remove_file(&written).ok();
        let run = herringbone(arguments);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
        assert!(!run.stderr.contains("ARROW:schema"), "{}", run.stderr);
        let file = ParquetFile::open(&written).unwrap();
        let pairs = file.metadata().key_value_metadata();
        let found = pairs.iter().find(|pair| pair.key == "pickle").unwrap();
        assert_eq!(found.value.as_deref(), Some(pickle), "{arguments:?}");
        let schema = file.arrow_schema(&SchemaOptions::default()).unwrap();
        assert_eq!(schema.field(0).data_type(), &DataType::LargeUtf8);
    }
    let metadata = &json(&herringbone(&["meta", &one]))["key_value_metadata"];
    let pairs = metadata.as_array().unwrap();
    let shown = |key: &str| pairs.iter().find(|pair| pair["key"] == key).unwrap();
    // This is the base64 of 80 04 95 ff 00 61.
    let expected = serde_json::json!({"key": "pickle", "value_base64": "gASV/wBh"});
    assert_eq!(shown("pickle"), &expected);
    assert_eq!(shown("text")["value"], "t");
    let info = herringbone(&["info", &one]);
    assert!(info.stdout.contains("pickle (6 bytes)"), "{}", info.stdout);
}
