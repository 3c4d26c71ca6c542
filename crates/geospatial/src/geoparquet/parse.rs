//! Converts JSON to metadata. Errors name the member, such as `columns.geometry.crs`.

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
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if the text is not JSON, or if
    /// a member is missing or has the wrong type, and with
    /// [Unsupported](herringbone_format::ErrorKind::Unsupported) if the version, an encoding or
    /// edges are not known.
    pub fn parse(text: &str) -> Result<Self> {
        let (metadata, defects) = Self::parse_usable(text)?;
        match defects.into_iter().next() {
            Some(defect) => Err(defect),
            None => Ok(metadata),
        }
    }

    /// Parses the usable part of the text under [`KEY`](super::KEY), and returns its defects as errors.
    ///
    /// This leaves out columns with an unknown encoding or unknown edges, since we couldn't locate
    /// their geometries. Other defective members count as missing, except that a CRS in text form
    /// is kept as is.
    ///
    /// ```
    /// use herringbone::geospatial::geoparquet::GeoMetadata;
    ///
    /// let json = r#"{
    ///     "version": "1.1.0", "primary_column": "place",
    ///     "columns": {"place": {"encoding": "WKB", "geometry_types": null, "crs": "EPSG:4326"}}
    /// }"#;
    /// let (geo, defects) = GeoMetadata::parse_usable(json)?;
    /// assert_eq!(geo.column("place").and_then(|it| it.crs.text()), Some("EPSG:4326"));
    /// assert_eq!(defects.len(), 2);
    /// # Ok::<(), herringbone::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if the text is not a JSON
    /// object.
    pub fn parse_usable(text: &str) -> Result<(Self, Vec<Error>)> {
        let mut defects = Defects(Vec::new());
        let value = serde_json::from_str(text).map_err(|error| {
            Error::corrupt(format!("the GeoParquet metadata is not JSON: {error}"))
        })?;
        let Value::Object(mut members) = value else {
            return Err(Error::corrupt(
                "the GeoParquet metadata is not a JSON object",
            ));
        };
        let root = MemberPath::Root;
        let version =
            text_of(&mut members, &root, "version").map(|text| version(&text, &mut defects));
        let is_foreign = version.is_ok() && !defects.0.is_empty();
        let version = defects.or(version, Version::V1_0);
        let primary_column = text_of(&mut members, &root, "primary_column");
        let primary_column = defects.or(primary_column, String::new());
        let place = root.member("columns");
        let all = match members.shift_remove("columns") {
            Some(Value::Object(columns)) => Ok(columns),
            other => Err(place.is(other.as_ref(), "an object")),
        };
        let mut columns = Vec::new();
        for (name, value) in defects.or(all, Members::new()) {
            let place = place.member(&name);
            let column = match value {
                Value::Object(members) => column(members, &place, &mut defects),
                other => Err(place.is(Some(&other), "an object")),
            };
            match column {
                Ok(column) => columns.push((name, column)),
                Err(defect) => defects.0.push(defect),
            }
        }
        if is_foreign {
            // We don't know the rules of other versions, so the rest might not be a defect.
            defects.0.truncate(1);
        }
        let metadata = Self {
            version,
            primary_column,
            columns,
            others: Others(members),
        };
        Ok((metadata, defects.0))
    }
}

/// The defects found so far.
struct Defects(Vec<Error>);

impl Defects {
    /// Returns the result's value. For an error, records the defect and returns the replacement.
    fn or<T>(&mut self, result: Result<T>, replacement: T) -> T {
        result.unwrap_or_else(|defect| {
            self.0.push(defect);
            replacement
        })
    }
}

/// Returns the version. An unknown version counts as the nearest known version, since earlier
/// versions had the same encoding.
fn version(text: &str, defects: &mut Defects) -> Version {
    let mut parts = text.splitn(3, '.');
    let nearest = match (parts.next(), parts.next()) {
        (Some("1"), Some("0")) => return Version::V1_0,
        // There are previews of a 1.2, later released as 2.0.
        (Some("1"), Some(_)) => return Version::V1_1,
        (Some("2"), Some(_)) => return Version::V2_0,
        (Some("0"), _) => Version::V1_0,
        _ => Version::V1_1,
    };
    defects.0.push(Error::unsupported(format!(
        "GeoParquet metadata of version {text:?}; 1.0, 1.1 and 2.0 are supported"
    )));
    nearest
}

