//! Extensions of the footer (*Binary Protocol Extensions* in the specification).
//!
//! ```text
//! 08 FF FF 01   long form header of field 32767, which is binary, as the specification shows it
//! 08 FE FF 03   the same as Thrift writes it: ids are zigzag numbers
//! ULEB128(M)    size of the extension
//! M bytes       the extension; writers put a UUID at its end, by which readers know it
//! ```

use std::fmt::Write as _;

/// An extension of the footer: bytes in a form of the writer's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FooterExtension<'a> {
    bytes: &'a [u8],
}

impl<'a> FooterExtension<'a> {
    /// Id of the field that holds extensions.
    pub const FIELD: i16 = 32767;
    /// Id that Thrift reads in the bytes that the specification shows for the field.
    const FIELD_WITHOUT_ZIGZAG: i16 = -16384;

    /// Returns whether extensions are in the field with this id.
    pub(crate) fn is_field(id: i16) -> bool {
        id == Self::FIELD || id == Self::FIELD_WITHOUT_ZIGZAG
    }

    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Returns the bytes of the extension.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the last 16 bytes as the text of a UUID; `None` if there are fewer.
    #[must_use]
    pub fn uuid(&self) -> Option<String> {
        let bytes: &[u8; 16] = self.bytes.last_chunk()?;
        let mut text = String::with_capacity(36);
        for (at, byte) in bytes.iter().enumerate() {
            if [4, 6, 8, 10].contains(&at) {
                text.push('-');
            }
            // Writing to a string does not fail.
            write!(text, "{byte:02x}").ok()?;
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_uuid_is_at_the_end() {
        let bytes: Vec<u8> = (0xF0..=0xFF).collect();
        let extension = FooterExtension::new(&bytes);
        let uuid = extension.uuid();
        assert_eq!(
            uuid.as_deref(),
            Some("f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff")
        );
        let longer = [&[1, 2, 3], bytes.as_slice()].concat();
        assert_eq!(FooterExtension::new(&longer).uuid(), uuid);
        assert_eq!(FooterExtension::new(&bytes[1..]).uuid(), None);
    }
}
