use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use herringbone_format::KeyValue;

use super::*;
use crate::{
    Algorithm, ErrorKind, FileDecryptionProperties, FileEncryptionProperties, Key, KeyStep,
    ModuleId, ModuleKind, Result,
    crypto_metadata::{ColumnCryptoMetadata, FileCryptoMetadata},
    properties::{EncryptionKey, FileDecryptionPropertiesBuilder, KeyAnswer, KeyRequest},
};

fn key(byte: u8) -> Key {
    Key::new(&[byte; 16]).unwrap()
}

fn path(name: &str) -> Vec<String> {
    vec![name.into()]
}

fn reads() -> FileDecryptionPropertiesBuilder {
    FileDecryptionProperties::builder().footer_key(key(1))
}

fn open(
    builder: FileDecryptionPropertiesBuilder,
    file: &FileCryptoMetadata,
) -> Result<FileDecryptor> {
    let properties = builder.build().unwrap();
    FileDecryptor::new(
        &properties,
        &file.encryption_algorithm,
        file.key_metadata.as_deref(),
    )
}

/// Returns a file's encryptor, its footer, and a page of its column `a`.
fn written(properties: &FileEncryptionProperties) -> (FileEncryptor, Vec<u8>, Vec<u8>) {
    let encryptor = FileEncryptor::new(properties, &[path("a"), path("b")]).unwrap();
    let (mut footer, mut page) = (vec![], vec![]);
    encryptor
        .footer_key()
        .encrypt(&ModuleId::FOOTER, &[b"footer"], &mut footer)
        .unwrap();
    let column = &encryptor.column(0).unwrap().key;
    column
        .encrypt(
            &ModuleId::of_page(ModuleKind::DataPage, 0, 0, 0),
            &[b"page"],
            &mut page,
        )
        .unwrap();
    (encryptor, footer, page)
}

fn decrypts(file: &FileDecryptor, footer: &[u8]) -> bool {
    let key = file.footer_key().unwrap().ready().unwrap();
    key.decrypt(&ModuleId::FOOTER, footer).is_ok()
}

#[test]
fn each_file_has_an_identifier_of_its_own() {
    let properties = FileEncryptionProperties::builder(key(1)).build().unwrap();
    let (first, footer, _) = written(&properties);
    let (second, ..) = written(&properties);
    let (first, second) = (first.file_crypto_metadata(), second.file_crypto_metadata());
    assert_eq!(first.encryption_algorithm.aad_file_unique.len(), 8);
    assert_ne!(first, second);
    assert!(decrypts(&open(reads(), &first).unwrap(), &footer));
    assert!(!decrypts(&open(reads(), &second).unwrap(), &footer));
}

#[test]
fn aad_prefixes() {
    let properties = |store| {
        let builder = FileEncryptionProperties::builder(key(1)).aad_prefix("p");
        builder.store_aad_prefix(store).build().unwrap()
    };
    let without = FileEncryptionProperties::builder(key(1)).build().unwrap();
    let verifier = |accepted: &'static [u8]| -> crate::properties::AadPrefixVerifier {
        Arc::new(move |prefix| match prefix == accepted {
            true => Ok(()),
            false => Err(crate::Error::argument("another prefix")),
        })
    };
    let (stored, stored_footer, _) = written(&properties(true));
    let (supplied, supplied_footer, _) = written(&properties(false));
    let (without, without_footer, _) = written(&without);
    let [stored, supplied, without] =
        [stored, supplied, without].map(|file| file.file_crypto_metadata());
    assert_eq!(
        stored.encryption_algorithm.aad_prefix.as_deref(),
        Some(&b"p"[..])
    );
    assert!(!stored.encryption_algorithm.supply_aad_prefix);
    assert_eq!(supplied.encryption_algorithm.aad_prefix, None);
    assert!(supplied.encryption_algorithm.supply_aad_prefix);

    let cases = [
        (reads(), "yes refused yes"),
        (reads().aad_prefix(""), "yes refused yes"),
        (reads().aad_prefix("p"), "yes yes refused"),
        // Only the tag reveals that the prefix is wrong.
        (reads().aad_prefix("q"), "refused no refused"),
        (
            reads().aad_prefix_verifier(verifier(b"p")),
            "yes refused refused",
        ),
        (
            reads().aad_prefix_verifier(verifier(b"q")),
            "refused refused refused",
        ),
        (
            reads().aad_prefix("p").aad_prefix_verifier(verifier(b"p")),
            "yes yes refused",
        ),
    ];
    let files = [
        (&stored, &stored_footer),
        (&supplied, &supplied_footer),
        (&without, &without_footer),
    ];
    for (number, (builder, expected)) in cases.into_iter().enumerate() {
        let properties = builder.build().unwrap();
        let read = files.map(|(file, footer)| {
            let file = FileDecryptor::new(&properties, &file.encryption_algorithm, None);
            match file.map(|file| decrypts(&file, footer)) {
                Err(_) => "refused",
                Ok(true) => "yes",
                Ok(false) => "no",
            }
        });
        assert_eq!(read.join(" "), expected, "{number}");
    }
}

