//! The minimum and maximum of a set of numbers.

/// The minimum and maximum of a set of numbers, ignoring NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Interval {
    /// The bounds of an empty set.
    pub(super) const EMPTY: Self = Self {
        min: f64::INFINITY,
        max: f64::NEG_INFINITY,
    };

    #[inline]
    pub(super) fn add(&mut self, number: f64) {
        // Comparisons with NaN are false, so this ignores NaN.
        self.min = if number < self.min { number } else { self.min };
        self.max = if number > self.max { number } else { self.max };
    }

    /// Adds the numbers of another interval.
    #[inline]
    pub(super) fn merge(&mut self, other: Self) {
        // An empty interval has infinite bounds the wrong way around, so it's ignored here.
        self.min = if other.min < self.min {
            other.min
        } else {
            self.min
        };
        self.max = if other.max > self.max {
            other.max
        } else {
            self.max
        };
    }

    pub(super) fn is_empty(&self) -> bool {
        self.min > self.max
    }

    /// Returns both bounds, unless the interval is empty.
    pub(super) fn bounds(&self) -> Option<(f64, f64)> {
        (!self.is_empty()).then_some((self.min, self.max))
    }
}
