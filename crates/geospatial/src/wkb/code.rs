//! The codes of geometry types.

use std::fmt;

/// Which ordinates positions have beside x and y.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Dimensions {
    /// x and y.
    #[default]
    Xy,
    /// x, y and z.
    Xyz,
    /// x, y and m.
    Xym,
    /// x, y, z and m.
    Xyzm,
}

impl Dimensions {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::Xy, Self::Xyz, Self::Xym, Self::Xyzm];

    /// With these ordinates beside x and y.
    #[must_use]
    pub fn new(has_z: bool, has_m: bool) -> Self {
        match (has_z, has_m) {
            (false, false) => Self::Xy,
            (true, false) => Self::Xyz,
            (false, true) => Self::Xym,
            (true, true) => Self::Xyzm,
        }
    }

    /// Whether positions have a z.
    #[must_use]
    pub fn has_z(self) -> bool {
        matches!(self, Self::Xyz | Self::Xyzm)
    }

    /// Whether positions have an m.
    #[must_use]
    pub fn has_m(self) -> bool {
        matches!(self, Self::Xym | Self::Xyzm)
    }

    /// Ordinates of a position: 2, 3 or 4.
    #[must_use]
    pub fn ordinates(self) -> usize {
        2 + usize::from(self.has_z()) + usize::from(self.has_m())
    }

    /// Bytes of a position.
    #[must_use]
    pub fn position_bytes(self) -> usize {
        self.ordinates() * size_of::<f64>()
    }

    /// What ISO adds to the code of the kind: 0, 1000, 2000 or 3000.
    #[must_use]
    pub fn code(self) -> u32 {
        self as u32 * 1000
    }

    /// Those of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self::new(self.has_z() || other.has_z(), self.has_m() || other.has_m())
    }
}

impl fmt::Display for Dimensions {
    /// `XY`, `XYZ`, `XYM` or `XYZM`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Xy => "XY",
            Self::Xyz => "XYZ",
            Self::Xym => "XYM",
            Self::Xyzm => "XYZM",
        })
    }
}

/// What a geometry is, whatever its dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GeometryKind {
    /// A position, or none.
    Point,
    /// A path through positions.
    LineString,
    /// An outer ring and the rings of its holes.
    Polygon,
    /// Points.
    MultiPoint,
    /// Line strings.
    MultiLineString,
    /// Polygons.
    MultiPolygon,
    /// Geometries of any kind.
    GeometryCollection,
    /// A kind that is recognised and kept, but not looked into: curves, surfaces and whatever ISO adds
    /// later. It holds the ISO code without dimensions, 8 to 999.
    Opaque(u16),
}

impl GeometryKind {
    /// The kinds that are looked into, in the order of their codes.
    pub const KNOWN: [Self; 7] = [
        Self::Point,
        Self::LineString,
        Self::Polygon,
        Self::MultiPoint,
        Self::MultiLineString,
        Self::MultiPolygon,
        Self::GeometryCollection,
    ];

    /// Of the ISO code without dimensions; `None` for 0 and above 999.
    #[must_use]
    #[inline]
    pub fn from_code(code: u32) -> Option<Self> {
        let known = Self::KNOWN.get((code as usize).wrapping_sub(1));
        match (known, u16::try_from(code)) {
            (Some(kind), _) => Some(*kind),
            (None, Ok(code @ 8..1000)) => Some(Self::Opaque(code)),
            _ => None,
        }
    }

    /// The ISO code without dimensions.
    #[must_use]
    pub fn code(self) -> u32 {
        match self {
            Self::Point => 1,
            Self::LineString => 2,
            Self::Polygon => 3,
            Self::MultiPoint => 4,
            Self::MultiLineString => 5,
            Self::MultiPolygon => 6,
            Self::GeometryCollection => 7,
            Self::Opaque(code) => u32::from(code),
        }
    }

    /// Whether coordinates are seen in geometries of the kind.
    #[must_use]
    pub fn is_opaque(self) -> bool {
        matches!(self, Self::Opaque(_))
    }

    /// Whether it is made up of geometries.
    #[must_use]
    pub fn is_collection(self) -> bool {
        matches!(
            self,
            Self::MultiPoint
                | Self::MultiLineString
                | Self::MultiPolygon
                | Self::GeometryCollection
        )
    }

    /// Whether a geometry of the kind may have a part of the other kind.
    #[must_use]
    pub fn may_contain(self, part: Self) -> bool {
        match self {
            Self::MultiPoint => part == Self::Point,
            Self::MultiLineString => part == Self::LineString,
            Self::MultiPolygon => part == Self::Polygon,
            Self::GeometryCollection => true,
            _ => false,
        }
    }

    /// The name in GeoJSON and GeoParquet, `MultiPoint`; `None` for those that they do not have.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::Point => "Point",
            Self::LineString => "LineString",
            Self::Polygon => "Polygon",
            Self::MultiPoint => "MultiPoint",
            Self::MultiLineString => "MultiLineString",
            Self::MultiPolygon => "MultiPolygon",
            Self::GeometryCollection => "GeometryCollection",
            Self::Opaque(_) => return None,
        })
    }

    /// Of the name in GeoJSON and GeoParquet.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::KNOWN
            .into_iter()
            .find(|kind| kind.name() == Some(name))
    }
}

impl fmt::Display for GeometryKind {
    /// The name in well-known text, `MULTIPOINT`; the code of those that have none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Point => "POINT",
            Self::LineString => "LINESTRING",
            Self::Polygon => "POLYGON",
            Self::MultiPoint => "MULTIPOINT",
            Self::MultiLineString => "MULTILINESTRING",
            Self::MultiPolygon => "MULTIPOLYGON",
            Self::GeometryCollection => "GEOMETRYCOLLECTION",
            Self::Opaque(code) => match code {
                8 => "CIRCULARSTRING",
                9 => "COMPOUNDCURVE",
                10 => "CURVEPOLYGON",
                11 => "MULTICURVE",
                12 => "MULTISURFACE",
                13 => "CURVE",
                14 => "SURFACE",
                15 => "POLYHEDRALSURFACE",
                16 => "TIN",
                17 => "TRIANGLE",
                _ => return write!(f, "geometry of code {code}"),
            },
        })
    }
}

/// Kind and dimensions, which make up the code of a geometry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GeometryType {
    /// What it is.
    pub kind: GeometryKind,
    /// Its ordinates.
    pub dimensions: Dimensions,
}

impl GeometryType {
    /// A kind with dimensions.
    #[must_use]
    pub fn new(kind: GeometryKind, dimensions: Dimensions) -> Self {
        Self { kind, dimensions }
    }

    /// Of the ISO code, such as 3002 for a LINESTRING ZM; `None` where ISO has no such code.
    #[must_use]
    #[inline]
    pub fn from_code(code: u32) -> Option<Self> {
        if code < 1000 {
            // Most, without a division.
            return Some(Self::new(GeometryKind::from_code(code)?, Dimensions::Xy));
        }
        let dimensions = Dimensions::ALL.get(usize::try_from(code / 1000).ok()?)?;
        Some(Self::new(
            GeometryKind::from_code(code % 1000)?,
            *dimensions,
        ))
    }

    /// The ISO code.
    #[must_use]
    pub fn code(self) -> u32 {
        self.kind.code() + self.dimensions.code()
    }
}

impl fmt::Display for GeometryType {
    /// `LINESTRING ZM`, as in well-known text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        f.write_str(match self.dimensions {
            Dimensions::Xy => "",
            Dimensions::Xyz => " Z",
            Dimensions::Xym => " M",
            Dimensions::Xyzm => " ZM",
        })
    }
}
