//! One column of the row group under construction.
//!
//! Rows are taken in blocks: levels, then values without nulls, then indices or encoded values. A page
//! ends when it has enough rows or bytes, always with a whole row.
//!
//! Whether a dictionary pays is seen after some pages only. Until then their indices are kept; then
//! they are all written as indices, or all as values, and the dictionary is dropped. Later on a
//! dictionary that grew too large ends: pages behind that are written as values, those before stay.
//!
//! A column that is a dictionary in Arrow has it whole, values that no slot has included, in its order:
//! it is taken as it is before the slots are, where it is not too large.

use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::{Array, ArrayRef};
use herringbone_arrow::schema::DataType;
use herringbone_format::modular_encryption::ChunkCipher;
use herringbone_format::{Encoding, Error, Result};
use herringbone_kernels::hybrid;

use super::bounds::Bounds;
use super::chunk::{ChunkBuilder, DataPage, EncodedColumn};
use super::column_statistics::ColumnStatistics;
use super::levels::{LeafLevels, LeafPath, leaf_levels};
use super::options::BloomFilterOptions;
use super::settings::ColumnSettings;
use crate::array::dictionary::{Keyed, slots};
use crate::array::{Scratch, Selected, values};
use crate::bloom_filter::{BloomFilterBuilder, hash};
use crate::encoding::dictionary::Dictionary;
use crate::encoding::values::{PlainSize, Slots, Values, plain_width};
use crate::encoding::{ValueEncoder, value_encoder};
use crate::levels::{EncodedLevels, PageLevels};

/// Values behind which it is decided whether a dictionary pays.
const DECIDE_AFTER: usize = 1 << 18;

/// A dictionary is given up after so many pages already,
const PAGES_TO_JUDGE: usize = 2;

/// where at least this share of the values, in 1/64, is new.
const HOPELESS: usize = 63;

/// Rows of a block of columns whose rows differ in size.
const BLOCK_ROWS: usize = 4096;

/// Values of a page, at most: what its header can count, by far.
const MAX_PAGE_VALUES: usize = 1 << 28;

/// One column of the row group under construction.
pub struct ColumnWriter {
    settings: Arc<ColumnSettings>,
    path: Arc<LeafPath>,
    page: PageLevels,
    /// What the values of the page take in PLAIN.
    page_size: PlainSize,
    values: PageValues,
    chunk: ChunkBuilder,
    observers: Observers,
    memory: Memory,
    /// The values of the Arrow dictionary that were looked at last.
    listed: Option<ArrayRef>,
}

/// Who looks at all values, each at least once.
struct Observers {
    bloom_filter: Option<BloomFilterBuilder>,
    statistics: Option<Box<dyn ColumnStatistics>>,
}

impl Observers {
    fn insert(&mut self, values: &Values<'_>) {
        if let Some(bloom_filter) = &mut self.bloom_filter {
            insert(values, bloom_filter);
        }
        if let Some(statistics) = &mut self.statistics {
            statistics.update(values.into());
        }
    }

    /// Whether nobody looks.
    fn is_empty(&self) -> bool {
        self.bloom_filter.is_none() && self.statistics.is_none()
    }

    /// Bytes held.
    fn heap_bytes(&self) -> usize {
        let bloom_filter = self.bloom_filter.as_ref();
        let statistics = self.statistics.as_ref();
        bloom_filter.map_or(0, BloomFilterBuilder::heap_bytes)
            + statistics.map_or(0, |statistics| statistics.heap_bytes())
    }
}

/// What is used again for each block.
struct Memory {
    levels: LeafLevels,
    scratch: Scratch,
    keyed: Keyed,
}

/// How values are kept.
struct PageValues {
    /// Present from the first index on, and as long as a page of the chunk has indices.
    dictionary: Option<Dictionary>,
    phase: Phase,
    /// Whether the dictionary is kept though it saves nothing: it has values that no slot has.
    keeps_dictionary: bool,
    /// Indices of the page.
    indices: Vec<u32>,
    /// Pages that wait for a decision.
    pending: Vec<PendingPage>,
    pending_values: usize,
    /// What they take in PLAIN, and as indices.
    pending_bytes: usize,
    pending_code_bytes: usize,
    /// Of values outside of the dictionary.
    encoder: Box<dyn ValueEncoder>,
    /// Of the page's values. Of those in the dictionary, only numbers: looking at each is faster
    /// than finding out which indices there are.
    bounds: Bounds,
    /// Values in the dictionary that `bounds` do not know.
    unbounded: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Indices, which may still be taken back.
    Undecided,
    /// Indices.
    Codes,
    /// Values.
    Values,
}

