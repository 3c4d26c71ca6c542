//! Converts values to geometries of other crates.

use geo_traits::to_geo::ToGeoGeometry;
use geo_traits::{
    CoordTrait, GeometryCollectionTrait, GeometryTrait, GeometryType, LineStringTrait,
    MultiLineStringTrait, MultiPointTrait, MultiPolygonTrait, PointTrait, PolygonTrait,
};
use geo_types::{
    Geometry as GeoGeometry, GeometryCollection, LineString, MultiLineString, MultiPoint,
    MultiPolygon, Point, Polygon,
};
use herringbone_geospatial::wkb::views::Geometry;
use herringbone_geospatial::wkb::{Event, Events, write_geometry};

use crate::fixtures::{bytes, lines};

const WKB: &str = include_str!("../fixtures/wkb.tsv");

fn value_of(text: &str) -> Vec<u8> {
    let mut value = Vec::new();
    herringbone_geospatial::wkt::read(text, &mut value).unwrap();
    value
}

/// GEOS wrote each geometry in three forms, of which the first is ISO. Writing through the traits
/// returns the ISO form.
#[test]
fn every_form_is_the_same_geometry() {
    for line in lines(WKB) {
        for form in &line[1..4] {
            let value = bytes(form);
            let mut again = Vec::new();
            write_geometry(&Geometry::new(&value).unwrap(), &mut again).unwrap();
            assert_eq!(again, bytes(line[1]), "{}", line[0]);
        }
    }
}

#[test]
fn geo_types_are_made_of_views() {
    let ring = |size: f64| LineString::from(vec![(0.0, 0.0), (size, 0.0), (0.0, size), (0.0, 0.0)]);
    let polygon = Polygon::new(ring(9.0), vec![ring(1.0), ring(2.5)]);
    let lines = MultiLineString(vec![ring(-3.0), ring(1e-9)]);
    let points = MultiPoint::from(vec![(1.0, 2.0), (-3.0, 4.0)]);
    let all: Vec<GeoGeometry<f64>> = vec![
        Point::new(1.5, -2.0).into(),
        ring(7.0).into(),
        MultiPolygon(vec![polygon.clone(), Polygon::new(ring(4.0), Vec::new())]).into(),
        polygon.into(),
        lines.into(),
        points.into(),
    ];
    let collection = GeoGeometry::GeometryCollection(GeometryCollection(all.clone()));
    for geometry in all.into_iter().chain([collection]) {
        let mut value = Vec::new();
        write_geometry(&geometry, &mut value).unwrap();
        let view = Geometry::new(&value).unwrap();
        assert_eq!(view.try_to_geometry().unwrap(), geometry);
    }
}

/// Compares area, length and bounds with shapely, which read the same texts.
#[test]
fn measured_by_index() {
    let polygons = "MULTIPOLYGON (((0 0, 10 0, 10 7.5, 0 7.5, 0 0), (1 1, 2 1, 2 3, 1 1), (5 5, 6 5, 6 6, 5 5)), \
                    ((-20 -20, -19.5 -20, -19.5 -18, -20 -20)))";
    let lines = "MULTILINESTRING ((0 0, 3 4, 3 5), (-1.5 2, 7 8.25))";
    const LINES: f64 = 16.550473923004596;
    let all = format!(
        "GEOMETRYCOLLECTION ({polygons}, {lines}, POINT (-33 4), MULTIPOINT ((1 99), (2 3)))"
    );
    for (wkt, wanted_area, wanted_length, bounds) in [
        (polygons, 74.0, 0.0, (-20.0, -20.0, 10.0, 7.5)),
        (lines, 0.0, LINES, (-1.5, 0.0, 7.0, 8.25)),
        (&all, 74.0, LINES, (-33.0, -20.0, 10.0, 99.0)),
    ] {
        let value = value_of(wkt);
        let view = Geometry::new(&value).unwrap();
        let (area, length) = (area(&view), length(&view));
        assert!((area - wanted_area).abs() < 1e-9, "{area}");
        assert!((length - wanted_length).abs() < 1e-9, "{length}");
        let (xs, ys): (Vec<_>, Vec<_>) = positions(&view).into_iter().unzip();
        let smallest = |all: &[f64]| all.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = |all: &[f64]| all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let found = (smallest(&xs), smallest(&ys), largest(&xs), largest(&ys));
        assert_eq!(found, bounds);
    }
}

fn line_positions(line: &impl LineStringTrait<T = f64>) -> Vec<(f64, f64)> {
    let all: Vec<_> = line.coords().map(|at| at.x_y()).collect();
    let mut back: Vec<_> = line.coords().rev().map(|at| at.x_y()).collect();
    back.reverse();
    assert_eq!(all, back);
    assert!(line.coord(line.num_coords()).is_none());
    all
}

fn line_length(line: &impl LineStringTrait<T = f64>) -> f64 {
    let all = line_positions(line);
    let between = |pair: &[(f64, f64)]| (pair[0].0 - pair[1].0).hypot(pair[0].1 - pair[1].1);
    all.windows(2).map(between).sum()
}

