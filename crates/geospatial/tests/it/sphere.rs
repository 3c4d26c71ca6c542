//! Compares boxes of random geometries on a sphere with positions along their edges.

use herringbone_format::BoundingBox;
use herringbone_geospatial::Edges;
use herringbone_geospatial::bounds::{Bounder, contains};
use herringbone_geospatial::wkb::{Dimensions, GeometryKind, GeometryType, Position, Writer};
use proptest::prelude::*;

use crate::edges::line_string;

/// The possible error, in degrees, of positions along edges.
const ROUNDED: f64 = 1e-9;

/// Returns true if a box contains a longitude and latitude. Close to a pole, every longitude
/// matches.
pub(crate) fn holds(bbox: &BoundingBox, (x, y): (f64, f64)) -> bool {
    let rounded = ROUNDED / y.to_radians().cos().max(1e-12);
    let (from_west, to_east) = (x >= bbox.xmin - rounded, x <= bbox.xmax + rounded);
    let is_x = match bbox.xmin > bbox.xmax {
        true => from_west || to_east,
        false => from_west && to_east,
    };
    // The antimeridian has two longitudes.
    let is_x = is_x
        || x.abs() > 180.0 - rounded
            && (bbox.xmin > bbox.xmax || bbox.xmin == -180.0 || bbox.xmax == 180.0);
    is_x && y >= bbox.ymin - ROUNDED && y <= bbox.ymax + ROUNDED
}

fn vector((x, y): (f64, f64)) -> [f64; 3] {
    let (x, y) = (x.to_radians(), y.to_radians());
    [y.cos() * x.cos(), y.cos() * x.sin(), y.sin()]
}

fn place(v: [f64; 3]) -> (f64, f64) {
    let out = v[0].hypot(v[1]);
    (v[1].atan2(v[0]).to_degrees(), v[2].atan2(out).to_degrees())
}

/// Returns positions along the shorter great circle, which we find by halving, or `None` if the
/// ends are nearly opposite.
fn along(a: (f64, f64), b: (f64, f64)) -> Option<Vec<(f64, f64)>> {
    let (a, b) = (vector(a), vector(b));
    let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    (dot > -1.0 + 1e-9).then(|| {
        let mut vectors = vec![a, b];
        for _ in 0..7 {
            let mut finer = Vec::new();
            for pair in vectors.windows(2) {
                let sum: [f64; 3] = std::array::from_fn(|i| pair[0][i] + pair[1][i]);
                let length = sum.iter().map(|it| it * it).sum::<f64>().sqrt();
                finer.extend([pair[0], sum.map(|it| it / length)]);
            }
            finer.push(b);
            vectors = finer;
        }
        vectors.into_iter().map(place).collect()
    })
}

fn bbox(values: &[Vec<u8>]) -> Option<BoundingBox> {
    bbox_of(Edges::Spherical, values)
}

fn bbox_of(edges: Edges, values: &[Vec<u8>]) -> Option<BoundingBox> {
    let mut bounder = Bounder::new(edges);
    for value in values {
        bounder.add(value).unwrap();
    }
    bounder.extent().bbox()
}

fn polygon(rings: &[Vec<(f64, f64)>]) -> Vec<u8> {
    let geometry_type = GeometryType::new(GeometryKind::Polygon, Dimensions::Xy);
    let mut value = Vec::new();
    let mut writer = Writer::new(&mut value);
    writer.start(geometry_type, rings.len() as u32);
    for ring in rings {
        writer.start_ring(ring.len() as u32);
        for (x, y) in ring {
            let (x, y) = (*x, *y);
            writer.position(
                Position {
                    x,
                    y,
                    z: 0.0,
                    m: 0.0,
                },
                geometry_type,
            );
        }
    }
    value
}

