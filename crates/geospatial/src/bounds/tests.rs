//! Tests the rules for boxes, with numbers from Geospatial.md or worked out by hand. The folder
//! `tests/it` tests the boxes of geometries.

use herringbone_format::{BoundingBox, GeospatialStatistics};

use super::*;
use crate::wkb::{Dimensions, GeometryKind, GeometryType, Position, Writer};
use crate::{Edges, StatisticsBuilder};

fn bbox(xmin: f64, xmax: f64, ymin: f64, ymax: f64) -> BoundingBox {
    BoundingBox::new(xmin, xmax, ymin, ymax)
}

fn point(dimensions: Dimensions, [x, y, z, m]: [f64; 4]) -> Vec<u8> {
    let mut value = Vec::new();
    let geometry_type = GeometryType::new(GeometryKind::Point, dimensions);
    let mut writer = Writer::new(&mut value);
    writer.start(geometry_type, 1);
    writer.position(Position { x, y, z, m }, geometry_type);
    value
}

fn of_points(edges: Edges, points: &[[f64; 4]]) -> Extent {
    let mut bounder = Bounder::new(edges);
    for it in points {
        bounder.add(&point(Dimensions::Xyzm, *it)).unwrap();
    }
    bounder.extent()
}

const NAN: f64 = f64::NAN;

/// "POINT (1 NaN) contributes a value to X but no values to Y, Z, or M dimension."
#[test]
fn dimensions_skip_nan_by_themselves() {
    for edges in [Edges::Planar, Edges::Spherical, Edges::Andoyer] {
        assert_eq!(of_points(edges, &[[1.0, NAN, NAN, NAN]]), Extent::Empty);
        assert_eq!(of_points(edges, &[[NAN; 4]]), Extent::Empty);
        let extent = of_points(
            edges,
            &[
                [1.0, NAN, NAN, 7.0],
                [NAN, 2.0, NAN, NAN],
                [NAN, 3.0, NAN, 5.0],
            ],
        );
        let wanted = bbox(1.0, 1.0, 2.0, 3.0).mmin(5.0).mmax(7.0);
        assert_eq!(extent, Extent::Box(wanted));
    }
}

#[test]
fn geography_goes_across_the_antimeridian_where_that_is_narrower() {
    let of = |edges, x: &[f64]| {
        let points: Vec<_> = x.iter().map(|x| [*x, 0.0, NAN, NAN]).collect();
        let bbox = of_points(edges, &points).bbox().unwrap();
        (bbox.xmin, bbox.xmax)
    };
    let sphere = Edges::Spherical;
    assert_eq!(of(sphere, &[170.0, -170.0]), (170.0, -170.0));
    assert_eq!(of(Edges::Planar, &[170.0, -170.0]), (-170.0, 170.0));
    assert_eq!(of(sphere, &[80.0, -80.0]), (-80.0, 80.0));
    assert_eq!(of(sphere, &[100.0, -170.0, 20.0]), (20.0, -170.0));
    assert_eq!(of(sphere, &[180.0, -180.0]), (180.0, -180.0));
    // There are more arcs than `KEPT_APART`, with 20 of them between 100 and 195, then one at 0.
    let mut many: Vec<_> = (0..20).map(|i| 100.0 + 5.0 * f64::from(i)).collect();
    many.iter_mut()
        .for_each(|x| *x -= if *x > 180.0 { 360.0 } else { 0.0 });
    many.push(0.0);
    assert_eq!(of(sphere, &many), (0.0, -165.0));
    // This joins the last two arcs.
    let mut many: Vec<_> = (0..16).map(|i| 10.0 * f64::from(i)).collect();
    many.push(150.5);
    assert_eq!(of(sphere, &many), (0.0, 150.5));
}

#[test]
fn what_is_not_on_earth_has_no_box() {
    let beyond = Extent::Unknown(NoBox::OutOfRange);
    let points = [[0.0, 0.0, NAN, NAN], [181.0, 0.0, NAN, NAN]];
    assert_eq!(of_points(Edges::Spherical, &points), beyond);
    assert_eq!(of_points(Edges::Karney, &[[0.0, 91.0, NAN, NAN]]), beyond);
    assert!(matches!(of_points(Edges::Planar, &points), Extent::Box(_)));
}

