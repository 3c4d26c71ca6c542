//! The steps by which rows are passed over without a look at their values.

/// A step by which a read learns which rows of a row group can be wanted, and where they lie, before it decodes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PruningStep {
    /// Bounds and counts in the metadata of column chunks.
    Statistics,
    /// Bloom filters of columns that are tested for a few values.
    BloomFilters,
    /// Dictionaries of tested columns of which all pages refer to them.
    Dictionaries,
    /// Bounds and counts of pages: column indexes, and the offset indexes of the same columns.
    ColumnIndexes,
    /// Offset indexes of all columns, so that no header is read of pages that are passed over.
    PageMaps,
}

impl PruningStep {
    /// All of them, in their order.
    pub(crate) const ALL: [Self; 5] = [
        Self::Statistics,
        Self::BloomFilters,
        Self::Dictionaries,
        Self::ColumnIndexes,
        Self::PageMaps,
    ];

    /// Those that read something of the file, in their order.
    pub(crate) const LOOKUPS: [Self; 4] = [
        Self::BloomFilters,
        Self::Dictionaries,
        Self::ColumnIndexes,
        Self::PageMaps,
    ];
}

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
