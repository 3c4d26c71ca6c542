//! Decodes the codes of geometry types.

use std::fmt;

/// The ordinates of a position in addition to x and y.
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
    /// All dimensions, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::Xy, Self::Xyz, Self::Xym, Self::Xyzm];

    /// Creates dimensions with these ordinates in addition to x and y.
    #[must_use]
    pub fn new(has_z: bool, has_m: bool) -> Self {
        match (has_z, has_m) {
            (false, false) => Self::Xy,
            (true, false) => Self::Xyz,
            (false, true) => Self::Xym,
            (true, true) => Self::Xyzm,
        }
    }

    /// Returns true if positions have a z.
    #[must_use]
    pub fn has_z(self) -> bool {
        matches!(self, Self::Xyz | Self::Xyzm)
    }

    /// Returns true if positions have an m.
    #[must_use]
    pub fn has_m(self) -> bool {
        matches!(self, Self::Xym | Self::Xyzm)
    }

    /// Returns the number of ordinates that a position has (2, 3 or 4).
    #[must_use]
    pub fn ordinates(self) -> usize {
        2 + usize::from(self.has_z()) + usize::from(self.has_m())
    }

    /// Returns the byte count of a position.
    #[must_use]
    pub fn position_bytes(self) -> usize {
        self.ordinates() * size_of::<f64>()
    }

    /// Returns the ISO offset added to the kind's code: 0, 1000, 2000 or 3000.
    #[must_use]
    pub fn code(self) -> u32 {
        self as u32 * 1000
    }

    /// Returns the dimensions with all ordinates of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self::new(self.has_z() || other.has_z(), self.has_m() || other.has_m())
    }
}

impl fmt::Display for Dimensions {
    /// Writes `XY`, `XYZ`, `XYM` or `XYZM`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Xy => "XY",
            Self::Xyz => "XYZ",
            Self::Xym => "XYM",
            Self::Xyzm => "XYZM",
        })
    }
}

/// The kind of a geometry, whatever its dimensions are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GeometryKind {
    /// A single position, or none.
    Point,
    /// A path through positions.
    LineString,
    /// An outer ring, and the rings of its holes.
    Polygon,
    /// Points.
    MultiPoint,
    /// Line strings.
    MultiLineString,
    /// Polygons.
    MultiPolygon,
    /// Geometries of any kind.
    GeometryCollection,
    /// A kind that we keep without decoding it, such as curves, surfaces, and future additions to
    /// ISO. The number is the ISO code without dimensions, from 8 to 999.
    Opaque(u16),
}

impl GeometryKind {
    /// The decoded kinds, in the order of their codes.
    pub const KNOWN: [Self; 7] = [
        Self::Point,
        Self::LineString,
        Self::Polygon,
        Self::MultiPoint,
        Self::MultiLineString,
        Self::MultiPolygon,
        Self::GeometryCollection,
    ];

    /// Converts an ISO code without dimensions, or returns `None` for 0 and for numbers above 999.
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

    /// Returns the ISO code without dimensions.
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

    /// Returns true if we do not decode this kind's coordinates.
    #[must_use]
    pub fn is_opaque(self) -> bool {
        matches!(self, Self::Opaque(_))
    }

    /// Returns true if the kind consists of other geometries.
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

    /// Returns true if geometries of this kind are allowed to contain a part of the other kind.
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

    /// Returns the name in GeoJSON and GeoParquet, such as `MultiPoint`, or `None` for kinds that
    /// they do not have.
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

    /// Converts a name from GeoJSON or GeoParquet.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::KNOWN
            .into_iter()
            .find(|kind| kind.name() == Some(name))
    }
}

impl fmt::Display for GeometryKind {
    /// Writes the name in well-known text, such as `MULTIPOINT`. A kind without a name is written
    /// as its code.
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

/// A kind with dimensions, as encoded in a geometry's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GeometryType {
    /// The kind of geometry.
    pub kind: GeometryKind,
    /// The ordinates of its positions.
    pub dimensions: Dimensions,
}

impl GeometryType {
    /// Creates a type from a kind and dimensions.
    #[must_use]
    pub fn new(kind: GeometryKind, dimensions: Dimensions) -> Self {
        Self { kind, dimensions }
    }

    /// Converts an ISO code, such as 3002 for LINESTRING ZM, or returns `None` if ISO has no such
    /// code.
    #[must_use]
    #[inline]
    pub fn from_code(code: u32) -> Option<Self> {
        if code < 1000 {
            // The most common codes need no division, so we try them first.
            return Some(Self::new(GeometryKind::from_code(code)?, Dimensions::Xy));
        }
        let dimensions = Dimensions::ALL.get(usize::try_from(code / 1000).ok()?)?;
        Some(Self::new(
            GeometryKind::from_code(code % 1000)?,
            *dimensions,
        ))
    }

    /// Returns the ISO code.
    #[must_use]
    pub fn code(self) -> u32 {
        self.kind.code() + self.dimensions.code()
    }
}

impl fmt::Display for GeometryType {
    /// Writes the type as well-known text does, such as `LINESTRING ZM`.
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
