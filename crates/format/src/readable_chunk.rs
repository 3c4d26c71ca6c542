//! Column chunks prepared for reading, with decrypted metadata and page ciphers.

use crate::modular_encryption::{ChunkCipher, KeyStep, ModuleKind};
use crate::thrift::{RawStruct, Value, decode_whole};
use crate::{
    ColumnChunk, ColumnChunkLayout, ColumnLayout, Error, ErrorKind, FileMetadata, Remedy, Result,
};

const LIMIT: &str = "footer_bytes";

/// A column chunk with everything needed to read its pages.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::ParquetFile;
/// use herringbone::modular_encryption::KeyStep;
///
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let KeyStep::Ready(chunk) = file.metadata().readable_chunk(0, 0)? else {
///     return Err("a key is needed".into());
/// };
/// assert!(chunk.cipher.is_none());
/// assert_eq!(chunk.layout.num_values, 16);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReadableChunk {
    /// The locations of the chunk's pages, and the metadata needed to read them.
    pub layout: ColumnLayout,
    /// The cipher for the chunk's pages, or `None` if they are not encrypted.
    pub cipher: Option<ChunkCipher>,
}

impl FileMetadata {
    /// Prepares a column chunk for reading its pages, only decoding the metadata needed for that.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::column_chunk`], with [Unsupported](ErrorKind::Unsupported) if the chunk is
    /// in another file, and with [Key](ErrorKind::Key) if it is encrypted and its key is missing.
    pub fn readable_chunk(&self, row_group: usize, leaf: usize) -> Result<KeyStep<ReadableChunk>> {
        let chunk: ColumnChunkLayout = self.decode_chunk(row_group, leaf)?;
        if let Some(path) = &chunk.file_path {
            return Err(Error::unsupported(format!(
                "the column chunk is in another file, `{path}`"
            ))
            .with_remedy(Remedy::OpenChunkFiles));
        }
        let encrypted = chunk.encrypted_column_metadata;
        let step = self.chunk_cipher(row_group, leaf, chunk.crypto_metadata.as_ref())?;
        let cipher = match step {
            KeyStep::Ready(cipher) => cipher,
            KeyStep::NeedKey(request) => return Ok(KeyStep::NeedKey(request)),
        };
        let layout = match self.decrypted(cipher.as_ref(), encrypted)? {
            Some(layout) => layout,
            None => chunk
                .meta_data
                .ok_or_else(|| Error::corrupt("the column chunk has no metadata"))?,
        };
        Ok(KeyStep::Ready(ReadableChunk { layout, cipher }))
    }

    /// Returns the cipher for a column chunk's modules, including its page indexes and bloom filter, or `None` if the
    /// chunk is not encrypted.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::readable_chunk`].
    pub fn cipher_of(
        &self,
        row_group: usize,
        leaf: usize,
        chunk: &ColumnChunk,
    ) -> Result<KeyStep<Option<ChunkCipher>>> {
        self.chunk_cipher(row_group, leaf, chunk.crypto_metadata.as_ref())
    }

    /// Sets a decoded chunk's decrypted metadata, if its key is available.
    pub(crate) fn decrypt_chunk(
        &self,
        row_group: usize,
        leaf: usize,
        chunk: &mut ColumnChunk,
    ) -> Result<()> {
        if self.decryption().is_none() || chunk.encrypted_column_metadata.is_none() {
            return Ok(());
        }
        let cipher = match self.cipher_of(row_group, leaf, chunk) {
            Ok(KeyStep::Ready(cipher)) => cipher,
            // We go on without this key, so that other columns can be inspected.
            Ok(KeyStep::NeedKey(_)) => None,
            Err(error) if error.kind() == ErrorKind::Key => None,
            Err(error) => return Err(error),
        };
        let encrypted = chunk.encrypted_column_metadata.clone();
        if let Some(metadata) = self.decrypted(cipher.as_ref(), encrypted)? {
            chunk.meta_data = Some(metadata);
        }
        Ok(())
    }

    fn chunk_cipher(
        &self,
        row_group: usize,
        leaf: usize,
        crypto_metadata: Option<&RawStruct>,
    ) -> Result<KeyStep<Option<ChunkCipher>>> {
        let Some(decryption) = self.decryption() else {
            return match crypto_metadata {
                None => Ok(KeyStep::Ready(None)),
                Some(_) => Err(encrypted("the column chunk is encrypted")),
            };
        };
        let bytes = crypto_metadata.map(|crypto_metadata| crypto_metadata.0.as_slice());
        let step = decryption.column(bytes)?;
        let row_group = self.ordinal_of(row_group)?;
        Ok(step.map(|modules| modules.map(|modules| ChunkCipher::new(modules, row_group, leaf))))
    }

    /// Decrypts and decodes metadata stored as a separate module.
    fn decrypted<T: Value>(
        &self,
        cipher: Option<&ChunkCipher>,
        module: Option<Vec<u8>>,
    ) -> Result<Option<T>> {
        let (Some(cipher), Some(module)) = (cipher, module) else {
            return Ok(None);
        };
        let metadata = cipher.decrypt(ModuleKind::ColumnMetadata, &module)?;
        let limits = self.limits_of_metadata();
        // Some writers append bytes to the metadata, so we don't require it to fill the module.
        let (decoded, _) =
            decode_whole(&metadata, &limits, LIMIT, metadata.len(), "column metadata")?;
        Ok(Some(decoded))
    }
}

/// Returns the error for encrypted content without keys.
#[cold]
pub fn encrypted(what: &str) -> Error {
    Error::new(ErrorKind::Key, format!("{what}, but no keys were given"))
        .with_remedy(Remedy::GiveKeys)
}
