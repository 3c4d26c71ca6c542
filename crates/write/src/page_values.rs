//! The values of the page under construction, and of pages buffered until a choice is made.

use std::mem;
use std::sync::Arc;

use herringbone_format::{Encoding, Result};

use super::bounds::Bounds;
use super::choice::{
    CarriedChoice, Choice, Indexed, Packing, choose, choose_encoding, choose_for_trial_page,
};
use super::dictionary_growth::{
    Counts, DECIDE_AFTER, EntrySizes, Growth, LAST_VALUES, SAMPLED_TRIAL_ENDS_AFTER,
};
use super::explanation::StoredAs;
use super::observers::Observers;
use super::options::DataPageVersion;
use super::sampled_trial::{SampledTrial, TrialPage};
use super::settings::ColumnSettings;
use herringbone_core::compression::Compression;
use herringbone_core::encoding::ValueEncoder;
use herringbone_core::encoding::dictionary::{Dictionary, ranks};
use herringbone_core::encoding::physical_values::{PlainSize, Slots, Values, with_plain};
use herringbone_core::levels::EncodedLevels;

/// The number of pages of values after which their encoding is chosen again.
const CHOOSE_AGAIN_AFTER: usize = 7;

/// The share of a rejected dictionary's bytes per value that a new one may take to be tried. Only sizes after the
/// codec show which form is better, and these are sizes before the codec.
const BETTER_THAN_REJECTED: f64 = 0.75;

/// The values of a column chunk under construction.
pub(super) struct PageValues {
    settings: Arc<ColumnSettings>,
    /// The encoding choice carried over from the previous row group.
    pub(super) carried: Option<CarriedChoice>,
    /// The dictionary. It is present as long as a page of the chunk has indices, or may still get them.
    pub(super) dictionary: Option<Dictionary>,
    pub(super) phase: Phase,
    /// True if the dictionary is kept although it saves nothing, because it has values that no slot uses.
    pub(super) keeps_dictionary: bool,
    /// The indices of the page.
    pub(super) indices: Vec<u32>,
    /// The pages buffered until a decision.
    pub(super) pending: Vec<PendingPage>,
    pub(super) pending_values: usize,
    /// The size of the pending values in PLAIN, in bytes.
    pending_bytes: usize,
    /// The size of the pending values as indices, in bytes.
    pending_index_bytes: usize,
    /// The values after the pending pages, which the dictionary may still receive.
    pub(super) sampled_trial: SampledTrial,
    /// The encoder of values outside the dictionary.
    pub(super) encoder: Box<dyn ValueEncoder>,
    pub(super) encoding: Encoding,
    /// The number of pages of values since their encoding was chosen.
    pages_since_choice: usize,
    /// The packing of the indices.
    pub(super) packing: Packing,
    /// The number of entries when the dictionary was sorted, if it was.
    sorted_entries: Option<usize>,
    /// The bounds of the page's values. Of values in the dictionary, only numbers are included: checking each number
    /// is faster than finding the indices in use.
    pub(super) bounds: Bounds,
    /// True if `bounds` does not cover all values of the page, because some went to the dictionary only.
    unbounded: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Indices, which may still be converted to values.
    DictionaryTrial,
    /// Values, which the dictionary may still receive. Those in the dictionary were all new.
    SampledTrial,
    /// Indices.
    Dictionary,
    /// PLAIN values of a page from which its encoding is chosen.
    EncodingTrial,
    /// Values.
    Values,
}

pub(super) struct PendingPage {
    pub(super) levels: EncodedLevels,
    pub(super) indices: Vec<u32>,
    /// The number of dictionary entries when the page ended. All indices are less than this.
    pub(super) num_entries: usize,
    /// The bounds of the values, if they were computed when the values arrived.
    pub(super) bounds: Option<Bounds>,
    pub(super) byte_array_bytes: usize,
}

impl PendingPage {
    /// Returns the number of values, and the number of entries when the page ended.
    fn counts(&self) -> Counts {
        Counts {
            values: self.indices.len(),
            entries: self.num_entries,
        }
    }

    /// Returns the number of reserved bytes.
    fn heap_bytes(&self) -> usize {
        size_of::<Self>()
            + size_of::<u32>() * self.indices.capacity()
            + self.levels.heap_bytes()
            + self.bounds.as_ref().map_or(0, Bounds::heap_bytes)
    }
}

