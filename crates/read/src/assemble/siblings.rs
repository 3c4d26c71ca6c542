//! Whether the columns below a list tell the same lists.
//!
//! Each column of a shared list has its levels as bits beside its column batch. They are compared as far as
//! all of them reach; what is left of longer column batches waits for the next batch. So nothing depends on
//! where column batches or batches end.

use herringbone_format::Error;

use herringbone_core::column::sibling_levels::ListLevels;

/// Levels of one member, and how many of them were compared.
#[derive(Debug)]
pub(crate) struct LevelsInUse {
    levels: ListLevels,
    compared: usize,
}

impl LevelsInUse {
    pub(crate) fn new(levels: ListLevels) -> Self {
        let compared = 0;
        Self { levels, compared }
    }

    /// Levels that are to be compared.
    pub(crate) fn left(&self) -> usize {
        self.levels.num_levels() - self.compared
    }

    /// Whether the next `n` levels are the same as those of another.
    pub(crate) fn agrees(&self, other: &Self, n: usize) -> bool {
        self.levels
            .same(self.compared, &other.levels, other.compared, n)
    }

    pub(crate) fn advance(&mut self, n: usize) {
        self.compared += n;
    }
}

/// The columns below a common ancestor repeat its levels, and these do not.
pub(crate) fn disagreement() -> Error {
    Error::corrupt("columns of the same group disagree about its lists")
}

/// The same where the other column is known.
pub(crate) fn disagreement_with(path: &str) -> Error {
    Error::corrupt(format!(
        "columns of the same group disagree about its lists: those of `{path}` are others"
    ))
}
