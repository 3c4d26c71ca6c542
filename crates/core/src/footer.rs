//! From the end of a file to its metadata.
//!
//! ```text
//! "PAR1" ... [metadata, thrift] [its signature]? [length of both, u32] "PAR1"
//! "PARE" ... [crypto metadata, thrift] [metadata, encrypted] [length of both, u32] "PARE"
//! ```
//!
//! The end is asked for first, together with so many bytes before it that the metadata of most
//! files comes along.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_format::footer::{FOOTER_TAIL_BYTES, Tail};
use herringbone_format::modular_encryption::{
    Decryption, FileDecryption, FileToDecrypt, FooterEncryption, KeyRequest, KeyStep,
};
use herringbone_format::{Error, FileMetadata, Limits, Result, encrypted};

/// Bytes asked for at the end of a file.
const FIRST_READ: u64 = 64 << 10;

/// Finds the metadata of a file, without reading itself.
#[derive(Debug)]
pub struct FooterDecoder {
    file_length: u64,
    limits: Limits,
    /// The end of the file, as far as it is here.
    end: Option<Bytes>,
    decryption: Option<Arc<dyn Decryption>>,
    path: Option<PathBuf>,
    /// What decrypts the file, once it is known how it is encrypted.
    file: Option<Arc<dyn FileDecryption>>,
}

/// What a step of a [`FooterDecoder`] came to.
#[derive(Debug)]
pub enum FooterStep {
    /// The metadata.
    Ready(Box<FileMetadata>),
    /// The range at the end of the file that must be [supplied](FooterDecoder::supply).
    Need(Range<u64>),
    /// The key that must be [supplied](FooterDecoder::supply_key).
    NeedKey(KeyRequest),
}

impl FooterDecoder {
    /// A decoder for a file of `file_length` bytes.
    #[must_use]
    pub fn new(file_length: u64, limits: Limits) -> Self {
        Self {
            file_length,
            limits,
            end: None,
            decryption: None,
            path: None,
            file: None,
        }
    }

    /// The same file, which `decryption` has the keys of. Its `path`, if it has one, is for those who have
    /// other keys for each file.
    #[must_use]
    pub fn decryption(
        self,
        decryption: Option<Arc<dyn Decryption>>,
        path: Option<PathBuf>,
    ) -> Self {
        Self {
            decryption,
            path,
            ..self
        }
    }

    /// Hands over the key that `request` asked for.
    ///
    /// # Errors
    /// Argument where it has a length that no key has, or none was asked for.
    pub fn supply_key(&self, request: &KeyRequest, key: &[u8]) -> Result<()> {
        match &self.file {
            Some(file) => file.supply_key(request, key),
            None => Err(Error::argument("no key was asked for")),
        }
    }

    /// Hands in the last bytes of the file.
    pub fn supply(&mut self, end_of_file: Bytes) {
        self.end = Some(end_of_file);
    }

    /// The metadata, or what it takes: bytes of the end of the file, or a key.
    ///
    /// # Errors
    /// Corrupt where the file is no Parquet file; Limit where its metadata is larger than allowed; Key where
    /// its footer is encrypted and there is no key for it, or it is not authentic.
    pub fn poll(&mut self) -> Result<FooterStep> {
        let tail_bytes = FOOTER_TAIL_BYTES as u64;
        if self.file_length < tail_bytes + 4 {
            return Err(Error::corrupt(format!(
                "{} bytes are too few for a Parquet file",
                self.file_length
            )));
        }
        let Some(end) = &self.end else {
            return Ok(FooterStep::Need(
                self.last(FIRST_READ.min(self.file_length)),
            ));
        };
        let tail = end
            .last_chunk()
            .ok_or_else(|| Error::argument("the end of the file is cut"))?;
        let tail_offset = self.file_length - tail_bytes;
        let tail = Tail::decode(tail).map_err(|error| error.at_offset(tail_offset))?;
        if tail.encrypted && self.decryption.is_none() {
            return Err(encrypted("the footer is encrypted").at_offset(tail_offset));
        }
        let length = u64::from(tail.metadata_length);
        if length > self.limits.footer_bytes {
            return Err(Error::limit(
                "footer_bytes",
                length,
                self.limits.footer_bytes,
            ));
        }
        if length > tail_offset {
            return Err(Error::corrupt(format!(
                "the metadata has {length} bytes, the file {}",
                self.file_length
            ))
            .at_offset(tail_offset));
        }
        let needed = length + tail_bytes;
        if (end.len() as u64) < needed {
            return Ok(FooterStep::Need(self.last(needed)));
        }
        let from = end.len() - needed as usize;
        let footer = end.slice(from..end.len() - FOOTER_TAIL_BYTES);
        let offset = tail_offset - length;
        let step = match tail.encrypted {
            true => self.encrypted(footer, offset),
            false => self.plaintext(footer, offset),
        };
        step.map_err(|error| error.at_offset(offset))
    }

    fn encrypted(&mut self, footer: Bytes, offset: u64) -> Result<FooterStep> {
        let file = self.open(FooterEncryption::Encrypted(&footer))?;
        let file = file.ok_or_else(|| encrypted("the footer is encrypted"))?;
        let metadata = match file.decrypt_footer(&footer)? {
            KeyStep::Ready(metadata) => Bytes::from(metadata),
            KeyStep::NeedKey(request) => return Ok(FooterStep::NeedKey(request)),
        };
        let metadata = FileMetadata::decode(metadata, offset, &self.limits)?;
        Self::complete(metadata, Some(file))
    }

    fn plaintext(&mut self, footer: Bytes, offset: u64) -> Result<FooterStep> {
        let metadata = FileMetadata::decode(footer.clone(), offset, &self.limits)?;
        let file = self.open(FooterEncryption::Plaintext {
            encryption_algorithm: metadata.encryption_algorithm(),
            footer_signing_key_metadata: metadata.footer_signing_key_metadata(),
        })?;
        if let Some(file) = &file {
            let (signed, signature) = footer.split_at(metadata.encoded_len().min(footer.len()));
            if let KeyStep::NeedKey(request) = file.verify_footer(signed, signature)? {
                return Ok(FooterStep::NeedKey(request));
            }
        }
        Self::complete(metadata, file)
    }

    /// What decrypts the file, asked for once.
    fn open(&mut self, footer: FooterEncryption<'_>) -> Result<Option<Arc<dyn FileDecryption>>> {
        if let (None, Some(decryption)) = (&self.file, &self.decryption) {
            let file = FileToDecrypt::new(self.path.as_deref(), footer);
            self.file = decryption.open(&file)?;
        }
        Ok(self.file.clone())
    }

    fn complete(
        metadata: FileMetadata,
        file: Option<Arc<dyn FileDecryption>>,
    ) -> Result<FooterStep> {
        if let Some(file) = &file {
            file.check_key_values(metadata.key_value_metadata())?;
        }
        Ok(FooterStep::Ready(Box::new(metadata.with_decryption(file))))
    }

    fn last(&self, bytes: u64) -> Range<u64> {
        self.file_length - bytes..self.file_length
    }
}
