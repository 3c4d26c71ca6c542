//! Reads the encrypted files of apache/parquet-testing.

use std::sync::Arc;

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::{
    Float32Type, Float64Type, Int64Type, Time32MillisecondType,
};
use herringbone::encryption::key_tools::{
    FileKeyMaterialStore, InMemoryKms, KeyTools, KmsClient, KmsConnection, KmsUrlPolicy,
};
use herringbone::encryption::properties::{FileDecryptionPropertiesBuilder, KeyAnswer, KeyRequest};
use herringbone::encryption::{Algorithm, FileDecryptionProperties, Key};
use herringbone::{Error, ErrorKind, Int96Overflow, ReadOptions};

use super::*;

const FILES: [&str; 12] = [
    "uniform_encryption",
    "encrypt_columns_and_footer",
    "encrypt_columns_plaintext_footer",
    "encrypt_columns_and_footer_aad",
    "encrypt_columns_and_footer_disable_aad_storage",
    "encrypt_columns_and_footer_ctr",
    "encrypt_columns_and_footer_bloom_filter",
    "aes256/encrypt_columns_and_footer",
    "aes256/encrypt_columns_and_footer_ctr",
    "aes256/encrypt_columns_and_footer_disable_aad_storage",
    "aes256/encrypt_columns_plaintext_footer",
    "aes256/uniform_encryption",
];

/// Returns the key for the metadata `kf` or `kc1` to `kc8`.
fn key_of(name: &str, metadata: &[u8]) -> Result<Key> {
    let last = match metadata {
        b"kf" => None,
        [b'k', b'c', digit @ b'1'..=b'8'] => Some(digit - b'1'),
        _ => return Err(Error::new(ErrorKind::Key, "there is no such key")),
    };
    let text = match (name.starts_with("aes256"), last) {
        (true, None) => "01234567890123456789012345678901".to_owned(),
        (true, Some(last)) => format!("1234567890123456789012345678901{}", last + 2),
        (false, None) => "0123456789012345".to_owned(),
        (false, Some(last)) => format!("123456789012345{last}"),
    };
    Key::new(text.as_bytes())
}

fn builder(name: &'static str) -> FileDecryptionPropertiesBuilder {
    let retrieve =
        move |request: &KeyRequest| key_of(name, &request.key_metadata).map(KeyAnswer::Key);
    let mut builder = FileDecryptionProperties::builder().key_retriever(Arc::new(retrieve));
    if name.contains("disable_aad_storage") {
        builder = builder.aad_prefix("tester");
    }
    if name.contains("ctr") {
        builder = builder.allowed_algorithms([Algorithm::AesGcmCtrV1]);
    }
    builder
}

fn keys_of(name: &'static str) -> Arc<dyn Decryption> {
    Arc::new(builder(name).build().unwrap())
}

/// Checks the rows, which all writers of these files wrote.
fn check_values(batch: &RecordBatch, name: &str) {
    let column = |name: &str| batch.column_by_name(name).unwrap();
    let has_list = batch.column_by_name("int64_field").is_some();
    for row in 0..batch.num_rows() {
        let number = row as i32;
        assert_eq!(
            column("boolean_field").as_boolean().value(row),
            row % 2 == 0
        );
        let int32 = column("int32_field").as_primitive::<Time32MillisecondType>();
        assert_eq!(int32.value(row), number, "{name}");
        if has_list {
            let list = column("int64_field").as_list::<i32>().value(row);
            let list = list.as_primitive::<Int64Type>();
            let first = 2 * i64::from(number) * 1_000_000_000_000;
            assert_eq!(list.values()[..], [first, first + 1_000_000_000_000]);
        }
        let float = column("float_field").as_primitive::<Float32Type>();
        assert_eq!(float.value(row), number as f32 * 1.1);
        let double = column("double_field").as_primitive::<Float64Type>();
        assert_eq!(double.value(row), f64::from(number) * 1.1111111);
        let bytes = column("ba_field").as_binary::<i32>();
        match row % 2 {
            0 => assert_eq!(bytes.value(row), format!("parquet{row:03}").as_bytes()),
            _ => assert!(bytes.is_null(row)),
        }
        let fixed = column("flba_field").as_fixed_size_binary();
        assert_eq!(fixed.value(row), [number as u8; 10]);
    }
}

