//! Values buffered because nearly all values were new to a dictionary, which then receives only a sample of them.
//!
//! Such a dictionary is usually given up in the end, and looking up new values is most of the work of writing them. But
//! it can still pay if values repeat cyclically, or if the data changes. We therefore buffer the rest of the page and a
//! few more pages as values. The dictionary receives only a sample of them, from which we predict its size for all
//! values.

use std::mem;
use std::ops::Range;

use herringbone_core::encoding::ValueEncoder;
use herringbone_core::encoding::dictionary::Dictionary;
use herringbone_core::encoding::physical_values::{PlainSize, Slots, Values, with_plain};
use herringbone_core::levels::EncodedLevels;
use herringbone_format::{Encoding, Result};
use herringbone_schema::WriteLeaf;

use super::dictionary_trial::{DictionaryTrial, entry_sizes};
use super::indexed_values::PendingPages;
use crate::bounds::Bounds;
use crate::choice::{CarriedChoice, Choice, choose_for_trial_page};
use crate::dictionary_growth::{Counts, Growth, SAMPLED_TRIAL_ENDS_AFTER};
use crate::settings::ColumnSettings;

/// The number of values in a block of a page. The dictionary is tested with the start of each block.
const BLOCK_VALUES: usize = 512;

/// The number of values at the start of a block with which the dictionary is tested.
const SAMPLED_VALUES: usize = 64;

/// The share of a rejected dictionary's bytes per value that a new dictionary may take to be tried. It is below one,
/// because only sizes after the codec show which form is better, and these are sizes before the codec.
const BETTER_THAN_REJECTED: f64 = 0.75;

/// Values that the dictionary may still receive.
pub(crate) struct SampledTrial {
    pub(crate) dictionary: Dictionary,
    /// The memory for the indices of tested values, which are not used themselves.
    indices: Vec<u32>,
    /// The pages of indices finished before this trial.
    pub(crate) pending: PendingPages,
    pub(super) counts: SampledCounts,
    /// The finished pages. The first values of the first page may already be in the dictionary, because the trial began
    /// after them.
    pub(crate) pages: Vec<TrialPage>,
    /// The encoder of the page under construction, which has the page's values in PLAIN.
    pub(super) encoder: Box<dyn ValueEncoder>,
    /// The bounds of the values in the page under construction.
    pub(super) bounds: Bounds,
}

impl SampledTrial {
    /// Creates a trial without values.
    ///
    /// # Errors
    /// Fails with `Argument` if PLAIN does not support the column's type.
    pub(super) fn new(settings: &ColumnSettings, dictionary: Dictionary) -> Result<Self> {
        Ok(Self {
            dictionary,
            indices: Vec::new(),
            pending: PendingPages::default(),
            counts: SampledCounts::default(),
            pages: Vec::new(),
            encoder: settings.value_encoder(Encoding::Plain)?,
            bounds: Bounds::new(settings),
        })
    }

    /// Appends values to the page under construction, and a sample of them to the dictionary.
    pub(super) fn append(&mut self, values: &Values<'_>) -> Result<()> {
        self.encoder.append(values)?;
        self.bounds.update(values);
        for part in self.counts.add(values.num_values()) {
            self.counts.sampled_values += part.len();
            self.indices.clear();
            let part = Slots::Values(values.slice(part));
            self.dictionary.append(&part, &mut self.indices)?;
        }
        self.indices.clear();
        Ok(())
    }

    /// Buffers the page of values until its form is decided.
    ///
    /// # Errors
    /// Fails with `Argument` if PLAIN does not support the column's type.
    pub(crate) fn end_page(
        &mut self,
        settings: &ColumnSettings,
        levels: EncodedLevels,
        size: PlainSize,
    ) -> Result<()> {
        let next = settings.value_encoder(Encoding::Plain)?;
        self.counts.end_page();
        self.pages.push(TrialPage {
            levels,
            encoder: mem::replace(&mut self.encoder, next),
            size,
            bounds: mem::replace(&mut self.bounds, Bounds::new(settings)),
        });
        Ok(())
    }

