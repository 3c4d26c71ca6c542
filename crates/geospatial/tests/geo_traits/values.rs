//! Converts geometries of the crate `geo-types` to values.

use geo_types::{
    Coord, Geometry, GeometryCollection, Line, LineString, MultiLineString, MultiPoint,
    MultiPolygon, Point, Polygon, Rect, Triangle,
};
use herringbone_geospatial::wkb::write_geometry;
use herringbone_geospatial::wkt;

fn text(geometry: &Geometry<f64>) -> String {
    let (mut value, mut text) = (Vec::new(), String::new());
    write_geometry(geometry, &mut value).unwrap();
    wkt::write(&value, &mut text).unwrap();
    text
}

#[test]
fn every_kind_is_a_value() {
    let line = LineString::from(vec![(0.0, 1.5), (2.0, -3.0)]);
    let ring = |size: f64| LineString::from(vec![(0.0, 0.0), (size, 0.0), (0.0, size), (0.0, 0.0)]);
    let polygon = Polygon::new(ring(9.0), vec![ring(1.0)]);
    let (a, b, c) = (
        Coord { x: 1.0, y: 2.0 },
        Coord { x: 3.0, y: 4.0 },
        Coord { x: 5.0, y: 0.0 },
    );
    let rings = "(0 0, 9 0, 0 9, 0 0), (0 0, 1 0, 0 1, 0 0)";
    for (geometry, wanted) in [
        (Point::new(1.0, 2.0).into(), "POINT (1 2)".to_owned()),
        (line.clone().into(), "LINESTRING (0 1.5, 2 -3)".to_owned()),
        (polygon.clone().into(), format!("POLYGON ({rings})")),
        (
            MultiPoint::from(vec![(1.0, 2.0), (3.0, 4.0)]).into(),
            "MULTIPOINT ((1 2), (3 4))".into(),
        ),
        (
            MultiLineString(vec![line]).into(),
            "MULTILINESTRING ((0 1.5, 2 -3))".into(),
        ),
        (
            MultiPolygon(vec![polygon]).into(),
            format!("MULTIPOLYGON (({rings}))"),
        ),
        (
            Geometry::Line(Line::new(a, b)),
            "LINESTRING (1 2, 3 4)".into(),
        ),
        (
            Geometry::Triangle(Triangle::new(a, c, b)),
            "POLYGON ((1 2, 5 0, 3 4, 1 2))".into(),
        ),
        (
            Geometry::Rect(Rect::new(a, b)),
            "POLYGON ((1 2, 3 2, 3 4, 1 4, 1 2))".into(),
        ),
        (
            LineString::new(Vec::new()).into(),
            "LINESTRING EMPTY".into(),
        ),
    ] {
        assert_eq!(text(&geometry), wanted);
        let whole = Geometry::GeometryCollection(GeometryCollection(vec![geometry]));
        assert_eq!(text(&whole), format!("GEOMETRYCOLLECTION ({wanted})"));
    }
    let mut deep: Geometry<f64> = Point::new(1.0, 2.0).into();
    for _ in 0..40 {
        deep = Geometry::GeometryCollection(GeometryCollection(vec![deep]));
    }
    let error = write_geometry(&deep, &mut Vec::new()).unwrap_err();
    assert!(error.to_string().contains("more than 32"), "{error}");
}
