//! From the end of a file to its metadata.
//!
//! ```text
//! "PAR1" ... [metadata, thrift] [metadata length, u32] "PAR1"
//! ```
//!
//! The end is asked for first, together with so many bytes before it that the metadata of most
//! files comes along.

use std::ops::Range;

use bytes::Bytes;
use herringbone_format::footer::{FOOTER_TAIL_BYTES, Tail};
use herringbone_format::{Error, FileMetadata, Limits, Result};

use crate::Step;

/// Bytes asked for at the end of a file.
const FIRST_READ: u64 = 64 << 10;

/// Finds the metadata of a file, without reading itself.
#[derive(Debug)]
pub struct FooterDecoder {
    file_length: u64,
    limits: Limits,
    /// The end of the file, as far as it is here.
    end: Option<Bytes>,
}

impl FooterDecoder {
    /// A decoder for a file of `file_length` bytes.
    #[must_use]
    pub fn new(file_length: u64, limits: Limits) -> Self {
        Self {
            file_length,
            limits,
            end: None,
        }
    }

    /// Hands in the last bytes of the file.
    pub fn supply(&mut self, end_of_file: Bytes) {
        self.end = Some(end_of_file);
    }

    /// The metadata, or the range at the end of the file that it takes.
    ///
    /// # Errors
    /// Corrupt where the file is no Parquet file, Unsupported where its footer is encrypted, Limit
    /// where its metadata is larger than allowed.
    pub fn poll(&self) -> Result<Step<FileMetadata>> {
        let tail_bytes = FOOTER_TAIL_BYTES as u64;
        if self.file_length < tail_bytes + 4 {
            return Err(Error::corrupt(format!(
                "{} bytes are too few for a Parquet file",
                self.file_length
            )));
        }
        let Some(end) = &self.end else {
            return Ok(Step::Need(self.last(FIRST_READ.min(self.file_length))));
        };
        let tail = end
            .last_chunk()
            .ok_or_else(|| Error::argument("the end of the file is cut"))?;
        let tail_offset = self.file_length - tail_bytes;
        let tail = Tail::decode(tail).map_err(|error| error.at_offset(tail_offset))?;
        if tail.encrypted {
            return Err(Error::unsupported("the footer is encrypted").at_offset(tail_offset));
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
            return Ok(Step::Need(self.last(needed)));
        }
        let from = end.len() - needed as usize;
        let metadata = end.slice(from..end.len() - FOOTER_TAIL_BYTES);
        FileMetadata::decode(metadata, tail_offset - length, &self.limits).map(Step::Ready)
    }

    fn last(&self, bytes: u64) -> Range<u64> {
        self.file_length - bytes..self.file_length
    }
}
