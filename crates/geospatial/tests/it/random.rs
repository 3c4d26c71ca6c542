//! Generates random geometries of all kinds, dimensions and byte orders, and writes them byte by
//! byte.

use herringbone_geospatial::bounds::{Bounder, Extent};
use herringbone_geospatial::wkb::{
    ByteOrder, Dimensions, Event, Events, GeometryKind, GeometryType, write_iso,
};
use herringbone_geospatial::{Edges, StatisticsBuilder, wkt};
use proptest::prelude::*;

/// A geometry to write, with the dimensions of the whole.
#[derive(Debug, Clone)]
struct Geometry {
    byte_order: ByteOrder,
    is_extended: bool,
    srid: Option<u32>,
    shape: Shape,
}

type Ordinates = [f64; 4];

#[derive(Debug, Clone)]
enum Shape {
    Point(Ordinates),
    LineString(Vec<Ordinates>),
    Polygon(Vec<Vec<Ordinates>>),
    Multi(GeometryKind, Vec<Geometry>),
}

impl Geometry {
    fn kind(&self) -> GeometryKind {
        match &self.shape {
            Shape::Point(_) => GeometryKind::Point,
            Shape::LineString(_) => GeometryKind::LineString,
            Shape::Polygon(_) => GeometryKind::Polygon,
            Shape::Multi(kind, _) => *kind,
        }
    }

    fn write(&self, dimensions: Dimensions, out: &mut Vec<u8>) {
        let little = self.byte_order == ByteOrder::LittleEndian;
        out.push(u8::from(little));
        let mut code = GeometryType::new(self.kind(), dimensions).code();
        if self.is_extended {
            code = self.kind().code()
                | u32::from(dimensions.has_z()) << 31
                | u32::from(dimensions.has_m()) << 30
                | u32::from(self.srid.is_some()) << 29;
        }
        let number = |number: u32, out: &mut Vec<u8>| {
            let bytes = if little {
                number.to_le_bytes()
            } else {
                number.to_be_bytes()
            };
            out.extend(bytes);
        };
        number(code, out);
        if let Some(srid) = self.srid.filter(|_| self.is_extended) {
            number(srid, out);
        }
        let position = |[x, y, z, m]: &Ordinates, out: &mut Vec<u8>| {
            let ordinates = [
                Some(*x),
                Some(*y),
                dimensions.has_z().then_some(*z),
                dimensions.has_m().then_some(*m),
            ];
            for ordinate in ordinates.into_iter().flatten() {
                out.extend(if little {
                    ordinate.to_le_bytes()
                } else {
                    ordinate.to_be_bytes()
                });
            }
        };
        match &self.shape {
            Shape::Point(at) => position(at, out),
            Shape::LineString(all) => {
                number(all.len() as u32, out);
                all.iter().for_each(|it| position(it, out));
            }
            Shape::Polygon(rings) => {
                number(rings.len() as u32, out);
                for ring in rings {
                    number(ring.len() as u32, out);
                    ring.iter().for_each(|ring| position(ring, out));
                }
            }
            Shape::Multi(_, parts) => {
                number(parts.len() as u32, out);
                parts.iter().for_each(|part| part.write(dimensions, out));
            }
        }
    }

    fn positions(&self) -> Vec<Ordinates> {
        match &self.shape {
            Shape::Point(at) => vec![*at],
            Shape::LineString(all) => all.clone(),
            Shape::Polygon(rings) => rings.concat(),
            Shape::Multi(_, parts) => parts.iter().flat_map(Self::positions).collect(),
        }
    }
}

fn ordinates() -> impl Strategy<Value = Ordinates> {
    let number = |most: f64| prop_oneof![8 => -most..=most, 1 => Just(f64::NAN), 1 => Just(most)];
    (number(180.0), number(90.0), number(1e4), number(1e9)).prop_map(|(x, y, z, m)| [x, y, z, m])
}

fn framed(shape: impl Strategy<Value = Shape>) -> impl Strategy<Value = Geometry> {
    (any::<bool>(), any::<bool>(), any::<Option<u32>>(), shape).prop_map(
        |(is_big, is_extended, srid, shape)| Geometry {
            byte_order: if is_big {
                ByteOrder::BigEndian
            } else {
                ByteOrder::LittleEndian
            },
            is_extended,
            srid,
            shape,
        },
    )
}