/// An attacker rewrites the plaintext metadata, so that pages seem to be encrypted by CTR.
#[test]
fn a_downgrade_is_found() {
    let properties = FileEncryptionProperties::builder(key(1)).build().unwrap();
    let (encryptor, footer, _) = written(&properties);
    let mut file = encryptor.file_crypto_metadata();
    file.encryption_algorithm.algorithm = Algorithm::AesGcmCtrV1;
    let error = open(reads(), &file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);

    let both = [Algorithm::AesGcmV1, Algorithm::AesGcmCtrV1];
    let open = open(reads().allowed_algorithms(both), &file).unwrap();
    assert!(decrypts(&open, &footer));
    let recorded = encryptor.key_value();
    assert!(
        open.check_key_value_metadata(std::slice::from_ref(&recorded))
            .is_err()
    );
    let other = KeyValue::without_value("other");
    assert!(open.check_key_value_metadata(&[other]).is_ok());
    file.encryption_algorithm.algorithm = Algorithm::AesGcmV1;
    let open =
        super::FileDecryptor::new(&reads().build().unwrap(), &file.encryption_algorithm, None);
    assert!(open.unwrap().check_key_value_metadata(&[recorded]).is_ok());
}

#[test]
fn which_metadata_a_column_has() {
    let build = |plaintext| {
        let builder = FileEncryptionProperties::builder(key(1)).plaintext_footer(plaintext);
        let builder = builder.column_key(["a"], EncryptionKey::with_metadata(key(2), "m"));
        FileEncryptor::new(&builder.build().unwrap(), &[path("a"), path("b")]).unwrap()
    };
    let flags = |file: &FileEncryptor, leaf| {
        let column = file.column(leaf).unwrap();
        (column.encrypts_metadata, column.has_plain_metadata)
    };
    let (encrypted, plaintext) = (build(false), build(true));
    assert_eq!(
        [flags(&encrypted, 0), flags(&encrypted, 1)],
        [(true, false), (false, true)]
    );
    assert_eq!(
        [flags(&plaintext, 0), flags(&plaintext, 1)],
        [(true, true), (true, true)]
    );
    assert_eq!(
        encrypted.column(1).unwrap().crypto_metadata,
        ColumnCryptoMetadata::FooterKey
    );
    let expected = ColumnCryptoMetadata::ColumnKey {
        path_in_schema: path("a"),
        key_metadata: Some(b"m".to_vec()),
    };
    assert_eq!(encrypted.column(0).unwrap().crypto_metadata, expected);
    assert!(encrypted.column(2).is_none());
}

#[test]
fn too_many_columns_are_refused() {
    let properties = FileEncryptionProperties::builder(key(1)).build().unwrap();
    let leaves = vec![path("a"); 32769];
    assert!(FileEncryptor::new(&properties, &leaves[1..]).is_ok());
    let error = FileEncryptor::new(&properties, &leaves).unwrap_err();
    assert!(error.message().contains("32768"), "{error}");
}

fn column(metadata: &str) -> ColumnCryptoMetadata {
    ColumnCryptoMetadata::ColumnKey {
        path_in_schema: path("a"),
        key_metadata: Some(metadata.into()).filter(|metadata: &Vec<u8>| !metadata.is_empty()),
    }
}