impl PageValues {
    /// Creates a chunk without values. `carried` is the choice of the previous row group.
    ///
    /// # Errors
    /// Argument if an encoding does not support the column's type.
    pub(super) fn new(
        settings: Arc<ColumnSettings>,
        carried: Option<CarriedChoice>,
    ) -> Result<Self> {
        let leaf = &settings.leaf;
        let dictionary = if settings.dictionary {
            Dictionary::new(leaf.physical_type, leaf.type_length)
        } else {
            None
        };
        let encoding = settings.usual_encoding();
        let may_drop_codec = settings.may_drop_codec
            && settings.version == DataPageVersion::V1
            && settings.compression != Compression::Uncompressed;
        // A dictionary that did not pay in the previous row group must first show that it would.
        let starts_sampled = settings.preserve_arrow_dictionary.is_none()
            && !settings.dictionary_is_requested
            && carried.is_some_and(|carried| carried.needs_sampled_trial());
        let (phase, first_encoding) = match dictionary {
            Some(_) if starts_sampled => (Phase::SampledTrial, Encoding::Plain),
            Some(_) => (Phase::DictionaryTrial, encoding),
            None if settings.encodings.len() > 1 || may_drop_codec => {
                (Phase::EncodingTrial, Encoding::Plain)
            }
            None => (Phase::Values, encoding),
        };
        Ok(Self {
            carried,
            dictionary,
            phase,
            keeps_dictionary: false,
            indices: Vec::new(),
            pending: Vec::new(),
            pending_values: 0,
            pending_bytes: 0,
            pending_index_bytes: 0,
            sampled_trial: SampledTrial::default(),
            encoder: settings.value_encoder(first_encoding)?,
            encoding,
            pages_since_choice: 0,
            packing: Packing::TIGHT,
            sorted_entries: None,
            bounds: Bounds::new(&settings),
            unbounded: false,
            settings,
        })
    }

    /// Returns the approximate bytes that the values will take in the file, without those already written as pages.
    pub(super) fn estimated_bytes(&self) -> usize {
        let held = match self.phase {
            Phase::Values | Phase::EncodingTrial | Phase::SampledTrial => self.encoder.page_bytes(),
            Phase::DictionaryTrial | Phase::Dictionary => self.indices.len() / 2 * 3,
        };
        let dictionary = self.dictionary.as_ref();
        dictionary.map_or(0, Dictionary::plain_bytes)
            + self.pending_values / 2 * 3
            + self.sampled_trial.bytes()
            + held
    }

