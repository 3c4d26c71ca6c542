//! One column of the row group under construction.
//!
//! Rows are taken in blocks: levels, then values without nulls, then indices or encoded values. A page
//! ends when it has enough rows or bytes, always with a whole row, and wherever the arrays end that rows come in.
//! Then it goes to a [`PageSink`]: what is still to be done for it no later page waits for.
//!
//! How values are stored is chosen after some pages only ([`choice`](super::choice)). Until then their indices are kept;
//! then they are all written as indices, or all as values, and the dictionary is dropped. Where nearly all values were new to
//! it, they are kept as values meanwhile ([`doubt`](super::doubt)). Later on a dictionary that grew too large ends:
//! pages behind that are written as values, those before stay. Where there is no dictionary, the values of the first page are
//! kept, and now and then those of a later one.
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
use super::choice::{Choice, EarlierChoice, LevelForm, choose_levels, usual_runs};
use super::chunk::{ChunkBuilder, DataPage, DictionaryEntries, EndedColumn};
use super::column_statistics::ColumnStatistics;
use super::doubt::DoubtedPage;
use super::growth::doubt_after;
use super::levels::{LeafLevels, LeafPath, leaf_levels};
use super::observers::{Observers, bloom_filter};
use super::page::PageSink;
use super::page_values::{PageValues, PendingPage, Phase};
use super::settings::ColumnSettings;
use herringbone_core::array::dictionary::{Keyed, slots};
use herringbone_core::array::{Scratch, Selected, values};
use herringbone_core::bloom_filter::BloomFilterBuilder;
use herringbone_core::encoding::values::{PlainSize, Slots, Values, plain_width};
use herringbone_core::levels::{EncodedLevels, PageLevels};

/// Rows of a segment of columns whose rows differ in size,
const BLOCK_ROWS: usize = 4096;

/// and of lists, which have many values in few rows, where a dictionary may be in doubt soon.
const FIRST_LISTS: usize = 512;

/// Values of a page, at most: what its header can count, by far.
const MAX_PAGE_VALUES: usize = 1 << 28;

/// One column of the row group under construction.
pub struct ColumnWriter {
    settings: Arc<ColumnSettings>,
    path: Arc<LeafPath>,
    page: PageLevels,
    /// What the values of the page take in PLAIN.
    page_size: PlainSize,
    /// What was collected since the last look at whether the page is full.
    segment: Extent,
    /// Whether the page has as many values as a page can have.
    is_counted_out: bool,
    /// How levels are stored, once it is chosen.
    levels: Option<LevelForm>,
    values: PageValues,
    /// How values are stored, once it is chosen.
    choice: Option<Choice>,
    chunk: ChunkBuilder,
    observers: Observers,
    /// The values of the Arrow dictionary that were looked at last.
    listed: Option<ArrayRef>,
}

/// Memory that is used again for each block, of any column: one a thread, which stays in its cache. No column counts it as its own.
pub struct BlockMemory {
    levels: LeafLevels,
    scratch: Scratch,
    keyed: Keyed,
}

/// Bytes of it that are kept: what more rows need than most blocks have is given back.
const KEPT_BYTES: usize = 2 << 20;

impl Default for BlockMemory {
    fn default() -> Self {
        Self {
            levels: LeafLevels::new(),
            scratch: Scratch::default(),
            keyed: Keyed::default(),
        }
    }
}

impl BlockMemory {
    /// Lets go of the arrays, and of the memory if it is more than most blocks need.
    fn release(&mut self) {
        self.levels.release();
        let held = self.levels.heap_bytes() + self.scratch.heap_bytes() + self.keyed.heap_bytes();
        if held > KEPT_BYTES {
            *self = Self::default();
        }
    }
}

/// What some rows take.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    rows: usize,
    /// Bits of the values in PLAIN, and two for each level.
    bits: usize,
}

impl Extent {
    fn new(slots: &Slots<'_>, size: PlainSize, rows: usize, levels: usize) -> Self {
        let is_boolean = match slots {
            Slots::Values(values) | Slots::Keyed { values, .. } => {
                matches!(values, Values::Boolean { .. })
            }
        };
        let values = if is_boolean {
            slots.num_slots()
        } else {
            8 * size.bytes
        };
        Self {
            rows,
            bits: values + 2 * levels,
        }
    }

