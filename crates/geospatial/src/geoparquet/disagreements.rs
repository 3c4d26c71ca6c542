//! Checks the metadata against the file.

use herringbone_format::LogicalType;

use super::model::{Encoding, GeoColumn, GeoMetadata, Version};
use crate::Edges;
use crate::bounds::faults;
use crate::crs::{Crs, CrsForm};

/// A column at the root of the file's schema.
#[derive(Debug, Clone, Copy)]
pub struct FileColumn<'a> {
    /// The column's name.
    pub name: &'a str,
    /// True if the column is a BYTE_ARRAY and not repeated.
    pub is_byte_array: bool,
    /// The column's logical type. If its CRS is in the file's key-value metadata, you must
    /// [resolve](Crs::resolve) it first.
    pub logical_type: Option<&'a LogicalType>,
}

impl FileColumn<'_> {
    fn is_geospatial(&self) -> bool {
        matches!(
            self.logical_type,
            Some(LogicalType::Geometry { .. } | LogicalType::Geography { .. })
        )
    }
}

impl GeoMetadata {
    /// Returns all violations of the specification, as sentences for people. This checks the
    /// metadata itself and compares it with the columns at the file's root.
    #[must_use]
    pub fn disagreements(&self, columns: &[FileColumn<'_>]) -> Vec<String> {
        let mut found = Vec::new();
        if self.column(&self.primary_column).is_none() {
            found.push(format!(
                "the primary column {:?} is not among the columns of the GeoParquet metadata",
                self.primary_column
            ));
        }
        for (name, column) in &self.columns {
            let mut say = |what: String| found.push(format!("column {name:?} {what}"));
            column.rules(self.version, &mut say);
            match columns.iter().find(|column| column.name == name) {
                None => say("of the GeoParquet metadata is not at the root of the file".into()),
                Some(it) => column.against(it, self.version, &mut say),
            }
            if let Some(covering) = &column.covering
                && !columns.iter().any(|column| column.name == covering.column)
            {
                let name = &covering.column;
                say(format!(
                    "is covered by column {name:?}, which is not at the root of the file"
                ));
            }
        }
        let is_missing =
            |it: &&FileColumn<'_>| it.is_geospatial() && self.column(it.name).is_none();
        for column in columns.iter().filter(is_missing) {
            let name = column.name;
            found.push(format!(
                "column {name:?} has geometries, but is not in the GeoParquet metadata"
            ));
        }
        found
    }
}

impl GeoColumn {
    /// Checks the rules that concern only the column's metadata.
    pub(super) fn rules(&self, version: Version, say: &mut impl FnMut(String)) {
        if let Encoding::Native(_) = self.encoding
            && version != Version::V1_1
        {
            say(format!(
                "has the encoding {}, which only version 1.1 supports",
                self.encoding
            ));
        }
        if version == Version::V1_0 && self.covering.is_some() {
            say("has a covering, which version 1.0 does not support".into());
        }
        if version < Version::V2_0 {
            if !matches!(self.edges, Edges::Planar | Edges::Spherical) {
                say(format!("has {} edges, which need version 2.0", self.edges));
            }
            if let Some(it) = self
                .geometry_types
                .iter()
                .find(|geometry_type| geometry_type.dimensions.has_m())
            {
                say(format!("has the type {it}, which needs version 2.0"));
            }
        }
        for (index, it) in self.geometry_types.iter().enumerate() {
            if self
                .geometry_types
                .iter()
                .take(index)
                .any(|before| before == it)
            {
                say(format!("has the type {it} twice"));
            }
        }
        for fault in self.bbox.iter().flat_map(|bbox| faults(bbox, self.edges)) {
            say(format!("has an invalid bbox: {fault}"));
        }
    }

    /// Checks the metadata against the file's column.
    fn against(&self, column: &FileColumn<'_>, version: Version, say: &mut impl FnMut(String)) {
        if self.encoding == Encoding::Wkb && !column.is_byte_array {
            say("is WKB in the GeoParquet metadata, but is not an unrepeated BYTE_ARRAY".into());
        }
        if version >= Version::V2_0 && !column.is_geospatial() {
            say("is neither a GEOMETRY nor a GEOGRAPHY, as GeoParquet 2.0 requires".into());
        }
        let Some(
            logical_type @ (LogicalType::Geometry { crs } | LogicalType::Geography { crs, .. }),
        ) = column.logical_type
        else {
            return;
        };
        match Edges::of(logical_type) {
            Ok(Some(edges)) if edges != self.edges => say(format!(
                "has {edges} edges in its logical type, but {} edges in the GeoParquet metadata",
                self.edges
            )),
            Ok(_) => {}
            Err(error) => say(format!("has unknown edges: {}", error.message())),
        }
        let crs = Crs::new(crs.clone());
        if !crs.is_same(&self.crs) {
            say(format!(
                "has the CRS {} in its logical type, but {} in the GeoParquet metadata",
                shown(&crs),
                shown(&self.crs)
            ));
        }
    }
}

/// Returns a CRS's short form.
fn shown(crs: &Crs) -> String {
    match crs.form() {
        CrsForm::Default | CrsForm::Projjson(_) => crs.to_string(),
        _ => format!("{:?}", crs.text().unwrap_or_default()),
    }
}
