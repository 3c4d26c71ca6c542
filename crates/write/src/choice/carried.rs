//! The encoding choice carried over from the previous row group.
//!
//! In small row groups, sampling the values would take as long as writing them. A sampled choice therefore stays in
//! force for some more values, in the following row groups. A dictionary that was given up in one row group must first
//! prove itself in the next.

use super::packing::IndexForm;
use super::{Choice, LevelForm};
use herringbone_core::compression::Compression;
use herringbone_format::Encoding;

/// The number of values a choice applies to. This includes nulls and the values it was made for.
const MAX_REUSED_VALUES: usize = 1 << 16;

/// The most chunk values a choice applies to, as a multiple of the values it was made for. Note that a choice based on
/// few values proves nothing about many.
const MAX_REUSED_RATIO: usize = 2;

/// The minimum number of values, including nulls, before a losing dictionary is retried on all values.
const RETRY_AFTER: usize = MAX_REUSED_VALUES;

/// The number of values before a losing dictionary is retried on all values, as a multiple of the values it was tried
/// on.
const RETRY_RATIO: usize = 8;

/// The encoding choice carried over from the previous row group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CarriedChoice {
    /// The index form, if the chunk ended up with a dictionary.
    pub(super) indices: Option<IndexForm>,
    pub(super) encoding: Encoding,
    pub(super) compression: Compression,
    pub(crate) levels: LevelForm,
    /// The rejected dictionary's size, as in [`Choice::rejected`].
    pub(crate) rejected: Option<f64>,
    /// The number of values, including nulls, since the last sampled choice. Without a sample, it exceeds
    /// [`MAX_REUSED_VALUES`].
    since_sample: usize,
    /// The number of values, including nulls, since the start of the last row group without a sampled trial at its
    /// start.
    since_trial: usize,
    /// The number of values, including nulls, in the row group the choice was made for.
    num_chosen_for: usize,
}

/// The source of a choice. Used to tell a sampled choice from a default one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChoiceSource {
    /// A sample of the values.
    Sample,
    /// The choice for the previous row group.
    Carried,
    /// The default forms, used if there are too few values or only one form is possible.
    Default,
}

impl CarriedChoice {
    /// Creates the choice passed on by a column chunk with `num_values` values, including nulls. `has_dictionary` is
    /// true if the chunk ended up with a dictionary. `carried` is the choice the chunk started with.
    pub(crate) fn new(
        choice: &Choice,
        levels: LevelForm,
        (num_values, has_dictionary): (usize, bool),
        carried: Option<&Self>,
    ) -> Self {
        let was_tried = choice.rejected.is_some();
        let since_trial = carried.filter(|carried| carried.needs_sampled_trial() && !was_tried);
        let since_trial = since_trial.map_or(0, |carried| carried.since_trial);
        let (since_sample, num_chosen_for) = match (choice.source, carried) {
            (ChoiceSource::Sample, _) => (num_values, num_values),
            (ChoiceSource::Carried, Some(carried)) => (
                carried.since_sample.saturating_add(num_values),
                carried.num_chosen_for,
            ),
            _ => (usize::MAX, num_values),
        };
        let before = carried.and_then(|carried| carried.rejected);
        Self {
            indices: choice.indices.filter(|_| has_dictionary),
            rejected: choice.rejected.or(before),
            encoding: choice.encoding,
            compression: choice.compression,
            levels,
            since_sample,
            since_trial: since_trial.saturating_add(num_values),
            num_chosen_for,
        }
    }

    /// Returns true if no dictionary was chosen.
    pub(crate) fn is_values(&self) -> bool {
        self.indices.is_none()
    }

    /// Returns true if a dictionary must first prove in a trial that it pays.
    pub(crate) fn needs_sampled_trial(&self) -> bool {
        let retry_after = self.num_chosen_for.saturating_mul(RETRY_RATIO);
        self.is_values() && self.since_trial < retry_after.max(RETRY_AFTER)
    }

    /// Returns true if the choice applies to `num_values` further values.
    pub(crate) fn applies_to(&self, num_values: usize) -> bool {
        self.since_sample.saturating_add(num_values) <= MAX_REUSED_VALUES
            && num_values <= self.num_chosen_for.saturating_mul(MAX_REUSED_RATIO)
    }

    /// Returns this choice for reuse, with [`ChoiceSource::Carried`] as its source.
    pub(crate) fn reuse(&self) -> Choice {
        Choice {
            indices: self.indices,
            order: None,
            encoding: self.encoding,
            compression: self.compression,
            rejected: None,
            estimates: Vec::new(),
            source: ChoiceSource::Carried,
        }
    }
}
