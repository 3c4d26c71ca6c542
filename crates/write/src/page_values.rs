//! The values of the page under construction, and of those that wait for a choice.

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
use herringbone_core::encoding::values::{PlainSize, Slots, Values, with_plain};
use herringbone_core::levels::EncodedLevels;

/// Pages of values behind which their encoding is chosen anew.
const LOOK_AGAIN_AFTER: usize = 7;

/// Where a dictionary was declined, it has to take this share of the bytes, for as many values, to be tried once more: which of the
/// two is better is seen by the codec, not by the bytes in front of it.
const BETTER_THAN_DECLINED: f64 = 0.75;

/// How values are kept.
pub(super) struct PageValues {
    settings: Arc<ColumnSettings>,
    /// What was chosen for the column in the row group before.
    pub(super) earlier: Option<EarlierChoice>,
    /// Present from the first index on, and as long as a page of the chunk has indices.
    pub(super) dictionary: Option<Dictionary>,
    pub(super) phase: Phase,
    /// Whether the dictionary is kept though it saves nothing: it has values that no slot has.
    pub(super) keeps_dictionary: bool,
    /// Indices of the page.
    pub(super) indices: Vec<u32>,
    /// Pages that wait for a decision.
    pub(super) pending: Vec<PendingPage>,
    pub(super) pending_values: usize,
    /// What they take in PLAIN, and as indices.
    pending_bytes: usize,
    pending_code_bytes: usize,
    /// Values behind those, which the dictionary may still get.
    pub(super) doubt: Doubt,
    /// Of values outside of the dictionary, in this encoding.
    pub(super) encoder: Box<dyn ValueEncoder>,
    pub(super) encoding: Encoding,
    /// Pages of values since it was chosen.
    pages_since_choice: usize,
    /// How indices are packed.
    pub(super) packing: Packing,
    /// Entries of the dictionary when it was sorted, if it was.
    sorted_entries: Option<usize>,
    /// Of the page's values. Of those in the dictionary, only numbers: looking at each is faster
    /// than finding out which indices there are.
    pub(super) bounds: Bounds,
    /// Values in the dictionary that `bounds` do not know.
    unbounded: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Indices, which may still be taken back.
    Undecided,
    /// Values, as those in the dictionary were all new, which it may still get.
    Doubted,
    /// Indices.
    Codes,
    /// PLAIN values of a page that its encoding is chosen by.
    Held,
    /// Values.
    Values,
}

pub(super) struct PendingPage {
    pub(super) levels: EncodedLevels,
    pub(super) indices: Vec<u32>,
    /// Values of the dictionary when the page ended: indices are below.
    pub(super) num_entries: usize,
    /// Bounds of the values, where they were taken when the values came.
    pub(super) bounds: Option<Bounds>,
    pub(super) byte_array_bytes: usize,
}

impl PendingPage {
    /// Its values, and the entries when it ended.
    fn counts(&self) -> Counts {
        Counts {
            values: self.indices.len(),
            entries: self.num_entries,
        }
    }

    /// Bytes held.
    fn heap_bytes(&self) -> usize {
        size_of::<Self>()
            + size_of::<u32>() * self.indices.capacity()
            + self.levels.heap_bytes()
            + self.bounds.as_ref().map_or(0, Bounds::heap_bytes)
    }
}

impl PageValues {
    /// No values, behind a row group for which something was chosen.
    ///
    /// # Errors
    /// Argument where an encoding does not serve the column's type.
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
        // A dictionary that was of no use has to show that it would be.
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

    /// Bytes that the values will take in the file, roughly, but for those that are in pages already.
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

    /// Bytes held.
    pub(super) fn heap_bytes(&self) -> usize {
        let pending = self.pending.iter().map(PendingPage::heap_bytes);
        self.dictionary.as_ref().map_or(0, Dictionary::heap_bytes)
            + size_of::<u32>() * self.indices.capacity()
            + pending.sum::<usize>()
            + self.doubt.heap_bytes()
            + self.encoder.heap_bytes()
            + self.bounds.heap_bytes()
    }

