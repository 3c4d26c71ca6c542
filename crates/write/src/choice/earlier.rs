//! The encoding choice carried over from the previous row group.
//!
//! In small row groups, sampling the values would take as long as writing them. So a choice by a sample holds for some
//! more values, in the row groups after it. A dictionary that was given up in one row group must show in the next one
//! that it would pay.

use super::packing::IndexForm;
use super::{Choice, LevelForm};
use herringbone_core::compression::Compression;
use herringbone_format::Encoding;

/// The number of values for which a choice holds. Nulls are included, and so are the values it was made for.
const HOLDS_FOR: usize = 1 << 16;

/// The maximum number of values of a chunk for which a choice holds, as a multiple of those it was made for. A choice
/// by few values proves nothing about many.
const TIMES_AS_MANY: usize = 2;

/// The minimum number of values, nulls included, after which a dictionary that did not pay is tried again with all
/// values.
const TRIED_AGAIN_AFTER: usize = HOLDS_FOR;

/// The multiple of the values it was tried with after which a dictionary that did not pay is tried again with all
/// values.
const TRIED_AGAIN_TIMES: usize = 8;

/// The encoding choice carried over from the previous row group.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EarlierChoice {
    /// The form of the indices, if the chunk had a dictionary in the end.
    pub(super) indices: Option<IndexForm>,
    pub(super) encoding: Encoding,
    pub(super) compression: Compression,
    pub(crate) levels: LevelForm,
    /// See [`Choice::declined`].
    pub(crate) declined: Option<f64>,
    /// The number of values, nulls included, since the last choice by a sample. If there was no sample, it exceeds
    /// [`HOLDS_FOR`].
    since_sample: usize,
    /// The number of values, nulls included, since the start of a row group that did not begin with its dictionary in
    /// doubt.
    since_trial: usize,
    /// The number of values, nulls included, of the row group for which the choice was made.
    num_chosen_for: usize,
}

/// The basis of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Basis {
    /// A sample.
    Sample,
    /// The choice for the previous row group.
    Earlier,
    /// Nothing: there are too few values, or only one possible form.
    Nothing,
}

impl EarlierChoice {
    /// Creates the choice of a column chunk with `num_values` values, nulls included. `has_dictionary` is true if it
    /// has a dictionary in the end. `earlier` is the choice with which it began.
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

    /// Returns true if no dictionary was chosen.
    pub(crate) fn is_values(&self) -> bool {
        self.indices.is_none()
    }

    /// Returns true if a dictionary must first show that it would pay.
    pub(crate) fn is_in_doubt(&self) -> bool {
        let tried_again_after = self.num_chosen_for.saturating_mul(TRIED_AGAIN_TIMES);
        self.is_values() && self.since_trial < tried_again_after.max(TRIED_AGAIN_AFTER)
    }

    /// Returns true if the choice holds for `num_values` further values.
    pub(crate) fn holds_for(&self, num_values: usize) -> bool {
        self.since_sample.saturating_add(num_values) <= HOLDS_FOR
            && num_values <= self.num_chosen_for.saturating_mul(TIMES_AS_MANY)
    }

    /// Returns this choice again, with [`Basis::Earlier`].
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
