//! A file's plaintext metadata about its encryption (sections 5.2 to 5.5).
//!
//! A [`FileCryptoMetadata`] precedes an encrypted footer. A plaintext footer has an [`EncryptionAlgorithm`] in its
//! field 8 and the signing key's metadata in field 9. Each encrypted column chunk has a [`ColumnCryptoMetadata`] in its
//! field 8.
//!
//! Note that a [`FileCryptoMetadata`] is not authenticated, so anyone with write access to the file can change it.

mod column;
mod encryption_algorithm;
mod file;

#[cfg(test)]
mod tests;

use herringbone_format::thrift::{CompactReader, CompactWriter, Wire};

use crate::Result;

pub use column::ColumnCryptoMetadata;
pub use encryption_algorithm::EncryptionAlgorithm;
pub use file::FileCryptoMetadata;

/// The maximum nesting depth of thrift values skipped in unknown fields.
const MAX_DEPTH: usize = 16;

fn binary(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Option<Vec<u8>>> {
    reader.expect(wire, Wire::Binary)?;
    reader.binary().map(|bytes| Some(bytes.to_vec()))
}

/// Replaces empty key metadata with `None`, since some writers always set it.
fn non_empty(bytes: Option<Vec<u8>>) -> Option<Vec<u8>> {
    bytes.filter(|bytes| !bytes.is_empty())
}

fn write_binary(writer: &mut CompactWriter, id: i16, bytes: Option<&[u8]>) {
    if let Some(bytes) = bytes {
        writer.field(id, Wire::Binary);
        writer.binary(bytes);
    }
}
