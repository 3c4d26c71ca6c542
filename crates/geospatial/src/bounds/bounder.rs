//! Takes geometries and boxes, gives a box.

use herringbone_format::BoundingBox;

use super::bulge::{self, Place, Surface};
use super::check::check;
use super::extent::{Extent, NoBox};
use super::interval::Interval;
use super::longitudes::Longitudes;
use super::path::Path;
use super::plane::PlaneX;
use super::ring::{Poles, enclosed};
use crate::Edges;
use crate::wkb::{
    Coordinates, Dimensions, Event, Events, GeometryKind, GeometryType, Position, WkbError, point,
};

/// Bounds geometries, or what was bounded before.
#[derive(Debug, Clone)]
pub struct Bounder {
    x: X,
    y: Interval,
    z: Interval,
    m: Interval,
    edges: Edges,
    unknown: Option<NoBox>,
}

#[derive(Debug, Clone)]
enum X {
    Plane(PlaneX),
    Longitudes(Box<Longitudes>),
}

impl Bounder {
    /// Of nothing yet.
    #[must_use]
    pub fn new(edges: Edges) -> Self {
        Self {
            x: match edges.is_geography() {
                true => X::Longitudes(Box::new(Longitudes::new())),
                false => X::Plane(PlaneX::EMPTY),
            },
            y: Interval::EMPTY,
            z: Interval::EMPTY,
            m: Interval::EMPTY,
            edges,
            unknown: None,
        }
    }

    /// Takes a value, and returns its type.
    ///
    /// # Errors
    ///
    /// It is not well-known binary. There is no box then.
    pub fn add(&mut self, value: &[u8]) -> Result<GeometryType, WkbError> {
        if let Some((geometry_type, coordinates)) = point(value) {
            self.add_coordinates(&coordinates, GeometryKind::Point, false);
            return Ok(geometry_type);
        }
        let result = self.add_events(Events::new(value));
        if result.is_err() {
            self.unknown = Some(NoBox::Malformed);
        }
        result
    }

    fn add_events(&mut self, events: Events<'_>) -> Result<GeometryType, WkbError> {
        let mut value_type = None;
        let mut kind = GeometryKind::Point;
        let mut is_shell = false;
        for event in events {
            match event? {
                Event::Start(header) => {
                    value_type.get_or_insert(header.geometry_type);
                    kind = header.geometry_type.kind;
                    is_shell = kind == GeometryKind::Polygon;
                }
                Event::Coordinates(coordinates) => {
                    self.add_coordinates(&coordinates, kind, is_shell);
                    is_shell = false;
                }
                Event::Opaque(_) => self.unknown = Some(NoBox::Opaque),
                Event::End(_) => {}
            }
        }
        // Events that are no error start with that of the value.
        Ok(value_type.unwrap_or(GeometryType::new(
            GeometryKind::GeometryCollection,
            Dimensions::Xy,
        )))
    }

    fn add_coordinates(
        &mut self,
        coordinates: &Coordinates<'_>,
        kind: GeometryKind,
        is_shell: bool,
    ) {
        match &mut self.x {
            X::Plane(x) => {
                let (y, z, m) = (&mut self.y, &mut self.z, &mut self.m);
                add_plane(coordinates, &mut x.interval, y, z, m);
            }
            X::Longitudes(_) => self.add_geography(coordinates, kind, is_shell),
        }
    }

    /// Takes a box of something else. Invalid ones make the extent unknown.
    pub fn add_box(&mut self, bbox: &BoundingBox) {
        if check(bbox, self.edges).is_err() {
            self.unknown = Some(NoBox::Part);
            return;
        }
        match &mut self.x {
            X::Longitudes(longitudes) => longitudes.add(bbox.xmin, bbox.xmax),
            X::Plane(x) if bbox.xmin > bbox.xmax => x.add_wrapped(bbox.xmin, bbox.xmax),
            X::Plane(x) => x.interval.merge(interval(Some(bbox.xmin), Some(bbox.xmax))),
        }
        self.y.merge(interval(Some(bbox.ymin), Some(bbox.ymax)));
        self.z.merge(interval(bbox.zmin, bbox.zmax));
        self.m.merge(interval(bbox.mmin, bbox.mmax));
    }

    /// Takes what may lie anywhere, such as a column chunk without statistics.
    pub fn add_unknown(&mut self) {
        self.unknown = Some(NoBox::Part);
    }

    /// Takes what another one took; both have the same edges.
    pub fn merge(&mut self, other: &Self) {
        match (&mut self.x, &other.x) {
            (X::Plane(x), X::Plane(other)) => x.merge(other),
            (X::Longitudes(x), X::Longitudes(other)) => x.merge(other),
            _ => self.unknown = Some(NoBox::Part),
        }
        self.y.merge(other.y);
        self.z.merge(other.z);
        self.m.merge(other.m);
        self.unknown = self.unknown.or(other.unknown);
    }

