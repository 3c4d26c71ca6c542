//! Assembles a file from its column chunks: magic, row groups, bloom filters, page indexes and footer.
//!
//! ```text
//! PAR1  (column chunks  bloom filters)*  column indexes  offset indexes  FileMetaData  length  PAR1
//! ```
//!
//! With an encrypted footer, the magic is `PARE`.

use std::collections::HashSet;
use std::mem;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_format::footer::{MAGIC, MAGIC_ENCRYPTED, Tail};
use herringbone_format::modular_encryption::{ChunkCipher, FileEncryption, ModuleId, ModuleKind};
use herringbone_format::thrift::CompactWriter;
use herringbone_format::{
    ColumnChunk, ColumnIndex, ColumnMetaData, Error, FileMetadataParts, KeyValue, OffsetIndex,
    Result, RowGroup,
};

use super::chunk::EncodedColumn;
use super::copied_chunk::CopiedChunk;
use super::heap_bytes;
use super::plan::WritePlan;

/// An encoder that assembles column chunks into a file. You must write the returned bytes in order, one after the
/// other.
#[derive(Debug)]
pub struct FileEncoder {
    plan: Arc<WritePlan>,
    /// The number of bytes returned so far.
    position: u64,
    row_groups: Vec<RowGroup>,
    /// The file offset of the row group under construction.
    start: u64,
    /// The columns of the row group under construction.
    columns: Vec<OpenColumn>,
    /// The page indexes of all column chunks, in file order.
    indexes: Vec<(Option<ColumnIndex>, Option<OffsetIndex>)>,
    num_rows: u64,
    /// The bytes reserved by `row_groups` and `indexes`.
    metadata_bytes: usize,
    /// Pairs added to the key-value metadata, replacing existing pairs with the same keys.
    key_values: Vec<KeyValue>,
    /// The number of values that readers might put into one dictionary array, per column.
    dictionary_values: Vec<DictionaryValues>,
}

/// The number of values that readers might put into one dictionary array.
///
/// Arrow C++ only starts a new dictionary at a dictionary page. Pages without indices extend the last dictionary,
/// across any number of row groups.
#[derive(Debug, Clone, Copy, Default)]
struct DictionaryValues {
    /// The number of values since the last dictionary page, including that page's own values.
    last: u64,
    most: u64,
}

impl DictionaryValues {
    fn add(&mut self, column: &EncodedColumn) {
        self.last = match column.dictionary_page.is_empty() {
            true => self.last.saturating_add(column.keyed_values),
            false => column.keyed_values,
        };
        self.most = self.most.max(self.last);
    }
}

/// A column chunk of the row group under construction, with its pages already returned.
#[derive(Debug)]
struct OpenColumn {
    chunk: ColumnChunk,
    num_rows: u64,
    uncompressed: i64,
    bloom_filter: Option<Vec<u8>>,
}

/// The last part of a file, following the row groups.
#[derive(Debug)]
pub struct FileEnd {
    /// The page indexes, the footer and the magic bytes.
    pub bytes: Bytes,
    /// The encoded `FileMetaData`, unencrypted. In a plaintext file, these are the footer's own bytes. Kept so that the
    /// metadata is only encoded once.
    pub metadata: Bytes,
}

impl FileEncoder {
    /// Creates an empty file for this plan.
    #[must_use]
    pub fn new(plan: Arc<WritePlan>) -> Self {
        Self {
            dictionary_values: vec![DictionaryValues::default(); plan.num_columns()],
            plan,
            position: 0,
            row_groups: Vec::new(),
            start: 0,
            columns: Vec::new(),
            indexes: Vec::new(),
            num_rows: 0,
            metadata_bytes: 0,
            key_values: Vec::new(),
        }
    }

    /// Adds pairs to the file's key-value metadata, replacing existing pairs with the same keys.
    pub fn add_key_values(&mut self, key_values: Vec<KeyValue>) {
        self.key_values.extend(key_values);
    }