fn polygon_area(polygon: &impl PolygonTrait<T = f64>) -> f64 {
    let ring = |ring: Vec<(f64, f64)>| {
        let cross = |pair: &[(f64, f64)]| pair[0].0 * pair[1].1 - pair[1].0 * pair[0].1;
        ring.windows(2).map(cross).sum::<f64>().abs() / 2.0
    };
    let outer = polygon
        .exterior()
        .map_or(0.0, |exterior| ring(line_positions(&exterior)));
    // We go from the last to the first, because each of them is found by its index.
    let holes = (0..polygon.num_interiors()).rev();
    let holes = holes.map(|hole| ring(line_positions(&polygon.interior(hole).unwrap())));
    assert!(polygon.interior(polygon.num_interiors()).is_none());
    outer - holes.sum::<f64>()
}

fn area(geometry: &impl GeometryTrait<T = f64>) -> f64 {
    match geometry.as_type() {
        GeometryType::Polygon(it) => polygon_area(it),
        GeometryType::MultiPolygon(it) => {
            it.polygons().map(|polygons| polygon_area(&polygons)).sum()
        }
        GeometryType::GeometryCollection(it) => {
            it.geometries().map(|geometries| area(&geometries)).sum()
        }
        _ => 0.0,
    }
}

fn length(geometry: &impl GeometryTrait<T = f64>) -> f64 {
    match geometry.as_type() {
        GeometryType::LineString(it) => line_length(it),
        GeometryType::MultiLineString(it) => it
            .line_strings()
            .map(|line_strings| line_length(&line_strings))
            .sum(),
        GeometryType::GeometryCollection(it) => {
            it.geometries().map(|geometries| length(&geometries)).sum()
        }
        _ => 0.0,
    }
}

fn positions(geometry: &impl GeometryTrait<T = f64>) -> Vec<(f64, f64)> {
    fn rings(polygon: &impl PolygonTrait<T = f64>) -> Vec<(f64, f64)> {
        let rings = polygon.exterior().into_iter().chain(polygon.interiors());
        rings.flat_map(|ring| line_positions(&ring)).collect()
    }
    fn point(point: &impl PointTrait<T = f64>) -> Option<(f64, f64)> {
        point.coord().map(|at| at.x_y())
    }
    match geometry.as_type() {
        GeometryType::Point(it) => point(it).into_iter().collect(),
        GeometryType::LineString(it) => line_positions(it),
        GeometryType::Polygon(it) => rings(it),
        GeometryType::MultiPoint(it) => it.points().filter_map(|part| point(&part)).collect(),
        GeometryType::MultiLineString(it) => it
            .line_strings()
            .flat_map(|line_string| line_positions(&line_string))
            .collect(),
        GeometryType::MultiPolygon(it) => {
            it.polygons().flat_map(|polygon| rings(&polygon)).collect()
        }
        GeometryType::GeometryCollection(it) => it
            .geometries()
            .flat_map(|geometry| positions(&geometry))
            .collect(),
        _ => unreachable!("a value is none of them"),
    }
}

#[test]
fn ordinates_by_number() {
    let value = value_of("LINESTRING ZM (1 2 3 4, 5 6 7 8)");
    let Geometry::LineString(line) = Geometry::new(&value).unwrap() else {
        unreachable!()
    };
    let last = line.coord(1).unwrap();
    let all: Vec<_> = (0..5).map(|n| last.nth(n)).collect();
    assert_eq!(all, [Some(5.0), Some(6.0), Some(7.0), Some(8.0), None]);
    let value = value_of("POINT M (1 2 4)");
    let Geometry::Point(point) = Geometry::new(&value).unwrap() else {
        unreachable!()
    };
    let at = point.coord().unwrap();
    assert_eq!((at.nth(2), at.nth(3)), (Some(4.0), None));
    assert!(at.nth_or_panic(9).is_nan());
}

/// A view exists if and only if the reader accepts and decodes the whole value.
fn use_hostile(value: &[u8]) {
    let is_sound = Events::new(value).all(|it| it.is_ok());
    let is_opaque = Events::new(value).any(|it| matches!(it, Ok(Event::Opaque(_))));
    let view = Geometry::new(value);
    assert_eq!(view.is_ok(), is_sound && !is_opaque, "{value:?}");
    if let Ok(view) = view {
        positions(&view);
        let mut again = Vec::new();
        write_geometry(&view, &mut again).unwrap();
    }
}

#[test]
fn hostile_bytes() {
    for line in lines(WKB) {
        for form in [line[1], line[3]] {
            let mut value = bytes(form);
            for end in 0..value.len() {
                assert!(Geometry::new(&value[..end]).is_err());
            }
            for at in 0..value.len() {
                for flipped in [0x01, 0x80, 0xff] {
                    value[at] ^= flipped;
                    use_hostile(&value);
                    value[at] ^= flipped;
                }
            }
            value.push(0);
            assert!(Geometry::new(&value).is_err());
        }
    }
    // This is a curve, and the next is a curve inside a collection.
    let curve = "0108000000 00000000".to_owned();
    for value in [curve.clone(), format!("0107000000 01000000 {curve}")] {
        let error = Geometry::new(&bytes(&value)).unwrap_err().to_string();
        assert!(error.contains("CIRCULARSTRING"), "{error}");
    }
}