fn geometry() -> impl Strategy<Value = Geometry> {
    let path = || prop::collection::vec(ordinates(), 0..14);
    let point = || prop_oneof![ordinates(), Just([f64::NAN; 4])].prop_map(Shape::Point);
    let line = move || path().prop_map(Shape::LineString);
    let polygon = move || prop::collection::vec(path(), 0..3).prop_map(Shape::Polygon);
    let multi = |kind, part: BoxedStrategy<Shape>| {
        prop::collection::vec(framed(part), 0..4).prop_map(move |parts| Shape::Multi(kind, parts))
    };
    let simple = prop_oneof![
        point(),
        line(),
        polygon(),
        multi(GeometryKind::MultiPoint, point().boxed()),
        multi(GeometryKind::MultiLineString, line().boxed()),
        multi(GeometryKind::MultiPolygon, polygon().boxed()),
    ];
    framed(simple).prop_recursive(4, 20, 4, |inner| {
        let parts = prop::collection::vec(inner, 0..4);
        framed(parts.prop_map(|parts| Shape::Multi(GeometryKind::GeometryCollection, parts)))
    })
}

/// Returns the minimum and maximum of the numbers, but ignores NaN.
fn bounds(numbers: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let numbers: Vec<_> = numbers.filter(|number| !number.is_nan()).collect();
    let min = numbers.iter().copied().reduce(f64::min)?;
    Some((min, numbers.iter().copied().reduce(f64::max)?))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_geometry(geometry in geometry(), dimensions in prop::sample::select(&Dimensions::ALL[..])) {
        let mut value = Vec::new();
        geometry.write(dimensions, &mut value);
        let present = |it: Ordinates| [
            it[0],
            it[1],
            if dimensions.has_z() { it[2] } else { f64::NAN },
            if dimensions.has_m() { it[3] } else { f64::NAN },
        ];
        let wanted: Vec<_> = geometry.positions().into_iter().map(present).collect();

        let mut seen = Vec::new();
        for event in Events::new(&value) {
            if let Event::Coordinates(coordinates) = event.unwrap() {
                seen.extend(coordinates.iter().map(|coordinate| [coordinate.x, coordinate.y, coordinate.z, coordinate.m]));
            }
        }
        let bits = |all: &[Ordinates]| all.iter().map(|it| it.map(f64::to_bits)).collect::<Vec<_>>();
        prop_assert_eq!(bits(&seen), bits(&wanted));

        let mut iso = Vec::new();
        write_iso(&value, &mut iso).unwrap();
        let texts = [&value, &iso].map(|it| {
            let mut text = String::new();
            wkt::write(it, &mut text).unwrap();
            text
        });
        prop_assert_eq!(&texts[0], &texts[1]);
        prop_assert!(matches!(
            Events::new(&iso).next(),
            Some(Ok(Event::Start(it))) if !it.is_extended && it.byte_order == ByteOrder::LittleEndian
        ));

        let mut planar = StatisticsBuilder::new(Edges::Planar);
        let geometry_type = planar.add(&value).unwrap();
        prop_assert_eq!(geometry_type, GeometryType::new(geometry.kind(), dimensions));
        let axis = |index: usize| bounds(wanted.iter().map(|wanted| wanted[index]));
        match planar.extent() {
            Extent::Box(it) => {
                prop_assert_eq!(axis(0), Some((it.xmin, it.xmax)));
                prop_assert_eq!(axis(1), Some((it.ymin, it.ymax)));
                prop_assert_eq!(axis(2), it.zmin.zip(it.zmax));
                prop_assert_eq!(axis(3), it.mmin.zip(it.mmax));
            }
            extent => {
                prop_assert_eq!(extent, Extent::Empty);
                prop_assert!(axis(0).is_none() || axis(1).is_none());
            }
        }
        for edges in [Edges::Spherical, Edges::Karney] {
            let mut bounder = Bounder::new(edges);
            bounder.add(&value).unwrap();
            let Some(bbox) = bounder.extent().bbox() else {
                prop_assert!(axis(0).is_none() || axis(1).is_none());
                continue;
            };
            for [x, y, ..] in &wanted {
                let is_x = match bbox.xmin > bbox.xmax {
                    true => *x >= bbox.xmin || *x <= bbox.xmax,
                    false => *x >= bbox.xmin && *x <= bbox.xmax,
                };
                prop_assert!(x.is_nan() || is_x);
                prop_assert!(y.is_nan() || bbox.ymin <= *y && *y <= bbox.ymax);
            }
            prop_assert_eq!(axis(2), bbox.zmin.zip(bbox.zmax));
        }
    }
}
