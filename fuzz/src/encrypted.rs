//! Reads encrypted files. No read may panic or put a key into a message, and every way of reading
//! must return the same rows.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use herringbone::encryption::properties::{KeyAnswer, KeyRequest};
use herringbone::encryption::{
    Algorithm, FileDecryptionProperties, FileEncryptionProperties, FileEncryptor, Key, ModuleId,
};
use herringbone::format::footer::{FOOTER_TAIL_BYTES, Tail};
use herringbone::modular_encryption::Decryption;
use herringbone::{Error, ErrorKind, OpenOptions, ParquetFile};

use crate::read::{all_of, in_two_ways, limits};

/// The master and data keys of the files in apache/parquet-testing.
const KEYS: [(&[u8], &[u8; 16]); 3] = [
    (b"kf", b"0123456789012345"),
    (b"kc1", b"1234567890123450"),
    (b"kc2", b"1234567890123451"),
];

/// The keys for all files. They allow all algorithms, dialects and plaintext, so that as many files
/// as possible are read.
static DECRYPTION: LazyLock<Arc<dyn Decryption>> = LazyLock::new(|| {
    let retrieve = |request: &KeyRequest| {
        let known = KEYS.iter().find(|(name, _)| *name == request.key_metadata);
        match known {
            Some((_, key)) => Key::new(*key).map(KeyAnswer::Key),
            None => Err(Error::new(ErrorKind::Key, "there is no such key")),
        }
    };
    let properties = FileDecryptionProperties::builder()
        .footer_key(Key::new(KEYS[0].1).expect("a key"))
        .key_retriever(Arc::new(retrieve))
        .allowed_algorithms([Algorithm::AesGcmV1, Algorithm::AesGcmCtrV1])
        .allow_plaintext(true)
        .duckdb_dialect(true);
    Arc::new(properties.build().expect("properties"))
});

/// Opens an in-memory file with the keys, under small limits.
fn open(bytes: &Bytes) -> Result<ParquetFile, Error> {
    let options = OpenOptions::from(limits()).decryption(DECRYPTION.clone());
    let file = ParquetFile::from_source(bytes.clone(), options);
    if let Err(error) = &file {
        let said = format!("{error} {error:?}");
        assert!(
            !KEYS
                .iter()
                .any(|(_, key)| said.contains(&*String::from_utf8_lossy(*key)))
        );
    }
    file
}

/// Reads any bytes as an encrypted file. If they end like a plaintext file, also reads them with an
/// encrypted footer, so that the columns in the footer are authentic.
pub fn encrypted_file(data: &[u8]) {
    look_at(data);
    if let Some(sealed) = with_sealed_footer(data) {
        look_at(&sealed);
    }
}

fn look_at(data: &[u8]) {
    let bytes = Bytes::copy_from_slice(data);
    let Ok(file) = open(&bytes) else { return };
    all_of(&file, data.len());
    // We do not verify checksums, because bodies that are not authenticated mostly have wrong ones.
    let sum = data.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    in_two_ways(|| open(&bytes), false, sum);
}

/// Encrypts a file's footer.
fn with_sealed_footer(data: &[u8]) -> Option<Vec<u8>> {
    let (front, tail) = data.split_last_chunk::<FOOTER_TAIL_BYTES>()?;
    let tail = Tail::decode(tail).ok().filter(|tail| !tail.encrypted)?;
    let start = front.len().checked_sub(tail.metadata_length as usize)?;
    let (pages, metadata) = front.split_at(start);
    let properties = FileEncryptionProperties::builder(Key::new(KEYS[0].1).ok()?);
    let file = FileEncryptor::new(&properties.build().ok()?, &[]).ok()?;
    let mut footer = file.file_crypto_metadata().encode();
    let key = file.footer_key();
    key.encrypt(&ModuleId::FOOTER, &[metadata], &mut footer)
        .ok()?;
    let tail = Tail {
        metadata_length: u32::try_from(footer.len()).ok()?,
        encrypted: true,
    };
    Some([pages, &footer, &tail.encode()].concat())
}
