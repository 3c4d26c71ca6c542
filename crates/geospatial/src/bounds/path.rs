//! Finds the longitudes that a path covers.

use super::longitudes::Longitudes;

/// The width in degrees from which an edge counts as half a turn. Such an edge can go either way
/// around.
pub(super) const HALF_WAY: f64 = 180.0 - 1e-9;

/// A turn count and a longitude. The count is how often the path has gone around eastwards so far.
type TurnedLongitude = (i64, f64);

/// A path whose edges take the shorter way around. On spheres and on ellipsoids of revolution, an
/// edge never switches between heading east and heading west. So all its longitudes lie between its
/// two ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Path {
    start: TurnedLongitude,
    at: TurnedLongitude,
    west: TurnedLongitude,
    east: TurnedLongitude,
    is_everywhere: bool,
}

impl Path {
    pub(super) fn new(longitude: f64) -> Self {
        let start = (0, longitude);
        Self {
            start,
            at: start,
            west: start,
            east: start,
            is_everywhere: false,
        }
    }

    /// Moves to a longitude, and returns how many degrees east it is, from -180 to 180.
    pub(super) fn go(&mut self, longitude: f64) -> f64 {
        let (mut turns, before) = self.at;
        let mut east = longitude - before;
        if east > 180.0 {
            turns -= 1;
            east -= 360.0;
        } else if east < -180.0 {
            turns += 1;
            east += 360.0;
        }
        self.is_everywhere |= east.abs() >= HALF_WAY;
        self.at = (turns, longitude);
        // Compare pairs, since that's exact. Sums would be rounded.
        if self.at < self.west {
            self.west = self.at;
        }
        if self.at > self.east {
            self.east = self.at;
        }
        east
    }

    /// Returns how often a closed path goes around eastwards.
    pub(super) fn turns(&self) -> i64 {
        self.at.0 - self.start.0
    }

    /// Returns the number of degrees from the westernmost place to the easternmost one.
    pub(super) fn width(&self) -> f64 {
        if self.is_everywhere {
            return 360.0;
        }
        let turns = self.east.0 - self.west.0;
        turns as f64 * 360.0 + (self.east.1 - self.west.1)
    }

    pub(super) fn add_to(&self, longitudes: &mut Longitudes) {
        if self.width() >= 360.0 {
            longitudes.add_all();
        } else if self.east.0 == self.west.0 {
            longitudes.add(self.west.1, self.east.1);
        } else {
            longitudes.add(self.west.1, 180.0);
            longitudes.add(-180.0, self.east.1);
        }
    }
}
