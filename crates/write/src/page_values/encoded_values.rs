//! Values outside a dictionary. Their encoding is chosen anew from time to time.

use std::mem;

use herringbone_core::encoding::ValueEncoder;
use herringbone_core::encoding::physical_values::{Values, with_plain};
use herringbone_core::levels::EncodedLevels;
use herringbone_format::{Encoding, Result};

use super::indexed_values::{ChunkDictionary, IndexedValues};
use super::sampled_trial::TrialPage;
use crate::bounds::Bounds;
use crate::choice::{CarriedChoice, Choice, choose_encoding};
use crate::chunk::{ChunkBuilder, DataPage};
use crate::explanation::StoredAs;
use crate::observers::Observers;
use crate::page::PageSink;
use crate::settings::ColumnSettings;

/// The number of pages before we choose their encoding again.
const CHOOSE_AGAIN_AFTER: usize = 7;

/// Values outside a dictionary.
pub(crate) struct EncodedValues {
    encoder: Box<dyn ValueEncoder>,
    /// The last chosen encoding, or the usual one.
    encoding: Encoding,
    bounds: Bounds,
    /// The number of pages since the encoding was chosen. `None` if the current page holds PLAIN values to choose its
    /// encoding from.
    pages_since_choice: Option<usize>,
    /// The dictionary of the earlier pages, if they have indices.
    pub(super) dictionary: Option<ChunkDictionary>,
}

impl EncodedValues {
    /// Creates a chunk of values in this encoding, without a dictionary.
    ///
    /// # Errors
    /// Fails with `Argument` if the encoding does not support the column's type.
    pub(crate) fn new(settings: &ColumnSettings, encoding: Encoding) -> Result<Self> {
        Ok(Self {
            encoder: settings.value_encoder(encoding)?,
            encoding,
            bounds: Bounds::new(settings),
            pages_since_choice: Some(0),
            dictionary: None,
        })
    }

    /// Creates a chunk without a dictionary. Its first values decide on the encoding.
    ///
    /// # Errors
    /// Fails with `Argument` if an encoding does not support the column's type.
    pub(super) fn on_trial(settings: &ColumnSettings) -> Result<Self> {
        let mut values = Self::new(settings, settings.usual_encoding())?;
        values.begin_trial(settings)?;
        Ok(values)
    }

    /// Continues with values outside the dictionary. If there are several encodings, the first values decide between
    /// them.
    ///
    /// # Errors
    /// Fails with `Argument` if an encoding does not support the column's type.
    pub(super) fn after_dictionary(
        settings: &ColumnSettings,
        indexed: IndexedValues,
    ) -> Result<Self> {
        let mut values = Self::new(settings, indexed.encoding)?;
        values.dictionary = Some(indexed.dictionary);
        values.choose_again(settings)?;
        Ok(values)
    }

    /// Lets the next values decide on the encoding, if there are several.
    fn choose_again(&mut self, settings: &ColumnSettings) -> Result<()> {
        match settings.encodings.len() {
            0 | 1 => Ok(()),
            _ => self.begin_trial(settings),
        }
    }

    fn begin_trial(&mut self, settings: &ColumnSettings) -> Result<()> {
        self.encoder = settings.value_encoder(Encoding::Plain)?;
        self.pages_since_choice = None;
        Ok(())
    }

    /// Appends values to the page under construction.
    ///
    /// # Errors
    /// Fails with `Limit` if the page would exceed the limits of its header.
    pub(crate) fn append(&mut self, values: &Values<'_>, observers: &mut Observers) -> Result<()> {
        self.encoder.append(values)?;
        self.bounds.update(values);
        observers.insert(values);
        Ok(())
    }

    /// Appends the values of `page`, a page kept out of the dictionary.
    ///
    /// # Errors
    /// Fails with `Limit` if the page would exceed the limits of its header.
    pub(crate) fn append_trial_page(
        &mut self,
        settings: &ColumnSettings,
        page: &mut TrialPage,
        observers: &mut Observers,
    ) -> Result<()> {
        if self.encoding == Encoding::Plain && observers.is_empty() {
            mem::swap(&mut self.encoder, &mut page.encoder);
        } else {
            let encoder = &mut self.encoder;
            page.with_values(&settings.leaf, |_, values, _| {
                observers.insert(values);
                encoder.append(values)
            })?;
        }
        mem::swap(&mut self.bounds, &mut page.bounds);
        Ok(())
    }