struct PendingPage {
    levels: EncodedLevels,
    indices: Vec<u32>,
    /// Values of the dictionary when the page ended: indices are below.
    num_entries: usize,
    /// Bounds of the values, where they were taken when the values came.
    bounds: Option<Bounds>,
    byte_array_bytes: usize,
}

impl PendingPage {
    /// Bytes held.
    fn heap_bytes(&self) -> usize {
        size_of::<Self>()
            + size_of::<u32>() * self.indices.capacity()
            + self.levels.heap_bytes()
            + self.bounds.as_ref().map_or(0, Bounds::heap_bytes)
    }
}

impl ColumnWriter {
    /// An empty column chunk, whose pages `cipher` is to encrypt.
    ///
    /// # Errors
    /// Argument where the encoding does not serve the column's type.
    pub(crate) fn new(
        settings: Arc<ColumnSettings>,
        path: Arc<LeafPath>,
        cipher: Option<ChunkCipher>,
        statistics: Option<Box<dyn ColumnStatistics>>,
    ) -> Result<Self> {
        let leaf = &settings.leaf;
        let dictionary = if settings.dictionary {
            Dictionary::new(leaf.physical_type, leaf.type_length)
        } else {
            None
        };
        let phase = match dictionary {
            Some(_) => Phase::Undecided,
            None => Phase::Values,
        };
        Ok(Self {
            page: PageLevels::new(leaf.max_def_level, leaf.max_rep_level, settings.compression),
            page_size: PlainSize::default(),
            values: PageValues {
                dictionary,
                phase,
                keeps_dictionary: false,
                indices: Vec::new(),
                pending: Vec::new(),
                pending_values: 0,
                pending_bytes: 0,
                pending_code_bytes: 0,
                encoder: value_encoder(settings.encoding, leaf.physical_type, leaf.type_length)?,
                bounds: Bounds::new(&settings),
                unbounded: false,
            },
            chunk: ChunkBuilder::new(settings.clone(), cipher),
            observers: Observers {
                bloom_filter: bloom_filter(&settings)?,
                statistics,
            },
            memory: Memory {
                levels: LeafLevels::new(),
                scratch: Scratch::default(),
                keyed: Keyed::default(),
            },
            listed: None,
            path,
            settings,
        })
    }

    /// Bytes that the chunk will have in the file, roughly.
    pub fn estimated_bytes(&self) -> usize {
        let values = &self.values;
        self.chunk.len()
            + values
                .dictionary
                .as_ref()
                .map_or(0, Dictionary::plain_bytes)
            + values.pending_values / 2 * 3
            + if values.phase == Phase::Values {
                values.encoder.page_bytes()
            } else {
                values.indices.len() / 2 * 3
            }
    }

    /// Bytes held.
    pub fn heap_bytes(&self) -> usize {
        let values = &self.values;
        self.chunk.heap_bytes()
            + values.dictionary.as_ref().map_or(0, Dictionary::heap_bytes)
            + size_of::<u32>() * values.indices.capacity()
            + values
                .pending
                .iter()
                .map(PendingPage::heap_bytes)
                .sum::<usize>()
            + values.encoder.heap_bytes()
            + values.bounds.heap_bytes()
            + self.page.heap_bytes()
            + self.memory.levels.heap_bytes()
            + self.memory.scratch.heap_bytes()
            + self.memory.keyed.heap_bytes()
            + self.observers.heap_bytes()
    }

    /// Appends rows of the top-level array that the column is in.
    ///
    /// # Errors
    /// Argument where a value cannot be kept; Limit where one is too large for the format.
    pub fn write(&mut self, array: &ArrayRef, rows: Range<usize>) -> Result<()> {
        self.write_rows(array, rows)
            .map_err(|error| error.in_column(self.settings.leaf.path.join(".")))
    }

    fn write_rows(&mut self, array: &ArrayRef, rows: Range<usize>) -> Result<()> {
        let most = self.block_rows(array);
        let mut at = rows.start;
        let mut block = most;
        while at < rows.end {
            let room = self.page_rows().saturating_sub(self.page.num_rows());
            let n = block.min(room).min(rows.end - at).max(1);
            if self.append(array, at..at + n)? {
                at += n;
                block = (block * 2).min(most);
            } else {
                block = n / 2;
            }
            if self.page_is_full() {
                self.finish_page()?;
            }
        }
        Ok(())
    }

