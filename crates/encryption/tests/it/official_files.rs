//! Decrypts every module in apache/parquet-testing's encrypted files.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use crate::support::walker::{Module, walk};
use herringbone_encryption::{
    Algorithm, Error, ErrorKind, FileDecryptionProperties, Key, ModuleKind,
    key_tools::{
        FileKeyMaterialStore, InMemoryKms, KeyTools, KmsClient, KmsConnection, KmsUrlPolicy,
    },
    properties::{FileDecryptionPropertiesBuilder, KeyAnswer, KeyRequest},
};

/// Returns an official file's bytes, or `None` if the files aren't available.
fn file(name: &str) -> Option<Vec<u8>> {
    let folder = PathBuf::from(std::env::var_os("PARQUET_TEST_DATA")?);
    let path = folder.join(format!("{name}.parquet.encrypted"));
    Some(std::fs::read(path).expect("an official file"))
}

const KEYS_128: [&str; 3] = ["0123456789012345", "1234567890123450", "1234567890123451"];

/// Returns the keys of `aes256/`, first the footer key and then those of columns 1 to 8.
fn keys_256() -> Vec<String> {
    let column = |last| format!("1234567890123456789012345678901{last}");
    let footer = "01234567890123456789012345678901".to_owned();
    std::iter::once(footer).chain((2..10).map(column)).collect()
}

fn key(text: &str) -> Key {
    Key::new(text.as_bytes()).unwrap()
}

/// A retriever that finds keys by metadata such as `kf`, `kc1` and `kc2`.
fn retriever(keys: Vec<String>) -> FileDecryptionPropertiesBuilder {
    let retrieve = move |request: &KeyRequest| {
        let number = match request.key_metadata.as_slice() {
            b"kf" => 0,
            [b'k', b'c', digit @ b'1'..=b'8'] => usize::from(digit - b'0'),
            _ => return Err(Error::new(ErrorKind::Key, "unknown metadata")),
        };
        Ok(KeyAnswer::Key(key(&keys[number])))
    };
    FileDecryptionProperties::builder().key_retriever(Arc::new(retrieve))
}

fn by_metadata(name: &str) -> FileDecryptionPropertiesBuilder {
    let keys = if name.starts_with("aes256") {
        keys_256()
    } else {
        KEYS_128.map(Into::into).to_vec()
    };
    let builder = retriever(keys);
    let builder = if name.contains("disable_aad_storage") {
        builder.aad_prefix("tester")
    } else {
        builder
    };
    if name.contains("ctr") {
        builder.allowed_algorithms([Algorithm::AesGcmCtrV1])
    } else {
        builder
    }
}

fn modules(name: &str) -> Option<Vec<Module>> {
    let properties = by_metadata(name).build().unwrap();
    Some(walk(&file(name)?, &properties).unwrap_or_else(|error| panic!("{name}: {error}")))
}

/// Counts the modules of each kind.
fn counts(modules: &[Module]) -> BTreeMap<u8, usize> {
    let mut counts = BTreeMap::new();
    for module in modules {
        *counts.entry(module.id.kind as u8).or_default() += 1;
    }
    counts
}

