//! GeoJSON: a Feature a line (RFC 7946; with a record separator before each of them, RFC 8142).
//!
//! ```text
//! {"type": "Feature", "id": 7, "geometry": {…}, "properties": {"a": 1}}
//! {"id": 7, "a": 1, "geometry": "AQEAAAA…"}        a JSON line, the geometry in well-known binary
//! ```

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;

use herringbone::geospatial::geoarrow::{EXTENSION_NAME, ExtensionCrs, ExtensionMetadata};
use herringbone::geospatial::{Edges, crs, geojson};
use herringbone_arrow::schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use herringbone_arrow::schema::{DataType, Field, Schema};

use super::foreign::NOT_UTF8;
use super::json::parse::{DEPTH, Json, Start};
use super::{Rows, Stream, TextOptions, jsonl};
use crate::failure::{Failure, Result};
use crate::render::geometry::is_geometry;
use crate::render::text::{push_base64, push_json_string};

/// The column that geometries become.
const GEOMETRY: &str = "geometry";
/// Bytes of a line, as of a row of JSON lines.
const LONGEST_LINE: u64 = i32::MAX as u64;
/// What separates texts besides line ends.
const RECORD_SEPARATOR: u8 = 0x1e;

/// Reads Features: a column for each property, `id` where Features have one, and `geometry`.
///
/// # Errors
/// Data where no schema can be inferred, System.
pub(crate) fn geojson(stream: Stream, mut options: TextOptions<'_>) -> Result<Rows<'static>> {
    match &options.schema {
        None => options.types.push(geometry(DataType::Binary)),
        Some(schema) => options.schema = Some(Arc::new(with_geometry(schema)?)),
    }
    let name = stream.name.clone();
    let lines = Stream {
        name,
        bytes: Box::new(Features {
            input: BufReader::new(stream),
            line: 0,
            row: String::new(),
            at: 0,
        }),
        total: None,
        read: std::rc::Rc::default(),
    };
    jsonl(lines, &options)
}

/// The field of geometries in longitude and latitude, which is what GeoJSON has.
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
    Field::new(GEOMETRY, data_type, true).with_metadata(pairs)
}

/// The schema with the reference system of GeoJSON.
fn with_geometry(schema: &Schema) -> Result<Schema> {
    let fields = schema.fields().iter().map(|field| {
        if field.name() != GEOMETRY {
            return Ok(field.clone());
        }
        let text = field.extension_type_metadata().unwrap_or_default();
        let says_other = ExtensionMetadata::parse(text).is_ok_and(|it| {
            it.crs.is_some() && !crs::Crs::of(&it.logical_type()).is_default()
        });
        if says_other || !is_geometry(field) {
            let message = format!(
                "--schema: GeoJSON is longitude and latitude, so `{GEOMETRY}` is Binary (geoarrow.wkb, \
                 {})",
                crs::DEFAULT
            );
            return Err(Failure::Usage(message));
        }
        let own = geometry(field.data_type().clone()).with_nullable(field.is_nullable());
        Ok(Arc::new(own))
    });
    let fields: Vec<_> = fields.collect::<Result<_>>()?;
    Ok(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Turns lines with Features into JSON lines.
struct Features<R> {
    input: BufReader<R>,
    line: u64,
    /// The JSON line that is given out, and how much of it was.
    row: String,
    at: usize,
}

impl<R: Read> Read for Features<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.row.len() {
            if !self.next_row()? {
                return Ok(0);
            }
        }
        let rest = self.row.as_bytes().get(self.at..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        let (part, _) = rest.split_at(count);
        if let Some(start) = buffer.get_mut(..count) {
            start.copy_from_slice(part);
        }
        self.at += count;
        Ok(count)
    }
}

impl<R: Read> Features<R> {
    /// The next row; whether there is one.
    fn next_row(&mut self) -> io::Result<bool> {
        self.row.clear();
        self.at = 0;
        let mut bytes = Vec::new();
        let mut line = self.input.by_ref().take(LONGEST_LINE + 1);
        if line.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(false);
        }
        self.line += 1;
        let wrong = |text: String| {
            let text = format!("line {}: {text}", self.line);
            io::Error::new(io::ErrorKind::InvalidData, text)
        };
        if bytes.len() as u64 > LONGEST_LINE {
            return Err(wrong("a line of more than 2 GiB".into()));
        }
        let text = str::from_utf8(&bytes).map_err(|_| wrong(NOT_UTF8.into()))?;
        let is_around =
            |it: char| it.is_whitespace() || it == char::from(RECORD_SEPARATOR) || it == '\u{feff}';
        let text = text.trim_matches(is_around);
        if !text.is_empty() {
            feature(text, &mut self.row).map_err(wrong)?;
        }
        // Lines are counted as those of the file.
        self.row.push('\n');
        Ok(true)
    }
}

/// The parts of a Feature, as they are written.
#[derive(Default)]
struct Parts<'t> {
    type_: Option<String>,
    /// The name of one that a Feature does not have.
    other: Option<String>,
    id: Option<&'t str>,
    geometry: Option<&'t str>,
    properties: Option<&'t str>,
}