    /// Whether values go to the dictionary.
    pub(super) fn are_indices(&self) -> bool {
        matches!(self.phase, Phase::Undecided | Phase::Codes)
    }

    /// Whether values go to the dictionary, or may go there later on: then pages end as if they did.
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

    /// The page of indices, and room for the next one.
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

    /// Keeps the page of indices until it is decided what becomes of it.
    pub(super) fn hold_back(&mut self, levels: EncodedLevels, size: PlainSize) {
        self.pending_values += self.indices.len();
        self.pending_bytes += size.bytes;
        let page = self.take_indices(levels, size);
        let width = Packing::TIGHT.width(page.num_entries);
        self.pending_code_bytes += page.indices.len() * usize::from(width) / 8;
        self.pending.push(page);
    }

    /// Whether no further values may go to the dictionary.
    pub(super) fn dictionary_is_full(&self) -> bool {
        self.are_indices()
            && !self.settings.keeps_order()
            && self
                .dictionary
                .as_ref()
                .is_none_or(|dictionary| dictionary.plain_bytes() > self.settings.dictionary_bytes)
    }

    /// Whether the dictionary is still on trial, and saves nothing, neither now nor later on, as far as can be told.
    pub(super) fn is_hopeless(&self) -> bool {
        let growth = self.growth();
        growth.is_some_and(|(growth, sizes)| growth.is_hopeless(sizes))
    }

    /// Whether it saves nothing as nearly all values are new.
    pub(super) fn is_in_doubt(&self) -> bool {
        let growth = self.growth();
        self.settings.lists_entries.is_none()
            && !self.dictionary_is_full()
            && growth.is_some_and(|(growth, sizes)| growth.is_in_doubt(sizes))
    }

    /// How the dictionary grows while it is on trial.
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

    /// Keeps the values of the page under construction as values, and those behind, for as long as it is in doubt whether any
    /// comes back.
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

    /// Keeps the page of values until it is decided what becomes of it. If the dictionary will pay by those that it was tested by,
    /// it gets them all.
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

    /// Whether nobody waits any longer for values that come back.
    pub(super) fn doubt_ends(&self) -> bool {
        self.phase == Phase::Doubted && self.doubt.all_values() >= DOUBT_ENDS_AFTER
    }

    /// Gives the dictionary what was kept from it.
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

    /// Chooses what becomes of the pages that wait, and of those behind them.
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

    /// What was chosen for the row group before, if it holds for so many values.
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

    /// Puts the entries into this order, in which they ascend.
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

    /// Whether the dictionary has no entries but those that were sorted.
    pub(super) fn is_sorted(&self) -> bool {
        let entries = self.dictionary.as_ref().map(Dictionary::num_values);
        self.sorted_entries.is_some() && self.sorted_entries == entries
    }

    /// Chooses the encoding by the values that are held, which go over to it. Where these are too few, it is left open for
    /// the next page, and this one has the encoding that was chosen last, or the usual one.
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

    /// Goes on with PLAIN values of which the encoding is chosen, or in the encoding that was chosen.
    pub(super) fn after_held(&mut self, is_chosen: bool) -> Result<()> {
        self.pages_since_choice = 0;
        match is_chosen {
            true => self.phase = Phase::Values,
            false => self.hold()?,
        }
        Ok(())
    }

    /// Goes on behind a page of values; now and then their encoding is chosen anew: they may have become others.
    pub(super) fn after_values(&mut self) -> Result<()> {
        self.pages_since_choice += 1;
        if self.pages_since_choice >= LOOK_AGAIN_AFTER {
            self.leave_dictionary()?;
        }
        Ok(())
    }

    /// Goes on with values outside of the dictionary, in an encoding that is chosen by the first ones.
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

    /// What the values of the chunk are stored as.
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
