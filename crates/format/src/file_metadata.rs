//! A whole file's metadata.
//!
//! A wide file can have hundreds of thousands of column chunks, but a query usually needs only a few. So we decode a
//! footer in one pass that fully decodes the file's and row groups' own metadata but only records the offset of each
//! column chunk. Column chunks are decoded on demand.

use std::{
    fmt,
    ops::Range,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;

use crate::{
    ColumnChunk, ColumnOrder, Error, FooterExtension, KeyValue, Limits, Result, RowGroup,
    RowGroupHeader, SchemaElement, SortingColumn,
    modular_encryption::FileDecryption,
    schema_element::{lossy_text, read_schema},
    thrift::{
        CompactReader, CompactWriter, RawStruct, ShapeCache, Value, Wire, count, required,
        thrift_struct,
    },
};

/// A file's metadata, called `FileMetaData` in the specification. Its column chunks stay encoded until you ask for
/// them.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::ParquetFile;
/// use herringbone::format::CompressionCodec;
///
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let metadata = file.metadata();
/// assert_eq!((metadata.num_rows(), metadata.num_row_groups()), (24, 2));
/// // Column chunks are decoded on demand.
/// let chunk = metadata.column_chunk(1, 0)?.meta_data.ok_or("no metadata")?;
/// assert_eq!((chunk.codec, chunk.num_values), (CompressionCodec::Zstd, 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct FileMetadata {
    bytes: Bytes,
    base_offset: u64,
    max_depth: usize,
    encoded_len: usize,
    version: i32,
    /// The schema, empty after [`FileMetadata::take_schema`] until it's needed again.
    schema: OnceLock<Vec<SchemaElement>>,
    /// The offset of `schema` in `bytes`.
    schema_position: usize,
    num_rows: i64,
    key_value_metadata: Vec<KeyValue>,
    created_by: Option<String>,
    column_orders: Option<Vec<ColumnOrder>>,
    encryption_algorithm: Option<Range<usize>>,
    footer_signing_key_metadata: Option<Range<usize>>,
    extension: Option<Range<usize>>,
    row_groups: Vec<IndexedRowGroup>,
    /// Each column chunk's offset in `bytes`, one row group after the other.
    column_chunks: Vec<u32>,
    /// The object for decrypting the file, if the file is encrypted.
    decryption: Option<Arc<dyn FileDecryption>>,
    /// True if every row group has an ordinal.
    has_ordinals: bool,
}

/// A row group, with the indices of its column chunks in `column_chunks`.
#[derive(Debug, Clone)]
struct IndexedRowGroup {
    header: RowGroupHeader,
    chunks: Range<usize>,
}

impl FileMetadata {
    /// Decodes the metadata at the start of `bytes`. Their offset in the file, `base_offset`, is only used for errors.
    /// The metadata keeps `bytes` alive.
    ///
    /// Any bytes after the metadata are ignored, because that's where a signed footer has its signature.
    ///
    /// # Errors
    /// Fails with:
    ///
    /// - [Corrupt](crate::ErrorKind::Corrupt) if the bytes break the protocol or lack a required field. Column chunks
    ///   are not checked here.
    /// - [Unsupported](crate::ErrorKind::Unsupported) if a physical type or a repetition is unknown.
    /// - [Limit](crate::ErrorKind::Limit) if the metadata exceeds `footer_bytes`, `schema_nodes`, `row_groups` or
    ///   `schema_depth` of the [`Limits`].
    pub fn decode(bytes: Bytes, base_offset: u64, limits: &Limits) -> Result<Self> {
        let allowed = limits.footer_bytes.min(u64::from(u32::MAX));
        if bytes.len() as u64 > allowed {
            return Err(Error::limit("footer_bytes", bytes.len() as u64, allowed));
        }
        let scanned = Scan::default().run(&bytes, base_offset, limits)?;
        Ok(Self {
            base_offset,
            max_depth: limits.schema_depth,
            bytes,
            ..scanned
        })
    }

