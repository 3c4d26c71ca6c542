//! A file's first and last bytes.
//!
//! ```text
//! PAR1  column chunks, indexes, …  FileMetaData  length (4 bytes)  PAR1
//! ```
//!
//! With an encrypted footer, the magic is `PARE` at both ends.

use crate::{Error, Result};

/// The bytes at both ends of a file.
pub const MAGIC: [u8; 4] = *b"PAR1";

/// The bytes at both ends of a file with an encrypted footer.
pub const MAGIC_ENCRYPTED: [u8; 4] = *b"PARE";

/// The number of bytes after the metadata, that is, its length and the magic.
pub const FOOTER_TAIL_BYTES: usize = 8;

/// The last eight bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)] // For the crates of this workspace.
pub struct Tail {
    /// The byte count of the metadata before the tail, including the signature if the footer is
    /// signed.
    pub metadata_length: u32,
    /// True if the metadata is encrypted.
    pub encrypted: bool,
}

impl Tail {
    /// Decodes the last eight bytes of a file.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt) if the bytes don't end with either magic.
    pub fn decode(bytes: &[u8; FOOTER_TAIL_BYTES]) -> Result<Self> {
        let [a, b, c, d, magic @ ..] = *bytes;
        let encrypted = match magic {
            MAGIC => false,
            MAGIC_ENCRYPTED => true,
            other => {
                return Err(Error::corrupt(format!(
                    "not a Parquet file: it ends in \"{}\", not in \"PAR1\"",
                    other.escape_ascii()
                )));
            }
        };
        Ok(Self {
            metadata_length: u32::from_le_bytes([a, b, c, d]),
            encrypted,
        })
    }

    /// Encodes the eight bytes.
    #[must_use]
    pub fn encode(self) -> [u8; FOOTER_TAIL_BYTES] {
        let [a, b, c, d] = self.metadata_length.to_le_bytes();
        let [e, f, g, h] = if self.encrypted {
            MAGIC_ENCRYPTED
        } else {
            MAGIC
        };
        [a, b, c, d, e, f, g, h]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_come_back() {
        let bytes = *b"\x01\x02\x00\x80PAR1";
        let tail = Tail::decode(&bytes).unwrap();
        assert_eq!((tail.metadata_length, tail.encrypted), (0x8000_0201, false));
        assert_eq!(tail.encode(), bytes);
        assert!(Tail::decode(b"\0\0\0\0PARE").unwrap().encrypted);
        assert_eq!(
            Tail::decode(b"\0\0\0\0PAR\n").unwrap_err().message(),
            "not a Parquet file: it ends in \"PAR\\n\", not in \"PAR1\""
        );
    }
}