    /// Returns the number of bytes reserved by the footer's content and the page indexes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.metadata_bytes
    }

    /// Returns the number of rows in the finished row groups.
    #[must_use]
    pub fn num_rows(&self) -> u64 {
        self.num_rows
    }

    /// Returns the finished row groups. They do not have the places of page indexes yet.
    #[must_use]
    pub fn row_groups(&self) -> &[RowGroup] {
        &self.row_groups
    }

    /// Returns the number of finished row groups.
    #[must_use]
    pub fn num_row_groups(&self) -> usize {
        self.row_groups.len()
    }

    /// Returns the number of bytes returned so far.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the file's leading magic bytes.
    #[must_use]
    pub fn start(&mut self) -> Vec<u8> {
        self.position += MAGIC.len() as u64;
        match self.encrypts_footer() {
            true => MAGIC_ENCRYPTED.to_vec(),
            false => MAGIC.to_vec(),
        }
    }

    fn encrypts_footer(&self) -> bool {
        let encryption = self.plan.encryption.as_ref();
        encryption.is_some_and(|encryption| encryption.encrypts_footer())
    }

    /// Adds the next column chunk of the row group under construction, returning its bytes.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if the row group already has all of its
    /// columns, or if its other columns have a different number of rows.
    pub fn column(&mut self, mut column: EncodedColumn) -> Result<Vec<Bytes>> {
        self.begin_column(column.num_rows)?;
        self.explain(&column);
        if let Some(values) = self.dictionary_values.get_mut(self.columns.len()) {
            values.add(&column);
        }
        self.metadata_bytes += column.metadata_bytes();
        let mut out = Vec::with_capacity(4);
        let open = OpenColumn {
            num_rows: column.num_rows,
            uncompressed: column.metadata.total_uncompressed_size,
            bloom_filter: column.bloom_filter.take(),
            chunk: self.chunk(column, &mut out),
        };
        self.columns.push(open);
        Ok(out)
    }

    /// Adds another file's chunk as the next column chunk. The caller must write the chunk's bytes next, since this
    /// encoder does not return them.
    ///
    /// # Errors
    /// Fails for the reasons that [`Self::column`] lists.
    pub fn copied_column(&mut self, chunk: CopiedChunk) -> Result<()> {
        self.begin_column(chunk.num_rows)?;
        let CopiedChunk {
            mut metadata,
            column_index,
            mut offset_index,
            bloom_filter,
            num_rows,
        } = chunk;
        if let Some(values) = self.dictionary_values.get_mut(self.columns.len()) {
            // We don't know the chunk's dictionary, so each value might be a key of its own.
            let chunk_values = u64::try_from(metadata.num_values).unwrap_or_default();
            values.last = values.last.saturating_add(chunk_values);
            values.most = values.most.max(values.last);
        }
        self.metadata_bytes += heap_bytes::by_metadata(&metadata)
            + heap_bytes::by_indexes(column_index.as_ref(), offset_index.as_ref());
        self.place(&mut metadata, offset_index.as_mut());
        self.indexes.push((column_index, offset_index));
        // The size is never negative, because the metadata has been checked.
        self.position += u64::try_from(metadata.total_compressed_size).unwrap_or_default();
        self.columns.push(OpenColumn {
            num_rows,
            uncompressed: metadata.total_uncompressed_size,
            bloom_filter,
            chunk: ColumnChunk::default().meta_data(metadata),
        });
        Ok(())
    }

    /// Checks that the row group has room for a column chunk with `num_rows` rows.
    fn begin_column(&mut self, num_rows: u64) -> Result<()> {
        if self.columns.is_empty() {
            self.start = self.position;
        }
        let first = self.columns.first();
        if self.columns.len() >= self.plan.num_columns()
            || first.is_some_and(|first| first.num_rows != num_rows)
        {
            return Err(Error::argument(
                "the column chunks of a row group differ in their number of rows, or there are too \
                 many of them",
            ));
        }
        Ok(())
    }

    /// Adds the current position to a chunk's offsets. So far, they were relative to the chunk's start.
    fn place(&self, metadata: &mut ColumnMetaData, offset_index: Option<&mut OffsetIndex>) {
        let start = self.position as i64;
        metadata.data_page_offset += start;
        metadata.dictionary_page_offset = metadata.dictionary_page_offset.map(|at| at + start);
        for location in offset_index
            .into_iter()
            .flat_map(|offset_index| &mut offset_index.page_locations)
        {
            location.offset += start;
        }
    }

    /// Ends the row group, declaring the sorting columns only if `is_sorted` is true. It has `num_rows` rows.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if the row group lacks column chunks, or if
    /// these have a different number of rows.
    pub fn end_row_group(&mut self, num_rows: u64, is_sorted: bool) -> Result<Vec<Bytes>> {
        let columns = mem::take(&mut self.columns);
        if columns.len() != self.plan.num_columns() {
            return Err(Error::argument(format!(
                "the row group has {} column chunks, but the schema has {} columns",
                columns.len(),
                self.plan.num_columns()
            )));
        }
        if let Some(column) = columns.iter().find(|column| column.num_rows != num_rows) {
            return Err(Error::argument(format!(
                "a column chunk has {} rows, but its row group has {num_rows}",
                column.num_rows
            )));
        }
        let start = if columns.is_empty() {
            self.position
        } else {
            self.start
        };
        let compressed = (self.position - start) as i64;
        let uncompressed = columns.iter().map(|column| column.uncompressed).sum();
        let mut out = Vec::new();
        let mut chunks = Vec::with_capacity(columns.len());
        for column in columns {
            let mut chunk = column.chunk;
            if let (Some(metadata), Some(bloom_filter)) =
                (&mut chunk.meta_data, column.bloom_filter)
            {
                metadata.bloom_filter_offset = Some(self.position as i64);
                metadata.bloom_filter_length = i32::try_from(bloom_filter.len()).ok();
                self.push(bloom_filter.into(), &mut out);
            }
            chunks.push(chunk);
        }
        self.num_rows += num_rows;
        let sorting_columns = self.plan.sorting_columns.clone();
        self.row_groups.push(
            RowGroup::new(chunks, uncompressed, num_rows as i64)
                .sorting_columns(sorting_columns.filter(|_| is_sorted))
                .file_offset(start as i64)
                .total_compressed_size(compressed)
                // The format only has 32 768 ordinals, so any further row groups go without.
                .ordinal(i16::try_from(self.row_groups.len()).ok()),
        );
        Ok(out)
    }

    /// Reports how a chunk of the current row group is stored, if the options request an explanation.
    fn explain(&self, column: &EncodedColumn) {
        if let Some(explanation) = &self.plan.options.explanation {
            let path = column.metadata.path_in_schema.clone();
            explanation.add(column.choice.of(path, self.row_groups.len()));
        }
    }

    /// Appends a chunk's pages to `out`, returning the chunk's metadata.
    fn chunk(&mut self, column: EncodedColumn, out: &mut Vec<Bytes>) -> ColumnChunk {
        let (mut metadata, mut offset_index) = (column.metadata, column.offset_index);
        self.place(&mut metadata, offset_index.as_mut());
        self.indexes.push((column.column_index, offset_index));
        self.push(column.dictionary_page.into(), out);
        for part in column.data_pages.finish() {
            self.push(part, out);
        }
        ColumnChunk::default().meta_data(metadata)
    }

    fn push(&mut self, bytes: Bytes, out: &mut Vec<Bytes>) {
        if !bytes.is_empty() {
            self.position += bytes.len() as u64;
            out.push(bytes);
        }
    }

    /// Finishes the file, returning the page indexes and the footer.
    ///
    /// # Errors
    /// Fails with [`Limit`](herringbone_format::ErrorKind::Limit) if the footer is larger than the format allows. Also
    /// returns encryption errors.
    pub fn finish(mut self) -> Result<FileEnd> {
        self.drop_indexes_of_single_pages();
        let mut writer = CompactWriter::new();
        let base = self.position;
        let ordinals = self.ordinals();
        let ciphers = || {
            let of = |&(row_group, column): &(usize, usize)| self.plan.cipher(row_group, column);
            ordinals.iter().map(of)
        };
        let mut places = vec![(None, None); ordinals.len()];
        for (((index, _), place), cipher) in self.indexes.iter().zip(&mut places).zip(ciphers()) {
            if let Some(index) = index {
                let cipher = cipher.map(|cipher| (cipher, ModuleKind::ColumnIndex));
                place.0 = Some(encode(&mut writer, base, cipher, |writer| {
                    index.encode(writer)
                })?);
            }
        }
        for (((_, index), place), cipher) in self.indexes.iter().zip(&mut places).zip(ciphers()) {
            if let Some(index) = index {
                let cipher = cipher.map(|cipher| (cipher, ModuleKind::OffsetIndex));
                place.1 = Some(encode(&mut writer, base, cipher, |writer| {
                    index.encode(writer)
                })?);
            }
        }
        let all = self
            .row_groups
            .iter_mut()
            .flat_map(|group| &mut group.columns);
        for (chunk, (column_index, offset_index)) in all.zip(places) {
            (chunk.column_index_offset, chunk.column_index_length) = column_index.unzip();
            (chunk.offset_index_offset, chunk.offset_index_length) = offset_index.unzip();
        }
        let encryption = self.plan.encryption.clone();
        let parts = self.parts()?;
        let start = writer.position();
        match &encryption {
            Some(encryption) => writer.raw(&encrypted_footer(&**encryption, &parts)?),
            None => parts.encode(&mut writer),
        }
        let metadata_bytes = writer.position() - start;
        let metadata_length = u32::try_from(metadata_bytes)
            .ok()
            .filter(|length| *length <= i32::MAX.cast_unsigned())
            .ok_or_else(|| {
                Error::beyond_format(
                    "bytes of the footer",
                    metadata_bytes as u64,
                    i32::MAX as u64,
                )
            })?;
        let mut bytes = writer.finish();
        let tail = Tail {
            metadata_length,
            encrypted: encryption
                .as_ref()
                .is_some_and(|encryption| encryption.encrypts_footer()),
        };
        let metadata = match encryption {
            // We copy the metadata, since a slice would keep the page indexes in memory.
            None => bytes.get(start..).unwrap_or_default().to_vec(),
            Some(_) => {
                let mut writer = CompactWriter::new();
                parts.encode(&mut writer);
                writer.finish()
            }
        };
        bytes.extend_from_slice(&tail.encode());
        let (bytes, metadata) = (bytes.into(), metadata.into());
        Ok(FileEnd { bytes, metadata })
    }

    /// Drops all page indexes if each chunk has a single page, because they'd only repeat the chunk metadata. A file
    /// has either all of them or none, since some readers use none if one is missing.
    fn drop_indexes_of_single_pages(&mut self) {
        let num_pages = |index: &OffsetIndex| index.page_locations.len();
        let mut offset_indexes = self.indexes.iter().filter_map(|(_, index)| index.as_ref());
        if offset_indexes.all(|index| num_pages(index) <= 1) {
            self.indexes.fill((None, None));
        }
    }

    /// Returns each chunk's row group and column, in file order.
    fn ordinals(&self) -> Vec<(usize, usize)> {
        let groups = self.row_groups.iter().enumerate();
        let columns = |(ordinal, group): (usize, &RowGroup)| {
            (0..group.columns.len()).map(move |column| (ordinal, column))
        };
        groups.flat_map(columns).collect()
    }

    fn parts(self) -> Result<FileMetadataParts> {
        let options = &self.plan.options;
        let added: HashSet<&str> = self
            .key_values
            .iter()
            .map(|key_value| key_value.key.as_str())
            .collect();
        let asked = options.key_value_metadata.iter();
        let asked = asked.filter(|pair| !added.contains(pair.key.as_str()));
        let pairs: Vec<KeyValue> = asked.chain(&self.key_values).cloned().collect();
        let values = self
            .dictionary_values
            .iter()
            .map(|dictionary_value| dictionary_value.most);
        let values: Vec<u64> = values.collect();
        let mapping = &self.plan.mapping;
        let key_values = mapping.key_values(&pairs, &values)?;
        Ok(FileMetadataParts::new(
            options.format_version,
            mapping.elements.clone(),
            self.num_rows as i64,
            self.row_groups,
        )
        .key_value_metadata((!key_values.is_empty()).then_some(key_values))
        .created_by(options.created_by.clone())
        .column_orders(self.plan.column_orders()))
    }
}

