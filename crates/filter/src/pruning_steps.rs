//! Steps for pruning rows without looking at their values.

use herringbone_core::metrics::PruningStep;

/// The set of [steps](PruningStep) a read may take. A step is only taken if it might save work, and any set selects the
/// same rows. You rarely need to change the set, except to save the requests of a step that doesn't pay off.
///
/// ```
/// use herringbone::ReadOptions;
/// use herringbone::filter::{PruningStep, PruningSteps, col};
///
/// // Bloom filters are not read: each would take a request.
/// let steps = PruningSteps::all().without(PruningStep::BloomFilters);
/// assert!(!steps.has(PruningStep::BloomFilters));
/// let options = ReadOptions::new().filter(col("id").eq(7)).pruning(steps);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruningSteps(u8);

impl PruningSteps {
    /// Returns all steps.
    #[must_use]
    pub const fn all() -> Self {
        Self(u8::MAX)
    }

    /// Returns no steps, so that tested columns are decoded for all rows.
    #[must_use]
    pub const fn none() -> Self {
        Self(0)
    }

    /// Adds a step to the set.
    #[must_use]
    pub const fn with(self, step: PruningStep) -> Self {
        Self(self.0 | (1 << step as u8))
    }

    /// Removes a step from the set.
    #[must_use]
    pub const fn without(self, step: PruningStep) -> Self {
        Self(self.0 & !(1 << step as u8))
    }

    /// Returns true if a step is in the set.
    #[must_use]
    pub const fn has(self, step: PruningStep) -> bool {
        self.0 & (1 << step as u8) != 0
    }
}

impl Default for PruningSteps {
    fn default() -> Self {
        Self::all()
    }
}
