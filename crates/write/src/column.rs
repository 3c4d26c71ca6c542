//! One column of the row group under construction.
//!
//! Rows are processed in blocks: levels, then values without nulls, then indices or encoded values. A page ends when
//! it has enough rows or bytes, or by its content with content-defined chunking. It always ends with a whole row, and never because an input array ends. The page is
//! then passed to a [`PageSink`], so that no later page waits for the remaining work on it.
//!
//! The storage of values is chosen only after some pages ([`choice`](super::choice)). Until then, their indices are
//! buffered. Then all are written as indices, or all as values, and in the second case the dictionary is dropped. If
//! nearly all values were new to the dictionary, they are buffered as values meanwhile
//! ([`sampled_trial`](super::sampled_trial)). A dictionary that grows too large later is closed: pages after that are
//! written as values, and earlier pages stay. Without a dictionary, the values of the first page are buffered for the
//! choice, and from time to time those of a later one.
//!
//! An Arrow dictionary column has a whole dictionary, in its own order, including values that no slot uses. It is
//! copied unchanged before the slots are processed, unless it is unordered and too large.

use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::{Array, ArrayRef};
use herringbone_arrow::schema::DataType;
use herringbone_format::modular_encryption::ChunkCipher;
use herringbone_format::{Encoding, Error, Result};
use herringbone_kernels::hybrid;

use super::bounds::Bounds;
use super::choice::{CarriedChoice, Choice, LevelForm, choose_levels, usual_runs};
use super::chunk::{ChunkBuilder, DataPage, DictionaryEntries, EndedColumn};
use super::column_statistics::ColumnStatistics;
use super::content_defined::{Chunker, RowLevels};
use super::dictionary_growth::sampled_trial_after;
use super::levels::{LeafLevels, LeafPath, leaf_levels};
use super::observers::{Observers, bloom_filter};
use super::page::PageSink;
use super::page_values::{PageValues, PendingPage, Phase};
use super::sampled_trial::TrialPage;
use super::settings::ColumnSettings;
use herringbone_core::array::dictionary::{Keyed, slots};
use herringbone_core::array::{Scratch, Selected, values};
use herringbone_core::bloom_filter::BloomFilterBuilder;
use herringbone_core::encoding::physical_values::{PlainSize, Slots, Values, plain_width};
use herringbone_core::levels::{EncodedLevels, PageLevels};

/// The maximum number of rows in a segment of a column whose rows differ in size.
const BLOCK_ROWS: usize = 4096;

/// The maximum number of rows in a segment of a list column before its first page is finished. Lists have many values
/// in few rows, so that a sampled trial may begin soon.
const FIRST_LISTS: usize = 512;

/// The maximum number of values in a page. This is far below what its header can count.
const MAX_PAGE_VALUES: usize = 1 << 28;

/// One column of the row group under construction.
pub struct ColumnWriter {
    settings: Arc<ColumnSettings>,
    path: Arc<LeafPath>,
    page: PageLevels,
    /// The size of the page's values in PLAIN.
    page_size: PlainSize,
    /// The rows collected since the last check for a full page.
    segment: Extent,
    /// True if the rows offered last would exceed [`MAX_PAGE_VALUES`] in the page.
    is_counted_out: bool,
    /// The form of the stored levels, once it is chosen.
    levels: Option<LevelForm>,
    values: PageValues,
    /// The form of the stored values, once it is chosen.
    choice: Option<Choice>,
    chunk: ChunkBuilder,
    observers: Observers,
    /// The hash of the rows so far, if pages end by their content.
    chunker: Option<Chunker>,
    /// The values of the last preloaded Arrow dictionary.
    preloaded: Option<ArrayRef>,
}

/// Memory reused for each block of any column. There is one per thread, so that it stays in the cache. No column
/// counts it as its own memory.
pub struct BlockMemory {
    levels: LeafLevels,
    scratch: Scratch,
    keyed: Keyed,
}

