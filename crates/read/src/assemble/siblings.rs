//! The check that the columns below a list agree about its lists.
//!
//! Each column of a shared list has the list's levels as bits next to its column batch. We compare the levels up to the
//! end of the shortest column batch, and compare the rest of longer ones in the next batch. The result therefore does
//! not depend on where column batches or batches end.

use herringbone_format::Error;

use herringbone_core::column::sibling_levels::ListLevels;

/// The levels of one member, and the number of levels compared so far.
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

    /// Returns the number of levels still to be compared.
    pub(crate) fn left(&self) -> usize {
        self.levels.num_levels() - self.compared
    }

    /// Returns true if the next `n` levels equal the next ones in `other`.
    pub(crate) fn agrees(&self, other: &Self, n: usize) -> bool {
        self.levels
            .same(self.compared, &other.levels, other.compared, n)
    }

    pub(crate) fn advance(&mut self, n: usize) {
        self.compared += n;
    }
}

/// Returns the error for columns whose levels for a common ancestor differ.
pub(crate) fn disagreement() -> Error {
    Error::corrupt("columns of the same group disagree about its lists")
}

/// Returns the error for columns whose levels for a common ancestor differ. The message names the other column.
pub(crate) fn disagreement_with(path: &str) -> Error {
    Error::corrupt(format!(
        "columns of the same group disagree about its lists: `{path}` has different ones"
    ))
}