    /// Rows of a block: as many as a page has where all rows have the same size.
    fn block_rows(&self, array: &ArrayRef) -> usize {
        let leaf = &self.settings.leaf;
        let same_size = leaf.max_rep_level == 0
            && (plain_width(leaf.physical_type, leaf.type_length).is_some()
                || matches!(array.data_type(), DataType::Dictionary(..)));
        if same_size {
            self.settings.page_rows
        } else {
            BLOCK_ROWS
        }
    }

    /// Appends a block of rows, unless it would make the page much too large: then it returns false,
    /// and fewer rows are to be tried.
    fn append(&mut self, array: &ArrayRef, rows: Range<usize>) -> Result<bool> {
        let num_rows = rows.len();
        let all = rows.clone();
        leaf_levels(&self.path, array, rows, &mut self.memory.levels)?;
        self.list_entries()?;
        let Memory {
            levels,
            scratch,
            keyed,
        } = &mut self.memory;
        let slots = match slots(&self.settings.leaf, levels.selected(), scratch, keyed) {
            Ok(slots) => slots,
            Err(error) => return Err(self.in_row(array, all, error)),
        };
        let size = slots.plain_size();
        let bytes = match self.values.phase {
            Phase::Values => self.page_size.bytes + size.bytes,
            // Indices are small; but the dictionary is not to grow without measure.
            Phase::Undecided | Phase::Codes => size.bytes,
        };
        let too_large = bytes > self.settings.page_bytes + self.settings.page_bytes / 4
            || self.page.num_levels() + slots.len() > MAX_PAGE_VALUES;
        if too_large && num_rows > 1 {
            return Ok(false);
        }
        self.page.append(&levels.rep, &levels.def, num_rows)?;
        self.page_size.bytes += size.bytes;
        self.page_size.byte_array_bytes += size.byte_array_bytes;
        self.values.append(&slots, &mut self.observers)?;
        Ok(true)
    }

    /// Takes the values of the Arrow dictionary, if they are to come back, and are not too large.
    fn list_entries(&mut self) -> Result<()> {
        let settings = &self.settings;
        let (Some(_), Some(dictionary)) = (settings.lists_entries, &mut self.values.dictionary)
        else {
            return Ok(());
        };
        let Some(array) = self.memory.levels.leaf.as_any_dictionary_opt() else {
            return Ok(());
        };
        let entries = array.values();
        // In runs, they have no order of their own.
        if entries.data_type() != &settings.leaf.data_type
            || self.values.phase == Phase::Values
            || self.listed.as_ref().is_some_and(|it| is_same(it, entries))
        {
            return Ok(());
        }
        self.listed = Some(entries.clone());
        let selected = Selected {
            array: entries,
            nulls: entries.nulls(),
            ranges: &[0..entries.len()],
        };
        let values = match values(&settings.leaf, selected, &mut self.memory.scratch) {
            Ok(values) => Slots::Values(values),
            Err(error) if settings.keeps_order() => return Err(error),
            // One that no slot has does not keep the others from being written.
            Err(_) => return Ok(()),
        };
        let bytes = dictionary.plain_bytes() + values.plain_size().bytes;
        if let Slots::Values(values) = values
            && (settings.keeps_order() || bytes <= settings.dictionary_bytes)
        {
            dictionary.list(&values)?;
            self.values.keeps_dictionary = true;
        }
        Ok(())
    }

    /// Looks for the row that an error of these rows is about, and adds it.
    #[cold]
    fn in_row(&mut self, array: &ArrayRef, rows: Range<usize>, error: Error) -> Error {
        let Memory {
            levels,
            scratch,
            keyed,
        } = &mut self.memory;
        for row in rows {
            let found = leaf_levels(&self.path, array, row..row + 1, levels).and_then(|()| {
                slots(&self.settings.leaf, levels.selected(), scratch, keyed).map(|_| ())
            });
            if let Err(found) = found {
                let message = format!("row {row} of the batch: {}", found.message());
                return Error::new(found.kind(), message);
            }
        }
        error
    }

    /// Rows of the page. The first ones are shorter where they have indices: these are narrow while the
    /// dictionary is small.
    fn page_rows(&self) -> usize {
        let rows = self.settings.page_rows;
        match (self.values.phase, self.values.pending.len()) {
            (Phase::Undecided, 0) => (rows / 4).max(1),
            (Phase::Undecided, 1) => (rows / 2).max(1),
            _ => rows,
        }
    }

