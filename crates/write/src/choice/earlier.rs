//! What was chosen for the column in the row group before.
//!
//! Small row groups would have their values looked at as long as they are written. So what was chosen by a sample holds for some
//! more values, in the row groups behind, and a dictionary that was given up in one row group has to show in the next one that it
//! would pay.

use super::packing::IndexForm;
use super::{Choice, LevelForm};
use herringbone_core::compression::Compression;
use herringbone_format::Encoding;

/// For so many values a choice holds, nulls and those included that it was made for,
const HOLDS_FOR: usize = 1 << 16;

/// and for so many times as many at once, at most: a choice by few values says nothing of many.
const TIMES_AS_MANY: usize = 2;

/// A dictionary that was of no use is tried with all values again behind so many, or so many times as many as it was tried with.
const TRIED_AGAIN_AFTER: usize = HOLDS_FOR;
const TRIED_AGAIN_TIMES: usize = 8;

/// What was chosen for the column in the row group before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EarlierChoice {
    /// How indices were written, if there was a dictionary in the end.
    pub(super) indices: Option<IndexForm>,
    pub(super) encoding: Encoding,
    pub(super) compression: Compression,
    pub(crate) levels: LevelForm,
    /// As [`Choice::declined`].
    pub(crate) declined: Option<f64>,
    /// Values, nulls included, since it was chosen by a sample; more than it holds for, if it was not.
    since_sample: usize,
    /// Those since a row group that did not begin in doubt of its dictionary.
    since_trial: usize,
    /// Those of the row group that it was chosen for.
    num_chosen_for: usize,
}

/// What a choice was made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    /// A sample.
    Sample,
    /// The choice for the row group before.
    Earlier,
    /// Nothing: there are too few values, or there is one way only.
    Nothing,
}

impl EarlierChoice {
    /// The choice for a column chunk that has so many values, nulls included, and a dictionary or none in the end; `earlier` is
    /// what it began with.
    pub(crate) fn new(
        choice: &Choice,
        levels: LevelForm,
        (num_values, has_dictionary): (usize, bool),
        earlier: Option<&Self>,
    ) -> Self {
        let was_tried = choice.declined.is_some();
        let since_trial = earlier.filter(|earlier| earlier.is_in_doubt() && !was_tried);
        let since_trial = since_trial.map_or(0, |earlier| earlier.since_trial);
        let (since_sample, num_chosen_for) = match (choice.basis, earlier) {
            (Basis::Sample, _) => (num_values, num_values),
            (Basis::Earlier, Some(earlier)) => (
                earlier.since_sample.saturating_add(num_values),
                earlier.num_chosen_for,
            ),
            _ => (usize::MAX, num_values),
        };
        let before = earlier.and_then(|earlier| earlier.declined);
        Self {
            indices: choice.indices.filter(|_| has_dictionary),
            declined: choice.declined.or(before),
            encoding: choice.encoding,
            compression: choice.compression,
            levels,
            since_sample,
            since_trial: since_trial.saturating_add(num_values),
            num_chosen_for,
        }
    }

    /// Whether it was not to have a dictionary.
    pub(crate) fn is_values(&self) -> bool {
        self.indices.is_none()
    }

    /// Whether a dictionary has to show that it would be of use.
    pub(crate) fn is_in_doubt(&self) -> bool {
        let tried_again_after = self.num_chosen_for.saturating_mul(TRIED_AGAIN_TIMES);
        self.is_values() && self.since_trial < tried_again_after.max(TRIED_AGAIN_AFTER)
    }

    /// Whether it holds for so many further values.
    pub(crate) fn holds_for(&self, num_values: usize) -> bool {
        self.since_sample.saturating_add(num_values) <= HOLDS_FOR
            && num_values <= self.num_chosen_for.saturating_mul(TIMES_AS_MANY)
    }

    /// The same choice once more.
    pub(crate) fn again(&self) -> Choice {
        Choice {
            indices: self.indices,
            order: None,
            encoding: self.encoding,
            compression: self.compression,
            declined: None,
            estimates: Vec::new(),
            basis: Basis::Earlier,
        }
    }
}
