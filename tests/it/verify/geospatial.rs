//! Geospatial statistics against geometries.

use std::sync::Arc;

use herringbone::arrow::array::BinaryArray;
use herringbone::format::{BoundingBox, GeospatialStatistics, LogicalType};

use super::damage::{with_footer, with_metadata};
use super::lines;
use super::values::written;

/// A point in well-known binary, with as many coordinates as its type has.
fn point(code: u32, coordinates: &[f64]) -> Vec<u8> {
    let coordinates = coordinates.iter().flat_map(|it| it.to_le_bytes());
    [&[1][..], &code.to_le_bytes()]
        .concat()
        .into_iter()
        .chain(coordinates)
        .collect()
}

/// Points as GEOGRAPHY or GEOMETRY, with statistics.
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
        // Geometries have no order, and so no other bounds.
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

/// The messages, with their kinds, which all are of the one column.
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
    // Across the antimeridian; types that are not known.
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
            "warning geospatial_statistics: geospatial_types name a type twice: [1, 2, 1]".into(),
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
        "the bounding box has one of zmin and zmax only",
        "mmin is 2, above mmax, 1",
        "the bounding box leaves the longitudes of -180 to 180 or the latitudes of -90 to 90",
    ];
    let wanted: Vec<_> = wanted.iter().map(|it| format!("{kind}{it}")).collect();
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
            "error geometry: 2 values are no well-known binary, the first of them is value 1",
            "warning not_checked: 1 geometries are of unknown kinds, the first of them is value 2",
            "error geometry: 1 values leave the longitudes of -180 to 180 or the latitudes of -90 \
             to 90, the first of them is value 0",
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
        ["warning geospatial_statistics: geospatial statistics of a column without geometries"]
    );
}
