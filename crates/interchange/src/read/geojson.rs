//! Reads GeoJSON. It is a sequence of Features, also in arrays or in FeatureCollections (RFC 7946,
//! RFC 8142).
//!
//! ```text
//! {"type": "Feature", "id": 7, "geometry": {…}, "properties": {"a": 1}, "links": []}
//! {"id": 7, "links": [], "a": 1, "geometry": "AQEAAAA…"}     a row, the geometry in well-known binary
//! ```
//!
//! Each property becomes a column with its name, and so does each other member of a Feature. A
//! number resolves name clashes between the two. For example, the property `id` becomes `id_1`, and
//! `geometry` becomes `geometry_1`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use herringbone::geospatial::geoarrow::{EXTENSION_NAME, ExtensionCrs, ExtensionMetadata};
use herringbone::geospatial::{Edges, crs, geojson};
use herringbone_arrow::schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use herringbone_arrow::schema::{DataType, Field, Schema};
use herringbone_text::json::{JsonReader, JsonToken, push_quoted};

use super::foreign::NOT_UTF8;
use super::json::batches;
use super::json::rows::{Collection, FileRows, RowTexts, Sampled};
use super::sample::Sample;
use super::value::ParseError;
use super::{Rows, Stream, TextOptions};
use crate::error::{Error, Result};
use crate::write::geometry::is_geometry;
use crate::write::text::push_base64;

/// The name of the geometry column.
const GEOMETRY: &str = "geometry";

/// Reads Features. In addition to `geometry`, each property and each other member becomes a column.
///
/// # Errors
/// Fails with [Data](crate::Error::Data) if a schema cannot be inferred, and with
/// [System](crate::Error::System) if the text cannot be read.
pub fn geojson<'a>(stream: Stream, mut options: TextOptions<'a>) -> Result<Rows<'a>> {
    match &options.schema {
        None => options.types.push(geometry(DataType::Binary)),
        Some(schema) => options.schema = Some(Arc::new(with_geometry(schema)?)),
    }
    let (name, work, note) = (stream.name.clone(), stream.work(), options.note);
    let file = name.clone();
    let see_collection = Box::new(move |text: &str| {
        let others = collection(text)?;
        if !others.is_empty() {
            let others = others.join("`, `");
            note(&format!(
                "{file}: members of a FeatureCollection are left out: `{others}`"
            ));
        }
        Ok(())
    });
    let file_rows = FileRows::new(
        name.clone(),
        Sample::start(stream)?.whole(),
        Some(Collection {
            key: Arc::from(&b"features"[..]),
            is_required: false,
            see: see_collection,
        }),
    )
    .limited(options.limits);
    let features = Sampled::new(file_rows, options.infer_rows.max(1))?;
    let columns = Columns::of(features.sample.iter().map(|(_, row)| row.as_slice()));
    for (property, column) in &columns.renamed {
        note(&format!(
            "{name}: the property `{property}` becomes the column `{column}`"
        ));
    }
    let features = Features {
        features,
        columns,
        feature: Vec::new(),
    };
    let (schema, batches) = batches(&name, features, &options)?;
    Ok(Rows {
        schema,
        batches,
        work,
    })
}

/// Returns the geometry field. GeoJSON coordinates are always longitude and latitude.
fn geometry(data_type: DataType) -> Field {
    let metadata = ExtensionMetadata {
        crs: Some(ExtensionCrs::AuthorityCode(crs::DEFAULT.to_owned())),
        edges: Edges::Planar,
    };
    let pairs = [
        (EXTENSION_TYPE_NAME_KEY, EXTENSION_NAME.to_owned()),
        (EXTENSION_TYPE_METADATA_KEY, metadata.to_json()),
    ];
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value));
    Field::new(GEOMETRY, data_type, true).with_metadata(HashMap::from(pairs))
}