    /// Adds an object for decrypting column chunks.
    #[must_use]
    pub fn with_decryption(self, decryption: Option<Arc<dyn FileDecryption>>) -> Self {
        let has_ordinals = self
            .row_groups
            .iter()
            .all(|row_group| row_group.header.ordinal.is_some());
        Self {
            decryption,
            has_ordinals,
            ..self
        }
    }

    /// Returns the object for decrypting column chunks, if the file is encrypted and we have keys.
    #[must_use]
    pub fn decryption(&self) -> Option<&Arc<dyn FileDecryption>> {
        self.decryption.as_ref()
    }

    /// Returns the format version, either 1 or 2. Note that this doesn't tell you which features the file uses.
    #[must_use]
    pub fn version(&self) -> i32 {
        self.version
    }

    /// Returns the schema tree's nodes in depth-first order, with the root first.
    #[must_use]
    pub fn schema(&self) -> &[SchemaElement] {
        // We've already decoded the schema successfully, so we can decode it again.
        let decode = || read_schema(&mut self.reader_at(self.schema_position), Wire::List);
        self.schema.get_or_init(|| decode().unwrap_or_default())
    }

    /// Takes the schema tree's nodes as an owned list. To avoid keeping two copies of a large schema, [`Self::schema`]
    /// decodes it again when needed.
    #[must_use]
    pub fn take_schema(&mut self) -> Vec<SchemaElement> {
        match self.schema.take() {
            Some(schema) => schema,
            None => self.schema().to_vec(),
        }
    }

    /// Copies the metadata to its own memory, so that it doesn't keep the file's other bytes alive.
    #[must_use]
    pub fn detached(self) -> Self {
        Self {
            bytes: Bytes::copy_from_slice(&self.bytes),
            ..self
        }
    }

