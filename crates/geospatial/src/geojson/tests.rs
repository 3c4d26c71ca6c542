//! Tests values that GeoJSON cannot represent, and malformed GeoJSON. The folder `tests/it`
//! compares GeoJSON with other implementations.

use super::*;
use crate::wkt;

fn text_of(json: &str) -> String {
    let (mut value, mut text) = (Vec::new(), String::new());
    read(json, &mut value).unwrap();
    wkt::write(&value, &mut text).unwrap();
    text
}

fn fault(json: &str) -> String {
    read(json, &mut Vec::new())
        .unwrap_err()
        .message()
        .to_owned()
}

#[test]
fn dimensions_of_positions_are_mixed() {
    assert_eq!(
        text_of(r#"{"type": "LineString", "coordinates": [[1, 2], [3, 4, 5]]}"#),
        "LINESTRING Z (1 2 NaN, 3 4 5)"
    );
    let collection = r#"{"type": "GeometryCollection", "geometries": [
        {"type": "Point", "coordinates": [1, 2]}, {"type": "Point", "coordinates": [1, 2, 3]}]}"#;
    let text = "GEOMETRYCOLLECTION Z (POINT (1 2), POINT Z (1 2 3))";
    assert_eq!(text_of(collection), text);
    let mut value = Vec::new();
    read(collection, &mut value).unwrap();
    let mut json = String::new();
    write(&value, &mut json).unwrap();
    assert_eq!(text_of(&json), text);
}

#[test]
fn what_is_no_geometry() {
    let nested = format!(
        "{}{}{}",
        r#"{"type":"GeometryCollection","geometries":["#.repeat(33),
        r#"{"type":"Point","coordinates":[]}"#,
        "]}".repeat(33)
    );
    for (json, wanted) in [
        ("[1, 2]", "a geometry is not a JSON object"),
        (
            r#"{"coordinates": [1, 2]}"#,
            "a geometry does not have a `type`",
        ),
        (
            r#"{"type": "Feature"}"#,
            "unknown `type` of a geometry: \"Feature\"",
        ),
        (
            r#"{"type": "Point"}"#,
            "the coordinates of a POINT are not an array",
        ),
        (
            r#"{"type": "Point", "coordinates": [1, 2, 3, 4]}"#,
            "a position has 4 numbers; GeoJSON supports longitude, latitude and height",
        ),
        (
            r#"{"type": "Point", "coordinates": [1, "2"]}"#,
            "a position contains \"2\" instead of a number",
        ),
        (
            r#"{"type": "Polygon", "coordinates": [[1, 2]]}"#,
            "the positions of a POLYGON are not an array",
        ),
        (
            r#"{"type": "LineString", "coordinates": [[]]}"#,
            "a position does not contain numbers",
        ),
        (&nested, "geometries are nested more than 32 levels deep"),
    ] {
        assert_eq!(fault(json), wanted, "{json}");
    }
    let deep = "[".repeat(100_000);
    assert!(fault(&deep).starts_with("the geometry is not JSON: recursion limit exceeded"));
}

#[test]
fn what_geojson_has_no_place_for() {
    let said = |value: &[u8]| {
        write(value, &mut String::new())
            .unwrap_err()
            .message()
            .to_owned()
    };
    let point = |code: u32, ordinates: &[f64]| {
        let mut value = vec![1];
        value.extend(code.to_le_bytes());
        value.extend(ordinates.iter().flat_map(|ordinate| ordinate.to_le_bytes()));
        value
    };
    assert_eq!(
        said(&point(2001, &[1.0, 2.0, 3.0])),
        "the geometry at byte 0 is a POINT M, but GeoJSON does not support M"
    );
    assert_eq!(
        said(&point(1, &[1.0, f64::NAN])),
        "a position is 1 NaN, but GeoJSON supports only finite numbers"
    );
    assert_eq!(
        said(&point(16, &[])),
        "the geometry at byte 0 is a TIN, which is kept but not parsed"
    );
}