    /// Returns the number of reserved bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        let pending = self.pending.iter().map(PendingPage::heap_bytes);
        self.dictionary.as_ref().map_or(0, Dictionary::heap_bytes)
            + size_of::<u32>() * self.indices.capacity()
            + pending.sum::<usize>()
            + self.sampled_trial.heap_bytes()
            + self.encoder.heap_bytes()
            + self.bounds.heap_bytes()
    }

    /// Returns true if values are added to the dictionary.
    pub(super) fn are_indices(&self) -> bool {
        matches!(self.phase, Phase::DictionaryTrial | Phase::Dictionary)
    }

    /// Returns true if values are added to the dictionary, or may be added later. Pages then end as if they were.
    pub(super) fn may_be_indices(&self) -> bool {
        self.are_indices() || self.phase == Phase::SampledTrial
    }

    pub(super) fn append(&mut self, slots: &Slots<'_>, observers: &mut Observers) -> Result<()> {
        match self.phase {
            Phase::DictionaryTrial | Phase::Dictionary => self.append_to_dictionary(slots),
            Phase::SampledTrial => slots.with_values(|values| self.append_sampled(values)),
            Phase::EncodingTrial | Phase::Values => {
                slots.with_values(|values| self.append_values(values, observers))
            }
        }
    }

    fn append_to_dictionary(&mut self, slots: &Slots<'_>) -> Result<()> {
        let Some(dictionary) = &mut self.dictionary else {
            return Ok(());
        };
        match slots {
            Slots::Values(values) if values.are_numbers() => self.bounds.update(values),
            _ => self.unbounded = true,
        }
        dictionary.append(slots, &mut self.indices)
    }

    fn append_sampled(&mut self, values: &Values<'_>) -> Result<()> {
        self.encoder.append(values)?;
        self.bounds.update(values);
        let parts = self.sampled_trial.count(values.num_values());
        if let Some(dictionary) = &mut self.dictionary {
            let mut num_sampled = 0;
            for part in parts {
                num_sampled += part.len();
                self.indices.clear();
                dictionary.append(&Slots::Values(values.slice(part)), &mut self.indices)?;
            }
            self.indices.clear();
            self.sampled_trial.sampled_values += num_sampled;
        }
        Ok(())
    }

    pub(super) fn append_values(
        &mut self,
        values: &Values<'_>,
        observers: &mut Observers,
    ) -> Result<()> {
        self.encoder.append(values)?;
        self.bounds.update(values);
        observers.insert(values);
        Ok(())
    }

    /// Takes the page of indices, and starts the next one.
    pub(super) fn take_indices(&mut self, levels: EncodedLevels, size: PlainSize) -> PendingPage {
        let bounds = mem::replace(&mut self.bounds, Bounds::new(&self.settings));
        PendingPage {
            levels,
            indices: mem::take(&mut self.indices),
            num_entries: self.dictionary.as_ref().map_or(0, Dictionary::num_values),
            bounds: (!mem::take(&mut self.unbounded)).then_some(bounds),
            byte_array_bytes: size.byte_array_bytes,
        }
    }

    /// Buffers the page of indices until its form is decided.
    pub(super) fn buffer_indices(&mut self, levels: EncodedLevels, size: PlainSize) {
        self.pending_values += self.indices.len();
        self.pending_bytes += size.bytes;
        let page = self.take_indices(levels, size);
        let width = Packing::TIGHT.width(page.num_entries);
        self.pending_index_bytes += page.indices.len() * usize::from(width) / 8;
        self.pending.push(page);
    }

    /// Returns true if no further values may be added to the dictionary.
    pub(super) fn dictionary_is_full(&self) -> bool {
        self.are_indices()
            && !self.settings.keeps_order()
            && self
                .dictionary
                .as_ref()
                .is_none_or(|dictionary| dictionary.plain_bytes() > self.settings.dictionary_bytes)
    }

    /// Returns true if the dictionary is still on trial, and saves nothing, neither now nor later by all estimates.
    pub(super) fn cannot_pay_off(&self) -> bool {
        let growth = self.growth();
        growth.is_some_and(|(growth, sizes)| growth.cannot_pay_off(sizes))
    }

    /// Returns true if the dictionary saves nothing, because nearly all values are new.
    pub(super) fn is_unlikely_to_pay_off(&self) -> bool {
        let growth = self.growth();
        self.settings.preserve_arrow_dictionary.is_none()
            && !self.dictionary_is_full()
            && growth.is_some_and(|(growth, sizes)| growth.is_unlikely_to_pay_off(sizes))
    }

    /// Returns the growth of the dictionary while it is on trial.
    fn growth(&self) -> Option<(Growth, EntrySizes)> {
        let (Phase::DictionaryTrial, Some(dictionary)) = (self.phase, &self.dictionary) else {
            return None;
        };
        if self.keeps_dictionary {
            return None;
        }
        let now = Counts {
            values: self.pending_values + self.indices.len(),
            entries: dictionary.num_values(),
        };
        let (mut before, mut end) = (Counts::default(), Counts::default());
        for page in &self.pending {
            let counts = page.counts();
            end.values += counts.values;
            end.entries = counts.entries;
            if now.values - end.values >= LAST_VALUES {
                before = end;
            }
        }
        let first = match (before.values, self.pending.first()) {
            (1.., Some(page)) => page.counts(),
            _ => Counts::default(),
        };
        let growth = Growth { first, before, now };
        Some((growth, self.entry_sizes(dictionary)))
    }

    fn entry_sizes(&self, dictionary: &Dictionary) -> EntrySizes {
        let average = dictionary.plain_bytes() as f64 / dictionary.num_values().max(1) as f64;
        EntrySizes {
            average,
            value: average,
            max_bytes: self.settings.dictionary_bytes as f64,
            values: self.settings.row_group_values().min(DECIDE_AFTER) as f64,
        }
    }

    /// Buffers values of the page under construction and of later pages as values, as long as it is unclear
    /// whether values repeat.
    pub(super) fn begin_sampled_trial(&mut self) -> Result<()> {
        let Some(dictionary) = &self.dictionary else {
            return Ok(());
        };
        let mut encoder = self.plain_encoder()?;
        let indices = mem::take(&mut self.indices);
        self.sampled_trial = SampledTrial::after(Counts {
            values: self.pending_values + indices.len(),
            entries: dictionary.num_values(),
        });
        if mem::take(&mut self.unbounded) {
            self.bounds = Bounds::of_indices(&self.settings, dictionary, &indices);
        }
        dictionary.with_values(indices.into_iter(), |values| encoder.append(values))?;
        (self.phase, self.encoder) = (Phase::SampledTrial, encoder);
        Ok(())
    }

    /// Buffers the page of values until its form is decided. If the tested values show that the dictionary will pay,
    /// it receives all buffered values.
    pub(super) fn buffer_trial_page(
        &mut self,
        levels: EncodedLevels,
        size: PlainSize,
    ) -> Result<()> {
        let next = self.plain_encoder()?;
        self.sampled_trial.end_page(TrialPage {
            levels,
            encoder: mem::replace(&mut self.encoder, next),
            size,
            bounds: mem::replace(&mut self.bounds, Bounds::new(&self.settings)),
        });
        let Some(dictionary) = &self.dictionary else {
            return Ok(());
        };
        let before = self.sampled_trial.before;
        let growth = Growth {
            first: Counts::default(),
            before,
            now: Counts {
                values: before.values + self.sampled_trial.sampled_values,
                entries: dictionary.num_values(),
            },
        };
        let mut sizes = self.entry_sizes(dictionary);
        let carried = self.reuse_for(self.sampled_trial.all_values());
        if let Some(rejected) = carried.and_then(|carried| carried.rejected) {
            sizes.value = sizes.value.min(rejected * BETTER_THAN_REJECTED);
        }
        match growth.will_pay_off(sizes) {
            true => self.end_sampled_trial(),
            false => Ok(()),
        }
    }

    /// Returns true if a sampled trial ends without values that repeat.
    pub(super) fn sampled_trial_ends(&self) -> bool {
        self.phase == Phase::SampledTrial
            && self.sampled_trial.all_values() >= SAMPLED_TRIAL_ENDS_AFTER
    }

    /// Adds the buffered values to the dictionary.
    fn end_sampled_trial(&mut self) -> Result<()> {
        self.phase = Phase::DictionaryTrial;
        let settings = self.settings.clone();
        for mut page in mem::take(&mut self.sampled_trial).pages {
            page.with_values(&settings.leaf, |_, values, _| {
                self.append_to_dictionary(&Slots::Values(values.slice(0..values.num_values())))
            })?;
            self.buffer_indices(page.levels, page.size);
        }
        Ok(())
    }

    pub(super) fn is_decision_due(&self) -> bool {
        match self.phase {
            Phase::SampledTrial => self.sampled_trial_ends(),
            _ => {
                self.pending_values >= DECIDE_AFTER
                    || self.dictionary_is_full()
                    || self.cannot_pay_off()
            }
        }
    }

    /// Chooses the form of the buffered pages, and of the pages after them.
    pub(super) fn choose(&mut self) -> Result<Choice> {
        let carried = self.reuse_for(self.sampled_trial.all_values());
        let pages = self.sampled_trial.pages.iter_mut();
        if let Some(page) = pages.max_by_key(|page| page.num_values()) {
            let choice = match carried.filter(|carried| carried.is_values()) {
                Some(carried) => carried.reuse(),
                None => choose_for_trial_page(&self.settings, page)?,
            };
            self.set_encoding(choice.encoding)?;
            self.phase = Phase::Values;
            return Ok(choice);
        }
        let Some(dictionary) = &self.dictionary else {
            return choose_encoding(&self.settings, &Values::ByteArray(Vec::new()), 0);
        };
        let indexed = Indexed {
            dictionary,
            pages: self
                .pending
                .iter()
                .map(|page| &*page.indices)
                .filter(|indices| !indices.is_empty())
                .collect(),
            index_bytes: self.pending_index_bytes,
            plain_bytes: self.pending_bytes,
            is_requested: self.keeps_dictionary,
            carried: self.reuse_for(self.pending_values),
        };
        let choice = choose(&self.settings, &indexed)?;
        self.set_encoding(choice.encoding)?;
        match choice.indices {
            Some(form) => {
                self.phase = Phase::Dictionary;
                self.packing = form.packing;
                if let Some(order) = &choice.order {
                    self.sort_dictionary(order);
                }
            }
            None => self.phase = Phase::Values,
        }
        Ok(choice)
    }

    /// Returns the choice of the previous row group, if it applies to `num_values` values.
    pub(super) fn reuse_for(&self, num_values: usize) -> Option<CarriedChoice> {
        self.carried
            .filter(|carried| carried.applies_to(num_values))
    }

    fn plain_encoder(&self) -> Result<Box<dyn ValueEncoder>> {
        self.settings.value_encoder(Encoding::Plain)
    }

    fn set_encoding(&mut self, encoding: Encoding) -> Result<()> {
        self.encoding = encoding;
        self.encoder = self.settings.value_encoder(encoding)?;
        Ok(())
    }

    /// Sorts the entries into `order`, in which they ascend.
    fn sort_dictionary(&mut self, order: &[u32]) {
        let Some(dictionary) = &mut self.dictionary else {
            return;
        };
        dictionary.reorder(order);
        let ranks = ranks(order);
        for page in &mut self.pending {
            page.num_entries = order.len();
            for index in &mut page.indices {
                *index = ranks.get(*index as usize).copied().unwrap_or(0);
            }
        }
        self.sorted_entries = Some(order.len());
    }

    /// Returns true if all entries of the dictionary are sorted.
    pub(super) fn is_sorted(&self) -> bool {
        let entries = self.dictionary.as_ref().map(Dictionary::num_values);
        self.sorted_entries.is_some() && self.sorted_entries == entries
    }

    /// Chooses the encoding by the buffered values, and encodes them again. If they are too few, the choice is left to
    /// the next page. This page then has the encoding chosen last, or the usual one.
    pub(super) fn choose_by_buffered(&mut self, num_values: usize) -> Result<Choice> {
        let mut plain = Vec::new();
        self.encoder.finish_page(&mut plain, &mut Vec::new());
        let settings = self.settings.clone();
        let leaf = &settings.leaf;
        let (physical_type, type_length) = (leaf.physical_type, leaf.type_length);
        with_plain(physical_type, type_length, &plain, num_values, |values| {
            let choice = match self.reuse_for(num_values) {
                Some(carried) => carried.reuse(),
                None => choose_encoding(&settings, values, plain.len())?,
            };
            self.set_encoding(match choice.is_sampled() {
                true => choice.encoding,
                false => self.encoding,
            })?;
            self.encoder.append(values)?;
            Ok(choice)
        })
    }

    /// Continues in the chosen encoding, or with PLAIN values from which an encoding is chosen.
    pub(super) fn after_encoding_trial(&mut self, is_chosen: bool) -> Result<()> {
        self.pages_since_choice = 0;
        match is_chosen {
            true => self.phase = Phase::Values,
            false => self.begin_encoding_trial()?,
        }
        Ok(())
    }

    /// Continues after a page of values. From time to time their encoding is chosen again, as the values may have
    /// changed.
    pub(super) fn after_values(&mut self) -> Result<()> {
        self.pages_since_choice += 1;
        if self.pages_since_choice >= CHOOSE_AGAIN_AFTER {
            self.end_dictionary()?;
        }
        Ok(())
    }

    /// Continues with values outside the dictionary, in an encoding chosen by the first ones.
    pub(super) fn end_dictionary(&mut self) -> Result<()> {
        match self.settings.encodings.len() {
            0 | 1 => self.phase = Phase::Values,
            _ => self.begin_encoding_trial()?,
        }
        Ok(())
    }

    fn begin_encoding_trial(&mut self) -> Result<()> {
        self.encoder = self.plain_encoder()?;
        self.phase = Phase::EncodingTrial;
        Ok(())
    }

    /// Returns the form in which the values of the chunk are stored.
    pub(super) fn stored_as(&self) -> StoredAs {
        match self.dictionary {
            Some(_) => StoredAs::Dictionary {
                is_sorted: self.is_sorted(),
                is_aligned: self.packing.is_aligned,
            },
            None => StoredAs::Values(self.encoding),
        }
    }
}
