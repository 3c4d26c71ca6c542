use super::*;
use crate::Algorithm;

fn algorithm(algorithm: Algorithm, aad_prefix: Option<&[u8]>) -> EncryptionAlgorithm {
    EncryptionAlgorithm {
        algorithm,
        aad_prefix: aad_prefix.map(<[u8]>::to_vec),
        aad_file_unique: b"12345678".to_vec(),
        supply_aad_prefix: aad_prefix.is_none(),
    }
}

/// Checks section 5.2, encoded by hand in the compact protocol.
#[test]
fn the_bytes_of_an_algorithm() {
    let bytes = b"\x2c\x18\x01p\x18\x0812345678\x12\0\0";
    let expected = algorithm(Algorithm::AesGcmCtrV1, Some(b"p"));
    assert_eq!(expected.encode(), bytes);
    assert_eq!(EncryptionAlgorithm::decode(bytes).unwrap(), expected);
}

#[test]
fn metadata_comes_back() {
    for key_metadata in [None, Some(b"key".to_vec())] {
        let metadata = FileCryptoMetadata {
            encryption_algorithm: algorithm(Algorithm::AesGcmV1, None),
            key_metadata: key_metadata.clone(),
        };
        let mut bytes = metadata.encode();
        let length = bytes.len();
        bytes.extend(b"footer");
        assert_eq!(
            FileCryptoMetadata::decode_prefix(&bytes).unwrap(),
            (metadata, length)
        );
        for end in 0..length {
            assert!(FileCryptoMetadata::decode_prefix(&bytes[..end]).is_err());
        }
        let column = ColumnCryptoMetadata::ColumnKey {
            path_in_schema: vec!["a.b".into(), "c".into()],
            key_metadata,
        };
        assert_eq!(
            ColumnCryptoMetadata::decode(&column.encode()).unwrap(),
            column
        );
    }
    let column = ColumnCryptoMetadata::FooterKey;
    assert_eq!(column.encode(), b"\x1c\0\0");
    assert_eq!(ColumnCryptoMetadata::decode(b"\x1c\0\0").unwrap(), column);
}

#[test]
fn empty_key_metadata_is_none() {
    let metadata = FileCryptoMetadata {
        encryption_algorithm: algorithm(Algorithm::AesGcmV1, None),
        key_metadata: Some(vec![]),
    };
    let (read, _) = FileCryptoMetadata::decode_prefix(&metadata.encode()).unwrap();
    assert_eq!(read.key_metadata, None);
}

#[test]
fn unknown_unions_are_unsupported() {
    let error = EncryptionAlgorithm::decode(b"\x3c\0\0").unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Unsupported);
    let error = ColumnCryptoMetadata::decode(b"\x3c\0\0").unwrap_err();
    assert_eq!(error.kind(), crate::ErrorKind::Unsupported);
    assert!(EncryptionAlgorithm::decode(b"\0").is_err());
    assert!(ColumnCryptoMetadata::decode(b"\0").is_err());
    assert!(EncryptionAlgorithm::decode(b"\x1c\0\x1c\0\0").is_err());
}

#[test]
fn debug_shows_no_key_metadata() {
    let metadata = FileCryptoMetadata {
        encryption_algorithm: algorithm(Algorithm::AesGcmV1, Some(b"tester")),
        key_metadata: Some(b"secret".to_vec()),
    };
    let debug = format!("{metadata:?}");
    assert!(
        !debug.contains("secret") && !debug.contains("115"),
        "{debug}"
    );
}