const RAW_KEYS: [&str; 12] = [
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

#[test]
fn every_module_is_decrypted() {
    for name in RAW_KEYS {
        let Some(modules) = modules(name) else {
            return;
        };
        let counts = counts(&modules);
        let columns = match name {
            "uniform_encryption" | "aes256/uniform_encryption" => 8,
            name if name.starts_with("aes256") => 8,
            _ => 2,
        };
        // Metadata is a separate module, unless its key is the key of an encrypted footer.
        let metadata = if name.contains("uniform") { 0 } else { columns };
        assert_eq!(
            counts.get(&1).copied().unwrap_or_default(),
            metadata,
            "{name}"
        );
        assert!(counts[&2] >= columns, "{name}");
        assert_eq!(counts[&2], counts[&4], "{name}");
        assert_eq!(counts.get(&3), counts.get(&5), "{name}");
        let bloom_filters = if name.contains("bloom") { 2 } else { 0 };
        assert_eq!(
            counts.get(&8).copied().unwrap_or_default(),
            bloom_filters,
            "{name}"
        );
        assert_eq!(counts.get(&9), counts.get(&8), "{name}");
    }
}

/// Reads a file that parquet-java wrote with key tools. It has double wrapping and external key
/// material.
#[test]
fn external_key_material_is_unwrapped() {
    let name = "external_key_material_java";
    let Some(bytes) = file(name) else {
        return;
    };
    let ids = ["kf", "kc1", "kc2"];
    let kms = Arc::new(InMemoryKms::new(ids.into_iter().zip(KEYS_128.map(key))));
    let factory = move |_: &KmsConnection| Ok(kms.clone() as Arc<dyn KmsClient>);
    let folder = PathBuf::from(std::env::var_os("PARQUET_TEST_DATA").unwrap());
    let parquet_file = folder.join(format!("{name}.parquet.encrypted"));
    let store = Arc::new(FileKeyMaterialStore::new(parquet_file).unwrap());
    let tools = Arc::new(KeyTools::new(Arc::new(factory)));
    let retriever = |store| {
        let (connection, policy) = (KmsConnection::default(), KmsUrlPolicy::default());
        let retriever = tools.key_retriever(connection, policy, store);
        FileDecryptionProperties::builder()
            .key_retriever(retriever)
            .build()
            .unwrap()
    };
    let modules = walk(&bytes, &retriever(Some(store))).unwrap();
    let counts = counts(&modules);
    assert!(counts[&1] >= 2 && counts[&2] >= 2, "{counts:?}");
    let error = walk(&bytes, &retriever(None)).err().unwrap();
    assert!(
        error.message().contains("next to the Parquet file"),
        "{error}"
    );
}

/// CTR does not authenticate pages, so we compare them with pages of the same rows under GCM.
#[test]
fn pages_of_ctr_are_those_of_gcm() {
    for (gcm, ctr) in [
        (
            "encrypt_columns_and_footer",
            "encrypt_columns_and_footer_ctr",
        ),
        (
            "aes256/encrypt_columns_and_footer",
            "aes256/encrypt_columns_and_footer_ctr",
        ),
    ] {
        let (Some(gcm), Some(ctr)) = (modules(gcm), modules(ctr)) else {
            return;
        };
        let bodies = |modules: Vec<Module>| {
            let bodies = modules
                .into_iter()
                .filter(|module| module.id.kind.is_page_body());
            bodies
                .map(|module| (module.id, module.plaintext))
                .collect::<Vec<_>>()
        };
        assert_eq!(bodies(gcm), bodies(ctr));
    }
}

#[test]
fn explicit_keys_do_as_well() {
    let Some(bytes) = file("encrypt_columns_and_footer") else {
        return;
    };
    let build = |second: &str| {
        FileDecryptionProperties::builder()
            .footer_key(key(KEYS_128[0]))
            .column_key(["double_field"], key(KEYS_128[1]))
            .column_key([second], key(KEYS_128[2]))
            .build()
            .unwrap()
    };
    assert!(walk(&bytes, &build("float_field")).is_ok());
    let error = walk(&bytes, &build("other_field")).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert_eq!(error.location().column.as_deref(), Some("float_field"));
}

#[test]
fn wrong_keys_and_prefixes_are_errors() {
    for name in RAW_KEYS {
        let Some(bytes) = file(name) else {
            return;
        };
        let fails = |builder: FileDecryptionPropertiesBuilder, what: &str| {
            let error = walk(&bytes, &builder.build().unwrap()).err();
            let error = error.unwrap_or_else(|| panic!("{name}: {what}"));
            assert_eq!(error.kind(), ErrorKind::Key, "{name}: {what}: {error}");
        };
        let mut keys = if name.starts_with("aes256") {
            keys_256()
        } else {
            KEYS_128.map(Into::into).to_vec()
        };
        keys[0].replace_range(..1, "x");
        let allow_all = [Algorithm::AesGcmV1, Algorithm::AesGcmCtrV1];
        fails(
            retriever(keys)
                .aad_prefix("tester")
                .allowed_algorithms(allow_all),
            "footer key",
        );
        fails(by_metadata(name).aad_prefix("another"), "prefix");
        if name.contains("disable_aad_storage") {
            fails(by_metadata(name).aad_prefix(""), "no prefix");
        }
        if name.contains("ctr") {
            fails(
                by_metadata(name).allowed_algorithms([Algorithm::AesGcmV1]),
                "algorithm",
            );
        }
    }
}

/// Changes each byte of the plaintext metadata, the footer, and its signature.
#[test]
fn flipped_bytes_are_errors() {
    for name in [
        "encrypt_columns_and_footer",
        "encrypt_columns_plaintext_footer",
    ] {
        let Some(bytes) = file(name) else {
            return;
        };
        let properties = by_metadata(name).build().unwrap();
        let footer = footer_start(&bytes);
        for at in footer..bytes.len() - 8 {
            let mut changed = bytes.clone();
            changed[at] ^= 0x04;
            assert!(walk(&changed, &properties).is_err(), "{name}: byte {at}");
        }
    }
}

/// Changes a byte in each part of every module: its length, nonce, ciphertext and tag.
#[test]
fn errors_name_the_module_that_was_changed() {
    for name in [
        "encrypt_columns_and_footer_bloom_filter",
        "aes256/encrypt_columns_plaintext_footer",
    ] {
        let Some(bytes) = file(name) else {
            return;
        };
        let properties = by_metadata(name).build().unwrap();
        for module in walk(&bytes, &properties).unwrap() {
            let Some((start, length)) = module.place else {
                continue;
            };
            for at in [0, 3, 4, 16, length - 1] {
                let mut changed = bytes.clone();
                changed[start + at] ^= 0x40;
                let error = walk(&changed, &properties).err();
                let error = error.unwrap_or_else(|| panic!("{name}, {}: {at}", module.id));
                assert!(error.message().contains(&module.id.to_string()), "{error}");
                // A changed length might still match the available bytes.
                assert!(at < 4 || error.kind() == ErrorKind::Key, "{error}");
            }
        }
    }
}

/// Exchanged pages, indexes and other modules are detected, although each is a valid module under
/// the same key.
#[test]
fn modules_cannot_change_places() {
    let name = "uniform_encryption";
    let Some(bytes) = file(name) else {
        return;
    };
    let properties = by_metadata(name).build().unwrap();
    let modules = walk(&bytes, &properties).unwrap();
    let places: Vec<_> = modules.iter().filter_map(|module| module.place).collect();
    let mut swapped = 0;
    for (number, &(a, length)) in places.iter().enumerate() {
        for &(b, other) in &places[number + 1..] {
            if length == other {
                let mut changed = bytes.clone();
                changed[a..a + length].copy_from_slice(&bytes[b..b + length]);
                changed[b..b + length].copy_from_slice(&bytes[a..a + length]);
                let error = walk(&changed, &properties).err().unwrap();
                assert_eq!(error.kind(), ErrorKind::Key, "{error}");
                swapped += 1;
            }
        }
    }
    assert!(swapped > 5, "{swapped}");
}

fn footer_start(bytes: &[u8]) -> usize {
    let end = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap());
    end - length as usize
}

/// Checks a file that claims to have pages by CTR instead of GCM.
#[test]
fn the_algorithm_cannot_be_flipped() {
    let Some(mut bytes) = file("encrypt_columns_and_footer") else {
        return;
    };
    let start = footer_start(&bytes);
    // In FileCryptoMetaData, field 1 is a struct with a struct as its own field 1. The latter
    // becomes field 2.
    assert_eq!(bytes[start..start + 2], [0x1c, 0x1c]);
    bytes[start + 1] = 0x2c;
    let error = walk(&bytes, &by_metadata("").build().unwrap())
        .err()
        .unwrap();
    assert!(error.message().contains("AES_GCM_CTR_V1"), "{error}");
}

#[test]
fn the_kinds_of_modules_have_the_numbers_of_the_specification() {
    assert_eq!(ModuleKind::Footer as u8, 0);
    assert_eq!(ModuleKind::BloomFilterBitset as u8, 9);
}
