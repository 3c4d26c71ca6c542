use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use super::*;
use crate::{
    Error, ErrorKind, FileDecryptionProperties, FileDecryptor, FileEncryptionProperties,
    FileEncryptor, Key, KeyLength, ModuleId, ModuleKind, Result,
    crypto_metadata::FileCryptoMetadata,
    properties::{KeyAnswer, KeyRequest, KeyRetriever, OtherColumns},
};

/// The master keys of the tests of parquet-java and pyarrow.
fn master_keys() -> InMemoryKms {
    let key = |text: &[u8]| Key::new(text).unwrap();
    InMemoryKms::new([
        ("kf", key(b"0123456789012345")),
        ("kc1", key(b"1234567890123450")),
        ("kc2", key(b"1234567890123451")),
    ])
}

/// A KMS that counts what it is asked for.
#[derive(Clone)]
struct Counting {
    kms: Arc<dyn KmsClient>,
    wraps: Arc<AtomicUsize>,
    unwraps: Arc<AtomicUsize>,
}

impl Counting {
    fn new(kms: impl KmsClient + 'static) -> Self {
        Self {
            kms: Arc::new(kms),
            wraps: Arc::default(),
            unwraps: Arc::default(),
        }
    }

    fn tools(&self) -> Arc<KeyTools> {
        let client: Arc<dyn KmsClient> = Arc::new(self.clone());
        Arc::new(KeyTools::new(Arc::new(move |_: &KmsConnection| {
            Ok(client.clone())
        })))
    }

    fn counts(&self) -> (usize, usize) {
        let take = |count: &AtomicUsize| count.swap(0, Ordering::Relaxed);
        (take(&self.wraps), take(&self.unwraps))
    }
}

impl KmsClient for Counting {
    fn wrap_key(&self, key: &Key, master_key_id: &str) -> Result<String> {
        self.wraps.fetch_add(1, Ordering::Relaxed);
        self.kms.wrap_key(key, master_key_id)
    }

    fn unwrap_key(&self, wrapped: &str, master_key_id: &str) -> Result<Key> {
        self.unwraps.fetch_add(1, Ordering::Relaxed);
        self.kms.unwrap_key(wrapped, master_key_id)
    }
}

fn tools() -> Arc<KeyTools> {
    Counting::new(master_keys()).tools()
}

fn path(name: &str) -> Vec<String> {
    vec![name.into()]
}

fn configuration() -> EncryptionConfiguration {
    let columns = parse_column_keys("kc1: a, b; kc2: c").unwrap();
    EncryptionConfiguration::new("kf").with_column_keys(columns)
}

/// What a file has of its encryption: its metadata, its footer, and a page of each column.
struct Written {
    metadata: FileCryptoMetadata,
    footer: Vec<u8>,
    encryptor: FileEncryptor,
    pages: Vec<Vec<u8>>,
}

fn write(properties: &FileEncryptionProperties) -> Written {
    let leaves = ["a", "b", "c", "d"].map(path);
    let encryptor = FileEncryptor::new(properties, &leaves).unwrap();
    let mut footer = vec![];
    let footer_key = encryptor.footer_key();
    footer_key
        .encrypt(&ModuleId::FOOTER, &[b"footer"], &mut footer)
        .unwrap();
    let page = |leaf| {
        let mut page = vec![];
        let column = encryptor.column(leaf).unwrap();
        column
            .key
            .encrypt(&page_id(leaf), &[b"page"], &mut page)
            .unwrap();
        page
    };
    Written {
        metadata: encryptor.file_crypto_metadata(),
        footer,
        pages: (0..4).map(page).collect(),
        encryptor,
    }
}

fn page_id(leaf: usize) -> ModuleId {
    ModuleId::of_page(ModuleKind::DataPage, 0, leaf, 0)
}

fn read(file: &Written, retriever: Arc<dyn KeyRetriever>) -> Result<()> {
    let properties = FileDecryptionProperties::builder()
        .key_retriever(retriever)
        .build()?;
    let key_metadata = file.metadata.key_metadata.as_deref();
    let algorithm = &file.metadata.encryption_algorithm;
    let decryptor = FileDecryptor::new(&properties, algorithm, key_metadata)?;
    let footer = decryptor
        .footer_key()?
        .ready()?
        .decrypt(&ModuleId::FOOTER, &file.footer)?;
    assert_eq!(footer, b"footer");
    for (leaf, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
        let metadata = &file.encryptor.column(leaf).unwrap().crypto_metadata;
        let key = decryptor.column_key(&path(name), metadata)?.ready()?;
        assert_eq!(key.decrypt(&page_id(leaf), &file.pages[leaf])?, b"page");
    }
    Ok(())
}