/// The maximum number of bytes of [`BlockMemory`] retained between blocks. Most blocks need less, and anything larger
/// is freed.
const MAX_RETAINED_BYTES: usize = 2 << 20;

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
    /// Drops the arrays, and frees the memory if it is more than most blocks need.
    fn release(&mut self) {
        self.levels.release();
        let reserved =
            self.levels.heap_bytes() + self.scratch.heap_bytes() + self.keyed.heap_bytes();
        if reserved > MAX_RETAINED_BYTES {
            *self = Self::default();
        }
    }
}

/// The size of some rows.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    rows: usize,
    /// Bits of the values in PLAIN, plus two bits per level.
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
    /// Creates an empty column chunk whose pages are encrypted with `cipher`. `before` is the column's
    /// chunk in the previous row group.
    ///
    /// # Errors
    /// Argument if the encoding does not support the column's type.
    pub(crate) fn new(
        settings: Arc<ColumnSettings>,
        path: Arc<LeafPath>,
        cipher: Option<ChunkCipher>,
        statistics: Option<Box<dyn ColumnStatistics>>,
        before: Option<&EndedColumn>,
    ) -> Result<Self> {
        let carried = before.and_then(|before| before.choice);
        let chunker = before.and_then(|before| before.chunker);
        let leaf = &settings.leaf;
        let runs = usual_runs(settings.compression);
        Ok(Self {
            page: PageLevels::new(leaf.max_def_level, leaf.max_rep_level, runs),
            page_size: PlainSize::default(),
            segment: Extent::default(),
            is_counted_out: false,
            levels: None,
            values: PageValues::new(settings.clone(), carried)?,
            choice: None,
            chunk: ChunkBuilder::new(settings.clone(), cipher),
            observers: Observers {
                bloom_filter: bloom_filter(&settings)?,
                statistics,
            },
            chunker: chunker.or(settings.chunker),
            preloaded: None,
            path,
            settings,
        })
    }

    /// Returns the approximate bytes that the chunk will take in the file, without pages already passed to the sink.
    pub fn estimated_bytes(&self) -> usize {
        self.values.estimated_bytes()
    }

    /// Returns the number of reserved bytes, without pages already passed to the sink.
    pub fn heap_bytes(&self) -> usize {
        self.chunk.heap_bytes()
            + self.values.heap_bytes()
            + self.page.heap_bytes()
            + self.observers.heap_bytes()
    }

    /// Appends rows of the top-level array that contains the column, and passes full pages to the sink. The memory may
    /// differ from call to call.
    ///
    /// # Errors
    /// Argument if a value cannot be stored; Limit if one is too large for the format; errors of the sink.
    pub fn write(
        &mut self,
        array: &ArrayRef,
        rows: Range<usize>,
        memory: &mut BlockMemory,
        sink: &mut dyn PageSink,
    ) -> Result<()> {
        let written = match self.chunker {
            None => self.write_rows(array, rows, memory, sink),
            Some(_) => self.write_chunked(array, rows, memory, sink),
        };
        memory.release();
        written.map_err(|error| error.in_column(self.settings.leaf.path.join(".")))
    }

    /// Writes rows whose pages end by their content.
    fn write_chunked(
        &mut self,
        array: &ArrayRef,
        rows: Range<usize>,
        memory: &mut BlockMemory,
        sink: &mut dyn PageSink,
    ) -> Result<()> {
        let mut at = rows.start;
        while at < rows.end {
            let block = at..rows.end.min(at + BLOCK_ROWS);
            for start in self.page_starts(array, block.clone(), memory)? {
                let start = block.start + start;
                self.write_rows(array, at..start, memory, sink)?;
                if self.page.num_rows() > 0 {
                    self.finish_page(sink)?;
                }
                at = start;
            }
            self.write_rows(array, at..block.end, memory, sink)?;
            at = block.end;
        }
        Ok(())
    }

    /// Returns the rows that begin pages because of their content, relative to the first of `rows`.
    fn page_starts(
        &mut self,
        array: &ArrayRef,
        rows: Range<usize>,
        memory: &mut BlockMemory,
    ) -> Result<Vec<usize>> {
        leaf_levels(&self.path, array, rows.clone(), &mut memory.levels)?;
        let leaf = &self.settings.leaf;
        let BlockMemory {
            levels,
            scratch,
            keyed,
        } = memory;
        let slots = match slots(leaf, levels.selected(), scratch, keyed) {
            Ok(slots) => slots,
            Err(error) => return Err(self.in_row(array, rows, error, memory)),
        };
        let levels = RowLevels {
            num_rows: rows.len(),
            rep: &levels.rep,
            def: &levels.def,
            max_def: leaf.max_def_level,
        };
        let chunker = self.chunker.as_mut();
        Ok(chunker.map_or_else(Vec::new, |it| it.page_starts(&levels, &slots)))
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

    /// Returns the maximum number of rows of a segment: as many as a page may have if all rows have the same size.
    fn block_rows(&self, array: &ArrayRef) -> usize {
        let leaf = &self.settings.leaf;
        let same_size = leaf.max_rep_level == 0
            && (plain_width(leaf.physical_type, leaf.type_length).is_some()
                || matches!(array.data_type(), DataType::Dictionary(..)));
        let is_first =
            self.values.phase == Phase::DictionaryTrial && self.values.pending.is_empty();
        match same_size {
            true if is_first => {
                sampled_trial_after(self.settings.row_group_values()).min(self.settings.page_rows)
            }
            // Pages that end by their content have no number of rows.
            true if self.chunker.is_some() => BLOCK_ROWS.min(self.settings.page_rows),
            true => self.settings.page_rows,
            false if leaf.max_rep_level > 0 && is_first => FIRST_LISTS,
            false => BLOCK_ROWS,
        }
    }

    /// Checks whether the rows collected since the last check fill the page. A page ends only here. Its end depends on
    /// the rows alone, not on the arrays that contained them. `is_full` is true if the next row does not fit.
    fn end_segment(&mut self, is_full: bool, sink: &mut dyn PageSink) -> Result<()> {
        self.segment.rows = 0;
        if self.values.may_be_indices() {
            self.segment.bits = 0;
        }
        if self.values.is_unlikely_to_pay_off() {
            self.values.begin_sampled_trial()?;
        }
        // Values do not fit if the page is full. Indices do not fit if no more values can be counted.
        let has_no_room = is_full && (!self.values.may_be_indices() || self.is_counted_out);
        if has_no_room || self.page_is_full() {
            self.finish_page(sink)?;
        }
        Ok(())
    }

    /// Appends as many of the rows as fit. Returns their number.
    fn append_fitting(
        &mut self,
        array: &ArrayRef,
        rows: Range<usize>,
        memory: &mut BlockMemory,
    ) -> Result<usize> {
        if self.append(array, rows.clone(), memory)? {
            return Ok(rows.len());
        }
        // Fewer than `limit` rows from `at` on fit.
        let (mut at, mut limit) = (rows.start, rows.len());
        while limit > 1 {
            let half = limit / 2;
            if self.append(array, at..at + half, memory)? {
                at += half;
                limit -= half;
            } else {
                limit = half;
            }
        }
        Ok(at - rows.start)
    }

    /// Appends all rows and returns true, or returns false if they do not all fit. One row always fits at the start.
    fn append(
        &mut self,
        array: &ArrayRef,
        rows: Range<usize>,
        memory: &mut BlockMemory,
    ) -> Result<bool> {
        let num_rows = rows.len();
        let all = rows.clone();
        leaf_levels(&self.path, array, rows, &mut memory.levels)?;
        self.preload_dictionary(memory)?;
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

    /// Copies the values of the Arrow dictionary, if they are to be restored on reading, and are not too large.
    fn preload_dictionary(&mut self, memory: &mut BlockMemory) -> Result<()> {
        let settings = &self.settings;
        let are_indices = self.values.are_indices();
        let (Some(_), Some(dictionary)) = (
            settings.preserve_arrow_dictionary,
            &mut self.values.dictionary,
        ) else {
            return Ok(());
        };
        let Some(array) = memory.levels.leaf.as_any_dictionary_opt() else {
            return Ok(());
        };
        let entries = array.values();
        // Run-end encoded values do not have an order of their own.
        if entries.data_type() != &settings.leaf.data_type
            || !are_indices
            || self
                .preloaded
                .as_ref()
                .is_some_and(|it| is_same(it, entries))
        {
            return Ok(());
        }
        self.preloaded = Some(entries.clone());
        let selected = Selected {
            array: entries,
            nulls: entries.nulls(),
            ranges: &[0..entries.len()],
        };
        let values = match values(&settings.leaf, selected, &mut memory.scratch) {
            Ok(values) => Slots::Values(values),
            Err(error) if settings.keeps_order() => return Err(error),
            // An invalid value that no slot uses must not prevent the others from being written.
            Err(_) => return Ok(()),
        };
        let bytes = dictionary.plain_bytes() + values.plain_size().bytes;
        if let Slots::Values(values) = values
            && (settings.keeps_order() || bytes <= settings.dictionary_bytes)
        {
            dictionary.preload(&values)?;
            self.values.keeps_dictionary = true;
        }
        Ok(())
    }

    /// Finds the row that caused the error, and adds it to the message.
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

    /// Returns the maximum number of rows of the page. The first two pages are shorter while the dictionary is on
    /// trial, because its indices are narrow while it is small. Pages that end by their content are not.
    fn page_rows(&self) -> usize {
        let rows = self.settings.page_rows;
        let num_pages = self.values.pending.len() + self.values.sampled_trial.pages.len();
        match (self.values.phase, num_pages) {
            _ if self.chunker.is_some() => rows,
            (Phase::DictionaryTrial | Phase::SampledTrial, 0) => (rows / 4).max(1),
            (Phase::DictionaryTrial | Phase::SampledTrial, 1) => (rows / 2).max(1),
            _ => rows,
        }
    }

    fn page_is_full(&self) -> bool {
        let bytes = match self.values.phase {
            // The segment is the page, which ends if the next row does not fit.
            Phase::Values | Phase::EncodingTrial => 0,
            // Indices usually take two bytes or less.
            Phase::Dictionary => 2 * self.values.indices.len(),
            Phase::DictionaryTrial => self.page_size.bytes / 2,
            Phase::SampledTrial => self.page_size.bytes,
        };
        self.page.num_rows() >= self.page_rows()
            || bytes + self.page.num_levels() / 4 >= self.settings.page_bytes
            || (self.page.num_rows() > 0
                && (self.values.dictionary_is_full()
                    || self.values.cannot_pay_off()
                    || self.values.sampled_trial_ends()))
    }

    fn finish_page(&mut self, sink: &mut dyn PageSink) -> Result<()> {
        if self.levels.is_none() {
            let form = match self.values.reuse_for(self.page.num_levels()) {
                Some(carried) => carried.levels,
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
            Phase::EncodingTrial => {
                let choice = values.choose_by_buffered(levels.num_levels - levels.num_nulls)?;
                let is_chosen = choice.is_sampled();
                if values.dictionary.is_none() {
                    self.record_choice(choice);
                }
                self.write_values(&levels, size.byte_array_bytes, sink)?;
                return self.values.after_encoding_trial(is_chosen);
            }
            Phase::Dictionary => {
                let page = values.take_indices(levels, size);
                self.write_indices(&page, sink)?;
                self.values.indices = page.indices;
                self.values.indices.clear();
            }
            Phase::DictionaryTrial => {
                values.buffer_indices(levels, size);
                self.decide_if_due(sink)?;
            }
            Phase::SampledTrial => {
                values.buffer_trial_page(levels, size)?;
                self.decide_if_due(sink)?;
            }
        }
        if self.values.dictionary_is_full() {
            self.values.end_dictionary()?;
        }
        Ok(())
    }

    /// Continues after a buffered page.
    fn decide_if_due(&mut self, sink: &mut dyn PageSink) -> Result<()> {
        match self.values.is_decision_due() {
            true => self.decide(sink),
            false => Ok(()),
        }
    }

    /// Writes the buffered pages as indices or as values, whichever costs less.
    fn decide(&mut self, sink: &mut dyn PageSink) -> Result<()> {
        let choice = self.values.choose()?;
        self.record_choice(choice);
        let pending = std::mem::take(&mut self.values.pending);
        self.values.pending_values = 0;
        if self.values.phase == Phase::Dictionary {
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
            // The dictionary is dropped before the last page is encoded, so that both do not take memory at once.
            let last_dictionary = if at == last { dictionary.take() } else { None };
            if let Some(dictionary) = last_dictionary.as_ref().or(dictionary.as_ref()) {
                dictionary.with_values(page.indices.iter().copied(), |all| {
                    values.append_values(all, observers)
                })?;
            }
            drop(last_dictionary);
            self.write_values(&page.levels, page.byte_array_bytes, sink)?;
        }
        let trial = std::mem::take(&mut self.values.sampled_trial);
        trial
            .pages
            .into_iter()
            .try_for_each(|page| self.write_trial_page(page, sink))
    }

    /// Writes a page that the dictionary did not receive.
    fn write_trial_page(&mut self, mut page: TrialPage, sink: &mut dyn PageSink) -> Result<()> {
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

    /// Records the choice for the whole chunk.
    fn record_choice(&mut self, choice: Choice) {
        self.chunk.choose_compression(choice.compression);
        self.choice = Some(choice);
    }

    /// Writes the values in the encoder as a page.
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
            |front, out, section_starts| encoder.finish_page_after(front, out, section_starts),
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

    /// Finishes the column chunk, and passes its last pages to the sink.
    ///
    /// # Errors
    /// See [`Self::write`].
    pub fn finish(self, sink: &mut dyn PageSink) -> Result<EndedColumn> {
        let settings = self.settings.clone();
        self.finish_chunk(sink)
            .map_err(|error| error.in_column(settings.leaf.path.join(".")))
    }

    fn finish_chunk(mut self, sink: &mut dyn PageSink) -> Result<EndedColumn> {
        if self.page.num_rows() > 0 {
            self.finish_page(sink)?;
        }
        if matches!(
            self.values.phase,
            Phase::DictionaryTrial | Phase::SampledTrial
        ) {
            self.decide(sink)?;
        }
        let dictionary = self.values.dictionary.as_ref();
        if let Some(dictionary) = dictionary
            && !self.observers.is_empty()
        {
            let observers = &mut self.observers;
            dictionary.with_values(dictionary.used(), |values| observers.insert(values));
        }
        let only_indices = self.values.phase == Phase::Dictionary;
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
        let carried = self.values.carried.as_ref();
        let chosen = self.choice.as_ref().zip(self.levels);
        let next =
            chosen.map(|(choice, levels)| CarriedChoice::new(choice, levels, extent, carried));
        let estimates = self.choice.map(|choice| choice.estimates);
        let choice = (self.values.stored_as(), estimates.unwrap_or_default(), next);
        let mut ended = self.chunk.finish(
            choice,
            dictionary.map(|dictionary| DictionaryEntries {
                plain: dictionary.plain(),
                num_values: dictionary.num_values(),
                is_sorted,
            }),
            distinct.map(|count| count as u64),
            statistics.unwrap_or_default(),
            bloom_filter.map(BloomFilterBuilder::finish),
        )?;
        ended.chunker = self.chunker;
        Ok(ended)
    }
}

/// Returns true if both arrays share the same memory.
fn is_same(one: &ArrayRef, other: &ArrayRef) -> bool {
    Arc::ptr_eq(one, other) || one.to_data().ptr_eq(&other.to_data())
}
