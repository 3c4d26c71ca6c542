//! Coordinate reference systems, as named by the logical types GEOMETRY and GEOGRAPHY.
//!
//! Geospatial.md, "Coordinate Reference System" and "CRS Customization". Note that coordinates
//! always have x before y (longitude before latitude), whatever axis order the definition has.
//! EPSG:4326 therefore equals OGC:CRS84 here.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use herringbone_format::{Error, LogicalType, Result};
use serde_json::{Map, Value};

/// The system of columns without a CRS. It has longitude and latitude.
pub const DEFAULT: &str = "OGC:CRS84";
/// The text that stands for an unknown system.
pub const UNDEFINED: &str = "srid:0";

const SRID: &str = "srid:";
const PROJJSON: &str = "projjson:";

/// A reference system, stored as the logical type's unchanged text.
///
/// ```
/// use herringbone::geospatial::crs::{Crs, CrsForm};
///
/// let crs = Crs::new(Some("EPSG:5070".to_owned()));
/// assert_eq!(crs.form(), CrsForm::AuthorityCode { authority: "EPSG", code: "5070" });
/// // Without a text, the system has longitude and latitude.
/// assert!(Crs::new(None).is_default());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Crs(Option<String>);

/// The notation in which a text names a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CrsForm<'a> {
    /// No text, which means OGC:CRS84.
    Default,
    /// The text `srid:0`.
    Undefined,
    /// An authority and a code, such as `EPSG:5070`.
    AuthorityCode {
        /// The authority that defines the code.
        authority: &'a str,
        /// The code.
        code: &'a str,
    },
    /// A number such as `srid:5070`, which is usually an EPSG code.
    Srid(&'a str),
    /// A text such as `projjson:KEY`. The definition is in the file's key-value metadata.
    ProjjsonKey(&'a str),
    /// The definition itself, as a JSON object.
    Projjson(&'a str),
    /// Anything else, such as WKT.
    Other(&'a str),
}

impl Crs {
    /// Creates a system from a logical type's text.
    #[must_use]
    pub fn new(text: Option<String>) -> Self {
        Self(text.filter(|text| !text.is_empty()))
    }

    /// Returns a logical type's system. It is undefined if the type has no geometries.
    #[must_use]
    pub fn of(logical_type: &LogicalType) -> Self {
        match logical_type {
            LogicalType::Geometry { crs } | LogicalType::Geography { crs, .. } => {
                Self::new(crs.clone())
            }
            _ => Self::undefined(),
        }
    }

    /// Returns the undefined system.
    #[must_use]
    pub fn undefined() -> Self {
        Self(Some(UNDEFINED.to_owned()))
    }

    /// Returns the unchanged text. `None` means [`DEFAULT`].
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// Converts the system to a logical type's text.
    #[must_use]
    pub fn into_text(self) -> Option<String> {
        self.0
    }

    /// Returns the notation in which the text names the system.
    #[must_use]
    pub fn form(&self) -> CrsForm<'_> {
        let Some(text) = self.text() else {
            return CrsForm::Default;
        };
        if let Some(srid) = after_prefix(text, SRID) {
            return match srid.trim() {
                "0" => CrsForm::Undefined,
                srid => CrsForm::Srid(srid),
            };
        }
        if let Some(key) = after_prefix(text, PROJJSON) {
            return CrsForm::ProjjsonKey(key);
        }
        if text.trim_start().starts_with('{') {
            return CrsForm::Projjson(text);
        }
        let is_name = |it: &str| {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
            !it.is_empty() && it.bytes().all(is_part)
        };
        match text.split_once(':') {
            Some((authority, code)) if is_name(authority) && is_name(code) => {
                CrsForm::AuthorityCode { authority, code }
            }
            _ => CrsForm::Other(text),
        }
    }

    /// Replaces a key by the definition, which `key_value` looks up in the file's key-value
    /// metadata. If the system has any other form, it is returned unchanged.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if the key does not exist, or
    /// if its value is not a JSON object.
    pub fn resolve<'a>(&self, key_value: impl FnOnce(&str) -> Option<&'a str>) -> Result<Self> {
        let CrsForm::ProjjsonKey(key) = self.form() else {
            return Ok(self.clone());
        };
        let Some(text) = key_value(key) else {
            return Err(Error::corrupt(format!(
                "the CRS refers to the key {key:?} of the key-value metadata, which is missing"
            )));
        };
        definition(text).map_err(|why| {
            Error::corrupt(format!(
                "the CRS in the key-value metadata under {key:?} is not PROJJSON: {why}"
            ))
        })?;
        Ok(Self(Some(text.to_owned())))
    }

    /// Returns true if the system is longitude and latitude of WGS 84, be it by default, by name,
    /// or by the definition's `id`.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.identity()
            .is_some_and(|identity| identity.is_default())
    }

    /// Returns true if both are known to be the same system, judging by their texts or the
    /// definitions' `id`s.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        match (self.identity(), other.identity()) {
            (Some(a), Some(b)) => a.is_default() && b.is_default() || a == b,
            (None, None) => match (self.form(), other.form()) {
                (CrsForm::Undefined, CrsForm::Undefined) => true,
                (CrsForm::Projjson(a), CrsForm::Projjson(b)) => {
                    matches!((definition(a), definition(b)), (Ok(a), Ok(b)) if a == b)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns true if coordinates are longitudes and latitudes, or `None` if only a database could
    /// decide. If there is only a code, we know the answer for most projected systems.
    #[must_use]
    pub fn is_geographic(&self) -> Option<bool> {
        if self.is_default() {
            return Some(true);
        }
        match self.form() {
            CrsForm::Projjson(text) => is_geographic(&definition(text).ok()?),
            CrsForm::Srid(_) | CrsForm::AuthorityCode { .. } => {
                let Identity { authority, code } = self.identity()?;
                let is_epsg = authority.eq_ignore_ascii_case("EPSG");
                (is_epsg && is_projected(code.parse().ok()?)).then_some(false)
            }
            _ => None,
        }
    }

    /// Returns a definition's short name, taken from its `id` or else its `name`.
    fn label(&self) -> String {
        if let Some(Identity { authority, code }) = self.identity() {
            return format!("{authority}:{code}");
        }
        let definition = definition(self.text().unwrap_or_default()).unwrap_or_default();
        let name = definition.get("name").and_then(Value::as_str);
        format!("{:?}", name.unwrap_or("without a name"))
    }

    fn identity(&self) -> Option<Identity<'_>> {
        let known = |authority: &'static str, code| Identity {
            authority: authority.into(),
            code: Cow::Borrowed(code),
        };
        Some(match self.form() {
            CrsForm::Default => known("OGC", "CRS84"),
            CrsForm::Srid(srid) => known("EPSG", srid),
            CrsForm::AuthorityCode { authority, code } => Identity {
                authority: authority.into(),
                code: code.into(),
            },
            CrsForm::Projjson(text) => return id_of(&definition(text).ok()?),
            CrsForm::Undefined | CrsForm::ProjjsonKey(_) | CrsForm::Other(_) => return None,
        })
    }
}

