//! Tests encrypted files that were tampered with. There is never a wrong value or a panic, and the error names the
//! module.

use std::sync::Arc;

use herringbone::DataPageVersion;
use herringbone::encryption::properties::EncryptionKey;
use herringbone::encryption::{
    Algorithm, FileDecryptionProperties, FileEncryptionProperties, KeyLength,
};
use herringbone::{ErrorKind, ReadOptions};

use super::round_trip::key;
use super::*;

fn file(algorithm: Algorithm, plaintext_footer: bool) -> (Bytes, Arc<dyn Decryption>) {
    let batch = batch().slice(0, 700);
    let writing =
        FileEncryptionProperties::builder(EncryptionKey::from(key(KeyLength::Bits128, 1)))
            .column_key(["city"], key(KeyLength::Bits128, 2))
            .algorithm(algorithm)
            .plaintext_footer(plaintext_footer)
            .build()
            .unwrap();
    let reading = FileDecryptionProperties::builder()
        .footer_key(key(KeyLength::Bits128, 1))
        .column_key(["city"], key(KeyLength::Bits128, 2))
        .allowed_algorithms([algorithm])
        .build()
        .unwrap();
    let options = options()
        .data_page_version(DataPageVersion::V2)
        .encryption(Arc::new(writing));
    (write(&batch, options).unwrap(), Arc::new(reading))
}

/// Reads everything that a file contains. Returns the rows as text, or the first error.
fn everything(bytes: &Bytes, keys: &Arc<dyn Decryption>) -> Result<Vec<Vec<String>>> {
    use herringbone_core::Step;

    let file = open(bytes, keys)?;
    for leaf in 0..file.parquet_schema().leaves().len() {
        file.column_index(0, leaf)?;
        file.offset_index(0, leaf)?;
        if let Some(mut filter) = file.bloom_filter(0, leaf)? {
            while let Step::Need(range) = filter.poll_bits(file.limits())? {
                filter.supply(range.start, file.source().read(range)?);
            }
        }
        for page in file.pages(0, leaf)? {
            page?;
        }
    }
    // We do not verify checksums, because they would detect the change before decryption does.
    let options = ReadOptions::new().verify_crc(false).threads(1);
    Ok(joined(&read(&file, &options)?))
}

#[test]
fn every_changed_byte_is_found() {
    for plaintext_footer in [false, true] {
        let (bytes, keys) = file(Algorithm::AesGcmV1, plaintext_footer);
        let expected = everything(&bytes, &keys).unwrap();
        let mut unnoticed = 0;
        for at in (0..bytes.len()).step_by(97) {
            let mut changed = bytes.to_vec();
            changed[at] ^= 0x41;
            match everything(&changed.into(), &keys) {
                // The magic at the start does not belong to a module, so a change there is not detected.
                Ok(values) => {
                    assert_eq!(values, expected, "byte {at}");
                    unnoticed += 1;
                }
                Err(error) => assert!(
                    matches!(
                        error.kind(),
                        ErrorKind::Key
                            | ErrorKind::Corrupt
                            | ErrorKind::Limit
                            | ErrorKind::Unsupported
                    ),
                    "byte {at}: {error}"
                ),
            }
        }
        assert!(unnoticed <= 1, "{unnoticed}");
    }
}

#[test]
fn bodies_that_nothing_authenticates_end_in_values_or_errors() {
    let (bytes, keys) = file(Algorithm::AesGcmCtrV1, false);
    let expected = everything(&bytes, &keys).unwrap();
    let (mut errors, mut others) = (0, 0);
    for at in (0..bytes.len()).step_by(61) {
        let mut changed = bytes.to_vec();
        changed[at] ^= 0x41;
        match everything(&changed.into(), &keys) {
            Ok(values) => others += usize::from(values != expected),
            Err(error) => {
                assert_ne!(error.kind(), ErrorKind::Io, "{error}");
                errors += 1;
            }
        }
    }
    assert!(errors > 0 && others > 0, "{errors} {others}");
}

#[test]
fn a_file_that_is_cut_is_an_error() {
    let (bytes, keys) = file(Algorithm::AesGcmV1, false);
    for length in (0..bytes.len()).step_by(131) {
        assert!(
            everything(&bytes.slice(..length), &keys).is_err(),
            "{length}"
        );
    }
}

#[test]
fn wrong_keys_say_whose_they_are() {
    let (bytes, _) = file(Algorithm::AesGcmV1, false);
    let reading = |footer, city| {
        let properties = FileDecryptionProperties::builder()
            .footer_key(key(KeyLength::Bits128, footer))
            .column_key(["city"], key(KeyLength::Bits128, city))
            .build()
            .unwrap();
        let keys: Arc<dyn Decryption> = Arc::new(properties);
        keys
    };
    let error = open(&bytes, &reading(7, 2)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert!(error.message().contains("footer"), "{error}");
    let file = open(&bytes, &reading(1, 7)).unwrap();
    assert!(read(&file, &ReadOptions::new().columns(["id"])).is_ok());
    let error = read(&file, &ReadOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert!(error.to_string().contains("city"), "{error}");
    for shown in [error.to_string(), format!("{error:?}")] {
        assert!(
            !shown.contains("[7, 7") && !shown.contains("0707"),
            "{shown}"
        );
    }
}

/// An attacker who can write to the file changes the algorithm from GCM to CTR, which is not authenticated.
#[test]
fn another_algorithm_in_the_clear_is_refused() {
    let (bytes, _) = file(Algorithm::AesGcmV1, false);
    let length = bytes.len();
    let footer = u32::from_le_bytes(bytes[length - 8..length - 4].try_into().unwrap()) as usize;
    let start = length - 8 - footer;
    // FileCryptoMetaData begins with a struct field with id 1, which contains a struct field with id 1.
    assert_eq!(bytes[start..start + 2], [0x1c, 0x1c]);
    let mut changed = bytes.to_vec();
    changed[start + 1] = 0x2c;
    let reading = |algorithms: &[Algorithm]| {
        let properties = FileDecryptionProperties::builder()
            .footer_key(key(KeyLength::Bits128, 1))
            .column_key(["city"], key(KeyLength::Bits128, 2))
            .allowed_algorithms(algorithms.iter().copied())
            .build()
            .unwrap();
        let keys: Arc<dyn Decryption> = Arc::new(properties);
        keys
    };
    let changed = Bytes::from(changed);
    for allowed in [
        &[Algorithm::AesGcmV1][..],
        &[Algorithm::AesGcmV1, Algorithm::AesGcmCtrV1],
    ] {
        let error = open(&changed, &reading(allowed)).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Key, "{error}");
    }
}
