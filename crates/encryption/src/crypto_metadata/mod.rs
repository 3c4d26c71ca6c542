//! What a file says about its encryption, in the clear (sections 5.2 to 5.5).
//!
//! In front of an encrypted footer stands a [`FileCryptoMetadata`]. A plaintext footer has an [`EncryptionAlgorithm`] in its
//! field 8, and the metadata of the key that signs it in field 9. Each encrypted column chunk has a [`ColumnCryptoMetadata`]
//! in its field 8.
//!
//! Nothing authenticates a [`FileCryptoMetadata`]: whoever can write the file can change it.

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

/// Nesting of thrift values that is passed over where a field is not known.
const MAX_DEPTH: usize = 16;

fn binary(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Option<Vec<u8>>> {
    reader.expect(wire, Wire::Binary)?;
    reader.binary().map(|bytes| Some(bytes.to_vec()))
}

/// There are writers that always set the metadata of keys.
fn non_empty(bytes: Option<Vec<u8>>) -> Option<Vec<u8>> {
    bytes.filter(|bytes| !bytes.is_empty())
}

fn write_binary(writer: &mut CompactWriter, id: i16, bytes: Option<&[u8]>) {
    if let Some(bytes) = bytes {
        writer.field(id, Wire::Binary);
        writer.binary(bytes);
    }
}
