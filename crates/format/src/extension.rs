//! Extensions of the footer (*Binary Protocol Extensions* in the specification).
//!
//! ```text
//! 08 FF FF 01   long-form header of the binary field 32767, as shown in the specification
//! 08 FE FF 03   the header as written by Thrift: ids are zigzag numbers
//! ULEB128(M)    size of the extension
//! M bytes       the extension; writers append a UUID, by which readers recognize it
//! ```

use std::fmt::Write as _;

/// A footer extension, that is, bytes in a writer-defined format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FooterExtension<'a> {
    bytes: &'a [u8],
}

impl<'a> FooterExtension<'a> {
    /// The field id for extensions.
    pub const FIELD: i16 = 32767;
    /// The id that Thrift decodes from the specification's example header.
    const FIELD_WITHOUT_ZIGZAG: i16 = -16384;

    /// Returns true if a field with this id contains an extension.
    pub(crate) fn is_field(id: i16) -> bool {
        id == Self::FIELD || id == Self::FIELD_WITHOUT_ZIGZAG
    }

    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Returns the extension's bytes.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the last 16 bytes formatted as a UUID, or `None` if there are fewer.
    #[must_use]
    pub fn uuid(&self) -> Option<String> {
        let bytes: &[u8; 16] = self.bytes.last_chunk()?;
        let mut text = String::with_capacity(36);
        for (at, byte) in bytes.iter().enumerate() {
            if [4, 6, 8, 10].contains(&at) {
                text.push('-');
            }
            // This can't fail, because writing to a string never does.
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
