//! Tests columns that a path into variants makes, and the columns that they read.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::{Float64Type, Int32Type, Int64Type};
use herringbone::arrow::array::{Array, ArrayRef, RecordBatch};
use herringbone::arrow::schema::DataType;
use herringbone::source::{FetchPolicy, Source};
use herringbone::variant::extension::{Shredding, VariantExtension, VariantGet};
use herringbone::variant::shredding::{GetOptions, OnCastError, ShreddingType};
use herringbone::variant::{PrimitiveType, VariantPath};
use herringbone::{Error, ErrorKind, Limits, ParquetFile, ReadOptions, Result, WriteOptions};

use super::{array, batch, batches, bytes, json, object, primitive, texts, written};
use crate::extensions::whole::by_all;
use crate::noting::without_tail;

const ROWS: [Option<&str>; 9] = [
    Some(r#"{"a":{"b":1,"x":"y"},"n":1.5,"tags":["p","q"]}"#),
    Some(r#"{"a":{"b":"text","c":[{"d":7}]},"tags":[null,3]}"#),
    None,
    Some("null"),
    Some(r#"{"a":null,"n":2,"tags":{}}"#),
    Some(r#"{"a":{"b":null}}"#),
    Some("[1,2]"),
    Some(r#"{"a":{"c":[]},"tags":[]}"#),
    Some(r#"{"a":{"b":300000000000},"tags":["r"]}"#),
];

fn shreddings() -> Vec<ShreddingType> {
    let int = || primitive(PrimitiveType::Int64);
    let text = || primitive(PrimitiveType::String);
    vec![
        ShreddingType::Unshredded,
        object(&[("a", object(&[("b", int())]))]),
        object(&[
            (
                "a",
                object(&[
                    ("b", int()),
                    ("c", ShreddingType::Array(Box::new(object(&[("d", int())])))),
                ]),
            ),
            ("tags", ShreddingType::Array(Box::new(text()))),
            ("n", primitive(PrimitiveType::Double)),
        ]),
        object(&[("a", ShreddingType::Unshredded), ("tags", text())]),
        object(&[
            ("a", object(&[("x", text())])),
            ("tags", ShreddingType::Array(Box::new(int()))),
        ]),
        ShreddingType::Array(Box::new(int())),
        int(),
    ]
}

fn file(shredding: ShreddingType) -> ParquetFile {
    let rows = batch(array(&ROWS, ShreddingType::Unshredded));
    written(&[rows], Shredding::As(shredding))
}

fn path(text: &str) -> VariantPath {
    text.parse().unwrap()
}

/// Reads a path with all drivers, alone and next to the whole variant.
fn get(file: &ParquetFile, get: &VariantGet) -> ArrayRef {
    let alone = || {
        let options = ReadOptions::new().columns::<String>([]);
        options.extension_column("x", ["v"], get.clone())
    };
    let beside = || {
        let options = ReadOptions::new().extension(VariantExtension::new());
        options.extension_column("x", ["v"], get.clone())
    };
    let alone = by_all(file, alone).remove(0);
    let beside = by_all(file, beside).remove(0);
    let column = |batch: &RecordBatch| batch.column_by_name("x").unwrap().clone();
    match get_type(&column(&alone)) {
        true => assert_eq!(json(&column(&alone)), json(&column(&beside))),
        false => assert_eq!(&column(&alone), &column(&beside)),
    }
    column(&alone)
}

fn get_type(array: &ArrayRef) -> bool {
    matches!(array.data_type(), DataType::Struct(_))
}

#[test]
fn the_same_from_any_shredding() {
    for shredding in shreddings() {
        let file = file(shredding.clone());
        let variants = |text: &str| json(&get(&file, &VariantGet::new(path(text))));
        let none = None;
        assert_eq!(
            variants("$.a.b"),
            texts(&[
                Some("1"),
                Some("\"text\""),
                none,
                none,
                none,
                Some("null"),
                none,
                none,
                Some("300000000000")
            ]),
            "{shredding:?}"
        );
        assert_eq!(
            variants("$.a.c[0].d"),
            texts(&[none, Some("7"), none, none, none, none, none, none, none])
        );
        assert_eq!(
            variants("$.tags[1]"),
            texts(&[
                Some("\"q\""),
                Some("3"),
                none,
                none,
                none,
                none,
                none,
                none,
                none
            ])
        );
        assert_eq!(
            variants("$.tags[0]"),
            texts(&[
                Some("\"p\""),
                Some("null"),
                none,
                none,
                none,
                none,
                none,
                none,
                Some("\"r\"")
            ])
        );
        assert_eq!(
            variants("$[1]"),
            texts(&[none, none, none, none, none, none, Some("2"), none, none])
        );
        assert_eq!(variants("$.a.b.c"), vec![None; 9]);
        assert_eq!(variants("$.zz"), vec![None; 9]);
        assert_eq!(variants("$"), texts(&ROWS), "{shredding:?}");
        assert_eq!(
            variants("$.a")[1].as_deref(),
            Some(r#"{"b":"text","c":[{"d":7}]}"#)
        );
    }
}

#[test]
fn the_same_types_from_any_shredding() {
    for shredding in shreddings() {
        let file = file(shredding.clone());
        let as_type = |text: &str, wanted| get(&file, &VariantGet::new(path(text)).as_type(wanted));
        let ints = as_type("$.a.b", PrimitiveType::Int64);
        let ints: Vec<_> = ints.as_primitive::<Int64Type>().iter().collect();
        let mut expected = [None; 9];
        (expected[0], expected[8]) = (Some(1), Some(300_000_000_000));
        assert_eq!(ints, expected, "{shredding:?}");
        // Values that do not fit are null.
        let ints = as_type("$.a.b", PrimitiveType::Int32);
        let ints: Vec<_> = ints.as_primitive::<Int32Type>().iter().collect();
        assert_eq!((ints[0], ints[8]), (Some(1), None));
        let doubles = as_type("$.n", PrimitiveType::Double);
        let doubles: Vec<_> = doubles.as_primitive::<Float64Type>().iter().collect();
        assert_eq!(
            (doubles[0], doubles[4], doubles[5]),
            (Some(1.5), Some(2.0), None)
        );
        let tags = as_type("$.tags[1]", PrimitiveType::String);
        assert_eq!(
            tags.as_string_view().iter().flatten().collect::<Vec<_>>(),
            ["q"]
        );
    }
}

#[test]
fn misfits_are_errors_on_request() {
    let mut options = GetOptions::default();
    options.on_cast_error = OnCastError::Error;
    for shredding in shreddings() {
        let file = file(shredding);
        let read = |text: &str, wanted| {
            let get = VariantGet::new(path(text)).as_type(wanted);
            let get = get.options(options.clone());
            let options = ReadOptions::new().columns::<String>([]);
            batches(&file, options.extension_column("x", ["v"], get))
        };
        for (text, wanted) in [
            ("$.a.b", PrimitiveType::Int64),
            ("$.tags", PrimitiveType::String),
            ("$.a", PrimitiveType::Int64),
        ] {
            let error = read(text, wanted).unwrap_err();
            assert!(
                error
                    .to_string()
                    .contains("does not have the requested type"),
                "{error}"
            );
        }
        assert!(read("$.a.c[0].d", PrimitiveType::Int8).is_ok());
    }
}

#[test]
fn what_there_is_no_column_of() {
    let file = file(ShreddingType::Unshredded);
    let plan = |name: &str, get: VariantGet| {
        let options = ReadOptions::new().extension_column("x", [name], get);
        let error = file.plan(&options).unwrap_err();
        (error.kind(), error.to_string())
    };
    let (kind, text) = plan("v", VariantGet::new(path("$.a[*]")));
    assert!(
        kind == ErrorKind::Unsupported && text.contains("[*]"),
        "{text}"
    );
    let decimal = PrimitiveType::Decimal {
        precision: 39,
        scale: 0,
    };
    let (kind, _) = plan("v", VariantGet::new(path("$")).as_type(decimal));
    assert_eq!(kind, ErrorKind::Argument);
    let rows = bytes(&[crate::extensions::whole_batch()], WriteOptions::new()).unwrap();
    let other = ParquetFile::from_bytes(rows).unwrap();
    let get = VariantGet::new(path("$"));
    let error = other.plan(&ReadOptions::new().extension_column("x", ["id"], get));
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("the field is not a VARIANT")
    );
}

/// Bytes in memory that record the ranges that are read from them.
#[derive(Clone)]
struct Noting(Bytes, Arc<Mutex<Vec<Range<u64>>>>);

impl Source for Noting {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes, Error> {
        self.1.lock().unwrap().push(range.clone());
        self.0.read(range)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        without_tail()
    }
}

/// Returns objects of 100 fields, in which two fields have another type in some rows.
fn wide(rows: usize) -> RecordBatch {
    let row = |row: usize| {
        let field = |field: usize| match (field % 50, row % 10) {
            (1, 3) => format!(r#""f{field:02}": "none""#),
            _ => format!(r#""f{field:02}": {}"#, row * 100 + field),
        };
        let fields: Vec<String> = (0..100).map(field).collect();
        format!("{{{}}}", fields.join(","))
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    let rows: Vec<Option<&str>> = rows.iter().map(|row| Some(row.as_str())).collect();
    batch(array(&rows, ShreddingType::Unshredded))
}

/// Returns the columns that a path reads. Checks that they are read whole, and that no other byte is read.
fn columns_read(file: &Bytes, get: VariantGet) -> Vec<String> {
    let noting = Noting(file.clone(), Arc::default());
    let file = ParquetFile::from_source(noting.clone(), Limits::default()).unwrap();
    noting.1.lock().unwrap().clear();
    let options = ReadOptions::new().columns::<String>([]).threads(1);
    let options = options.extension_column("x", ["v"], get);
    for batch in file.read(options).unwrap() {
        batch.unwrap();
    }
    let reads = noting.1.lock().unwrap();
    let mut bytes: u64 = reads.iter().map(|range| range.end - range.start).sum();
    let mut names = Vec::new();
    for leaf in 0..file.parquet_schema().leaves().len() {
        let chunk = file.metadata().column_chunk(0, leaf).unwrap();
        let chunk = chunk.meta_data.unwrap();
        let start = chunk
            .dictionary_page_offset
            .unwrap_or(chunk.data_page_offset) as u64;
        let end = start + chunk.total_compressed_size as u64;
        let is_read = |range: &Range<u64>| range.start < end && start < range.end;
        if reads.iter().any(is_read) {
            bytes -= end - start;
            names.push(file.parquet_schema().column_path(leaf));
        }
    }
    assert_eq!(bytes, 0, "bytes that {names:?} do not have");
    names.sort();
    names
}

#[test]
fn a_path_reads_its_own_columns_alone() {
    let options = VariantExtension::new().shredding(Shredding::Infer(Default::default()));
    let options = WriteOptions::new().extension(options);
    let file = bytes(&[wide(3000)], options).unwrap();
    let get = |text: &str| VariantGet::new(path(text));
    let of = |name: &str, part: &str| format!("v.typed_value.{name}.{part}");
    // The whole field is shredded, as statistics show.
    let typed = columns_read(&file, get("$.f07").as_type(PrimitiveType::Int64));
    assert_eq!(typed, [of("f07", "typed_value")]);
    assert_eq!(
        columns_read(&file, get("$.f07")),
        [of("f07", "typed_value")]
    );
    // The field is partly shredded.
    let names = [
        "v.metadata".to_owned(),
        of("f51", "typed_value"),
        of("f51", "value"),
    ];
    let typed = columns_read(&file, get("$.f51").as_type(PrimitiveType::Int64));
    assert_eq!(typed, names);
    // The field does not occur, and the objects have no unshredded rest, so a column without values is enough.
    let shredded = ParquetFile::from_bytes(file).unwrap();
    let options = ReadOptions::new().columns::<String>([]);
    let plan = shredded.plan(&options.extension_column("x", ["v"], get("$.missing")));
    let leaves: Vec<usize> = plan.unwrap().leaves().collect();
    let names = leaves
        .iter()
        .map(|leaf| shredded.parquet_schema().column_path(*leaf));
    assert_eq!(names.collect::<Vec<_>>(), ["v.value"]);
    // This file is not shredded.
    let file = bytes(&[wide(10)], WriteOptions::new()).unwrap();
    let typed = columns_read(&file, get("$.f07").as_type(PrimitiveType::Int64));
    assert_eq!(typed, ["v.metadata", "v.value"]);
}

/// Options for other Arrow layouts change the layout of columns, but no value.
#[test]
fn any_layout_of_the_read() {
    use herringbone::schema::{ByteLayout, DictionaryOutput, ListLayout};
    let mut layouts = vec![herringbone::SchemaOptions::default(); 4];
    layouts[0].strings = ByteLayout::Views;
    layouts[0].lists = ListLayout::Views;
    layouts[1].strings = ByteLayout::LargeOffsets;
    layouts[1].lists = ListLayout::LargeOffsets;
    layouts[2].dictionary = DictionaryOutput::Always;
    layouts[3].smallest_decimals = true;
    layouts[3].use_arrow_schema = false;
    for shredding in shreddings() {
        let file = file(shredding);
        for layout in &layouts {
            let options = || {
                let tag = VariantGet::new(path("$.tags[0]")).as_type(PrimitiveType::String);
                ReadOptions::new()
                    .schema(layout.clone())
                    .extension(VariantExtension::new())
                    .extension_column("b", ["v"], VariantGet::new(path("$.a.b")))
                    .extension_column("tag", ["v"], tag)
            };
            let read = by_all(&file, options).remove(0);
            assert_eq!(json(read.column(0)), texts(&ROWS), "{layout:?}");
            assert_eq!(json(read.column(1))[8].as_deref(), Some("300000000000"));
            let tags = read.column(2).as_string_view().iter().flatten();
            assert_eq!(tags.collect::<Vec<_>>(), ["p", "r"]);
            // We can write the stored form again.
            let stored = ReadOptions::new().schema(layout.clone());
            let stored = batches(&file, stored).unwrap();
            let copy = written(&stored, Shredding::AsStored);
            assert_eq!(super::read(&copy), texts(&ROWS), "{layout:?}");
        }
    }
}

/// A path only needs its columns' keys, and we use the statistics of encrypted columns.
#[test]
fn paths_into_encrypted_files() {
    use herringbone::encryption::{
        FileDecryptionProperties, FileEncryptionProperties, Key, KeyLength,
    };
    let key = || Key::generate(KeyLength::Bits128).unwrap();
    let (footer, other) = (key(), key());
    let properties = FileEncryptionProperties::builder(footer.clone())
        .column_key(["v", "metadata"], other.clone())
        .column_key(["v", "value"], other)
        .build()
        .unwrap();
    let extension = VariantExtension::new().shredding(Shredding::Infer(Default::default()));
    let options = WriteOptions::new().extension(extension);
    let options = options.encryption(Arc::new(properties));
    let file = bytes(&[wide(3000)], options).unwrap();
    let properties = FileDecryptionProperties::builder().footer_key(footer);
    let open = herringbone::OpenOptions::new();
    let open = open.decryption(Arc::new(properties.build().unwrap()));
    let file = ParquetFile::from_source(file, open).unwrap();
    let get = |text: &str| VariantGet::new(path(text)).as_type(PrimitiveType::Int64);
    let options = ReadOptions::new().columns::<String>([]);
    let options = options.extension_column("x", ["v"], get("$.f07"));
    let plan = file.plan(&options).unwrap();
    assert_eq!(plan.leaves().count(), 1);
    for threads in [1, 4] {
        let read = batches(&file, options.clone().threads(threads)).unwrap();
        let values = read
            .iter()
            .flat_map(|read| read.column(0).as_primitive::<Int64Type>());
        assert!(values.eq((0..3000).map(|row| Some(row * 100 + 7))));
    }
    // If a path's values need names, it needs the key of the names.
    let options = ReadOptions::new().columns::<String>([]);
    let options = options.extension_column("x", ["v"], get("$.f51"));
    let error = batches(&file, options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
}
