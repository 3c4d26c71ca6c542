//! Decrypts files that our writer wrote, in every form of the format.

use std::sync::Arc;

use herringbone::DataPageVersion;
use herringbone::encryption::properties::{EncryptionKey, OtherColumns};
use herringbone::encryption::{
    Algorithm, FileDecryptionProperties, FileEncryptionProperties, Key, KeyLength,
};
use herringbone::{Compression, ErrorKind, ReadOptions, WriteOptions};

use super::*;

pub(super) fn key(length: KeyLength, of: u8) -> Key {
    let bytes = match length {
        KeyLength::Bits128 => 16,
        KeyLength::Bits192 => 24,
        _ => 32,
    };
    Key::new(&vec![of; bytes]).unwrap()
}

/// The way in which keys are assigned to columns.
#[derive(Debug, Clone, Copy)]
enum Keys {
    /// The footer key for all columns.
    Uniform,
    /// One key for a column, another one for a group, and the footer key for all others.
    Mixed,
    /// One key for one column, while the others are in plaintext.
    OneColumn,
}

fn properties(
    keys: Keys,
    length: KeyLength,
    algorithm: Algorithm,
    plaintext_footer: bool,
) -> (FileEncryptionProperties, FileDecryptionProperties) {
    let writing = FileEncryptionProperties::builder(EncryptionKey::from(key(length, 1)))
        .algorithm(algorithm)
        .plaintext_footer(plaintext_footer);
    let reading = FileDecryptionProperties::builder()
        .footer_key(key(length, 1))
        .allowed_algorithms([algorithm]);
    let (writing, reading) = match keys {
        Keys::Uniform => (writing, reading),
        Keys::Mixed => (
            writing
                .column_key(["city"], key(length, 2))
                .column_key(["pay"], key(length, 3)),
            reading
                .column_key(["city"], key(length, 2))
                .column_key(["pay"], key(length, 3)),
        ),
        Keys::OneColumn => (
            writing
                .column_key(["list"], key(length, 4))
                .other_columns(OtherColumns::Plaintext),
            reading.column_key(["list"], key(length, 4)),
        ),
    };
    (writing.build().unwrap(), reading.build().unwrap())
}

#[test]
fn every_form_comes_back() {
    let batch = batch();
    let mut codecs = [
        Compression::Uncompressed,
        Compression::Snappy,
        Compression::default(),
    ]
    .into_iter()
    .cycle();
    for algorithm in [Algorithm::AesGcmV1, Algorithm::AesGcmCtrV1] {
        for length in [KeyLength::Bits128, KeyLength::Bits192, KeyLength::Bits256] {
            for version in [DataPageVersion::V1, DataPageVersion::V2] {
                for keys in [Keys::Uniform, Keys::Mixed, Keys::OneColumn] {
                    let is_odd = matches!(keys, Keys::Mixed) == (version == DataPageVersion::V1);
                    let (writing, reading) = properties(keys, length, algorithm, is_odd);
                    let options = options()
                        .compression(codecs.next().unwrap())
                        .data_page_version(version)
                        .encryption(Arc::new(writing));
                    let bytes = write(&batch, options).unwrap();
                    let keys: Arc<dyn Decryption> = Arc::new(reading);
                    check_every_way(&bytes, &keys, &batch);
                }
            }
        }
    }
}

