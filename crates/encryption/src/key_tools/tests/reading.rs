use super::*;

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
                            store.map(stored),
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
    assert_eq!(kms.counts(), (3, 0), "a key for each master key");
    read(&file, retriever(&tools, None)).unwrap();
    assert_eq!(kms.counts(), (0, 4));
    let again = tools.encryption_properties(&connection, &configuration(), None);
    write(&again.unwrap());
    assert_eq!(kms.counts(), (3, 0), "others for another file");
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

/// Takes the steps of a caller waiting for the KMS elsewhere.
#[test]
fn unwrapping_by_steps() {
    let (_folder, store) = folder();
    let connection = KmsConnection {
        instance_id: Some("id".into()),
        ..KmsConnection::default()
    };
    let properties = tools()
        .encryption_properties(&connection, &configuration(), Some(stored(&store)))
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