    fn page_is_full(&self) -> bool {
        let bytes = match self.values.phase {
            Phase::Values => self.values.encoder.page_bytes(),
            // Indices are packed to two bytes or less, usually.
            Phase::Codes => 2 * self.values.indices.len(),
            Phase::Undecided => self.page_size.bytes / 2,
        };
        self.page.num_rows() >= self.page_rows()
            || bytes + self.page.num_levels() / 4 >= self.settings.page_bytes
            || (self.page.num_rows() > 0 && self.values.dictionary_is_full(&self.settings))
    }

    fn finish_page(&mut self) -> Result<()> {
        let levels = self.page.finish_page();
        let size = std::mem::take(&mut self.page_size);
        let values = &mut self.values;
        match values.phase {
            Phase::Values => return self.write_values(&levels, size.byte_array_bytes),
            Phase::Codes => {
                let page = values.take_indices(&self.settings, levels, size);
                self.write_indices(&page)?;
                self.values.indices = page.indices;
                self.values.indices.clear();
            }
            Phase::Undecided => {
                values.pending_values += values.indices.len();
                values.pending_bytes += size.bytes;
                let page = values.take_indices(&self.settings, levels, size);
                values.pending_code_bytes +=
                    page.indices.len() * usize::from(code_width(page.num_entries)) / 8;
                values.pending.push(page);
                if values.is_time_to_decide(&self.settings) {
                    self.decide()?;
                }
            }
        }
        if self.values.dictionary_is_full(&self.settings) {
            self.values.phase = Phase::Values;
        }
        Ok(())
    }

    /// Writes the pages that wait, as indices or as values, whatever takes fewer bytes.
    fn decide(&mut self) -> Result<()> {
        let pending = std::mem::take(&mut self.values.pending);
        if self.values.dictionary_pays() {
            self.values.phase = Phase::Codes;
            return pending.iter().try_for_each(|page| self.write_indices(page));
        }
        self.values.phase = Phase::Values;
        let Some(dictionary) = self.values.dictionary.take() else {
            return Ok(());
        };
        for page in pending {
            let values = &mut self.values;
            let observers = &mut self.observers;
            dictionary.with_values(page.indices.iter().copied(), |all| {
                values.append_values(all, observers)
            })?;
            self.write_values(&page.levels, page.byte_array_bytes)?;
        }
        Ok(())
    }

    /// Writes the values that the encoder holds as a page.
    fn write_values(&mut self, levels: &EncodedLevels, byte_array_bytes: usize) -> Result<()> {
        let PageValues {
            encoder, bounds, ..
        } = &mut self.values;
        let page = DataPage {
            levels,
            encoding: self.settings.encoding,
            bounds,
            byte_array_bytes,
        };
        self.chunk
            .data_page(&page, |out| encoder.finish_page(out))?;
        *bounds = Bounds::new(&self.settings);
        Ok(())
    }

    fn write_indices(&mut self, page: &PendingPage) -> Result<()> {
        let Some(dictionary) = &self.values.dictionary else {
            return Ok(());
        };
        let of_indices = match &page.bounds {
            Some(_) => Bounds::new(&self.settings),
            None => Bounds::of_indices(&self.settings, dictionary, &page.indices),
        };
        let data_page = DataPage {
            levels: &page.levels,
            encoding: Encoding::RleDictionary,
            bounds: page.bounds.as_ref().unwrap_or(&of_indices),
            byte_array_bytes: page.byte_array_bytes,
        };
        let width = code_width(page.num_entries);
        self.chunk.data_page(&data_page, |out| {
            out.push(width);
            hybrid::encode_u32(&page.indices, width, out);
        })
    }

    /// The column chunk.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn finish(self) -> Result<EncodedColumn> {
        let path = self.settings.leaf.path.clone();
        self.finish_chunk()
            .map_err(|error| error.in_column(path.join(".")))
    }

    fn finish_chunk(mut self) -> Result<EncodedColumn> {
        if self.page.num_rows() > 0 {
            self.finish_page()?;
        }
        if self.values.phase == Phase::Undecided {
            self.decide()?;
        }
        let dictionary = self.values.dictionary.as_ref();
        if let Some(dictionary) = dictionary
            && !self.observers.is_empty()
        {
            let observers = &mut self.observers;
            dictionary.with_values(dictionary.used(), |values| observers.insert(values));
        }
        let only_indices = self.values.phase == Phase::Codes;
        let distinct = dictionary
            .filter(|_| only_indices)
            .map(|it| it.used().count());
        let Observers {
            bloom_filter,
            statistics,
        } = self.observers;
        let statistics = statistics.map(|statistics| statistics.finish());
        self.chunk.finish(
            dictionary.map(|dictionary| (dictionary.plain(), dictionary.len())),
            distinct.map(|count| count as u64),
            statistics.unwrap_or_default(),
            bloom_filter.map(BloomFilterBuilder::finish),
        )
    }
}