    /// Returns the number of finished pages, including the pages before this trial.
    pub(super) fn num_pages(&self) -> usize {
        self.pending.pages.len() + self.pages.len()
    }

    /// Returns true if the tested values show that the dictionary will pay. `carried` is the choice for the previous
    /// row group.
    pub(crate) fn will_pay_off(
        &self,
        settings: &ColumnSettings,
        carried: Option<CarriedChoice>,
    ) -> bool {
        let before = self.counts.before;
        let growth = Growth {
            first: Counts::default(),
            before,
            now: Counts {
                values: before.values + self.counts.sampled_values,
                entries: self.dictionary.num_values(),
            },
        };
        let mut sizes = entry_sizes(&self.dictionary, settings);
        if let Some(rejected) = self.reused(carried).and_then(|carried| carried.rejected) {
            sizes.value = sizes.value.min(rejected * BETTER_THAN_REJECTED);
        }
        growth.will_pay_off(sizes)
    }

    /// Returns true if the trial ends because no values repeated for long enough.
    pub(crate) fn is_over(&self) -> bool {
        self.counts.all_values() >= SAMPLED_TRIAL_ENDS_AFTER
    }

    /// Adds the values of the finished pages to the dictionary. The page under construction must be empty.
    ///
    /// # Errors
    /// Fails with `Corrupt` if a page does not have its number of values.
    pub(crate) fn into_dictionary_trial(
        self,
        settings: &ColumnSettings,
    ) -> Result<DictionaryTrial> {
        let mut trial = DictionaryTrial::new(settings, self.dictionary);
        trial.pending = self.pending;
        for mut page in self.pages {
            page.with_values(&settings.leaf, |_, values, _| {
                trial.append(&Slots::Values(values.slice(0..values.num_values())))
            })?;
            trial.end_page(settings, page.levels, page.size);
        }
        Ok(trial)
    }

    /// Chooses the form of the finished pages and of the pages after them, by the longest page. Returns `None` if no
    /// page is finished. `carried` is the choice for the previous row group.
    ///
    /// # Errors
    /// Fails with `Feature` if the codec is not compiled in, and with `Io` if its library fails.
    pub(crate) fn choose(
        &mut self,
        settings: &ColumnSettings,
        carried: Option<CarriedChoice>,
    ) -> Result<Option<Choice>> {
        let carried = self.reused(carried).filter(CarriedChoice::is_values);
        let pages = self.pages.iter_mut();
        let Some(page) = pages.max_by_key(|page| page.num_values()) else {
            return Ok(None);
        };
        Ok(Some(match carried {
            Some(carried) => carried.reuse(),
            None => choose_for_trial_page(settings, page)?,
        }))
    }

    /// Returns the choice for the previous row group, if it applies to all values.
    fn reused(&self, carried: Option<CarriedChoice>) -> Option<CarriedChoice> {
        carried.filter(|carried| carried.applies_to(self.counts.all_values()))
    }

    pub(super) fn estimated_bytes(&self) -> usize {
        let pages = self.pages.iter().map(|page| page.size.bytes);
        self.dictionary.plain_bytes()
            + self.pending.estimated_bytes()
            + pages.sum::<usize>()
            + self.encoder.page_bytes()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.dictionary.heap_bytes()
            + size_of::<u32>() * self.indices.capacity()
            + self.pending.heap_bytes()
            + self.pages.iter().map(TrialPage::heap_bytes).sum::<usize>()
            + self.encoder.heap_bytes()
            + self.bounds.heap_bytes()
    }
}

/// The numbers of values in a sampled trial.
#[derive(Debug, Default)]
pub(super) struct SampledCounts {
    /// The dictionary's counts when the trial began.
    before: Counts,
    /// The number of values since the trial began.
    num_values: usize,
    /// The number of values counted in the page under construction.
    page_values: usize,
    /// The number of values with which the dictionary was tested.
    sampled_values: usize,
}