/// Appends the JSON line of a Feature.
fn feature(text: &str, row: &mut String) -> Result<(), String> {
    let parts = parts(text)?;
    if let Some(other) = parts
        .other
        .as_ref()
        .filter(|_| parts.type_.as_deref() == Some("Feature"))
    {
        return Err(format!(
            "the member `{other}` of a Feature, which no column is for"
        ));
    }
    match parts.type_.as_deref() {
        Some("Feature") => {}
        Some("FeatureCollection") => {
            return Err(
                "a FeatureCollection; what is read is a Feature a line, which `jq -c \
                        '.features[]'` makes of it"
                    .into(),
            );
        }
        Some(other) => return Err(format!("a {other}, and no Feature")),
        None => return Err("an object without `type`, and no Feature".into()),
    }
    let mut before = '{';
    let mut member = |name: &str, row: &mut String| {
        row.push(before);
        before = ',';
        push_json_string(row, name);
        row.push(':');
    };
    if let Some(id) = parts.id {
        member("id", row);
        row.push_str(id);
    }
    if let Some(properties) = parts.properties.filter(|it| *it != "null") {
        for_each_member(properties, "`properties`", &mut |name, value| {
            member(name, row);
            row.push_str(value);
            Ok(())
        })?;
    }
    member(GEOMETRY, row);
    match parts.geometry.filter(|it| *it != "null") {
        None => row.push_str("null"),
        Some(geometry) => {
            let mut value = Vec::new();
            let read = geojson::read(geometry, &mut value);
            read.map_err(|error| format!("`geometry`: {}", error.message()))?;
            row.push('"');
            push_base64(row, &value);
            row.push('"');
        }
    }
    row.push('}');
    Ok(())
}

fn parts(text: &str) -> Result<Parts<'_>, String> {
    let mut parts = Parts::default();
    for_each_member(text, "a line", &mut |name, value| {
        match name {
            "type" => parts.type_ = Some(value.trim_matches('"').to_owned()),
            "id" => parts.id = Some(value),
            "geometry" => parts.geometry = Some(value),
            "properties" => parts.properties = Some(value),
            // It follows from the geometry.
            "bbox" => {}
            "crs" if value.contains("CRS84") => {}
            "crs" => return Err("`crs` is another one than OGC:CRS84, which GeoJSON is in".into()),
            other => parts.other = Some(other.to_owned()),
        }
        Ok(())
    })?;
    Ok(parts)
}

/// The members of an object, with their values as they are written.
fn for_each_member<'t>(
    text: &'t str,
    what: &str,
    see: &mut dyn FnMut(&str, &'t str) -> Result<(), String>,
) -> Result<(), String> {
    let mut json = Json::new(text);
    let words = |wrong: super::value::Wrong| wrong.words();
    if !matches!(json.value(), Ok(Start::Object)) {
        return Err(format!(
            "{what} is no object; what is read is a Feature a line"
        ));
    }
    let mut first = true;
    while let Some(name) = json.key(&mut first).map_err(words)? {
        let start = json.position();
        json.skip(DEPTH).map_err(words)?;
        let value = text.get(start..json.position()).unwrap_or_default();
        see(&name, value.trim())?;
    }
    json.end().map_err(words)
}

#[cfg(test)]
mod tests {
    use super::feature;

    #[test]
    fn a_feature_is_a_row() {
        let row = |text: &str| {
            let mut row = String::new();
            feature(text, &mut row).map(|()| row)
        };
        let point = r#"{"type":"Point","coordinates":[1,2]}"#;
        // The point (1, 2): byte order, type, x, y.
        let value = "AQEAAAAAAAAAAADwPwAAAAAAAABA";
        assert_eq!(
            row(&format!(
                r#"{{"type":"Feature","bbox":[1,2,1,2],"properties":{{"n": 12345678901234567890.10, "o":{{"a":[1]}}}},"geometry":{point},"id":"x"}}"#
            )),
            Ok(format!(
                r#"{{"id":"x","n":12345678901234567890.10,"o":{{"a":[1]}},"geometry":"{value}"}}"#
            ))
        );
        let empty = r#"{"type":"Feature","geometry":null,"properties":null}"#;
        assert_eq!(row(empty), Ok(r#"{"geometry":null}"#.to_owned()));
        for (text, wanted) in [
            (point, "a Point, and no Feature"),
            (
                r#"{"type":"FeatureCollection","features":[]}"#,
                "a FeatureCollection; what is read",
            ),
            (
                r#"{"type":"Feature","geometry":{"type":"Point","coordinates":[1,2,3,4]}}"#,
                "`geometry`: a position has 4 numbers",
            ),
            (
                r#"{"type":"Feature","geometry":null,"style":1}"#,
                "the member `style`",
            ),
            (r#"{"type":"Feature","#, "no JSON"),
            ("[1]", "a line is no object"),
        ] {
            let error = row(text).unwrap_err();
            assert!(error.starts_with(wanted), "{error}");
        }
    }
}
