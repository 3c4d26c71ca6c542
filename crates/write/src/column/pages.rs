//! Ends pages, choosing how their values are stored and writing them as indices or values.

use std::mem;

use herringbone_core::bloom_filter::BloomFilterBuilder;
use herringbone_core::encoding::dictionary::Dictionary;
use herringbone_core::encoding::physical_values::PlainSize;
use herringbone_core::levels::EncodedLevels;
use herringbone_format::Result;

use super::{ColumnWriter, Extent};
use crate::choice::{CarriedChoice, Choice, choose_levels};
use crate::chunk::{ChunkBuilder, DictionaryEntries, EndedColumn};
use crate::observers::Observers;
use crate::page::PageSink;
use crate::page_values::{
    ChunkDictionary, DictionaryTrial, EncodedValues, IndexedValues, PageValues, PendingPage,
    SampledTrial,
};

impl ColumnWriter {
    /// Returns the maximum number of rows in the page. While the dictionary is on trial, the first two pages are
    /// shorter, since indices are narrow while it is small. This doesn't apply to content-defined pages.
    pub(super) fn page_rows(&self) -> usize {
        let rows = self.settings.page_rows;
        match self.values.pages_on_trial() {
            _ if self.chunker.is_some() => rows,
            Some(0) => (rows / 4).max(1),
            Some(1) => (rows / 2).max(1),
            _ => rows,
        }
    }

    /// Returns true if no more rows belong to the page.
    pub(super) fn page_is_full(&self) -> bool {
        let bytes = self.values.page_bytes(self.page_size);
        self.page.num_rows() >= self.page_rows()
            || bytes + self.page.num_levels() / 4 >= self.settings.page_bytes
            || (self.page.num_rows() > 0 && self.values.must_end_page(&self.settings))
    }

    /// Writes or buffers the page under construction and starts the next one.
    pub(super) fn finish_page(&mut self, sink: &mut dyn PageSink) -> Result<()> {
        self.choose_levels()?;
        let levels = self.page.finish_page();
        self.segment = Extent::default();
        let size = mem::take(&mut self.page_size);
        let settings = &*self.settings;
        match &mut self.values {
            PageValues::DictionaryTrial(trial) => trial.end_page(settings, levels, size),
            PageValues::SampledTrial(trial) => {
                trial.end_page(settings, levels, size)?;
                self.values.resume_if_repeated(settings, self.carried)?;
            }
            PageValues::Indexed(values) => {
                values.end_page(settings, levels, size, &mut self.chunk, sink)?;
            }
            PageValues::Encoded(_) => self.end_encoded_page(&levels, size, sink)?,
            PageValues::Failed => {}
        }
        if self.values.is_decision_due(&self.settings) {
            self.decide(sink)?;
        }
        self.values.end_full_dictionary(&self.settings)
    }

    /// Chooses the level form from the first page's levels.
    fn choose_levels(&mut self) -> Result<()> {
        if self.levels.is_some() {
            return Ok(());
        }
        let num_levels = self.page.num_levels();
        let carried = self.carried;
        let form = match carried.filter(|carried| carried.applies_to(num_levels)) {
            Some(carried) => carried.levels,
            None => choose_levels(&self.settings, &self.page)?,
        };
        self.page.choose_runs(form.runs);
        self.chunk.choose_version(form.version);
        self.levels = Some(form);
        Ok(())
    }

    /// Writes a page of values outside the dictionary. If the page's encoding is on trial, this chooses it first.
    fn end_encoded_page(
        &mut self,
        levels: &EncodedLevels,
        size: PlainSize,
        sink: &mut dyn PageSink,
    ) -> Result<()> {
        let settings = self.settings.clone();
        let PageValues::Encoded(values) = &mut self.values else {
            return Ok(());
        };
        let mut is_chosen = None;
        if values.is_on_trial() {
            let num_values = levels.num_levels - levels.num_nulls;
            let choice = values.choose(&settings, self.carried, num_values)?;
            is_chosen = Some(choice.is_sampled());
            if values.are_all_values() {
                record_choice(&mut self.chunk, &mut self.choice, choice);
            }
        }
        let bytes = size.byte_array_bytes;
        values.write_page(&settings, levels, bytes, &mut self.chunk, sink)?;
        match is_chosen {
            Some(is_chosen) => values.after_choice(&settings, is_chosen),
            None => values.after_page(&settings),
        }
    }

    /// Writes the buffered pages as indices or as values, whichever is cheaper.
    fn decide(&mut self, sink: &mut dyn PageSink) -> Result<()> {
        self.values = match mem::take(&mut self.values) {
            PageValues::DictionaryTrial(trial) => self.end_dictionary_trial(trial, sink)?,
            PageValues::SampledTrial(trial) => self.end_sampled_trial(trial, sink)?,
            other => other,
        };
        Ok(())
    }

