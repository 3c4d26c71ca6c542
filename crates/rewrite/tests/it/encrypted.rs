//! Keeps, replaces and leaves out the encryption of files.

use std::sync::Arc;

use herringbone::arrow::array::{RecordBatch, new_null_array};
use herringbone::arrow::schema::{DataType, SchemaRef};
use herringbone::encryption::properties::EncryptionKey;
use herringbone::encryption::{FileDecryptionProperties, FileEncryptionProperties, Key};
use herringbone::{ErrorKind, OpenOptions, ParquetFile, Remedy, Result, WriteOptions, Writer};
use herringbone_rewrite::encryption::{InTheClear, Protection};
use herringbone_rewrite::{Carried, CarryOver, ColumnOrigin, InputFile};

use crate::files::schema;

fn key(byte: u8) -> Key {
    Key::new(&[byte; 16]).unwrap()
}

fn two() -> SchemaRef {
    schema(&[("a", DataType::Int32), ("b", DataType::Int32)])
}

fn decryption() -> FileDecryptionProperties {
    let builder = FileDecryptionProperties::builder()
        .footer_key(key(1))
        .allow_plaintext(true);
    builder.column_key(["b"], key(2)).build().unwrap()
}

/// Writes a file with two row groups, whose column `b` has its own key.
fn file(metadata: Option<&str>, plaintext_footer: bool) -> ParquetFile {
    let footer_key = match metadata {
        Some(metadata) => EncryptionKey::with_metadata(key(1), metadata),
        None => key(1).into(),
    };
    let properties = FileEncryptionProperties::builder(footer_key)
        .column_key(["b"], key(2))
        .plaintext_footer(plaintext_footer)
        .build()
        .unwrap();
    written(WriteOptions::new().encryption(Arc::new(properties)))
}

fn written(options: WriteOptions) -> ParquetFile {
    let columns = two()
        .fields()
        .iter()
        .map(|field| new_null_array(field.data_type(), 2))
        .collect();
    let batch = RecordBatch::try_new(two(), columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, two(), options.row_group_rows(1)).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let options = OpenOptions::new().decryption(Arc::new(decryption()));
    ParquetFile::from_bytes_with(bytes, options).unwrap()
}

/// Carries files' properties over, and returns the outcome, with true if the new file is encrypted.
fn carried(
    mut carry_over: CarryOver,
    files: &[&ParquetFile],
    new: &SchemaRef,
) -> Result<(Carried, bool)> {
    let keys = decryption();
    for (at, file) in files.iter().enumerate() {
        let name = (at + 1).to_string();
        carry_over.add(InputFile::new(&name, file, &[0, 1]).decryption(Some(&keys)))?;
    }
    let mut options = WriteOptions::new();
    let carried = carry_over.apply(new, &mut options)?;
    Ok((carried, options.encryption.is_some()))
}

#[test]
fn encryption_is_kept_replaced_or_left_out() {
    let encrypted = file(None, false);
    let is_encrypted = |protection, file: &ParquetFile| {
        carried(CarryOver::new().protection(protection), &[file], &two())
            .unwrap()
            .1
    };
    assert!(is_encrypted(Protection::Keep, &encrypted));
    assert!(!is_encrypted(Protection::Decrypt, &encrypted));
    let plain = written(WriteOptions::new());
    assert!(!is_encrypted(Protection::Keep, &plain));
    let other = FileEncryptionProperties::builder(key(3)).build().unwrap();
    assert!(is_encrypted(Protection::Encrypt(Box::new(other)), &plain));
    assert!(
        carried(CarryOver::new(), &[], &two())
            .unwrap()
            .0
            .notes
            .is_empty()
    );
}

#[test]
fn keys_and_equal_encryptions_are_needed() {
    let encrypted = file(None, false);
    let error = CarryOver::new()
        .add(InputFile::new("1", &encrypted, &[0]))
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.remedy()),
        (ErrorKind::Key, Some(Remedy::GiveKeys))
    );
    assert!(
        carried(CarryOver::new(), &[&encrypted, &file(None, false)], &two())
            .unwrap()
            .1
    );
    for other in [
        written(WriteOptions::new()),
        file(None, true),
        file(Some("other"), false),
    ] {
        let error = carried(CarryOver::new(), &[&encrypted, &other], &two()).unwrap_err();
        assert_eq!(error.remedy(), Some(Remedy::DecryptFirst), "{error}");
    }
    let origins = CarryOver::new().origins(vec![ColumnOrigin::new(["a"], "z")]);
    let renamed = schema(&[("z", DataType::Int32)]);
    assert_eq!(
        carried(origins, &[&encrypted], &renamed)
            .unwrap_err()
            .kind(),
        ErrorKind::Unsupported
    );
    // If the files lack a column, its key is not known.
    let more = schema(&[("a", DataType::Int32), ("c", DataType::Int32)]);
    let error = carried(CarryOver::new(), &[&encrypted], &more).unwrap_err();
    assert_eq!(error.location().column.as_deref(), Some("c"));
    assert!(
        carried(
            CarryOver::new(),
            &[&encrypted],
            &schema(&[("b", DataType::Int32)])
        )
        .unwrap()
        .1
    );
}

#[test]
fn key_material_outside_the_file_is_noticed() {
    let has_external = |metadata: Option<&str>| {
        let file = file(metadata, false);
        carried(CarryOver::new(), &[&file], &two())
            .unwrap()
            .0
            .external_key_material
    };
    assert!(!has_external(None));
    assert!(!has_external(Some("a name")));
    // parquet-java writes this form, which refers to a file next to the data.
    let external =
        r#"{"keyMaterialType":"PKMT1","internalStorage":false,"keyReference":"footerKey"}"#;
    assert!(has_external(Some(external)));
}

#[test]
fn the_description_in_the_clear_needs_no_keys() {
    let clear = |file: &ParquetFile| InTheClear::of(file).unwrap();
    assert!(clear(&written(WriteOptions::new())).is_none());
    let encrypted = clear(&file(Some("name"), false)).unwrap();
    assert!(!encrypted.plaintext_footer && !encrypted.is_duckdb_dialect());
    assert_eq!(encrypted.crypto.key_metadata.as_deref(), Some(&b"name"[..]));
    let signed = clear(&file(Some("name"), true)).unwrap();
    assert!(signed.plaintext_footer && !signed.is_duckdb_dialect());
    assert_eq!(signed.crypto.key_metadata.as_deref(), Some(&b"name"[..]));
}
