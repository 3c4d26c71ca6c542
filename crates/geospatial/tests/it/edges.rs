//! Compares edges on ellipsoids with PROJ's geodesics.

use herringbone_geospatial::Edges;
use herringbone_geospatial::bounds::{Bounder, Extent, NoBox};
use herringbone_geospatial::wkb::{Dimensions, GeometryKind, GeometryType, Position, Writer};

use crate::fixtures::lines;
use crate::sphere::holds;

const EDGES: &str = include_str!("../fixtures/edges.tsv");

pub(crate) fn line_string(places: &[(f64, f64)]) -> Vec<u8> {
    let mut value = Vec::new();
    let mut writer = Writer::new(&mut value);
    let geometry_type = GeometryType::new(GeometryKind::LineString, Dimensions::Xy);
    writer.start(geometry_type, places.len() as u32);
    for (x, y) in places {
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
    value
}

#[test]
fn geodesics_are_within() {
    let mut narrow = 0;
    for line in lines(EDGES) {
        let numbers: Vec<f64> = line[1..].iter().map(|line| line.parse().unwrap()).collect();
        let places: Vec<_> = numbers
            .chunks(2)
            .map(|chunk| (chunk[0], chunk[1]))
            .collect();
        for edges in [Edges::Karney, Edges::Vincenty] {
            let mut bounder = Bounder::new(edges);
            bounder.add(&line_string(&places[..2])).unwrap();
            let bbox = bounder.extent().bbox().unwrap();
            for place in &places {
                assert!(
                    holds(&bbox, *place),
                    "{bbox:?} has not {place:?} of {line:?}"
                );
            }
            // The bound is close, at most a few degrees beyond the latitude that the edge reaches.
            let reached = places.iter().map(|place| place.1).fold(f64::MIN, f64::max);
            narrow += usize::from(bbox.ymax - reached < 3.0);
        }
    }
    assert!(narrow > 450, "{narrow} of 640");
}

#[test]
fn approximations_have_no_box() {
    for edges in [Edges::Thomas, Edges::Andoyer] {
        let mut bounder = Bounder::new(edges);
        bounder.add(&line_string(&[(1.0, 2.0)])).unwrap();
        assert!(matches!(bounder.extent(), Extent::Box(_)));
        bounder
            .add(&line_string(&[(1.0, 2.0), (3.0, 4.0)]))
            .unwrap();
        assert_eq!(bounder.extent(), Extent::Unknown(NoBox::Edges));
    }
}
