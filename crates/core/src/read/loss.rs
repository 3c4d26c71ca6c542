//! What a read goes on without, where the caller prefers part of a damaged file to none.

use herringbone_format::{Error, ErrorKind};

/// What to do about damage.
///
/// Damage is what makes an error of the kinds Corrupt, Unsupported and Limit, as a changed byte may
/// look like any of them. Other errors, and damage to the footer, always end the read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnError {
    /// The read ends with the error.
    #[default]
    Fail,
    /// The rest of the row group is left out: its rows from the batch on that has the damage.
    SkipRowGroup,
    /// The values of a damaged page become null: of columns without lists that may be null, where
    /// the header of the page is sound and its body is not, or lacks its dictionary. Groups around
    /// the column count as present. Anything else costs the rest of the row group.
    NullPage,
}

impl OnError {
    /// Whether a read goes on behind the row group that the error is in.
    #[must_use]
    pub fn goes_on(self, error: &Error) -> bool {
        self != Self::Fail && is_damage(error)
    }
}

pub(crate) fn is_damage(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Corrupt | ErrorKind::Unsupported | ErrorKind::Limit
    )
}

/// Something that a read went on without.
#[derive(Debug)]
pub struct Loss {
    /// The damage, with its place.
    pub error: Error,
    /// How much it cost.
    pub lost: Lost,
}

/// How much was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// Rows that are in no batch.
    Rows(u64),
    /// Values of one column that are null in their batches. None behind a dictionary, whose pages
    /// are losses of their own.
    Values(u64),
}
