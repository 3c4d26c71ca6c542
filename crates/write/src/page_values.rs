//! The values of the page under construction, and of pages buffered until a choice is made.

use std::mem;
use std::sync::Arc;

use herringbone_format::{Encoding, Result};

use super::bounds::Bounds;
use super::choice::{
    Choice, EarlierChoice, Indexed, Packing, choose, choose_encoding, choose_for_doubted,
};
use super::doubt::{Doubt, DoubtedPage};
use super::explanation::StoredAs;
use super::growth::{Counts, DECIDE_AFTER, DOUBT_ENDS_AFTER, EntrySizes, Growth, LAST_VALUES};
use super::observers::Observers;
use super::options::DataPageVersion;
use super::settings::ColumnSettings;
use herringbone_core::compression::Compression;
use herringbone_core::encoding::ValueEncoder;
use herringbone_core::encoding::dictionary::{Dictionary, ranks};
use herringbone_core::encoding::physical_values::{PlainSize, Slots, Values, with_plain};
use herringbone_core::levels::EncodedLevels;

/// The number of pages of values after which their encoding is chosen again.
const LOOK_AGAIN_AFTER: usize = 7;

/// The share of a declined dictionary's bytes per value that a new one may take to be tried. Only sizes after the
/// codec show which form is better, and these are sizes before the codec.
const BETTER_THAN_DECLINED: f64 = 0.75;