    fn and(self, more: Self) -> Self {
        Self {
            rows: self.rows + more.rows,
            bits: self.bits + more.bits,
        }
    }
}

impl ColumnWriter {
    /// An empty column chunk, whose pages `cipher` is to encrypt, behind one for which something was chosen.
    ///
    /// # Errors
    /// Argument where the encoding does not serve the column's type.
    pub(crate) fn new(
        settings: Arc<ColumnSettings>,
        path: Arc<LeafPath>,
        cipher: Option<ChunkCipher>,
        statistics: Option<Box<dyn ColumnStatistics>>,
        earlier: Option<EarlierChoice>,
    ) -> Result<Self> {
        let leaf = &settings.leaf;
        let runs = usual_runs(settings.compression);
        Ok(Self {
            page: PageLevels::new(leaf.max_def_level, leaf.max_rep_level, runs),
            page_size: PlainSize::default(),
            segment: Extent::default(),
            is_counted_out: false,
            levels: None,
            values: PageValues::new(settings.clone(), earlier)?,
            choice: None,
            chunk: ChunkBuilder::new(settings.clone(), cipher),
            observers: Observers {
                bloom_filter: bloom_filter(&settings)?,
                statistics,
            },
            listed: None,
            path,
            settings,
        })
    }

    /// Bytes that the chunk will have in the file, roughly, but for the pages that it gave to its sink.
    pub fn estimated_bytes(&self) -> usize {
        self.values.estimated_bytes()
    }

    /// Bytes held, but for the pages that it gave to its sink.
    pub fn heap_bytes(&self) -> usize {
        self.chunk.heap_bytes()
            + self.values.heap_bytes()
            + self.page.heap_bytes()
            + self.observers.heap_bytes()
    }

    /// Appends rows of the top-level array that the column is in, with memory that need not be that of the last rows; pages that
    /// are full go to the sink.
    ///
    /// # Errors
    /// Argument where a value cannot be kept; Limit where one is too large for the format; those of the sink.
    pub fn write(
        &mut self,
        array: &ArrayRef,
        rows: Range<usize>,
        memory: &mut BlockMemory,
        sink: &mut dyn PageSink,
    ) -> Result<()> {
        let written = self.write_rows(array, rows, memory, sink);
        memory.release();
        written.map_err(|error| error.in_column(self.settings.leaf.path.join(".")))
    }

    fn write_rows(
        &mut self,
        array: &ArrayRef,
        rows: Range<usize>,
        memory: &mut BlockMemory,
        sink: &mut dyn PageSink,
    ) -> Result<()> {
        let mut at = rows.start;
        while at < rows.end {
            let most = self.block_rows(array);
            let room = self.page_rows().saturating_sub(self.page.num_rows());
            let n = room.min(most - self.segment.rows).min(rows.end - at);
            let taken = self.append_fitting(array, at..at + n.max(1), memory)?;
            at += taken;
            let is_whole = taken < n || self.segment.rows >= most;
            if is_whole || self.page.num_rows() >= self.page_rows() {
                self.end_segment(taken < n, sink)?;
            }
        }
        Ok(())
    }

    /// Rows of a segment, at most: as many as a page has where all rows have the same size.
    fn block_rows(&self, array: &ArrayRef) -> usize {
        let leaf = &self.settings.leaf;
        let same_size = leaf.max_rep_level == 0
            && (plain_width(leaf.physical_type, leaf.type_length).is_some()
                || matches!(array.data_type(), DataType::Dictionary(..)));
        let is_first = self.values.phase == Phase::Undecided && self.values.pending.is_empty();
        match same_size {
            true if is_first => {
                doubt_after(self.settings.row_group_values()).min(self.settings.page_rows)
            }
            true => self.settings.page_rows,
            false if leaf.max_rep_level > 0 && is_first => FIRST_LISTS,
            false => BLOCK_ROWS,
        }
    }