#[test]
fn both_footers_hide_what_they_have_to() {
    let batch = batch();
    for plaintext_footer in [false, true] {
        let (writing, reading) = properties(
            Keys::Mixed,
            KeyLength::Bits128,
            Algorithm::AesGcmV1,
            plaintext_footer,
        );
        let bytes = write(&batch, options().encryption(Arc::new(writing))).unwrap();
        let magic = if plaintext_footer { b"PAR1" } else { b"PARE" };
        assert_eq!(
            (&bytes[..4], &bytes[bytes.len() - 4..]),
            (&magic[..], &magic[..])
        );
        // No value is in plaintext in pages, dictionaries, bounds or indexes.
        for text in ["city 1", "name 4999", "name 1"] {
            let found = bytes
                .windows(text.len())
                .any(|window| window == text.as_bytes());
            assert!(!found, "{text}");
        }
        let closed = ParquetFile::from_bytes(bytes.clone());
        match plaintext_footer {
            false => {
                let error = closed.err().unwrap();
                assert_eq!(error.kind(), ErrorKind::Key);
                assert!(
                    error.to_string().contains("feature `encryption`"),
                    "{error}"
                );
            }
            true => {
                let closed = closed.unwrap();
                for leaf in 0..6 {
                    let chunk = closed.metadata().column_chunk(0, leaf).unwrap();
                    let metadata = chunk.meta_data.unwrap();
                    assert!(metadata.statistics.is_none() && metadata.size_statistics.is_none());
                    assert!(metadata.bloom_filter_offset.is_none());
                    assert!(closed.column_index(0, leaf).is_err());
                }
                assert!(read(&closed, &ReadOptions::new()).is_err());
            }
        }
        let open = open(&bytes, &(Arc::new(reading) as Arc<dyn Decryption>)).unwrap();
        for leaf in 0..6 {
            let chunk = open.metadata().column_chunk(0, leaf).unwrap();
            assert!(chunk.meta_data.unwrap().statistics.is_some());
        }
    }
}

#[test]
fn each_file_has_an_identifier_of_its_own() {
    let batch = batch();
    let (writing, reading) = properties(
        Keys::Uniform,
        KeyLength::Bits128,
        Algorithm::AesGcmV1,
        false,
    );
    // Checksums differ, and may take more or fewer bytes, so we leave them out.
    let options = || options().crc(false).encryption(Arc::new(writing.clone()));
    let (one, other) = (
        write(&batch, options()).unwrap(),
        write(&batch, options()).unwrap(),
    );
    // The files differ only in random bytes, but a column of one file is refused in the other.
    assert_eq!(one.len(), other.len());
    let keys: Arc<dyn Decryption> = Arc::new(reading);
    let file = open(&one, &keys).unwrap();
    let page = file.pages(0, 0).unwrap().next().unwrap().unwrap();
    let (from, bytes) = (page.start.offset as usize, page.header_bytes);
    let mut mixed = one.to_vec();
    mixed[from..from + bytes].copy_from_slice(&other[from..from + bytes]);
    let file = open(&mixed.into(), &keys).unwrap();
    let error = read(&file, &ReadOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key, "{error}");
}

#[test]
fn a_prefix_that_is_not_stored_is_handed_in() {
    let batch = batch();
    let writing =
        FileEncryptionProperties::builder(EncryptionKey::from(key(KeyLength::Bits256, 9)))
            .aad_prefix([0xff, 0, 7])
            .store_aad_prefix(false)
            .build()
            .unwrap();
    let bytes = write(&batch, options().encryption(Arc::new(writing))).unwrap();
    let reading = || FileDecryptionProperties::builder().footer_key(key(KeyLength::Bits256, 9));
    let with = reading().aad_prefix([0xff, 0, 7]).build().unwrap();
    check_every_way(&bytes, &(Arc::new(with) as Arc<dyn Decryption>), &batch);
    for wrong in [reading(), reading().aad_prefix([0xff, 0, 8])] {
        let keys: Arc<dyn Decryption> = Arc::new(wrong.build().unwrap());
        assert_eq!(open(&bytes, &keys).err().unwrap().kind(), ErrorKind::Key);
    }
}

#[test]
fn the_bytes_depend_on_nothing_but_rows_options_and_chance() {
    let batch = batch();
    let (writing, _) = properties(Keys::Mixed, KeyLength::Bits128, Algorithm::AesGcmV1, false);
    let lengths = [1, 2, 8].map(|threads| {
        // Checksums differ, and may take more or fewer bytes, so we leave them out.
        let options = options()
            .threads(threads)
            .crc(false)
            .encryption(Arc::new(writing.clone()));
        write(&batch, options).unwrap().len()
    });
    assert!(
        lengths.iter().all(|length| *length == lengths[0]),
        "{lengths:?}"
    );
}

