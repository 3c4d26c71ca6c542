//! Reads a file's metadata from its end.
//!
//! ```text
//! "PAR1" ... [metadata, thrift] [its signature]? [length of both, u32] "PAR1"
//! "PARE" ... [crypto metadata, thrift] [metadata, encrypted] [length of both, u32] "PARE"
//! ```
//!
//! The first request fetches a suffix of the file. For most files, this contains the whole metadata. Otherwise, a
//! second request fetches just the missing part.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_format::footer::{FOOTER_TAIL_BYTES, Tail};
use herringbone_format::modular_encryption::{
    Decryption, FileDecryption, FileToDecrypt, FooterEncryption, KeyRequest, KeyStep,
};
use herringbone_format::{Error, FileMetadata, Limits, Result, encrypted};

use crate::fetch::FetchPolicy;

/// A decoder for file metadata that starts from the file's last bytes and does no I/O. Use this if you want to do the
/// I/O yourself.
///
/// You can [supply](Self::supply) bytes before the decoder requests them. For example, some sources only report a
/// file's length in response to a suffix request. In that case, create the decoder after the response and supply the
/// suffix at once.
///
/// ```
/// use herringbone::push::{FooterDecoder, FooterStep};
/// use herringbone::Limits;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
///
/// let file = bytes::Bytes::from(std::fs::read("testdata/example.parquet")?);
/// let mut decoder = FooterDecoder::new(file.len() as u64, Limits::default());
/// let metadata = loop {
///     match decoder.poll()? {
///         FooterStep::Ready(metadata) => break metadata,
///         FooterStep::Need(range) => {
///             decoder.supply(file.slice(range.start as usize..range.end as usize));
///         }
///         FooterStep::NeedKey(_) => return Err("the footer is encrypted".into()),
///     }
/// };
/// assert_eq!(metadata.num_row_groups(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FooterDecoder {
    file_length: u64,
    limits: Limits,
    suffix_bytes: u64,
    /// The bytes supplied so far, at the end of the file.
    end: Bytes,
    /// The number of bytes requested so far, counted from the end of the file.
    asked: u64,
    decryption: Option<Arc<dyn Decryption>>,
    path: Option<PathBuf>,
    /// The object for decrypting the file, set once we know how the file is encrypted.
    file: Option<Arc<dyn FileDecryption>>,
}

/// The outcome of a [`FooterDecoder`] step.
///
/// This enum is deliberately exhaustive, because a driver that ignored a step would never end. It's better if such a
/// driver doesn't compile.
#[derive(Debug)]
pub enum FooterStep {
    /// The metadata.
    Ready(Box<FileMetadata>),
    /// The byte range of the file to [supply](FooterDecoder::supply). It extends to the end of the file, or to the
    /// start of the bytes supplied before.
    Need(Range<u64>),
    /// The request for a key to [supply](FooterDecoder::supply_key).
    NeedKey(KeyRequest),
}

impl FooterDecoder {
    /// Creates a decoder for a file of `file_length` bytes.
    #[must_use]
    pub fn new(file_length: u64, limits: Limits) -> Self {
        Self {
            file_length,
            limits,
            suffix_bytes: FetchPolicy::local().suffix_bytes,
            end: Bytes::new(),
            asked: 0,
            decryption: None,
            path: None,
            file: None,
        }
    }

    /// Sets the number of bytes to request first, from the end of the file. The default is 64 KiB.
    #[must_use]
    pub fn suffix_bytes(self, suffix_bytes: u64) -> Self {
        Self {
            suffix_bytes,
            ..self
        }
    }

    /// Sets the source of the file's keys. It receives the `path`, because some sources have different keys for each
    /// file.
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

    /// Supplies the key for `request`.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if no key can have this length, or if none was
    /// requested.
    pub fn supply_key(&self, request: &KeyRequest, key: &[u8]) -> Result<()> {
        match &self.file {
            Some(file) => file.supply_key(request, key),
            None => Err(Error::argument("no key was requested")),
        }
    }

    /// Supplies the bytes before any already supplied. The first call supplies the file's last bytes.
    pub fn supply(&mut self, bytes: Bytes) {
        let end = std::mem::take(&mut self.end);
        self.end = match bytes.try_into_mut() {
            Ok(bytes) if end.is_empty() => bytes.freeze(),
            // If nothing else refers to these bytes, we append to them in place, which avoids copying a large footer.
            Ok(mut bytes) => {
                bytes.extend_from_slice(&end);
                bytes.freeze()
            }
            Err(bytes) if end.is_empty() => bytes,
            Err(bytes) => [bytes, end].concat().into(),
        };
    }

    /// Returns all bytes supplied so far. They end at the end of the file.
    #[must_use]
    pub fn into_supplied(self) -> Bytes {
        self.end
    }

    /// Decodes the metadata or returns the missing input (either bytes of the file or a key).
    ///
    /// # Errors
    /// Fails with:
    ///
    /// - [Corrupt](herringbone_format::ErrorKind::Corrupt) if the file is not a Parquet file.
    /// - [Limit](herringbone_format::ErrorKind::Limit) if its metadata is larger than allowed.
    /// - [Key](herringbone_format::ErrorKind::Key) if its footer is not authentic, or is encrypted and there is no key
    ///   for it.
    /// - [Argument](herringbone_format::ErrorKind::Argument) if you supplied fewer bytes than requested, or more than
    ///   the file has.
    pub fn poll(&mut self) -> Result<FooterStep> {
        let tail_bytes = FOOTER_TAIL_BYTES as u64;
        if self.file_length < tail_bytes + 4 {
            return Err(Error::corrupt(format!(
                "not a Parquet file: its size is {} bytes",
                self.file_length
            )));
        }
        if self.end.len() as u64 > self.file_length {
            return Err(Error::argument(format!(
                "{} bytes were supplied as the end of a file of {} bytes",
                self.end.len(),
                self.file_length
            )));
        }
        let Some(tail) = self.end.last_chunk() else {
            return self.need(self.suffix_bytes.clamp(tail_bytes, self.file_length));
        };
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
                "the metadata has {length} bytes, but the file has {}",
                self.file_length
            ))
            .at_offset(tail_offset));
        }
        let needed = length + tail_bytes;
        let Some(from) = (self.end.len() as u64).checked_sub(needed) else {
            return self.need(needed);
        };
        // The casts are lossless, because these offsets are within bytes in memory.
        let footer = self
            .end
            .slice(from as usize..self.end.len() - FOOTER_TAIL_BYTES);
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

    /// Returns the object for decrypting the file, creating it on the first call.
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

    /// Requests the outstanding part of the file's last `bytes` bytes.
    fn need(&mut self, bytes: u64) -> Result<FooterStep> {
        if bytes <= self.asked {
            return Err(Error::argument(format!(
                "{bytes} bytes of the end of the file were requested, but {} were supplied",
                self.end.len()
            )));
        }
        self.asked = bytes;
        let supplied = self.end.len() as u64;
        Ok(FooterStep::Need(
            self.file_length - bytes..self.file_length - supplied,
        ))
    }
}
