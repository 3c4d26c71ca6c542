//! Tests VARIANT columns that are printed, read from JSON lines, and shredded.

use std::sync::Arc;

use herringbone::variant::shredding::{ShreddingType, variant_field};
use herringbone::{WriteOptions, Writer};
use herringbone_arrow::array::{
    Array as _, ArrayRef, BinaryViewArray, Int64Array, RecordBatch, StructArray,
};
use herringbone_arrow::buffer::NullBuffer;
use herringbone_arrow::schema::{DataType, Field, Schema};

use crate::common::{Folder, herringbone};

const LINES: &str = r#"{"id":1,"v":{"a":1,"b":"x","d":1.50}}
{"id":2,"v":[1,null,{"q":true}]}
{"id":3,"v":null}
{"id":4,"v":{"a":"text"}}
{"id":5,"v":7}
"#;

fn converted(folder: &Folder, variant: &str) -> String {
    let lines = folder.with("in.jsonl", LINES);
    let file = folder.file("out.parquet");
    let run = ["convert", &lines, &file, "--force", "--variant", variant];
    herringbone(&run).ok("");
    file
}

#[test]
fn variants_are_json_in_every_format() {
    let folder = Folder::new();
    for variant in ["v", "v=none", "v=auto", "v=Int64", "v=List(Int8)"] {
        let file = converted(&folder, variant);
        herringbone(&["cat", "--format", "jsonl", &file]).ok(LINES);
        let csv = "id,v\n1,\"{\"\"a\"\":1,\"\"b\"\":\"\"x\"\",\"\"d\"\":1.50}\"\n\
                   2,\"[1,null,{\"\"q\"\":true}]\"\n3,\n4,\"{\"\"a\"\":\"\"text\"\"}\"\n5,7\n";
        herringbone(&["cat", "--format", "csv", &file]).ok(csv);
        let table = herringbone(&["cat", "--format", "table", &file]).stdout;
        assert!(table.contains("│     2 ┆ [1,null,{\"q\":true}]"), "{table}");
        let out = folder.file("out.jsonl");
        herringbone(&["convert", &file, &out, "--force"]).ok("");
        assert_eq!(std::fs::read_to_string(out).unwrap(), LINES);
    }
}

