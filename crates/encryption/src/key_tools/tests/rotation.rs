use super::*;

#[test]
fn rotation_wraps_anew_and_leaves_the_file() {
    let (folder, store) = folder();
    let mut kms = master_keys();
    let connection = KmsConnection::default();
    let old_tools = Counting::new(kms.clone()).tools();
    let properties =
        old_tools.encryption_properties(&connection, &configuration(), Some(stored(&store)));
    let file = write(&properties.unwrap());
    let before = store.read().unwrap();

    // Before the rotation, a KMS with only the new versions cannot read the file. After it, a KMS
    // with only the old versions cannot.
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
                &stored(&store),
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
    let properties =
        tools().encryption_properties(&connection, &configuration(), Some(stored(&store)));
    let file = write(&properties.unwrap());
    let before = store.read().unwrap();
    let key = Key::new(b"0123456789012345").unwrap();
    let without_columns = Counting::new(InMemoryKms::new([("kf", key)])).tools();
    let rotated = without_columns.rotate_master_keys(
        &connection,
        &KmsUrlPolicy::default(),
        &stored(&store),
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
            .encryption_properties(&connection, &configuration(), Some(stored(store)))
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
fn files_written_after_a_rotation_have_keys_of_the_new_version() {
    let kms = Counting::new(master_keys());
    let tools = kms.tools();
    let connection = KmsConnection::default();
    let (_folder, store) = folder();
    tools
        .encryption_properties(&connection, &configuration(), Some(stored(&store)))
        .unwrap();
    kms.counts();
    let policy = KmsUrlPolicy::default();
    tools
        .rotate_master_keys(
            &connection,
            &policy,
            &stored(&store),
            None,
            KeyLength::Bits128,
        )
        .unwrap();
    assert_eq!(kms.counts(), (3, 3), "a key for each master key");
    tools
        .encryption_properties(&connection, &configuration(), None)
        .unwrap();
    assert_eq!(kms.counts(), (3, 0), "none of those before the rotation");
}

#[test]
fn a_file_that_cannot_be_written_leaves_nothing_behind() {
    let (folder, store) = folder();
    // A file cannot be renamed to a folder's name, so this write fails.
    fs::create_dir(store.path()).unwrap();
    assert_eq!(store.replace("{}").unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let nowhere = FileKeyMaterialStore::new(folder.path().join("no/x.parquet")).unwrap();
    assert_eq!(nowhere.create("{}").unwrap_err().kind(), ErrorKind::Io);
}
