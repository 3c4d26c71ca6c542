//! A small reader for encrypted files, independent of `herringbone-core`. It decrypts every module
//! in a file and checks all metadata.

use bytes::Bytes;
use herringbone_encryption::{
    Error, FileDecryptionProperties, FileDecryptor, ModuleId, ModuleKey, ModuleKind, Result,
    crypto_metadata::{ColumnCryptoMetadata, EncryptionAlgorithm, FileCryptoMetadata},
};
use herringbone_format::{
    BloomFilterHeader, ColumnChunk, ColumnIndex, CompressionCodec, FileMetadata, Limits,
    OffsetIndex, PageHeader, PageType,
    thrift::{CompactReader, CompactWriter, Wire},
};

/// A module found in a file.
pub(crate) struct Module {
    pub(crate) id: ModuleId,
    /// The module's start in the file and its length, or `None` for modules within the footer.
    pub(crate) place: Option<(usize, usize)>,
    /// The plaintext. A page is decompressed, too.
    pub(crate) plaintext: Vec<u8>,
}

/// Returns all modules of the file in `bytes`, with the footer first. Page bodies are decompressed.
pub(crate) fn walk(bytes: &[u8], properties: &FileDecryptionProperties) -> Result<Vec<Module>> {
    let (footer, decryptor, is_plaintext) = footer(bytes, properties)?;
    let limits = Limits::default();
    let metadata = FileMetadata::decode(Bytes::from(footer.clone()), 0, &limits)?;
    decryptor.check_key_value_metadata(metadata.key_value_metadata())?;
    let mut modules = vec![Module {
        id: ModuleId::FOOTER,
        place: None,
        plaintext: footer,
    }];
    for row_group in 0..metadata.num_row_groups() {
        for column in 0..metadata.num_columns(row_group) {
            let chunk = metadata.column_chunk(row_group, column)?;
            let Some((path, key)) = key(&chunk, &decryptor)? else {
                continue;
            };
            let mut walker = Chunk {
                bytes,
                row_group,
                column,
                modules: &mut modules,
                key,
                duckdb: decryptor.is_duckdb_dialect(),
            };
            let metadata = walker.metadata(&chunk, is_plaintext)?;
            assert_eq!(metadata.path, path);
            walker.pages(&metadata)?;
            walker.indexes(&chunk)?;
            if let Some((offset, length)) = metadata.bloom_filter {
                walker.bloom_filter(walker.range(offset, length))?;
            }
        }
    }
    Ok(modules)
}

/// Decrypts or verifies the footer. Also returns true if it was in plaintext.
pub(crate) fn footer(
    bytes: &[u8],
    properties: &FileDecryptionProperties,
) -> Result<(Vec<u8>, FileDecryptor, bool)> {
    let (rest, magic) = bytes.split_at(bytes.len() - 4);
    let (rest, length) = rest.split_last_chunk().ok_or_else(|| missing("length"))?;
    let metadata = &rest[rest.len() - u32::from_le_bytes(*length) as usize..];
    if magic == b"PARE" {
        let (crypto, length) = FileCryptoMetadata::decode_prefix(metadata)?;
        let algorithm = &crypto.encryption_algorithm;
        let decryptor = FileDecryptor::new(properties, algorithm, crypto.key_metadata.as_deref())?;
        let key = decryptor.footer_key()?.ready()?;
        let footer = key.decrypt(&ModuleId::FOOTER, &metadata[length..])?;
        return Ok((footer, decryptor, false));
    }
    assert_eq!(magic, b"PAR1");
    let decoded = FileMetadata::decode(Bytes::copy_from_slice(metadata), 0, &Limits::default())?;
    let algorithm = decoded.encryption_algorithm();
    let algorithm = algorithm.ok_or_else(|| Error::corrupt("the file is not encrypted"))?;
    let algorithm = EncryptionAlgorithm::decode(algorithm)?;
    let key_metadata = decoded.footer_signing_key_metadata();
    let decryptor = FileDecryptor::new(properties, &algorithm, key_metadata)?;
    let (footer, signature) = metadata.split_at(decoded.encoded_len());
    let key = decryptor.footer_key()?.ready()?;
    key.verify_footer(footer, signature)?;
    Ok((footer.to_vec(), decryptor, true))
}