#[test]
fn schema_shows_the_shredding_and_rewrite_keeps_it() {
    let folder = Folder::new();
    let file = converted(&folder, r#"v=Struct("a": Int64, "b": Utf8)"#);
    let schema = herringbone(&["schema", &file]).stdout;
    let words: Vec<_> = schema.split_whitespace().collect();
    let expected = "optional group v (VARIANT(1)) { required binary metadata; optional binary value; \
         optional group typed_value { required group a { optional binary value; optional int64 \
         typed_value; } required group b { optional binary value; optional binary typed_value \
         (STRING); } } }";
    assert!(words.join(" ").contains(expected), "{schema}");
    let copy = folder.file("copy.parquet");
    herringbone(&["rewrite", &file, &copy]).ok("");
    assert_eq!(herringbone(&["schema", &copy]).stdout, schema);
    herringbone(&["cat", "--format", "jsonl", &copy]).ok(LINES);
    // Files that are shredded differently have the same rows.
    let plain = converted(&folder, "v");
    let both = herringbone(&["cat", "--format", "jsonl", &copy, &plain]);
    both.ok(&LINES.repeat(2));
    let all = folder.file("all.parquet");
    let run = herringbone(&["concat", &copy, &plain, "-o", &all]);
    assert!(
        run.stderr.contains("they are written unshredded"),
        "{}",
        run.stderr
    );
    herringbone(&["cat", "--format", "jsonl", &all]).ok(&LINES.repeat(2));
    let again = herringbone(&["concat", &copy, &copy, "-o", &all, "--force"]);
    again.ok("");
    assert_eq!(herringbone(&["schema", &all]).stdout, schema);
}

#[test]
fn types_that_json_loses_are_named() {
    let folder = Folder::new();
    let lines = folder.with("in.jsonl", "{\"l\":{\"v\":[1e3]}}\n");
    let file = folder.file("out.parquet");
    herringbone(&["convert", &lines, &file, "--variant", "l"]).ok("");
    for format in ["jsonl", "csv", "table"] {
        let run = herringbone(&["cat", "--format", format, &file]);
        assert!(
            run.stderr.contains("types of variants: double;"),
            "{}",
            run.stderr
        );
    }
    let run = herringbone(&["cat", "--format", "arrow", &file]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
}

#[test]
fn what_cannot_be_asked_for() {
    let folder = Folder::new();
    let lines = folder.with("in.jsonl", LINES);
    let out = folder.file("out.parquet");
    let convert = |more: &[&str]| herringbone(&[&["convert", &lines, &out], more].concat());
    convert(&["--variant", "v=Int65"])
        .fails(2, "unknown type `Int65`; use a name of SQL, such as bigint");
    convert(&["--variant", "v=UInt8"]).fails(2, "type UInt8");
    convert(&["--variant", "v="]).fails(2, "expected COLUMN");
    convert(&["--variant", "v", "--variant", "w"]).fails(2, "does not have a column `w`");
    convert(&["--variant", "v=auto", "--to", "csv"]).fails(2, "OUT is not a Parquet file");
    let csv = folder.with("in.csv", "v\n1\n");
    herringbone(&["convert", &csv, &out, "--variant", "v"]).fails(2, "--variant is for JSON lines");
    let twice = folder.with("twice.jsonl", "{\"v\":{\"a\":1,\"a\":2}}\n");
    let run = herringbone(&["convert", &twice, &out, "--variant", "v"]);
    run.fails(3, "column `v`");
    let digits = format!("{{\"v\":{}}}\n", "9".repeat(39));
    let many = folder.with("many.jsonl", digits);
    herringbone(&["convert", &many, &out, "--variant", "v"]).fails(3, "column `v`");
}

/// Conditions can test the values at a path of a variant.
#[test]
fn conditions_on_paths() {
    let folder = Folder::new();
    let (rows, out) = (folder.file("rows.jsonl"), folder.file("out.parquet"));
    let lines = [
        r#"{"id":1,"v":{"a":{"b":7},"t":"x"}}"#,
        r#"{"id":2,"v":{"a":{"b":10.50}}}"#,
        r#"{"id":3,"v":{"a":{"b":"10"}}}"#,
        r#"{"id":4,"v":{"a":[12]}}"#,
        r#"{"id":5,"v":null}"#,
        r#"{"id":6,"v":{"a":{"b":10}}}"#,
    ];
    std::fs::write(&rows, lines.join("\n")).unwrap();
    for shredding in ["v", "v=auto", "v=Struct(\"a\": Struct(\"b\": Int64))"] {
        herringbone(&["convert", "-f", "--variant", shredding, &rows, &out]).code(&[0]);
        let ids = |condition: &str| {
            let run = herringbone(&["cat", "--columns", "id", "--where", condition, &out]);
            run.code(&[0]);
            let ids = run
                .stdout
                .lines()
                .map(|line| line["{\"id\":".len()..].trim_end_matches('}').to_owned());
            ids.collect::<Vec<_>>().join(" ")
        };
        for (condition, expected) in [
            ("variant_get(v, '$.a.b', 'int') >= 7", "1 6"),
            ("variant_get(v, '$.a.b', 'decimal(9,2)') > 7", "2 6"),
            ("10 = variant_get(v, '$.a.b', 'decimal(9,2)')", "6"),
            ("variant_get(v, '$.a.b', 'string') = '10'", "3"),
            ("variant_get(v, '$.a[0]', 'Int64') between 10 and 20", "4"),
            ("variant_get(v, '$.t') is not null", "1"),
            (
                "variant_get(v, '$.a.b', 'int') is null and id < 6",
                "2 3 4 5",
            ),
            ("variant_get(v, '$.a.b', 'double') in (7, 10.5)", "1 2"),
        ] {
            assert_eq!(ids(condition), expected, "{condition} {shredding}");
        }
        herringbone(&["cat", "--where", "variant_get(id, '$.a', 'int') = 1", &out])
            .fails(2, "the field is not a VARIANT");
    }
}

/// These objects have a field both in a column and in `value`. This is an error, unless the user
/// asks for the column's value.
#[test]
fn variants_shredded_against_the_rules() {
    let Some(folder) = std::env::var_os("PARQUET_TEST_DATA") else {
        return;
    };
    let folder = std::path::PathBuf::from(folder).join("../shredded_variant");
    let case = folder.join("case-125-INVALID.parquet");
    let case = case.to_str().unwrap();
    let columns = ["--columns", "var"];
    herringbone(&[&["cat", case], &columns[..]].concat()).fails(3, "also in `value`");
    let lenient = herringbone(&[&["cat", case, "--lenient-variants"], &columns[..]].concat());
    lenient.code(&[0]);
    let folder = Folder::new();
    let out = folder.file("out.jsonl");
    herringbone(&["convert", case, &out]).fails(3, "also in `value`");
    herringbone(&["convert", case, &out, "--lenient-variants"]).code(&[0]);
    let text = std::fs::read_to_string(&out).unwrap();
    let row: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        serde_json::json!({"var": row["var"]}),
        crate::common::json(&lenient)
    );
}

/// Returns integers that are shredded as the field `a`. The field's group is optional, and it is
/// null if the field is missing.
fn with_optional_groups(folder: &Folder) -> String {
    let field = |name: &str, data_type, nullable| Field::new(name, data_type, nullable);
    let parts = vec![
        field("value", DataType::BinaryView, true),
        field("typed_value", DataType::Int64, true),
    ];
    let none: Vec<Option<&[u8]>> = vec![None; 3];
    let values: Vec<ArrayRef> = vec![
        Arc::new(BinaryViewArray::from(none)),
        Arc::new(Int64Array::from(vec![Some(7), None, None])),
    ];
    let nulls = NullBuffer::from(vec![true, false, false]);
    let a = StructArray::new(parts.into(), values, Some(nulls));
    let fields = vec![field("a", a.data_type().clone(), true)];
    let nulls = NullBuffer::from(vec![true, true, false]);
    let typed = StructArray::new(fields.into(), vec![Arc::new(a)], Some(nulls));
    let fields = vec![
        field("metadata", DataType::BinaryView, false),
        field("value", DataType::BinaryView, true),
        field("typed_value", typed.data_type().clone(), true),
    ];
    // A dictionary with the name `a`, and the short string "x".
    let names: &[u8] = &[0x11, 1, 0, 1, b'a'];
    let text: &[u8] = &[5, b'x'];
    let columns: Vec<ArrayRef> = vec![
        Arc::new(BinaryViewArray::from(vec![names; 3])),
        Arc::new(BinaryViewArray::from(vec![None, None, Some(text)])),
        Arc::new(typed),
    ];
    written(folder, StructArray::new(fields.into(), columns, None))
}

/// The specification lets readers accept a null group as a missing field (apache/parquet-format,
/// pull request 512).
#[test]
fn null_groups_are_missing_fields() {
    let folder = Folder::new();
    let file = with_optional_groups(&folder);
    let rows = "{\"v\":{\"a\":7}}\n{\"v\":{}}\n{\"v\":\"x\"}\n";
    herringbone(&["cat", &file]).ok(rows);
    let run = herringbone(&["verify", &file]);
    run.code(&[1]);
    assert!(run.stdout.contains("`v.typed_value.a`"), "{}", run.stdout);
    let out = folder.file("out.parquet");
    for command in ["rewrite", "convert"] {
        herringbone(&[command, "--force", &file, &out]).code(&[0]);
        herringbone(&["cat", &out]).ok(rows);
    }
    herringbone(&["concat", "--force", &file, "-o", &out]).code(&[0]);
    herringbone(&["cat", &out]).ok(rows);
    herringbone(&[
        "split",
        &file,
        "-o",
        &folder.file("{}.parquet"),
        "--part-rows",
        "9",
    ])
    .code(&[0]);
    herringbone(&["cat", &folder.file("00000.parquet")]).ok(rows);
    herringbone(&["diff", &file, &out]).code(&[0]);
    herringbone(&["stats", &file]).code(&[0]);
    herringbone(&["freq", "v", &file]).code(&[0]);
}

/// Each command that has the option heeds it, and each error names it.
#[test]
fn all_commands_can_be_lenient() {
    let folder = Folder::new();
    let file = with_two_values(&folder);
    let out = folder.file("out.parquet");
    let parts = folder.file("{}.parquet");
    for command in [
        &["cat", &file][..],
        &["convert", "--force", &file, &folder.file("out.jsonl")],
        &["stats", &file],
        &["freq", "v", &file],
        &["diff", &file, &file],
    ] {
        herringbone(command).fails(3, "--lenient-variants");
        herringbone(&[command, &["--lenient-variants"]].concat()).code(&[0]);
    }
    // Commands that write Parquet keep the values unchanged, unless the user asks to repair them.
    for (command, out) in [
        (&["convert", "--force", &file, &out][..], &out),
        (&["rewrite", "--force", &file, &out], &out),
        (&["concat", "--force", &file, "-o", &out], &out),
        (
            &["split", "--force", &file, "-o", &parts, "--part-rows", "9"],
            &folder.file("00000.parquet"),
        ),
    ] {
        herringbone(command).code(&[0]);
        herringbone(&["cat", out]).fails(3, "both `value` and `typed_value`");
        herringbone(&[command, &["--lenient-variants"]].concat()).code(&[0]);
        herringbone(&["cat", out]).ok("{\"v\":6}\n{\"v\":7}\n{\"v\":5}\n");
    }
}

/// The error for an invalid variant names the file, the column and the row.
#[test]
fn values_that_are_no_variants_have_a_place() {
    let folder = Folder::new();
    let no_names: &[u8] = &[0x11, 0, 0];
    // A one-byte integer, and another that lacks its byte.
    let (sound, cut): (&[u8], &[u8]) = (&[3 << 2, 5], &[3 << 2]);
    let mut values = vec![Some(sound); 9000];
    values[8500] = Some(cut);
    let fields = vec![
        Field::new("metadata", DataType::BinaryView, false),
        Field::new("value", DataType::BinaryView, true),
    ];
    let columns: Vec<ArrayRef> = vec![
        Arc::new(BinaryViewArray::from(vec![no_names; 9000])),
        Arc::new(BinaryViewArray::from(values)),
    ];
    let file = written(&folder, StructArray::new(fields.into(), columns, None));
    let place = "(column v, row 8500 of the output, counted from 0)";
    for format in ["jsonl", "csv", "table"] {
        let run = herringbone(&["cat", "--format", format, &file]);
        run.fails(3, "v.parquet: corrupt file: ");
        run.fails(3, place);
    }
    let run = herringbone(&["cat", "--offset", "8000", &file]);
    run.fails(3, "(column v, row 500 of the output, counted from 0)");
    let run = herringbone(&["convert", &file, &folder.file("out.jsonl")]);
    run.fails(3, "v.parquet: corrupt file: ");
    run.fails(3, place);
    // A condition only decodes the part of the column that it needs.
    let condition = "variant_get(v, '$', 'int') = 5";
    let run = herringbone(&["count", "--where", condition, &file]);
    run.fails(3, "v.parquet: corrupt file: ");
    run.fails(3, "row group 0");
}

/// Returns integers in a column. The second one also has another value in `value`.
fn with_two_values(folder: &Folder) -> String {
    let field = |name: &str, data_type, nullable| Field::new(name, data_type, nullable);
    let fields = vec![
        field("metadata", DataType::BinaryView, false),
        field("value", DataType::BinaryView, true),
        field("typed_value", DataType::Int64, true),
    ];
    let no_names: &[u8] = &[0x11, 0, 0];
    let five: &[u8] = &[3 << 2, 5];
    let columns: Vec<ArrayRef> = vec![
        Arc::new(BinaryViewArray::from(vec![no_names; 3])),
        Arc::new(BinaryViewArray::from(vec![None, Some(five), Some(five)])),
        Arc::new(Int64Array::from(vec![Some(6), Some(7), None])),
    ];
    written(folder, StructArray::new(fields.into(), columns, None))
}

/// Writes a file whose column `v` has this storage of variants.
fn written(folder: &Folder, storage: StructArray) -> String {
    let field = variant_field("v", storage.data_type().clone(), false);
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(storage)]).unwrap();
    let path = folder.file("v.parquet");
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = Writer::new(file, schema, WriteOptions::new()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    path
}