    /// Returns the heap bytes used by the metadata. This assumes that nothing else shares its memory, for example
    /// because it's [detached](Self::detached). The object for decrypting the file doesn't count.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let schema = self.schema.get();
        let schema = schema.map_or(0, |elements| {
            let elements_bytes = elements.capacity() * size_of::<SchemaElement>();
            elements_bytes
                + elements
                    .iter()
                    .map(SchemaElement::heap_bytes)
                    .sum::<usize>()
        });
        let pairs = self
            .key_value_metadata
            .iter()
            .map(|pair| pair.key.capacity() + pair.value.as_ref().map_or(0, Vec::capacity));
        let sorting = self.row_groups.iter().map(|row_group| {
            let columns = row_group.header.sorting_columns.as_ref();
            columns.map_or(0, |columns| columns.capacity() * size_of::<SortingColumn>())
        });
        let orders = self.column_orders.as_ref().map_or(0, Vec::capacity);
        self.bytes.len()
            + schema
            + self.key_value_metadata.capacity() * size_of::<KeyValue>()
            + pairs.sum::<usize>()
            + self.created_by.as_ref().map_or(0, String::capacity)
            + orders * size_of::<ColumnOrder>()
            + self.row_groups.capacity() * size_of::<IndexedRowGroup>()
            + sorting.sum::<usize>()
            + self.column_chunks.capacity() * size_of::<u32>()
    }

    /// Returns the file's row count according to the footer. This is never negative, but some writers leave it at 0, so
    /// you should usually prefer [`Self::num_rows_of_row_groups`].
    #[must_use]
    pub fn num_rows(&self) -> i64 {
        self.num_rows
    }

    /// Returns the total number of rows in all row groups, that is, the number of rows you get when reading the whole
    /// file.
    #[must_use]
    pub fn num_rows_of_row_groups(&self) -> u64 {
        let rows = self
            .row_groups
            .iter()
            .map(|row_group| row_group.header.num_rows);
        rows.fold(0, |sum, rows| sum.saturating_add(rows.unsigned_abs()))
    }

    /// Returns the key-value pairs added by the writer, or an empty list if absent.
    #[must_use]
    pub fn key_value_metadata(&self) -> &[KeyValue] {
        &self.key_value_metadata
    }

    /// Returns the name of the program that wrote the file.
    #[must_use]
    pub fn created_by(&self) -> Option<&str> {
        self.created_by.as_deref()
    }

    /// Returns the order of each leaf's bounds. If absent, `min_value` and `max_value` cannot be used.
    #[must_use]
    pub fn column_orders(&self) -> Option<&[ColumnOrder]> {
        self.column_orders.as_deref()
    }

    /// Returns `EncryptionAlgorithm` as a Thrift struct, for an encrypted file with a plaintext footer.
    #[must_use]
    pub fn encryption_algorithm(&self) -> Option<&[u8]> {
        self.bytes.get(self.encryption_algorithm.clone()?)
    }

    /// Returns the metadata of the key that signs the footer.
    #[must_use]
    pub fn footer_signing_key_metadata(&self) -> Option<&[u8]> {
        self.bytes.get(self.footer_signing_key_metadata.clone()?)
    }

    /// Returns the footer's extension, if it has one.
    #[must_use]
    pub fn extension(&self) -> Option<FooterExtension<'_>> {
        let bytes = self.bytes.get(self.extension.clone()?);
        bytes.map(FooterExtension::new)
    }

    /// Encodes the metadata of this file with other row groups. They're encoded one after the other, so that only one
    /// row group is decoded at a time. The new row count is the sum over these row groups. Encryption and the footer's
    /// extension are left out.
    ///
    /// # Errors
    /// Fails with the first error among the row groups.
    pub fn encode_with(
        &self,
        row_groups: impl IntoIterator<Item = Result<RowGroup>>,
    ) -> Result<Vec<u8>> {
        let (mut encoded, mut count, mut num_rows) = (CompactWriter::new(), 0, 0_i64);
        for row_group in row_groups {
            let row_group = row_group?;
            num_rows = num_rows.saturating_add(row_group.num_rows);
            row_group.encode(&mut encoded);
            count += 1;
        }
        let mut writer = CompactWriter::new();
        writer.begin_struct();
        write_field(&mut writer, 1, &self.version);
        write_field(&mut writer, 2, &self.schema().to_vec());
        write_field(&mut writer, 3, &num_rows);
        writer.field(4, Wire::List);
        writer.list(Wire::Struct, count);
        writer.raw(&encoded.finish());
        if !self.key_value_metadata.is_empty() {
            write_field(&mut writer, 5, &self.key_value_metadata);
        }
        if let Some(created_by) = &self.created_by {
            write_field(&mut writer, 6, created_by);
        }
        if let Some(column_orders) = &self.column_orders {
            write_field(&mut writer, 7, column_orders);
        }
        writer.end_struct();
        Ok(writer.finish())
    }

    /// Returns the byte count of the encoded metadata, not counting any signature after it.
    #[must_use]
    pub fn encoded_len(&self) -> usize {
        self.encoded_len
    }

    /// Returns the number of row groups.
    #[must_use]
    pub fn num_row_groups(&self) -> usize {
        self.row_groups.len()
    }

    /// Returns the number of column chunks in a row group, or 0 if there is no such row group.
    #[must_use]
    pub fn num_columns(&self, row_group: usize) -> usize {
        self.row_groups
            .get(row_group)
            .map_or(0, |row_group| row_group.chunks.len())
    }

    /// Returns a row group without its column chunks. This decodes nothing.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if there is no such row group.
    pub fn row_group_header(&self, row_group: usize) -> Result<&RowGroupHeader> {
        self.indexed(row_group).map(|indexed| &indexed.header)
    }

    /// Decodes a row group with all its column chunks.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if there is no such row group, and for the same reasons as
    /// [`column_chunk`](Self::column_chunk).
    pub fn row_group(&self, row_group: usize) -> Result<RowGroup> {
        let header = self.row_group_header(row_group)?.clone();
        let columns = (0..self.num_columns(row_group))
            .map(|leaf| self.column_chunk(row_group, leaf))
            .collect::<Result<_>>()?;
        Ok(RowGroup {
            columns,
            total_byte_size: header.total_byte_size,
            num_rows: header.num_rows,
            sorting_columns: header.sorting_columns,
            file_offset: header.file_offset,
            total_compressed_size: header.total_compressed_size,
            ordinal: header.ordinal,
        })
    }

    /// Decodes a leaf's column chunk in a row group. If its metadata is encrypted and its key is available, `meta_data`
    /// contains the decrypted metadata.
    ///
    /// # Errors
    /// Fails with:
    ///
    /// - [Argument](crate::ErrorKind::Argument) if there is no such column chunk.
    /// - [Corrupt](crate::ErrorKind::Corrupt) or [Unsupported](crate::ErrorKind::Unsupported), with row group and
    ///   offset, if it is invalid.
    /// - [Key](crate::ErrorKind::Key) if its metadata is not authentic.
    pub fn column_chunk(&self, row_group: usize, leaf: usize) -> Result<ColumnChunk> {
        let mut chunk = self.decode_chunk(row_group, leaf)?;
        self.decrypt_chunk(row_group, leaf, &mut chunk)?;
        Ok(chunk)
    }

    /// Returns the ordinal used for a row group's modules. This is the row group's stated ordinal, if all row groups
    /// state one.
    ///
    /// **Errors**: corrupt if the ordinal is negative.
    pub(crate) fn ordinal_of(&self, row_group: usize) -> Result<usize> {
        let said = self.row_group_header(row_group)?.ordinal;
        let said = said.filter(|_| self.has_ordinals);
        said.map_or(Ok(row_group), |ordinal| {
            usize::try_from(ordinal).map_err(|_| {
                Error::corrupt("the row group has a negative ordinal").in_row_group(row_group)
            })
        })
    }

    /// Returns the limits for metadata stored as a separate module.
    pub(crate) fn limits_of_metadata(&self) -> Limits {
        Limits {
            schema_depth: self.max_depth,
            ..Limits::default()
        }
    }

    pub(crate) fn decode_chunk<T: Value>(&self, row_group: usize, leaf: usize) -> Result<T> {
        T::read(&mut self.chunk_reader(row_group, leaf)?, Wire::Struct)
            .map_err(|error| error.in_row_group(row_group))
    }

    /// Returns a reader starting at a column chunk.
    pub(crate) fn chunk_reader(&self, row_group: usize, leaf: usize) -> Result<CompactReader<'_>> {
        let chunks = self.indexed(row_group)?.chunks.clone();
        let position = self.column_chunks.get(chunks).unwrap_or_default().get(leaf);
        let Some(&position) = position else {
            let columns = self.num_columns(row_group);
            return Err(Error::argument(format!(
                "there is no column {leaf} in a row group with {columns} columns"
            ))
            .in_row_group(row_group));
        };
        Ok(self.reader_at(position as usize))
    }

    fn reader_at(&self, position: usize) -> CompactReader<'_> {
        CompactReader::new(&self.bytes, self.max_depth)
            .with_base_offset(self.base_offset)
            .at_position(position)
    }

    fn indexed(&self, row_group: usize) -> Result<&IndexedRowGroup> {
        self.row_groups.get(row_group).ok_or_else(|| {
            Error::argument(format!(
                "there is no row group {row_group} in a file with {} row groups",
                self.row_groups.len()
            ))
        })
    }
}

