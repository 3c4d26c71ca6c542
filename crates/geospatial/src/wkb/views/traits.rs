//! Implements the `geo-traits` traits for each view. References to views implement them too,
//! because geometries with parts return references.
//!
//! The traits check for indexes past the last part. If such an index gets here all the same, the
//! result is an empty part, or NaN.

use geo_traits::{
    CoordTrait, Dimensions as TraitDimensions, GeometryCollectionTrait, GeometryTrait,
    GeometryType as Kind, LineStringTrait, MultiLineStringTrait, MultiPointTrait,
    MultiPolygonTrait, PointTrait, PolygonTrait, UnimplementedLine, UnimplementedRect,
    UnimplementedTriangle,
};

use super::super::{ByteOrder, Coordinates, Dimensions, Position};
use super::{
    Coord, Geometry, GeometryCollection, LineString, MultiLineString, MultiPoint, MultiPolygon,
    Parts, Point, Polygon,
};

impl CoordTrait for Coord {
    type T = f64;

    fn dim(&self) -> TraitDimensions {
        dimensions(self.dimensions)
    }

    fn x(&self) -> f64 {
        self.position.x
    }

    fn y(&self) -> f64 {
        self.position.y
    }

    fn nth_or_panic(&self, n: usize) -> f64 {
        let (ordinates, count) = self.position.ordinates(self.dimensions);
        let ordinate = ordinates.iter().take(count).nth(n);
        ordinate.copied().unwrap_or(f64::NAN)
    }
}

/// A geometry, as the kind that it has.
type AnyKind<'b, 'v> = Kind<
    'b,
    Point<'v>,
    LineString<'v>,
    Polygon<'v>,
    MultiPoint<'v>,
    MultiLineString<'v>,
    MultiPolygon<'v>,
    GeometryCollection<'v>,
    UnimplementedRect<f64>,
    UnimplementedTriangle<f64>,
    UnimplementedLine<f64>,
>;

/// Implements the part that all geometries share: the associated types, the dimensions, and the
/// actual kind.
macro_rules! geometry {
    ($($view:ty, $dim:expr, $as_type:expr;)*) => {$(
        impl<'v> GeometryTrait for $view {
            type T = f64;
            type PointType<'b> = Point<'v> where Self: 'b;
            type LineStringType<'b> = LineString<'v> where Self: 'b;
            type PolygonType<'b> = Polygon<'v> where Self: 'b;
            type MultiPointType<'b> = MultiPoint<'v> where Self: 'b;
            type MultiLineStringType<'b> = MultiLineString<'v> where Self: 'b;
            type MultiPolygonType<'b> = MultiPolygon<'v> where Self: 'b;
            type GeometryCollectionType<'b> = GeometryCollection<'v> where Self: 'b;
            type RectType<'b> = UnimplementedRect<f64> where Self: 'b;
            type TriangleType<'b> = UnimplementedTriangle<f64> where Self: 'b;
            type LineType<'b> = UnimplementedLine<f64> where Self: 'b;

            fn dim(&self) -> TraitDimensions {
                let of: fn(&Self) -> Dimensions = $dim;
                dimensions(of(self))
            }

            fn as_type(&self) -> AnyKind<'_, 'v> {
                $as_type(self)
            }
        }
    )*};
}

geometry! {
    Point<'v>, |it| it.0.dimensions(), Kind::Point;
    LineString<'v>, |it| it.0.dimensions(), Kind::LineString;
    Polygon<'v>, |it| it.0.dimensions, Kind::Polygon;
    &Polygon<'v>, |it| it.0.dimensions, Kind::Polygon;
    MultiPoint<'v>, |it| it.0.dimensions, Kind::MultiPoint;
    MultiLineString<'v>, |it| it.0.dimensions, Kind::MultiLineString;
    MultiPolygon<'v>, |it| it.0.dimensions, Kind::MultiPolygon;
    GeometryCollection<'v>, |it| it.0.dimensions, Kind::GeometryCollection;
    Geometry<'v>, |it| it.dimensions(), Geometry::kind;
    &Geometry<'v>, |it| it.dimensions(), Geometry::kind;
}

impl<'v> Geometry<'v> {
    fn dimensions(&self) -> Dimensions {
        match self {
            Self::Point(it) => it.0.dimensions(),
            Self::LineString(it) => it.0.dimensions(),
            Self::Polygon(it) => it.0.dimensions,
            Self::MultiPoint(it) => it.0.dimensions,
            Self::MultiLineString(it) => it.0.dimensions,
            Self::MultiPolygon(it) => it.0.dimensions,
            Self::GeometryCollection(it) => it.0.dimensions,
        }
    }

