//! Combines geometries and boxes into one bounding box.

use herringbone_format::BoundingBox;

use super::check::check;
use super::earth::Earth;
use super::extent::{Extent, NoBox};
use super::interval::Interval;
use super::ordinates::bounds_of;
use super::plane::PlaneX;
use crate::Edges;
use crate::wkb::{
    Coordinates, Dimensions, Event, Events, GeometryKind, GeometryType, Position, WkbError,
    for_each_sequence,
};

/// Accumulates a bounding box from geometries and from previously computed boxes. Use this if you
/// need one box for many values, or want to merge the boxes of several chunks or files.
#[derive(Debug, Clone)]
pub struct Bounder {
    pub(super) xy: Xy,
    pub(super) z: Interval,
    pub(super) m: Interval,
    pub(super) edges: Edges,
    pub(super) unknown: Option<NoBox>,
}

#[derive(Debug, Clone)]
pub(super) enum Xy {
    Plane { x: PlaneX, y: Interval },
    Earth(Box<Earth>),
}

impl Bounder {
    /// Creates a bounder that has seen nothing yet.
    #[must_use]
    pub fn new(edges: Edges) -> Self {
        Self {
            xy: match edges.is_geography() {
                true => Xy::Earth(Box::new(Earth::new())),
                false => Xy::Plane {
                    x: PlaneX::EMPTY,
                    y: Interval::EMPTY,
                },
            },
            z: Interval::EMPTY,
            m: Interval::EMPTY,
            edges,
            unknown: None,
        }
    }

    /// Adds a value and returns its type.
    ///
    /// # Errors
    ///
    /// Fails if the value is not well-known binary. The extent is unknown from then on.
    #[inline]
    pub fn add(&mut self, value: &[u8]) -> Result<GeometryType, WkbError> {
        let see = |kind, is_shell, coordinates| self.add_sequence(coordinates, kind, is_shell);
        if let Some(geometry_type) = for_each_sequence(value, see) {
            return Ok(geometry_type);
        }
        let result = self.add_events(value);
        if result.is_err() {
            self.unknown = Some(NoBox::Malformed);
        }
        result
    }

    /// Slow path for values that [`for_each_sequence`] can't read. They aren't in the ISO form, or
    /// are geometry collections, opaque, or malformed.
    #[cold]
    fn add_events(&mut self, value: &[u8]) -> Result<GeometryType, WkbError> {
        let mut value_type = None;
        let mut kind = GeometryKind::Point;
        let mut is_shell = false;
        for event in Events::new(value) {
            match event? {
                Event::Start(header) => {
                    value_type.get_or_insert(header.geometry_type);
                    kind = header.geometry_type.kind;
                    is_shell = kind == GeometryKind::Polygon;
                }
                Event::Coordinates(coordinates) => {
                    self.add_sequence(coordinates, kind, is_shell);
                    is_shell = false;
                }
                Event::Opaque(_) => self.unknown = Some(NoBox::Opaque),
                Event::End(_) => {}
            }
        }
        // Without an error, the first event is always a start, so the type is set.
        Ok(value_type.unwrap_or(GeometryType::new(
            GeometryKind::GeometryCollection,
            Dimensions::Xy,
        )))
    }

    #[inline]
    pub(super) fn add_sequence(
        &mut self,
        coordinates: Coordinates<'_>,
        kind: GeometryKind,
        is_shell: bool,
    ) {
        match kind {
            GeometryKind::Point => self.add_point(coordinates.get(0)),
            _ => self.add_path(&coordinates, kind, is_shell),
        }
    }

    /// Adds a line string or a ring.
    fn add_path(&mut self, coordinates: &Coordinates<'_>, kind: GeometryKind, is_shell: bool) {
        let [xs, ys, zs, ms] = bounds_of(coordinates);
        self.z.merge(zs);
        self.m.merge(ms);
        match &mut self.xy {
            Xy::Plane { x, y } => {
                x.interval.merge(xs);
                y.merge(ys);
            }
            Xy::Earth(earth) => {
                let width = xs.max - xs.min;
                if earth.contains(xs, ys, width, self.edges) {
                    earth.longitudes.add(xs.min, xs.max);
                } else if let Err(reason) = earth.add(coordinates, self.edges, kind, is_shell) {
                    self.unknown.get_or_insert(reason);
                }
            }
        }
    }