impl fmt::Debug for FileMetadata {
    /// Formats the file metadata, but only the numbers of row groups and column chunks.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileMetadata")
            .field("version", &self.version)
            .field("num_rows", &self.num_rows)
            .field("created_by", &self.created_by)
            .field("schema", &self.schema())
            .field("num_row_groups", &self.row_groups.len())
            .field("num_column_chunks", &self.column_chunks.len())
            .finish_non_exhaustive()
    }
}

/// Skips a binary value, returning its position.
fn binary(reader: &mut CompactReader<'_>) -> Result<Range<usize>> {
    let length = reader.binary()?.len();
    let end = reader.position();
    Ok(end.saturating_sub(length)..end)
}

/// The fields found so far in the pass over the footer.
#[derive(Default)]
struct Scan {
    version: Option<i32>,
    schema: Option<Vec<SchemaElement>>,
    schema_position: usize,
    num_rows: Option<i64>,
    row_groups: Option<Vec<IndexedRowGroup>>,
    column_chunks: Vec<u32>,
    /// The shapes of the column chunks so far.
    shapes: ShapeCache,
    key_value_metadata: Vec<KeyValue>,
    created_by: Option<String>,
    column_orders: Option<Vec<ColumnOrder>>,
    encryption_algorithm: Option<Range<usize>>,
    footer_signing_key_metadata: Option<Range<usize>>,
    extension: Option<Range<usize>>,
}