#[test]
fn keys_are_retrieved_once() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = calls.clone();
    let retriever = move |request: &KeyRequest| {
        counter.fetch_add(1, Ordering::Relaxed);
        match request.key_metadata.as_slice() {
            b"kf" => Ok(KeyAnswer::Key(key(1))),
            b"kc" => Ok(KeyAnswer::Key(key(2))),
            _ => Err(crate::Error::new(ErrorKind::Key, "access denied")),
        }
    };
    let properties = FileEncryptionProperties::builder(EncryptionKey::with_metadata(key(1), "kf"))
        .column_key(["a"], EncryptionKey::with_metadata(key(2), "kc"))
        .build()
        .unwrap();
    let (encryptor, footer, page) = written(&properties);
    let builder = FileDecryptionProperties::builder().key_retriever(Arc::new(retriever));
    let file = open(builder, &encryptor.file_crypto_metadata()).unwrap();
    assert!(file.has_footer_key());
    for _ in 0..3 {
        assert!(decrypts(&file, &footer));
        let key = file
            .column_key(&path("a"), &column("kc"))
            .unwrap()
            .ready()
            .unwrap();
        let id = ModuleId::of_page(ModuleKind::DataPage, 0, 0, 0);
        assert_eq!(key.decrypt(&id, &page).unwrap(), b"page");
    }
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    let error = file.column_key(&path("a"), &column("other")).unwrap_err();
    assert_eq!(error.message(), "access denied");
    assert_eq!(error.location().column.as_deref(), Some("a"));
}

#[test]
fn retrievers_may_wait() {
    let properties = FileEncryptionProperties::builder(EncryptionKey::with_metadata(key(1), "kf"));
    let (encryptor, footer, _) = written(&properties.build().unwrap());
    let retriever = |_: &KeyRequest| Ok(KeyAnswer::Wait);
    let builder = FileDecryptionProperties::builder().key_retriever(Arc::new(retriever));
    let file = open(builder, &encryptor.file_crypto_metadata()).unwrap();
    let KeyStep::NeedKey(request) = file.footer_key().unwrap() else {
        panic!("there is no key yet");
    };
    assert_eq!(
        (request.key_metadata.as_slice(), &request.column),
        (&b"kf"[..], &None)
    );
    assert!(KeyStep::<()>::NeedKey(request.clone()).ready().is_err());
    file.supply_key(&request, key(1));
    assert!(decrypts(&file, &footer));
}

#[test]
fn missing_keys_name_the_column() {
    let (encryptor, ..) = written(&FileEncryptionProperties::builder(key(1)).build().unwrap());
    let builder = FileDecryptionProperties::builder().column_key(["b"], key(2));
    let file = open(builder, &encryptor.file_crypto_metadata()).unwrap();
    assert!(!file.has_footer_key());
    assert_eq!(file.footer_key().unwrap_err().kind(), ErrorKind::Key);
    for metadata in [ColumnCryptoMetadata::FooterKey, column("kc"), column("")] {
        let error = file.column_key(&path("a"), &metadata).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Key);
        assert_eq!(error.location().column.as_deref(), Some("a"));
        assert!(!error.to_string().contains("kc"), "{error}");
    }
    assert!(file.column_key(&path("b"), &column("kc")).is_ok());
}

/// Removing a file's identifier does not turn it into a file of DuckDB.
#[test]
fn files_without_identifier_are_read_if_asked() {
    let (encryptor, footer, _) =
        written(&FileEncryptionProperties::builder(key(1)).build().unwrap());
    let mut file = encryptor.file_crypto_metadata();
    assert!(
        !open(reads().duckdb_dialect(true), &file)
            .unwrap()
            .is_duckdb_dialect()
    );
    file.encryption_algorithm.aad_file_unique.clear();
    for asked in [false, true] {
        let open = open(reads().duckdb_dialect(asked), &file).unwrap();
        assert_eq!(open.is_duckdb_dialect(), asked);
        assert!(!decrypts(&open, &footer));
    }
    let mut theirs = vec![];
    let none = Arc::new(crate::module::FileAad::NONE);
    let their_key = crate::ModuleKey::new(key(1), Algorithm::AesGcmV1, none);
    their_key
        .encrypt(&ModuleId::FOOTER, &[b"footer"], &mut theirs)
        .unwrap();
    assert!(decrypts(
        &open(reads().duckdb_dialect(true), &file).unwrap(),
        &theirs
    ));
    assert!(!decrypts(&open(reads(), &file).unwrap(), &theirs));
    file.encryption_algorithm.algorithm = Algorithm::AesGcmCtrV1;
    let both = [Algorithm::AesGcmV1, Algorithm::AesGcmCtrV1];
    let ctr = open(reads().duckdb_dialect(true).allowed_algorithms(both), &file);
    assert!(!ctr.unwrap().is_duckdb_dialect());
}