    #[inline]
    fn add_point(&mut self, position: Option<Position>) {
        let Some(position) = position else { return };
        self.z.add(position.z);
        self.m.add(position.m);
        match &mut self.xy {
            Xy::Plane { x, y } => {
                x.interval.add(position.x);
                y.add(position.y);
            }
            Xy::Earth(earth) => {
                if let Err(reason) = earth.add_position(&position) {
                    self.unknown.get_or_insert(reason);
                }
            }
        }
    }

    /// Adds the box of other geometries. An invalid box makes the extent unknown, since geometries
    /// can lie outside it.
    pub fn add_box(&mut self, bbox: &BoundingBox) {
        if check(bbox, self.edges).is_err() {
            self.unknown = Some(NoBox::Part);
            return;
        }
        let ys = interval(Some(bbox.ymin), Some(bbox.ymax));
        match &mut self.xy {
            Xy::Earth(earth) => {
                earth.longitudes.add(bbox.xmin, bbox.xmax);
                earth.latitudes.merge(ys);
            }
            Xy::Plane { x, y } => {
                if bbox.xmin > bbox.xmax {
                    x.add_wrapped(bbox.xmin, bbox.xmax);
                } else {
                    x.interval.merge(interval(Some(bbox.xmin), Some(bbox.xmax)));
                }
                y.merge(ys);
            }
        }
        self.z.merge(interval(bbox.zmin, bbox.zmax));
        self.m.merge(interval(bbox.mmin, bbox.mmax));
    }

    /// Adds geometries of unknown extent, for example a column chunk without statistics.
    pub fn add_unknown(&mut self) {
        self.unknown = Some(NoBox::Part);
    }

    /// Adds everything that another bounder has seen. Both bounders must have equal edges.
    pub fn merge(&mut self, other: &Self) {
        match (&mut self.xy, &other.xy) {
            (Xy::Plane { x, y }, Xy::Plane { x: xs, y: ys }) => {
                x.merge(xs);
                y.merge(*ys);
            }
            (Xy::Earth(earth), Xy::Earth(other)) => earth.merge(other),
            _ => self.unknown = Some(NoBox::Part),
        }
        self.z.merge(other.z);
        self.m.merge(other.m);
        self.unknown = self.unknown.or(other.unknown);
    }

    /// Returns the extent of everything added so far.
    #[must_use]
    pub fn extent(&self) -> Extent {
        if let Some(reason) = self.unknown {
            return Extent::Unknown(reason);
        }
        let (x, y) = match &self.xy {
            Xy::Earth(earth) => (earth.longitudes.hull(), earth.latitudes.bounds()),
            Xy::Plane { x, y } => {
                let bounds = x.bounds();
                if bounds.is_none() && !x.is_empty() {
                    return Extent::Unknown(NoBox::Everywhere);
                }
                (bounds, y.bounds())
            }
        };
        let (Some((xmin, xmax)), Some((ymin, ymax))) = (x, y) else {
            return Extent::Empty;
        };
        let (z, m) = (self.z.bounds(), self.m.bounds());
        Extent::Box(
            BoundingBox::new(xmin, xmax, ymin, ymax)
                .zmin(z.map(|(min, _)| min))
                .zmax(z.map(|(_, max)| max))
                .mmin(m.map(|(min, _)| min))
                .mmax(m.map(|(_, max)| max)),
        )
    }
}

fn interval(min: Option<f64>, max: Option<f64>) -> Interval {
    match (min, max) {
        (Some(min), Some(max)) => Interval { min, max },
        _ => Interval::EMPTY,
    }
}
