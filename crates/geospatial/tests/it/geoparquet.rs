//! Reads GeoParquet metadata as geopandas, sedonadb and DuckDB write it.

use herringbone_format::LogicalType;
use herringbone_geospatial::Edges;
use herringbone_geospatial::geoparquet::{FileColumn, GeoMetadata, Version};
use serde_json::Value;

use crate::fixtures::lines;

const GEO: &str = include_str!("../fixtures/geo.tsv");

/// Parses `NAME=KIND|CRS`.
fn logical_type(column: &str) -> (&str, bool, Option<LogicalType>) {
    let (name, kind) = column.split_once('=').unwrap();
    let Some((kind, crs)) = kind.split_once('|') else {
        return (name, false, None);
    };
    let crs = (!crs.is_empty()).then(|| crs.to_owned());
    let logical_type = match kind {
        "geometry" => Some(LogicalType::Geometry { crs }),
        "geography" => Some(Edges::Spherical.logical_type(crs)),
        _ => None,
    };
    (name, true, logical_type)
}

#[test]
fn metadata_of_others_is_read_and_written_again() {
    let mut count = 0;
    for line in lines(GEO) {
        let [writer, text, columns @ ..] = &line[..] else {
            panic!("{line:?}");
        };
        let metadata = GeoMetadata::parse(text).unwrap();
        let same: Value = serde_json::from_str(&metadata.to_json().unwrap()).unwrap();
        let wanted: Value = serde_json::from_str(text).unwrap();
        assert_eq!(same, wanted, "{writer}");

        let columns: Vec<_> = columns.iter().map(|column| logical_type(column)).collect();
        let columns: Vec<_> = columns
            .iter()
            .map(|(name, is_byte_array, logical_type)| FileColumn {
                name,
                is_byte_array: *is_byte_array,
                logical_type: logical_type.as_ref(),
            })
            .collect();
        // If the system is not known, geopandas writes the default into the logical type.
        let wanted: &[&str] = match *writer {
            "geopandas 2.0.0 None" => &[
                "column \"geometry\" has the CRS OGC:CRS84 in its logical type, but \"srid:0\" \
                   in the GeoParquet metadata",
            ],
            _ => &[],
        };
        assert_eq!(metadata.disagreements(&columns), wanted, "{writer}");
        count += 1;
    }
    assert_eq!(count, 21);
}

#[test]
fn what_geopandas_says() {
    let line = lines(GEO)
        .find(|it| it[0] == "geopandas 1.1.0 EPSG:5070")
        .unwrap();
    let metadata = GeoMetadata::parse(line[1]).unwrap();
    assert_eq!(
        (metadata.version, &metadata.primary_column[..]),
        (Version::V1_1, "geometry")
    );
    let column = metadata.column("geometry").unwrap();
    assert!(
        column
            .crs
            .is_same(&herringbone_geospatial::crs::Crs::new(Some(
                "EPSG:5070".into()
            )))
    );
    let types: Vec<_> = column
        .geometry_types
        .iter()
        .map(|geometry_type| geometry_type.code())
        .collect();
    assert_eq!(types, [1, 1001]);
    let bbox = column.bbox.as_ref().unwrap();
    assert_eq!(
        (bbox.xmin, bbox.ymin, bbox.xmax, bbox.ymax),
        (1.0, 2.0, 3.0, 4.0)
    );
    let covering = column.covering.as_ref().unwrap();
    assert_eq!((&covering.column[..], covering.has_z), ("bbox", false));
}