fn retriever(tools: &Arc<KeyTools>, store: Option<&FileKeyMaterialStore>) -> Arc<dyn KeyRetriever> {
    let store = store.map(|store| Arc::new(store.clone()) as Arc<dyn KeyMaterialStore>);
    tools.key_retriever(KmsConnection::default(), KmsUrlPolicy::default(), store)
}

fn folder() -> (tempfile::TempDir, FileKeyMaterialStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = FileKeyMaterialStore::new(folder.path().join("x.parquet")).unwrap();
    (folder, store)
}

#[test]
fn files_come_back_by_every_way_of_wrapping() {
    let local = LocalWrapKms::new(|id: &str| match id {
        "kf" => Key::new(&[1; 16]),
        "kc1" => Key::new(&[2; 24]),
        _ => Key::new(&[3; 32]),
    });
    for tools in [tools(), Counting::new(local).tools()] {
        for double_wrapping in [true, false] {
            for length in [KeyLength::Bits128, KeyLength::Bits192, KeyLength::Bits256] {
                let mut configuration = configuration();
                configuration.double_wrapping = double_wrapping;
                configuration.data_key_length = length;
                configuration.kek_length = length;
                for external in [false, true] {
                    let (_folder, store) = folder();
                    let store = external.then_some(&store);
                    let properties = tools
                        .encryption_properties(
                            &KmsConnection::default(),
                            &configuration,
                            store.map(|store| store as _),
                        )
                        .unwrap();
                    assert_eq!(properties.footer_key().key.length(), length);
                    read(&write(&properties), retriever(&tools, store)).unwrap();
                }
            }
        }
    }
}

#[test]
fn the_kms_is_asked_as_little_as_possible() {
    let kms = Counting::new(master_keys());
    let write_one = |tools: &Arc<KeyTools>, double_wrapping| {
        let mut configuration = configuration();
        configuration.double_wrapping = double_wrapping;
        let connection = KmsConnection::default();
        write(
            &tools
                .encryption_properties(&connection, &configuration, None)
                .unwrap(),
        )
    };
    let tools = kms.tools();
    let double = write_one(&tools, true);
    write_one(&tools, true);
    assert_eq!(
        kms.counts(),
        (3, 0),
        "a key for each master key, for all files"
    );
    for _ in 0..2 {
        read(&double, retriever(&tools, None)).unwrap();
    }
    assert_eq!(kms.counts(), (0, 3));
    let single = write_one(&tools, false);
    assert_eq!(kms.counts(), (4, 0));
    read(&single, retriever(&tools, None)).unwrap();
    assert_eq!(kms.counts(), (0, 4));

    tools.clear_caches_of(&AccessToken::default());
    read(&double, retriever(&tools, None)).unwrap();
    assert_eq!(kms.counts(), (0, 3));
    tools.clear_caches();
    write_one(&tools, true);
    assert_eq!(kms.counts(), (3, 0));
}

#[test]
fn nothing_is_kept_without_lifetime() {
    let kms = Counting::new(master_keys());
    let client: Arc<dyn KmsClient> = Arc::new(kms.clone());
    let factory = Arc::new(move |_: &KmsConnection| Ok(client.clone()));
    let tools = Arc::new(KeyTools::with_cache_lifetime(factory, Duration::ZERO));
    let connection = KmsConnection::default();
    let file = write(
        &tools
            .encryption_properties(&connection, &configuration(), None)
            .unwrap(),
    );
    assert_eq!(kms.counts(), (4, 0));
    read(&file, retriever(&tools, None)).unwrap();
    assert_eq!(kms.counts(), (0, 4));
}

