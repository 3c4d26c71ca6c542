use super::*;
use crate::{ErrorKind, Key, module::Algorithm};

fn key(byte: u8) -> Key {
    Key::new(&[byte; 16]).unwrap()
}

fn path(parts: &[&str]) -> ColumnPath {
    parts.iter().copied().map(Into::into).collect()
}

#[test]
fn the_longest_path_wins_and_dots_are_no_borders() {
    let mut map = ColumnMap::default();
    map.insert(path(&["a"]), 1).unwrap();
    map.insert(path(&["a", "b", "c"]), 2).unwrap();
    map.insert(path(&["a.b"]), 3).unwrap();
    let cases: [(&[&str], Option<i32>); 7] = [
        (&["a"], Some(1)),
        (&["a", "x"], Some(1)),
        (&["a", "b"], Some(1)),
        (&["a", "b", "c"], Some(2)),
        (&["a", "b", "c", "d"], Some(2)),
        (&["a.b"], Some(3)),
        (&["b"], None),
    ];
    for (leaf, expected) in cases {
        assert_eq!(map.get(&path(leaf)).copied(), expected, "{leaf:?}");
    }
    assert!(
        map.insert(path(&["a"]), 1)
            .unwrap_err()
            .message()
            .contains("twice")
    );
    assert!(map.insert(path(&[]), 1).is_err());
}

#[test]
fn paths_that_cover_no_leaf_are_errors_with_the_leaves() {
    let leaves = [path(&["a", "list", "element"]), path(&["b"])];
    let properties = |column: &[&str]| {
        FileEncryptionProperties::builder(key(1))
            .column_key(column.iter().copied(), key(2))
            .build()
            .unwrap()
    };
    for column in [
        &["a"][..],
        &["a", "list"],
        &["a", "list", "element"],
        &["b"],
    ] {
        assert!(
            properties(column).resolve(&leaves, &[]).is_ok(),
            "{column:?}"
        );
    }
    for column in [
        &["c"][..],
        &["a", "list", "element", "x"],
        &["list"],
        &["a.list"],
    ] {
        let error = properties(column).resolve(&leaves, &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.message().contains(&column.join(".")), "{error}");
        assert!(error.message().contains("a.list.element, b"), "{error}");
    }
    let decryption = FileDecryptionProperties::builder().column_key(["c"], key(1));
    let decryption = decryption.build().unwrap();
    assert!(
        decryption
            .check_columns(leaves.iter().map(Vec::as_slice))
            .is_err()
    );
}

#[test]
fn other_columns_are_encrypted_unless_asked() {
    let leaves = [path(&["a"]), path(&["b"]), path(&["c"]), path(&["d"])];
    let resolved = |other| {
        let properties = FileEncryptionProperties::builder(key(1))
            .column_key(["a"], EncryptionKey::with_metadata(key(2), "m"))
            .column_with_footer_key(["b"])
            .plaintext_column(["c"])
            .other_columns(other)
            .build();
        let resolved = properties.unwrap().resolve(&leaves, &[]).unwrap();
        let letters = resolved.iter().map(|protection| match protection {
            ColumnProtection::FooterKey => 'f',
            ColumnProtection::ColumnKey(_) => 'c',
            ColumnProtection::Plaintext => 'p',
        });
        letters.collect::<String>()
    };
    assert_eq!(resolved(OtherColumns::FooterKey), "cfpf");
    assert_eq!(resolved(OtherColumns::Plaintext), "cfpp");
}

/// Equal keys count their invocations together, even if they were created separately.
#[test]
fn equal_keys_are_shared() {
    let properties = FileEncryptionProperties::builder(key(5))
        .column_key(["a"], key(7))
        .column_key(["b"], key(5))
        .column_key(["c"], key(7))
        .column_key(["d"], key(3))
        .build()
        .unwrap();
    let leaves = ["a", "b", "c", "d"].map(|name| path(&[name]));
    let keys: Vec<Key> = properties
        .resolve(&leaves, &[])
        .unwrap()
        .into_iter()
        .map(|protection| match protection {
            ColumnProtection::ColumnKey(column) => column.key,
            _ => panic!("a column key was expected"),
        })
        .collect();
    let same = |a: &Key, b: &Key| std::ptr::eq(a.expose_bytes(), b.expose_bytes());
    assert!(same(&keys[1], &properties.footer_key().key));
    assert!(same(&keys[0], &keys[2]));
    assert!(!same(&keys[0], &keys[3]) && !same(&keys[0], &keys[1]));
}