/// The values of a column chunk under construction.
pub(super) struct PageValues {
    settings: Arc<ColumnSettings>,
    /// The encoding choice carried over from the previous row group.
    pub(super) earlier: Option<EarlierChoice>,
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
    pending_code_bytes: usize,
    /// The values after the pending pages, which the dictionary may still receive.
    pub(super) doubt: Doubt,
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
    Undecided,
    /// Values, which the dictionary may still receive. Those in the dictionary were all new.
    Doubted,
    /// Indices.
    Codes,
    /// PLAIN values of a page from which its encoding is chosen.
    Held,
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
    /// Creates a chunk without values. `earlier` is the choice of the previous row group.
    ///
    /// # Errors
    /// Argument if an encoding does not support the column's type.
    pub(super) fn new(
        settings: Arc<ColumnSettings>,
        earlier: Option<EarlierChoice>,
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
        let is_doubted = settings.lists_entries.is_none()
            && !settings.dictionary_is_asked
            && earlier.is_some_and(|earlier| earlier.is_in_doubt());
        let (phase, held) = match dictionary {
            Some(_) if is_doubted => (Phase::Doubted, Encoding::Plain),
            Some(_) => (Phase::Undecided, encoding),
            None if settings.encodings.len() > 1 || may_drop_codec => {
                (Phase::Held, Encoding::Plain)
            }
            None => (Phase::Values, encoding),
        };
        Ok(Self {
            earlier,
            dictionary,
            phase,
            keeps_dictionary: false,
            indices: Vec::new(),
            pending: Vec::new(),
            pending_values: 0,
            pending_bytes: 0,
            pending_code_bytes: 0,
            doubt: Doubt::default(),
            encoder: settings.value_encoder(held)?,
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
        let of_page = match self.phase {
            Phase::Values | Phase::Held | Phase::Doubted => self.encoder.page_bytes(),
            Phase::Undecided | Phase::Codes => self.indices.len() / 2 * 3,
        };
        let dictionary = self.dictionary.as_ref();
        dictionary.map_or(0, Dictionary::plain_bytes)
            + self.pending_values / 2 * 3
            + self.doubt.bytes()
            + of_page
    }

    /// Returns the number of reserved bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        let pending = self.pending.iter().map(PendingPage::heap_bytes);
        self.dictionary.as_ref().map_or(0, Dictionary::heap_bytes)
            + size_of::<u32>() * self.indices.capacity()
            + pending.sum::<usize>()
            + self.doubt.heap_bytes()
            + self.encoder.heap_bytes()
            + self.bounds.heap_bytes()
    }

    /// Returns true if values are added to the dictionary.
    pub(super) fn are_indices(&self) -> bool {
        matches!(self.phase, Phase::Undecided | Phase::Codes)
    }

    /// Returns true if values are added to the dictionary, or may be added later. Pages then end as if they were.
    pub(super) fn may_be_indices(&self) -> bool {
        self.are_indices() || self.phase == Phase::Doubted
    }

    pub(super) fn append(&mut self, slots: &Slots<'_>, observers: &mut Observers) -> Result<()> {
        match self.phase {
            Phase::Undecided | Phase::Codes => self.append_to_dictionary(slots),
            Phase::Doubted => slots.with_values(|values| self.append_doubted(values)),
            Phase::Held | Phase::Values => {
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

    fn append_doubted(&mut self, values: &Values<'_>) -> Result<()> {
        self.encoder.append(values)?;
        self.bounds.update(values);
        let parts = self.doubt.count(values.num_values());
        if let Some(dictionary) = &mut self.dictionary {
            let mut num_tested = 0;
            for part in parts {
                num_tested += part.len();
                self.indices.clear();
                dictionary.append(&Slots::Values(values.slice(part)), &mut self.indices)?;
            }
            self.indices.clear();
            self.doubt.tested_values += num_tested;
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
    pub(super) fn hold_back(&mut self, levels: EncodedLevels, size: PlainSize) {
        self.pending_values += self.indices.len();
        self.pending_bytes += size.bytes;
        let page = self.take_indices(levels, size);
        let width = Packing::TIGHT.width(page.num_entries);
        self.pending_code_bytes += page.indices.len() * usize::from(width) / 8;
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
    pub(super) fn is_hopeless(&self) -> bool {
        let growth = self.growth();
        growth.is_some_and(|(growth, sizes)| growth.is_hopeless(sizes))
    }

    /// Returns true if the dictionary saves nothing, because nearly all values are new.
    pub(super) fn is_in_doubt(&self) -> bool {
        let growth = self.growth();
        self.settings.lists_entries.is_none()
            && !self.dictionary_is_full()
            && growth.is_some_and(|(growth, sizes)| growth.is_in_doubt(sizes))
    }

    /// Returns the growth of the dictionary while it is on trial.
    fn growth(&self) -> Option<(Growth, EntrySizes)> {
        let (Phase::Undecided, Some(dictionary)) = (self.phase, &self.dictionary) else {
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
            most: self.settings.dictionary_bytes as f64,
            values: self.settings.row_group_values().min(DECIDE_AFTER) as f64,
        }
    }

    /// Buffers values of the page under construction and of later pages as values, for as long as it is in doubt
    /// whether values repeat.
    pub(super) fn begin_doubt(&mut self) -> Result<()> {
        let Some(dictionary) = &self.dictionary else {
            return Ok(());
        };
        let mut encoder = self.plain_encoder()?;
        let indices = mem::take(&mut self.indices);
        self.doubt = Doubt::behind(Counts {
            values: self.pending_values + indices.len(),
            entries: dictionary.num_values(),
        });
        if mem::take(&mut self.unbounded) {
            self.bounds = Bounds::of_indices(&self.settings, dictionary, &indices);
        }
        dictionary.with_values(indices.into_iter(), |values| encoder.append(values))?;
        (self.phase, self.encoder) = (Phase::Doubted, encoder);
        Ok(())
    }

    /// Buffers the page of values until its form is decided. If the tested values show that the dictionary will pay,
    /// it receives all buffered values.
    pub(super) fn hold_back_doubted(
        &mut self,
        levels: EncodedLevels,
        size: PlainSize,
    ) -> Result<()> {
        let next = self.plain_encoder()?;
        self.doubt.end_page(DoubtedPage {
            levels,
            encoder: mem::replace(&mut self.encoder, next),
            size,
            bounds: mem::replace(&mut self.bounds, Bounds::new(&self.settings)),
        });
        let Some(dictionary) = &self.dictionary else {
            return Ok(());
        };
        let before = self.doubt.before;
        let growth = Growth {
            first: Counts::default(),
            before,
            now: Counts {
                values: before.values + self.doubt.tested_values,
                entries: dictionary.num_values(),
            },
        };
        let mut sizes = self.entry_sizes(dictionary);
        let earlier = self.earlier_for(self.doubt.all_values());
        if let Some(declined) = earlier.and_then(|earlier| earlier.declined) {
            sizes.value = sizes.value.min(declined * BETTER_THAN_DECLINED);
        }
        match growth.will_save(sizes) {
            true => self.end_doubt(),
            false => Ok(()),
        }
    }

    /// Returns true if a doubt ends without values that repeat.
    pub(super) fn doubt_ends(&self) -> bool {
        self.phase == Phase::Doubted && self.doubt.all_values() >= DOUBT_ENDS_AFTER
    }

    /// Adds the buffered values to the dictionary.
    fn end_doubt(&mut self) -> Result<()> {
        self.phase = Phase::Undecided;
        let settings = self.settings.clone();
        for mut page in mem::take(&mut self.doubt).pages {
            page.with_values(&settings.leaf, |_, values, _| {
                self.append_to_dictionary(&Slots::Values(values.slice(0..values.num_values())))
            })?;
            self.hold_back(page.levels, page.size);
        }
        Ok(())
    }

    pub(super) fn is_time_to_decide(&self) -> bool {
        match self.phase {
            Phase::Doubted => self.doubt_ends(),
            _ => {
                self.pending_values >= DECIDE_AFTER
                    || self.dictionary_is_full()
                    || self.is_hopeless()
            }
        }
    }

    /// Chooses the form of the buffered pages, and of the pages after them.
    pub(super) fn choose(&mut self) -> Result<Choice> {
        let earlier = self.earlier_for(self.doubt.all_values());
        let pages = self.doubt.pages.iter_mut();
        if let Some(page) = pages.max_by_key(|page| page.num_values()) {
            let choice = match earlier.filter(|earlier| earlier.is_values()) {
                Some(earlier) => earlier.again(),
                None => choose_for_doubted(&self.settings, page)?,
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
            index_bytes: self.pending_code_bytes,
            plain_bytes: self.pending_bytes,
            is_asked: self.keeps_dictionary,
            earlier: self.earlier_for(self.pending_values),
        };
        let choice = choose(&self.settings, &indexed)?;
        self.set_encoding(choice.encoding)?;
        match choice.indices {
            Some(form) => {
                self.phase = Phase::Codes;
                self.packing = form.packing;
                if let Some(order) = &choice.order {
                    self.sort_dictionary(order);
                }
            }
            None => self.phase = Phase::Values,
        }
        Ok(choice)
    }

    /// Returns the choice of the previous row group, if it holds for `num_values` values.
    pub(super) fn earlier_for(&self, num_values: usize) -> Option<EarlierChoice> {
        self.earlier.filter(|earlier| earlier.holds_for(num_values))
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
    pub(super) fn choose_by_held(&mut self, num_values: usize) -> Result<Choice> {
        let mut plain = Vec::new();
        self.encoder.finish_page(&mut plain, &mut Vec::new());
        let settings = self.settings.clone();
        let leaf = &settings.leaf;
        let (physical_type, type_length) = (leaf.physical_type, leaf.type_length);
        with_plain((physical_type, type_length), &plain, num_values, |values| {
            let choice = match self.earlier_for(num_values) {
                Some(earlier) => earlier.again(),
                None => choose_encoding(&settings, values, plain.len())?,
            };
            self.set_encoding(match choice.is_founded() {
                true => choice.encoding,
                false => self.encoding,
            })?;
            self.encoder.append(values)?;
            Ok(choice)
        })
    }

    /// Continues in the chosen encoding, or with PLAIN values from which an encoding is chosen.
    pub(super) fn after_held(&mut self, is_chosen: bool) -> Result<()> {
        self.pages_since_choice = 0;
        match is_chosen {
            true => self.phase = Phase::Values,
            false => self.hold()?,
        }
        Ok(())
    }

    /// Continues after a page of values. From time to time their encoding is chosen again, as the values may have
    /// changed.
    pub(super) fn after_values(&mut self) -> Result<()> {
        self.pages_since_choice += 1;
        if self.pages_since_choice >= LOOK_AGAIN_AFTER {
            self.leave_dictionary()?;
        }
        Ok(())
    }

    /// Continues with values outside the dictionary, in an encoding chosen by the first ones.
    pub(super) fn leave_dictionary(&mut self) -> Result<()> {
        match self.settings.encodings.len() {
            0 | 1 => self.phase = Phase::Values,
            _ => self.hold()?,
        }
        Ok(())
    }

    fn hold(&mut self) -> Result<()> {
        self.encoder = self.plain_encoder()?;
        self.phase = Phase::Held;
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
