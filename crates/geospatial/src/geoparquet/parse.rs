//! Conversion of JSON to metadata. Errors name the member, such as `columns.geometry.crs`.

use herringbone_format::{BoundingBox, Error, Result};
use serde_json::{Map, Value};

use super::bbox;
use super::model::{Covering, Encoding, GeoColumn, GeoMetadata, Others, Version};
use crate::Edges;
use crate::crs::Crs;
use crate::wkb::{Dimensions, GeometryKind, GeometryType};

type Members = Map<String, Value>;

impl GeoMetadata {
    /// Parses the text under [`KEY`](super::KEY).
    ///
    /// # Errors
    ///
    /// The text is not JSON, a member is missing or has the wrong type, or the version is not known.
    pub fn parse(text: &str) -> Result<Self> {
        let value = serde_json::from_str(text).map_err(|error| {
            Error::corrupt(format!("the GeoParquet metadata is not JSON: {error}"))
        })?;
        let Value::Object(mut members) = value else {
            return Err(Error::corrupt(
                "the GeoParquet metadata is not a JSON object",
            ));
        };
        let root = Place::Root;
        let version = version(&text_of(&mut members, &root, "version")?)?;
        let primary_column = text_of(&mut members, &root, "primary_column")?;
        let place = root.member("columns");
        let columns = match members.shift_remove("columns") {
            Some(Value::Object(columns)) => columns,
            other => return Err(place.is(other.as_ref(), "an object")),
        };
        let columns = columns.into_iter().map(|(name, value)| {
            let place = place.member(&name);
            let column = match value {
                Value::Object(members) => column(members, &place)?,
                other => return Err(place.is(Some(&other), "an object")),
            };
            Ok((name, column))
        });
        Ok(Self {
            version,
            primary_column,
            columns: columns.collect::<Result<_>>()?,
            others: Others(members),
        })
    }
}

fn version(text: &str) -> Result<Version> {
    let mut parts = text.splitn(3, '.');
    match (parts.next(), parts.next()) {
        (Some("1"), Some("0")) => Ok(Version::V1_0),
        // Previews of a 1.2 exist, which became 2.0.
        (Some("1"), Some(_)) => Ok(Version::V1_1),
        (Some("2"), Some(_)) => Ok(Version::V2_0),
        _ => Err(Error::unsupported(format!(
            "GeoParquet metadata of version {text:?}; 1.0, 1.1 and 2.0 are supported"
        ))),
    }
}

fn column(mut members: Members, place: &Place<'_>) -> Result<GeoColumn> {
    Ok(GeoColumn {
        encoding: encoding(&mut members, place)?,
        geometry_types: geometry_types(&mut members, place)?,
        crs: crs(&mut members, place)?,
        edges: edges(&mut members, place)?,
        is_counterclockwise: is_counterclockwise(&mut members, place)?,
        bbox: bounds(&mut members, place)?,
        epoch: match optional(&mut members, "epoch") {
            None => None,
            Some(Value::Number(year)) => year.as_f64(),
            other => return Err(place.member("epoch").is(other.as_ref(), "a number")),
        },
        covering: {
            let covering = covering(&mut members, place)?;
            let never_wraps = members.shift_remove(Covering::NEVER_WRAPS) == Some(true.into());
            covering.map(|it| Covering { never_wraps, ..it })
        },
        others: Others(members),
    })
}

fn encoding(members: &mut Members, place: &Place<'_>) -> Result<Encoding> {
    let text = text_of(members, place, "encoding")?;
    let known = Encoding::ALL.into_iter().find(|it| it.to_string() == text);
    known.ok_or_else(|| {
        let place = place.member("encoding");
        Error::unsupported(format!("{place} is {text:?}, which is unknown"))
    })
}

fn geometry_types(members: &mut Members, place: &Place<'_>) -> Result<Vec<GeometryType>> {
    let place = place.member("geometry_types");
    let types = match members.shift_remove("geometry_types") {
        Some(Value::Array(types)) => types,
        other => return Err(place.is(other.as_ref(), "an array")),
    };
    let geometry_type = |value: &Value| {
        let name = value.as_str().ok_or_else(|| place.has(value, "text"))?;
        geometry_type(name).ok_or_else(|| {
            Error::corrupt(format!(
                "{place} has {name:?}, which is not a geometry type"
            ))
        })
    };
    types.iter().map(geometry_type).collect()
}

/// Parses a geometry type, such as `Point ZM`.
fn geometry_type(name: &str) -> Option<GeometryType> {
    let (kind, dimensions) = match name.split_once(' ') {
        None => (name, Dimensions::Xy),
        Some((kind, "Z")) => (kind, Dimensions::Xyz),
        Some((kind, "M")) => (kind, Dimensions::Xym),
        Some((kind, "ZM")) => (kind, Dimensions::Xyzm),
        Some(_) => return None,
    };
    Some(GeometryType::new(
        GeometryKind::from_name(kind)?,
        dimensions,
    ))
}

fn crs(members: &mut Members, place: &Place<'_>) -> Result<Crs> {
    match members.shift_remove("crs") {
        None => Ok(Crs::default()),
        Some(Value::Null) => Ok(Crs::undefined()),
        Some(definition @ Value::Object(_)) => Ok(Crs::new(Some(definition.to_string()))),
        other => Err(place
            .member("crs")
            .is(other.as_ref(), "a PROJJSON object or null")),
    }
}