#[test]
fn conditions_are_as_lenient_as_what_is_read() {
    let folder = Folder::new();
    let file = with_two_values(&folder);
    for (condition, rows) in [
        ("variant_get(v, '$', 'int') >= 6", "{\"v\":6}\n{\"v\":7}\n"),
        ("variant_get(v, '$', 'int') = 5", "{\"v\":5}\n"),
    ] {
        let choice = ["--where", condition, &file];
        let count = format!("{}\n", rows.lines().count());
        let strict = herringbone(&[&["cat"], &choice[..]].concat());
        strict.fails(3, "not shredded as the format requires");
        let column = "column variant_get(v, '$', 'int')";
        assert!(strict.stderr.contains(column), "{}", strict.stderr);
        assert!(!strict.stderr.contains('{'), "{}", strict.stderr);
        herringbone(&[&["cat", "--lenient-variants"], &choice[..]].concat()).ok(rows);
        herringbone(&[&["count"], &choice[..]].concat())
            .fails(3, "not shredded as the format requires");
        herringbone(&[&["count", "--lenient-variants"], &choice[..]].concat()).ok(&count);
    }
}

/// A JSON `null` is a value of a variant, so a non-nullable column accepts it.
#[test]
fn nulls_of_a_required_variant_come_back() {
    let folder = Folder::new();
    let storage = ShreddingType::Unshredded.storage_type().unwrap();
    let schema = Arc::new(Schema::new(vec![variant_field("v", storage, false)]));
    let first = folder.file("schema.parquet");
    let file = std::fs::File::create(&first).unwrap();
    let writer = Writer::new(file, schema, WriteOptions::default()).unwrap();
    writer.finish().unwrap();
    let lines = "{\"v\":null}\n{\"v\":{\"a\":null}}\n{\"v\":1}\n";
    let (json, out) = (folder.with("rows.jsonl", lines), folder.file("out.parquet"));
    herringbone(&["convert", "--schema", &first, &json, &out]).ok("");
    herringbone(&["cat", &out]).ok(lines);
    let schema = herringbone(&["schema", &out]).stdout;
    assert!(schema.contains("required group v (VARIANT"), "{schema}");
}