impl SampledCounts {
    /// Creates the counts for a trial without values, which follows `before.values` values.
    pub(super) fn after(before: Counts) -> Self {
        Self {
            before,
            ..Self::default()
        }
    }

    /// Returns the number of values in the chunk, including the values before the trial.
    fn all_values(&self) -> usize {
        self.before.values + self.num_values
    }

    /// Counts `num_values` values of the page under construction. Returns the ranges of these values with which the
    /// dictionary is tested.
    fn add(&mut self, num_values: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let first = self.page_values;
        self.page_values += num_values;
        self.num_values += num_values;
        let parts = tested(first..self.page_values);
        parts.map(move |part| part.start - first..part.end - first)
    }

    /// Starts the next page.
    fn end_page(&mut self) {
        self.page_values = 0;
    }
}

/// A page of values that the dictionary may still receive.
pub(crate) struct TrialPage {
    pub(crate) levels: EncodedLevels,
    /// The encoder, which contains the page's values in PLAIN.
    pub(crate) encoder: Box<dyn ValueEncoder>,
    pub(crate) size: PlainSize,
    pub(crate) bounds: Bounds,
}

impl TrialPage {
    pub(crate) fn num_values(&self) -> usize {
        self.levels.num_levels - self.levels.num_nulls
    }

    /// Takes the values out of the encoder. Passes them to `visit`, together with the emptied encoder and the values'
    /// size in bytes.
    pub(crate) fn with_values<R>(
        &mut self,
        leaf: &WriteLeaf,
        visit: impl FnOnce(&mut dyn ValueEncoder, &Values<'_>, usize) -> Result<R>,
    ) -> Result<R> {
        let mut plain = Vec::new();
        self.encoder.finish_page(&mut plain, &mut Vec::new());
        let (physical_type, type_length) = (leaf.physical_type, leaf.type_length);
        with_plain(
            physical_type,
            type_length,
            &plain,
            self.num_values(),
            |values| visit(&mut *self.encoder, values, plain.len()),
        )
    }

    fn heap_bytes(&self) -> usize {
        size_of::<Self>()
            + self.levels.heap_bytes()
            + self.encoder.heap_bytes()
            + self.bounds.heap_bytes()
    }
}

/// Returns the parts of `range`, a range of a page's values, that the dictionary receives. The parts depend only on the
/// positions in the page, and not on the batches in which values arrive.
fn tested(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let blocks = range.start / BLOCK_VALUES..range.end.div_ceil(BLOCK_VALUES);
    let parts = blocks.map(move |block| {
        let start = block * BLOCK_VALUES;
        start.max(range.start)..(start + SAMPLED_VALUES).min(range.end)
    });
    parts.filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_values_are_tested_however_they_come_in() {
        let all: Vec<usize> = tested(0..1600).flatten().collect();
        let expected: Vec<usize> = (0..64)
            .chain(512..576)
            .chain(1024..1088)
            .chain(1536..1600)
            .collect();
        assert_eq!(all, expected);
        for step in [1, 7, 64, 100, 512, 1000] {
            let ranges = (0..1600_usize).step_by(step);
            let ranges = ranges.map(|at| at..(at + step).min(1600));
            assert_eq!(ranges.flat_map(tested).flatten().collect::<Vec<_>>(), all);
        }
        assert_eq!(tested(70..500).count(), 0);
    }

    #[test]
    fn each_page_has_tested_values_of_its_own() {
        let mut counts = SampledCounts::after(Counts {
            values: 1024,
            entries: 1020,
        });
        assert_eq!(counts.add(500).flatten().count(), 64);
        assert_eq!(counts.all_values(), 1524);
        counts.end_page();
        // A new page starts with tested values again.
        assert_eq!(counts.add(10).collect::<Vec<_>>(), [0..10]);
        assert_eq!(counts.all_values(), 1534);
    }
}