fn edges(members: &mut Members, place: &Place<'_>) -> Result<Edges> {
    match optional(members, "edges") {
        None => Ok(Edges::Planar),
        Some(Value::String(name)) => Edges::from_name(&name).map_err(|error| {
            let message = format!("{}: {}", place.member("edges"), error.message());
            Error::new(error.kind(), message)
        }),
        other => Err(place.member("edges").is(other.as_ref(), "text")),
    }
}

fn is_counterclockwise(members: &mut Members, place: &Place<'_>) -> Result<bool> {
    match optional(members, "orientation") {
        None => Ok(false),
        Some(Value::String(it)) if it == "counterclockwise" => Ok(true),
        other => Err(place
            .member("orientation")
            .is(other.as_ref(), "\"counterclockwise\"")),
    }
}

fn bounds(members: &mut Members, place: &Place<'_>) -> Result<Option<BoundingBox>> {
    let place = place.member("bbox");
    let Some(value) = optional(members, "bbox") else {
        return Ok(None);
    };
    let numbers = value
        .as_array()
        .map(|all| all.iter().map(Value::as_f64).collect());
    match numbers {
        Some(Some::<Vec<f64>>(numbers)) => match bbox::from_numbers(&numbers) {
            Some(bbox) => Ok(Some(bbox)),
            None => Err(Error::corrupt(format!(
                "{place} has {} numbers, not 4, 6 or 8",
                numbers.len()
            ))),
        },
        // Some other writers use null if there is nothing to bound.
        Some(None)
            if value
                .as_array()
                .is_some_and(|all| all.iter().all(Value::is_null)) =>
        {
            Ok(None)
        }
        _ => Err(place.is(Some(&value), "an array of numbers")),
    }
}

fn covering(members: &mut Members, place: &Place<'_>) -> Result<Option<Covering>> {
    let place = place.member("covering");
    let mut members = match optional(members, "covering") {
        None => return Ok(None),
        Some(Value::Object(members)) => members,
        other => return Err(place.is(other.as_ref(), "an object")),
    };
    // The specification may add other coverings.
    let place = place.member("bbox");
    let mut paths = match members.shift_remove("bbox") {
        None => return Ok(None),
        Some(Value::Object(paths)) => paths,
        other => return Err(place.is(other.as_ref(), "an object")),
    };
    let has_z = paths.contains_key("zmin") || paths.contains_key("zmax");
    let mut covering = Covering {
        column: String::new(),
        has_z,
        never_wraps: false,
    };
    for field in covering.fields() {
        let place = place.member(field);
        let path = paths.shift_remove(*field);
        let parts = path.as_ref().and_then(Value::as_array).map(Vec::as_slice);
        let Some([Value::String(column), Value::String(leaf)]) = parts else {
            return Err(place.is(path.as_ref(), "a column and its field"));
        };
        if leaf != field {
            return Err(Error::corrupt(format!("{place} is the field {leaf:?}")));
        }
        if covering.column.is_empty() {
            covering.column.clone_from(column);
        } else if covering.column != *column {
            return Err(Error::corrupt(format!(
                "{place} is in column {column:?}, but others are in {:?}",
                covering.column
            )));
        }
    }
    Ok(Some(covering))
}

/// Removes an optional member. Some writers use null for a missing member; null has a meaning for `crs` only.
fn optional(members: &mut Members, name: &str) -> Option<Value> {
    members.shift_remove(name).filter(|it| !it.is_null())
}

fn text_of(members: &mut Members, place: &Place<'_>, name: &str) -> Result<String> {
    match members.shift_remove(name) {
        Some(Value::String(text)) => Ok(text),
        other => Err(place.member(name).is(other.as_ref(), "text")),
    }
}

/// A member of the metadata.
enum Place<'a> {
    Root,
    Member(&'a Self, &'a str),
}

impl Place<'_> {
    fn member<'a>(&'a self, name: &'a str) -> Place<'a> {
        Place::Member(self, name)
    }

    /// Returns an error for a member of the wrong type.
    fn is(&self, given: Option<&Value>, wanted: &str) -> Error {
        let given = given.map_or("missing", kind_of);
        Error::corrupt(format!("{self} is {given}, not {wanted}"))
    }

    /// Returns an error for an element of the wrong type.
    fn has(&self, given: &Value, wanted: &str) -> Error {
        let given = kind_of(given);
        Error::corrupt(format!("{self} contains {given}, not {wanted}"))
    }
}

impl std::fmt::Display for Place<'_> {
    /// Writes the path, such as `columns.geometry.crs of the GeoParquet metadata`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        fn path(place: &Place<'_>, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            // The recursion is bounded: the code creates places only a few members deep.
            if let Place::Member(whole, name) = place {
                path(whole, f)?;
                if matches!(whole, Place::Member(..)) {
                    f.write_str(".")?;
                }
                f.write_str(name)?;
            }
            Ok(())
        }
        path(self, f)?;
        f.write_str(" of the GeoParquet metadata")
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "other text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