/// Generates places anywhere, but prefers difficult ones.
fn any_place() -> impl Strategy<Value = (f64, f64)> {
    let longitude = prop_oneof![
        -180.0..=180.0,
        170.0..=180.0,
        -180.0..=-170.0,
        prop_oneof![
            Just(-180.0),
            Just(180.0),
            Just(0.0),
            Just(-0.0),
            Just(90.0),
            Just(-90.0)
        ],
    ];
    let latitude = prop_oneof![
        -90.0..=90.0,
        89.0..=90.0,
        -90.0..=-89.0,
        -1e-7..=1e-7,
        prop_oneof![Just(90.0), Just(-90.0), Just(0.0), Just(45.0)],
    ];
    (longitude, latitude)
}

/// Generates places close to each other, anywhere.
fn close_places() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let steps = prop::collection::vec((-1.0..1.0, -1.0..1.0), 2..8);
    (any_place(), 0.0..12.0, steps).prop_map(|((x, y), exponent, steps)| {
        let scale = 10f64.powf(1.0 - exponent);
        let near = |(east, north): &(f64, f64)| {
            let x = (x + east * scale + 540.0).rem_euclid(360.0) - 180.0;
            (x, (y + north * scale).clamp(-90.0, 90.0))
        };
        steps.iter().map(near).collect()
    })
}

