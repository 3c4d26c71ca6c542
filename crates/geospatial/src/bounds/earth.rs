//! Where on Earth the geometries of a GEOGRAPHY are.

use super::bulge::{self, Place, Surface};
use super::extent::NoBox;
use super::interval::Interval;
use super::longitudes::Longitudes;
use super::path::Path;
use super::ring::{Poles, enclosed};
use crate::Edges;
use crate::wkb::{Coordinates, GeometryKind, Position};

/// Longitudes and latitudes that occur, those of edges and of enclosed poles among them.
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

    /// Whether all edges of sequences lie within the latitudes that occur already, and between the longitudes of their
    /// bounds: none of them goes around the Earth or to a pole. `latitudes` and `longitudes` bound the positions, and none of
    /// the sequences is wider than `width`.
    #[inline]
    pub(super) fn holds(
        &self,
        longitudes: Interval,
        latitudes: Interval,
        width: f64,
        edges: Edges,
    ) -> bool {
        /// Degrees of longitude that are far from half the way around.
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

    /// Takes a path, or a ring of a polygon, which a shell is where it is the outer one.
    ///
    /// # Errors
    ///
    /// It is not known where all of it is.
    pub(super) fn add(
        &mut self,
        coordinates: &Coordinates<'_>,
        edges: Edges,
        kind: GeometryKind,
        is_shell: bool,
    ) -> Result<(), NoBox> {
        if coordinates.len() < 2 {
            return coordinates.iter().try_for_each(|it| self.add_position(&it));
        }
        let surface = surface(edges).ok_or(NoBox::Edges)?;
        // Rings that are not closed have the edge nevertheless.
        let is_ring = kind == GeometryKind::Polygon;
        let closing = coordinates.iter().take(usize::from(is_ring));
        let positions = coordinates.iter().chain(closing);
        match self.add_path(surface, positions.clone())? {
            Some(path) if is_shell => self.add_poles(surface, &path, positions.map(place)),
            _ => {}
        }
        Ok(())
    }

    /// Each ordinate by itself, as the other may be NaN.
    ///
    /// # Errors
    ///
    /// It is not on Earth.
    #[inline]
    pub(super) fn add_position(&mut self, position: &Position) -> Result<(), NoBox> {
        let Place {
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

    /// Takes points by their longitudes and the bounds of their ordinates.
    ///
    /// # Errors
    ///
    /// One of them is not on Earth.
    pub(super) fn add_points(
        &mut self,
        longitudes: impl Iterator<Item = f64>,
        of_longitudes: Interval,
        of_latitudes: Interval,
    ) -> Result<(), NoBox> {
        let is_within = |it: Interval, most: f64| it.min >= -most && it.max <= most;
        if !is_within(of_longitudes, 180.0) || !is_within(of_latitudes, 90.0) {
            return Err(NoBox::OutOfRange);
        }
        self.latitudes.merge(of_latitudes);
        self.longitudes.add_each(longitudes, of_longitudes);
        Ok(())
    }

    /// Takes positions and the edges between them. Where a position is not whole, no edge leads there,
    /// and there is no path to return.
    fn add_path(
        &mut self,
        surface: Surface,
        positions: impl Iterator<Item = Position>,
    ) -> Result<Option<Path>, NoBox> {
        let mut current: Option<(Path, Place)> = None;
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
            // It has all longitudes, whichever it was given.
            self.longitudes.add_all();
        }
        Ok(path.filter(|_| is_whole))
    }

    fn add_poles(&mut self, surface: Surface, path: &Path, places: impl Iterator<Item = Place>) {
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

/// What edges run on; `None` where nobody has proven how far they go.
fn surface(edges: Edges) -> Option<Surface> {
    match edges {
        Edges::Spherical | Edges::Planar => Some(Surface::Sphere),
        // Both give the shortest path, or none.
        Edges::Vincenty | Edges::Karney => Some(Surface::Ellipsoid),
        // Approximations of it, which differ from one implementation to the next.
        Edges::Thomas | Edges::Andoyer => None,
    }
}

fn place(position: Position) -> Place {
    Place {
        longitude: position.x,
        latitude: position.y,
    }
}
