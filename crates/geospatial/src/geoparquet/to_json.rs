//! Converts metadata to JSON.

use herringbone_format::{BoundingBox, Error, Result};
use serde_json::{Map, Value, json};

use super::bbox;
use super::model::{Covering, GeoColumn, GeoMetadata, Version};
use crate::crs::{CrsForm, definition};
use crate::wkb::{Dimensions, GeometryType};

impl GeoMetadata {
    /// Returns the text for the key [`KEY`](super::KEY).
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if the version cannot
    /// represent the metadata. This concerns a CRS in another form than PROJJSON, and also types
    /// with M, ellipsoidal edges or native encodings in a version without them. Also fails if a box
    /// is not finite.
    pub fn to_json(&self) -> Result<String> {
        let mut columns = Map::new();
        for (name, column) in &self.columns {
            let members = column.members(self.version);
            let members = members.map_err(|error| {
                let message = format!(
                    "column {name:?} in GeoParquet metadata of version {}: {}",
                    self.version,
                    error.message()
                );
                Error::new(error.kind(), message)
            })?;
            columns.insert(name.clone(), Value::Object(members));
        }
        let mut members = Map::new();
        members.insert("version".into(), self.version.to_string().into());
        members.insert("primary_column".into(), self.primary_column.as_str().into());
        members.insert("columns".into(), Value::Object(columns));
        members.extend(self.others.0.clone());
        Ok(Value::Object(members).to_string())
    }
}

impl GeoColumn {
    fn members(&self, version: Version) -> Result<Map<String, Value>> {
        self.check(version)?;
        let mut members = Map::new();
        members.insert("encoding".into(), self.encoding.to_string().into());
        let types = self
            .geometry_types
            .iter()
            .map(|geometry_type| name_of(*geometry_type));
        members.insert("geometry_types".into(), types.collect::<Result<Value>>()?);
        if let Some(crs) = self.crs_member()? {
            members.insert("crs".into(), crs);
        }
        if self.edges.is_geography() {
            members.insert("edges".into(), self.edges.name().into());
        }
        if self.is_counterclockwise {
            members.insert("orientation".into(), "counterclockwise".into());
        }
        if let Some(it) = &self.bbox {
            members.insert("bbox".into(), bbox_member(it, version)?);
        }
        if let Some(epoch) = self.epoch {
            members.insert("epoch".into(), json!(epoch));
        }
        if let Some(covering) = &self.covering {
            members.insert("covering".into(), covering.member());
            if covering.never_wraps {
                members.insert(Covering::NEVER_WRAPS.into(), true.into());
            }
        }
        members.extend(self.others.0.clone());
        Ok(members)
    }

    /// Rejects properties that the version does not support.
    fn check(&self, version: Version) -> Result<()> {
        let mut first = None;
        self.rules(version, &mut |what| {
            first.get_or_insert(what);
        });
        first.map_or(Ok(()), |what| Err(Error::argument(format!("it {what}"))))
    }

    /// Returns the member for the CRS, or `None` if the CRS is the default.
    fn crs_member(&self) -> Result<Option<Value>> {
        match self.crs.form() {
            CrsForm::Undefined => return Ok(Some(Value::Null)),
            // We write a PROJJSON definition even if it describes the default.
            CrsForm::Projjson(text) => {
                let definition = definition(text)
                    .map_err(|why| Error::argument(format!("its CRS is not PROJJSON: {why}")))?;
                return Ok(Some(Value::Object(definition)));
            }
            _ if self.crs.is_default() => return Ok(None),
            _ => {}
        }
        let text = self.crs.text().unwrap_or_default();
        Err(Error::argument(format!(
            "its CRS must be a PROJJSON definition, not {text:?}"
        )))
    }
}

impl Covering {
    fn member(&self) -> Value {
        let paths = self.fields().iter();
        let paths: Map<_, _> = paths
            .map(|field| ((*field).to_owned(), json!([self.column, field])))
            .collect();
        json!({ "bbox": paths })
    }
}

/// Returns the name of a geometry type, such as `Point ZM`.
fn name_of(geometry_type: GeometryType) -> Result<Value> {
    let Some(name) = geometry_type.kind.name() else {
        let message = format!("it has the type {geometry_type}, which GeoParquet does not support");
        return Err(Error::argument(message));
    };
    let tag = match geometry_type.dimensions {
        Dimensions::Xy => "",
        Dimensions::Xyz => " Z",
        Dimensions::Xym => " M",
        Dimensions::Xyzm => " ZM",
    };
    Ok(format!("{name}{tag}").into())
}

fn bbox_member(bbox: &BoundingBox, version: Version) -> Result<Value> {
    let numbers = bbox::to_numbers(bbox, version >= Version::V2_0);
    if numbers.iter().any(|number| !number.is_finite()) {
        let message = "its bbox is not finite, so JSON has no number for it";
        return Err(Error::argument(message));
    }
    Ok(json!(numbers))
}
