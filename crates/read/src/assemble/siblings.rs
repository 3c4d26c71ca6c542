//! Checks that the columns below a list agree about its lists.
//!
//! Each column of a shared list has the list's levels as bits alongside its column batch. We compare the levels up to
//! the end of the shortest column batch, leaving the rest of longer ones to the next batch. The result therefore does
//! not depend on where column batches or record batches end.

use herringbone_format::Error;

use herringbone_core::column::sibling_levels::ListLevels;

/// A member's levels, and how many have been compared so far.
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

    /// Returns the number of levels left to compare.
    pub(crate) fn left(&self) -> usize {
        self.levels.num_levels() - self.compared
    }

    /// Returns true if the next `n` levels are equal to the next `n` in `other`.
    pub(crate) fn agrees(&self, other: &Self, n: usize) -> bool {
        self.levels
            .same(self.compared, &other.levels, other.compared, n)
    }

    pub(crate) fn advance(&mut self, n: usize) {
        self.compared += n;
    }
}

/// Returns the error for columns with different levels for a common ancestor.
pub(crate) fn disagreement() -> Error {
    Error::corrupt("columns of the same group disagree about its lists")
}

/// Returns the error for columns with different levels for a common ancestor, naming the other column.
pub(crate) fn disagreement_with(path: &str) -> Error {
    Error::corrupt(format!(
        "columns of the same group disagree about its lists: `{path}` has different ones"
    ))
}
