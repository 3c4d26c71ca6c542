//! Converts GeoJSON to a value.

use herringbone_format::{Error, Result};
use serde_json::{Map, Value};

use crate::wkb::{Dimensions, GeometryKind, GeometryType, MAX_DEPTH, Position, Writer};

/// Appends a geometry object as well-known binary. The result has Z if any position has three
/// numbers. In that case, positions with two numbers get a NaN for z. Unknown members are ignored.
///
/// # Errors
///
/// Fails with [Argument](herringbone_format::ErrorKind::Argument) if the text is not a geometry
/// object, if a position has more than three numbers, or if collections are nested deeper than
/// [`MAX_DEPTH`]. After an error, `out` can end in a partial geometry.
pub fn read(text: &str, out: &mut Vec<u8>) -> Result<()> {
    let value: Value = serde_json::from_str(text)
        .map_err(|error| Error::argument(format!("the geometry is not JSON: {error}")))?;
    geometry(&value, &mut Writer::new(out), MAX_DEPTH)
}

fn geometry(value: &Value, writer: &mut Writer<'_>, depth: usize) -> Result<()> {
    let Value::Object(members) = value else {
        return Err(Error::argument("a geometry is not a JSON object"));
    };
    let kind = kind(members)?;
    if depth == 0 {
        let message = format!("geometries are nested more than {MAX_DEPTH} levels deep");
        return Err(Error::argument(message));
    }
    let geometry_type = GeometryType::new(kind, dimensions(members));
    if kind == GeometryKind::GeometryCollection {
        let geometries = array(members.get("geometries"), kind, "geometries")?;
        writer.start(geometry_type, count(geometries)?);
        return geometries
            .iter()
            .try_for_each(|member| geometry(member, writer, depth - 1));
    }
    let coordinates = array(members.get("coordinates"), kind, "coordinates")?;
    coordinates_of(coordinates, geometry_type, writer)
}

fn kind(members: &Map<String, Value>) -> Result<GeometryKind> {
    let Some(name) = members.get("type").and_then(Value::as_str) else {
        return Err(Error::argument("a geometry does not have a `type`"));
    };
    GeometryKind::from_name(name)
        .ok_or_else(|| Error::argument(format!("unknown `type` of a geometry: {name:?}")))
}

/// Writes the geometry with these coordinates, including its parts.
fn coordinates_of(
    coordinates: &[Value],
    geometry_type: GeometryType,
    writer: &mut Writer<'_>,
) -> Result<()> {
    let GeometryType { kind, dimensions } = geometry_type;
    let part = match kind {
        GeometryKind::MultiPoint => GeometryKind::Point,
        GeometryKind::MultiLineString => GeometryKind::LineString,
        GeometryKind::MultiPolygon => GeometryKind::Polygon,
        GeometryKind::Point => {
            writer.start(geometry_type, 1);
            writer.position(position(coordinates)?, geometry_type);
            return Ok(());
        }
        GeometryKind::LineString => {
            writer.start(geometry_type, count(coordinates)?);
            return positions(coordinates, geometry_type, writer);
        }
        _ => {
            writer.start(geometry_type, count(coordinates)?);
            return coordinates.iter().try_for_each(|ring| {
                let ring = array(Some(ring), kind, "rings")?;
                writer.start_ring(count(ring)?);
                positions(ring, geometry_type, writer)
            });
        }
    };
    writer.start(geometry_type, count(coordinates)?);
    coordinates.iter().try_for_each(|coordinate| {
        let coordinate = array(Some(coordinate), kind, "coordinates")?;
        coordinates_of(coordinate, GeometryType::new(part, dimensions), writer)
    })
}

fn positions(values: &[Value], geometry_type: GeometryType, writer: &mut Writer<'_>) -> Result<()> {
    values.iter().try_for_each(|value| {
        let value = array(Some(value), geometry_type.kind, "positions")?;
        if value.is_empty() {
            return Err(Error::argument("a position does not contain numbers"));
        }
        writer.position(position(value)?, geometry_type);
        Ok(())
    })
}

/// Parses a position. An empty array means an empty point.
fn position(numbers: &[Value]) -> Result<Position> {
    let number = |value: &Value| {
        value.as_f64().ok_or_else(|| {
            Error::argument(format!("a position contains {value} instead of a number"))
        })
    };
    let (x, y, z) = match numbers {
        [] => (f64::NAN, f64::NAN, f64::NAN),
        [x, y] => (number(x)?, number(y)?, f64::NAN),
        [x, y, z] => (number(x)?, number(y)?, number(z)?),
        _ => {
            return Err(Error::argument(format!(
                "a position has {} numbers; GeoJSON supports longitude, latitude and height",
                numbers.len()
            )));
        }
    };
    let m = f64::NAN;
    Ok(Position { x, y, z, m })
}

/// Returns Z if any position inside has three numbers.
fn dimensions(members: &Map<String, Value>) -> Dimensions {
    fn has_z(value: &Value) -> bool {
        // This recursion is bounded, since `serde_json` limits the depth of parsed JSON.
        match value {
            Value::Array(all) if all.first().is_some_and(Value::is_number) => all.len() > 2,
            Value::Array(all) => all.iter().any(has_z),
            Value::Object(members) => is_within(members),
            _ => false,
        }
    }
    fn is_within(members: &Map<String, Value>) -> bool {
        let parts = [members.get("coordinates"), members.get("geometries")];
        parts.into_iter().flatten().any(has_z)
    }
    Dimensions::new(is_within(members), false)
}

fn array<'a>(value: Option<&'a Value>, kind: GeometryKind, what: &str) -> Result<&'a [Value]> {
    match value {
        Some(Value::Array(all)) => Ok(all),
        _ => Err(Error::argument(format!(
            "the {what} of a {kind} are not an array"
        ))),
    }
}

fn count(all: &[Value]) -> Result<u32> {
    u32::try_from(all.len()).map_err(|_| Error::argument("a geometry has more than 2³² parts"))
}
