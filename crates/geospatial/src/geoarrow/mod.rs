//! The Arrow extension type `geoarrow.wkb`. Its metadata records the reference system and the
//! edges.
//!
//! ```text
//! Parquet                       geoarrow.wkb
//! GEOMETRY                      (no edges)
//! GEOGRAPHY(…, KARNEY)          "edges": "karney"
//! no crs                        "crs": "OGC:CRS84", "crs_type": "authority_code"
//! srid:0                        (no crs)
//! srid:5070                     "crs": "5070",      "crs_type": "srid"
//! EPSG:5070                     "crs": "EPSG:5070", "crs_type": "authority_code"
//! {…}, projjson:KEY             "crs": {…},         "crs_type": "projjson"
//! anything else                 "crs": "…"
//! ```

#[cfg(test)]
mod tests;

use herringbone_format::{Error, LogicalType, Result};
use serde_json::{Map, Value};

use crate::Edges;
use crate::crs::{Crs, CrsForm, DEFAULT, UNDEFINED, definition};
use crate::wkb::GeometryKind;

/// The name of the extension type.
pub const EXTENSION_NAME: &str = "geoarrow.wkb";
/// The extension type's former name, still used by some writers.
pub const FORMER_EXTENSION_NAME: &str = "ogc.wkb";

/// Returns the extension type's name for the native encoding of a kind, such as
/// `geoarrow.multipolygon`. Returns `None` if the kind has no native encoding.
#[must_use]
pub fn native_name(kind: GeometryKind) -> Option<&'static str> {
    Some(match kind {
        GeometryKind::Point => "geoarrow.point",
        GeometryKind::LineString => "geoarrow.linestring",
        GeometryKind::Polygon => "geoarrow.polygon",
        GeometryKind::MultiPoint => "geoarrow.multipoint",
        GeometryKind::MultiLineString => "geoarrow.multilinestring",
        GeometryKind::MultiPolygon => "geoarrow.multipolygon",
        GeometryKind::GeometryCollection | GeometryKind::Opaque(_) => return None,
    })
}

/// The metadata of the extension type.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExtensionMetadata {
    /// The reference system, or `None` if it is not known.
    pub crs: Option<ExtensionCrs>,
    /// The interpolation of edges.
    pub edges: Edges,
}

/// A reference system in the extension type's metadata. The variants correspond to its `crs_type`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExtensionCrs {
    /// A PROJJSON definition (a JSON object).
    Projjson(String),
    /// A definition in WKT2:2019.
    Wkt2(String),
    /// An authority and a code, such as `EPSG:5070`.
    AuthorityCode(String),
    /// A number with a writer-defined meaning.
    Srid(String),
    /// Text in an unspecified form.
    Text(String),
}

impl ExtensionCrs {
    fn crs_type(&self) -> Option<&'static str> {
        match self {
            Self::Projjson(_) => Some("projjson"),
            Self::Wkt2(_) => Some("wkt2:2019"),
            Self::AuthorityCode(_) => Some("authority_code"),
            Self::Srid(_) => Some("srid"),
            Self::Text(_) => None,
        }
    }
}

