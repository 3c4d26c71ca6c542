//! The values of the current page, and of pages buffered until their form is chosen.

mod dictionary_trial;
mod encoded_values;
mod indexed_values;
mod sampled_trial;

pub(super) use dictionary_trial::DictionaryTrial;
pub(super) use encoded_values::EncodedValues;
pub(super) use indexed_values::{ChunkDictionary, IndexedValues, PendingPage};
pub(super) use sampled_trial::{SampledTrial, TrialPage};

use std::mem;

use herringbone_core::compression::Compression;
use herringbone_core::encoding::dictionary::Dictionary;
use herringbone_core::encoding::physical_values::{PlainSize, Slots};
use herringbone_format::{Error, Result};

use super::choice::CarriedChoice;
use super::explanation::StoredAs;
use super::observers::Observers;
use super::options::DataPageVersion;
use super::settings::ColumnSettings;

/// A column chunk's values, in the form used to collect them.
#[derive(Default)]
pub(super) enum PageValues {
    /// Indices that can still be converted to values.
    DictionaryTrial(DictionaryTrial),
    /// Values that might still go to the dictionary. The values already in it were nearly all new.
    SampledTrial(SampledTrial),
    /// Indices.
    Indexed(IndexedValues),
    /// Values outside the dictionary.
    Encoded(EncodedValues),
    /// Nothing, after an error interrupted a change of form.
    #[default]
    Failed,
}

impl PageValues {
    /// Creates a chunk without values. `carried` is the previous row group's choice.
    ///
    /// # Errors
    /// Fails with `Argument` if an encoding does not support the column's type.
    pub(super) fn new(settings: &ColumnSettings, carried: Option<CarriedChoice>) -> Result<Self> {
        let leaf = &settings.leaf;
        let dictionary = match settings.dictionary {
            true => Dictionary::new(leaf.physical_type, leaf.type_length),
            false => None,
        };
        let may_drop_codec = settings.may_drop_codec
            && settings.version == DataPageVersion::V1
            && settings.compression != Compression::Uncompressed;
        // If a dictionary didn't pay off in the previous row group, it must first prove itself in this one.
        let starts_sampled = settings.preserve_arrow_dictionary.is_none()
            && !settings.dictionary_is_requested
            && carried.is_some_and(|carried| carried.needs_sampled_trial());
        Ok(match dictionary {
            Some(dictionary) if starts_sampled => {
                Self::SampledTrial(SampledTrial::new(settings, dictionary)?)
            }
            Some(dictionary) => Self::DictionaryTrial(DictionaryTrial::new(settings, dictionary)),
            None if settings.encodings.len() > 1 || may_drop_codec => {
                Self::Encoded(EncodedValues::on_trial(settings)?)
            }
            None => Self::Encoded(EncodedValues::new(settings, settings.usual_encoding())?),
        })
    }

    /// Returns the approximate stored size of the values in bytes, excluding pages already written.
    pub(super) fn estimated_bytes(&self) -> usize {
        match self {
            Self::DictionaryTrial(trial) => trial.estimated_bytes(),
            Self::SampledTrial(trial) => trial.estimated_bytes(),
            Self::Indexed(values) => values.estimated_bytes(),
            Self::Encoded(values) => values.estimated_bytes(),
            Self::Failed => 0,
        }
    }

