//! Values buffered because nearly all of them were new to a dictionary. The dictionary then only receives a sample.
//!
//! Such a dictionary is usually given up in the end, and looking up new values is most of the work of writing them. But
//! it can still pay off if values repeat cyclically, or if the data changes. So we buffer the rest of the page and a
//! few more pages as values. The dictionary only receives a sample, used to predict its size for all values.

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

/// The number of values in a page's block. Each block's start is tested on the dictionary.
const BLOCK_VALUES: usize = 512;

/// The number of values tested at the start of a block.
const SAMPLED_VALUES: usize = 64;

/// The share of a rejected dictionary's bytes per value at which a new dictionary is worth a try. It is below one,
/// since these are sizes before the codec, and only the sizes after it show which form is better.
const BETTER_THAN_REJECTED: f64 = 0.75;

/// Values that might still go to the dictionary.
pub(crate) struct SampledTrial {
    pub(crate) dictionary: Dictionary,
    /// Memory for the indices of tested values. The indices themselves are not used.
    indices: Vec<u32>,
    /// The index pages finished before this trial.
    pub(crate) pending: PendingPages,
    pub(super) counts: SampledCounts,
    /// The finished pages. The first page's first values might already be in the dictionary, since the trial started
    /// after them.
    pub(crate) pages: Vec<TrialPage>,
    /// The current page's encoder. It holds the page's values in PLAIN.
    pub(super) encoder: Box<dyn ValueEncoder>,
    /// The bounds of the current page's values.
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

    /// Appends values to the current page and a sample of them to the dictionary.
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

    /// Returns true if the tested values show that the dictionary will pay off. `carried` is the previous row group's
    /// choice.
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

    /// Returns true if the trial is over, because no values have repeated for long enough.
    pub(crate) fn is_over(&self) -> bool {
        self.counts.all_values() >= SAMPLED_TRIAL_ENDS_AFTER
    }

    /// Adds the finished pages' values to the dictionary. The current page must be empty.
    ///
    /// # Errors
    /// Fails with `Corrupt` if a page has the wrong number of values.
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

    /// Chooses the form of the finished pages and any later pages, based on the longest page. Returns `None` if no page
    /// is finished. `carried` is the previous row group's choice.
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

    /// Returns the previous row group's choice, if it applies to all values.
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

/// A sampled trial's value counts.
#[derive(Debug, Default)]
pub(super) struct SampledCounts {
    /// The dictionary's counts when the trial started.
    before: Counts,
    /// The number of values since the trial started.
    num_values: usize,
    /// The number of values counted in the current page.
    page_values: usize,
    /// The number of values tested on the dictionary.
    sampled_values: usize,
}

impl SampledCounts {
    /// Creates the counts for a trial that follows `before.values` values.
    pub(super) fn after(before: Counts) -> Self {
        Self {
            before,
            ..Self::default()
        }
    }

    /// Returns the chunk's number of values, including those before the trial.
    fn all_values(&self) -> usize {
        self.before.values + self.num_values
    }

    /// Counts `num_values` values of the current page, returning the ranges to test on the dictionary.
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

/// A page of values that might still go to the dictionary.
pub(crate) struct TrialPage {
    pub(crate) levels: EncodedLevels,
    /// The encoder. It holds the page's values in PLAIN.
    pub(crate) encoder: Box<dyn ValueEncoder>,
    pub(crate) size: PlainSize,
    pub(crate) bounds: Bounds,
}

impl TrialPage {
    pub(crate) fn num_values(&self) -> usize {
        self.levels.num_levels - self.levels.num_nulls
    }

    /// Takes the values out of the encoder, passing them to `visit` with the emptied encoder and their size in bytes.
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

/// Returns the parts of `range`, given in page positions, that go to the dictionary. They depend on these positions
/// only, and not on the batches that values arrive in.
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
        // Values 512 to 575 of the page are the next tested ones.
        assert_eq!(counts.add(100).collect::<Vec<_>>(), [12..76]);
        assert_eq!(counts.all_values(), 1624);
        counts.end_page();
        // A new page starts with tested values again.
        assert_eq!(counts.add(10).collect::<Vec<_>>(), [0..10]);
        assert_eq!(counts.all_values(), 1634);
    }
}
