//! Tests key-value metadata in the footer, and also in the Arrow schema, from which Arrow C++ reads it.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use herringbone::format::KeyValue;
use herringbone::geospatial::geoparquet::Version;
use herringbone::geospatial::{GeoParquetOptions, Geospatial};
use herringbone::{ParquetFile, ReadOptions, WriteOptions, Writer};
use herringbone_arrow::array::{ArrayRef, BinaryArray, LargeStringArray, RecordBatch};
use herringbone_arrow::schema::{DataType, Field, Schema};

use crate::files::arrow_schema;

fn pairs(pairs: &[(&str, &str)]) -> HashMap<String, String> {
    let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    pairs.iter().map(owned).collect()
}

fn pair(key: &str, value: &str) -> KeyValue {
    KeyValue::new(key, value)
}

/// Writes a file with one column that needs the Arrow schema.
fn written(metadata: HashMap<String, String>, options: WriteOptions) -> ParquetFile {
    let texts: ArrayRef = Arc::new(LargeStringArray::from(vec!["a"]));
    let field = Field::new("s", texts.data_type().clone(), true);
    let schema = Arc::new(Schema::new_with_metadata(vec![field], metadata));
    file(&RecordBatch::try_new(schema, vec![texts]).unwrap(), options)
}

fn file(batch: &RecordBatch, options: WriteOptions) -> ParquetFile {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    ParquetFile::from_bytes(bytes).unwrap()
}

/// Returns the footer's pairs, without the pair of the Arrow schema.
fn in_footer(file: &ParquetFile) -> Vec<(&str, Option<&str>)> {
    let all = file.metadata().key_value_metadata().iter();
    let all = all.filter(|pair| pair.key != "ARROW:schema");
    all.map(|pair| (pair.key.as_str(), pair.text())).collect()
}

