//! Indices buffered until we know if the chunk gets a dictionary.

use herringbone_core::encoding::dictionary::Dictionary;
use herringbone_core::encoding::physical_values::{PlainSize, Slots};
use herringbone_core::levels::EncodedLevels;
use herringbone_format::Result;

use super::indexed_values::{IndexPage, PendingPages, is_full};
use super::sampled_trial::{SampledCounts, SampledTrial};
use crate::bounds::Bounds;
use crate::choice::{CarriedChoice, Choice, Indexed, choose};
use crate::dictionary_growth::{Counts, DECIDE_AFTER, EntrySizes, Growth, LAST_VALUES};
use crate::settings::ColumnSettings;

/// Indices that can still be converted to values.
pub(crate) struct DictionaryTrial {
    pub(crate) dictionary: Dictionary,
    pub(crate) page: IndexPage,
    pub(crate) pending: PendingPages,
    /// True if the dictionary is kept even if it saves nothing, since it has unused values.
    pub(super) keeps_dictionary: bool,
}

impl DictionaryTrial {
    pub(super) fn new(settings: &ColumnSettings, dictionary: Dictionary) -> Self {
        Self {
            dictionary,
            page: IndexPage::new(settings),
            pending: PendingPages::default(),
            keeps_dictionary: false,
        }
    }

    pub(super) fn append(&mut self, slots: &Slots<'_>) -> Result<()> {
        self.page.append(&mut self.dictionary, slots)
    }

    /// Buffers the page until its form is decided.
    pub(crate) fn end_page(
        &mut self,
        settings: &ColumnSettings,
        levels: EncodedLevels,
        size: PlainSize,
    ) {
        let page = self.page.take(settings, &self.dictionary, levels, size);
        self.pending.push(page, size.bytes);
    }

    pub(super) fn num_pages(&self) -> usize {
        self.pending.pages.len()
    }

    /// Returns true if the dictionary accepts no further values.
    pub(super) fn is_full(&self, settings: &ColumnSettings) -> bool {
        is_full(&self.dictionary, settings)
    }

    /// Returns true if the dictionary saves nothing now, and by all estimates won't later.
    pub(super) fn cannot_pay_off(&self, settings: &ColumnSettings) -> bool {
        let growth = self.growth();
        growth.is_some_and(|growth| growth.cannot_pay_off(entry_sizes(&self.dictionary, settings)))
    }

    /// Returns true if the dictionary saves nothing, since nearly all values are new.
    pub(super) fn is_unlikely_to_pay_off(&self, settings: &ColumnSettings) -> bool {
        if settings.preserve_arrow_dictionary.is_some() || self.is_full(settings) {
            return false;
        }
        let sizes = entry_sizes(&self.dictionary, settings);
        let growth = self.growth();
        growth.is_some_and(|growth| growth.is_unlikely_to_pay_off(sizes))
    }

    /// Returns the dictionary's growth, or `None` if it is kept in any case.
    fn growth(&self) -> Option<Growth> {
        if self.keeps_dictionary {
            return None;
        }
        let now = self.counts();
        let (mut before, mut end) = (Counts::default(), Counts::default());
        for page in &self.pending.pages {
            let counts = page.counts();
            end.values += counts.values;
            end.entries = counts.entries;
            if now.values - end.values >= LAST_VALUES {
                before = end;
            }
        }
        let first = match (before.values, self.pending.pages.first()) {
            (1.., Some(page)) => page.counts(),
            _ => Counts::default(),
        };
        Some(Growth { first, before, now })
    }

    /// Returns the total number of values, and how many are in the dictionary.
    fn counts(&self) -> Counts {
        Counts {
            values: self.pending.num_values + self.page.num_values(),
            entries: self.dictionary.num_values(),
        }
    }

    /// Returns true if enough values are buffered to choose their form.
    pub(crate) fn is_decision_due(&self, settings: &ColumnSettings) -> bool {
        self.pending.num_values >= DECIDE_AFTER
            || self.is_full(settings)
            || self.cannot_pay_off(settings)
    }

    /// Chooses the form of the buffered pages and any later pages. `carried` is the previous row group's choice.
    ///
    /// # Errors
    /// Fails with `Feature` if the codec is not compiled in, and with `Io` if its library fails.
    pub(crate) fn choose(
        &self,
        settings: &ColumnSettings,
        carried: Option<CarriedChoice>,
    ) -> Result<Choice> {
        let pending = &self.pending;
        let indices = pending.pages.iter().map(|page| &*page.indices);
        let indexed = Indexed {
            dictionary: &self.dictionary,
            pages: indices.filter(|indices| !indices.is_empty()).collect(),
            index_bytes: pending.index_bytes,
            plain_bytes: pending.plain_bytes,
            is_requested: self.keeps_dictionary,
            carried: carried.filter(|carried| carried.applies_to(pending.num_values)),
        };
        choose(settings, &indexed)
    }

    /// Continues with values until it is clear if values repeat. The current page's values move over too.
    ///
    /// # Errors
    /// Returns the errors of encoders.
    pub(super) fn sample(self, settings: &ColumnSettings) -> Result<SampledTrial> {
        let before = self.counts();
        let mut trial = SampledTrial::new(settings, self.dictionary)?;
        trial.bounds = match self.page.unbounded {
            true => Bounds::of_indices(settings, &trial.dictionary, &self.page.indices),
            false => self.page.bounds,
        };
        let encoder = &mut trial.encoder;
        trial
            .dictionary
            .with_values(self.page.indices.into_iter(), |values| {
                encoder.append(values)
            })?;
        trial.pending = self.pending;
        trial.counts = SampledCounts::after(before);
        Ok(trial)
    }

    pub(super) fn estimated_bytes(&self) -> usize {
        self.dictionary.plain_bytes() + self.pending.estimated_bytes() + self.page.estimated_bytes()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.dictionary.heap_bytes() + self.pending.heap_bytes() + self.page.heap_bytes()
    }
}

/// Returns the sizes used to predict if the dictionary pays off.
pub(super) fn entry_sizes(dictionary: &Dictionary, settings: &ColumnSettings) -> EntrySizes {
    let average = dictionary.plain_bytes() as f64 / dictionary.num_values().max(1) as f64;
    EntrySizes {
        average,
        value: average,
        max_bytes: settings.dictionary_bytes as f64,
        values: settings.row_group_values().min(DECIDE_AFTER) as f64,
    }
}