    /// Writes the buffered pages of indices and returns the form of the following pages.
    fn end_dictionary_trial(
        &mut self,
        trial: DictionaryTrial,
        sink: &mut dyn PageSink,
    ) -> Result<PageValues> {
        let settings = &*self.settings;
        let choice = trial.choose(settings, self.carried)?;
        let DictionaryTrial {
            dictionary,
            page,
            pending,
            ..
        } = trial;
        let (encoding, mut pages) = (choice.encoding, pending.pages);
        let Some(form) = choice.indices else {
            let mut values = EncodedValues::new(settings, encoding)?;
            record_choice(&mut self.chunk, &mut self.choice, choice);
            self.write_as_values(dictionary, pages, &mut values, sink)?;
            return Ok(PageValues::Encoded(values));
        };
        let mut dictionary = ChunkDictionary::new(dictionary, form.packing);
        if let Some(order) = &choice.order {
            dictionary.sort(order, &mut pages);
        }
        record_choice(&mut self.chunk, &mut self.choice, choice);
        for page in &pages {
            dictionary.write_page(settings, page, &mut self.chunk, sink)?;
        }
        Ok(PageValues::Indexed(IndexedValues {
            dictionary,
            page,
            encoding,
        }))
    }

    /// Writes a trial's buffered pages as values and returns the form of the following pages.
    fn end_sampled_trial(
        &mut self,
        mut trial: SampledTrial,
        sink: &mut dyn PageSink,
    ) -> Result<PageValues> {
        let settings = self.settings.clone();
        let Some(choice) = trial.choose(&settings, self.carried)? else {
            let trial = trial.into_dictionary_trial(&settings)?;
            return self.end_dictionary_trial(trial, sink);
        };
        let mut values = EncodedValues::new(&settings, choice.encoding)?;
        record_choice(&mut self.chunk, &mut self.choice, choice);
        let (dictionary, pages) = (trial.dictionary, trial.pages);
        self.write_as_values(dictionary, trial.pending.pages, &mut values, sink)?;
        for mut page in pages {
            values.append_trial_page(&settings, &mut page, &mut self.observers)?;
            let (levels, bytes) = (&page.levels, page.size.byte_array_bytes);
            values.write_page(&settings, levels, bytes, &mut self.chunk, sink)?;
        }
        Ok(PageValues::Encoded(values))
    }

    /// Writes pages of indices as values, dropping the dictionary.
    fn write_as_values(
        &mut self,
        dictionary: Dictionary,
        pages: Vec<PendingPage>,
        values: &mut EncodedValues,
        sink: &mut dyn PageSink,
    ) -> Result<()> {
        let mut dictionary = Some(dictionary);
        let last = pages.len().saturating_sub(1);
        for (at, page) in pages.into_iter().enumerate() {
            let observers = &mut self.observers;
            // We drop the dictionary before encoding the last page, so that both don't take memory at once.
            let last_dictionary = if at == last { dictionary.take() } else { None };
            if let Some(dictionary) = last_dictionary.as_ref().or(dictionary.as_ref()) {
                dictionary.with_values(page.indices.iter().copied(), |all| {
                    values.append(all, observers)
                })?;
            }
            drop(last_dictionary);
            let (levels, bytes) = (&page.levels, page.byte_array_bytes);
            values.write_page(&self.settings, levels, bytes, &mut self.chunk, sink)?;
        }
        Ok(())
    }

    /// Finishes the column chunk, passing its last pages to the sink.
    ///
    /// # Errors
    /// Fails for the reasons that [`Self::write`] lists.
    pub fn finish(self, sink: &mut dyn PageSink) -> Result<EndedColumn> {
        let settings = self.settings.clone();
        self.finish_chunk(sink)
            .map_err(|error| error.in_column(settings.leaf.path.join(".")))
    }

    fn finish_chunk(mut self, sink: &mut dyn PageSink) -> Result<EndedColumn> {
        if self.page.num_rows() > 0 {
            self.finish_page(sink)?;
        }
        self.decide(sink)?;
        let stored_as = self.values.stored_as()?;
        let dictionary = self.values.dictionary();
        if let Some(dictionary) = dictionary
            && !self.observers.is_empty()
        {
            let (entries, observers) = (&dictionary.entries, &mut self.observers);
            entries.with_values(entries.used(), |values| observers.insert(values));
        }
        let only_indices = matches!(self.values, PageValues::Indexed(_));
        let distinct = dictionary
            .filter(|_| only_indices)
            .map(|dictionary| dictionary.entries.used().count());
        let Observers {
            bloom_filter,
            statistics,
        } = self.observers;
        let statistics = statistics.map(|statistics| statistics.finish());
        let has_dictionary = dictionary.is_some();
        let extent = (self.chunk.num_levels(), has_dictionary);
        let carried = self.carried.as_ref();
        let chosen = self.choice.as_ref().zip(self.levels);
        let next =
            chosen.map(|(choice, levels)| CarriedChoice::new(choice, levels, extent, carried));
        let estimates = self.choice.map(|choice| choice.estimates);
        let choice = (stored_as, estimates.unwrap_or_default(), next);
        let mut ended = self.chunk.finish(
            choice,
            dictionary.map(|dictionary| DictionaryEntries {
                plain: dictionary.entries.plain(),
                num_values: dictionary.entries.num_values(),
                is_sorted: dictionary.is_sorted(),
            }),
            distinct.map(|count| count as u64),
            statistics.unwrap_or_default(),
            bloom_filter.map(BloomFilterBuilder::finish),
        )?;
        ended.chunker = self.chunker;
        Ok(ended)
    }
}

/// Records the choice made for the whole chunk.
fn record_choice(chunk: &mut ChunkBuilder, recorded: &mut Option<Choice>, choice: Choice) {
    chunk.choose_compression(choice.compression);
    *recorded = Some(choice);
}