/// Returns the schema with GeoJSON's reference system.
fn with_geometry(schema: &Schema) -> Result<Schema> {
    let fields = schema.fields().iter().map(|field| {
        if field.name() != GEOMETRY {
            return Ok(field.clone());
        }
        let text = field.extension_type_metadata().unwrap_or_default();
        let says_other = ExtensionMetadata::parse(text).is_ok_and(|column| {
            column.crs.is_some() && !crs::Crs::of(&column.logical_type()).is_default()
        });
        if says_other || !is_geometry(field) {
            let message = format!(
                "--schema: GeoJSON contains longitudes and latitudes, so `{GEOMETRY}` must be \
                 Binary (geoarrow.wkb, {})",
                crs::DEFAULT
            );
            return Err(Error::Options(message));
        }
        let own = geometry(field.data_type().clone()).with_nullable(field.is_nullable());
        Ok(Arc::new(own))
    });
    let fields: Vec<_> = fields.collect::<Result<_>>()?;
    Ok(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Renamed columns, for properties whose name is already taken by a member.
#[derive(Default)]
struct Columns {
    /// The renamed properties and their columns, sorted.
    renamed: Vec<(String, String)>,
}

impl Columns {
    /// Assigns columns to the properties in a sample. Anything but a Feature is skipped here, since
    /// the row reader reports it later.
    fn of<'t>(sample: impl Iterator<Item = &'t [u8]>) -> Self {
        let mut properties: HashSet<String> = HashSet::new();
        let mut others: HashSet<String> = HashSet::from([GEOMETRY.to_owned()]);
        for text in sample {
            let Ok(parts) = str::from_utf8(text)
                .map_err(drop)
                .and_then(|row| parts(row).map_err(drop))
            else {
                continue;
            };
            others.extend(parts.others.into_iter().map(|(name, _)| name));
            let text = parts.properties.unwrap_or("null");
            let seen = for_each_member(text, "`properties`", &mut |name, _| {
                properties.insert(name);
                Ok(())
            });
            // The row reader reports this error later.
            seen.unwrap_or_default();
        }
        let mut clashes: Vec<&String> = properties.intersection(&others).collect();
        clashes.sort_unstable();
        let is_taken = |name: &String| properties.contains(name) || others.contains(name);
        let renamed = clashes.into_iter().map(|property| {
            let mut names = (1_u64..).map(|number| format!("{property}_{number}"));
            let column = names.find(|name| !is_taken(name));
            (property.clone(), column.unwrap_or_default())
        });
        Self {
            renamed: renamed.collect(),
        }
    }

    /// Returns the name of a property's column.
    fn column<'t>(&'t self, property: &'t str) -> &'t str {
        let found = self.renamed.iter().find(|(name, _)| name == property);
        found.map_or(property, |(_, column)| column)
    }
}

/// A source that converts Features to JSON rows.
struct Features<S> {
    features: S,
    columns: Columns,
    /// A buffer for the current Feature.
    feature: Vec<u8>,
}

impl<S: RowTexts> RowTexts for Features<S> {
    fn next_row(&mut self, row: &mut Vec<u8>) -> Result<Option<usize>> {
        let Some(line) = self.features.next_row(&mut self.feature)? else {
            return Ok(None);
        };
        let mut text = String::from_utf8(std::mem::take(row)).unwrap_or_default();
        text.clear();
        let feature = str::from_utf8(&self.feature);
        let feature = feature.map_err(|_| NOT_UTF8.to_owned());
        let made = feature.and_then(|feature| self.columns.row(feature, &mut text));
        made.map_err(|message| self.features.failure(line, ParseError::new(message)))?;
        *row = text.into_bytes();
        Ok(Some(line))
    }

    fn failure(&self, line: usize, error: ParseError) -> Error {
        self.features.failure(line, error)
    }
}

/// The parts of a Feature, as JSON text.
#[derive(Default)]
struct Parts<'t> {
    type_: Option<String>,
    geometry: Option<&'t str>,
    properties: Option<&'t str>,
    /// The identifier and all foreign members.
    others: Vec<(String, &'t str)>,
}

impl Columns {
    /// Appends the row of a Feature.
    fn row(&self, text: &str, row: &mut String) -> Result<(), String> {
        let parts = parts(text)?;
        match parts.type_.as_deref() {
            Some("Feature") => {}
            Some("FeatureCollection") => {
                return Err("a FeatureCollection does not have an array `features`".into());
            }
            Some(other) => return Err(format!("expected a Feature, found a {other}")),
            None => return Err("expected a Feature, found an object without `type`".into()),
        }
        let mut before = '{';
        let mut member = |name: &str, value: &str| {
            row.push(before);
            before = ',';
            push_quoted(row, name);
            row.push(':');
            // We replace line ends between tokens, since they would throw off the line numbers in
            // errors.
            row.extend(
                value
                    .chars()
                    .map(|character| if character == '\n' { ' ' } else { character }),
            );
        };
        for (name, value) in &parts.others {
            member(name, value);
        }
        if let Some(properties) = parts.properties.filter(|property| *property != "null") {
            for_each_member(properties, "`properties`", &mut |name, value| {
                member(self.column(&name), value);
                Ok(())
            })?;
        }
        let mut value = String::from("null");
        if let Some(geometry) = parts.geometry.filter(|geometry| *geometry != "null") {
            let mut bytes = Vec::new();
            let read = geojson::read(geometry, &mut bytes);
            read.map_err(|error| format!("`geometry`: {}", error.message()))?;
            value = String::from('"');
            push_base64(&mut value, &bytes);
            value.push('"');
        }
        member(GEOMETRY, &value);
        row.push('}');
        Ok(())
    }
}

fn parts(text: &str) -> Result<Parts<'_>, String> {
    let mut parts = Parts::default();
    for_each_member(text, "a row", &mut |name, value| {
        match name.as_str() {
            "type" => parts.type_ = Some(value.trim_matches('"').to_owned()),
            "geometry" => parts.geometry = Some(value),
            "properties" => parts.properties = Some(value),
            // We leave out the box, since it follows from the geometry.
            "bbox" => {}
            "crs" => check_crs(value)?,
            _ => parts.others.push((name, value)),
        }
        Ok(())
    })?;
    Ok(parts)
}

