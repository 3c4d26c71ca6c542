//! Reads a geometry's header, with byte order, code and SRID.

use super::{Dimensions, GeometryKind, GeometryType, WkbErrorKind};

/// The byte order of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// The most significant byte comes first. Its code is `00`.
    BigEndian,
    /// The least significant byte comes first. Its code is `01`.
    LittleEndian,
}

impl ByteOrder {
    pub(super) fn from_byte(byte: u8) -> Result<Self, WkbErrorKind> {
        match byte {
            0 => Ok(Self::BigEndian),
            1 => Ok(Self::LittleEndian),
            other => Err(WkbErrorKind::ByteOrder(other)),
        }
    }

    pub(super) fn number(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::BigEndian => u32::from_be_bytes(bytes),
            Self::LittleEndian => u32::from_le_bytes(bytes),
        }
    }

    pub(super) fn ordinate(self, bytes: [u8; 8]) -> f64 {
        match self {
            Self::BigEndian => f64::from_be_bytes(bytes),
            Self::LittleEndian => f64::from_le_bytes(bytes),
        }
    }
}

/// The header of a geometry, be it the value itself or a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The geometry's kind and dimensions.
    pub geometry_type: GeometryType,
    /// The number of parts. These are the positions of a line string, the rings of a polygon, or
    /// the geometries in others. A point has 1, and an opaque geometry has 0.
    pub parts: u32,
    /// The byte order of the geometry's numbers. Each part has its own byte order.
    pub byte_order: ByteOrder,
    /// True if the code has EWKB flags. Parquet doesn't allow them.
    pub is_extended: bool,
    /// The spatial reference identifier, which only the extended form has.
    pub srid: Option<u32>,
}

const HAS_Z: u32 = 0x8000_0000;
const HAS_M: u32 = 0x4000_0000;
const HAS_SRID: u32 = 0x2000_0000;
const FLAGS: u32 = HAS_Z | HAS_M | HAS_SRID;

/// A decoded geometry code.
pub(super) struct Code {
    pub(super) geometry_type: GeometryType,
    pub(super) is_extended: bool,
    pub(super) has_srid: bool,
}

impl Code {
    /// Decodes a code in the ISO form, in the extended form, or in a mixture of both.
    pub(super) fn new(code: u32) -> Result<Self, WkbErrorKind> {
        let Some(plain) = GeometryType::from_code(code & !FLAGS) else {
            return Err(WkbErrorKind::Code(code));
        };
        let flagged = Dimensions::new(code & HAS_Z != 0, code & HAS_M != 0);
        Ok(Self {
            geometry_type: GeometryType {
                dimensions: plain.dimensions.union(flagged),
                ..plain
            },
            is_extended: code & FLAGS != 0,
            has_srid: code & HAS_SRID != 0,
        })
    }
}

/// Returns the minimum byte count of a geometry's `parts` parts. A header with more parts than
/// there is room for is rejected early.
pub(super) fn fewest_bytes(geometry_type: GeometryType, parts: u32) -> u64 {
    /// The byte count of the byte order and the code. An opaque geometry can consist of just these.
    const GEOMETRY: u64 = 5;
    /// The byte count of the number of positions.
    const RING: u64 = 4;
    let position = geometry_type.dimensions.position_bytes() as u64;
    u64::from(parts)
        * match geometry_type.kind {
            GeometryKind::Point | GeometryKind::LineString => position,
            GeometryKind::Polygon => RING,
            _ => GEOMETRY,
        }
}
