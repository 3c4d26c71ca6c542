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
    /// the column are null where another column in them has a null of the group, and count as present where
    /// all of them are damaged or not read. Anything else costs the rest of the row group.
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

/// What a read went on without: the first losses, and how many more there are. A small file may have
/// very many.
#[derive(Debug, Default)]
pub struct Losses {
    kept: Vec<Loss>,
    more: u64,
}

impl Losses {
    /// As many are kept.
    pub const MOST: usize = 1000;

    /// Those that are kept, in order.
    #[must_use]
    pub fn kept(&self) -> &[Loss] {
        &self.kept
    }

    /// How many others there are.
    #[must_use]
    pub fn not_kept(&self) -> u64 {
        self.more
    }

    /// Adds a loss.
    pub fn push(&mut self, loss: Loss) {
        if self.kept.len() < Self::MOST {
            self.kept.push(loss);
        } else {
            self.more += 1;
        }
    }

    /// Adds those that come next.
    pub fn append(&mut self, next: Self) {
        next.kept.into_iter().for_each(|loss| self.push(loss));
        self.more = self.more.saturating_add(next.more);
    }

    /// Returns true if nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(from: usize, n: usize) -> Losses {
        let mut losses = Losses::default();
        for i in from..from + n {
            losses.push(Loss {
                error: Error::corrupt(i.to_string()),
                lost: Lost::Values(1),
            });
        }
        losses
    }

    #[test]
    fn the_first_are_kept_and_the_others_counted() {
        let mut all = losses(0, 700);
        assert_eq!((all.kept().len(), all.not_kept()), (700, 0));
        all.append(losses(700, 1200));
        let kept = all.kept().iter().map(|loss| loss.error.message());
        let expected = (0..Losses::MOST).map(|i| i.to_string());
        assert!(kept.eq(expected));
        assert_eq!(all.not_kept(), 900);
    }
}
