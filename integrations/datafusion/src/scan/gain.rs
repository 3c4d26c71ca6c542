//! Stops testing dynamic filters that select nearly all rows, because they are not worth their
//! cost.

/// The number of rows that we test before we judge a filter.
const JUDGED_AFTER: u64 = 1 << 14;

/// The outcome of a dynamic filter's tests since it last changed.
#[derive(Debug, Default)]
pub(crate) struct Gain {
    generation: u64,
    tested: u64,
    selected: u64,
}

impl Gain {
    /// Returns false if the filter selected more than seven of eight rows. When a filter changes,
    /// it gets a new generation, and we judge it anew.
    pub(crate) fn is_worth_testing(&mut self, generation: u64) -> bool {
        if generation != self.generation {
            *self = Self {
                generation,
                ..Self::default()
            };
        }
        self.tested < JUDGED_AFTER || self.selected <= self.tested / 8 * 7
    }

    /// Records a test of some rows.
    pub(crate) fn add(&mut self, tested: usize, selected: usize) {
        self.tested += tested as u64;
        self.selected += selected as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_selects_nearly_all_rows_is_left_out_until_it_changes() {
        let mut gain = Gain::default();
        gain.add(16_383, 16_383);
        assert!(gain.is_worth_testing(0));
        gain.add(1, 1);
        assert!(!gain.is_worth_testing(0));
        assert!(gain.is_worth_testing(1));
        gain.add(16_384, 14_336);
        assert!(gain.is_worth_testing(1));
        gain.add(8, 8);
        assert!(!gain.is_worth_testing(1));
    }
}