/// Checks a FeatureCollection's members. Returns the names of dropped members.
fn collection(text: &str) -> Result<Vec<String>, String> {
    let (mut type_, mut others) = (None, Vec::new());
    for_each_member(text, "a FeatureCollection", &mut |name, value| {
        match name.as_str() {
            "type" => type_ = Some(value.trim_matches('"').to_owned()),
            "crs" => check_crs(value)?,
            "features" | "bbox" => {}
            _ => others.push(name),
        }
        Ok(())
    })?;
    match type_.as_deref() {
        Some("FeatureCollection") => Ok(others),
        Some(other) => Err(format!(
            "a {other} has an array `features`, like a FeatureCollection"
        )),
        None => Err("an object with `features` lacks the `type` FeatureCollection".into()),
    }
}

fn check_crs(value: &str) -> Result<(), String> {
    match value == "null" || value.contains("CRS84") {
        true => Ok(()),
        false => Err("`crs` must be OGC:CRS84, the reference system of GeoJSON".into()),
    }
}

/// Calls `see` with the members of an object and their JSON text. A duplicate name is an error.
pub(super) fn for_each_member<'t>(
    text: &'t str,
    what: &str,
    see: &mut dyn FnMut(String, &'t str) -> Result<(), String>,
) -> Result<(), String> {
    let mut json = JsonReader::new(text);
    let words = |error| ParseError::from(error).into_text();
    if !matches!(json.value(), Ok(JsonToken::Object)) {
        return Err(format!("{what} is not an object"));
    }
    let mut names = HashSet::new();
    while let Some(name) = json.key().map_err(words)? {
        let name = name.to_cow();
        let value = json.skip().map_err(words)?;
        if !names.insert(name.clone()) {
            return Err(ParseError::key_twice(&name).into_text());
        }
        see(name.into_owned(), value)?;
    }
    json.end().map_err(words)
}

