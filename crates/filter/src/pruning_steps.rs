//! The steps by which rows are passed over without a look at their values.

use herringbone_core::metrics::PruningStep;

/// Which [steps](PruningStep) a read takes, each where it can win. The rows are the same with any of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruningSteps(u8);

impl PruningSteps {
    /// All steps.
    #[must_use]
    pub const fn all() -> Self {
        Self(u8::MAX)
    }

    /// No step: all rows are decoded as far as they are tested.
    #[must_use]
    pub const fn none() -> Self {
        Self(0)
    }

    /// These steps, and another one.
    #[must_use]
    pub const fn with(self, step: PruningStep) -> Self {
        Self(self.0 | (1 << step as u8))
    }

    /// These steps but for one.
    #[must_use]
    pub const fn without(self, step: PruningStep) -> Self {
        Self(self.0 & !(1 << step as u8))
    }

    /// Whether a step is taken.
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