/// Returns the path and key of an encrypted column, or `None` for a plaintext column.
fn key(chunk: &ColumnChunk, file: &FileDecryptor) -> Result<Option<(Vec<String>, ModuleKey)>> {
    let crypto = match &chunk.crypto_metadata {
        Some(crypto) => ColumnCryptoMetadata::decode(&crypto.0)?,
        None if file.is_duckdb_dialect() => ColumnCryptoMetadata::FooterKey,
        None => return Ok(None),
    };
    let path = match (&crypto, &chunk.meta_data) {
        (ColumnCryptoMetadata::ColumnKey { path_in_schema, .. }, _) => path_in_schema.clone(),
        (_, Some(metadata)) => metadata.path_in_schema.clone(),
        (_, None) => return Err(missing("metadata")),
    };
    let key = file.column_key(&path, &crypto)?.ready()?;
    Ok(Some((path, key)))
}

fn missing(what: &str) -> Error {
    Error::corrupt(format!("there is no {what}"))
}

struct Chunk<'a> {
    bytes: &'a [u8],
    row_group: usize,
    column: usize,
    modules: &'a mut Vec<Module>,
    key: ModuleKey,
    duckdb: bool,
}

/// The fields of `ColumnMetaData` that a walk needs.
#[derive(Default)]
struct Metadata {
    path: Vec<String>,
    codec: i64,
    num_values: i64,
    compressed: i64,
    data_page: i64,
    dictionary_page: i64,
    bloom_filter: Option<(i64, i64)>,
}

impl<'a> Chunk<'a> {
    /// Returns the chunk's metadata. It is in a separate module, unless its key is the key of an
    /// encrypted footer.
    fn metadata(&mut self, chunk: &ColumnChunk, plaintext: bool) -> Result<Metadata> {
        let metadata = match (&chunk.encrypted_column_metadata, &chunk.meta_data) {
            (Some(encrypted), _) => self.module(ModuleKind::ColumnMetadata, 0, encrypted)?,
            (None, Some(metadata)) => {
                assert!(!plaintext);
                let mut writer = CompactWriter::new();
                metadata.encode(&mut writer);
                writer.finish()
            }
            (None, None) => return Err(missing("metadata")),
        };
        read_metadata(&metadata)
    }

    /// Decrypts a module, and records it.
    fn module(&mut self, kind: ModuleKind, page: usize, module: &[u8]) -> Result<Vec<u8>> {
        let id = ModuleId::of_page(kind, self.row_group, self.column, page);
        let plaintext = self.key.decrypt(&id, module)?;
        self.modules.push(Module {
            id,
            place: self.place(module),
            plaintext: plaintext.clone(),
        });
        Ok(plaintext)
    }