/// Returns a column's metadata.
///
/// # Errors
/// Fails with the first defect that prevents locating the geometries.
fn column(
    mut members: Members,
    place: &MemberPath<'_>,
    defects: &mut Defects,
) -> Result<GeoColumn> {
    let encoding = encoding(&mut members, place)?;
    let geometry_types = geometry_types(&mut members, place);
    let geometry_types = defects.or(geometry_types, Vec::new());
    let crs = crs(&mut members, place, defects);
    let edges = edges(&mut members, place)?;
    let is_counterclockwise = is_counterclockwise(&mut members, place);
    let is_counterclockwise = defects.or(is_counterclockwise, false);
    let bbox = bounds(&mut members, place);
    let bbox = defects.or(bbox, None);
    let epoch = match optional(&mut members, "epoch") {
        None => Ok(None),
        Some(Value::Number(year)) => Ok(year.as_f64()),
        other => Err(place.member("epoch").is(other.as_ref(), "a number")),
    };
    let epoch = defects.or(epoch, None);
    let covering = covering(&mut members, place);
    let covering = defects.or(covering, None);
    let never_wraps = members.shift_remove(Covering::NEVER_WRAPS) == Some(true.into());
    Ok(GeoColumn {
        encoding,
        geometry_types,
        crs,
        edges,
        is_counterclockwise,
        bbox,
        epoch,
        covering: covering.map(|covering| Covering {
            never_wraps,
            ..covering
        }),
        others: Others(members),
    })
}

fn encoding(members: &mut Members, place: &MemberPath<'_>) -> Result<Encoding> {
    let text = text_of(members, place, "encoding")?;
    let known = Encoding::ALL.into_iter().find(|it| it.to_string() == text);
    known.ok_or_else(|| {
        let place = place.member("encoding");
        Error::unsupported(format!("{place} is {text:?}, which is unknown"))
    })
}

fn geometry_types(members: &mut Members, place: &MemberPath<'_>) -> Result<Vec<GeometryType>> {
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

/// Returns the reference system. We keep a text, because it still names a system, even though the
/// format requires PROJJSON.
fn crs(members: &mut Members, place: &MemberPath<'_>, defects: &mut Defects) -> Crs {
    let (crs, given) = match members.shift_remove("crs") {
        None => return Crs::default(),
        Some(Value::Null) => return Crs::undefined(),
        Some(definition @ Value::Object(_)) => return Crs::new(Some(definition.to_string())),
        Some(Value::String(text)) => (Crs::new(Some(text.clone())), Value::String(text)),
        Some(other) => (Crs::undefined(), other),
    };
    let wanted = "a PROJJSON object or null";
    defects.0.push(place.member("crs").is(Some(&given), wanted));
    crs
}

fn edges(members: &mut Members, place: &MemberPath<'_>) -> Result<Edges> {
    match optional(members, "edges") {
        None => Ok(Edges::Planar),
        Some(Value::String(name)) => Edges::from_name(&name).map_err(|error| {
            let message = format!("{}: {}", place.member("edges"), error.message());
            Error::new(error.kind(), message)
        }),
        other => Err(place.member("edges").is(other.as_ref(), "text")),
    }
}

fn is_counterclockwise(members: &mut Members, place: &MemberPath<'_>) -> Result<bool> {
    match optional(members, "orientation") {
        None => Ok(false),
        Some(Value::String(it)) if it == "counterclockwise" => Ok(true),
        other => Err(place
            .member("orientation")
            .is(other.as_ref(), "\"counterclockwise\"")),
    }
}

fn bounds(members: &mut Members, place: &MemberPath<'_>) -> Result<Option<BoundingBox>> {
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

fn covering(members: &mut Members, place: &MemberPath<'_>) -> Result<Option<Covering>> {
    let place = place.member("covering");
    let mut members = match optional(members, "covering") {
        None => return Ok(None),
        Some(Value::Object(members)) => members,
        other => return Err(place.is(other.as_ref(), "an object")),
    };
    // The specification might add other coverings.
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

/// Removes an optional member. Some writers use null for a missing member. This is unambiguous
/// except for `crs`, where null has a meaning.
fn optional(members: &mut Members, name: &str) -> Option<Value> {
    members
        .shift_remove(name)
        .filter(|member| !member.is_null())
}

fn text_of(members: &mut Members, place: &MemberPath<'_>, name: &str) -> Result<String> {
    match members.shift_remove(name) {
        Some(Value::String(text)) => Ok(text),
        other => Err(place.member(name).is(other.as_ref(), "text")),
    }
}

/// The path of a member in the metadata.
enum MemberPath<'a> {
    Root,
    Member(&'a Self, &'a str),
}

impl MemberPath<'_> {
    fn member<'a>(&'a self, name: &'a str) -> MemberPath<'a> {
        MemberPath::Member(self, name)
    }

    /// Returns the error for a member of the wrong type.
    fn is(&self, given: Option<&Value>, wanted: &str) -> Error {
        let given = given.map_or("missing", kind_of);
        Error::corrupt(format!("{self} is {given}, not {wanted}"))
    }

    /// Returns the error for an element of the wrong type.
    fn has(&self, given: &Value, wanted: &str) -> Error {
        let given = kind_of(given);
        Error::corrupt(format!("{self} contains {given}, not {wanted}"))
    }
}

impl std::fmt::Display for MemberPath<'_> {
    /// Writes the path, such as `columns.geometry.crs of the GeoParquet metadata`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        fn path(place: &MemberPath<'_>, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            // This recursion is bounded, since we only create paths a few members deep.
            if let MemberPath::Member(whole, name) = place {
                path(whole, f)?;
                if matches!(whole, MemberPath::Member(..)) {
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