#[test]
fn keys_of_columns_that_are_not_there_are_errors() {
    let batch = batch();
    let (_, reading) = properties(
        Keys::Uniform,
        KeyLength::Bits128,
        Algorithm::AesGcmV1,
        false,
    );
    drop(reading);
    let writing =
        FileEncryptionProperties::builder(EncryptionKey::from(key(KeyLength::Bits128, 1)))
            .column_key(["nothing"], key(KeyLength::Bits128, 2))
            .build()
            .unwrap();
    let error = write(&batch, WriteOptions::new().encryption(Arc::new(writing))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    let (writing, _) = properties(
        Keys::Uniform,
        KeyLength::Bits128,
        Algorithm::AesGcmV1,
        false,
    );
    let bytes = write(&batch, options().encryption(Arc::new(writing))).unwrap();
    let reading = FileDecryptionProperties::builder()
        .footer_key(key(KeyLength::Bits128, 1))
        .column_key(["nothing"], key(KeyLength::Bits128, 2))
        .build()
        .unwrap();
    let error = open(&bytes, &(Arc::new(reading) as Arc<dyn Decryption>))
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
}

#[test]
fn what_is_not_encrypted_is_refused_where_it_should_be() {
    let batch = batch();
    let bytes = write(&batch, options()).unwrap();
    let reading = || FileDecryptionProperties::builder().footer_key(key(KeyLength::Bits128, 1));
    let strict: Arc<dyn Decryption> = Arc::new(reading().build().unwrap());
    assert_eq!(open(&bytes, &strict).err().unwrap().kind(), ErrorKind::Key);
    let lenient: Arc<dyn Decryption> = Arc::new(reading().allow_plaintext(true).build().unwrap());
    check_every_way(&bytes, &lenient, &batch);
}

#[test]
fn a_verifier_sees_the_prefix_of_the_file() {
    let prefix = b"table \xff part 7";
    let writing =
        FileEncryptionProperties::builder(EncryptionKey::from(key(KeyLength::Bits128, 1)))
            .aad_prefix(*prefix)
            .build()
            .unwrap();
    let bytes = write(&batch(), options().encryption(Arc::new(writing))).unwrap();
    let reading = |verifier: fn(&[u8]) -> Result<()>| -> Arc<dyn Decryption> {
        let properties = FileDecryptionProperties::builder()
            .footer_key(key(KeyLength::Bits128, 1))
            .aad_prefix_verifier(Arc::new(verifier));
        Arc::new(properties.build().unwrap())
    };
    let accepts = reading(|prefix| match prefix.ends_with(b"part 7") {
        true => Ok(()),
        false => Err(herringbone::Error::new(ErrorKind::Key, "another part")),
    });
    check_every_way(&bytes, &accepts, &batch());
    let refuses = reading(|_| Err(herringbone::Error::new(ErrorKind::Key, "not of this table")));
    let error = open(&bytes, &refuses).err().unwrap();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Key, "not of this table")
    );
}

/// Ordinals are signed 16-bit numbers. If a page would have no ordinal, we refuse it, and the error suggests a remedy.
#[test]
fn more_pages_than_there_are_ordinals_are_refused() {
    let values = |rows: usize| {
        let column: ArrayRef = Arc::new(BooleanArray::from_iter(
            (0..rows).map(|row| Some(row % 3 == 0)),
        ));
        RecordBatch::try_from_iter([("a", column)]).unwrap()
    };
    let writing = || {
        let key = EncryptionKey::from(key(KeyLength::Bits128, 1));
        FileEncryptionProperties::builder(key).build().unwrap()
    };
    let options = |rows| {
        let columns = ColumnOptions::new()
            .page_rows(1)
            .compression(Compression::Uncompressed);
        WriteOptions::new()
            .row_group_rows(rows)
            .columns(columns)
            .encryption(Arc::new(writing()))
    };
    let most = 1 << 15;
    let bytes = write(&values(most), options(most)).unwrap();
    let reading = FileDecryptionProperties::builder().footer_key(key(KeyLength::Bits128, 1));
    let keys: Arc<dyn Decryption> = Arc::new(reading.build().unwrap());
    let file = open(&bytes, &keys).unwrap();
    assert_eq!(file.pages(0, 0).unwrap().count(), most);
    assert_eq!(
        joined(&read(&file, &ReadOptions::new()).unwrap()),
        joined(&[values(most)])
    );

    let error = write(&values(most + 1), options(most + 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    assert!(error.message().contains("32768"), "{error}");
    assert_eq!(error.location().column.as_deref(), Some("a"), "{error}");
}
