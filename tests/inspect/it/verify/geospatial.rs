//! Checks geospatial statistics against geometries.

use std::sync::Arc;

use herringbone::arrow::array::BinaryArray;
use herringbone::format::{BoundingBox, GeospatialStatistics, LogicalType};

use super::lines;
use super::values::written;
use crate::damage::{with_footer, with_metadata};

/// Returns a point in well-known binary with the coordinates that its type has.
fn point(code: u32, coordinates: &[f64]) -> Vec<u8> {
    let coordinates = coordinates
        .iter()
        .flat_map(|coordinate| coordinate.to_le_bytes());
    [&[1][..], &code.to_le_bytes()]
        .concat()
        .into_iter()
        .chain(coordinates)
        .collect()
}

/// Writes points as GEOGRAPHY or GEOMETRY, with statistics.
fn file(values: &[Vec<u8>], geography: bool, statistics: GeospatialStatistics) -> Vec<u8> {
    let values: BinaryArray = values.iter().map(Some).collect();
    let file = written(vec![("g", Arc::new(values))], false);
    let file = with_footer(&file, |parts| {
        parts.key_value_metadata = None;
        parts.schema[1].logical_type = Some(match geography {
            true => LogicalType::Geography {
                crs: None,
                algorithm: None,
            },
            false => LogicalType::Geometry { crs: None },
        });
        // Geometries have no order, and therefore no other bounds.
        let chunk = &mut parts.row_groups[0].columns[0];
        (chunk.column_index_offset, chunk.column_index_length) = (None, None);
        chunk.meta_data.as_mut().unwrap().statistics = None;
    });
    with_metadata(&file, 0, |metadata| {
        metadata.geospatial_statistics = Some(statistics);
    })
}

fn bounds(x: [f64; 2], y: [f64; 2]) -> BoundingBox {
    BoundingBox::new(x[0], x[1], y[0], y[1])
}

fn statistics(bbox: BoundingBox, types: &[i32]) -> GeospatialStatistics {
    GeospatialStatistics::new()
        .bbox(bbox)
        .geospatial_types(types.to_vec())
}

/// Returns the findings with their kinds, which are all in the single column.
fn found(file: &[u8]) -> Vec<String> {
    let place = " (column g, row group 0)";
    lines(file)
        .iter()
        .map(|line| line.strip_suffix(place).unwrap().to_owned())
        .collect()
}

fn points() -> Vec<Vec<u8>> {
    vec![
        point(1, &[170.0, 5.0]),
        point(1, &[-170.0, f64::NAN]),
        point(1001, &[175.0, -5.0, 100.0]),
    ]
}

#[test]
fn boxes_and_types_that_are_true() {
    let mut bbox = bounds([-170.0, 175.0], [-5.0, 5.0]);
    (bbox.zmin, bbox.zmax) = (Some(100.0), Some(100.0));
    let nothing = Vec::<String>::new();
    assert_eq!(
        found(&file(
            &points(),
            false,
            statistics(bbox.clone(), &[1, 1001])
        )),
        nothing
    );
    // This box lies across the antimeridian, and the types are unknown.
    (bbox.xmin, bbox.xmax) = (170.0, -170.0);
    assert_eq!(
        found(&file(&points(), true, statistics(bbox, &[]))),
        nothing
    );
    assert_eq!(
        found(&file(&points(), true, GeospatialStatistics::default())),
        nothing
    );
}

#[test]
fn boxes_and_types_that_are_not_true() {
    let mut bbox = bounds([171.0, -171.0], [-4.0, 4.0]);
    (bbox.zmin, bbox.zmax) = (Some(0.0), Some(99.0));
    let outside = |count: u64, axis: &str, first: u64| {
        format!(
            "error geospatial_statistics: {count} values have {axis} outside of the bounding box, \
             the first of them is value {first}"
        )
    };
    assert_eq!(
        found(&file(&points(), true, statistics(bbox, &[1, 2, 1]))),
        [
            outside(2, "x", 0),
            outside(2, "y", 0),
            outside(1, "z", 2),
            "note geospatial_statistics: geospatial_types name a type twice: [1, 2, 1]".into(),
            "error geospatial_statistics: geospatial_types are [1, 2, 1], but there is a 1001"
                .into(),
        ]
    );
}

