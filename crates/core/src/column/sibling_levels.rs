//! What the levels of a leaf say of a list that it shares with other leaves.
//!
//! All leaves below a list carry its levels, and the first of them makes its offsets. So that a
//! file whose leaves tell different lists is refused, wherever batches end, each of them keeps two
//! bits a level for comparison: these are all that offsets are made of.

use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_kernels::nesting;

/// A list with several leaves below it.
#[derive(Debug, Clone, Copy)]
pub struct SharedListPlan {
    /// Repetition level of the list's elements.
    pub rep_level: u8,
    /// Definition level from which on there is an element.
    pub element_def: u8,
}

/// The levels that concern a shared list, those with a repetition level of at most that of its
/// elements, under construction.
pub(crate) struct ListLevelsBuilder {
    plan: SharedListPlan,
    levels: nesting::ListLevels,
}

/// A bit for each level that concerns a shared list.
#[derive(Debug)]
pub struct ListLevels {
    /// Set where a list goes on, not set where one starts.
    goes_on: BooleanBuffer,
    /// Set where there is an element.
    has_element: BooleanBuffer,
}

impl ListLevelsBuilder {
    pub(crate) fn new(plan: SharedListPlan) -> Self {
        let levels = nesting::ListLevels::default();
        Self { plan, levels }
    }

    /// Adds a run of levels.
    pub(crate) fn add(&mut self, rep: &[u8], def: &[u8]) {
        let SharedListPlan {
            rep_level,
            element_def,
        } = self.plan;
        nesting::list_levels(rep, def, rep_level, element_def, &mut self.levels);
    }

    /// Bytes kept so far.
    pub(crate) fn bytes(&self) -> usize {
        self.levels.len() / 4
    }

    /// What was added since the last call.
    pub(crate) fn finish(&mut self) -> ListLevels {
        let (goes_on, has_element) = self.levels.finish();
        ListLevels {
            goes_on,
            has_element,
        }
    }
}

impl ListLevels {
    /// Returns the number of levels.
    pub fn num_levels(&self) -> usize {
        self.goes_on.len()
    }

    /// Whether `n` levels from `start` on make the same lists as those of `other` from
    /// `other_start` on.
    pub fn same(&self, start: usize, other: &Self, other_start: usize, n: usize) -> bool {
        self.goes_on.slice(start, n) == other.goes_on.slice(other_start, n)
            && self.has_element.slice(start, n) == other.has_element.slice(other_start, n)
    }
}
