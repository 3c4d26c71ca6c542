//! Ends pages: chooses how their values are stored, and writes them as indices or as values.

use herringbone_core::bloom_filter::BloomFilterBuilder;
use herringbone_core::levels::EncodedLevels;
use herringbone_format::{Encoding, Result};
use herringbone_kernels::hybrid;

use super::{ColumnWriter, Extent};
use crate::bounds::Bounds;
use crate::choice::{CarriedChoice, Choice, choose_levels};
use crate::chunk::{DataPage, DictionaryEntries, EndedColumn};
use crate::observers::Observers;
use crate::page::PageSink;
use crate::page_values::{PageValues, PendingPage, Phase};
use crate::sampled_trial::TrialPage;

impl ColumnWriter {
    /// Returns the maximum number of rows of the page. The first two pages are shorter while the dictionary is on
    /// trial, because its indices are narrow while it is small. Pages that end by their content are not.
    pub(super) fn page_rows(&self) -> usize {
        let rows = self.settings.page_rows;
        let num_pages = self.values.pending.len() + self.values.sampled_trial.pages.len();
        match (self.values.phase, num_pages) {
            _ if self.chunker.is_some() => rows,
            (Phase::DictionaryTrial | Phase::SampledTrial, 0) => (rows / 4).max(1),
            (Phase::DictionaryTrial | Phase::SampledTrial, 1) => (rows / 2).max(1),
            _ => rows,
        }
    }

    /// Returns true if no more rows belong to the page.
    pub(super) fn page_is_full(&self) -> bool {
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

    /// Writes or buffers the page under construction, and begins the next.
    pub(super) fn finish_page(&mut self, sink: &mut dyn PageSink) -> Result<()> {
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
        let index_bounds = match &page.bounds {
            Some(_) => Bounds::new(&self.settings),
            None => Bounds::of_indices(&self.settings, dictionary, &page.indices),
        };
        let data_page = DataPage {
            levels: &page.levels,
            encoding: Encoding::RleDictionary,
            bounds: page.bounds.as_ref().unwrap_or(&index_bounds),
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
            .map(|dictionary| dictionary.used().count());
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