/// Returns an encrypted file's bytes before its tail.
fn encrypted_footer(encryption: &dyn FileEncryption, parts: &FileMetadataParts) -> Result<Vec<u8>> {
    let mut sealed = parts.clone();
    for (row_group, group) in sealed.row_groups.iter_mut().enumerate() {
        for (column, chunk) in group.columns.iter_mut().enumerate() {
            let id = ModuleId::of_column(ModuleKind::ColumnMetadata, row_group, column);
            encryption.seal_chunk(&id, chunk)?;
        }
    }
    encryption.complete_metadata(&mut sealed);
    let mut writer = CompactWriter::new();
    sealed.encode(&mut writer);
    encryption.seal_footer(writer.finish())
}

/// Writes an index, encrypting it if there is a cipher. Returns the index's file offset and length.
fn encode(
    writer: &mut CompactWriter,
    base: u64,
    cipher: Option<(ChunkCipher, ModuleKind)>,
    write: impl FnOnce(&mut CompactWriter),
) -> Result<(i64, i32)> {
    let start = writer.position();
    match cipher {
        None => write(writer),
        Some((cipher, kind)) => {
            let mut index = CompactWriter::new();
            write(&mut index);
            writer.raw(&cipher.encrypt(kind, &index.finish())?);
        }
    }
    let length = herringbone_core::encoding::length(writer.position() - start)?;
    Ok(((base + start as u64) as i64, length))
}