    fn kind(&self) -> AnyKind<'_, 'v> {
        match self {
            Self::Point(it) => Kind::Point(it),
            Self::LineString(it) => Kind::LineString(it),
            Self::Polygon(it) => Kind::Polygon(it),
            Self::MultiPoint(it) => Kind::MultiPoint(it),
            Self::MultiLineString(it) => Kind::MultiLineString(it),
            Self::MultiPolygon(it) => Kind::MultiPolygon(it),
            Self::GeometryCollection(it) => Kind::GeometryCollection(it),
        }
    }
}

impl PointTrait for Point<'_> {
    type CoordType<'b>
        = Coord
    where
        Self: 'b;

    fn coord(&self) -> Option<Coord> {
        let position = self.0.get(0)?;
        let dimensions = self.0.dimensions();
        (!position.is_nowhere()).then_some(Coord {
            position,
            dimensions,
        })
    }
}

impl LineStringTrait for LineString<'_> {
    type CoordType<'b>
        = Coord
    where
        Self: 'b;

    fn num_coords(&self) -> usize {
        self.0.len()
    }

    unsafe fn coord_unchecked(&self, i: usize) -> Coord {
        Coord {
            position: self.0.get(i).unwrap_or(Position::NOWHERE),
            dimensions: self.0.dimensions(),
        }
    }
}

/// Implements polygons, and references to them.
macro_rules! polygon {
    ($($view:ty),*) => {$(
        impl<'v> PolygonTrait for $view {
            type RingType<'b> = LineString<'v> where Self: 'b;

            fn exterior(&self) -> Option<LineString<'v>> {
                self.0.all.first().copied()
            }

            fn num_interiors(&self) -> usize {
                self.0.all.len().saturating_sub(1)
            }

            unsafe fn interior_unchecked(&self, i: usize) -> LineString<'v> {
                let ring = i.checked_add(1).and_then(|ring| self.0.all.get(ring));
                ring.copied().unwrap_or(LineString(NO_POSITIONS))
            }
        }
    )*};
}

polygon!(Polygon<'v>, &Polygon<'v>);

impl<'v> MultiPointTrait for MultiPoint<'v> {
    type InnerPointType<'b>
        = Point<'v>
    where
        Self: 'b;

    fn num_points(&self) -> usize {
        self.0.all.len()
    }

    unsafe fn point_unchecked(&self, i: usize) -> Point<'v> {
        self.0.all.get(i).copied().unwrap_or(Point(NO_POSITIONS))
    }
}

impl<'v> MultiLineStringTrait for MultiLineString<'v> {
    type InnerLineStringType<'b>
        = LineString<'v>
    where
        Self: 'b;

    fn num_line_strings(&self) -> usize {
        self.0.all.len()
    }

    unsafe fn line_string_unchecked(&self, i: usize) -> LineString<'v> {
        let line = self.0.all.get(i).copied();
        line.unwrap_or(LineString(NO_POSITIONS))
    }
}

impl<'v> MultiPolygonTrait for MultiPolygon<'v> {
    type InnerPolygonType<'b>
        = &'b Polygon<'v>
    where
        Self: 'b;

    fn num_polygons(&self) -> usize {
        self.0.all.len()
    }

    unsafe fn polygon_unchecked(&self, i: usize) -> &Polygon<'v> {
        self.0.all.get(i).unwrap_or(&NO_RINGS)
    }
}

impl<'v> GeometryCollectionTrait for GeometryCollection<'v> {
    type GeometryType<'b>
        = &'b Geometry<'v>
    where
        Self: 'b;

    fn num_geometries(&self) -> usize {
        self.0.all.len()
    }

    unsafe fn geometry_unchecked(&self, i: usize) -> &Geometry<'v> {
        self.0.all.get(i).unwrap_or(&NO_GEOMETRY)
    }
}

const NO_POSITIONS: Coordinates<'static> =
    Coordinates::new(&[], ByteOrder::LittleEndian, Dimensions::Xy);

static NO_RINGS: Polygon<'static> = Polygon(Parts {
    dimensions: Dimensions::Xy,
    all: Vec::new(),
});

static NO_GEOMETRY: Geometry<'static> = Geometry::Point(Point(NO_POSITIONS));

fn dimensions(dimensions: Dimensions) -> TraitDimensions {
    match dimensions {
        Dimensions::Xy => TraitDimensions::Xy,
        Dimensions::Xyz => TraitDimensions::Xyz,
        Dimensions::Xym => TraitDimensions::Xym,
        Dimensions::Xyzm => TraitDimensions::Xyzm,
    }
}
