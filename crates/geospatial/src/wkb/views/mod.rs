//! Presents values as geometries to other crates, through the traits of the crate `geo-traits`.
//!
//! Creating a view checks the whole value. Coordinates are read from the value's bytes on access. A
//! geometry with parts keeps an index of them, so that the hundredth ring is as fast to access as
//! the first. The index has one entry per part, but none for a line's coordinates.
//!
//! ```
//! use geo_traits::{GeometryTrait, GeometryType, LineStringTrait, CoordTrait};
//! use herringbone::geospatial::{wkb::views::Geometry, wkt};
//!
//! let mut value = Vec::new();
//! wkt::read("LINESTRING (1 2, 4 6, 4 7)", &mut value)?;
//! let geometry = Geometry::new(&value)?;
//! let GeometryType::LineString(line) = geometry.as_type() else { unreachable!() };
//! let last = line.coord(2).unwrap();
//! assert_eq!((last.x(), last.y()), (4.0, 7.0));
//! # Ok::<(), herringbone::Error>(())
//! ```

// The traits of `geo-traits` have methods with `unsafe` in their signatures. Our implementations
// are safe, because each of them checks its index.
#[expect(unsafe_code, reason = "the signatures that a foreign trait demands")]
mod traits;

use super::{
    Coordinates, Dimensions, Event, Events, GeometryKind, Header, Position, ReadOptions, WkbError,
    WkbErrorKind,
};

/// A geometry of any kind.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Geometry<'a> {
    /// A POINT.
    Point(Point<'a>),
    /// A LINESTRING.
    LineString(LineString<'a>),
    /// A POLYGON.
    Polygon(Polygon<'a>),
    /// A MULTIPOINT.
    MultiPoint(MultiPoint<'a>),
    /// A MULTILINESTRING.
    MultiLineString(MultiLineString<'a>),
    /// A MULTIPOLYGON.
    MultiPolygon(MultiPolygon<'a>),
    /// A GEOMETRYCOLLECTION.
    GeometryCollection(GeometryCollection<'a>),
}

/// A single position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coord {
    position: Position,
    dimensions: Dimensions,
}

/// A point's position, or none if the point is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point<'a>(Coordinates<'a>);

/// The positions of a line string, or of a polygon's ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineString<'a>(Coordinates<'a>);

/// The rings of a polygon. The exterior comes before the interiors, if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Polygon<'a>(Parts<LineString<'a>>);

/// The points of a MULTIPOINT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultiPoint<'a>(Parts<Point<'a>>);

/// The line strings of a MULTILINESTRING.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultiLineString<'a>(Parts<LineString<'a>>);

/// The polygons of a MULTIPOLYGON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultiPolygon<'a>(Parts<Polygon<'a>>);

/// The geometries of a GEOMETRYCOLLECTION, of any kind.
#[derive(Debug, Clone, PartialEq)]
pub struct GeometryCollection<'a>(Parts<Geometry<'a>>);

/// The parts of a geometry, with the dimensions in its header.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Parts<P> {
    dimensions: Dimensions,
    all: Vec<P>,
}

impl<'a> Geometry<'a> {
    /// Creates a view of a column's value, with the default limits.
    ///
    /// # Errors
    ///
    /// Fails if the value is not well-known binary, or if it contains opaque geometries such as
    /// curves.
    pub fn new(value: &'a [u8]) -> Result<Self, WkbError> {
        Self::with_options(value, ReadOptions::default())
    }

    /// Creates a view of a value under the given limits.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Self::new`], and if a limit is exceeded.
    pub fn with_options(value: &'a [u8], options: ReadOptions) -> Result<Self, WkbError> {
        let mut events = Events::with_options(value, options);
        let geometry = match next(&mut events)? {
            Event::Start(header) => geometry(&mut events, header)?,
            _ => return Err(ended(&events)),
        };
        // No need to check for trailing bytes, since the geometry's end event already reports them
        // as an error.
        Ok(geometry)
    }
}

/// Reads the geometry that has started, up to its end. The recursion is at most as deep as
/// [`Events`] allows.
fn geometry<'a>(events: &mut Events<'a>, header: Header) -> Result<Geometry<'a>, WkbError> {
    Ok(match header.geometry_type.kind {
        GeometryKind::Point => Geometry::Point(point(events, header)?),
        GeometryKind::LineString => Geometry::LineString(line_string(events, header)?),
        GeometryKind::Polygon => Geometry::Polygon(polygon(events, header)?),
        GeometryKind::MultiPoint => Geometry::MultiPoint(MultiPoint(parts(events, header, point)?)),
        GeometryKind::MultiLineString => {
            Geometry::MultiLineString(MultiLineString(parts(events, header, line_string)?))
        }
        GeometryKind::MultiPolygon => {
            Geometry::MultiPolygon(MultiPolygon(parts(events, header, polygon)?))
        }
        GeometryKind::GeometryCollection => {
            Geometry::GeometryCollection(GeometryCollection(parts(events, header, geometry)?))
        }
        kind @ GeometryKind::Opaque(_) => {
            return Err(WkbError {
                kind: WkbErrorKind::Opaque(kind),
                at: Events::position(events),
            });
        }
    })
}

fn point<'a>(events: &mut Events<'a>, header: Header) -> Result<Point<'a>, WkbError> {
    Ok(Point(positions(events, header)?))
}

fn line_string<'a>(events: &mut Events<'a>, header: Header) -> Result<LineString<'a>, WkbError> {
    Ok(LineString(positions(events, header)?))
}

/// Reads the positions of a point or line string, up to its end.
fn positions<'a>(events: &mut Events<'a>, header: Header) -> Result<Coordinates<'a>, WkbError> {
    let mut positions = Coordinates::new(&[], header.byte_order, header.geometry_type.dimensions);
    loop {
        match next(events)? {
            Event::Coordinates(found) => positions = found,
            Event::End(_) => return Ok(positions),
            _ => return Err(ended(events)),
        }
    }
}

fn polygon<'a>(events: &mut Events<'a>, header: Header) -> Result<Polygon<'a>, WkbError> {
    let mut rings = Parts::of(header);
    loop {
        match next(events)? {
            Event::Coordinates(ring) => rings.all.push(LineString(ring)),
            Event::End(_) => return Ok(Polygon(rings)),
            _ => return Err(ended(events)),
        }
    }
}

/// Reads the parts of a geometry, up to its end.
fn parts<'a, P>(
    events: &mut Events<'a>,
    header: Header,
    part: impl Fn(&mut Events<'a>, Header) -> Result<P, WkbError>,
) -> Result<Parts<P>, WkbError> {
    let mut parts = Parts::of(header);
    loop {
        match next(events)? {
            Event::Start(header) => parts.all.push(part(events, header)?),
            Event::End(_) => return Ok(parts),
            _ => return Err(ended(events)),
        }
    }
}

impl<P> Parts<P> {
    /// Creates an empty list. We don't trust the header's count, so we only allocate memory for
    /// parts actually read.
    fn of(header: Header) -> Self {
        Self {
            dimensions: header.geometry_type.dimensions,
            all: Vec::new(),
        }
    }
}

fn next<'a>(events: &mut Events<'a>) -> Result<Event<'a>, WkbError> {
    match events.next() {
        Some(event) => event,
        None => Err(ended(events)),
    }
}

/// Returns the error for an unexpected event. It can't happen in practice, since each start has an
/// end, with only events of the right kind in between.
fn ended(events: &Events<'_>) -> WkbError {
    WkbError {
        kind: WkbErrorKind::Truncated { missing: 1 },
        at: Events::position(events),
    }
}
