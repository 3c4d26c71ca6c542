//! Encrypted files, as each side reads and writes them, and the cipher alone.

use std::cell::RefCell;
use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::RecordBatch;
use herringbone::encryption::{Algorithm, FileDecryptionProperties, FileEncryptionProperties, Key};
use herringbone::{Compression, OpenOptions, ParquetFile, ReadOptions, WriteOptions};
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::encryption::{decrypt, encrypt};

use crate::{Result, arrow_rs, ours};

/// The key of 128 bits for all modules.
pub(crate) const KEY: &[u8; 16] = b"0123456789012345";

fn our_keys(algorithm: Algorithm) -> Result<Arc<FileDecryptionProperties>> {
    let properties = FileDecryptionProperties::builder()
        .footer_key(Key::new(KEY)?)
        .allowed_algorithms([algorithm]);
    Ok(Arc::new(properties.build()?))
}

/// Writes batches to memory, with everything encrypted by one key.
///
/// # Errors
///
/// Fails if the batches cannot be written.
pub fn write(
    batches: &[RecordBatch],
    compression: Compression,
    algorithm: Algorithm,
) -> Result<Vec<u8>> {
    let properties = FileEncryptionProperties::builder(Key::new(KEY)?).algorithm(algorithm);
    let options = WriteOptions::default()
        .compression(compression)
        .threads(1)
        .encryption(Arc::new(properties.build()?));
    ours::write_with(batches, options)
}

/// Writes batches to memory with the peer, which only supports AES_GCM_V1.
///
/// # Errors
///
/// Fails if the batches cannot be written.
pub fn write_theirs(batches: &[RecordBatch], compression: Compression) -> Result<Vec<u8>> {
    let properties = encrypt::FileEncryptionProperties::builder(KEY.to_vec()).build()?;
    arrow_rs::write_with(batches, compression, |builder| {
        builder.with_file_encryption_properties(properties)
    })
}

/// Reads all of an encrypted file and returns the row count.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn read(bytes: &Bytes, algorithm: Algorithm) -> Result<u64> {
    let open = OpenOptions::new().decryption(our_keys(algorithm)?);
    let file = ParquetFile::from_source(bytes.clone(), open)?;
    ours::stream(file, ReadOptions::default().threads(1))
}

/// Reads all of an encrypted file with the peer and returns the row count.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn read_theirs(bytes: &Bytes) -> Result<u64> {
    let properties = decrypt::FileDecryptionProperties::builder(KEY.to_vec()).build()?;
    let options = ArrowReaderOptions::default().with_file_decryption_properties(properties);
    arrow_rs::stream(bytes.clone(), None, options)
}

/// A page's encrypted bytes, without the bytes that encryption adds.
pub struct PageBytes {
    /// The header's range in the file.
    pub header: Range<usize>,
    /// The body's range in the file.
    pub body: Range<usize>,
}

/// Returns all pages of a file.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn pages(bytes: &Bytes, algorithm: Algorithm) -> Result<Vec<PageBytes>> {
    let open = OpenOptions::new().decryption(our_keys(algorithm)?);
    let file = ParquetFile::from_source(bytes.clone(), open)?;
    let mut pages = Vec::new();
    // Each module starts with a length and a nonce, and ends with a tag, except with CTR.
    let front = 16;
    let tag = match algorithm {
        Algorithm::AesGcmV1 => 16,
        Algorithm::AesGcmCtrV1 => 0,
    };
    for row_group in 0..file.metadata().num_row_groups() {
        for leaf in 0..file.metadata().num_columns(row_group) {
            for page in file.pages(row_group, leaf)? {
                let page = page?;
                let start = usize::try_from(page.start.offset)?;
                let body = start + page.header_bytes;
                let end = body + usize::try_from(page.header.compressed_page_size)?;
                pages.push(PageBytes {
                    header: start + front..body - 16,
                    body: body + front..end - tag,
                });
            }
        }
    }
    Ok(pages)
}

/// The cipher alone, which runs over the pages of a file in memory.
pub struct RawCipher {
    cipher: Cipher,
    bytes: RefCell<Vec<u8>>,
    pages: Vec<PageBytes>,
    page: RefCell<Vec<u8>>,
}

/// The side whose work a cipher does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A reader. A cipher that works in place gets a copy of each body, because the file's bytes
    /// must not change.
    Reader,
    /// A writer, which draws two nonces from the operating system for each page.
    Writer,
}

impl RawCipher {
    /// Creates the cipher for a file's pages.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read.
    pub fn new(file: &Bytes, algorithm: Algorithm) -> Result<Self> {
        Ok(Self {
            cipher: Cipher::new(algorithm)?,
            bytes: file.to_vec().into(),
            pages: pages(file, algorithm)?,
            page: RefCell::default(),
        })
    }

    /// Encrypts all pages once, where headers use GCM with both algorithms.
    ///
    /// # Errors
    ///
    /// Returns the cipher's errors.
    pub fn run(&self, part: Part) -> Result<()> {
        let (mut bytes, mut page) = (self.bytes.borrow_mut(), self.page.borrow_mut());
        for at in &self.pages {
            let header = bytes
                .get_mut(at.header.clone())
                .ok_or("a header outside of the file")?;
            self.cipher.gcm.encrypt(header)?;
            let body = bytes
                .get_mut(at.body.clone())
                .ok_or("a body outside of the file")?;
            if part == Part::Reader && self.cipher.is_in_place() {
                page.clear();
                page.extend_from_slice(body);
                self.cipher.encrypt(&mut page)?;
            } else {
                self.cipher.encrypt(body)?;
            }
            if part == Part::Writer {
                draw_nonces()?;
            }
        }
        black_box((&mut bytes, &mut page));
        Ok(())
    }
}

