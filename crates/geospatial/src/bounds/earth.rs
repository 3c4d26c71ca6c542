//! Bounds the area on Earth that a GEOGRAPHY's geometries cover.

use super::bulge::{self, GeoPoint, Surface};
use super::extent::NoBox;
use super::interval::Interval;
use super::longitudes::Longitudes;
use super::path::Path;
use super::ring::{Poles, enclosed};
use crate::Edges;
use crate::wkb::{Coordinates, GeometryKind, Position};

/// The longitudes and latitudes covered so far. They include those of edges and of enclosed poles.
#[derive(Debug, Clone)]
pub(super) struct Earth {
    pub(super) longitudes: Longitudes,
    pub(super) latitudes: Interval,
}

impl Earth {
    pub(super) fn new() -> Self {
        Self {
            longitudes: Longitudes::new(),
            latitudes: Interval::EMPTY,
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.longitudes.merge(&other.longitudes);
        self.latitudes.merge(other.latitudes);
    }

    /// Fast check for a group of sequences. Returns true if all their edges lie within the
    /// latitudes covered so far and within the sequences' own longitude bounds. In that case, no
    /// edge goes around the Earth or over a pole. `latitudes` and `longitudes` bound the positions,
    /// and no sequence is wider than `width`.
    #[inline]
    pub(super) fn contains(
        &self,
        longitudes: Interval,
        latitudes: Interval,
        width: f64,
        edges: Edges,
    ) -> bool {
        /// A width in degrees of longitude, far less than half a turn.
        const NARROW: f64 = 45.0;
        let Some(surface) = surface(edges) else {
            return false;
        };
        (0.0..=NARROW).contains(&width)
            && longitudes.min >= -180.0
            && longitudes.max <= 180.0
            && latitudes.min > -90.0
            && latitudes.max < 90.0
            && bulge::is_within(surface, latitudes, width, self.latitudes)
    }

    /// Adds a path, or a polygon's ring. `is_shell` is true for the outer ring.
    ///
    /// # Errors
    ///
    /// Fails if the path's extent is not known.
    pub(super) fn add(
        &mut self,
        coordinates: &Coordinates<'_>,
        edges: Edges,
        kind: GeometryKind,
        is_shell: bool,
    ) -> Result<(), NoBox> {
        if coordinates.len() < 2 {
            return coordinates
                .iter()
                .try_for_each(|coordinate| self.add_position(&coordinate));
        }
        let surface = surface(edges).ok_or(NoBox::Edges)?;
        // An unclosed ring still has its closing edge, so we add the first position again.
        let is_ring = kind == GeometryKind::Polygon;
        let closing = coordinates.iter().take(usize::from(is_ring));
        let positions = coordinates.iter().chain(closing);
        match self.add_path(surface, positions.clone())? {
            Some(path) if is_shell => self.add_poles(surface, &path, positions.map(place)),
            _ => {}
        }
        Ok(())
    }

    /// Adds each ordinate separately, since the other might be NaN.
    ///
    /// # Errors
    ///
    /// Fails if the position is not on Earth.
    #[inline]
    pub(super) fn add_position(&mut self, position: &Position) -> Result<(), NoBox> {
        let GeoPoint {
            longitude,
            latitude,
        } = place(*position);
        if longitude.abs() > 180.0 || latitude.abs() > 90.0 {
            return Err(NoBox::OutOfRange);
        }
        self.latitudes.add(latitude);
        if !longitude.is_nan() {
            self.longitudes.add(longitude, longitude);
        }
        Ok(())
    }

    /// Adds points. The caller gives their longitudes and the bounds of their ordinates.
    ///
    /// # Errors
    ///
    /// Fails if at least one of the points is not on Earth.
    pub(super) fn add_points(
        &mut self,
        longitudes: impl Iterator<Item = f64>,
        longitudes_range: Interval,
        latitudes_range: Interval,
    ) -> Result<(), NoBox> {
        let is_within = |it: Interval, most: f64| it.min >= -most && it.max <= most;
        if !is_within(longitudes_range, 180.0) || !is_within(latitudes_range, 90.0) {
            return Err(NoBox::OutOfRange);
        }
        self.latitudes.merge(latitudes_range);
        self.longitudes.add_each(longitudes, longitudes_range);
        Ok(())
    }

    /// Adds positions and the edges between them. Returns no path if an ordinate is NaN, because
    /// such a position has no edges.
    fn add_path(
        &mut self,
        surface: Surface,
        positions: impl Iterator<Item = Position>,
    ) -> Result<Option<Path>, NoBox> {
        let mut current: Option<(Path, GeoPoint)> = None;
        let (mut is_whole, mut has_pole) = (true, false);
        for position in positions {
            let place = place(position);
            if !(place.longitude.abs() <= 180.0 && place.latitude.abs() <= 90.0) {
                self.add_position(&position)?;
                is_whole = false;
                if let Some((path, _)) = current.take() {
                    path.add_to(&mut self.longitudes);
                }
                continue;
            }
            let Some((path, before)) = &mut current else {
                self.latitudes.add(place.latitude);
                current = Some((Path::new(place.longitude), place));
                continue;
            };
            let east = path.go(place.longitude);
            bulge::add_edge(surface, *before, place, east, &mut self.latitudes);
            has_pole |= before.latitude.abs() == 90.0 || place.latitude.abs() == 90.0;
            *before = place;
        }
        let path = current.map(|(path, _)| path);
        if let Some(path) = path {
            path.add_to(&mut self.longitudes);
        }
        if has_pole {
            // All meridians meet at a pole, so it covers all longitudes, whatever the position's
            // own longitude is.
            self.longitudes.add_all();
        }
        Ok(path.filter(|_| is_whole))
    }

    fn add_poles(&mut self, surface: Surface, path: &Path, places: impl Iterator<Item = GeoPoint>) {
        let poles = enclosed(surface, path, places);
        if poles == Poles::Both {
            self.longitudes.add_all();
        }
        if matches!(poles, Poles::North | Poles::Both) {
            self.latitudes.add(90.0);
        }
        if matches!(poles, Poles::South | Poles::Both) {
            self.latitudes.add(-90.0);
        }
    }
}

/// Returns the surface that edges run on, or `None` if no bound has been proven for them.
fn surface(edges: Edges) -> Option<Surface> {
    match edges {
        Edges::Spherical | Edges::Planar => Some(Surface::Sphere),
        // Both algorithms find the shortest path or fail.
        Edges::Vincenty | Edges::Karney => Some(Surface::Ellipsoid),
        // These algorithms approximate the shortest path, and their implementations differ from
        // each other.
        Edges::Thomas | Edges::Andoyer => None,
    }
}

fn place(position: Position) -> GeoPoint {
    GeoPoint {
        longitude: position.x,
        latitude: position.y,
    }
}
