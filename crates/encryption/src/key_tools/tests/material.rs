use super::*;

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
        retriever(&tools, store).retrieve(&KeyRequest::new(metadata.into(), None, None))
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
    // Some other writers store null for missing values, or unknown members.
    let tolerated = good.replace(
        "\"kmsInstanceURL\":\"DEFAULT\"",
        "\"kmsInstanceURL\":null,\"x\":[1]",
    );
    assert_ne!(tolerated, good);
    assert!(ask(&tolerated, None).is_ok());
    // Key metadata is not authenticated, so its size is limited before it is parsed.
    let padded = |bytes: usize| good.clone() + &" ".repeat(bytes - good.len());
    assert!(ask(&padded(65_536), None).is_ok());
    let error = ask(&padded(65_537), None).map(drop).unwrap_err();
    assert_eq!(
        error.message(),
        "the key material in the file has 65537 bytes, and at most 65536 are parsed, because it is \
         not authenticated"
    );
}

/// An attacker with write access to the folder can put anything in place of the key material.
#[cfg(unix)]
#[test]
fn only_regular_files_of_some_megabytes_are_read() {
    let (folder, store) = folder();
    let refused = |reason: &str| {
        let error = store.read().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.message().contains(reason), "{error}");
        fs::remove_file(store.path()).unwrap();
    };
    std::os::unix::fs::symlink("/dev/zero", store.path()).unwrap();
    refused("not a regular file");
    let made = std::process::Command::new("mkfifo")
        .arg(store.path())
        .status();
    assert!(made.unwrap().success());
    refused("not a regular file");
    let large = fs::File::create(store.path()).unwrap();
    large.set_len((64 << 20) + 1).unwrap();
    refused("larger than 64 MiB");
    let other = folder.path().join("other");
    fs::write(&other, "{}").unwrap();
    std::os::unix::fs::symlink(&other, store.path()).unwrap();
    assert_eq!(store.read().unwrap(), "{}");
}

/// If several writers create key material at once, only one of them succeeds.
#[test]
fn new_material_has_one_writer() {
    for _ in 0..20 {
        let (folder, store) = folder();
        let write = |ordinal: usize| {
            let store = store.clone();
            std::thread::spawn(move || store.create(&ordinal.to_string()))
        };
        let writers: Vec<_> = (0..4).map(write).collect();
        let outcomes = writers.into_iter().map(|writer| writer.join().unwrap());
        let outcomes: Vec<_> = outcomes.collect();
        let winner = outcomes.iter().position(Result::is_ok).unwrap();
        assert_eq!(store.read().unwrap(), winner.to_string());
        for error in outcomes.into_iter().filter_map(Result::err) {
            assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
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
