use super::*;
use crate::{
    FileDecryptor, FileEncryptor, crypto_metadata::ColumnCryptoMetadata,
    key_tools::EncryptionConfiguration,
};

/// Parses paths with dots between parts and commas between paths.
fn columns(text: &str) -> Result<Vec<ColumnPath>, String> {
    if text.is_empty() {
        return Err(format!("{text} is empty"));
    }
    let path = |path: &str| path.split('.').map(Into::into).collect();
    Ok(text.split(',').map(path).collect())
}

fn parse(text: &str) -> Result<KeysFile> {
    KeysFile::parse(text, &columns)
}

const KF: &str = "MDEyMzQ1Njc4OTAxMjM0NQ==";
const KC1: &str = "MTIzNDU2Nzg5MDEyMzQ1MA==";

fn kf() -> Key {
    Key::new(b"0123456789012345").unwrap()
}

fn kc1() -> Key {
    Key::new(b"1234567890123450").unwrap()
}

#[test]
fn every_member_is_read() {
    let text = format!(
        r#"{{"footer_key": "{KF}", "column_keys": {{"a.b,c": "{KC1}", "d": "{KF}"}},
            "by_metadata": {{"kf": "{KF}", "base64:AP8=": "{KC1}"}},
            "master_keys": {{"m": "{KF}"}}, "kms": "local", "aad_prefix": "base64:AP8=",
            "algorithms": ["AES_GCM_V1", "AES_GCM_CTR_V1"], "algorithm": "AES_GCM_CTR_V1",
            "duckdb": true, "plaintext_footer": true, "store_aad_prefix": false,
            "key_metadata": {{"footer_key": "kf", "column_keys": {{"d": "kd"}}}}}}"#
    );
    let file = parse(&text).unwrap();
    assert_eq!(file.footer_key, Some(kf()));
    let path = |parts: &[&str]| {
        parts
            .iter()
            .copied()
            .map(Into::into)
            .collect::<ColumnPath>()
    };
    let expected = vec![
        (path(&["a", "b"]), kc1()),
        (path(&["c"]), kc1()),
        (path(&["d"]), kf()),
    ];
    assert_eq!(file.column_keys, expected);
    assert_eq!(file.by_metadata[&b"kf"[..]], kf());
    assert_eq!(file.by_metadata[&b"\x00\xff"[..]], kc1());
    assert_eq!(
        (&file.master_keys["m"], file.kms),
        (&kf(), Some(KeysFileKms::Local))
    );
    assert_eq!(file.aad_prefix.as_deref(), Some(&b"\x00\xff"[..]));
    let both = vec![Algorithm::AesGcmV1, Algorithm::AesGcmCtrV1];
    assert_eq!(
        (file.algorithms, file.algorithm),
        (Some(both), Some(Algorithm::AesGcmCtrV1))
    );
    assert_eq!(
        (file.plaintext_footer, file.store_aad_prefix),
        (Some(true), Some(false))
    );
    assert_eq!(file.duckdb, Some(true));
    assert_eq!(file.footer_key_metadata.as_deref(), Some(&b"kf"[..]));
    assert_eq!(file.column_key_metadata[&path(&["d"])], b"kd");

    let file = parse(r#"{"key_metadata": "kf"}"#).unwrap();
    assert_eq!(file.footer_key_metadata.as_deref(), Some(&b"kf"[..]));
    assert!(parse("{}").unwrap().decryption_properties(None).is_err());
}