#[test]
fn each_path_has_a_key_of_its_own() {
    let connection = KmsConnection::default();
    let properties = tools()
        .encryption_properties(&connection, &configuration(), None)
        .unwrap();
    let leaves = ["a", "b", "c", "d"].map(path);
    let file = FileEncryptor::new(&properties, &leaves).unwrap();
    let keys: Vec<_> = (0..4)
        .map(|leaf| &file.column(leaf).unwrap().key.key)
        .collect();
    for (number, key) in keys.iter().enumerate() {
        assert!(keys[..number].iter().all(|other| other != key));
    }
    assert_eq!(
        *keys[3],
        file.footer_key().key,
        "other columns have the footer's"
    );
    let mut plaintext = configuration();
    plaintext.other_columns = OtherColumns::Plaintext;
    let properties = tools()
        .encryption_properties(&connection, &plaintext, None)
        .unwrap();
    assert!(
        FileEncryptor::new(&properties, &leaves)
            .unwrap()
            .column(3)
            .is_none()
    );
}

/// Steps that somebody takes who waits for the KMS elsewhere.
#[test]
fn unwrapping_by_steps() {
    let (_folder, store) = folder();
    let connection = KmsConnection {
        instance_id: Some("id".into()),
        ..KmsConnection::default()
    };
    let properties = tools()
        .encryption_properties(&connection, &configuration(), Some(&store))
        .unwrap();
    let leaves = ["a", "b", "c", "d"].map(path);
    let file = FileEncryptor::new(&properties, &leaves).unwrap();
    let crate::crypto_metadata::ColumnCryptoMetadata::ColumnKey { key_metadata, .. } =
        &file.column(2).unwrap().crypto_metadata
    else {
        panic!("the column has a key of its own");
    };
    let mut unwrapping = KeyUnwrapping::new(key_metadata.as_deref().unwrap(), None).unwrap();
    assert!(matches!(unwrapping.step(), UnwrapStep::Material));
    assert!(unwrapping.supply_key(Key::new(&[1; 16]).unwrap()).is_err());
    unwrapping.supply_material(&store.read().unwrap()).unwrap();
    let UnwrapStep::Unwrap(request) = unwrapping.step() else {
        panic!("the KMS is asked");
    };
    assert_eq!(
        (request.master_key_id, request.kms_instance_id),
        ("kc2", Some("id"))
    );
    assert!(request.kek_id.is_some());
    let kek = master_keys()
        .unwrap_key(request.wrapped, request.master_key_id)
        .unwrap();
    unwrapping.supply_key(kek).unwrap();
    let UnwrapStep::Done(key) = unwrapping.step() else {
        panic!("that is the key");
    };
    assert_eq!(key, file.column(2).unwrap().key.key);
    assert!(unwrapping.supply_material("{}").is_err());
}

#[test]
fn addresses_of_files_are_not_believed() {
    let connection = |url: Option<&str>| KmsConnection {
        instance_url: url.map(Into::into),
        ..KmsConnection::default()
    };
    let seen = Arc::new(std::sync::Mutex::new(vec![]));
    let urls = seen.clone();
    let factory = move |connection: &KmsConnection| {
        urls.lock()
            .unwrap()
            .push(connection.instance_url.clone().unwrap());
        Ok(Arc::new(master_keys()) as Arc<dyn KmsClient>)
    };
    let tools = Arc::new(KeyTools::with_cache_lifetime(
        Arc::new(factory),
        Duration::ZERO,
    ));
    let evil = connection(Some("https://evil"));
    let file = write(
        &tools
            .encryption_properties(&evil, &configuration(), None)
            .unwrap(),
    );
    seen.lock().unwrap().clear();

    let reads = |connection, policy| read(&file, tools.key_retriever(connection, policy, None));
    let error = reads(connection(None), KmsUrlPolicy::Configured).unwrap_err();
    assert!(error.message().contains("address of a KMS"), "{error}");
    assert!(!error.to_string().contains("evil"), "{error}");
    let allow = |good: &'static str| KmsUrlPolicy::FromFile(Arc::new(move |url| url == good));
    assert!(reads(connection(None), allow("https://good")).is_err());
    assert!(seen.lock().unwrap().is_empty(), "nobody was connected to");
    reads(connection(Some("https://good")), KmsUrlPolicy::Configured).unwrap();
    assert!(seen.lock().unwrap().iter().all(|url| url == "https://good"));
    seen.lock().unwrap().clear();
    reads(connection(None), allow("https://evil")).unwrap();
    assert!(seen.lock().unwrap().iter().all(|url| url == "https://evil"));
}

