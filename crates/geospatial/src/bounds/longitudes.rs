//! Arcs of longitude, and the narrowest one that holds them all.

use super::interval::Interval;

/// An arc from west to east that does not go across the antimeridian: -180 ≤ west ≤ east ≤ 180.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Arc {
    west: f64,
    east: f64,
}

/// As many arcs as are kept apart. Where there are more, those that lie closest together become one,
/// so that the result may be wider than it has to be, but never too narrow.
const KEPT_APART: usize = 16;

/// Degrees of a gap that is closed, a hundredth of the way around: a box that leaves less free may go all around instead. So
/// the values of a column that lie all over the Earth soon have few arcs.
const CLOSE: f64 = 3.6;

/// Longitudes that occur: arcs with gaps between them, from west to east.
#[derive(Debug, Clone)]
pub(super) struct Longitudes {
    /// Those from `count` on are of no meaning.
    arcs: [Arc; KEPT_APART + 1],
    count: usize,
}

impl Longitudes {
    pub(super) fn new() -> Self {
        Self {
            arcs: [Arc {
                west: 0.0,
                east: 0.0,
            }; KEPT_APART + 1],
            count: 0,
        }
    }

    /// All of them.
    pub(super) fn add_all(&mut self) {
        self.insert(Arc {
            west: -180.0,
            east: 180.0,
        });
    }

    /// From `west` eastwards to `east`, both from -180 to 180; across the antimeridian where `west` is
    /// the greater.
    pub(super) fn add(&mut self, west: f64, east: f64) {
        if west <= east {
            self.insert(Arc { west, east });
        } else {
            self.insert(Arc { west, east: 180.0 });
            self.insert(Arc { west: -180.0, east });
        }
    }

    /// Each of some longitudes, which lie within `bounds`; NaN is none of them.
    pub(super) fn add_each(&mut self, longitudes: impl Iterator<Item = f64>, bounds: Interval) {
        if bounds.is_empty() || self.hold(bounds.min, bounds.max) {
            return;
        }
        if bounds.max - bounds.min <= CLOSE {
            self.add(bounds.min, bounds.max);
            return;
        }
        for longitude in longitudes.filter(|it| !it.is_nan()) {
            self.add(longitude, longitude);
        }
    }

    /// Whether they have all from `west` eastwards to `east`, the greater one.
    #[inline]
    pub(super) fn hold(&self, west: f64, east: f64) -> bool {
        let mut arcs = self.arcs().iter();
        arcs.any(|arc| arc.west <= west && east <= arc.east)
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for arc in other.arcs() {
            self.insert(*arc);
        }
    }

    /// The narrowest arc that holds all, west and east: what the largest gap leaves. It goes across the
    /// antimeridian only where it is narrower for it.
    pub(super) fn hull(&self) -> Option<(f64, f64)> {
        let arcs = self.arcs();
        let (first, last) = (arcs.first()?, arcs.last()?);
        let mut hull = (first.west, last.east);
        let mut largest = first.west + 360.0 - last.east;
        for pair in arcs.windows(2) {
            if let [before, after] = pair {
                let gap = after.west - before.east;
                if gap > largest {
                    largest = gap;
                    hull = (after.west, before.east);
                }
            }
        }
        Some(hull)
    }

    fn arcs(&self) -> &[Arc] {
        self.arcs.get(..self.count).unwrap_or_default()
    }

    fn insert(&mut self, new: Arc) {
        // Most positions are near those before.
        if self.hold(new.west, new.east) {
            return;
        }
        let arcs = self.arcs();
        let start = arcs.partition_point(|arc| arc.east < new.west - CLOSE);
        let end = arcs.partition_point(|arc| arc.west <= new.east + CLOSE);
        let mut merged = new;
        for arc in arcs.get(start..end).unwrap_or_default() {
            merged.west = merged.west.min(arc.west);
            merged.east = merged.east.max(arc.east);
        }
        self.replace(start, end, merged);
        if self.count > KEPT_APART {
            self.join_closest();
        }
    }

    /// Puts one arc in the place of those from `start` to `end`, of which there may be none.
    fn replace(&mut self, start: usize, end: usize, arc: Arc) {
        // There is room for one more than is kept.
        self.arcs.copy_within(end..self.count, start + 1);
        if let Some(slot) = self.arcs.get_mut(start) {
            *slot = arc;
        }
        self.count = self.count + 1 + start - end;
    }

    fn join_closest(&mut self) {
        let mut closest = (0, f64::INFINITY);
        for (index, pair) in self.arcs().windows(2).enumerate() {
            if let [before, after] = pair {
                let gap = after.west - before.east;
                if gap < closest.1 {
                    closest = (index, gap);
                }
            }
        }
        let (index, _) = closest;
        if let Some([before, after]) = self.arcs().get(index..index + 2) {
            let joined = Arc {
                west: before.west,
                east: after.east,
            };
            self.replace(index, index + 2, joined);
        }
    }
}
