//! Bounds the x of a GEOMETRY.

use super::interval::Interval;

/// The x values of a GEOMETRY. This is an interval, plus everything outside a gap if some added box
/// crosses an antimeridian. We can't do better there, because we don't know where a plane's
/// antimeridian is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PlaneX {
    pub(super) interval: Interval,
    /// The gap left by added boxes that cross an antimeridian. It can be empty.
    gap: Option<Interval>,
}

impl PlaneX {
    pub(super) const EMPTY: Self = Self {
        interval: Interval::EMPTY,
        gap: None,
    };

    /// Adds every x of at least `min` or at most `max`. `max` must be the smaller of the two.
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

    /// Returns the bounds, or `None` if nothing bounds all of the values. If the bounds cross an
    /// antimeridian, the first is the greater one.
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
