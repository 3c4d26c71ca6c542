//! A leaf's levels for a list shared with other leaves.
//!
//! All leaves below a list repeat its levels, and the first of them builds the offsets. In a damaged file, leaves might
//! describe different lists. To detect this wherever batches end, each leaf stores two bits per level for comparison.
//! Two bits are enough, because they fully determine the offsets.

use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_kernels::nesting;

/// A list with several leaves.
#[derive(Debug, Clone, Copy)]
pub struct SharedListPlan {
    /// The repetition level of the list elements.
    pub rep_level: u8,
    /// The lowest definition level with a list element.
    pub element_def: u8,
}

/// A builder for a shared list's levels. A level belongs to the list if its repetition level is at most the elements'
/// level.
pub(crate) struct ListLevelsBuilder {
    plan: SharedListPlan,
    levels: nesting::ListLevels,
}

/// Two bits for each of a shared list's levels. Used to check that sibling leaves describe the same lists.
#[derive(Debug)]
pub struct ListLevels {
    /// Set if the level continues a list, unset if it starts a new list.
    goes_on: BooleanBuffer,
    /// Set if the list has an element there.
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

    /// Returns the number of bytes stored so far.
    pub(crate) fn bytes(&self) -> usize {
        self.levels.len() / 4
    }

    /// Returns the levels added since the last call.
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

    /// Returns true if the `n` levels from `start` on form the same lists as `other`'s levels from `other_start` on. If
    /// they don't, the file is damaged.
    pub fn same(&self, start: usize, other: &Self, other_start: usize, n: usize) -> bool {
        self.goes_on.slice(start, n) == other.goes_on.slice(other_start, n)
            && self.has_element.slice(start, n) == other.has_element.slice(other_start, n)
    }
}
