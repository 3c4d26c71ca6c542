//! Converts geometries of other crates, through the traits of the crate `geo-traits`.
//!
//! The module [`views`](super::views) has the other direction.

use geo_traits::{
    CoordTrait, Dimensions as TraitDimensions, GeometryCollectionTrait, GeometryTrait,
    GeometryType as Kind, LineStringTrait, LineTrait, MultiLineStringTrait, MultiPointTrait,
    MultiPolygonTrait, PointTrait, PolygonTrait, RectTrait, TriangleTrait,
};
use herringbone_format::{Error, Result};

use super::{Dimensions, GeometryKind, GeometryType, MAX_DEPTH, Position, Writer};

/// Appends a geometry as well-known binary. A line becomes a LINESTRING, and a rectangle or
/// triangle becomes a POLYGON. An empty point has NaN ordinates. Parts get the dimensions of the
/// whole.
///
/// # Errors
///
/// Fails with [Argument](herringbone_format::ErrorKind::Argument) if geometries are nested deeper
/// than [`MAX_DEPTH`], or if a geometry has more parts than fit in 32 bits, and with
/// [Unsupported](herringbone_format::ErrorKind::Unsupported) if the meaning of its ordinates is not
/// known. After an error, `out` can end in a partial geometry.
pub fn write_geometry(geometry: &impl GeometryTrait<T = f64>, out: &mut Vec<u8>) -> Result<()> {
    whole(geometry, &mut Writer::new(out), MAX_DEPTH)
}

fn whole(
    geometry: &impl GeometryTrait<T = f64>,
    writer: &mut Writer<'_>,
    depth: usize,
) -> Result<()> {
    if depth == 0 {
        let message = format!("geometries are nested more than {MAX_DEPTH} levels deep");
        return Err(Error::argument(message));
    }
    let dimensions = dimensions(geometry.dim())?;
    let of = |kind| GeometryType::new(kind, dimensions);
    match geometry.as_type() {
        Kind::Point(it) => point(it, dimensions, writer),
        Kind::LineString(it) => line_string(it, dimensions, writer)?,
        Kind::Polygon(it) => polygon(it, dimensions, writer)?,
        Kind::MultiPoint(it) => {
            writer.start(of(GeometryKind::MultiPoint), count(it.num_points())?);
            it.points()
                .for_each(|part| point(&part, dimensions, writer));
        }
        Kind::MultiLineString(it) => {
            let kind = of(GeometryKind::MultiLineString);
            writer.start(kind, count(it.num_line_strings())?);
            let mut parts = it.line_strings();
            parts.try_for_each(|part| line_string(&part, dimensions, writer))?;
        }
        Kind::MultiPolygon(it) => {
            writer.start(of(GeometryKind::MultiPolygon), count(it.num_polygons())?);
            let mut parts = it.polygons();
            parts.try_for_each(|part| polygon(&part, dimensions, writer))?;
        }
        Kind::GeometryCollection(it) => {
            let kind = of(GeometryKind::GeometryCollection);
            writer.start(kind, count(it.num_geometries())?);
            let mut parts = it.geometries();
            parts.try_for_each(|part| whole(&part, writer, depth - 1))?;
        }
        Kind::Line(it) => {
            let ends = it
                .coords()
                .map(|coordinate| position(&coordinate, dimensions));
            writer.start(of(GeometryKind::LineString), 2);
            positions(&ends, of(GeometryKind::LineString), writer);
        }
        Kind::Triangle(it) => {
            let [a, b, c] = it
                .coords()
                .map(|coordinate| position(&coordinate, dimensions));
            shell(&[a, b, c, a], of(GeometryKind::Polygon), writer);
        }
        Kind::Rect(it) => {
            let (min, max) = (
                position(&it.min(), dimensions),
                position(&it.max(), dimensions),
            );
            let corner = |x, y| Position { x, y, ..min };
            let (east, north) = (corner(max.x, min.y), corner(min.x, max.y));
            let corners = [min, east, corner(max.x, max.y), north, min];
            shell(&corners, of(GeometryKind::Polygon), writer);
        }
    }
    Ok(())
}

fn point(point: &impl PointTrait<T = f64>, dimensions: Dimensions, writer: &mut Writer<'_>) {
    let geometry_type = GeometryType::new(GeometryKind::Point, dimensions);
    let at = point
        .coord()
        .map_or(Position::NOWHERE, |coord| position(&coord, dimensions));
    writer.start(geometry_type, 1);
    writer.position(at, geometry_type);
}

fn line_string(
    line: &impl LineStringTrait<T = f64>,
    dimensions: Dimensions,
    writer: &mut Writer<'_>,
) -> Result<()> {
    let geometry_type = GeometryType::new(GeometryKind::LineString, dimensions);
    writer.start(geometry_type, count(line.num_coords())?);
    for coord in line.coords() {
        writer.position(position(&coord, dimensions), geometry_type);
    }
    Ok(())
}

fn polygon(
    polygon: &impl PolygonTrait<T = f64>,
    dimensions: Dimensions,
    writer: &mut Writer<'_>,
) -> Result<()> {
    let geometry_type = GeometryType::new(GeometryKind::Polygon, dimensions);
    let exterior = polygon.exterior();
    let rings = polygon.num_interiors() + usize::from(exterior.is_some());
    writer.start(geometry_type, count(rings)?);
    for ring in exterior.into_iter().chain(polygon.interiors()) {
        writer.start_ring(count(ring.num_coords())?);
        for coord in ring.coords() {
            writer.position(position(&coord, dimensions), geometry_type);
        }
    }
    Ok(())
}

/// Writes a polygon with one ring.
fn shell(ring: &[Position], geometry_type: GeometryType, writer: &mut Writer<'_>) {
    writer.start(geometry_type, 1);
    writer.start_ring(ring.len() as u32);
    positions(ring, geometry_type, writer);
}

fn positions(all: &[Position], geometry_type: GeometryType, writer: &mut Writer<'_>) {
    for at in all {
        writer.position(*at, geometry_type);
    }
}

/// Reads the ordinates according to the position's own dimensions. Ordinates only present in the
/// whole geometry become NaN.
fn position(coord: &impl CoordTrait<T = f64>, dimensions: Dimensions) -> Position {
    let own = self::dimensions(coord.dim()).unwrap_or(dimensions);
    let nth = |has: bool, at: usize| match has {
        true => coord.nth(at).unwrap_or(f64::NAN),
        false => f64::NAN,
    };
    Position {
        x: coord.x(),
        y: coord.y(),
        z: nth(own.has_z(), 2),
        m: nth(own.has_m(), if own.has_z() { 3 } else { 2 }),
    }
}

fn dimensions(dimensions: TraitDimensions) -> Result<Dimensions> {
    Ok(match dimensions {
        TraitDimensions::Xy | TraitDimensions::Unknown(2) => Dimensions::Xy,
        TraitDimensions::Xyz | TraitDimensions::Unknown(3) => Dimensions::Xyz,
        TraitDimensions::Xym => Dimensions::Xym,
        TraitDimensions::Xyzm | TraitDimensions::Unknown(4) => Dimensions::Xyzm,
        TraitDimensions::Unknown(count) => {
            let message = format!("a geometry of {count} unnamed dimensions");
            return Err(Error::unsupported(message));
        }
    })
}

fn count(parts: usize) -> Result<u32> {
    u32::try_from(parts).map_err(|_| Error::argument("a geometry has more than 2³² parts"))
}