fn places() -> impl Strategy<Value = Vec<(f64, f64)>> {
    prop_oneof![prop::collection::vec(any_place(), 1..8), close_places()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn lines_are_within(places in places()) {
        let bbox = bbox(&[line_string(&places)]).unwrap();
        for (x, y) in &places {
            let is_x = match bbox.xmin > bbox.xmax {
                true => *x >= bbox.xmin || *x <= bbox.xmax,
                false => *x >= bbox.xmin && *x <= bbox.xmax,
            };
            prop_assert!(is_x && bbox.ymin <= *y && *y <= bbox.ymax, "{bbox:?} {x} {y}");
        }
        for pair in places.windows(2) {
            for place in along(pair[0], pair[1]).unwrap_or_default() {
                prop_assert!(holds(&bbox, place), "{bbox:?} has not {place:?} of {pair:?}");
            }
        }
        prop_assert!(bbox.xmin.abs() <= 180.0 && bbox.xmax.abs() <= 180.0);
        prop_assert!(bbox.ymin >= -90.0 && bbox.ymax <= 90.0);
    }

    /// Checks rings, including unclosed ones.
    #[test]
    fn rings_are_within(ring in places()) {
        let bbox = bbox(&[polygon(std::slice::from_ref(&ring))]).unwrap();
        let closed = ring.iter().chain(&ring[..1]).copied().collect::<Vec<_>>();
        for pair in closed.windows(2) {
            for place in along(pair[0], pair[1]).unwrap_or_default() {
                prop_assert!(holds(&bbox, place), "{bbox:?} has not {place:?} of {pair:?}");
            }
        }
    }

    /// Checks caps around any place. The box must contain the inside of the smaller side.
    #[test]
    fn caps_are_within(
        center in any_place(),
        radius in 0.01..89.0f64,
        corners in 3..40usize,
        clockwise in any::<bool>(),
        inside in prop::collection::vec((0.0..1.0f64, 0.0..360.0f64), 20),
    ) {
        let at = |distance: f64, azimuth: f64| destination(center, distance, azimuth);
        let turn = if clockwise { 360.0 } else { -360.0 };
        let mut ring: Vec<_> = (0..corners).map(|i| at(radius, turn * i as f64 / corners as f64)).collect();
        ring.push(ring[0]);
        let bbox = bbox(&[polygon(&[ring])]).unwrap();
        // This is the part of the radius that lies inside the chords.
        let inner = (radius.to_radians().tan() * (std::f64::consts::PI / corners as f64).cos()).atan();
        for (share, azimuth) in inside {
            let place = at(inner.to_degrees() * share * 0.999, azimuth);
            prop_assert!(holds(&bbox, place), "{bbox:?} has not {place:?}");
        }
    }

    #[test]
    fn merged_boxes_hold_both(all in prop::collection::vec(places(), 1..40)) {
        let values: Vec<_> = all.iter().map(|it| line_string(it)).collect();
        let boxes: Vec<_> = values.iter().map(|value| bbox(std::slice::from_ref(value)).unwrap()).collect();
        let together = bbox(&values).unwrap();
        let mut boxes_box = Bounder::new(Edges::Spherical);
        boxes.iter().for_each(|it| boxes_box.add_box(it));
        let boxes_box = boxes_box.extent().bbox().unwrap();
        let mut pages = Bounder::new(Edges::Spherical);
        for value in &values {
            let mut page = Bounder::new(Edges::Spherical);
            page.add(value).unwrap();
            pages.merge(&page);
        }
        let pages_box = pages.extent().bbox().unwrap();
        for bbox in &boxes {
            prop_assert!(contains(&together, bbox, Edges::Spherical));
            prop_assert!(contains(&boxes_box, bbox, Edges::Spherical), "{boxes_box:?} {bbox:?}");
        }
        for (x, y) in all.iter().flatten() {
            for bbox in [&together, &boxes_box, &pages_box] {
                prop_assert!(holds(bbox, (*x, *y)));
            }
        }
    }
}

/// Returns the place `distance` degrees from another one, in the direction `azimuth`.
fn destination((x, y): (f64, f64), distance: f64, azimuth: f64) -> (f64, f64) {
    let (x, y) = (x.to_radians(), y.to_radians());
    let (d, a) = (distance.to_radians(), azimuth.to_radians());
    let sin = y.sin() * d.cos() + y.cos() * d.sin() * a.cos();
    let north = sin.clamp(-1.0, 1.0).asin();
    let east = (a.sin() * d.sin() * y.cos()).atan2(d.cos() - y.sin() * sin);
    let east = (x + east).to_degrees();
    ((east + 540.0).rem_euclid(360.0) - 180.0, north.to_degrees())
}

/// Checks poles and sides as S2 defines them. A ring around a pole encloses it in either direction.
#[test]
fn poles_are_enclosed() {
    for edges in [Edges::Spherical, Edges::Karney] {
        poles_are_enclosed_by(edges);
    }
}

fn poles_are_enclosed_by(edges: Edges) {
    let bbox = |values: &[Vec<u8>]| bbox_of(edges, values);
    let around = |y: f64| -> Vec<_> { (0..=6).map(|i| (f64::from(i) * 60.0 - 180.0, y)).collect() };
    for (y, poles) in [(60.0, (59.0, 90.0)), (-60.0, (-90.0, -59.0))] {
        let mut ring = around(y);
        for _ in 0..2 {
            let bbox = bbox(&[polygon(std::slice::from_ref(&ring))]).unwrap();
            assert_eq!((bbox.xmin, bbox.xmax), (-180.0, 180.0));
            assert!(bbox.ymin >= poles.0 && bbox.ymax <= poles.1, "{bbox:?}");
            assert!(bbox.ymin == -90.0 || bbox.ymax == 90.0, "{bbox:?}");
            ring.reverse();
        }
    }
    // This is about half of the Earth, so either side might be meant.
    let half = bbox(&[polygon(&[around(0.0)])]).unwrap();
    assert_eq!((half.ymin, half.ymax), (-90.0, 90.0));
    // This is most of the Earth, so the smaller side is around the poles and the antimeridian.
    let ring = [-170.0, -60.0, 60.0, 170.0].map(|x| (x, -80.0));
    let back = [170.0, 60.0, -60.0, -170.0].map(|x| (x, 80.0));
    let most = bbox(&[polygon(&[[ring, back].concat()])]).unwrap();
    assert_eq!(
        (most.xmin, most.xmax, most.ymin, most.ymax),
        (-180.0, 180.0, -90.0, 90.0)
    );
    // A hole does not have an inside of its own.
    let hole = bbox(&[polygon(&[vec![], around(80.0)])]).unwrap();
    assert!(hole.ymax < 90.0, "{hole:?}");
}