impl Scan {
    /// Scans the footer. The caller must set the result's bytes, offset and depth.
    fn run(mut self, bytes: &[u8], base_offset: u64, limits: &Limits) -> Result<FileMetadata> {
        let reader =
            &mut CompactReader::new(bytes, limits.schema_depth).with_base_offset(base_offset);
        let mut last = 0;
        while let Some(field) = reader.field(&mut last)? {
            let wire = field.wire;
            match field.id {
                1 => self.version = Some(i32::read(reader, wire)?),
                2 => {
                    self.schema_position = reader.position();
                    self.schema = Some(schema(reader, wire, limits)?);
                }
                3 => self.num_rows = Some(i64::read(reader, wire)?),
                4 => self.row_groups(reader, wire, limits)?,
                5 if wire == Wire::List => self.key_value_metadata = Vec::read(reader, wire)?,
                6 if wire == Wire::Binary => self.created_by = Some(lossy_text(reader, wire)?),
                7 if wire == Wire::List => self.column_orders = Some(Vec::read(reader, wire)?),
                8 if wire == Wire::Struct => {
                    let start = reader.position();
                    reader.skip(wire)?;
                    self.encryption_algorithm = Some(start..reader.position());
                }
                9 if wire == Wire::Binary => {
                    self.footer_signing_key_metadata = Some(binary(reader)?);
                }
                id if FooterExtension::is_field(id) && wire == Wire::Binary => {
                    self.extension = Some(binary(reader)?);
                }
                _ => reader.skip(wire)?,
            }
        }
        Ok(FileMetadata {
            bytes: Bytes::new(),
            base_offset,
            max_depth: 0,
            encoded_len: reader.position(),
            version: required(reader, "FileMetaData.version", self.version)?,
            schema: required(reader, "FileMetaData.schema", self.schema)?.into(),
            schema_position: self.schema_position,
            num_rows: count(reader, "FileMetaData.num_rows", self.num_rows)?,
            row_groups: required(reader, "FileMetaData.row_groups", self.row_groups)?,
            column_chunks: self.column_chunks,
            decryption: None,
            has_ordinals: false,
            key_value_metadata: self.key_value_metadata,
            created_by: self.created_by,
            column_orders: self.column_orders,
            encryption_algorithm: self.encryption_algorithm,
            footer_signing_key_metadata: self.footer_signing_key_metadata,
            extension: self.extension,
        })
    }

    fn row_groups(
        &mut self,
        reader: &mut CompactReader<'_>,
        wire: Wire,
        limits: &Limits,
    ) -> Result<()> {
        reader.expect(wire, Wire::List)?;
        let (wire, size) = reader.list()?;
        if size > limits.row_groups {
            let (asked, allowed) = (size as u64, limits.row_groups as u64);
            return Err(Error::limit("row_groups", asked, allowed));
        }
        self.column_chunks.clear();
        let mut row_groups = Vec::new();
        for row_group in 0..size {
            let indexed = self
                .row_group(reader, wire)
                .map_err(|error| error.in_row_group(row_group))?;
            row_groups.push(indexed);
        }
        self.row_groups = Some(row_groups);
        Ok(())
    }

