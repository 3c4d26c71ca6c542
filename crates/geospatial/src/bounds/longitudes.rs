//! Arcs of longitude, and the narrowest arc that contains them all.

use super::interval::Interval;

/// An arc from west to east that does not cross the antimeridian: -180 ≤ west ≤ east ≤ 180.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Arc {
    west: f64,
    east: f64,
}

/// The maximum number of separate arcs. Beyond it, the two arcs closest to each other are joined, so the hull may be
/// wider than necessary but never too narrow.
const KEPT_APART: usize = 16;

/// The widest gap to close, in degrees: a hundredth of the way around. A box that leaves less than this free may as
/// well go all around. Columns with values all over the Earth therefore soon have few arcs.
const CLOSE: f64 = 3.6;

/// The longitudes that occur: arcs from west to east, with gaps between them.
#[derive(Debug, Clone)]
pub(super) struct Longitudes {
    /// Entries from `count` on are meaningless.
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

    /// Adds all longitudes.
    pub(super) fn add_all(&mut self) {
        self.insert(Arc {
            west: -180.0,
            east: 180.0,
        });
    }

    /// Adds the arc from `west` eastwards to `east`, both from -180 to 180. It crosses the antimeridian if `west` is
    /// the greater.
    pub(super) fn add(&mut self, west: f64, east: f64) {
        if west <= east {
            self.insert(Arc { west, east });
        } else {
            self.insert(Arc { west, east: 180.0 });
            self.insert(Arc { west: -180.0, east });
        }
    }

    /// Adds longitudes that lie within `bounds`. NaN is ignored.
    pub(super) fn add_each(&mut self, longitudes: impl Iterator<Item = f64>, bounds: Interval) {
        if bounds.is_empty() || self.contain(bounds.min, bounds.max) {
            return;
        }
        if bounds.max - bounds.min <= CLOSE {
            self.add(bounds.min, bounds.max);
            return;
        }
        for longitude in longitudes.filter(|longitude| !longitude.is_nan()) {
            self.add(longitude, longitude);
        }
    }

    /// Returns true if everything from `west` eastwards to `east` is covered. `west` must not exceed `east`.
    #[inline]
    pub(super) fn contain(&self, west: f64, east: f64) -> bool {
        let mut arcs = self.arcs().iter();
        arcs.any(|arc| arc.west <= west && east <= arc.east)
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for arc in other.arcs() {
            self.insert(*arc);
        }
    }

    /// Returns the west and east of the narrowest arc that contains all longitudes: everything but the largest gap.
    /// It crosses the antimeridian only if that makes it narrower.
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
        // Most positions are near earlier ones.
        if self.contain(new.west, new.east) {
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

    /// Replaces the arcs from `start` to `end`, a range that may be empty, with one arc.
    fn replace(&mut self, start: usize, end: usize, arc: Arc) {
        // There is room for one more arc than `KEPT_APART`.
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