    /// Decrypts and records the module at the start of `bytes`. Also returns the bytes after it.
    fn first<'b>(
        &mut self,
        kind: ModuleKind,
        page: usize,
        bytes: &'b [u8],
    ) -> Result<(Vec<u8>, &'b [u8])> {
        let id = ModuleId::of_page(kind, self.row_group, self.column, page);
        let length = self.key.module_bytes(&id, bytes, bytes.len())?;
        let length = length.ok_or_else(|| missing("length"))?;
        let (module, rest) = bytes.split_at(length);
        Ok((self.module(kind, page, module)?, rest))
    }

    fn range(&self, offset: i64, length: i64) -> &'a [u8] {
        let offset = offset as usize;
        &self.bytes[offset..offset + length as usize]
    }

    /// Returns the position of `module` in the file, if it is a part of the file.
    fn place(&self, module: &[u8]) -> Option<(usize, usize)> {
        let file = self.bytes.as_ptr_range();
        let start = module.as_ptr();
        file.contains(&start)
            .then(|| (start.addr() - file.start.addr(), module.len()))
    }

    fn pages(&mut self, metadata: &Metadata) -> Result<()> {
        let has_dictionary = metadata.dictionary_page > 0;
        let start = if has_dictionary {
            metadata.dictionary_page
        } else {
            metadata.data_page
        };
        let mut rest = self.range(start, metadata.compressed);
        let (mut page, mut values) = (0, 0);
        let mut dictionary = has_dictionary;
        while !rest.is_empty() {
            let (header_kind, kind) = if dictionary {
                (ModuleKind::DictionaryPageHeader, ModuleKind::DictionaryPage)
            } else {
                (ModuleKind::DataPageHeader, ModuleKind::DataPage)
            };
            let (header, after) = self.first(header_kind, page, rest)?;
            let plaintext = header;
            let (header, length) = PageHeader::decode(&plaintext, &Limits::default())?;
            assert_only_zeros(&plaintext[length..]);
            let beyond = if self.duckdb {
                self.key.overhead(kind)
            } else {
                0
            };
            let (body, after) = after.split_at(header.compressed_page_size as usize + beyond);
            self.body(kind, page, body, &header, metadata.codec)?;
            if let Some(crc) = header.crc {
                assert_eq!(crc32fast::hash(body), crc as u32, "over the ciphertext");
            }
            rest = after;
            assert_eq!(header.type_ == PageType::DictionaryPage, dictionary);
            let version_1 = header.data_page_header.map(|header| header.num_values);
            let version_2 = header.data_page_header_v2.map(|header| header.num_values);
            values += version_1.or(version_2).unwrap_or_default();
            page += usize::from(!dictionary);
            dictionary = false;
        }
        assert_eq!(i64::from(values), metadata.num_values);
        Ok(())
    }

    fn body(
        &mut self,
        kind: ModuleKind,
        page: usize,
        body: &[u8],
        header: &PageHeader,
        codec: i64,
    ) -> Result<()> {
        let id = ModuleId::of_page(kind, self.row_group, self.column, page);
        let place = self.place(body);
        let mut plaintext = Vec::new();
        let (levels, compressed) = match &header.data_page_header_v2 {
            Some(v2) => {
                let levels = v2.definition_levels_byte_length + v2.repetition_levels_byte_length;
                let levels = levels as usize;
                self.key
                    .decrypt_data_page_v2_into(&id, body, levels, &mut plaintext)?;
                (levels, v2.is_compressed)
            }
            None => {
                self.key.decrypt_into(&id, body, &mut plaintext)?;
                (0, true)
            }
        };
        if compressed && codec != i64::from(CompressionCodec::Uncompressed.id()) {
            assert_eq!(codec, i64::from(CompressionCodec::Snappy.id()));
            let values = plaintext.split_off(levels);
            let values = snap::raw::Decoder::new().decompress_vec(&values);
            plaintext.extend(values.map_err(|_| missing("values by SNAPPY"))?);
        }
        assert_eq!(plaintext.len(), header.uncompressed_page_size as usize);
        self.modules.push(Module {
            id,
            place,
            plaintext,
        });
        Ok(())
    }

    fn indexes(&mut self, chunk: &ColumnChunk) -> Result<()> {
        let limits = Limits::default();
        if let (Some(offset), Some(length)) = (chunk.column_index_offset, chunk.column_index_length)
        {
            let module = self.range(offset, length.into());
            let index = self.module(ModuleKind::ColumnIndex, 0, module)?;
            ColumnIndex::decode(&index, &limits)?;
        }
        if let (Some(offset), Some(length)) = (chunk.offset_index_offset, chunk.offset_index_length)
        {
            let module = self.range(offset, length.into());
            let index = self.module(ModuleKind::OffsetIndex, 0, module)?;
            let pages = OffsetIndex::decode(&index, &limits)?.page_locations.len();
            let walked = self.modules.iter().rev().filter(|module| {
                let id = module.id;
                (id.kind, id.row_group, id.column)
                    == (ModuleKind::DataPage, self.row_group, self.column)
            });
            assert_eq!(pages, walked.count());
        }
        Ok(())
    }

    fn bloom_filter(&mut self, bytes: &[u8]) -> Result<()> {
        let (header, rest) = self.first(ModuleKind::BloomFilterHeader, 0, bytes)?;
        let header = BloomFilterHeader::decode_prefix(&header, &Limits::default())?;
        let (header, _) = header.ok_or_else(|| missing("header"))?;
        let bitset = self.module(ModuleKind::BloomFilterBitset, 0, rest)?;
        assert_eq!(bitset.len(), header.num_bytes as usize);
        Ok(())
    }
}

fn read_metadata(bytes: &[u8]) -> Result<Metadata> {
    let mut reader = CompactReader::new(bytes, 100);
    let (mut metadata, mut last) = (Metadata::default(), 0);
    let (mut offset, mut length) = (None, 0);
    while let Some(field) = reader.field(&mut last)? {
        match field.id {
            3 => {
                let (wire, parts) = reader.list()?;
                assert_eq!(wire, Wire::Binary);
                for _ in 0..parts {
                    metadata.path.push(reader.string()?.to_owned());
                }
            }
            4 => metadata.codec = reader.integer(field.wire)?,
            5 => metadata.num_values = reader.integer(field.wire)?,
            7 => metadata.compressed = reader.integer(field.wire)?,
            9 => metadata.data_page = reader.integer(field.wire)?,
            11 => metadata.dictionary_page = reader.integer(field.wire)?,
            14 => offset = Some(reader.integer(field.wire)?),
            15 => length = reader.integer(field.wire)?,
            _ => reader.skip(field.wire)?,
        }
    }
    assert_only_zeros(&bytes[reader.position()..]);
    metadata.bloom_filter = offset.map(|offset| (offset, length));
    Ok(metadata)
}

/// Checks padding. For thrift structs, parquet-java encrypts its whole buffer, which is padded with
/// zeros.
fn assert_only_zeros(rest: &[u8]) {
    assert!(rest.iter().all(|byte| *byte == 0));
}