#[test]
fn builders_refuse_what_makes_no_sense() {
    let build = |builder: FileDecryptionPropertiesBuilder| builder.build().map(drop);
    let decryption = FileDecryptionProperties::builder;
    assert!(build(decryption()).is_err());
    assert!(build(decryption().allow_plaintext(true)).is_err());
    assert!(build(decryption().footer_key(key(1)).allowed_algorithms([])).is_err());
    let twice = decryption()
        .column_key(["a"], key(1))
        .column_key(["a"], key(2));
    assert!(build(twice).unwrap_err().message().contains("twice"));
    assert!(build(decryption().column_key(["a"], key(1))).is_ok());

    let encryption = || FileEncryptionProperties::builder(key(1));
    assert!(encryption().store_aad_prefix(false).build().is_err());
    assert!(
        encryption()
            .aad_prefix("")
            .store_aad_prefix(false)
            .build()
            .is_err()
    );
    assert!(
        encryption()
            .aad_prefix("p")
            .store_aad_prefix(false)
            .build()
            .is_ok()
    );
    let twice = encryption()
        .column_key(["a"], key(1))
        .plaintext_column(["a"]);
    assert!(twice.build().is_err());
}

#[test]
fn plaintext_is_refused_unless_allowed() {
    let properties = |allow| {
        let builder = FileDecryptionProperties::builder().column_key(["a"], key(1));
        builder.allow_plaintext(allow).build().unwrap()
    };
    let refused = properties(false);
    assert_eq!(
        refused.check_plaintext_file().unwrap_err().kind(),
        ErrorKind::Key
    );
    let error = refused
        .check_plaintext_column(&path(&["a", "b"]))
        .unwrap_err();
    assert_eq!(error.location().column.as_deref(), Some("a.b"));
    assert!(refused.check_plaintext_column(&path(&["b"])).is_ok());
    assert!(properties(true).check_plaintext_file().is_ok());
    assert!(
        properties(true)
            .check_plaintext_column(&path(&["a"]))
            .is_ok()
    );
}

#[test]
fn ctr_has_to_be_allowed() {
    let builder = || FileDecryptionProperties::builder().footer_key(key(1));
    let default = builder().build().unwrap();
    assert!(default.check_algorithm(Algorithm::AesGcmV1).is_ok());
    let error = default.check_algorithm(Algorithm::AesGcmCtrV1).unwrap_err();
    assert!(error.message().contains("AES_GCM_CTR_V1"), "{error}");
    let ctr = builder()
        .allowed_algorithms([Algorithm::AesGcmCtrV1])
        .build()
        .unwrap();
    assert!(ctr.check_algorithm(Algorithm::AesGcmCtrV1).is_ok());
    assert!(ctr.check_algorithm(Algorithm::AesGcmV1).is_err());
}

#[test]
fn factories_take_paths() {
    let factory = |path: &str| {
        let builder = FileDecryptionProperties::builder().footer_key(key(1));
        Ok(path
            .ends_with(".encrypted")
            .then(|| builder.build().unwrap()))
    };
    assert!(
        factory
            .decryption_properties("a.encrypted")
            .unwrap()
            .is_some()
    );
    assert!(factory.decryption_properties("a").unwrap().is_none());
    let same = FileEncryptionProperties::builder(key(1)).build().unwrap();
    assert!(same.encryption_properties("a").unwrap().is_some());
}

#[test]
fn debug_shows_no_secrets() {
    let secret = Key::new(b"0123456789012345").unwrap();
    let encryption = FileEncryptionProperties::builder(secret.clone())
        .column_key(
            ["a"],
            EncryptionKey::with_metadata(secret.clone(), "metadata-of-a"),
        )
        .aad_prefix("tester");
    let decryption = FileDecryptionProperties::builder()
        .footer_key(secret)
        .aad_prefix("tester");
    let request = KeyRequest::new(
        b"metadata-of-a".to_vec(),
        Some(b"metadata-of-a".to_vec()),
        None,
    );
    let debug = format!(
        "{:?} {:?} {request:?}",
        encryption.build().unwrap(),
        decryption.build().unwrap()
    );
    for secret in [
        "0123",
        "48, 49",
        "metadata-of-a",
        "109, 101",
        "tester",
        "116, 101",
    ] {
        assert!(!debug.contains(secret), "{debug}");
    }
}
