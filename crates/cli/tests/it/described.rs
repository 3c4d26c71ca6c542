//! Tests key-value metadata that describes a file's columns or rows, and how written files keep it.

use std::sync::Arc;

use herringbone::format::KeyValue;
use herringbone::{WriteOptions, Writer};
use herringbone_arrow::array::{
    ArrayRef, Date32Array, Int32Array, Int64Array, RecordBatch, StringArray, StructArray,
};
use herringbone_arrow::schema::{DataType, Field};
use serde_json::{Value, json};

use crate::common::{Folder, Run, herringbone, json};

const SPARK: &str = "org.apache.spark.sql.parquet.row.metadata";
const AVRO: &str = "parquet.avro.schema";

/// Returns a file with these columns and key-value pairs.
fn file(columns: &[(&str, ArrayRef)], pairs: &[(&str, &str)]) -> Vec<u8> {
    let pair = |(key, value): &(&str, &str)| KeyValue::new(*key, *value);
    let options = WriteOptions::new().key_value_metadata(pairs.iter().map(pair));
    let columns = columns
        .iter()
        .map(|(name, array)| (*name, array.clone(), true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file
}

/// Returns one row of the columns `id` and `name`, and of a struct `s` with `x` and `y`.
fn columns() -> Vec<(&'static str, ArrayRef)> {
    let number: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    let fields = ["x", "y"].map(|name| Arc::new(Field::new(name, DataType::Int64, true)));
    let s = StructArray::from(
        fields
            .into_iter()
            .map(|field| (field, number.clone()))
            .collect::<Vec<_>>(),
    );
    vec![("id", number), ("name", text), ("s", Arc::new(s))]
}

/// Returns the value of a key, if the file has it.
fn value(file: &str, key: &str) -> Option<String> {
    let meta = json(&herringbone(&["meta", file]));
    let pairs = meta["key_value_metadata"].as_array().unwrap().clone();
    let pair = pairs.into_iter().find(|pair| pair["key"] == key)?;
    Some(pair["value"].as_str().unwrap().to_owned())
}

fn parsed(file: &str, key: &str) -> Value {
    serde_json::from_str(&value(file, key).unwrap()).unwrap()
}

fn notes(run: &Run, note: &str) {
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains(note), "{}", run.stderr);
}

/// Returns Spark's description of [`columns`], but with only these fields.
fn spark(fields: &[&str], inner: &[&str]) -> Value {
    let inner = inner
        .iter()
        .map(|name| json!({"name": name, "type": "long", "nullable": true, "metadata": {}}));
    let inner = json!({"type": "struct", "fields": inner.collect::<Vec<_>>()});
    let all = [
        json!({"name": "id", "type": "long", "nullable": true, "metadata": {"comment": "c"}}),
        json!({"name": "name", "type": "string", "nullable": true, "metadata": {}}),
        json!({"name": "s", "type": inner, "nullable": true, "metadata": {}}),
    ];
    let mut some = all.to_vec();
    some.retain(|field| fields.contains(&field["name"].as_str().unwrap()));
    json!({"type": "struct", "fields": some})
}

#[test]
fn spark_is_told_of_the_columns_that_are_left() {
    let folder = Folder::new();
    let told = spark(&["id", "name", "s"], &["x", "y"]).to_string();
    for key in [SPARK, "spark.sql.parquet.row.metadata"] {
        let a = folder.with("a.parquet", file(&columns(), &[(key, &told)]));
        let out = folder.file("out.parquet");
        // A description is copied unchanged as long as it is true.
        herringbone(&["rewrite", "-f", &a, &out]).ok("");
        assert_eq!(value(&out, key).as_deref(), Some(told.as_str()));
        herringbone(&["rewrite", "-f", &a, &out, "--columns", "id"]).ok("");
        assert_eq!(parsed(&out, key), spark(&["id"], &[]));
        herringbone(&["rewrite", "-f", &a, &out, "--columns", "name,s.y"]).ok("");
        assert_eq!(parsed(&out, key), spark(&["name", "s"], &["y"]));
    }
}

#[test]
fn spark_is_not_told_of_other_columns() {
    let folder = Folder::new();
    let told = spark(&["id", "name", "s"], &["x", "y"]).to_string();
    let a = folder.with("a.parquet", file(&columns(), &[(SPARK, &told)]));
    let mut other = columns();
    other[0].1 = Arc::new(Int32Array::from(vec![2]));
    other.push(("more", other[1].1.clone()));
    let b = folder.with("b.parquet", file(&other, &[]));
    let out = folder.file("out.parquet");
    let merge = ["concat", "-f", "--by-name", "--cast", "-o", &out];
    let left_out = format!("the metadata `{SPARK}` is left out");
    // The description does not have `more`.
    notes(&herringbone(&[&merge[..], &[&a, &b]].concat()), &left_out);
    assert_eq!(value(&out, SPARK), None);
    // `id` is read as Int64 from both files, which agrees with the first description.
    let run = herringbone(&[&merge[..], &[&a, &b, "--columns", "id"]].concat());
    notes(&run, "not all files have the metadata");
    assert_eq!(parsed(&out, SPARK), spark(&["id"], &[]));
    // Text that is not JSON does not describe columns, so it is kept.
    let c = folder.with("c.parquet", file(&columns(), &[(SPARK, "{")]));
    herringbone(&["rewrite", "-f", &c, &out]).ok("");
    assert_eq!(value(&out, SPARK).as_deref(), Some("{"));
    let run = herringbone(&["rewrite", "-f", &c, &out, "--columns", "id"]);
    notes(&run, &left_out);
    assert_eq!(value(&out, SPARK), None);
}

#[test]
fn avro_schemas_are_true_or_left_out() {
    let folder = Folder::new();
    let id = json!({"name": "id", "type": ["null", "long"], "default": null});
    let name = json!({"name": "name", "type": ["null", "string"]});
    let inner =
        json!([{"name": "x", "type": ["null", "long"]}, {"name": "y", "type": ["null", "long"]}]);
    let inner = json!({"type": "record", "name": "inner", "fields": inner});
    let s = json!({"name": "s", "type": ["null", inner]});
    let record = |fields: Value| json!({"type": "record", "name": "r", "fields": fields});
    let all = record(json!([id, name, s]));
    let pairs = [(AVRO, all.to_string()), ("iceberg.schema", "{}".to_owned())];
    let pairs = pairs.each_ref().map(|(key, value)| (*key, value.as_str()));
    let a = folder.with("a.parquet", file(&columns(), &pairs));
    let out = folder.file("out.parquet");
    herringbone(&["rewrite", &a, &out]).ok("");
    assert_eq!(parsed(&out, AVRO), all);
    assert_eq!(value(&out, "iceberg.schema").as_deref(), Some("{}"));
    let run = herringbone(&["rewrite", "-f", &a, &out, "--columns", "id,s"]);
    notes(&run, "the metadata `iceberg.schema` is left out");
    assert_eq!(parsed(&out, AVRO), record(json!([id, s])));
    // Something else might refer to the record `inner`, and readers do not expect one without `y`.
    for columns in ["id,name", "s.x"] {
        let run = herringbone(&["rewrite", "-f", &a, &out, "--columns", columns]);
        notes(&run, &format!("the metadata `{AVRO}` is left out"));
        assert_eq!(value(&out, AVRO), None, "{columns}");
    }
}

/// Returns a description in the form in which pyarrow writes it for pandas.
fn pandas(index: Value, columns: &[(&str, &str, &str)]) -> Value {
    let column = |(name, pandas_type, numpy_type): &(&str, &str, &str)| {
        let metadata = match *pandas_type {
            "categorical" => json!({"num_categories": 1, "ordered": false}),
            _ => Value::Null,
        };
        json!({"name": name, "field_name": name, "pandas_type": pandas_type, "numpy_type": numpy_type,
               "metadata": metadata})
    };
    let columns: Vec<Value> = columns.iter().map(column).collect();
    json!({"index_columns": index, "column_indexes": [], "columns": columns, "creator": {"library": "pyarrow"}})
}

#[test]
fn pandas_finds_its_index_or_makes_one() {
    let folder = Folder::new();
    let id = ("id", "int64", "Int64");
    let name = ("name", "categorical", "int8");
    let s = ("s", "object", "object");
    let told = |index: Value| {
        let text = pandas(index, &[id, name, s]).to_string();
        file(&columns(), &[("pandas", &text)])
    };
    let out = folder.file("out.parquet");
    // Here, two columns form the index.
    let a = folder.with("a.parquet", told(json!(["id", "name"])));
    herringbone(&["rewrite", "-f", &a, &out, "--columns", "id,s"]).ok("");
    assert_eq!(parsed(&out, "pandas"), pandas(json!(["id"]), &[id, s]));
    herringbone(&["rewrite", "-f", &a, &out, "--columns", "s.x"]).ok("");
    assert_eq!(parsed(&out, "pandas"), pandas(json!([]), &[s]));
    // A range index counts the rows of a single file, and categories apply to a single file too.
    let range = |start: i32| json!([{"kind": "range", "name": null, "start": start, "stop": start + 1, "step": 1}]);
    let b = folder.with("b.parquet", told(range(0)));
    herringbone(&["rewrite", "-f", &b, &out]).ok("");
    assert_eq!(parsed(&out, "pandas"), pandas(range(0), &[id, name, s]));
    let plain = ("name", "unicode", "object");
    for arguments in [
        &["concat", "-f", &b, &b, "-o", &out][..],
        &["rewrite", "-f", &b, &out, "--sort-by", "id"],
    ] {
        herringbone(arguments).ok("");
        assert_eq!(parsed(&out, "pandas"), pandas(json!([]), &[id, plain, s]));
    }
    let c = folder.with("c.parquet", told(range(7)));
    let run = herringbone(&["concat", "-f", &c, &c, "-o", &out]);
    notes(&run, "the index of pandas is not kept");
}

#[test]
fn pandas_is_told_of_columns_that_are_added_or_cast() {
    let folder = Folder::new();
    let text = pandas(json!(["id"]), &[("id", "int32", "int32")]).to_string();
    let narrow: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let day: ArrayRef = Arc::new(Date32Array::from(vec![0]));
    let a = folder.with("a.parquet", file(&[("id", narrow)], &[("pandas", &text)]));
    let b = folder.with(
        "b.parquet",
        file(&[columns()[0].clone(), ("d", day)], &[("pandas", &text)]),
    );
    let out = folder.file("out.parquet");
    let run = herringbone(&["concat", "--by-name", "--cast", &a, &b, "-o", &out]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let expected = [("id", "int64", "int64"), ("d", "date", "object")];
    assert_eq!(parsed(&out, "pandas"), pandas(json!(["id"]), &expected));
    // Integers of numpy cannot be null.
    let c = folder.with(
        "c.parquet",
        file(&[columns()[1].clone()], &[("pandas", &text)]),
    );
    let run = herringbone(&["concat", "-f", "--by-name", &a, &c, "-o", &out]);
    notes(&run, "the index of pandas is not kept");
    let expected = [("id", "int32", "Int32"), ("name", "unicode", "object")];
    assert_eq!(parsed(&out, "pandas"), pandas(json!([]), &expected));
}

#[test]
fn keys_that_not_all_files_have_are_noted() {
    let folder = Folder::new();
    let a = folder.with("a.parquet", file(&columns(), &[("a", "1"), ("both", "1")]));
    let b = folder.with("b.parquet", file(&columns(), &[("both", "1"), ("b", "2")]));
    let out = folder.file("out.parquet");
    let run = herringbone(&["concat", &a, &b, "-o", &out]);
    let note = |key: &str, file: &str| {
        format!(
            "herringbone: note: not all files have the metadata `{key}`; that of {file} is kept, for all rows\n"
        )
    };
    assert_eq!(run.stderr, note("a", &a) + &note("b", &b));
    assert_eq!(value(&out, "b").as_deref(), Some("2"));
}

const VERSION: &str = "org.apache.spark.version";
const LEGACY: (&str, &str) = ("org.apache.spark.legacyDateTime", "");

#[test]
fn files_of_two_calendars_are_refused() {
    let folder = Folder::new();
    let day: ArrayRef = Arc::new(Date32Array::from(vec![-200_000]));
    let dated = |name: &str, pairs: &[(&str, &str)]| {
        let columns = [("id", columns()[0].1.clone()), ("d", day.clone())];
        folder.with(name, file(&columns, pairs))
    };
    let rome = ("org.apache.spark.timeZone", "Europe/Rome");
    let legacy = dated("legacy.parquet", &[(VERSION, "3.5.0"), LEGACY, rome]);
    let other = dated("other.parquet", &[(VERSION, "3.2.0"), LEGACY, rome]);
    let old = dated("old.parquet", &[(VERSION, "2.4.8")]);
    let spark = dated("spark.parquet", &[(VERSION, "3.5.0")]);
    let pyarrow = dated("pyarrow.parquet", &[]);
    let hive = dated("hive.parquet", &[("writer.date.proleptic", "false")]);
    let out = folder.file("out.parquet");
    let concat = |a: &str, b: &str, more: &[&str]| {
        herringbone(&[&["concat", "-f", a, b, "-o", &out], more].concat())
    };
    for (a, b) in [
        (&legacy, &spark),
        (&spark, &legacy),
        (&pyarrow, &legacy),
        (&legacy, &pyarrow),
        (&old, &spark),
        // The calendars of these files shift days in different time zones.
        (&old, &legacy),
        (&hive, &pyarrow),
    ] {
        let run = concat(a, b, &[]);
        run.fails(3, "count days in different calendars");
        assert!(
            run.stderr.contains(a) && run.stderr.contains(b),
            "{}",
            run.stderr
        );
        assert!(
            run.stderr
                .contains("; leave it out with --columns (column d)"),
            "{}",
            run.stderr
        );
        assert_eq!(concat(a, b, &["--columns", "id"]).code, 0);
    }
    for (a, b) in [
        (&legacy, &other),
        (&old, &old),
        (&spark, &pyarrow),
        (&hive, &hive),
    ] {
        assert_eq!(concat(a, b, &[]).code, 0, "{a} {b}");
    }
    assert_eq!(concat(&legacy, &other, &[]).code, 0);
    assert_eq!(value(&out, LEGACY.0).as_deref(), Some(""));
    // The rows of a single file stay in its calendar.
    herringbone(&["rewrite", "-f", &legacy, &out]).ok("");
    assert_eq!(value(&out, LEGACY.0).as_deref(), Some(""));
}

/// Headers of field 32767, as in the specification and as Thrift writes it.
const HEADERS: [[u8; 4]; 2] = [[0x08, 0xFF, 0xFF, 0x01], [0x08, 0xFE, 0xFF, 0x03]];

/// Returns the file with an extension in its footer.
fn extended(file: &[u8], header: [u8; 4], extension: &[u8]) -> Vec<u8> {
    let tail = file.len() - 8;
    let length = u32::from_le_bytes(file[tail..tail + 4].try_into().unwrap());
    // The stop field comes last.
    let stop = tail - 1;
    assert_eq!(file[stop], 0);
    let mut field = header.to_vec();
    field.push(u8::try_from(extension.len()).unwrap());
    field.extend_from_slice(extension);
    let mut extended = file[..stop].to_vec();
    extended.extend_from_slice(&field);
    extended.push(0);
    extended.extend_from_slice(&(length + field.len() as u32).to_le_bytes());
    extended.extend_from_slice(b"PAR1");
    extended
}

#[test]
fn extensions_of_footers_are_shown_and_noted() {
    let folder = Folder::new();
    let uuid: Vec<u8> = (0..16).collect();
    let bytes = [b"flatbuffer", uuid.as_slice()].concat();
    let plain = file(&columns(), &[]);
    let out = folder.file("out.parquet");
    let uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
    for header in HEADERS {
        let a = folder.with("a.parquet", extended(&plain, header, &bytes));
        let meta = json(&herringbone(&["meta", &a]));
        assert_eq!(
            meta["extension"],
            json!({"field": 32767, "size": 26, "uuid": uuid})
        );
        let run = herringbone(&["rewrite", "-f", &a, &out]);
        let note =
            format!("the extension of the footer is not kept: field 32767, 26 bytes, UUID {uuid}");
        notes(&run, &note);
        assert!(
            json(&herringbone(&["meta", &out]))
                .get("extension")
                .is_none()
        );
        let b = folder.with("b.parquet", extended(&plain, header, b"short"));
        let meta = json(&herringbone(&["meta", &b]));
        assert_eq!(meta["extension"], json!({"field": 32767, "size": 5}));
        // This extension claims more bytes than there are.
        let mut cut = extended(&plain, header, &bytes);
        let at = cut.len() - 9 - bytes.len() - 1;
        cut[at] = 0x7F;
        let c = folder.with("c.parquet", cut);
        herringbone(&["meta", &c]).fails(3, "corrupt file");
    }
}

/// The Arrow schema that polars 1.42 writes for a column `i` of Int128 and a column `u` of UInt128.
const WIDE: &str = "/////6oAAAAEAAAA8v///xQAAAAEAAEAAAAKAAsACAAKAAQA+P///wwAAAAIAAgAAAAEAAIAAAA4AAAABAAAALz///8kAAAAEAAAAAgAAAABAgAAAAAAAPb///+AAAAAAAAGAAgABAABAAAAdQAAAOz///84AAAAIAAAABgAAAABAgAAEAASAAQAEAARAAgAAAAMAAAAAAD0////gAAAAAEAAAAIAAkABAAIAAEAAABpAA==";

#[test]
fn wide_integers_of_polars_become_bytes_with_a_note() {
    use herringbone_arrow::array::FixedSizeBinaryArray;
    let folder = Folder::new();
    let values = [1_i128.to_le_bytes(), (-(1_i128 << 100)).to_le_bytes()];
    let column: ArrayRef = Arc::new(FixedSizeBinaryArray::try_from_iter(values.iter()).unwrap());
    let columns = [("i", column.clone()), ("u", column)];
    let a = folder.with("a.parquet", file(&columns, &[("ARROW:schema", WIDE)]));
    let run = herringbone(&["rewrite", &a, &folder.file("out.parquet")]);
    for (name, data_type) in [("i", "Int128"), ("u", "UInt128")] {
        let note = format!(
            "ARROW:schema declares `{name}` as {data_type}, which Arrow does not support: it is \
             read as FixedSizeBinary(16), and files written from it store FixedSizeBinary(16) \
             only"
        );
        notes(&run, &note);
    }
}
