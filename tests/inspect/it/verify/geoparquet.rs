//! Checks GeoParquet metadata and coverings against geometries. The expected findings follow from the coordinates.

use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, BinaryArray, Float32Array, Float64Array, StructArray};
use herringbone::arrow::buffer::NullBuffer;
use herringbone::arrow::schema::{DataType, Field};
use herringbone::format::KeyValue;

use super::lines;
use super::values::written;
use crate::damage::with_footer;

/// The bounds of one row, which are xmin, ymin, xmax and ymax.
type Box4 = Option<[f64; 4]>;

fn point(x: f64, y: f64) -> Vec<u8> {
    let ordinates = [x, y].map(f64::to_le_bytes).concat();
    [&[1, 1, 0, 0, 0][..], &ordinates].concat()
}

/// Writes the points (1 2), (100 50), a null, and (-170 10), with the boxes of rows.
fn file(members: &str, boxes: [Box4; 4], is_float: bool) -> Vec<u8> {
    let points = [
        Some(point(1.0, 2.0)),
        Some(point(100.0, 50.0)),
        None,
        Some(point(-170.0, 10.0)),
    ];
    let points: BinaryArray = points.into_iter().collect();
    let bound = |at: usize| -> ArrayRef {
        let numbers = boxes.iter().map(|it| it.map_or(0.0, |it| it[at]));
        match is_float {
            true => Arc::new(Float32Array::from_iter_values(
                numbers.map(|number| number as f32),
            )),
            false => Arc::new(Float64Array::from_iter_values(numbers)),
        }
    };
    let data_type = if is_float {
        DataType::Float32
    } else {
        DataType::Float64
    };
    let names = ["xmin", "ymin", "xmax", "ymax"];
    let fields: Vec<Field> = names
        .iter()
        .map(|name| Field::new(*name, data_type.clone(), false))
        .collect();
    let nulls = NullBuffer::from_iter(boxes.iter().map(Option::is_some));
    let boxes = StructArray::new(fields.into(), (0..4).map(bound).collect(), Some(nulls));
    let file = written(
        vec![("geometry", Arc::new(points)), ("bbox", Arc::new(boxes))],
        false,
    );
    let geo = format!(
        r#"{{"version": "1.1.0", "primary_column": "geometry",
            "columns": {{"geometry": {{"encoding": "WKB", {members}}}}}}}"#
    );
    with_footer(&file, |parts| {
        parts.key_value_metadata = Some(vec![KeyValue::new("geo", geo.clone())]);
    })
}

const COVERING: &str = r#""geometry_types": [], "covering": {"bbox": {"xmin": ["bbox", "xmin"],
    "ymin": ["bbox", "ymin"], "xmax": ["bbox", "xmax"], "ymax": ["bbox", "ymax"]}}"#;

/// The boxes of the points.
const TRUE: [Box4; 4] = [
    Some([1.0, 2.0, 1.0, 2.0]),
    Some([100.0, 50.0, 100.0, 50.0]),
    None,
    Some([-170.0, 10.0, -170.0, 10.0]),
];

fn found(members: &str, boxes: [Box4; 4]) -> Vec<String> {
    let place = " (column geometry, row group 0)";
    let lines = lines(&file(members, boxes, false));
    let lines = lines
        .iter()
        .map(|line| line.strip_suffix(place).unwrap_or(line));
    lines.map(str::to_owned).collect()
}

#[test]
fn true_claims_are_not_findings() {
    for members in [
        r#""geometry_types": []"#,
        r#""geometry_types": ["Polygon", "Point"], "bbox": [-170, 2, 100, 50]"#,
        // This box goes from 90 eastward to -160, across the antimeridian, and around 1.
        r#""geometry_types": [], "bbox": [1, 2, -170, 50]"#,
        COVERING,
    ] {
        assert_eq!(found(members, TRUE), Vec::<String>::new(), "{members}");
    }
    // These boxes are larger, and one of them lies across the antimeridian.
    let large = [
        Some([0.0, 0.0, 9.0, 9.0]),
        Some([90.0, 0.0, 180.0, 90.0]),
        None,
        Some([170.0, 0.0, -160.0, 90.0]),
    ];
    assert_eq!(found(COVERING, large), Vec::<String>::new());
    // FLOAT has no number 0.1, and writers round it in any direction.
    for shift in [0.0, 1e-9] {
        let rounded = TRUE.map(|it| it.map(|it| it.map(|bound| bound + shift)));
        assert_eq!(lines(&file(COVERING, rounded, true)), Vec::<String>::new());
    }
}

#[test]
fn false_boxes_and_types() {
    let bbox = r#""geometry_types": [], "bbox": [0, 0, 5, 60]"#;
    assert_eq!(
        found(bbox, TRUE),
        [
            "error geoparquet: 2 values have x outside of the bbox in the GeoParquet metadata, the \
             first of them is in row 1"
        ]
    );
    let bbox = r#""geometry_types": [], "bbox": [-180, 5, 180, 60]"#;
    assert_eq!(
        found(bbox, TRUE),
        [
            "error geoparquet: 1 values have y outside of the bbox in the GeoParquet metadata, the \
             first of them is in row 0"
        ]
    );
    assert_eq!(
        found(r#""geometry_types": ["Polygon", "Point Z"]"#, TRUE),
        [
            "error geoparquet: geometry_types in the GeoParquet metadata are POLYGON, POINT Z, but \
             there is a POINT"
        ]
    );
}

#[test]
fn false_coverings() {
    let lies = [Some([0.0; 4]); 4];
    assert_eq!(
        found(COVERING, lies),
        [
            "error geoparquet: the geometries of 3 rows are outside of their boxes in the covering \
             column `bbox`, the first of them in row 0, so readers that trust the boxes lose these \
             rows"
        ]
    );
    let [first, second, third, _] = TRUE;
    assert_eq!(
        found(COVERING, [first, second, third, None]),
        [
            "error geoparquet: the geometries of 1 rows do not have a box in the covering column \
             `bbox`, the first of them in row 3, so readers that trust the boxes lose these rows"
        ]
    );
}