#[test]
fn boxes_that_are_none() {
    let mut bbox = bounds([0.0, f64::NAN], [91.0, 90.0]);
    (bbox.zmin, bbox.mmin, bbox.mmax) = (Some(0.0), Some(2.0), Some(1.0));
    let none = [point(1, &[f64::NAN, f64::NAN])];
    let kind = "error geospatial_statistics: ";
    let wanted = [
        "the bounding box has a NaN in x",
        "ymin is 91, above ymax, 90",
        "the bounding box has only one of zmin and zmax",
        "mmin is 2, above mmax, 1",
        "the bounding box exceeds the longitudes -180 to 180 or the latitudes -90 to 90",
    ];
    let wanted: Vec<_> = wanted
        .iter()
        .map(|wanted| format!("{kind}{wanted}"))
        .collect();
    assert_eq!(
        found(&file(&none, true, statistics(bbox.clone(), &[1]))),
        wanted
    );
    // A plane has no latitudes.
    assert_eq!(
        found(&file(&none, false, statistics(bbox, &[1]))),
        wanted[..4]
    );
}

#[test]
fn values_that_are_no_geometries() {
    let values = [
        point(1, &[190.0, 0.0]),
        b"POINT (1 2)".to_vec(),
        point(8, &[]),
        Vec::new(),
    ];
    assert_eq!(
        found(&file(&values, true, GeospatialStatistics::default())),
        [
            "error geometry: 2 values are not well-known binary, the first of them is value 1",
            "warning not_checked: 1 geometries are of unknown kinds, the first of them is value 2",
            "error geometry: 1 values exceed the longitudes -180 to 180 or the latitudes -90 to \
             90, the first of them is value 0",
        ]
    );
    let numbers = written(
        vec![("g", Arc::new(BinaryArray::from(vec![&[1_u8][..]])))],
        false,
    );
    let numbers = with_metadata(&numbers, 0, |metadata| {
        metadata.geospatial_statistics = Some(GeospatialStatistics::default());
    });
    assert_eq!(
        found(&numbers),
        ["note geospatial_statistics: geospatial statistics of a column without geometries"]
    );
}

/// Returns the findings for a column of one point with an annotation, `geo` metadata, and an extension type in the
/// Arrow schema.
fn said(logical_type: LogicalType, key_values: &[(&str, &str)], hint: Option<&str>) -> Vec<String> {
    use herringbone::arrow::array::RecordBatch;
    use herringbone::arrow::schema::{DataType, Field, Schema};

    let mut pairs = vec![("PARQUET:logical_type", logical_type.to_string())];
    if let Some(hint) = hint {
        pairs.push(("ARROW:extension:name", "geoarrow.wkb".into()));
        pairs.push(("ARROW:extension:metadata", hint.into()));
    }
    let pairs = pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value));
    let pairs: std::collections::HashMap<_, _> = pairs.collect();
    let field = Field::new("g", DataType::Binary, true).with_metadata(pairs);
    let file_pairs = key_values
        .iter()
        .map(|(key, value)| (key.to_string(), value.to_string()));
    let file_pairs: std::collections::HashMap<_, _> = file_pairs.collect();
    let schema = Arc::new(Schema::new_with_metadata(vec![field], file_pairs));
    let values = BinaryArray::from_iter_values([point(1, &[1.0, 2.0])]);
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(values)]).unwrap();
    let mut file = Vec::new();
    let mut writer = herringbone::Writer::new(&mut file, schema, Default::default()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    lines(&file)
}

