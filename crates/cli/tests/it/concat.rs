//! Tests `concat` and sorting, that is rows from several files, and rows in another order.

use std::sync::Arc;

use herringbone::{WriteOptions, Writer};
use herringbone_arrow::array::types::Int8Type;
use herringbone_arrow::array::{
    ArrayRef, DictionaryArray, LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use herringbone_arrow::schema::{DataType, Field, Schema};
use serde_json::Value;

use crate::common::{EXAMPLE, Folder, herringbone, json};

/// Returns a file's rows as JSON.
fn rows(file: &str) -> Vec<Value> {
    let run = herringbone(&["cat", file]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let row = |line: &str| serde_json::from_str(line).unwrap();
    run.stdout.lines().map(row).collect()
}

#[test]
fn rows_of_all_files_in_their_order() {
    let folder = Folder::new();
    let (one, out) = (folder.file("one.parquet"), folder.file("out.parquet"));
    herringbone(&["rewrite", EXAMPLE, &one, "--row-groups", "1"]).ok("");
    herringbone(&["concat", &one, EXAMPLE, &one, "-o", &out, "--columns", "id"]).ok("");
    let expected = (16..24).chain(0..24).chain(16..24);
    let ids: Vec<u64> = rows(&out)
        .iter()
        .map(|row| row["id"].as_u64().unwrap())
        .collect();
    assert_eq!(ids, expected.collect::<Vec<_>>());
    let meta = json(&herringbone(&["meta", &out]));
    assert_eq!(meta["row_groups"].as_array().unwrap().len(), 1);
    herringbone(&["concat", EXAMPLE, "-o", &out]).fails(2, "the file already exists");
    herringbone(&["concat", EXAMPLE, "-o", &out, "--force"]).ok("");
    assert_eq!(rows(&out), rows(EXAMPLE));
}

#[test]
fn schemas_must_be_equal() {
    let folder = Folder::new();
    let out = folder.file("out.parquet");
    herringbone(&["concat", EXAMPLE, "testdata/built/map.parquet", "-o", &out])
        .fails(3, "the schemas differ: ");
    herringbone(&["concat", EXAMPLE, "nope", "-o", &out]).fails(4, "nope: ");
    assert!(folder.names().is_empty());
}

#[test]
fn metadata_of_the_first_file_win() {
    let folder = Folder::new();
    let (source, out) = (
        "testdata/fastparquet/snappy.parquet",
        folder.file("out.parquet"),
    );
    herringbone(&["concat", source, source, "-o", &out]).ok("");
    let keys = |file: &str| {
        let meta = json(&herringbone(&["meta", file]));
        let pairs = meta["key_value_metadata"].as_array().unwrap().clone();
        pairs
            .into_iter()
            .find(|pair| pair["key"] == "pandas")
            .unwrap()
    };
    assert_eq!(keys(&out), keys(source));
}

#[test]
fn rows_are_sorted() {
    let folder = Folder::new();
    let (csv, out) = (folder.file("x.csv"), folder.file("out.parquet"));
    std::fs::write(&csv, "a,b\n2,x\n,y\n1,z\n2,a\n1,\n").unwrap();
    let sorted = |by: &str| {
        herringbone(&["convert", "-f", &csv, &out, "--sort-by", by]).ok("");
        let cell = |value: &Value| value.to_string().replace('"', "").replace("null", "-");
        let row = |row: &Value| cell(&row["a"]) + &cell(&row["b"]);
        rows(&out).iter().map(row).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(sorted("a"), "1z 1- 2x 2a -y");
    assert_eq!(sorted("a:desc,b"), "2a 2x 1z 1- -y");
    assert_eq!(sorted("b:desc:nulls-first"), "1- 1z -y 2x 2a");
    assert_eq!(sorted("a:nulls-first,b:nulls-first"), "-y 1- 1z 2a 2x");
    let meta = json(&herringbone(&["meta", &out]));
    let columns = &meta["row_groups"][0]["sorting_columns"];
    assert_eq!(
        columns[1],
        serde_json::json!({"column_idx": 1, "descending": false, "nulls_first": true})
    );

    let many = folder.file("many.parquet");
    herringbone(&[
        "concat",
        EXAMPLE,
        EXAMPLE,
        "-o",
        &many,
        "--sort-by",
        "origin.altitude:desc,id",
    ])
    .ok("");
    let key = |row: &Value| {
        (
            row["origin"]["altitude"].as_i64(),
            row["id"].as_i64().unwrap(),
        )
    };
    let keys: Vec<_> = rows(&many).iter().map(key).collect();
    assert_eq!(keys.len(), 48);
    let expected = |key: &(Option<i64>, i64)| (key.0.is_none(), key.0.map(|value| -value), key.1);
    assert!(keys.is_sorted_by_key(expected), "{keys:?}");
    for (by, message) in [
        ("nope", "there is no column `nope`"),
        ("tags", "name a column without parts"),
        ("origin", "name a column without parts"),
    ] {
        herringbone(&[
            "rewrite",
            EXAMPLE,
            &folder.file("x.parquet"),
            "--sort-by",
            by,
        ])
        .fails(2, message);
    }
}

/// Returns a file of one column with three strings.
fn strings(data_type: &DataType, nullable: bool) -> Vec<u8> {
    let texts = ["a", "b", "a"];
    let column: ArrayRef = match data_type {
        DataType::Utf8 => Arc::new(StringArray::from_iter_values(texts)),
        DataType::LargeUtf8 => Arc::new(LargeStringArray::from_iter_values(texts)),
        DataType::Utf8View => Arc::new(StringViewArray::from_iter_values(texts)),
        _ => Arc::new(DictionaryArray::<Int8Type>::from_iter(texts)),
    };
    let schema = Schema::new(vec![Field::new("s", data_type.clone(), nullable)]);
    let batch = RecordBatch::try_new(schema.into(), vec![column]).unwrap();
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), WriteOptions::new()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file
}

#[test]
fn files_that_differ_in_layout_and_nullability_become_one() {
    let folder = Folder::new();
    let dictionary = DataType::Dictionary(DataType::Int8.into(), DataType::Utf8.into());
    let files = [
        (DataType::Utf8, false, "Utf8 not null"),
        (DataType::LargeUtf8, true, "LargeUtf8"),
        (dictionary, true, "Dictionary(Int8, Utf8)"),
        (DataType::Utf8View, false, "Utf8View not null"),
    ];
    let names: Vec<String> = files
        .iter()
        .enumerate()
        .map(|(i, (data_type, nullable, _))| {
            folder.with(&format!("{i}.parquet"), strings(data_type, *nullable))
        })
        .collect();
    let out = folder.file("out.parquet");
    for (a, (_, a_nullable, a_type)) in names.iter().zip(&files) {
        for (b, (_, b_nullable, b_type)) in names.iter().zip(&files) {
            let row = |text: &str| format!("{{\"s\":\"{text}\"}}\n");
            let expected = ["a", "b", "a", "a", "b", "a"].map(row).concat();
            herringbone(&["cat", a, b]).ok(&expected);
            herringbone(&["concat", "--force", a, b, "-o", &out]).ok("");
            herringbone(&["cat", &out]).ok(&expected);
            let schema = herringbone(&["schema", "--format", "arrow", &out]).stdout;
            let is_nullable = !schema.contains("not null");
            assert_eq!(
                is_nullable,
                *a_nullable || *b_nullable,
                "{a_type}, {b_type}: {schema}"
            );
            if a_type == b_type {
                assert_eq!(schema, format!("s: {a_type}\n"));
            }
        }
    }
    // All files are written one after the other.
    let all: Vec<&str> = names.iter().map(String::as_str).collect();
    let run = herringbone(&[&["concat", "--force", "-o", &out], &all[..]].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    herringbone(&["count", &out]).ok("12\n");
    herringbone(&["schema", "--format", "arrow", &out]).ok("s: LargeUtf8\n");
}

#[test]
fn column_chunks_are_copied_as_they_are() {
    let folder = Folder::new();
    let (out, again) = (folder.file("out.parquet"), folder.file("again.parquet"));
    let small = folder.file("small.parquet");
    let options = ["--row-group-rows", "10", "--compression", "gzip"];
    let filter = ["--bloom-filter", "id"];
    herringbone(&[&["rewrite", EXAMPLE, &small], &options[..], &filter].concat()).ok("");
    herringbone(&["concat", "--copy", &small, &small, "-o", &out]).ok("");
    assert_eq!(rows(&out), [rows(&small), rows(&small)].concat());
    let chunks = |file: &str| {
        let meta = json(&herringbone(&["meta", file]));
        let row_groups = meta["row_groups"].as_array().unwrap().clone();
        let sizes = row_groups.iter().map(|row_group| {
            let columns = row_group["columns"].as_array().unwrap().iter();
            let size = |row_group: &Value| {
                row_group["meta_data"]["total_compressed_size"]
                    .as_u64()
                    .unwrap()
            };
            columns.map(size).collect::<Vec<_>>()
        });
        sizes.collect::<Vec<_>>()
    };
    assert_eq!(chunks(&out), [chunks(&small), chunks(&small)].concat());
    herringbone(&["verify", &out]).code(&[0]);
    // Only some row groups and columns are copied.
    let some = ["--row-groups", "1", "--columns", "id,name"];
    herringbone(&[&["rewrite", "--copy", &small, &again], &some[..]].concat()).ok("");
    let expected = herringbone(&[&["cat", &small], &some[..]].concat()).stdout;
    assert_eq!(herringbone(&["cat", &again]).stdout, expected);
    // A copy cannot have another codec, for example.
    herringbone(&[
        "concat",
        "--copy",
        &small,
        "-o",
        &again,
        "--compression",
        "zstd",
    ])
    .fails(2, "cannot be used with");
    // A file whose column has another type is encoded again, and a note has the reason.
    let text = folder.with("numbers.csv", "n\n1\n");
    let (long, int) = (folder.file("long.parquet"), folder.file("int.parquet"));
    herringbone(&["convert", &text, &long, "--type", "n=Int64"]).ok("");
    herringbone(&["convert", &text, &int, "--type", "n=Int32"]).ok("");
    let all = ["concat", "--copy", "--force", &long, &int, "-o", &out];
    let run = herringbone(&[&all[..], &["--cast"]].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    let expected = "int.parquet: column chunks cannot be copied: the column `n` has another";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    assert!(!run.stderr.contains("long.parquet"), "{}", run.stderr);
    herringbone(&["cat", &out]).ok("{\"n\":1}\n{\"n\":1}\n");
}