#[test]
fn what_cannot_be_looked_into_has_neither_box_nor_types() {
    let mut builder = StatisticsBuilder::new(Edges::Planar);
    builder.add(&point(Dimensions::Xy, [1.0; 4])).unwrap();
    let known = builder.clone();
    assert_eq!(known.finish().unwrap().geospatial_types, Some(vec![1]));
    // This is a TIN.
    builder.add(&[1, 16, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    assert_eq!(builder.extent(), Extent::Unknown(NoBox::Opaque));
    assert_eq!(builder.finish(), None);
    let mut builder = known.clone();
    assert!(builder.add(&[1, 1, 0, 0, 0]).is_err());
    assert_eq!(builder.extent(), Extent::Unknown(NoBox::Malformed));
    assert_eq!(builder.finish(), None);
    let mut builder = known;
    builder.add_statistics(None);
    assert_eq!(builder.finish(), None);
}

#[test]
fn what_pages_took_is_merged() {
    for (edges, wanted) in [
        (Edges::Planar, (-170.0, 170.0)),
        (Edges::Karney, (170.0, -170.0)),
    ] {
        let page = |dimensions, ordinates| {
            let mut page = StatisticsBuilder::new(edges);
            page.add(&point(dimensions, ordinates)).unwrap();
            page
        };
        let mut chunk = page(Dimensions::Xyz, [170.0, 1.0, 5.0, NAN]);
        chunk.merge(&page(Dimensions::Xy, [-170.0, -1.0, NAN, NAN]));
        chunk.merge(&page(Dimensions::Xyzm, [NAN, NAN, 7.0, 2.0]));
        let statistics = chunk.finish().unwrap();
        assert_eq!(statistics.geospatial_types, Some(vec![1, 1001, 3001]));
        let wanted = bbox(wanted.0, wanted.1, -1.0, 1.0)
            .zmin(5.0)
            .zmax(7.0)
            .mmin(2.0)
            .mmax(2.0);
        assert_eq!(statistics.bbox, Some(wanted));
        let mut opaque = StatisticsBuilder::new(edges);
        opaque.add(&[1, 16, 0, 0, 0]).unwrap();
        chunk.merge(&opaque);
        assert_eq!(chunk.finish(), None);
    }
}

#[test]
fn statistics_of_parts_are_merged() {
    let part = |bbox, types: &[i32]| {
        GeospatialStatistics::new()
            .bbox(bbox)
            .geospatial_types(types.to_vec())
    };
    let a = part(Some(bbox(170.0, 175.0, 0.0, 1.0)), &[3003, 1]);
    let b = part(Some(bbox(178.0, -170.0, -5.0, 0.0)), &[1, 1002]);
    let merged = |edges, parts: &[&GeospatialStatistics]| {
        let mut builder = StatisticsBuilder::new(edges);
        parts
            .iter()
            .for_each(|part| builder.add_statistics(Some(part)));
        builder.finish()
    };
    let wanted = part(Some(bbox(170.0, -170.0, -5.0, 1.0)), &[1, 1002, 3003]);
    for edges in [Edges::Planar, Edges::Spherical] {
        assert_eq!(merged(edges, &[&a, &b]), Some(wanted.clone()));
    }
    // A part without a box can be anywhere, and a part with unknown types can have any type.
    let empty = part(None, &[4]);
    let types_only = merged(Edges::Planar, &[&a, &empty]).unwrap();
    assert_eq!(types_only, part(None, &[1, 4, 3003]));
    let unknown = merged(Edges::Planar, &[&a, &part(a.bbox.clone(), &[])]).unwrap();
    assert_eq!((unknown.bbox, unknown.geospatial_types), (a.bbox, None));
    let inverted = part(Some(bbox(0.0, 1.0, 5.0, 4.0)), &[1]);
    assert_eq!(merged(Edges::Planar, &[&inverted]), Some(part(None, &[1])));
}

/// In a plane, we do not know where the antimeridian is.
#[test]
fn wrapped_boxes_of_a_plane_leave_the_largest_gap() {
    let merged = |boxes: &[(f64, f64)]| {
        let mut bounder = Bounder::new(Edges::Planar);
        for (xmin, xmax) in boxes {
            bounder.add_box(&bbox(*xmin, *xmax, 0.0, 0.0));
        }
        bounder.extent()
    };
    let x = |boxes: &[(f64, f64)]| merged(boxes).bbox().map(|bbox| (bbox.xmin, bbox.xmax));
    assert_eq!(x(&[(1e6, -1e6)]), Some((1e6, -1e6)));
    assert_eq!(x(&[(160.0, -170.0), (10.0, 20.0)]), Some((10.0, -170.0)));
    assert_eq!(x(&[(160.0, -170.0), (-20.0, 9.0)]), Some((160.0, 9.0)));
    assert_eq!(
        x(&[(160.0, -170.0), (100.0, -175.0)]),
        Some((100.0, -170.0))
    );
    let everywhere = [(160.0, -170.0), (-175.0, 165.0)];
    assert_eq!(merged(&everywhere), Extent::Unknown(NoBox::Everywhere));
}

#[test]
fn invalid_boxes_say_why() {
    let said = |bbox: BoundingBox, edges| check(&bbox, edges).unwrap_err().to_string();
    let good = bbox(1.0, 0.0, 0.0, 0.0);
    assert_eq!(check(&good, Edges::Planar), Ok(()));
    let nan = bbox(NAN, 0.0, 0.0, 0.0);
    assert_eq!(said(nan, Edges::Planar), "the bounding box has a NaN in x");
    let inverted = bbox(0.0, 0.0, 2.0, 1.0);
    assert_eq!(said(inverted, Edges::Planar), "ymin is 2, above ymax, 1");
    let one = good.zmax(1.0);
    assert_eq!(
        said(one, Edges::Planar),
        "the bounding box has only one of zmin and zmax"
    );
    let beyond = bbox(0.0, 181.0, 0.0, 0.0);
    assert_eq!(check(&beyond, Edges::Planar), Ok(()));
    assert_eq!(
        said(beyond, Edges::Karney),
        "the bounding box exceeds the longitudes -180 to 180 or the latitudes -90 to 90"
    );
}

/// Checks "x >= xmin OR x <= xmax" for all combinations of whole numbers.
#[test]
fn relations_are_those_of_the_points() {
    let numbers: Vec<f64> = (-3..=3).map(f64::from).collect();
    let has = |(min, max): (f64, f64), x: f64| match min > max {
        true => x >= min || x <= max,
        false => min <= x && x <= max,
    };
    // Halves test positions between two whole numbers, and there are positions far away.
    let points: Vec<f64> = (-20..=20).map(|i| f64::from(i) / 2.0).collect();
    let pairs = || {
        numbers
            .iter()
            .flat_map(|a| numbers.iter().map(|b| (*a, *b)))
    };
    for a in pairs() {
        for b in pairs() {
            let of = |(min, max)| bbox(min, max, 0.0, 1.0);
            let common = points.iter().any(|x| has(a, *x) && has(b, *x));
            let within = points.iter().all(|x| !has(b, *x) || has(a, *x));
            assert_eq!(
                intersects(&of(a), &of(b), Edges::Planar),
                common,
                "{a:?} {b:?}"
            );
            assert_eq!(
                contains(&of(a), &of(b), Edges::Planar),
                within,
                "{a:?} {b:?}"
            );
        }
    }
    let below = bbox(0.0, 1.0, -1.0, -0.5);
    let above = bbox(0.0, 1.0, -0.25, 1.0);
    assert!(!intersects(&below, &above, Edges::Planar));
    let in_z = |zmin, zmax| bbox(0.0, 1.0, -1.0, -0.5).zmin(zmin).zmax(zmax);
    let (high, low) = (in_z(5.0, 6.0), in_z(1.0, 4.0));
    assert!(!intersects(&high, &low, Edges::Planar) && intersects(&high, &below, Edges::Planar));
    assert!(contains(&below, &high, Edges::Planar) && !contains(&high, &below, Edges::Planar));
}

/// On Earth, -180 and 180 are one meridian, but not in a plane.
#[test]
fn the_antimeridian_has_two_numbers() {
    let (east, west) = (bbox(170.0, 180.0, 0.0, 1.0), bbox(-180.0, -170.0, 0.0, 1.0));
    assert!(intersects(&east, &west, Edges::Spherical));
    assert!(!intersects(&east, &west, Edges::Planar));
    let all = bbox(-180.0, 180.0, 0.0, 1.0);
    let across = bbox(170.0, -170.0, 0.0, 1.0);
    assert!(contains(&all, &across, Edges::Spherical));
    assert!(!contains(&all, &across, Edges::Planar));
}

#[test]
fn ordinates_outside_of_a_box() {
    let plain = bbox(1.0, 2.0, 3.0, 4.0).zmin(5.0).zmax(6.0);
    let across = bbox(170.0, -170.0, 0.0, 1.0);
    let (yes, no) = (true, false);
    for (bbox, [x, y, z, m], wanted) in [
        (&plain, [1.0, 4.0, 5.5, 9.0], [no, no, no, no]),
        (&plain, [0.5, 4.5, 6.5, 9.0], [yes, yes, yes, no]),
        (&plain, [0.9, 4.1, 4.9, NAN], [no, no, yes, no]),
        (&plain, [NAN; 4], [no, no, no, no]),
        (&across, [180.0, 0.0, 1.0, NAN], [no, no, no, no]),
        (&across, [-180.0, 2.0, NAN, NAN], [no, yes, no, no]),
        (&across, [169.5, 0.0, NAN, NAN], [yes, no, no, no]),
        (&across, [-169.9, 0.0, NAN, NAN], [no, no, no, no]),
    ] {
        let at = Position { x, y, z, m };
        assert_eq!(outside(bbox, &at, 0.2), wanted, "{bbox:?} {at:?}");
    }
}