/// Checks malformed files, each with a part of its error message.
const WRONG: &[(&str, &str)] = &[
    ("", "line 1"),
    ("[]", "line 1: the keys file must be an object"),
    (
        "{\n\"footer_key\": 1}",
        "line 2: \"footer_key\" must be text",
    ),
    ("{\n\n\"footer_key\": \"SECRET\"}", "line 3: \"footer_key\""),
    ("{\"footer_key\": \"SECRET!!\"}", "base64"),
    ("{\"footer_key\": \"AAAAAAAAAAAAAAAAAAAAAA==\"}", "zeros"),
    ("{\"footer_key\": \"U0VDUkVU\"}", "not 6"),
    (
        "{\"footer_keys\": \"SECRET\"}",
        "unknown member \"footer_keys\"",
    ),
    (
        "{\n\"U0VDUkVUU0VDUkVUMTIzNA==\": 1}",
        "line 2: unknown member",
    ),
    (
        "{\"column_keys\": [\"SECRET\"]}",
        "\"column_keys\" must be an object",
    ),
    ("{\"column_keys\": {\"\": \"SECRET\"}}", "not a column path"),
    (
        "{\"column_keys\": {\"a,a\": \"MDEyMzQ1Njc4OTAxMjM0NQ==\"}}",
        "twice",
    ),
    (
        "{\"by_metadata\": {\"base64:SECRET\": \"SECRET\"}}",
        "\"by_metadata\" is not base64",
    ),
    (
        "{\"by_metadata\": {\"SECRET\": \"SECRET\"}}",
        "line 1: \"by_metadata\"",
    ),
    (
        "{\"master_keys\": {\"SECRET\": null}}",
        "\"master_keys\" must be text",
    ),
    (
        "{\"master_keys\": {\"SECRET\": \"MDEyMzQ1Njc4OTAxMjM0NQ==\"}}",
        "without \"kms\"",
    ),
    (
        "{\n\"kms\": \"test\"}",
        "line 2: \"kms\" without \"master_keys\"",
    ),
    ("{\"kms\": \"SECRET\"}", "neither \"test\" nor \"local\""),
    ("{\"aad_prefix\": \"base64:SECRET!\"}", "\"aad_prefix\""),
    ("{\"algorithms\": []}", "empty"),
    (
        "{\"algorithms\": \"AES_GCM_V1\"}",
        "\"algorithms\" must be an array",
    ),
    ("{\"algorithms\": [\"SECRET\"]}", "AES_GCM_CTR_V1"),
    ("{\"algorithm\": \"SECRET\"}", "\"algorithm\""),
    ("{\"plaintext_footer\": \"SECRET\"}", "true or false"),
    ("{\"duckdb\": 1}", "\"duckdb\" must be true or false"),
    ("{\"store_aad_prefix\": 1}", "\"store_aad_prefix\""),
    (
        "{\"key_metadata\": {\"footer\": \"SECRET\"}}",
        "unknown member \"footer\"",
    ),
    (
        "{\"key_metadata\": {\"column_keys\": {\"a,a\": \"SECRET\"}}}",
        "twice",
    ),
    ("{\"footer_key\": \"SECRET", "line 1"),
    ("{\"footer_key\": \"SECRET\" \"b\"}", "line 1"),
    (
        "{\"plaintext_footer\": true,\n\"plaintext_footer\": true}",
        "line 2: an object contains a key twice",
    ),
];

#[test]
fn errors_name_line_and_member_and_no_key() {
    for (text, expected) in WRONG {
        let error = parse(text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.message().starts_with("keys file, line "), "{error}");
        assert!(error.message().contains(expected), "{text}: {error}");
        for secret in ["SECRET", "U0VDUkVU", "MDEy", "AAAA"] {
            assert!(!error.to_string().contains(secret), "{text}: {error}");
        }
    }
}

