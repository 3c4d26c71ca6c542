//! Adds columns of values many at a time, and compares the result with adding the values one by
//! one.

use herringbone_format::{BoundingBox, GeospatialStatistics};
use herringbone_geospatial::{Edges, StatisticsBuilder, wkt};

/// A generator of pseudorandom numbers from 0 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() * end as f64) as usize
    }
}

/// Ranges of longitudes, each as west and width. They are one place, a country, both sides of the
/// antimeridian, and everywhere.
const PLACES: [(f64, f64); 4] = [(8.0, 0.4), (-100.0, 30.0), (175.0, 10.0), (-180.0, 360.0)];

const KINDS: [&str; 7] = [
    "POINT",
    "POINT Z",
    "POINT M",
    "POINT ZM",
    "LINESTRING",
    "POLYGON",
    "mixed",
];

/// The faults that about one value in a hundred has, if a test asks for them.
const FAULTS: [&str; 8] = [
    "none",
    "NaN",
    "x out of range",
    "y out of range",
    "big-endian",
    "extended",
    "truncated",
    "empty",
];

fn value(random: &mut Random, kind: &str, (west, width): (f64, f64)) -> Vec<u8> {
    let longitude = |it: f64| if it > 180.0 { it - 360.0 } else { it };
    let (x, y) = (west + random.next() * width, random.next() * 150.0 - 75.0);
    let at = |dx: f64, dy: f64| format!("{} {}", longitude(x + dx), y + dy);
    let kind = match kind {
        "mixed" => ["POINT", "LINESTRING", "POLYGON", "MULTIPOINT"][random.below(4)],
        kind => kind,
    };
    let positions = match kind {
        "POINT" => at(0.0, 0.0),
        "POINT Z" | "POINT M" => format!("{} {}", at(0.0, 0.0), random.next()),
        "POINT ZM" => format!("{} {} {}", at(0.0, 0.0), random.next(), -random.next()),
        "LINESTRING" => {
            let line = (0..random.below(9) + 2).map(|step| at(step as f64 * 0.01, random.next()));
            line.collect::<Vec<_>>().join(", ")
        }
        "POLYGON" => format!("({}, {}, {0})", at(0.0, 0.0), at(0.02, 0.01)),
        _ => format!("({}), ({})", at(0.0, 0.0), at(0.01, 0.02)),
    };
    let mut value = Vec::new();
    wkt::read(&format!("{kind} ({positions})"), &mut value).unwrap();
    value
}

fn spoil(value: &mut Vec<u8>, fault: &str) {
    let is_point = value[1] == 1;
    let ordinate = |value: &mut Vec<u8>, at: usize, number: f64| {
        value[at..at + 8].copy_from_slice(&number.to_le_bytes());
    };
    match fault {
        "NaN" if is_point => {
            // This NaN has the bits of a cell.
            let nan = f64::from_bits(f64::NAN.to_bits() | 0x7ff);
            ordinate(value, 5, nan);
        }
        "x out of range" if is_point => ordinate(value, 5, 180.5),
        "y out of range" if is_point => ordinate(value, 13, -90.5),
        "big-endian" if value.len() == 21 => {
            value[0] = 0;
            value[1..5].reverse();
            value[5..13].reverse();
            value[13..21].reverse();
        }
        "extended" => value[4] |= 0x80,
        "truncated" => value.truncate(9),
        "empty" => *value = [&[1, 1, 0, 0, 0][..], &[0xff; 16]].concat(),
        _ => {}
    }
}

fn width(bbox: &BoundingBox) -> f64 {
    let turns = if bbox.xmin > bbox.xmax { 360.0 } else { 0.0 };
    bbox.xmax - bbox.xmin + turns
}

fn check(many: GeospatialStatistics, one_by_one: GeospatialStatistics, edges: Edges, what: &str) {
    let (Some(found), Some(wanted)) = (&many.bbox, &one_by_one.bbox) else {
        assert_eq!(many, one_by_one, "{what}");
        return;
    };
    if edges.is_geography() {
        // If points are added together, gaps of up to a degree between them might be missed.
        assert!(
            width(found) <= width(wanted) + 1.0,
            "{what}: {found:?} {wanted:?}"
        );
        let mut wanted = wanted.clone();
        (wanted.xmin, wanted.xmax) = (found.xmin, found.xmax);
        let wanted = one_by_one.clone().bbox(Some(wanted));
        assert_eq!(many, wanted, "{what}");
    } else {
        assert_eq!(many, one_by_one, "{what}");
    }
}