    /// Looks at what was collected since it was last looked at: a page ends only here, and where this is follows from
    /// the rows alone, not from the arrays that they came in. `is_full` says that the next row has no room.
    fn end_segment(&mut self, is_full: bool, sink: &mut dyn PageSink) -> Result<()> {
        self.segment.rows = 0;
        if self.values.may_be_indices() {
            self.segment.bits = 0;
        }
        if self.values.is_in_doubt() {
            self.values.begin_doubt()?;
        }
        // Values have no room where the page is full; indices, where nothing more can be counted.
        let has_no_room = is_full && (!self.values.may_be_indices() || self.is_counted_out);
        if has_no_room || self.page_is_full() {
            self.finish_page(sink)?;
        }
        Ok(())
    }

    /// Appends as many of the rows as there is room for; the number of them.
    fn append_fitting(
        &mut self,
        array: &ArrayRef,
        rows: Range<usize>,
        memory: &mut BlockMemory,
    ) -> Result<usize> {
        if self.append(array, rows.clone(), memory)? {
            return Ok(rows.len());
        }
        // There is room for less than `beyond` rows from `at` on.
        let (mut at, mut beyond) = (rows.start, rows.len());
        while beyond > 1 {
            let half = beyond / 2;
            if self.append(array, at..at + half, memory)? {
                at += half;
                beyond -= half;
            } else {
                beyond = half;
            }
        }
        Ok(at - rows.start)
    }

    /// Appends rows, unless there is no room for all of them: then it returns false. There is always room for one row
    /// at the start.
    fn append(
        &mut self,
        array: &ArrayRef,
        rows: Range<usize>,
        memory: &mut BlockMemory,
    ) -> Result<bool> {
        let num_rows = rows.len();
        let all = rows.clone();
        leaf_levels(&self.path, array, rows, &mut memory.levels)?;
        self.list_entries(memory)?;
        let BlockMemory {
            levels,
            scratch,
            keyed,
        } = memory;
        let slots = match slots(&self.settings.leaf, levels.selected(), scratch, keyed) {
            Ok(slots) => slots,
            Err(error) => return Err(self.in_row(array, all, error, memory)),
        };
        let size = slots.plain_size();
        let num_levels = levels.rep.len().max(num_rows);
        let more = Extent::new(&slots, size, num_rows, num_levels);
        let extent = self.segment.and(more);
        let is_too_large = extent.bits > self.settings.page_bytes.saturating_mul(8);
        self.is_counted_out = self.page.num_levels() + num_levels > MAX_PAGE_VALUES;
        let is_first = num_rows == 1
            && match self.values.may_be_indices() {
                true => self.segment.rows == 0,
                false => self.page.num_rows() == 0,
            };
        let is_refused = is_too_large && !is_first
            || self.is_counted_out && (num_rows > 1 || self.page.num_levels() > 0);
        if is_refused {
            return Ok(false);
        }
        self.segment = extent;
        self.page.append(&levels.rep, &levels.def, num_rows)?;
        self.page_size.bytes += size.bytes;
        self.page_size.byte_array_bytes += size.byte_array_bytes;
        self.values.append(&slots, &mut self.observers)?;
        Ok(true)
    }