    /// Returns the number of reserved bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        match self {
            Self::DictionaryTrial(trial) => trial.heap_bytes(),
            Self::SampledTrial(trial) => trial.heap_bytes(),
            Self::Indexed(values) => values.heap_bytes(),
            Self::Encoded(values) => values.heap_bytes(),
            Self::Failed => 0,
        }
    }

    /// Returns true if values go to the dictionary or might do so later. In the second case, pages end as if they did.
    pub(super) fn may_be_indices(&self) -> bool {
        matches!(
            self,
            Self::DictionaryTrial(_) | Self::SampledTrial(_) | Self::Indexed(_)
        )
    }

    /// Returns true if values go to a dictionary on trial with no page finished yet.
    pub(super) fn is_first_page_of_trial(&self) -> bool {
        matches!(self, Self::DictionaryTrial(trial) if trial.num_pages() == 0)
    }

    /// Returns the number of buffered pages, or `None` if no dictionary is on trial.
    pub(super) fn pages_on_trial(&self) -> Option<usize> {
        match self {
            Self::DictionaryTrial(trial) => Some(trial.num_pages()),
            Self::SampledTrial(trial) => Some(trial.num_pages()),
            Self::Indexed(_) | Self::Encoded(_) | Self::Failed => None,
        }
    }

    /// Returns the approximate size in bytes of the current page, given its values' `size`. It is zero if the current
    /// segment covers the whole page, since the page then ends when the next row doesn't fit.
    pub(super) fn page_bytes(&self, size: PlainSize) -> usize {
        match self {
            // We estimate two bytes per index. In practice, indices usually take two bytes or less.
            Self::Indexed(values) => 2 * values.page.num_values(),
            Self::DictionaryTrial(_) => size.bytes / 2,
            Self::SampledTrial(_) => size.bytes,
            Self::Encoded(_) | Self::Failed => 0,
        }
    }

    /// Returns true if a page with rows must end here, because later values might be stored in another form.
    pub(super) fn must_end_page(&self, settings: &ColumnSettings) -> bool {
        match self {
            Self::DictionaryTrial(trial) => {
                trial.is_full(settings) || trial.cannot_pay_off(settings)
            }
            Self::SampledTrial(trial) => trial.is_over(),
            Self::Indexed(values) => values.is_full(settings),
            Self::Encoded(_) | Self::Failed => false,
        }
    }

    /// Appends values to the page under construction.
    ///
    /// # Errors
    /// Fails with `Argument` if the chunk has already ended with an error, and with `Limit` if the page would exceed
    /// the limits of its header.
    pub(super) fn append(&mut self, slots: &Slots<'_>, observers: &mut Observers) -> Result<()> {
        match self {
            Self::DictionaryTrial(trial) => trial.append(slots),
            Self::SampledTrial(trial) => slots.with_values(|values| trial.append(values)),
            Self::Indexed(values) => values.append(slots),
            Self::Encoded(page) => slots.with_values(|values| page.append(values, observers)),
            Self::Failed => Err(failed()),
        }
    }

    /// Returns the dictionary, if it accepts values.
    pub(super) fn open_dictionary(&mut self) -> Option<&mut Dictionary> {
        match self {
            Self::DictionaryTrial(trial) => Some(&mut trial.dictionary),
            Self::Indexed(values) => Some(&mut values.dictionary.entries),
            Self::SampledTrial(_) | Self::Encoded(_) | Self::Failed => None,
        }
    }

    /// Keeps the dictionary even if it saves nothing, since it has unused values.
    pub(super) fn keep_dictionary(&mut self) {
        if let Self::DictionaryTrial(trial) = self {
            trial.keeps_dictionary = true;
        }
    }

    /// If nearly all values are new to the dictionary, buffers values from this page on.
    ///
    /// # Errors
    /// Returns the errors of encoders.
    pub(super) fn sample_if_new(&mut self, settings: &ColumnSettings) -> Result<()> {
        if let Self::DictionaryTrial(trial) = self
            && trial.is_unlikely_to_pay_off(settings)
            && let Self::DictionaryTrial(trial) = mem::take(self)
        {
            *self = Self::SampledTrial(trial.sample(settings)?);
        }
        Ok(())
    }

    /// Gives the buffered values to the dictionary if a sample shows that it will pay off.
    ///
    /// # Errors
    /// Returns the errors of encoders.
    pub(super) fn resume_if_repeated(
        &mut self,
        settings: &ColumnSettings,
        carried: Option<CarriedChoice>,
    ) -> Result<()> {
        if let Self::SampledTrial(trial) = self
            && trial.will_pay_off(settings, carried)
            && let Self::SampledTrial(trial) = mem::take(self)
        {
            *self = Self::DictionaryTrial(trial.into_dictionary_trial(settings)?);
        }
        Ok(())
    }

    /// Returns true if enough values are buffered to choose their form.
    pub(super) fn is_decision_due(&self, settings: &ColumnSettings) -> bool {
        match self {
            Self::DictionaryTrial(trial) => trial.is_decision_due(settings),
            Self::SampledTrial(trial) => trial.is_over(),
            Self::Indexed(_) | Self::Encoded(_) | Self::Failed => false,
        }
    }

    /// Falls back to values outside the dictionary if it is full.
    ///
    /// # Errors
    /// Returns the errors of encoders.
    pub(super) fn end_full_dictionary(&mut self, settings: &ColumnSettings) -> Result<()> {
        if let Self::Indexed(values) = self
            && values.is_full(settings)
            && let Self::Indexed(values) = mem::take(self)
        {
            *self = Self::Encoded(EncodedValues::after_dictionary(settings, values)?);
        }
        Ok(())
    }

    /// Returns the chunk's dictionary. Call this after the last choice.
    pub(super) fn dictionary(&self) -> Option<&ChunkDictionary> {
        match self {
            Self::Indexed(values) => Some(&values.dictionary),
            Self::Encoded(values) => values.dictionary.as_ref(),
            Self::DictionaryTrial(_) | Self::SampledTrial(_) | Self::Failed => None,
        }
    }

    /// Returns the form of the chunk's values. Call this after the last choice.
    ///
    /// # Errors
    /// Fails with `Argument` if the chunk has already ended with an error.
    pub(super) fn stored_as(&self) -> Result<StoredAs> {
        match self {
            Self::Indexed(values) => Ok(values.dictionary.stored_as()),
            Self::Encoded(values) => Ok(values.stored_as()),
            Self::DictionaryTrial(_) | Self::SampledTrial(_) | Self::Failed => Err(failed()),
        }
    }
}

/// Returns the error for calls on a chunk that has already ended with an error.
fn failed() -> Error {
    Error::argument("an error ended this column chunk before")
}
