//! The x of a GEOMETRY.

use super::interval::Interval;

/// What x occur in a plane: an interval, and what lies outside of a gap where boxes of others go
/// across an antimeridian, wherever that is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PlaneX {
    pub(super) interval: Interval,
    /// Nothing is known to lie between these; it may be empty.
    gap: Option<Interval>,
}

impl PlaneX {
    pub(super) const EMPTY: Self = Self {
        interval: Interval::EMPTY,
        gap: None,
    };

    /// What is at least `min`, or at most `max`, which is the smaller one.
    pub(super) fn add_wrapped(&mut self, min: f64, max: f64) {
        self.leave(Interval { min: max, max: min });
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.interval.merge(other.interval);
        if let Some(gap) = other.gap {
            self.leave(gap);
        }
    }

    fn leave(&mut self, gap: Interval) {
        self.gap = Some(match self.gap {
            None => gap,
            Some(before) => Interval {
                min: before.min.max(gap.min),
                max: before.max.min(gap.max),
            },
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.interval.is_empty() && self.gap.is_none()
    }

    /// The bounds, the first of which is the greater where they go across an antimeridian. `None`
    /// where nothing bounds all of it.
    pub(super) fn bounds(&self) -> Option<(f64, f64)> {
        let Some(gap) = self.gap else {
            return self.interval.bounds();
        };
        let wider = |a: Interval, b: Interval| if b.max - b.min > a.max - a.min { b } else { a };
        let left = match self.interval.bounds() {
            None => gap,
            Some((min, max)) => {
                let below = Interval {
                    min: gap.min,
                    max: gap.max.min(min),
                };
                let above = Interval {
                    min: gap.min.max(max),
                    max: gap.max,
                };
                wider(below, above)
            }
        };
        (left.max > left.min).then_some((left.max, left.min))
    }
}