    /// Decodes a row group's own fields, but only records the offsets of its column chunks.
    fn row_group(&mut self, reader: &mut CompactReader<'_>, wire: Wire) -> Result<IndexedRowGroup> {
        reader.expect(wire, Wire::Struct)?;
        let mut chunks = None;
        let (mut total_byte_size, mut num_rows, mut sorting_columns) = (None, None, None);
        let (mut file_offset, mut total_compressed_size, mut ordinal) = (None, None, None);
        let mut last = 0;
        while let Some(field) = reader.field(&mut last)? {
            let wire = field.wire;
            match field.id {
                1 => chunks = Some(self.column_chunks(reader, wire)?),
                2 => total_byte_size = Some(i64::read(reader, wire)?),
                3 => num_rows = Some(i64::read(reader, wire)?),
                4 if wire == Wire::List => sorting_columns = Some(Vec::read(reader, wire)?),
                5 if wire.is_integer() => file_offset = Some(i64::read(reader, wire)?),
                6 if wire.is_integer() => total_compressed_size = Some(i64::read(reader, wire)?),
                7 if wire.is_integer() => ordinal = Some(i16::read(reader, wire)?),
                _ => reader.skip(wire)?,
            }
        }
        Ok(IndexedRowGroup {
            chunks: required(reader, "RowGroup.columns", chunks)?,
            header: RowGroupHeader {
                total_byte_size: required(reader, "RowGroup.total_byte_size", total_byte_size)?,
                num_rows: count(reader, "RowGroup.num_rows", num_rows)?,
                sorting_columns,
                file_offset,
                total_compressed_size,
                ordinal,
            },
        })
    }

    fn column_chunks(
        &mut self,
        reader: &mut CompactReader<'_>,
        wire: Wire,
    ) -> Result<Range<usize>> {
        reader.expect(wire, Wire::List)?;
        let (wire, size) = reader.list()?;
        reader.expect(wire, Wire::Struct)?;
        let first = self.column_chunks.len();
        for _ in 0..size {
            // The cast is lossless, because the footer's length fits in a u32.
            self.column_chunks.push(reader.position() as u32);
            reader.skip_struct_cached(&mut self.shapes)?;
        }
        Ok(first..self.column_chunks.len())
    }
}

fn schema(
    reader: &mut CompactReader<'_>,
    wire: Wire,
    limits: &Limits,
) -> Result<Vec<SchemaElement>> {
    reader.expect(wire, Wire::List)?;
    let (_, size) = reader.clone().list()?;
    if size > limits.schema_nodes {
        let (asked, allowed) = (size as u64, limits.schema_nodes as u64);
        return Err(Error::limit("schema_nodes", asked, allowed));
    }
    read_schema(reader, wire)
}

/// Writes a field with its header.
fn write_field<T: Value>(writer: &mut CompactWriter, id: i16, value: &T) {
    writer.field(id, T::WIRE);
    value.write(writer);
}

thrift_struct! {
    /// All fields of `FileMetaData`, for writing.
    #[derive(Debug, Clone, PartialEq)]
    pub struct FileMetadataParts {
        /// The version of the format.
        1: required version: i32,
        /// The schema tree's nodes in depth-first order, with the root first.
        2: required schema: Vec<SchemaElement>,
        /// The number of rows in the file, not negative.
        3: count num_rows: i64,
        /// The row groups.
        4: required row_groups: Vec<RowGroup>,
        /// Key-value pairs added by the writer.
        5: optional key_value_metadata: Vec<KeyValue>,
        /// The program that wrote the file, usually with its version.
        6: optional created_by: String,
        /// The order of each leaf's bounds.
        7: optional column_orders: Vec<ColumnOrder>,
        /// `EncryptionAlgorithm`, for an encrypted file with a plaintext footer.
        8: optional encryption_algorithm: RawStruct,
        /// The metadata of the key that signs the footer.
        9: optional footer_signing_key_metadata: Vec<u8>,
    }
}