#[test]
fn the_kms_may_deny() {
    struct Denies(InMemoryKms);
    impl KmsClient for Denies {
        fn wrap_key(&self, key: &Key, master_key_id: &str) -> Result<String> {
            self.0.wrap_key(key, master_key_id)
        }
        fn unwrap_key(&self, wrapped: &str, master_key_id: &str) -> Result<Key> {
            match master_key_id {
                "kc2" => Err(Error::new(ErrorKind::Key, "access denied")),
                _ => self.0.unwrap_key(wrapped, master_key_id),
            }
        }
    }
    let tools = Counting::new(Denies(master_keys())).tools();
    let connection = KmsConnection::default();
    let file = write(
        &tools
            .encryption_properties(&connection, &configuration(), None)
            .unwrap(),
    );
    let error = read(&file, retriever(&tools, None)).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Key, "access denied")
    );
    assert_eq!(error.location().column.as_deref(), Some("c"));
}

#[test]
fn rotation_wraps_anew_and_leaves_the_file() {
    let (folder, store) = folder();
    let mut kms = master_keys();
    let connection = KmsConnection::default();
    let old_tools = Counting::new(kms.clone()).tools();
    let properties = old_tools.encryption_properties(&connection, &configuration(), Some(&store));
    let file = write(&properties.unwrap());
    let before = store.read().unwrap();

    // A KMS that knows the new versions alone cannot read it before, and those before cannot after.
    let new_key = |byte| Key::new(&[byte; 16]).unwrap();
    let only_new = InMemoryKms::new([("kf", new_key(1)), ("kc1", new_key(2)), ("kc2", new_key(3))]);
    let only_new = Counting::new(only_new).tools();
    assert!(read(&file, retriever(&only_new, Some(&store))).is_err());
    for (id, byte) in [("kf", 1), ("kc1", 2), ("kc2", 3)] {
        kms.add_version(id, new_key(byte));
    }
    let tools = Counting::new(kms).tools();
    for (double, wrapped_by_kek) in [
        (None, true),
        (Some(false), false),
        (None, false),
        (Some(true), true),
    ] {
        tools
            .rotate_master_keys(
                &connection,
                &KmsUrlPolicy::default(),
                &store,
                double,
                KeyLength::Bits256,
            )
            .unwrap();
        let after = store.read().unwrap();
        assert_ne!(after, before);
        assert_eq!(after.contains("wrappedKEK"), wrapped_by_kek);
        read(&file, retriever(&tools, Some(&store))).unwrap();
        read(&file, retriever(&only_new, Some(&store))).unwrap();
    }
    let stale = Counting::new(master_keys()).tools();
    assert!(read(&file, retriever(&stale, Some(&store))).is_err());
    let names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["_KEY_MATERIAL_FOR_x.parquet.json"]);
}

#[test]
fn a_rotation_that_fails_leaves_the_old_material() {
    let (_folder, store) = folder();
    let connection = KmsConnection::default();
    let properties = tools().encryption_properties(&connection, &configuration(), Some(&store));
    let file = write(&properties.unwrap());
    let before = store.read().unwrap();
    let key = Key::new(b"0123456789012345").unwrap();
    let without_columns = Counting::new(InMemoryKms::new([("kf", key)])).tools();
    let rotated = without_columns.rotate_master_keys(
        &connection,
        &KmsUrlPolicy::default(),
        &store,
        None,
        KeyLength::Bits128,
    );
    assert_eq!(rotated.unwrap_err().kind(), ErrorKind::Key);
    assert_eq!(store.read().unwrap(), before);
    read(&file, retriever(&tools(), Some(&store))).unwrap();
}

#[test]
fn material_is_not_overwritten_unless_asked() {
    let (folder, store) = folder();
    let connection = KmsConnection::default();
    let create = |store: &FileKeyMaterialStore| {
        tools()
            .encryption_properties(&connection, &configuration(), Some(store))
            .map(drop)
    };
    create(&store).unwrap();
    let before = store.read().unwrap();
    let error = create(&store).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert_eq!(store.read().unwrap(), before);
    create(&store.clone().overwrite(true)).unwrap();
    assert_ne!(store.read().unwrap(), before);

    fs::remove_file(store.path()).unwrap();
    let error = store.read().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(
        error.message().contains("_KEY_MATERIAL_FOR_x.parquet.json"),
        "{error}"
    );
    fs::write(
        folder.path().join("_TMP_KEY_MATERIAL_FOR_x.parquet.json"),
        "{}",
    )
    .unwrap();
    assert!(store.read().unwrap_err().message().contains("interrupted"));
    assert!(FileKeyMaterialStore::new("/").is_err());
}

