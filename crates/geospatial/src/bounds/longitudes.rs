//! Collects arcs of longitude, and finds the narrowest arc that contains them all.

use super::interval::Interval;

/// An arc from west to east that does not cross the antimeridian, so that -180 ≤ west ≤ east ≤ 180.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Arc {
    west: f64,
    east: f64,
}

/// The maximum number of separate arcs. Beyond this, we join the two closest arcs. The hull can
/// then be wider than necessary, but never too narrow.
const KEPT_APART: usize = 16;

/// The widest gap that we close, in degrees. This is a hundredth of a turn, since a box that leaves
/// out less than that might as well go all around. It keeps the arc count low for columns with
/// values all over the Earth.
const CLOSE: f64 = 3.6;

/// A set of longitudes, stored as sorted disjoint arcs from west to east.
#[derive(Debug, Clone)]
pub(super) struct Longitudes {
    /// The arcs. Only the first `count` entries are valid.
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

    /// Adds the arc from `west` eastwards to `east`, both from -180 to 180. The arc crosses the
    /// antimeridian if `west` is greater than `east`.
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

    /// Returns true if everything from `west` eastwards to `east` is covered. `west` must not
    /// exceed `east`.
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

    /// Returns the west and east end of the narrowest arc that contains all longitudes, that is,
    /// everything but the largest gap. The arc only crosses the antimeridian if that makes it
    /// narrower.
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
        // Check this first, since most positions are near earlier ones.
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

    /// Replaces the arcs from `start` to `end` with one arc. The range can be empty.
    fn replace(&mut self, start: usize, end: usize, arc: Arc) {
        // The array has room for one more arc than `KEPT_APART`.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arcs: &[(f64, f64)]) -> Longitudes {
        let mut longitudes = Longitudes::new();
        for (west, east) in arcs {
            longitudes.add(*west, *east);
        }
        longitudes
    }

    fn arcs(longitudes: &Longitudes) -> Vec<(f64, f64)> {
        let arcs = longitudes.arcs().iter();
        arcs.map(|arc| (arc.west, arc.east)).collect()
    }

    /// Each line has the arcs to add, the resulting arcs and the hull, worked out by hand on a
    /// globe.
    #[test]
    fn arcs_are_joined_if_they_are_close() {
        type Arcs<'a> = &'a [(f64, f64)];
        let table: [(Arcs<'_>, Arcs<'_>, (f64, f64)); 10] = [
            (&[(1.0, 2.0)], &[(1.0, 2.0)], (1.0, 2.0)),
            // One arc inside the other, in either order, and two overlapping arcs.
            (&[(0.0, 9.0), (3.0, 4.0)], &[(0.0, 9.0)], (0.0, 9.0)),
            (&[(3.0, 4.0), (0.0, 9.0)], &[(0.0, 9.0)], (0.0, 9.0)),
            (&[(0.0, 9.0), (5.0, 12.0)], &[(0.0, 12.0)], (0.0, 12.0)),
            // The first gap is just narrow enough to be closed. The second stays open.
            (&[(5.0, 6.0), (0.0, 1.5)], &[(0.0, 6.0)], (0.0, 6.0)),
            (
                &[(5.0, 6.0), (0.0, 1.25)],
                &[(0.0, 1.25), (5.0, 6.0)],
                (0.0, 6.0),
            ),
            // A third arc closes the gaps to both of its neighbours.
            (
                &[(0.0, 1.0), (8.0, 9.0), (4.0, 5.0), (50.0, 50.0)],
                &[(0.0, 9.0), (50.0, 50.0)],
                (0.0, 50.0),
            ),
            // An arc across the antimeridian becomes two, and the largest gap is between them.
            (
                &[(170.0, -160.0)],
                &[(-180.0, -160.0), (170.0, 180.0)],
                (170.0, -160.0),
            ),
            // On a tie between two gaps, the hull doesn't cross the antimeridian.
            (
                &[(-90.0, -90.0), (90.0, 90.0)],
                &[(-90.0, -90.0), (90.0, 90.0)],
                (-90.0, 90.0),
            ),
            (
                &[(-91.0, -91.0), (90.0, 90.0)],
                &[(-91.0, -91.0), (90.0, 90.0)],
                (90.0, -91.0),
            ),
        ];
        for (added, kept, hull) in table {
            let longitudes = of(added);
            assert_eq!(arcs(&longitudes), kept, "{added:?}");
            assert_eq!(longitudes.hull(), Some(hull), "{added:?}");
            let mut merged = Longitudes::new();
            assert_eq!(merged.hull(), None);
            merged.merge(&longitudes);
            assert_eq!(arcs(&merged), kept, "{added:?}");
            for (west, east) in kept {
                assert!(longitudes.contain(*west, *east), "{added:?}");
                assert!(!longitudes.contain(*west, east + 0.5), "{added:?}");
                assert!(!longitudes.contain(west - 0.5, *east), "{added:?}");
            }
        }
        let mut all = of(&[(5.0, 6.0)]);
        all.add_all();
        assert_eq!(arcs(&all), [(-180.0, 180.0)]);
    }

    #[test]
    fn longitudes_of_a_geometry_are_added_one_by_one_unless_they_are_close() {
        let bounds = |min, max| Interval { min, max };
        let each = |longitudes: &mut Longitudes, values: &[f64], within| {
            longitudes.add_each(values.iter().copied(), within);
        };
        let mut longitudes = Longitudes::new();
        // Close longitudes become one arc without inspecting the values.
        each(&mut longitudes, &[], bounds(1.0, 4.0));
        assert_eq!(arcs(&longitudes), [(1.0, 4.0)]);
        // Distant longitudes become arcs of their own, and NaN is ignored.
        let far = [50.0, f64::NAN, 60.0];
        each(&mut longitudes, &far, bounds(50.0, 60.0));
        assert_eq!(arcs(&longitudes), [(1.0, 4.0), (50.0, 50.0), (60.0, 60.0)]);
        // Covered bounds add nothing, nor do the bounds of no values.
        each(&mut longitudes, &[99.0], bounds(2.0, 3.0));
        each(&mut longitudes, &[99.0], Interval::EMPTY);
        assert_eq!(longitudes.count, 3);
    }

    /// Joining the closest two of 17 arcs leaves 16, and every longitude stays covered.
    #[test]
    fn the_two_closest_arcs_are_joined_if_there_are_too_many() {
        let mut longitudes = Longitudes::new();
        let points: Vec<f64> = (0..16).map(|at| f64::from(at) * 10.0).collect();
        for point in points.iter().chain(&[155.0]) {
            longitudes.add(*point, *point);
        }
        let mut wanted: Vec<_> = points.iter().map(|at| (*at, *at)).collect();
        wanted[15] = (150.0, 155.0);
        assert_eq!(arcs(&longitudes), wanted);
        longitudes.add(4.0, 4.0);
        wanted[0] = (0.0, 4.0);
        assert_eq!(arcs(&longitudes)[1..], wanted[1..]);
        assert!(longitudes.contain(4.0, 4.0));
    }
}
