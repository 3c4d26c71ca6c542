//! A Parquet file whose footer is known.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::schema::SchemaRef;
use herringbone_core::Step;
use herringbone_core::footer::{FooterDecoder, FooterStep};
use herringbone_filter::pruning::{
    BloomFilterProbe, ColumnBounds, ColumnBoundsDecoder, IndexDecoder, PageIndexCell,
};
use herringbone_format::modular_encryption::KeyStep;
use herringbone_format::{
    BloomFilterHeader, ColumnIndex, Error, FileMetadata, Limits, OffsetIndex, Result,
};
use herringbone_read::{ReadOptions, ReadPlan, RowGroupExplanation, explain};
use herringbone_schema::{Int96Overflow, ParquetSchema, SchemaOptions, to_arrow};

use crate::blocking::SourceBytes;
use crate::int96::Int96Units;
use crate::metadata_handle::MetadataHandle;
use crate::open_options::OpenOptions;
use crate::page_indexes;
use crate::pages::Pages;
use crate::reader::Reader;
use crate::source::{FileSource, Source, SourceWithTail};

/// A Parquet file whose footer is known: its metadata, and readers of its data.
///
/// Cheap to clone, and to read from several times or on several threads.
#[derive(Clone)]
pub struct ParquetFile {
    source: Arc<dyn Source>,
    handle: MetadataHandle,
}