/// Encrypts a file with one keys file, then reads it with another.
#[test]
fn keys_are_found_in_every_way() {
    let encrypts = format!(
        r#"{{"footer_key": "{KF}", "column_keys": {{"a": "{KC1}"}}, "aad_prefix": "p", "store_aad_prefix": false,
            "key_metadata": {{"footer_key": "kf", "column_keys": {{"a": "kc1"}}}}}}"#
    );
    let properties = parse(&encrypts).unwrap().encryption_properties().unwrap();
    let leaves = [vec!["a".to_owned()], vec!["b".to_owned()]];
    let file = FileEncryptor::new(&properties, &leaves).unwrap();
    let finds = |text: &str| {
        let properties = parse(text)?.decryption_properties(None)?;
        let metadata = file.file_crypto_metadata();
        let algorithm = &metadata.encryption_algorithm;
        let decryptor =
            FileDecryptor::new(&properties, algorithm, metadata.key_metadata.as_deref())?;
        let column = &file.column(0).unwrap().crypto_metadata;
        assert!(matches!(column, ColumnCryptoMetadata::ColumnKey { .. }));
        let footer = decryptor.footer_key()?.ready()?;
        let column = decryptor.column_key(&leaves[0], column)?.ready()?;
        assert_eq!((footer.key, column.key), (kf(), kc1()));
        Ok::<_, Error>(())
    };
    let prefix = r#""aad_prefix": "p""#;
    finds(&format!(
        r#"{{"footer_key": "{KF}", "column_keys": {{"a": "{KC1}"}}, {prefix}}}"#
    ))
    .unwrap();
    finds(&format!(
        r#"{{"by_metadata": {{"kf": "{KF}", "base64:a2Mx": "{KC1}"}}, {prefix}}}"#
    ))
    .unwrap();
    let error = finds(&format!(r#"{{"by_metadata": {{"kf": "{KF}"}}, {prefix}}}"#)).unwrap_err();
    assert_eq!(error.location().column.as_deref(), Some("a"));
    assert!(
        finds(&format!(
            r#"{{"footer_key": "{KF}", "column_keys": {{"a": "{KC1}"}}}}"#
        ))
        .is_err()
    );
}

#[test]
fn master_keys_unwrap_what_key_tools_wrapped() {
    let master_keys = || [("m", kf())];
    let local = |id: &str| match id {
        "m" => Ok(kf()),
        _ => Err(missing("the test")),
    };
    let clients: [(&str, Arc<dyn KmsClient>); 2] = [
        ("test", Arc::new(InMemoryKms::new(master_keys()))),
        ("local", Arc::new(LocalWrapKms::new(local))),
    ];
    for (kms, client) in clients {
        let tools = KeyTools::new(Arc::new(move |_: &KmsConnection| Ok(client.clone())));
        let configuration = EncryptionConfiguration::new("m");
        let connection = KmsConnection::default();
        let properties = tools
            .encryption_properties(&connection, &configuration, None)
            .unwrap();
        let written = FileEncryptor::new(&properties, &[]).unwrap();
        let metadata = written.file_crypto_metadata();
        let keys = |kms: &str| {
            let text = format!(r#"{{"master_keys": {{"m": "{KF}"}}, "kms": "{kms}"}}"#);
            let properties = parse(&text).unwrap().decryption_properties(None).unwrap();
            let algorithm = &metadata.encryption_algorithm;
            let file = FileDecryptor::new(&properties, algorithm, metadata.key_metadata.as_deref());
            file.unwrap().footer_key()?.ready()
        };
        assert_eq!(keys(kms).unwrap().key, written.footer_key().key);
        let other = if kms == "test" { "local" } else { "test" };
        assert!(keys(other).is_err());
    }
}

#[test]
fn encryption_takes_a_footer_key_and_columns_with_keys() {
    let encrypts = |text: String| parse(&text).unwrap().encryption_properties();
    let error = encrypts(format!(r#"{{"column_keys": {{"a": "{KC1}"}}}}"#)).unwrap_err();
    assert!(error.message().contains("footer_key"), "{error}");
    let metadata = r#""key_metadata": {"column_keys": {"a": "kc1"}}"#;
    let error = encrypts(format!(r#"{{"footer_key": "{KF}", {metadata}}}"#)).unwrap_err();
    assert!(error.message().contains("column a"), "{error}");
    let properties = encrypts(format!(
        r#"{{"footer_key": "{KF}", "plaintext_footer": true, "algorithm": "AES_GCM_CTR_V1"}}"#
    ));
    let properties = properties.unwrap();
    assert!(properties.has_plaintext_footer());
    assert_eq!(properties.algorithm(), Algorithm::AesGcmCtrV1);
}