fn geometry(crs: Option<&str>) -> LogicalType {
    let crs = crs.map(str::to_owned);
    LogicalType::Geometry { crs }
}

#[test]
fn sources_of_the_reference_system_that_disagree() {
    let nothing = Vec::<String>::new();
    let geo = |more: &str| {
        format!(
            r#"{{"version": "2.0.0", "primary_column": "g", "columns": {{"g": {{"encoding": "WKB",
            "geometry_types": []{more}}}}}}}"#
        )
    };
    let same = geo("");
    let hint = r#"{"crs": "EPSG:4326"}"#;
    let default = geometry(Some("OGC:CRS84"));
    assert_eq!(
        said(default.clone(), &[("geo", &same)], Some(hint)),
        nothing
    );
    let undefined = geo(r#", "crs": null"#);
    assert_eq!(
        said(default.clone(), &[("geo", &undefined)], Some("{}")),
        [
            "warning geoparquet: column \"g\" has the CRS \"OGC:CRS84\" in its logical type, but \
             \"srid:0\" in the GeoParquet metadata",
            "warning arrow_schema: its extension type in the Arrow schema corresponds to \
             GEOMETRY(crs=srid:0), but its logical type is GEOMETRY(crs=OGC:CRS84), which takes \
             precedence (column g)",
        ]
    );
    let spherical = geo(r#", "edges": "spherical""#);
    assert_eq!(
        said(default.clone(), &[("geo", &spherical)], None),
        [
            "warning geoparquet: column \"g\" has planar edges in its logical type, but spherical \
             edges in the GeoParquet metadata"
        ]
    );
    assert_eq!(
        said(default, &[("geo", "{}")], None),
        [
            "error geoparquet: version of the GeoParquet metadata is missing, not text",
            "error geoparquet: primary_column of the GeoParquet metadata is missing, not text",
            "error geoparquet: columns of the GeoParquet metadata is missing, not an object",
        ]
    );
    assert_eq!(
        said(geometry(Some("projjson:here")), &[("here", "{}")], None),
        nothing
    );
    assert_eq!(
        said(geometry(Some("projjson:here")), &[("there", "{}")], None),
        [
            "error geometry: the CRS refers to the key \"here\" of the key-value metadata, which \
             is missing (column g)"
        ]
    );
}

/// On a sphere, `LINESTRING (0 50, 90 50)` reaches almost 60 degrees.
#[test]
fn boxes_that_leave_out_arcs_and_values_that_are_extended() {
    let line: Vec<u8> = [&[1, 2, 0, 0, 0, 2, 0, 0, 0][..]]
        .into_iter()
        .flatten()
        .copied()
        .chain(
            [0.0, 50.0, 90.0, 50.0]
                .iter()
                .flat_map(|it: &f64| it.to_le_bytes()),
        )
        .collect();
    let of = |ymax: f64| {
        let bbox = bounds([0.0, 90.0], [50.0, ymax]);
        found(&file(
            std::slice::from_ref(&line),
            true,
            statistics(bbox, &[2]),
        ))
    };
    // This is atan(tan(50°) / cos(45°)).
    let apex = 59.317_944;
    assert_eq!(of(apex + 1e-3), Vec::<String>::new());
    let arcs = "error geospatial_statistics: the bounding box does not contain parts of edges, \
                which are arcs of great circles, or a pole within a polygon";
    assert_eq!(of(50.0), [arcs]);
    assert_eq!(of(apex - 1e-2), [arcs]);
    // This is a point with the SRID 4326.
    let mut extended = point(0x2000_0001, &[]);
    extended.extend(4326_u32.to_le_bytes());
    extended.extend([1.0_f64, 2.0].iter().flat_map(|it| it.to_le_bytes()));
    assert_eq!(
        found(&file(&[extended], false, GeospatialStatistics::default())),
        [
            "error geometry: 1 values are extended well-known binary (EWKB) instead of ISO, the \
             first of them is value 0"
        ]
    );
}