fn read(file: &ParquetFile) -> HashMap<String, String> {
    let reader = file.read(ReadOptions::default()).unwrap();
    let schema = reader.schema();
    let metadata = schema.metadata().iter();
    metadata
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn in_arrow_schema(file: &ParquetFile) -> HashMap<String, String> {
    let schema = arrow_schema(file);
    let metadata = schema.metadata().iter();
    metadata
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

#[test]
fn pairs_of_the_schema_and_of_the_options_are_in_both_places() {
    let options = WriteOptions::new()
        .key_value_metadata(vec![pair("asked", "1")])
        .key_value_metadata(vec![
            pair("both", "of the options"),
            KeyValue::without_value("none"),
        ]);
    let metadata = pairs(&[("pandas", "{}"), ("both", "of the schema")]);
    let file = written(metadata, options);
    let expected = [
        ("pandas", Some("{}")),
        ("asked", Some("1")),
        ("both", Some("of the options")),
        ("none", None),
    ];
    assert_eq!(in_footer(&file), expected);
    let expected = [
        ("pandas", "{}"),
        ("asked", "1"),
        ("both", "of the options"),
        ("none", ""),
    ];
    assert_eq!(in_arrow_schema(&file), pairs(&expected));
    assert_eq!(read(&file), pairs(&expected));
}

#[test]
fn the_last_pair_of_a_key_counts() {
    let repeated = vec![pair("k", "1"), pair("k", "2")];
    let file = written(
        HashMap::new(),
        WriteOptions::new().key_value_metadata(repeated),
    );
    assert_eq!(in_footer(&file), [("k", Some("1")), ("k", Some("2"))]);
    assert_eq!(in_arrow_schema(&file), pairs(&[("k", "2")]));
    assert_eq!(read(&file), pairs(&[("k", "2")]));
}

/// If pairs describe one file, they are not copied into the next one.
#[test]
fn schemas_are_not_in_themselves() {
    let copied = pairs(&[
        ("ARROW:schema", "old"),
        ("herringbone:schema", "old"),
        ("k", "v"),
    ]);
    let file = written(copied, WriteOptions::new());
    assert_eq!(in_footer(&file), [("k", Some("v"))]);
    assert_eq!(in_arrow_schema(&file), pairs(&[("k", "v")]));
    let mine = WriteOptions::new().key_value_metadata(vec![pair("ARROW:schema", "mine")]);
    let file = written(HashMap::new(), mine);
    let all = file.metadata().key_value_metadata();
    assert_eq!(all, [pair("ARROW:schema", "mine")]);
}

/// GeoParquet metadata is only known after all geometries are written.
#[test]
fn pairs_that_are_known_in_the_end() {
    let point = [
        1_u8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0x40,
    ];
    let points: ArrayRef = Arc::new(BinaryArray::from_iter_values([point]));
    let texts: ArrayRef = Arc::new(LargeStringArray::from(vec!["a"]));
    let geometry = Field::new("g", points.data_type().clone(), true)
        .with_metadata(pairs(&[("ARROW:extension:name", "geoarrow.wkb")]));
    let fields = vec![geometry, Field::new("s", texts.data_type().clone(), true)];
    let schema = Schema::new_with_metadata(fields, pairs(&[("geo", "old")]));
    let batch = RecordBatch::try_new(Arc::new(schema), vec![points, texts]).unwrap();
    let options = Geospatial::new()
        .geoparquet(GeoParquetOptions::new(Version::V1_1))
        .write_options(WriteOptions::new());
    let file = file(&batch, options);
    let [("geo", Some(geo))] = in_footer(&file)[..] else {
        panic!("{:?}", in_footer(&file));
    };
    assert!(geo.contains("[1.0,2.0,1.0,2.0]"), "{geo}");
    assert_eq!(in_arrow_schema(&file), pairs(&[("geo", geo)]));
}

/// The test measures no time, but 10^10 comparisons between pairs would take minutes.
#[test]
fn a_hundred_thousand_pairs() {
    const PAIRS: usize = 100_000;
    let schema_pairs = (0..PAIRS).map(|i| (format!("schema {i}"), String::new()));
    let option_pairs = (0..PAIRS).map(|i| pair(&format!("option {i}"), ""));
    let options = WriteOptions::new().key_value_metadata(option_pairs);
    let file = written(schema_pairs.collect(), options);
    assert_eq!(in_footer(&file).len(), 2 * PAIRS);
    assert_eq!(in_arrow_schema(&file).len(), 2 * PAIRS);
    assert_eq!(read(&file).len(), 2 * PAIRS);
}

/// A value's bytes are in the footer, and unchanged in the Arrow schema, because Arrow C++ looks for them there.
#[test]
fn values_of_any_bytes_are_kept() {
    let pickle: &[u8] = &[0x80, 0x04, 0x95, 0xFF, 0x00, b'a'];
    let added = vec![KeyValue::new("pickle", pickle), pair("text", "t")];
    let file = written(
        pairs(&[("of the schema", "s")]),
        WriteOptions::new().key_value_metadata(added),
    );
    let found = file.metadata().key_value_metadata().iter();
    let found: Vec<_> = found.filter(|found| found.key == "pickle").collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].value.as_deref(), Some(pickle));
    assert_eq!(found[0].text(), None);
    let schema_pairs = file.metadata().key_value_metadata().iter();
    let schema_pairs = schema_pairs.filter(|it| it.key == "ARROW:schema");
    let schema_pairs: Vec<_> = schema_pairs.filter_map(KeyValue::text).collect();
    let bytes = STANDARD.decode(schema_pairs[0]).unwrap();
    // A flatbuffer has a text's length before it, and a zero after it.
    let stored = [&[6, 0, 0, 0], pickle, &[0]].concat();
    assert_eq!(
        bytes.windows(11).filter(|window| *window == stored).count(),
        1
    );
    // Arrow in Rust only has text, but the types do not suffer.
    let expected = pairs(&[("of the schema", "s"), ("text", "t")]);
    assert_eq!(read(&file), expected);
    let reader = file.read(ReadOptions::new()).unwrap();
    assert_eq!(reader.schema().field(0).data_type(), &DataType::LargeUtf8);
    assert_eq!(reader.warnings(), [""; 0]);
}