impl ParquetFile {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// Io where it cannot be read; Corrupt, Unsupported or Limit where its footer cannot be used.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_source(FileSource::open(path)?, Limits::default())
    }

    /// A file in memory, or in a memory map that the caller made.
    ///
    /// # Errors
    /// Corrupt, Unsupported or Limit where the footer cannot be used.
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Result<Self> {
        Self::from_source(bytes.into(), Limits::default())
    }

    /// Opens a file in any positioned source. Options may be [`Limits`] alone.
    ///
    /// The first request reads the end of the file, of the size that the source's
    /// [policy](Source::fetch_policy) has. A longer footer takes one more request. The bytes are
    /// kept as long as the file is open, so page indexes and pages among them are not read again.
    ///
    /// # Errors
    /// Those of the source; Corrupt, Unsupported or Limit if the footer cannot be used; Key if a key
    /// is missing or wrong; Argument if there is a key for a column that the file does not have.
    pub fn from_source(
        source: impl Source + 'static,
        options: impl Into<OpenOptions>,
    ) -> Result<Self> {
        let OpenOptions {
            limits,
            decryption,
            path,
        } = options.into();
        let mut source: Arc<dyn Source> = Arc::new(source);
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
        let file = Self { source, handle };
        if let Some(decryption) = file.metadata().decryption() {
            let leaves = 0..file.parquet_schema().leaves().len();
            let schema = file.parquet_schema();
            let parts = |leaf| schema.path(leaf).into_iter().map(str::to_owned);
            decryption.check_columns(&mut leaves.map(|leaf| parts(leaf).collect()))?;
        }
        Ok(file)
    }

    /// A file of which this is known already. Nothing is read.
    ///
    /// # Errors
    /// Argument where the source is longer or shorter than the file that the handle is of.
    pub fn with_metadata(source: impl Source + 'static, handle: MetadataHandle) -> Result<Self> {
        let (length, expected) = (source.len(), handle.file_length());
        if length != expected {
            return Err(Error::argument(format!(
                "the metadata is that of a file of {expected} bytes, and this one has {length}"
            )));
        }
        Ok(Self {
            source: Arc::new(source),
            handle,
        })
    }

    /// What is known of the file so far, to open it again [without reading](Self::with_metadata) its footer.
    #[must_use]
    pub fn metadata_handle(&self) -> MetadataHandle {
        self.handle.detached()
    }

    /// Returns the source of the file's bytes. The bytes that were read with the footer are not
    /// read again.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// The limits that the file is read under.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        self.handle.limits()
    }

    /// What the footer says.
    #[must_use]
    pub fn metadata(&self) -> &FileMetadata {
        self.handle.metadata()
    }

    /// The schema in Parquet's terms.
    #[must_use]
    pub fn parquet_schema(&self) -> &ParquetSchema {
        self.handle.parquet_schema()
    }

    /// The schema that batches of all columns have. [Extension types](ReadOptions::extension) are options of
    /// a read: the [plan](Self::plan) of one has the schema with them.
    ///
    /// # Errors
    /// Corrupt or Unsupported where the schema has no Arrow form.
    pub fn arrow_schema(&self, options: &SchemaOptions) -> Result<SchemaRef> {
        let key_values = self.metadata().key_value_metadata();
        let options = ReadOptions::default().schema(options.clone());
        let options = &self.with_int96_unit(&options)?.schema;
        to_arrow(self.parquet_schema(), key_values, options).map(|mapping| mapping.schema)
    }

    /// A reader of the data.
    ///
    /// # Errors
    /// Argument where the options name what the file does not have; Corrupt where row counts make
    /// no sense.
    pub fn read(&self, options: ReadOptions) -> Result<Reader> {
        Ok(Reader::new(
            Arc::new(self.plan(&options)?),
            self.source.clone(),
        ))
    }

    /// Prunes the row groups of a read, and returns how many of their rows each [step](crate::filter::PruningStep) rules out or
    /// accepts, and how many bytes it reads. The result also has the requests that reading each row group takes.
    ///
    /// # Errors
    /// See [`Self::read`]; errors of the source.
    pub fn explain(&self, options: &ReadOptions) -> Result<Vec<RowGroupExplanation>> {
        let plan = Arc::new(self.plan(options)?);
        let budget = herringbone_read::new_budget(&plan);
        let policy = self.source.fetch_policy();
        explain(&plan, &policy, &mut SourceBytes::new(&self.source, &budget))
    }

    /// Plans a read, for drivers of one's own such as
    /// [`PushDecoder`](herringbone_read::PushDecoder).
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn plan(&self, options: &ReadOptions) -> Result<ReadPlan> {
        self.handle.plan(&*self.with_int96_unit(options)?)
    }

    /// Returns the units that hold all INT96 timestamps that a read with these options gives.
    ///
    /// The values are decoded for that; other columns are not.
    ///
    /// # Errors
    /// As those of the read.
    pub fn int96_units(&self, options: &ReadOptions) -> Result<Int96Units> {
        let mut units = Int96Units::default();
        if let Some(plan) = self.handle.int96_plan(options)? {
            let mut reader = Reader::new(Arc::new(plan), self.source.clone());
            while let Some(batch) = reader.next_batch()? {
                units.add(&batch);
            }
        }
        if units.finest().is_none() {
            // A missing key of the read is the first error.
            self.handle.check_keys(options)?;
        }
        Ok(units)
    }

    /// Returns the options, with a unit for INT96 if that has to be found in the values.
    ///
    /// # Errors
    /// Unsupported if no unit holds all of them; errors of reading them.
    fn with_int96_unit<'a>(&self, options: &'a ReadOptions) -> Result<Cow<'a, ReadOptions>> {
        if options.schema.int96_overflow != Int96Overflow::CoarserUnit {
            return Ok(Cow::Borrowed(options));
        }
        let unit = self.int96_units(options)?.finest().ok_or_else(|| {
            Error::unsupported(
                "no unit holds all INT96 timestamps with all their digits; choose one \
                 (`int96_unit`), and what becomes of those that do not fit (`int96_overflow`)",
            )
        })?;
        let mut options = options.clone();
        options.schema.int96_unit = unit;
        options.schema.int96_overflow = Int96Overflow::Error;
        Ok(Cow::Owned(options))
    }

    /// The pages of a column chunk, without their values. `leaf` counts the leaves of the schema.
    ///
    /// # Errors
    /// Argument where there is no such column chunk; Corrupt where it lies outside of the file.
    pub fn pages(&self, row_group: usize, leaf: usize) -> Result<Pages> {
        self.handle.check_chunk(row_group, leaf)?;
        self.metadata()
            .readable_chunk(row_group, leaf)
            .and_then(KeyStep::ready)
            .and_then(|chunk| Pages::new(self.source.clone(), &chunk, self.limits().clone()))
            .map_err(|error| self.handle.locate(error, row_group, leaf))
    }

    /// The column index of a column chunk, if it has one: bounds and nulls of its pages.
    ///
    /// # Errors
    /// Argument where there is no such column chunk; Corrupt or Limit where the index cannot be used.
    pub fn column_index(&self, row_group: usize, leaf: usize) -> Result<Option<ColumnIndex>> {
        if let Some(cell) = self.handle.page_index(row_group, leaf) {
            return Ok(cell.columns.map(|index| ColumnIndex::clone(&index)));
        }
        let (place, of) = ((row_group, leaf), IndexDecoder::of_column);
        page_indexes::read_one(&self.handle, &*self.source, place, of)
    }

    /// The offset index of a column chunk, if it has one: places and first rows of its pages.
    ///
    /// # Errors
    /// Argument where there is no such column chunk; Corrupt or Limit where the index cannot be used.
    pub fn offset_index(&self, row_group: usize, leaf: usize) -> Result<Option<OffsetIndex>> {
        if let Some(cell) = self.handle.page_index(row_group, leaf) {
            return Ok(cell.offsets.map(|index| OffsetIndex::clone(&index)));
        }
        let (place, of) = ((row_group, leaf), IndexDecoder::of_offsets);
        page_indexes::read_one(&self.handle, &*self.source, place, of)
    }

    /// Reads both indexes of a column chunk.
    ///
    /// # Errors
    /// As [`Self::load_page_indexes`].
    pub fn load_page_index(&self, row_group: usize, leaf: usize) -> Result<PageIndexCell> {
        let cells = self.load_page_indexes([(row_group, leaf)])?;
        Ok(cells.into_iter().next().unwrap_or_default())
    }

    /// Reads both indexes of these column chunks, given by the ordinals of row group and leaf, and
    /// returns them in the same order.
    ///
    /// Indexes that lie next to each other are read in one request. They are read once: the file
    /// keeps them, and so does the [handle](Self::metadata_handle) that it was opened with. Reads
    /// use them.
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
    /// Argument if there is no such column chunk; Corrupt or Limit if an index cannot be used; Key
    /// if a key is missing or wrong; those of the source.
    pub fn load_page_indexes(
        &self,
        chunks: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Vec<PageIndexCell>> {
        let chunks: Vec<_> = chunks.into_iter().collect();
        page_indexes::load(&self.handle, &*self.source, &chunks)
    }

    /// Bounds and counts of a leaf, nested or not, as Arrow arrays of a slot a row group. `leaf` counts the leaves of
    /// the schema.
    ///
    /// # Errors
    /// Argument where there is no such leaf; Corrupt where the metadata of a column chunk cannot be decoded.
    pub fn row_group_bounds(&self, leaf: usize) -> Result<ColumnBounds> {
        let metadata = self.metadata();
        let decoder = ColumnBoundsDecoder::new(metadata, self.parquet_schema(), leaf)?;
        let bounds = decoder.row_groups(metadata, 0..metadata.num_row_groups());
        bounds.map_err(|error| error.in_column(self.parquet_schema().column_path(leaf)))
    }

    /// Bounds and counts of a column chunk as Arrow arrays, with a slot per page; `None` if the
    /// chunk does not have both page indexes.
    ///
    /// # Errors
    /// Argument if there is no such column chunk; Corrupt or Limit if an index cannot be used.
    pub fn page_bounds(&self, row_group: usize, leaf: usize) -> Result<Option<ColumnBounds>> {
        let metadata = self.metadata();
        let cells = page_indexes::read(&self.handle, &*self.source, &[(row_group, leaf)])?;
        let cell = cells.into_iter().next().unwrap_or_default();
        let Some((columns, offsets)) = cell.columns.zip(cell.offsets) else {
            return Ok(None);
        };
        let rows = metadata.row_group_header(row_group)?.num_rows;
        // Not negative: the metadata was checked.
        let rows = u64::try_from(rows).unwrap_or_default();
        ColumnBoundsDecoder::new(metadata, self.parquet_schema(), leaf)
            .and_then(|decoder| decoder.pages(&columns, &offsets, rows))
            .map(Some)
            .map_err(|error| self.handle.locate(error, row_group, leaf))
    }

    /// The header of the bloom filter of a column chunk, if it has one.
    ///
    /// # Errors
    /// Argument where there is no such column chunk; Corrupt where the header cannot be used.
    pub fn bloom_filter_header(
        &self,
        row_group: usize,
        leaf: usize,
    ) -> Result<Option<BloomFilterHeader>> {
        let Some(mut filter) = self.bloom_filter(row_group, leaf)? else {
            return Ok(None);
        };
        let header = loop {
            match filter.poll_header(self.limits()) {
                Ok(Step::Ready(header)) => break Ok(header),
                Ok(Step::Need(range)) => {
                    filter.supply(range.start, self.source.read(range)?);
                }
                Err(error) => break Err(error),
            }
        };
        header
            .map(Some)
            .map_err(|e| self.handle.locate(e, row_group, leaf))
    }

    /// The bloom filter of a column chunk, if it has one, to be asked for its header and for values.
    ///
    /// # Errors
    /// Argument where there is no such column chunk; Corrupt where it lies outside of the file; Key where it
    /// is encrypted and there is no key for it.
    pub fn bloom_filter(&self, row_group: usize, leaf: usize) -> Result<Option<BloomFilterProbe>> {
        let chunk = self.handle.chunk(row_group, leaf)?;
        let Some(metadata) = &chunk.meta_data else {
            return Ok(None);
        };
        let filter = BloomFilterProbe::new(metadata, self.source.len());
        let Some(filter) = filter.map_err(|e| self.handle.locate(e, row_group, leaf))? else {
            return Ok(None);
        };
        let cipher = self.metadata().cipher_of(row_group, leaf, &chunk);
        let cipher = cipher.and_then(KeyStep::ready);
        let cipher = cipher.map_err(|e| self.handle.locate(e, row_group, leaf))?;
        Ok(Some(filter.encrypted(cipher)))
    }
}
