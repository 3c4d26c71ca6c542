//! An opened Parquet file.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::schema::SchemaRef;
use herringbone_core::Step;
use herringbone_core::footer::{FooterDecoder, FooterStep};
use herringbone_filter::pruning::{
    BloomFilterProbe, ColumnBloomFilter, ColumnBounds, ColumnBoundsDecoder, IndexDecoder,
    PageIndexCell,
};
use herringbone_filter::{Literal, hashes_of_value};
use herringbone_format::modular_encryption::KeyStep;
use herringbone_format::{
    BloomFilterHeader, ColumnIndex, Error, FileMetadata, Limits, OffsetIndex, Result,
};
use herringbone_read::{Explainer, ReadOptions, ReadPlan, RowGroupExplanation};
use herringbone_schema::{Int96Overflow, ParquetSchema, SchemaOptions, to_arrow};

use crate::int96_units::Int96Units;
use crate::metadata_handle::MetadataHandle;
use crate::open_options::OpenOptions;
use crate::page_indexes;
use crate::pages::Pages;
use crate::reader::Reader;
use crate::source::{CheckedSource, FileSource, Source, SourceWithTail};
use crate::source_bytes::SourceBytes;

/// A Parquet file with its footer already read. Start here to look at the file's metadata or to
/// read its data.
///
/// This type is cheap to clone. You can read from it as often as you like, and from several threads
/// at the same time.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::{ParquetFile, ReadOptions};
///
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// assert_eq!(file.metadata().num_rows(), 24);
/// assert_eq!(file.parquet_schema().leaves().len(), 9);
/// let mut reader = file.read(ReadOptions::new().columns(["id", "name"]))?;
/// let batch = reader.next_batch()?.ok_or("no rows")?;
/// // The first row group has 16 rows, and batches never span row groups.
/// assert_eq!((batch.num_rows(), batch.num_columns()), (16, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ParquetFile {
    source: Arc<dyn Source>,
    handle: MetadataHandle,
    /// The path that the file was opened by. Errors begin with it.
    name: Option<Arc<str>>,
}

impl fmt::Debug for ParquetFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let metadata = self.metadata();
        f.debug_struct("ParquetFile")
            .field("bytes", &self.handle.file_length())
            .field("rows", &metadata.num_rows())
            .field("row_groups", &metadata.num_row_groups())
            .finish_non_exhaustive()
    }
}