fn draw_nonces() -> Result<()> {
    let mut nonces = [0; 2 * 12];
    getrandom::fill(&mut nonces)?;
    black_box(nonces);
    Ok(())
}

/// The cipher that herringbone was built with.
struct Cipher {
    gcm: gcm::Gcm,
    ctr: ctr_mode::Ctr,
    algorithm: Algorithm,
}

impl Cipher {
    fn new(algorithm: Algorithm) -> Result<Self> {
        Ok(Self {
            gcm: gcm::Gcm::new()?,
            ctr: ctr_mode::Ctr::new()?,
            algorithm,
        })
    }

    /// Returns true if the plaintext must replace the ciphertext in its memory.
    fn is_in_place(&self) -> bool {
        self.algorithm == Algorithm::AesGcmV1 && CIPHER == "ring"
    }

    // We do not inline this into its callers, because the compiler might then build it differently
    // for each of them.
    #[inline(never)]
    fn encrypt(&self, body: &mut [u8]) -> Result<()> {
        match self.algorithm {
            Algorithm::AesGcmV1 => self.gcm.encrypt(body),
            Algorithm::AesGcmCtrV1 => self.ctr.encrypt(body),
        }
    }
}

/// The AES-GCM implementation that Herringbone uses.
pub use gcm::NAME as CIPHER;

#[cfg(not(any(feature = "ring", feature = "aws-lc-rs")))]
mod gcm {
    use aes_gcm::{AeadInOut, Aes128Gcm, KeyInit};
    use std::hint::black_box;

    use super::KEY;
    use crate::Result;

    /// The name in tables.
    pub const NAME: &str = "aes-gcm";

    pub(super) struct Gcm(Aes128Gcm);

    impl Gcm {
        pub(super) fn new() -> Result<Self> {
            Ok(Self(Aes128Gcm::new(KEY.into())))
        }

        pub(super) fn encrypt(&self, body: &mut [u8]) -> Result<()> {
            let nonce = [7; 12];
            let tag = self
                .0
                .encrypt_inout_detached(&nonce.into(), b"aad", body.into());
            black_box(tag.map_err(|_| "the cipher refuses")?);
            Ok(())
        }
    }
}

// Both crates have the same interface.
#[cfg(any(feature = "ring", feature = "aws-lc-rs"))]
mod gcm {
    #[cfg(feature = "aws-lc-rs")]
    use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
    #[cfg(not(feature = "aws-lc-rs"))]
    use ring::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
    use std::hint::black_box;

    use super::KEY;
    use crate::Result;

    /// The name in tables.
    #[cfg(feature = "aws-lc-rs")]
    pub const NAME: &str = "aws-lc-rs";
    /// The name in tables.
    #[cfg(not(feature = "aws-lc-rs"))]
    pub const NAME: &str = "ring";

    pub(super) struct Gcm(LessSafeKey);

    impl Gcm {
        pub(super) fn new() -> Result<Self> {
            let key = UnboundKey::new(&AES_128_GCM, KEY).map_err(|_| "the cipher refuses")?;
            Ok(Self(LessSafeKey::new(key)))
        }

        pub(super) fn encrypt(&self, body: &mut [u8]) -> Result<()> {
            let nonce = Nonce::assume_unique_for_key([7; 12]);
            let tag = self
                .0
                .seal_in_place_separate_tag(nonce, Aad::from(b"aad"), body);
            black_box(tag.map_err(|_| "the cipher refuses")?.as_ref());
            Ok(())
        }
    }
}

#[cfg(not(feature = "aws-lc-rs"))]
mod ctr_mode {
    use aes::Aes128;
    use aes_gcm::KeyInit;
    use ctr::cipher::{InnerIvInit, StreamCipherCore};
    use ctr::{CtrCore, flavors::Ctr32BE};

    use super::KEY;
    use crate::Result;

    pub(super) struct Ctr(Aes128);

    impl Ctr {
        pub(super) fn new() -> Result<Self> {
            Ok(Self(Aes128::new(KEY.into())))
        }

        pub(super) fn encrypt(&self, body: &mut [u8]) -> Result<()> {
            let ctr = CtrCore::<&Aes128, Ctr32BE>::inner_iv_init(&self.0, &[7; 16].into());
            let done = ctr.try_apply_keystream_partial(body.into());
            done.map_err(|_| "the cipher refuses".into())
        }
    }
}

#[cfg(feature = "aws-lc-rs")]
mod ctr_mode {
    use aws_lc_rs::cipher::{AES_128, EncryptingKey, EncryptionContext, UnboundCipherKey};
    use aws_lc_rs::iv::FixedLength;
    use std::hint::black_box;

    use super::KEY;
    use crate::Result;

    pub(super) struct Ctr(EncryptingKey);

    impl Ctr {
        pub(super) fn new() -> Result<Self> {
            Ok(Self(EncryptingKey::ctr(UnboundCipherKey::new(
                &AES_128, KEY,
            )?)?))
        }

        pub(super) fn encrypt(&self, body: &mut [u8]) -> Result<()> {
            let context = EncryptionContext::Iv128(FixedLength::from([7; 16]));
            drop(black_box(self.0.less_safe_encrypt(body, context)?));
            Ok(())
        }
    }
}
