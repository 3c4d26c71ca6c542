//! Determines how to read a column's coordinates, from all sources in a file.

use herringbone_format::{LogicalType, Result};

use crate::Edges;
use crate::crs::Crs;
use crate::geoarrow::ExtensionMetadata;
use crate::geoparquet::GeoColumn;

/// A column's reference system and edges, everything you need to know to interpret its coordinates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnMeaning {
    /// The reference system.
    pub crs: Crs,
    /// The interpolation between positions.
    pub edges: Edges,
}

impl ColumnMeaning {
    /// Combines all sources. The logical type takes precedence, then the column's GeoParquet
    /// metadata, then the extension type in the file's Arrow schema. Returns `None` if no source
    /// describes geometries. Note that you may still have to [resolve](Crs::resolve) the CRS of the
    /// logical type.
    ///
    /// # Errors
    ///
    /// Fails with [Unsupported](herringbone_format::ErrorKind::Unsupported) if the algorithm of a
    /// GEOGRAPHY is not known.
    pub fn new(
        logical_type: Option<&LogicalType>,
        geoparquet: Option<&GeoColumn>,
        extension: Option<&ExtensionMetadata>,
    ) -> Result<Option<Self>> {
        if let Some(meaning) = logical_type.map(Self::of).transpose()?.flatten() {
            return Ok(Some(meaning));
        }
        if let Some(column) = geoparquet {
            return Ok(Some(Self {
                crs: column.crs.clone(),
                edges: column.edges,
            }));
        }
        extension
            .map(|extension| Self::of(&extension.logical_type()))
            .transpose()
            .map(Option::flatten)
    }

    fn of(logical_type: &LogicalType) -> Result<Option<Self>> {
        let crs = match logical_type {
            LogicalType::Geometry { crs } | LogicalType::Geography { crs, .. } => crs.clone(),
            _ => return Ok(None),
        };
        let meaning = |edges| Self {
            crs: Crs::new(crs),
            edges,
        };
        Ok(Edges::of(logical_type)?.map(meaning))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logical_type_comes_first_and_the_hint_last() {
        let crs = |text: &str| Crs::new(Some(text.to_owned()));
        let logical_type = Edges::Karney.logical_type(Some("OGC:CRS27".into()));
        let geoparquet = GeoColumn {
            crs: Crs::undefined(),
            edges: Edges::Spherical,
            ..GeoColumn::default()
        };
        let extension = ExtensionMetadata::parse(r#"{"crs": "EPSG:5070"}"#).unwrap();
        let meaning = |logical_type, geoparquet, extension| {
            let meaning = ColumnMeaning::new(logical_type, geoparquet, extension).unwrap();
            meaning.map(|meaning| (meaning.crs, meaning.edges))
        };
        let (first, second, third) = (Some(&logical_type), Some(&geoparquet), Some(&extension));
        let by_type = Some((crs("OGC:CRS27"), Edges::Karney));
        let by_geoparquet = Some((crs("srid:0"), Edges::Spherical));
        let by_extension = Some((crs("EPSG:5070"), Edges::Planar));
        assert_eq!(meaning(first, second, third), by_type);
        assert_eq!(meaning(None, second, third), by_geoparquet);
        assert_eq!(
            meaning(Some(&LogicalType::Json), second, third),
            by_geoparquet
        );
        assert_eq!(meaning(None, None, third), by_extension);
        assert_eq!(meaning(None, None, None), None);
    }
}