/// Whether two arrays lie in the same memory.
fn is_same(one: &ArrayRef, other: &ArrayRef) -> bool {
    Arc::ptr_eq(one, other) || one.to_data().ptr_eq(&other.to_data())
}

/// Bits of the highest index of a dictionary.
fn code_width(len: usize) -> u8 {
    (usize::BITS - len.saturating_sub(1).leading_zeros()) as u8
}

/// The bloom filter of a column, if it is to have one.
fn bloom_filter(settings: &ColumnSettings) -> Result<Option<BloomFilterBuilder>> {
    let builder = |options: BloomFilterOptions| {
        BloomFilterBuilder::new(
            options.distinct_values,
            options.false_positives,
            options.max_bytes,
        )
    };
    settings.bloom_filter.map(builder).transpose()
}

/// Inserts values into a bloom filter, in their PLAIN form without lengths.
fn insert(values: &Values<'_>, bloom_filter: &mut BloomFilterBuilder) {
    fn all(values: impl Iterator<Item: AsRef<[u8]>>, bloom_filter: &mut BloomFilterBuilder) {
        values.for_each(|value| bloom_filter.insert_hash(hash(value.as_ref())));
    }
    match values {
        Values::Boolean { .. } => {}
        Values::Int32(values) => all(values.iter().map(|v| v.to_le_bytes()), bloom_filter),
        Values::Int64(values) => all(values.iter().map(|v| v.to_le_bytes()), bloom_filter),
        Values::Float(values) => all(values.iter().map(|v| v.to_le_bytes()), bloom_filter),
        Values::Double(values) => all(values.iter().map(|v| v.to_le_bytes()), bloom_filter),
        Values::Fixed { bytes, width } => {
            all(bytes.chunks_exact((*width).max(1)), bloom_filter);
        }
        Values::ByteArray(values) => all(values.iter(), bloom_filter),
    }
}

impl PageValues {
    fn append(&mut self, slots: &Slots<'_>, observers: &mut Observers) -> Result<()> {
        match (&mut self.dictionary, self.phase) {
            (Some(dictionary), Phase::Undecided | Phase::Codes) => {
                match slots {
                    Slots::Values(values) if values.are_numbers() => self.bounds.update(values),
                    _ => self.unbounded = true,
                }
                dictionary.append(slots, &mut self.indices)
            }
            _ => slots.with_values(|values| self.append_values(values, observers)),
        }
    }

    fn append_values(&mut self, values: &Values<'_>, observers: &mut Observers) -> Result<()> {
        self.encoder.append(values)?;
        self.bounds.update(values);
        observers.insert(values);
        Ok(())
    }

    /// The page of indices, and room for the next one.
    fn take_indices(
        &mut self,
        settings: &ColumnSettings,
        levels: EncodedLevels,
        size: PlainSize,
    ) -> PendingPage {
        let bounds = std::mem::replace(&mut self.bounds, Bounds::new(settings));
        PendingPage {
            levels,
            indices: std::mem::take(&mut self.indices),
            num_entries: self.dictionary.as_ref().map_or(0, Dictionary::len),
            bounds: (!std::mem::take(&mut self.unbounded)).then_some(bounds),
            byte_array_bytes: size.byte_array_bytes,
        }
    }

    /// Whether no further values may go to the dictionary.
    fn dictionary_is_full(&self, settings: &ColumnSettings) -> bool {
        self.phase != Phase::Values
            && !settings.keeps_order()
            && self
                .dictionary
                .as_ref()
                .is_none_or(|dictionary| dictionary.plain_bytes() > settings.dictionary_bytes)
    }

    fn is_time_to_decide(&self, settings: &ColumnSettings) -> bool {
        let distinct = self.dictionary.as_ref().map_or(0, Dictionary::len);
        // Fewer values say little: those of a large dictionary that pays are rarely equal yet.
        let enough = self.pending.len() == PAGES_TO_JUDGE && self.pending_values > 0;
        self.pending_values >= DECIDE_AFTER
            || self.dictionary_is_full(settings)
            || (enough && distinct >= self.pending_values / 64 * HOPELESS)
    }

    /// Whether dictionary and indices take fewer bytes than the values that wait, or are kept anyway.
    fn dictionary_pays(&self) -> bool {
        let Some(dictionary) = &self.dictionary else {
            return false;
        };
        self.keeps_dictionary
            || dictionary.plain_bytes() + self.pending_code_bytes < self.pending_bytes
    }
}