#[cfg(test)]
mod tests {
    use super::{Columns, collection};

    fn row(columns: &Columns, text: &str) -> Result<String, String> {
        let mut row = String::new();
        columns.row(text, &mut row).map(|()| row)
    }

    const POINT: &str = r#"{"type":"Point","coordinates":[1,2]}"#;
    /// The point (1, 2), as byte order, type, x and y.
    const VALUE: &str = "AQEAAAAAAAAAAADwPwAAAAAAAABA";

    #[test]
    fn a_feature_is_a_row() {
        let columns = Columns::default();
        assert_eq!(
            row(
                &columns,
                &format!(
                    r#"{{"type":"Feature","bbox":[1,2,1,2],"properties":{{"n": 12345678901234567890.10, "o":{{"a":[1]}}}},"geometry":{POINT},"id":"x","links":[{{}}]}}"#
                )
            ),
            Ok(format!(
                r#"{{"id":"x","links":[{{}}],"n":12345678901234567890.10,"o":{{"a":[1]}},"geometry":"{VALUE}"}}"#
            ))
        );
        let empty = r#"{"type":"Feature","geometry":null,"properties":null}"#;
        assert_eq!(row(&columns, empty), Ok(r#"{"geometry":null}"#.to_owned()));
        for (text, wanted) in [
            (POINT, "expected a Feature, found a Point"),
            (
                r#"{"type":"FeatureCollection","features":null}"#,
                "a FeatureCollection does not have an array `features`",
            ),
            (
                r#"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2,3,4]}}"#,
                "`geometry`: a position has 4 numbers",
            ),
            (
                r#"{"type":"Feature","id":1,"id":2}"#,
                "the key `id` occurs twice",
            ),
            (r#"{"type":"Feature","#, "this is not JSON"),
            (
                r#"{"type":"Feature","properties":[]}"#,
                "`properties` is not an object",
            ),
            ("[1]", "a row is not an object"),
        ] {
            let error = row(&columns, text).unwrap_err();
            assert!(error.starts_with(wanted), "{error}");
        }
    }

    #[test]
    fn properties_with_the_names_of_members_get_a_number() {
        let features = [
            r#"{"type":"Feature","id":1,"properties":{"id":"a","id_1":2},"geometry":null}"#,
            r#"{"type":"Feature","properties":{"geometry":"clash","x":1},"geometry":null,"links":[]}"#,
        ];
        let columns = Columns::of(features.iter().map(|feature| feature.as_bytes()));
        let renamed: Vec<_> = columns
            .renamed
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        assert_eq!(renamed, [("geometry", "geometry_1"), ("id", "id_2")]);
        assert_eq!(
            row(&columns, features[0]).unwrap(),
            r#"{"id":1,"id_2":"a","id_1":2,"geometry":null}"#
        );
        assert_eq!(
            row(&columns, features[1]).unwrap(),
            r#"{"links":[],"geometry_1":"clash","x":1,"geometry":null}"#
        );
    }

    #[test]
    fn members_of_a_collection_are_checked() {
        let of = |text: &str| collection(text);
        assert_eq!(
            of(r#"{"type":"FeatureCollection","features":[],"name":"x","bbox":[],"crs":null}"#),
            Ok(vec!["name".to_owned()])
        );
        for (text, wanted) in [
            (
                r#"{"type":"Feature","features":[]}"#,
                "a Feature has an array `features`",
            ),
            (
                r#"{"features":[]}"#,
                "an object with `features` lacks the `type`",
            ),
            (
                r#"{"type":"FeatureCollection","crs":{"name":"EPSG:3857"},"features":[]}"#,
                "`crs` must be OGC:CRS84",
            ),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.starts_with(wanted), "{error}");
        }
    }
}