#[test]
fn many_at_a_time_are_what_they_are_one_by_one() {
    let mut random = Random(5);
    for (kind, place) in KINDS
        .iter()
        .flat_map(|kind| PLACES.map(|place| (*kind, place)))
    {
        for fault in FAULTS {
            let mut values = Vec::new();
            for _ in 0..500 {
                let mut value = value(&mut random, kind, place);
                if random.below(100) == 0 {
                    spoil(&mut value, fault);
                }
                values.push(value);
            }
            for edges in [
                Edges::Planar,
                Edges::Spherical,
                Edges::Karney,
                Edges::Andoyer,
            ] {
                let what = format!("{kind} {place:?} {fault} {edges:?}");
                let (mut many, mut one_by_one) =
                    (StatisticsBuilder::new(edges), StatisticsBuilder::new(edges));
                let mut rest = values.iter().map(Vec::as_slice).collect::<Vec<_>>();
                while !rest.is_empty() {
                    let page = rest.split_off(rest.len() - random.below(400).min(rest.len()));
                    many.add_all(&page);
                    for value in page {
                        one_by_one.add(value).ok();
                    }
                }
                let finish = |it: StatisticsBuilder| it.finish().unwrap_or_default();
                check(finish(many), finish(one_by_one), edges, &what);
            }
        }
    }
}

/// Compares boxes that we worked out by hand. They are the narrowest that contain the points, on
/// both sides of the antimeridian.
#[test]
fn points_have_the_narrowest_box() {
    let points = |xs: &[f64]| -> Vec<Vec<u8>> {
        let value = |x: &f64| {
            let mut value = Vec::new();
            wkt::read(&format!("POINT ({x} {})", x / 3.0), &mut value).unwrap();
            value
        };
        xs.iter().map(value).collect()
    };
    for (xs, wanted) in [
        (vec![1.0, 1.25, 1.5], Some((1.0, 1.5))),
        (vec![-179.0, 179.5, 178.0], Some((178.0, -179.0))),
        // This is one place twice.
        (vec![-180.0, 180.0], Some((180.0, -180.0))),
        (vec![10.0, -120.0, 130.0, f64::NAN], Some((10.0, -120.0))),
        (vec![f64::NAN], None),
        (vec![], None),
    ] {
        let values = points(&xs);
        let values: Vec<_> = values.iter().map(Vec::as_slice).collect();
        let mut statistics = StatisticsBuilder::new(Edges::Spherical);
        statistics.add_all(&values);
        statistics.add_all(&values);
        let bbox = statistics.extent().bbox();
        assert_eq!(bbox.map(|bbox| (bbox.xmin, bbox.xmax)), wanted, "{xs:?}");
    }
}

/// Points added together can lie on both sides of the gap that the box leaves.
#[test]
fn gaps_of_more_than_a_hundredth_of_the_earth_are_found() {
    let point = |x: i32| {
        let mut value = Vec::new();
        wkt::read(&format!("POINT ({} 1)", f64::from(x) / 2.0), &mut value).unwrap();
        value
    };
    let mut statistics = StatisticsBuilder::new(Edges::Spherical);
    let beside = [point(72), point(80)];
    statistics.add_all(&beside.each_ref().map(Vec::as_slice));
    for x in (-360..=72).chain(80..=360) {
        statistics.add_all(&[&point(x)]);
    }
    let bbox = statistics.extent().bbox().unwrap();
    assert_eq!((bbox.xmin, bbox.xmax), (40.0, 36.0));
}

/// Adds lines when most of the Earth is already covered. Some lie east of the covered part, and
/// others bulge beyond it.
#[test]
fn lines_beyond_what_is_known_are_found() {
    let add = |statistics: &mut StatisticsBuilder, line: &str| {
        let mut value = Vec::new();
        wkt::read(&format!("LINESTRING ({line})"), &mut value).unwrap();
        statistics.add_all(&[&value]);
    };
    let mut known = StatisticsBuilder::new(Edges::Spherical);
    for x in 0..100 {
        let line = format!("{x} {}, {} {}", x - 50, x + 1, x - 49);
        add(&mut known, &line);
    }
    let bounds = |line: &str| {
        let mut statistics = known.clone();
        add(&mut statistics, line);
        let bbox = statistics.extent().bbox().unwrap();
        (bbox.xmin, bbox.xmax, bbox.ymin, bbox.ymax)
    };
    assert_eq!(bounds("3 4, 5 6"), (0.0, 100.0, -50.0, 50.0));
    assert_eq!(bounds("99 4, 120.5 6"), (0.0, 120.5, -50.0, 50.0));
    assert_eq!(bounds("-0.5 4, 1 6"), (-0.5, 100.0, -50.0, 50.0));
    // The great circle is highest half way, where the tangent of its latitude is 1 / cos 40°.
    let apex = (1.0 / 40.0_f64.to_radians().cos()).atan().to_degrees();
    for line in ["10 45, 90 45", "90 45, 10 45", "NaN 45, 10 45, 90 45"] {
        let (xmin, xmax, ymin, ymax) = bounds(line);
        assert_eq!((xmin, xmax, ymin), (0.0, 100.0, -50.0), "{line}");
        assert!((apex..apex + 1e-9).contains(&ymax), "{line}: {ymax}");
    }
}