impl fmt::Display for Crs {
    /// Writes a short form. This is `OGC:CRS84` if there is no text, the `id` of a definition or
    /// else its `name`, and otherwise the text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.form() {
            CrsForm::Default => f.write_str(DEFAULT),
            CrsForm::Projjson(_) => f.write_str(&self.label()),
            _ => f.write_str(self.text().unwrap_or_default()),
        }
    }
}

/// An authority, with one of its codes.
#[derive(Debug)]
struct Identity<'a> {
    authority: Cow<'a, str>,
    code: Cow<'a, str>,
}

impl PartialEq for Identity<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.authority.eq_ignore_ascii_case(&other.authority)
            && self.code.eq_ignore_ascii_case(&other.code)
    }
}

impl Identity<'_> {
    fn is_default(&self) -> bool {
        let is = |authority: &str, code: &str| {
            self.authority.eq_ignore_ascii_case(authority) && self.code.eq_ignore_ascii_case(code)
        };
        is("OGC", "CRS84") || is("EPSG", "4326")
    }
}

/// Returns the text after a prefix. The prefix can have any letter case.
fn after_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Parses a definition from a JSON object.
pub(crate) fn definition(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err("it is not an object".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

fn id_of(definition: &Map<String, Value>) -> Option<Identity<'static>> {
    let id = definition.get("id")?;
    let code = match id.get("code")? {
        Value::String(code) => code.clone(),
        Value::Number(code) => code.to_string(),
        _ => return None,
    };
    Some(Identity {
        authority: id.get("authority")?.as_str()?.to_owned().into(),
        code: code.into(),
    })
}

/// Returns true if an EPSG code lies in a block of projected systems, such as national grids and
/// zones, and UTM. This is also true for Web Mercator and the Albers projection of the United
/// States.
fn is_projected(code: u32) -> bool {
    matches!(code, 2000..=3816 | 3857 | 5070 | 20135..=32766)
}

fn is_geographic(definition: &Map<String, Value>) -> Option<bool> {
    let inner = match definition.get("type")?.as_str()? {
        "GeographicCRS" => return Some(true),
        "ProjectedCRS" | "DerivedProjectedCRS" | "EngineeringCRS" => return Some(false),
        "BoundCRS" => definition.get("source_crs")?,
        "CompoundCRS" => definition.get("components")?.get(0)?,
        _ => return None,
    };
    // This recursion is bounded, since `serde_json` limits the depth of parsed JSON.
    is_geographic(inner.as_object()?)
}
