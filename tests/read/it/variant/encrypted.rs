//! Paths into encrypted files find the same rows and pages as paths into plaintext files.

use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, RecordBatch};
use herringbone::encryption::{FileDecryptionProperties, FileEncryptionProperties, Key};
use herringbone::filter::{Column, Predicate};
use herringbone::variant::PrimitiveType;
use herringbone::variant::extension::{Shredding, VariantExtension, VariantGet};
use herringbone::{ErrorKind, OpenOptions, ParquetFile, ReadOptions, WriteOptions};

use super::filter::{numbers, options, pages_read, rows, table};
use super::{batches, bytes, object, primitive};
use crate::encryption::by_all;
use crate::noting::Noting;
use crate::random::Random;

fn key(byte: u8) -> Key {
    Key::new(&[byte; 16]).unwrap()
}

/// The columns that have keys of their own, with the columns of unshredded values first.
const COLUMNS: [&[&str]; 4] = [
    &["v", "metadata"],
    &["v", "value"],
    &["v", "typed_value", "a"],
    &["v", "typed_value", "b"],
];

fn encrypted(options: WriteOptions, columns: usize, plaintext_footer: bool) -> WriteOptions {
    let mut properties =
        FileEncryptionProperties::builder(key(9)).plaintext_footer(plaintext_footer);
    for (byte, column) in (1..).zip(COLUMNS).take(columns) {
        properties = properties.column_key(column.iter().copied(), key(byte));
    }
    options.encryption(Arc::new(properties.build().unwrap()))
}

/// Returns options with the keys of these columns.
fn open(columns: &[&[&str]]) -> OpenOptions {
    let mut properties = FileDecryptionProperties::builder().footer_key(key(9));
    for (byte, column) in (1..).zip(COLUMNS) {
        if columns.contains(&column) {
            properties = properties.column_key(column.iter().copied(), key(byte));
        }
    }
    OpenOptions::new().decryption(Arc::new(properties.build().unwrap()))
}

fn number(test: fn(Column) -> Predicate) -> Predicate {
    let get = VariantGet::new("$.a".parse().unwrap()).as_type(PrimitiveType::Int64);
    get.filter(["v"], test)
}

fn shredded() -> Shredding {
    Shredding::As(object(&[
        ("a", primitive(PrimitiveType::Int64)),
        ("b", primitive(PrimitiveType::String)),
    ]))
}

#[test]
fn paths_find_the_same_rows_with_keys() {
    let table = table(&rows(&mut Random(5), 600));
    for (shredding, columns) in [(shredded(), 4), (Shredding::None, 2)] {
        let mut written = options(shredding, 10);
        written.row_group_rows = 150;
        let plain = bytes(std::slice::from_ref(&table), written.clone()).unwrap();
        let plain = ParquetFile::from_bytes(plain).unwrap();
        for plaintext_footer in [false, true] {
            let written = encrypted(written.clone(), columns, plaintext_footer);
            let file = bytes(std::slice::from_ref(&table), written).unwrap();
            let file = ParquetFile::from_source(file, open(&COLUMNS[..columns])).unwrap();
            let mut found = 0;
            for predicate in [
                number(|it| it.eq(40)),
                number(|it| it.between(100, 140)),
                number(|it| it.ge(290)),
                number(|it| it.is_null()),
                number(|it| it.lt(-1)),
            ] {
                let options = || {
                    let text = VariantGet::new("$.b".parse().unwrap());
                    ReadOptions::new()
                        .extension(VariantExtension::new())
                        .extension_column("b", ["v"], text.as_type(PrimitiveType::String))
                        .filter(predicate.clone())
                };
                let read = by_all(&file, options);
                let expected = batches(&plain, options()).unwrap();
                let columns = |batches: &[RecordBatch]| -> Vec<Vec<ArrayRef>> {
                    batches
                        .iter()
                        .map(|batch| batch.columns().to_vec())
                        .collect()
                };
                assert_eq!(columns(&read), columns(&expected), "{predicate}");
                found += numbers(&read).len();
            }
            assert!(found > 100, "{found}");
        }
    }
}

#[test]
fn bounds_of_encrypted_columns_leave_pages() {
    let mut random = Random(5);
    // Each page only has integers.
    let mut values = rows(&mut random, 6_000);
    for (at, value) in values.iter_mut().enumerate() {
        let json = format!(r#"{{"a":{at},"b":"text of row {at}"}}"#);
        *value = Some(herringbone::variant::VariantBuf::from_json(&json).unwrap());
    }
    let written = encrypted(options(shredded(), 1000), 4, false);
    let batch = table(&values);
    // The path's key is enough, because neither the names nor the unshredded values are read.
    let (source, file) = Noting::opened(&batch, written, open(&[COLUMNS[2]]));
    let read = |predicate: Predicate| {
        let options = ReadOptions::new().columns(["row"]).threads(1);
        let read = batches(&file, options.filter(predicate));
        read.map(|batches| (numbers(&batches), source.take()))
    };
    file.offset_index(0, 0).unwrap();
    source.take();
    let (found, reads) = read(number(|it| it.eq(3_123))).unwrap();
    assert_eq!(found, [3_123]);
    let typed = "v.typed_value.a.typed_value";
    assert_eq!(pages_read(&file, typed, &reads), [3]);
    assert_eq!(pages_read(&file, "row", &reads), [3]);
    let (found, reads) = read(number(|it| it.gt(6_000))).unwrap();
    assert_eq!(
        (found.len(), pages_read(&file, typed, &reads).len()),
        (0, 0)
    );
    let text = VariantGet::new("$.b".parse().unwrap()).as_type(PrimitiveType::String);
    let error = read(text.filter(["v"], |text| text.eq("text of row 7"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
}