#[test]
fn malformed_metadata_is_an_error_that_repeats_nothing() {
    let tools = tools();
    let (_folder, store) = folder();
    let connection = KmsConnection::default();
    let properties = tools
        .encryption_properties(&connection, &configuration(), None)
        .unwrap();
    let good = String::from_utf8(write(&properties).metadata.key_metadata.unwrap()).unwrap();
    let ask = |metadata: &str, store: Option<&FileKeyMaterialStore>| {
        retriever(&tools, store).retrieve(&KeyRequest {
            key_metadata: metadata.into(),
            footer_key_metadata: None,
            column: None,
        })
    };
    assert!(matches!(ask(&good, None), Ok(KeyAnswer::Key(_))));
    let mut cases = vec![
        "secret".to_owned(),
        r#"{"secret":"secret"}"#.into(),
        r#"["secret"]"#.into(),
        good.replace("PKMT1", "secret"),
        good.replace("true", "\"secret\""),
        good.replace("\"masterKeyID\":\"kf\"", "\"masterKeyID\":7"),
        good.replace("\"masterKeyID\":\"kf\"", "\"masterKeyID\":null"),
        good.replace("\"kf\"", "\"secret\""),
        good.replace("wrappedDEK\":\"", "wrappedDEK\":\"secret!"),
        good.replace("wrappedDEK\":\"", "wrappedDEK\":\"AAAA"),
        good.replace("wrappedKEK\":\"", "wrappedKEK\":\"AAAA"),
        good.replace("keyEncryptionKeyID\":\"", "keyEncryptionKeyID\":\"AAAA"),
        good.replace("keyEncryptionKeyID\":\"", "keyEncryptionKeyID\":\"secret!"),
        r#"{"keyMaterialType":"PKMT1","internalStorage":false,"keyReference":"secret"}"#.into(),
    ];
    cases.extend((1..good.len()).map(|end| good[..end].to_owned()));
    for case in cases {
        assert_ne!(case, good);
        let error = ask(&case, None).map(drop).unwrap_err();
        for part in ["secret", "AAAA", "kf"] {
            assert!(!error.to_string().contains(part), "{case}: {error}");
        }
    }
    let external =
        r#"{"keyMaterialType":"PKMT1","internalStorage":false,"keyReference":"footerKey"}"#;
    for material in [
        "",
        "[]",
        "{}",
        r#"{"footerKey":{}}"#,
        r#"{"footerKey":"secret"}"#,
    ] {
        fs::write(store.path(), material).unwrap();
        let error = ask(external, Some(&store)).map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Key, "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    // Other writers put null where there is nothing, and members that nobody knows.
    let tolerated = good.replace(
        "\"kmsInstanceURL\":\"DEFAULT\"",
        "\"kmsInstanceURL\":null,\"x\":[1]",
    );
    assert_ne!(tolerated, good);
    assert!(ask(&tolerated, None).is_ok());
}

#[test]
fn column_keys_as_text() {
    let keys = parse_column_keys(" k1 : a , b.c ;; k2:d; ").unwrap();
    let expected = vec![
        (
            "k1".to_owned(),
            vec![path("a"), vec!["b".to_owned(), "c".to_owned()]],
        ),
        ("k2".to_owned(), vec![path("d")]),
    ];
    assert_eq!(keys, expected);
    for text in [
        "k1",
        "k1:",
        ":a",
        "k1:a,",
        "k1:a;k2:a",
        "k1:a:b",
        "k1:a..b",
        "k1:a,a",
    ] {
        assert!(parse_column_keys(text).is_err(), "{text}");
    }
}

#[test]
fn debug_shows_no_secrets() {
    let connection = KmsConnection {
        access_token: AccessToken::new("secret"),
        ..KmsConnection::default()
    };
    let debug = format!("{connection:?} {:?} {:?}", tools(), master_keys());
    assert!(
        !debug.contains("secret") && !debug.contains("0123"),
        "{debug}"
    );
}