impl ParquetFile {
    /// Opens the file at `path`. All later errors begin with this path, including the errors of
    /// reads.
    ///
    /// # Errors
    /// Fails with [Io](crate::ErrorKind::Io) if the file cannot be read, and with
    /// [Corrupt](crate::ErrorKind::Corrupt), [Unsupported](crate::ErrorKind::Unsupported) or
    /// [Limit](crate::ErrorKind::Limit) if its footer cannot be used.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, OpenOptions::new())
    }

    /// Opens the file at `path`. If all you want to set are [`Limits`], pass them alone as the
    /// options. They become the default limits of all reads of the file.
    ///
    /// The path is also given to the object that supplies keys, unless the options have another
    /// one.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// use herringbone::{ErrorKind, Limits, ParquetFile, ReadOptions};
    ///
    /// let limits = Limits::new().page_values(10);
    /// let file = ParquetFile::open_with("testdata/example.parquet", limits)?;
    /// let error = file.read(ReadOptions::new())?.next_batch().unwrap_err();
    /// assert_eq!(error.limit_name(), Some("page_values"));
    /// assert!(error.message().starts_with("testdata/example.parquet: "));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::open`]. Fails with [Key](crate::ErrorKind::Key) if a
    /// key is missing or wrong, and with [Argument](crate::ErrorKind::Argument) if there is a key
    /// for a column that the file does not have.
    pub fn open_with(path: impl AsRef<Path>, options: impl Into<OpenOptions>) -> Result<Self> {
        let path = path.as_ref();
        let mut options = options.into();
        options.path.get_or_insert_with(|| path.to_path_buf());
        let name = path.display().to_string();
        let opened = FileSource::open(path).and_then(|it| Self::from_source(it, options));
        let mut file = opened.map_err(|error| error.in_file(&name))?;
        file.name = Some(name.into());
        Ok(file)
    }

    /// Opens a file in memory, or in a memory map provided by the caller.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt),
    /// [Unsupported](crate::ErrorKind::Unsupported) or [Limit](crate::ErrorKind::Limit) if the
    /// footer cannot be used.
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Result<Self> {
        Self::from_bytes_with(bytes, OpenOptions::new())
    }

    /// Opens a file in memory. If all you want to set are [`Limits`], pass them alone as the
    /// options. They become the default limits of all reads of the file.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::from_source`].
    pub fn from_bytes_with(
        bytes: impl Into<Bytes>,
        options: impl Into<OpenOptions>,
    ) -> Result<Self> {
        Self::from_source(bytes.into(), options)
    }

    /// Opens a file from any positioned source. If all you want to set are [`Limits`], pass them
    /// alone as the options. They become the default limits of all reads of the file.
    ///
    /// The first request reads the end of the file, and the source's [policy](Source::fetch_policy)
    /// sets its size. A longer footer takes one more request. We retain these bytes while the file
    /// is open, so that page indexes and pages among them need not be read again.
    ///
    /// # Errors
    /// Returns the source's errors. Fails with [Corrupt](crate::ErrorKind::Corrupt),
    /// [Unsupported](crate::ErrorKind::Unsupported) or [Limit](crate::ErrorKind::Limit) if the
    /// footer cannot be used, with [Key](crate::ErrorKind::Key) if a key is missing or wrong, and
    /// with [Argument](crate::ErrorKind::Argument) if there is a key for a column that the file
    /// does not have.
    pub fn from_source(
        source: impl Source + 'static,
        options: impl Into<OpenOptions>,
    ) -> Result<Self> {
        let OpenOptions {
            limits,
            decryption,
            path,
        } = options.into();
        let mut source = checked(source);
        let (length, policy) = (source.len(), source.fetch_policy());
        let mut footer = FooterDecoder::new(length, limits.clone())
            .suffix_bytes(policy.suffix_bytes)
            .decryption(decryption, path);
        let metadata = loop {
            match footer.poll()? {
                FooterStep::Ready(metadata) => break *metadata,
                FooterStep::Need(range) => footer.supply(source.read(range)?),
                FooterStep::NeedKey(request) => return KeyStep::NeedKey(request).ready(),
            }
        };
        if !policy.in_memory {
            source = Arc::new(SourceWithTail::new(source, footer.into_supplied()));
        }
        let handle = MetadataHandle::sharing(metadata, length, limits, false)?;
        Ok(Self {
            source,
            handle,
            name: None,
        })
    }

    /// Opens a file with already known metadata, without reading anything.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if the source is not as long as the
    /// handle's file.
    pub fn with_metadata(source: impl Source + 'static, handle: MetadataHandle) -> Result<Self> {
        let (length, expected) = (source.len(), handle.file_length());
        if length != expected {
            return Err(Error::argument(format!(
                "the metadata belongs to a file of {expected} bytes, but this file has {length}"
            )));
        }
        Ok(Self {
            source: checked(source),
            handle,
            name: None,
        })
    }

    /// Returns the metadata read so far. Use it to open the file again
    /// [without reading](Self::with_metadata) its footer.
    #[must_use]
    pub fn metadata_handle(&self) -> MetadataHandle {
        self.handle.detached()
    }

    /// Returns the file's source. Bytes that came with the footer are not read from it again.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// Returns the limits for reading the file.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        self.handle.limits()
    }

    /// Returns the metadata in the footer.
    #[must_use]
    pub fn metadata(&self) -> &FileMetadata {
        self.handle.metadata()
    }

    /// Returns the Parquet schema.
    #[must_use]
    pub fn parquet_schema(&self) -> &ParquetSchema {
        self.handle.parquet_schema()
    }

    /// Returns the Arrow schema of batches with all columns. Only the schema of a read's
    /// [plan](Self::plan) includes [extension types](ReadOptions::extension), because they belong
    /// to the read's options.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt) or
    /// [Unsupported](crate::ErrorKind::Unsupported) if the schema cannot be mapped to Arrow.
    pub fn arrow_schema(&self, options: &SchemaOptions) -> Result<SchemaRef> {
        let key_values = self.metadata().key_value_metadata();
        let options = ReadOptions::default().schema(options.clone());
        let options = &self.with_int96_unit(&options)?.schema;
        to_arrow(self.parquet_schema(), key_values, options).map(|mapping| mapping.schema)
    }

    /// Returns the ordinals of the row groups starting in a byte range of the file. See
    /// [`MetadataHandle::row_groups_in`].
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt) or
    /// [Unsupported](crate::ErrorKind::Unsupported) if a row group's first column chunk has
    /// metadata that cannot be decoded, and with [Key](crate::ErrorKind::Key) if that metadata is
    /// not authentic.
    pub fn row_groups_in(&self, bytes: Range<u64>) -> Result<Vec<usize>> {
        let row_groups = self.handle.row_groups_in(bytes);
        row_groups.map_err(|error| self.in_file(error))
    }

    /// Returns a reader of the data.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if the options name something that the
    /// file does not have, and with [Corrupt](crate::ErrorKind::Corrupt) if row counts are
    /// inconsistent.
    pub fn read(&self, options: ReadOptions) -> Result<Reader> {
        let plan = Arc::new(self.plan(&options)?);
        Ok(Reader::new(plan, self.source.clone(), self.name.clone()))
    }

    /// Prunes a read's row groups and reports what each [step](crate::filter::PruningStep)
    /// achieves: the number of rows ruled out or accepted, and the number of bytes read. The result
    /// also lists the requests needed to read each row group.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::read`], and returns the source's errors.
    pub fn explain(&self, options: &ReadOptions) -> Result<Vec<RowGroupExplanation>> {
        let plan = Arc::new(self.plan(options)?);
        let budget = herringbone_read::new_budget(&plan);
        let policy = self.source.fetch_policy();
        let mut bytes = SourceBytes::new(&self.source, &budget);
        let mut explainer = Explainer::new(plan, policy);
        loop {
            let explanations = explainer.poll(&mut bytes);
            if let Some(explanations) = explanations.map_err(|error| self.in_file(error))? {
                return Ok(explanations);
            }
        }
    }

    /// Plans a read. You only need this for your own drivers, such as a
    /// [`PushDecoder`](herringbone_read::PushDecoder).
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::read`].
    pub fn plan(&self, options: &ReadOptions) -> Result<ReadPlan> {
        let plan = self.handle.plan(&*self.with_int96_unit(options)?);
        plan.map_err(|error| self.in_file(error))
    }

    /// Returns the units that can represent every INT96 timestamp returned by a read with these
    /// options.
    ///
    /// This decodes the INT96 columns' values, but no other columns.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::read`], and returns errors in the INT96 columns and of
    /// the source.
    pub fn int96_units(&self, options: &ReadOptions) -> Result<Int96Units> {
        let mut units = Int96Units::default();
        if let Some(plan) = self.handle.int96_plan(options)? {
            let mut reader = Reader::new(Arc::new(plan), self.source.clone(), self.name.clone());
            while let Some(batch) = reader.next_batch()? {
                units.add(&batch);
            }
        }
        if units.finest().is_none() {
            // If no unit fits, a missing key takes precedence, so we report that error first.
            self.handle.check_keys(options)?;
        }
        Ok(units)
    }

    /// Returns a read's options, first determining the INT96 unit if it depends on the timestamps'
    /// values.
    ///
    /// # Errors
    /// Fails with Unsupported if no unit represents all values. Errors of reading them are
    /// returned, too.
    fn with_int96_unit<'a>(&self, options: &'a ReadOptions) -> Result<Cow<'a, ReadOptions>> {
        if options.schema.int96_overflow != Int96Overflow::CoarserUnit {
            return Ok(Cow::Borrowed(options));
        }
        let unit = self.int96_units(options)?.finest().ok_or_else(|| {
            Error::unsupported(
                "no unit holds all INT96 timestamps without loss; choose a unit (`int96_unit`), \
                 and how to read timestamps that do not fit it (`int96_overflow`)",
            )
        })?;
        let mut options = options.clone();
        options.schema.int96_unit = unit;
        options.schema.int96_overflow = Int96Overflow::Error;
        Ok(Cow::Owned(options))
    }

    /// Returns the file without the path in its errors, for callers that name the file themselves.
    #[doc(hidden)] // For the crates of this workspace.
    #[must_use]
    pub fn without_name(&self) -> Self {
        Self {
            name: None,
            ..self.clone()
        }
    }

    /// Prefixes an error with the file's path, if the file was opened by path.
    fn in_file(&self, error: Error) -> Error {
        match &self.name {
            Some(name) => error.in_file(name),
            None => error,
        }
    }

    /// Adds the file, the row group and the column to an error.
    fn locate(&self, error: Error, row_group: usize, leaf: usize) -> Error {
        self.in_file(self.handle.locate(error, row_group, leaf))
    }

    /// Returns a column chunk's pages, without their values. `leaf` is a leaf ordinal in the
    /// schema.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if there is no such column chunk, and with
    /// [Corrupt](crate::ErrorKind::Corrupt) if the chunk lies outside the file.
    pub fn pages(&self, row_group: usize, leaf: usize) -> Result<Pages> {
        self.handle
            .check_chunk(row_group, leaf)
            .map_err(|error| self.in_file(error))?;
        self.metadata()
            .readable_chunk(row_group, leaf)
            .and_then(KeyStep::ready)
            .and_then(|chunk| Pages::new(self.source.clone(), &chunk, self.limits().clone()))
            .map_err(|error| self.locate(error, row_group, leaf))
    }

    /// Returns a column chunk's column index, if it has one. This index contains each page's bounds
    /// and null count.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if there is no such column chunk, and with
    /// [Corrupt](crate::ErrorKind::Corrupt) or [Limit](crate::ErrorKind::Limit) if the index cannot
    /// be used.
    pub fn column_index(&self, row_group: usize, leaf: usize) -> Result<Option<ColumnIndex>> {
        if let Some(cell) = self.handle.page_index(row_group, leaf) {
            return Ok(cell.columns.map(|index| ColumnIndex::clone(&index)));
        }
        let decoder_of = IndexDecoder::of_column;
        page_indexes::read_one(&self.handle, &*self.source, row_group, leaf, decoder_of)
            .map_err(|error| self.in_file(error))
    }

    /// Returns a column chunk's offset index, if it has one. This index contains each page's
    /// location and first row.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if there is no such column chunk, and with
    /// [Corrupt](crate::ErrorKind::Corrupt) or [Limit](crate::ErrorKind::Limit) if the index cannot
    /// be used.
    pub fn offset_index(&self, row_group: usize, leaf: usize) -> Result<Option<OffsetIndex>> {
        if let Some(cell) = self.handle.page_index(row_group, leaf) {
            return Ok(cell.offsets.map(|index| OffsetIndex::clone(&index)));
        }
        let decoder_of = IndexDecoder::of_offsets;
        page_indexes::read_one(&self.handle, &*self.source, row_group, leaf, decoder_of)
            .map_err(|error| self.in_file(error))
    }

    /// Reads a column chunk's two page indexes.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::load_page_indexes`].
    pub fn load_page_index(&self, row_group: usize, leaf: usize) -> Result<PageIndexCell> {
        let cells = self.load_page_indexes([(row_group, leaf)])?;
        Ok(cells.into_iter().next().unwrap_or_default())
    }

    /// Reads both page indexes of each of these column chunks, returning them in the same order. A
    /// chunk is named by its row group ordinal and its leaf ordinal.
    ///
    /// Adjacent indexes share a request. Each index is only read once, because both the file and
    /// the [handle](Self::metadata_handle) it was opened with retain it for later reads.
    ///
    /// ```
    /// use herringbone::{ParquetFile, ReadOptions};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    ///
    /// let file = ParquetFile::open("testdata/example.parquet")?;
    /// let row_groups = 0..file.metadata().num_row_groups();
    /// let leaves = file.parquet_schema().leaves().len();
    /// let all = row_groups.flat_map(|row_group| (0..leaves).map(move |leaf| (row_group, leaf)));
    /// file.load_page_indexes(all)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if there is no such column chunk, with
    /// [Corrupt](crate::ErrorKind::Corrupt) or [Limit](crate::ErrorKind::Limit) if an index cannot
    /// be used, and with [Key](crate::ErrorKind::Key) if a key is missing or wrong. The source's
    /// errors are returned, too.
    pub fn load_page_indexes(
        &self,
        chunks: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Vec<PageIndexCell>> {
        let chunks: Vec<_> = chunks.into_iter().collect();
        page_indexes::load(&self.handle, &*self.source, &chunks)
            .map_err(|error| self.in_file(error))
    }

    /// Returns a leaf's bounds and counts as Arrow arrays with one slot per row group. `leaf` is a
    /// leaf ordinal in the schema, and the leaf can be nested.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if there is no such leaf, and with
    /// [Corrupt](crate::ErrorKind::Corrupt) if a column chunk's metadata cannot be decoded.
    pub fn row_group_bounds(&self, leaf: usize) -> Result<ColumnBounds> {
        let metadata = self.metadata();
        let decoder = ColumnBoundsDecoder::new(metadata, self.parquet_schema(), leaf);
        let decoder = decoder.map_err(|error| self.in_file(error))?;
        let bounds = decoder.row_groups(metadata, 0..metadata.num_row_groups());
        bounds.map_err(|error| {
            let error = error.in_column(self.parquet_schema().column_path(leaf));
            self.in_file(error)
        })
    }

    /// Returns a column chunk's bounds and counts as Arrow arrays with one slot per page, or `None`
    /// if the chunk does not have both page indexes.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if there is no such column chunk, and with
    /// [Corrupt](crate::ErrorKind::Corrupt) or [Limit](crate::ErrorKind::Limit) if an index cannot
    /// be used.
    pub fn page_bounds(&self, row_group: usize, leaf: usize) -> Result<Option<ColumnBounds>> {
        let metadata = self.metadata();
        let cells = page_indexes::read(&self.handle, &*self.source, &[(row_group, leaf)]);
        let cells = cells.map_err(|error| self.in_file(error))?;
        let cell = cells.into_iter().next().unwrap_or_default();
        let Some((columns, offsets)) = cell.columns.zip(cell.offsets) else {
            return Ok(None);
        };
        let rows = metadata.row_group_header(row_group)?.num_rows;
        // The row count is never negative, because the metadata has been checked.
        let rows = u64::try_from(rows).unwrap_or_default();
        ColumnBoundsDecoder::new(metadata, self.parquet_schema(), leaf)
            .and_then(|decoder| decoder.pages(&columns, &offsets, rows))
            .map(Some)
            .map_err(|error| self.locate(error, row_group, leaf))
    }

    /// Returns a column chunk's bloom filter header, if there is a filter.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if there is no such column chunk, and with
    /// [Corrupt](crate::ErrorKind::Corrupt) if the header cannot be used.
    pub fn bloom_filter_header(
        &self,
        row_group: usize,
        leaf: usize,
    ) -> Result<Option<BloomFilterHeader>> {
        let Some(mut filter) = self.bloom_filter(row_group, leaf)? else {
            return Ok(None);
        };
        self.supplied(&mut filter, |filter| filter.poll_header(self.limits()))
            .map(Some)
            .map_err(|e| self.locate(e, row_group, leaf))
    }

    /// Returns a column chunk's bloom filter, if there is one, for reading its header and testing
    /// values.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if there is no such column chunk, with
    /// [Corrupt](crate::ErrorKind::Corrupt) if the filter lies outside the file, and with
    /// [Key](crate::ErrorKind::Key) if the filter is encrypted and its key is missing.
    pub fn bloom_filter(&self, row_group: usize, leaf: usize) -> Result<Option<BloomFilterProbe>> {
        let chunk = self.handle.chunk(row_group, leaf);
        let chunk = chunk.map_err(|error| self.in_file(error))?;
        let Some(metadata) = &chunk.meta_data else {
            return Ok(None);
        };
        let filter = BloomFilterProbe::new(metadata, self.source.len());
        let Some(filter) = filter.map_err(|e| self.locate(e, row_group, leaf))? else {
            return Ok(None);
        };
        let cipher = self.metadata().cipher_of(row_group, leaf, &chunk);
        let cipher = cipher.and_then(KeyStep::ready);
        let cipher = cipher.map_err(|e| self.locate(e, row_group, leaf))?;
        Ok(Some(filter.encrypted(cipher)))
    }

    /// Looks up a value in a column chunk's bloom filter. This reads the header, plus at most one
    /// filter block for each possible stored form of the value.
    ///
    /// Returns false if the chunk does not contain the value, true if it might or if the filter
    /// cannot decide, and `None` if the chunk has no bloom filter.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if there is no such column chunk, or if
    /// its values cannot be compared with the literal. Fails with
    /// [Corrupt](crate::ErrorKind::Corrupt) if the filter cannot be used, and with
    /// [Key](crate::ErrorKind::Key) if it is encrypted and its key is missing. The source's errors
    /// are returned, too.
    pub fn bloom_filter_may_contain(
        &self,
        row_group: usize,
        leaf: usize,
        value: impl Into<Literal>,
    ) -> Result<Option<bool>> {
        let hashes = hashes_of_value(self.parquet_schema(), leaf, &value.into())?;
        let Some(mut filter) = self.bloom_filter(row_group, leaf)? else {
            return Ok(None);
        };
        let Some(hashes) = hashes else {
            return Ok(Some(true));
        };
        for hash in hashes {
            let found = self.supplied(&mut filter, |filter| filter.poll(hash, self.limits()));
            if found.map_err(|error| self.locate(error, row_group, leaf))? {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
    }

    /// Reads a column chunk's whole bloom filter, if there is one. Use this if you look up many
    /// values or cache filters.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::bloom_filter_may_contain`].
    pub fn load_bloom_filter(
        &self,
        row_group: usize,
        leaf: usize,
    ) -> Result<Option<ColumnBloomFilter>> {
        let schema = self.parquet_schema();
        let filter = self.bloom_filter_bits(row_group, leaf)?;
        Ok(filter.map(|(header, bits)| ColumnBloomFilter::new(schema, leaf, &header, &bits)))
    }

    /// Returns a column chunk's bloom filter header and bits, if there is a filter.
    pub(crate) fn bloom_filter_bits(
        &self,
        row_group: usize,
        leaf: usize,
    ) -> Result<Option<(BloomFilterHeader, Bytes)>> {
        let Some(mut filter) = self.bloom_filter(row_group, leaf)? else {
            return Ok(None);
        };
        let bits = self.supplied(&mut filter, |filter| filter.poll_bits(self.limits()));
        let bits = bits.map_err(|error| self.locate(error, row_group, leaf))?;
        let header = self.supplied(&mut filter, |filter| filter.poll_header(self.limits()));
        let header = header.map_err(|error| self.locate(error, row_group, leaf))?;
        Ok(Some((header, bits)))
    }

    /// Runs a bloom filter step until it is ready, reading the bytes it needs.
    fn supplied<T>(
        &self,
        filter: &mut BloomFilterProbe,
        step: impl Fn(&mut BloomFilterProbe) -> Result<Step<T>>,
    ) -> Result<T> {
        loop {
            match step(filter)? {
                Step::Ready(result) => return Ok(result),
                Step::Need(range) => filter.supply(range.start, self.source.read(range)?),
            }
        }
    }
}

/// Wraps a source to check its answers.
fn checked(source: impl Source + 'static) -> Arc<dyn Source> {
    Arc::new(CheckedSource::new(Arc::new(source)))
}