    /// Where all of it is.
    #[must_use]
    pub fn extent(&self) -> Extent {
        if let Some(reason) = self.unknown {
            return Extent::Unknown(reason);
        }
        let x = match &self.x {
            X::Longitudes(longitudes) => longitudes.hull(),
            X::Plane(x) if x.is_empty() => None,
            X::Plane(x) => match x.bounds() {
                Some(bounds) => Some(bounds),
                None => return Extent::Unknown(NoBox::Everywhere),
            },
        };
        let (Some((xmin, xmax)), Some((ymin, ymax))) = (x, self.y.bounds()) else {
            return Extent::Empty;
        };
        let (z, m) = (self.z.bounds(), self.m.bounds());
        Extent::Box(BoundingBox {
            xmin,
            xmax,
            ymin,
            ymax,
            zmin: z.map(|(min, _)| min),
            zmax: z.map(|(_, max)| max),
            mmin: m.map(|(min, _)| min),
            mmax: m.map(|(_, max)| max),
        })
    }

    /// Takes a point, a path or a ring of a GEOGRAPHY.
    fn add_geography(&mut self, coordinates: &Coordinates<'_>, kind: GeometryKind, is_shell: bool) {
        for position in coordinates.iter() {
            self.z.add(position.z);
            self.m.add(position.m);
            self.add_place(&position);
        }
        if kind == GeometryKind::Point || coordinates.len() < 2 {
            return;
        }
        let surface = match self.edges {
            Edges::Spherical | Edges::Planar => Surface::Sphere,
            // Both give the shortest path, or none.
            Edges::Vincenty | Edges::Karney => Surface::Ellipsoid,
            // Approximations of it, which differ from one implementation to the next.
            Edges::Thomas | Edges::Andoyer => {
                self.unknown.get_or_insert(NoBox::Edges);
                return;
            }
        };
        let is_ring = kind == GeometryKind::Polygon;
        // Rings that are not closed have the edge nevertheless.
        let closing = coordinates.iter().take(usize::from(is_ring));
        let places = coordinates.iter().chain(closing).map(|position| Place {
            longitude: position.x,
            latitude: position.y,
        });
        self.add_path(surface, places, is_shell);
    }

    fn add_place(&mut self, position: &Position) {
        let (x, y) = (position.x, position.y);
        if x.abs() > 180.0 || y.abs() > 90.0 {
            self.unknown.get_or_insert(NoBox::OutOfRange);
            return;
        }
        self.y.add(y);
        if let X::Longitudes(longitudes) = &mut self.x
            && !x.is_nan()
        {
            longitudes.add(x, x);
        }
    }

    /// Takes the edges between places. Where one of them is not whole, no edge leads there.
    fn add_path(
        &mut self,
        surface: Surface,
        places: impl Iterator<Item = Place> + Clone,
        is_shell: bool,
    ) {
        let X::Longitudes(longitudes) = &mut self.x else {
            return;
        };
        let is_whole =
            |place: &Place| place.longitude.abs() <= 180.0 && place.latitude.abs() <= 90.0;
        let mut current: Option<(Path, Place)> = None;
        let (mut was_whole, mut is_everywhere) = (true, false);
        for place in places.clone() {
            if !is_whole(&place) {
                was_whole = false;
                if let Some((path, _)) = current.take() {
                    path.add_to(longitudes);
                }
                continue;
            }
            let Some((path, before)) = &mut current else {
                current = Some((Path::new(place.longitude), place));
                continue;
            };
            // A pole has all longitudes, whichever it was given.
            is_everywhere |= before.latitude.abs() == 90.0 || place.latitude.abs() == 90.0;
            let east = path.go(place.longitude);
            bulge::add_edge(surface, *before, place, east, &mut self.y);
            *before = place;
        }
        if let Some((path, _)) = current {
            path.add_to(longitudes);
        }
        if let Some((path, _)) = current.filter(|_| is_shell && was_whole) {
            let poles = enclosed(surface, &path, places);
            is_everywhere |= poles == Poles::Both;
            if matches!(poles, Poles::North | Poles::Both) {
                self.y.add(90.0);
            }
            if matches!(poles, Poles::South | Poles::Both) {
                self.y.add(-90.0);
            }
        }
        if is_everywhere {
            longitudes.add_all();
        }
    }
}

fn interval(min: Option<f64>, max: Option<f64>) -> Interval {
    match (min, max) {
        (Some(min), Some(max)) => Interval { min, max },
        _ => Interval::EMPTY,
    }
}

/// One loop for each combination of dimensions, so that none asks for them.
fn add_plane(
    coordinates: &Coordinates<'_>,
    x: &mut Interval,
    y: &mut Interval,
    z: &mut Interval,
    m: &mut Interval,
) {
    let mut third = Interval::EMPTY;
    match coordinates.dimensions() {
        Dimensions::Xy => coordinates.for_each(|[at_x, at_y]| {
            x.add(at_x);
            y.add(at_y);
        }),
        Dimensions::Xyz | Dimensions::Xym => coordinates.for_each(|[at_x, at_y, at_third]| {
            x.add(at_x);
            y.add(at_y);
            third.add(at_third);
        }),
        Dimensions::Xyzm => coordinates.for_each(|[at_x, at_y, at_z, at_m]| {
            x.add(at_x);
            y.add(at_y);
            z.add(at_z);
            m.add(at_m);
        }),
    }
    match coordinates.dimensions() {
        Dimensions::Xyz => z.merge(third),
        _ => m.merge(third),
    }
}