    /// Takes the values of the Arrow dictionary, if they are to come back, and are not too large.
    fn list_entries(&mut self, memory: &mut BlockMemory) -> Result<()> {
        let settings = &self.settings;
        let are_indices = self.values.are_indices();
        let (Some(_), Some(dictionary)) = (settings.lists_entries, &mut self.values.dictionary)
        else {
            return Ok(());
        };
        let Some(array) = memory.levels.leaf.as_any_dictionary_opt() else {
            return Ok(());
        };
        let entries = array.values();
        // In runs, they have no order of their own.
        if entries.data_type() != &settings.leaf.data_type
            || !are_indices
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
        let values = match values(&settings.leaf, selected, &mut memory.scratch) {
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
    fn in_row(
        &self,
        array: &ArrayRef,
        rows: Range<usize>,
        error: Error,
        memory: &mut BlockMemory,
    ) -> Error {
        let BlockMemory {
            levels,
            scratch,
            keyed,
        } = memory;
        for row in rows {
            let found = leaf_levels(&self.path, array, row..row + 1, levels).and_then(|()| {
                slots(&self.settings.leaf, levels.selected(), scratch, keyed).map(|_| ())
            });
            if let Err(found) = found {
                let message = format!("row {row} of the batch: {}", found.message());
                let error = Error::new(found.kind(), message);
                return match found.remedy() {
                    Some(remedy) => error.with_remedy(remedy),
                    None => error,
                };
            }
        }
        error
    }

    /// Rows of the page. The first ones are shorter where they have indices: these are narrow while the
    /// dictionary is small.
    fn page_rows(&self) -> usize {
        let rows = self.settings.page_rows;
        let num_pages = self.values.pending.len() + self.values.doubt.pages.len();
        match (self.values.phase, num_pages) {
            (Phase::Undecided | Phase::Doubted, 0) => (rows / 4).max(1),
            (Phase::Undecided | Phase::Doubted, 1) => (rows / 2).max(1),
            _ => rows,
        }
    }

    fn page_is_full(&self) -> bool {
        let bytes = match self.values.phase {
            // Their segment is the page, which ends where the next row has no room.
            Phase::Values | Phase::Held => 0,
            // Indices are packed to two bytes or less, usually.
            Phase::Codes => 2 * self.values.indices.len(),
            Phase::Undecided => self.page_size.bytes / 2,
            Phase::Doubted => self.page_size.bytes,
        };
        self.page.num_rows() >= self.page_rows()
            || bytes + self.page.num_levels() / 4 >= self.settings.page_bytes
            || (self.page.num_rows() > 0
                && (self.values.dictionary_is_full()
                    || self.values.is_hopeless()
                    || self.values.doubt_ends()))
    }

    fn finish_page(&mut self, sink: &mut dyn PageSink) -> Result<()> {
        if self.levels.is_none() {
            let form = match self.values.earlier_for(self.page.num_levels()) {
                Some(earlier) => earlier.levels,
                None => choose_levels(&self.settings, &self.page)?,
            };
            self.page.choose_runs(form.runs);
            self.chunk.choose_version(form.version);
            self.levels = Some(form);
        }
        let levels = self.page.finish_page();
        self.segment = Extent::default();
        let size = std::mem::take(&mut self.page_size);
        let values = &mut self.values;
        match values.phase {
            Phase::Values => {
                self.write_values(&levels, size.byte_array_bytes, sink)?;
                return self.values.after_values();
            }
            Phase::Held => {
                let choice = values.choose_by_held(levels.num_levels - levels.num_nulls)?;
                let is_chosen = choice.is_founded();
                if values.dictionary.is_none() {
                    self.note(choice);
                }
                self.write_values(&levels, size.byte_array_bytes, sink)?;
                return self.values.after_held(is_chosen);
            }
            Phase::Codes => {
                let page = values.take_indices(levels, size);
                self.write_indices(&page, sink)?;
                self.values.indices = page.indices;
                self.values.indices.clear();
            }
            Phase::Undecided => {
                values.hold_back(levels, size);
                self.go_on_undecided(sink)?;
            }
            Phase::Doubted => {
                values.hold_back_doubted(levels, size)?;
                self.go_on_undecided(sink)?;
            }
        }
        if self.values.dictionary_is_full() {
            self.values.leave_dictionary()?;
        }
        Ok(())
    }

    /// Goes on behind a page that waits.
    fn go_on_undecided(&mut self, sink: &mut dyn PageSink) -> Result<()> {
        match self.values.is_time_to_decide() {
            true => self.decide(sink),
            false => Ok(()),
        }
    }

    /// Writes the pages that wait, as indices or as values, whatever costs less.
    fn decide(&mut self, sink: &mut dyn PageSink) -> Result<()> {
        let choice = self.values.choose()?;
        self.note(choice);
        let pending = std::mem::take(&mut self.values.pending);
        self.values.pending_values = 0;
        if self.values.phase == Phase::Codes {
            return pending
                .iter()
                .try_for_each(|page| self.write_indices(page, sink));
        }
        let Some(dictionary) = self.values.dictionary.take() else {
            return Ok(());
        };
        let mut dictionary = Some(dictionary);
        let last = pending.len().saturating_sub(1);
        for (at, page) in pending.into_iter().enumerate() {
            let values = &mut self.values;
            let observers = &mut self.observers;
            // Behind the last page, it is dropped before there is the page as well.
            let kept = if at == last { dictionary.take() } else { None };
            if let Some(dictionary) = kept.as_ref().or(dictionary.as_ref()) {
                dictionary.with_values(page.indices.iter().copied(), |all| {
                    values.append_values(all, observers)
                })?;
            }
            drop(kept);
            self.write_values(&page.levels, page.byte_array_bytes, sink)?;
        }
        let doubt = std::mem::take(&mut self.values.doubt);
        doubt
            .pages
            .into_iter()
            .try_for_each(|page| self.write_doubted(page, sink))
    }

    /// Writes a page that the dictionary did not get.
    fn write_doubted(&mut self, mut page: DoubtedPage, sink: &mut dyn PageSink) -> Result<()> {
        let values = &mut self.values;
        if values.encoding == Encoding::Plain && self.observers.is_empty() {
            values.encoder = page.encoder;
        } else {
            let observers = &mut self.observers;
            page.with_values(&self.settings.leaf, |_, all, _| {
                observers.insert(all);
                values.encoder.append(all)
            })?;
        }
        self.values.bounds = page.bounds;
        self.write_values(&page.levels, page.size.byte_array_bytes, sink)
    }

    /// Keeps what was chosen for the whole chunk.
    fn note(&mut self, choice: Choice) {
        self.chunk.choose_compression(choice.compression);
        self.choice = Some(choice);
    }

    /// Writes the values that the encoder holds as a page.
    fn write_values(
        &mut self,
        levels: &EncodedLevels,
        byte_array_bytes: usize,
        sink: &mut dyn PageSink,
    ) -> Result<()> {
        let PageValues {
            encoder,
            encoding,
            bounds,
            ..
        } = &mut self.values;
        let page = DataPage {
            levels,
            encoding: *encoding,
            bounds,
            byte_array_bytes,
        };
        self.chunk.data_page(
            &page,
            |front, out, cuts| encoder.finish_page_behind(front, out, cuts),
            sink,
        )?;
        *bounds = Bounds::new(&self.settings);
        Ok(())
    }

    fn write_indices(&mut self, page: &PendingPage, sink: &mut dyn PageSink) -> Result<()> {
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
        let packing = self.values.packing;
        let width = packing.width(page.num_entries);
        let append_indices = |front: &[u8], out: &mut Vec<u8>, _: &mut Vec<usize>| {
            out.extend_from_slice(front);
            out.push(width);
            hybrid::encode_u32(&page.indices, width, packing.runs, out);
            0
        };
        self.chunk.data_page(&data_page, append_indices, sink)
    }

    /// The column chunk, whose last pages go to the sink.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn finish(self, sink: &mut dyn PageSink) -> Result<EndedColumn> {
        let settings = self.settings.clone();
        self.finish_chunk(sink)
            .map_err(|error| error.in_column(settings.leaf.path.join(".")))
    }

    fn finish_chunk(mut self, sink: &mut dyn PageSink) -> Result<EndedColumn> {
        if self.page.num_rows() > 0 {
            self.finish_page(sink)?;
        }
        if matches!(self.values.phase, Phase::Undecided | Phase::Doubted) {
            self.decide(sink)?;
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
        let is_sorted = self.values.is_sorted();
        let has_dictionary = dictionary.is_some();
        let extent = (self.chunk.num_levels(), has_dictionary);
        let earlier = self.values.earlier.as_ref();
        let chosen = self.choice.as_ref().zip(self.levels);
        let next =
            chosen.map(|(choice, levels)| EarlierChoice::new(choice, levels, extent, earlier));
        let estimates = self.choice.map(|choice| choice.estimates);
        let choice = (self.values.stored_as(), estimates.unwrap_or_default(), next);
        self.chunk.finish(
            choice,
            dictionary.map(|dictionary| DictionaryEntries {
                plain: dictionary.plain(),
                num_values: dictionary.num_values(),
                is_sorted,
            }),
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