    /// Returns true if the current page's values decide on the encoding.
    pub(crate) fn is_on_trial(&self) -> bool {
        self.pages_since_choice.is_none()
    }

    /// Chooses the encoding from the page's `num_values` values and re-encodes them. If there are too few values, the
    /// choice is left to the next page. In that case, this page gets the last chosen encoding, or the usual one.
    ///
    /// # Errors
    /// Fails with `Feature` if the codec is not compiled in, and with `Io` if its library fails.
    pub(crate) fn choose(
        &mut self,
        settings: &ColumnSettings,
        carried: Option<CarriedChoice>,
        num_values: usize,
    ) -> Result<Choice> {
        let mut plain = Vec::new();
        self.encoder.finish_page(&mut plain, &mut Vec::new());
        let leaf = &settings.leaf;
        let (physical_type, type_length) = (leaf.physical_type, leaf.type_length);
        with_plain(physical_type, type_length, &plain, num_values, |values| {
            let choice = match carried.filter(|carried| carried.applies_to(num_values)) {
                Some(carried) => carried.reuse(),
                None => choose_encoding(settings, values, plain.len())?,
            };
            if choice.is_sampled() {
                self.encoding = choice.encoding;
            }
            self.encoder = settings.value_encoder(self.encoding)?;
            self.encoder.append(values)?;
            Ok(choice)
        })
    }

    /// Writes the page and starts the next one.
    ///
    /// # Errors
    /// Returns errors from codecs, encryption and the sink.
    pub(crate) fn write_page(
        &mut self,
        settings: &ColumnSettings,
        levels: &EncodedLevels,
        byte_array_bytes: usize,
        chunk: &mut ChunkBuilder,
        sink: &mut dyn PageSink,
    ) -> Result<()> {
        let page = DataPage {
            levels,
            encoding: self.encoding,
            bounds: &self.bounds,
            byte_array_bytes,
        };
        let encoder = &mut self.encoder;
        chunk.data_page(
            &page,
            |front, out, section_starts| encoder.finish_page_after(front, out, section_starts),
            sink,
        )?;
        self.bounds = Bounds::new(settings);
        Ok(())
    }

    /// Continues in the chosen encoding, or with PLAIN values for the next choice.
    ///
    /// # Errors
    /// Fails with `Argument` if an encoding does not support the column's type.
    pub(crate) fn after_choice(
        &mut self,
        settings: &ColumnSettings,
        is_chosen: bool,
    ) -> Result<()> {
        self.pages_since_choice = Some(0);
        match is_chosen {
            true => Ok(()),
            false => self.begin_trial(settings),
        }
    }

    /// Continues after another page. From time to time, this chooses the encoding again, since the values might have
    /// changed.
    ///
    /// # Errors
    /// Fails with `Argument` if an encoding does not support the column's type.
    pub(crate) fn after_page(&mut self, settings: &ColumnSettings) -> Result<()> {
        let pages = self.pages_since_choice.map_or(1, |pages| pages + 1);
        self.pages_since_choice = Some(pages);
        match pages >= CHOOSE_AGAIN_AFTER {
            true => self.choose_again(settings),
            false => Ok(()),
        }
    }

    /// Returns true if no page of the chunk has indices.
    pub(crate) fn are_all_values(&self) -> bool {
        self.dictionary.is_none()
    }

    pub(super) fn stored_as(&self) -> StoredAs {
        match &self.dictionary {
            Some(dictionary) => dictionary.stored_as(),
            None => StoredAs::Values(self.encoding),
        }
    }

    pub(super) fn estimated_bytes(&self) -> usize {
        let dictionary = self.dictionary.as_ref();
        dictionary.map_or(0, |dictionary| dictionary.entries.plain_bytes())
            + self.encoder.page_bytes()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let dictionary = self.dictionary.as_ref();
        dictionary.map_or(0, |dictionary| dictionary.entries.heap_bytes())
            + self.encoder.heap_bytes()
            + self.bounds.heap_bytes()
    }
}
