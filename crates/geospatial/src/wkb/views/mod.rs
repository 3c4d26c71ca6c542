//! Values as geometries that other crates work with, by the traits of the crate `geo-traits`.
//!
//! A view is made once from a value, which is checked whole by then. Coordinates stay in the bytes of the value and
//! are read from there; a geometry of parts knows where each starts, so that the hundredth ring costs what the first
//! does. It is an entry for each part, none for each coordinate of a line.
//!
//! ```
//! use geo_traits::{GeometryTrait, GeometryType, LineStringTrait, CoordTrait};
//! use herringbone_geospatial::{wkb::views::Geometry, wkt};
//!
//! let mut value = Vec::new();
//! wkt::read("LINESTRING (1 2, 4 6, 4 7)", &mut value)?;
//! let geometry = Geometry::new(&value)?;
//! let GeometryType::LineString(line) = geometry.as_type() else { unreachable!() };
//! let last = line.coord(2).unwrap();
//! assert_eq!((last.x(), last.y()), (4.0, 7.0));
//! # Ok::<(), herringbone_format::Error>(())
//! ```

// Traits of another crate have methods whose signature says `unsafe`. There is nothing unsafe in ours: each checks its
// index, whatever it is.
#[expect(unsafe_code, reason = "the signatures that a foreign trait demands")]
mod traits;

use super::{
    Coordinates, Dimensions, Event, Events, GeometryKind, Header, Position, ReadOptions, WkbError,
    WkbErrorKind,
};

/// Any geometry.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Geometry<'a> {
    /// POINT.
    Point(Point<'a>),
    /// LINESTRING.
    LineString(LineString<'a>),
    /// POLYGON.
    Polygon(Polygon<'a>),
    /// MULTIPOINT.
    MultiPoint(MultiPoint<'a>),
    /// MULTILINESTRING.
    MultiLineString(MultiLineString<'a>),
    /// MULTIPOLYGON.
    MultiPolygon(MultiPolygon<'a>),
    /// GEOMETRYCOLLECTION.
    GeometryCollection(GeometryCollection<'a>),
}

/// A position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coord {
    position: Position,
    dimensions: Dimensions,
}

/// A position, or none where the point is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point<'a>(Coordinates<'a>);

/// The positions of a line string, or of a ring of a polygon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineString<'a>(Coordinates<'a>);

/// Rings: the exterior, if there is any, before the interiors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Polygon<'a>(Parts<LineString<'a>>);

/// Points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultiPoint<'a>(Parts<Point<'a>>);

/// Line strings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultiLineString<'a>(Parts<LineString<'a>>);

/// Polygons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MultiPolygon<'a>(Parts<Polygon<'a>>);

/// Geometries of any kind.
#[derive(Debug, Clone, PartialEq)]
pub struct GeometryCollection<'a>(Parts<Geometry<'a>>);

/// What a geometry is made up of, and the dimensions that it says.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Parts<P> {
    dimensions: Dimensions,
    all: Vec<P>,
}

impl<'a> Geometry<'a> {
    /// Of the value of a column.
    ///
    /// # Errors
    ///
    /// Where the value is no well-known binary, or has geometries that are not looked into, such as curves.
    pub fn new(value: &'a [u8]) -> Result<Self, WkbError> {
        Self::with_options(value, ReadOptions::default())
    }

    /// The same, with other limits.
    ///
    /// # Errors
    ///
    /// As those of [`Self::new`], and where a limit is exceeded.
    pub fn with_options(value: &'a [u8], options: ReadOptions) -> Result<Self, WkbError> {
        let mut events = Events::with_options(value, options);
        let geometry = match next(&mut events)? {
            Event::Start(header) => geometry(&mut events, header)?,
            _ => return Err(ended(&events)),
        };
        // A value ends where its geometry does; what follows is an error, and known as soon as it ended.
        Ok(geometry)
    }
}

/// The geometry that has started, to its end. It calls itself as deep as events go.
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

/// The positions of a point or a line string, to its end.
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

/// The geometries that another one is made up of, to its end.
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
    /// None of them yet. The number that the header says is not believed: memory is for those that were seen.
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

/// What cannot be: events have an end for each start, and nothing else between than the kind has.
fn ended(events: &Events<'_>) -> WkbError {
    WkbError {
        kind: WkbErrorKind::Truncated { missing: 1 },
        at: Events::position(events),
    }
}