impl ExtensionMetadata {
    /// Parses the metadata from a JSON object. An empty text counts as no metadata.
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if the text is not a JSON
    /// object, if `crs` is neither text nor an object, or if `edges` is not text. Fails with
    /// [Unsupported](herringbone_format::ErrorKind::Unsupported) if `edges` is not a known name.
    pub fn parse(text: &str) -> Result<Self> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        let members = definition(text).map_err(|why| {
            let message = format!("the metadata of {EXTENSION_NAME} is not a JSON object: {why}");
            Error::argument(message)
        })?;
        let crs = match members.get("crs") {
            None | Some(Value::Null) => None,
            Some(Value::Object(definition)) => Some(ExtensionCrs::Projjson(json(Value::Object(
                definition.clone(),
            )))),
            Some(Value::String(text)) => Some(Self::crs_of_text(text, members.get("crs_type"))),
            Some(_) => {
                return Err(Error::argument(format!(
                    "`crs` in the metadata of {EXTENSION_NAME} is neither text nor an object"
                )));
            }
        };
        let edges = match members.get("edges") {
            None | Some(Value::Null) => Edges::Planar,
            Some(Value::String(name)) => Edges::from_name(name)?,
            Some(_) => {
                let message = format!("`edges` in the metadata of {EXTENSION_NAME} is not text");
                return Err(Error::argument(message));
            }
        };
        Ok(Self { crs, edges })
    }

    fn crs_of_text(text: &str, crs_type: Option<&Value>) -> ExtensionCrs {
        let text = text.to_owned();
        match crs_type.and_then(Value::as_str) {
            // Some writers store the object as text.
            Some("projjson") if definition(&text).is_ok() => ExtensionCrs::Projjson(text),
            Some("wkt2:2019") => ExtensionCrs::Wkt2(text),
            Some("authority_code") => ExtensionCrs::AuthorityCode(text),
            Some("srid") => ExtensionCrs::Srid(text),
            _ => ExtensionCrs::Text(text),
        }
    }

    /// Converts a logical type, or returns `None` if it is neither GEOMETRY nor GEOGRAPHY.
    /// `key_value` looks up the file's key-value metadata. If the definition is missing there, the
    /// reference is kept.
    ///
    /// # Errors
    ///
    /// Fails with [Unsupported](herringbone_format::ErrorKind::Unsupported) if the algorithm of a
    /// GEOGRAPHY is not known.
    pub fn of<'a>(
        logical_type: &LogicalType,
        key_value: impl FnOnce(&str) -> Option<&'a str>,
    ) -> Result<Option<Self>> {
        let (Some(edges), LogicalType::Geometry { crs } | LogicalType::Geography { crs, .. }) =
            (Edges::of(logical_type)?, logical_type)
        else {
            return Ok(None);
        };
        let crs = Crs::new(crs.clone());
        let crs = crs.resolve(key_value).unwrap_or(crs);
        let text = || crs.text().unwrap_or_default().to_owned();
        let crs = match crs.form() {
            CrsForm::Default => Some(ExtensionCrs::AuthorityCode(DEFAULT.to_owned())),
            CrsForm::Undefined => None,
            CrsForm::AuthorityCode { .. } => Some(ExtensionCrs::AuthorityCode(text())),
            CrsForm::Srid(srid) => Some(ExtensionCrs::Srid(srid.to_owned())),
            CrsForm::Projjson(it) if definition(it).is_ok() => Some(ExtensionCrs::Projjson(text())),
            _ => Some(ExtensionCrs::Text(text())),
        };
        Ok(Some(Self { crs, edges }))
    }

    /// Returns the logical type. Planar edges make a GEOMETRY, all others a GEOGRAPHY. We omit
    /// longitude and latitude of WGS 84, whatever its name, because it's the default for all
    /// readers. An unknown system becomes `srid:0`. WKT is stored unchanged.
    #[must_use]
    pub fn logical_type(&self) -> LogicalType {
        let text = match &self.crs {
            None => UNDEFINED.to_owned(),
            Some(ExtensionCrs::Srid(srid)) => format!("srid:{srid}"),
            Some(
                ExtensionCrs::Projjson(text)
                | ExtensionCrs::Wkt2(text)
                | ExtensionCrs::AuthorityCode(text)
                | ExtensionCrs::Text(text),
            ) => text.clone(),
        };
        let crs = Crs::new(Some(text));
        let crs = match crs.form() {
            CrsForm::Srid(_) => Some(crs),
            _ if crs.is_default() => None,
            _ => Some(crs),
        };
        self.edges.logical_type(crs.and_then(Crs::into_text))
    }

    /// Returns true if both have the same meaning, even if the reference systems have different
    /// forms.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let crs = |it: &Self| Crs::of(&it.logical_type());
        self.edges == other.edges && crs(self).is_same(&crs(other))
    }

    /// Returns the metadata as JSON. Empty metadata is `{}`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut members = Map::new();
        if let Some(crs) = &self.crs {
            let value = match crs {
                ExtensionCrs::Projjson(text) => match definition(text) {
                    Ok(definition) => Value::Object(definition),
                    Err(_) => Value::String(text.clone()),
                },
                ExtensionCrs::Wkt2(text)
                | ExtensionCrs::AuthorityCode(text)
                | ExtensionCrs::Srid(text)
                | ExtensionCrs::Text(text) => Value::String(text.clone()),
            };
            members.insert("crs".to_owned(), value);
            if let Some(crs_type) = crs.crs_type() {
                members.insert("crs_type".to_owned(), crs_type.into());
            }
        }
        if self.edges.is_geography() {
            members.insert("edges".to_owned(), self.edges.name().into());
        }
        json(Value::Object(members))
    }
}

fn json(value: Value) -> String {
    value.to_string()
}
