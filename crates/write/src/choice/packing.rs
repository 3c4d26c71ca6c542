//! The packing of dictionary indices.

use herringbone_kernels::hybrid::Runs;

use crate::explanation::StoredAs;

/// The form of a column chunk's indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexForm {
    /// True if the dictionary's entries are sorted.
    pub(crate) is_sorted: bool,
    pub(crate) packing: Packing,
}

/// The packing of dictionary indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packing {
    pub(crate) runs: Runs,
    /// True if indices end at byte boundaries or never cross one. Codecs then see equal indices as equal bytes.
    pub(crate) is_aligned: bool,
}

impl From<IndexForm> for StoredAs {
    fn from(form: IndexForm) -> Self {
        Self::Dictionary {
            is_sorted: form.is_sorted,
            is_aligned: form.packing.is_aligned,
        }
    }
}

impl Default for IndexForm {
    fn default() -> Self {
        Self {
            is_sorted: false,
            packing: Packing::TIGHT,
        }
    }
}

impl Packing {
    /// The tightest packing.
    pub(crate) const TIGHT: Self = Self {
        runs: Runs::Shortest,
        is_aligned: false,
    };

    /// Returns the index width in bits, for a dictionary with `num_entries` entries.
    pub(crate) fn width(self, num_entries: usize) -> u8 {
        let width = (usize::BITS - num_entries.saturating_sub(1).leading_zeros()) as u8;
        match width {
            3.. if !self.is_aligned => width,
            0..=2 => width,
            3..=4 => 4,
            _ => width.next_multiple_of(8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_have_the_bits_they_need_or_do_not_cross_bytes() {
        let aligned = Packing {
            is_aligned: true,
            ..Packing::TIGHT
        };
        for (entries, tight, whole) in [
            (0, 0, 0),
            (1, 0, 0),
            (2, 1, 1),
            (3, 2, 2),
            (4, 2, 2),
            (5, 3, 4),
            (16, 4, 4),
            (17, 5, 8),
            (256, 8, 8),
            (257, 9, 16),
            (65_536, 16, 16),
            (65_537, 17, 24),
        ] {
            assert_eq!(Packing::TIGHT.width(entries), tight, "{entries}");
            assert_eq!(aligned.width(entries), whole, "{entries}");
        }
    }
}