#[test]
fn all_of_them_have_the_rows_that_were_written() {
    for name in FILES {
        let Some(bytes) = official_file(name) else {
            return;
        };
        let file = open(&bytes, &keys_of(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        for threads in [1, 4] {
            let mut options = ReadOptions::new().threads(threads);
            // The days are far from today's dates, so we read the bytes of INT96.
            options.schema.int96_as_bytes = true;
            crate::remote::compare_on_threads(&file, &options);
            let batches = read(&file, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
            let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
            assert_eq!(rows as i64, file.metadata().num_rows());
            match name {
                "encrypt_columns_and_footer_bloom_filter" => {
                    check_bloom_filter_file(&file, &batches)
                }
                _ => check_values(&batches[0], name),
            }
        }
        assert_eq!(errors(&file), Vec::<String>::new(), "{name}");
    }
}

/// Checks the rows against the ones that polars reads, and the bloom filters of two columns.
fn check_bloom_filter_file(file: &ParquetFile, batches: &[RecordBatch]) {
    let mut rows = 0;
    for batch in batches {
        let column = |name: &str| batch.column_by_name(name).unwrap();
        for row in 0..batch.num_rows() {
            let double = column("double_field").as_primitive::<Float64Type>();
            assert_eq!(double.value(row), f64::from(rows) + 0.5);
            let float = column("float_field").as_primitive::<Float32Type>();
            assert_eq!(float.value(row), rows as f32 + 0.25);
            let int32 = column("int32_field").as_primitive::<Int32Type>();
            assert_eq!(int32.value(row), rows);
            let name = column("name").as_string::<i32>();
            assert_eq!(name.value(row), format!("name_{rows}"));
            rows += 1;
        }
    }
    assert_eq!(rows, 2000);
    let leaves = file.parquet_schema().leaves().len();
    let filters = (0..leaves).filter(|leaf| {
        let filter = file.bloom_filter(0, *leaf).unwrap();
        let has_one = filter.is_some();
        if let Some(mut filter) = filter {
            use herringbone_core::Step;
            while let Step::Need(range) = filter.poll_bits(file.limits()).unwrap() {
                filter.supply(range.start, file.source().read(range).unwrap());
            }
        }
        has_one
    });
    assert_eq!(filters.count(), 2);
}

#[test]
fn external_key_material_is_found_beside_the_file() {
    let name = "external_key_material_java";
    let Some(bytes) = official_file(name) else {
        return;
    };
    let folder = crate::files::official().unwrap().join("data");
    let path = folder.join(format!("{name}.parquet.encrypted"));
    let ids = ["kf", "kc1", "kc2"];
    let master_keys = ids.map(|id| (id, key_of(name, id.as_bytes()).unwrap()));
    let kms = Arc::new(InMemoryKms::new(master_keys));
    let factory = move |_: &KmsConnection| Ok(kms.clone() as Arc<dyn KmsClient>);
    let tools = Arc::new(KeyTools::new(Arc::new(factory)));
    let material = Arc::new(FileKeyMaterialStore::new(path).unwrap());
    let (connection, policy) = (KmsConnection::default(), KmsUrlPolicy::default());
    let properties = FileDecryptionProperties::builder()
        .key_retriever(tools.key_retriever(connection, policy, Some(material)))
        .build()
        .unwrap();
    let file = open(&bytes, &(Arc::new(properties) as Arc<dyn Decryption>)).unwrap();
    let mut options = ReadOptions::new();
    options.schema.int96_as_bytes = true;
    let batches = read(&file, &options).unwrap();
    // We expect the rows that pyarrow reads, too.
    let integers = batches[0].column(0).as_primitive::<Int32Type>();
    let strings = batches[0].column(1).as_string::<i32>();
    assert_eq!((batches.len(), batches[0].num_rows()), (1, 100));
    for row in 0..100 {
        assert_eq!(integers.value(row), row as i32);
        let letter = (b'a' + row as u8 % 10) as char;
        assert_eq!(strings.value(row), format!("{letter}{row}"));
    }
    assert_eq!(errors(&file), Vec::<String>::new());
}

#[test]
fn columns_in_the_clear_need_no_keys() {
    for name in [
        "encrypt_columns_plaintext_footer",
        "aes256/encrypt_columns_plaintext_footer",
    ] {
        let Some(bytes) = official_file(name) else {
            return;
        };
        let file = ParquetFile::from_bytes(bytes).unwrap();
        let encrypted = read(&file, &ReadOptions::new()).unwrap_err();
        assert_eq!(encrypted.kind(), ErrorKind::Key, "{encrypted}");
        assert!(
            encrypted.to_string().contains("feature `encryption`"),
            "{encrypted}"
        );
        if !name.starts_with("aes256") {
            let options = ReadOptions::new().columns(["int32_field", "ba_field"]);
            let batches = read(&file, &options).unwrap();
            let ints = batches[0].column(0).as_primitive::<Time32MillisecondType>();
            assert_eq!(ints.value(3), 3);
        }
    }
}

#[test]
fn only_the_keys_of_what_is_read_are_needed() {
    let name = "encrypt_columns_and_footer";
    let Some(bytes) = official_file(name) else {
        return;
    };
    let properties = FileDecryptionProperties::builder()
        .footer_key(key_of(name, b"kf").unwrap())
        .column_key(["double_field"], key_of(name, b"kc1").unwrap())
        .build()
        .unwrap();
    let keys: Arc<dyn Decryption> = Arc::new(properties);
    let file = open(&bytes, &keys).unwrap();
    let some = ReadOptions::new().columns(["double_field", "boolean_field"]);
    assert_eq!(read(&file, &some).unwrap()[0].num_columns(), 2);
    let error = read(&file, &ReadOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert_eq!(error.location().column.as_deref(), Some("float_field"));
}

#[test]
fn what_nothing_authenticates_has_to_be_allowed() {
    for name in [
        "encrypt_columns_and_footer_ctr",
        "aes256/encrypt_columns_and_footer_ctr",
    ] {
        let Some(bytes) = official_file(name) else {
            return;
        };
        let gcm = builder(name).allowed_algorithms([Algorithm::AesGcmV1]);
        let keys: Arc<dyn Decryption> = Arc::new(gcm.build().unwrap());
        let error = open(&bytes, &keys).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Key);
        assert!(error.message().contains("AES_GCM_CTR_V1"), "{error}");
    }
}

/// This file's timestamps fit no unit, but the missing keys are reported first.
#[test]
fn a_missing_key_is_said_before_the_unit_of_timestamps() {
    let Some(folder) = crate::files::official() else {
        return;
    };
    let path = folder.join("data/encrypt_columns_plaintext_footer.parquet.encrypted");
    let file = ParquetFile::open(path).unwrap();
    let mut all = ReadOptions::default();
    all.schema.int96_overflow = Int96Overflow::CoarserUnit;
    let error = file.read(all.clone()).map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key, "{error}");
    assert_eq!(error.location().column.as_deref(), Some("float_field"));
    assert_eq!(error.location().row_group, Some(0));
    // If we leave out the encrypted columns, the unit is reported.
    let error = file
        .read(all.columns(["int96_field"]))
        .map(drop)
        .unwrap_err();
    assert!(error.message().contains("no unit"), "{error}");
}
