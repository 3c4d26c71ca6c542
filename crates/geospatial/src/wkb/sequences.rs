//! A fast path to the coordinates of most values, without events.

use super::header::ByteOrder;
use super::{Coordinates, Dimensions, GeometryKind, GeometryType, ReadOptions};

/// Returns the type and coordinates of a line string, or of a polygon with one ring. The value must
/// be little-endian ISO with x and y only. Returns `None` for any other value.
#[inline(always)]
pub(crate) fn only_sequence(value: &[u8]) -> Option<(GeometryType, Coordinates<'_>)> {
    let (kind, coordinates, rest) = first_sequence(value)?;
    let is_short = value.len() <= ReadOptions::default().max_bytes;
    let geometry_type = GeometryType::new(kind, Dimensions::Xy);
    (rest.is_empty() && is_short).then_some((geometry_type, coordinates))
}

/// Reads a geometry at the start of `bytes`, if [`only_sequence`] accepts its form. Returns its
/// kind, its coordinates, and the bytes after it.
#[inline(always)]
fn first_sequence(bytes: &[u8]) -> Option<(GeometryKind, Coordinates<'_>, &[u8])> {
    // These are the byte order and the code.
    const LINE: u64 = u64::from_le_bytes([1, 2, 0, 0, 0, 0, 0, 0]);
    const POLYGON: u64 = u64::from_le_bytes([1, 3, 0, 0, 0, 0, 0, 0]);
    // We compare the whole header at once, since header checks dominate for short sequences.
    let header = u64::from_le_bytes(*bytes.first_chunk()?) & ((1 << 40) - 1);
    let (_, behind) = bytes.split_at_checked(5)?;
    let (kind, positions, rest) = match header {
        LINE => {
            let (positions, rest) = behind.split_first_chunk()?;
            (
                GeometryKind::LineString,
                u32::from_le_bytes(*positions),
                rest,
            )
        }
        POLYGON => {
            let (counts, rest) = behind.split_first_chunk()?;
            let counts = u64::from_le_bytes(*counts);
            if counts as u32 != 1 {
                return None;
            }
            (GeometryKind::Polygon, (counts >> 32) as u32, rest)
        }
        _ => return None,
    };
    // A size that overflows a 32-bit `usize` exceeds the byte count anyway.
    let size = usize::try_from(u64::from(positions) * 16).ok()?;
    let (bytes, rest) = rest.split_at_checked(size)?;
    let coordinates = Coordinates::new(bytes, ByteOrder::LittleEndian, Dimensions::Xy);
    Some((kind, coordinates, rest))
}

/// Calls `see` with a value's coordinates and returns the value's type. The other arguments of
/// `see` are the kind of the containing geometry, and true for a polygon's outer ring. The
/// coordinates are the same as those from [`Events`](super::Events), but this is faster. Returns
/// `None` if the value is a geometry collection, opaque, malformed, or not in the ISO form. Note
/// that `see` might already have been called by then.
#[inline(always)]
pub(crate) fn for_each_sequence<'a>(
    value: &'a [u8],
    mut see: impl FnMut(GeometryKind, bool, Coordinates<'a>),
) -> Option<GeometryType> {
    if value.len() > ReadOptions::default().max_bytes {
        return None;
    }
    let mut rest = Rest(value);
    let whole = rest.header()?;
    let geometry_type = whole.geometry_type;
    let parts = match geometry_type.kind {
        GeometryKind::MultiPoint => GeometryKind::Point,
        GeometryKind::MultiLineString => GeometryKind::LineString,
        GeometryKind::MultiPolygon => GeometryKind::Polygon,
        _ => {
            rest.single(whole, &mut see)?;
            return rest.0.is_empty().then_some(geometry_type);
        }
    };
    // Each part consumes bytes, so a wrong count ends the loop early.
    for _ in 0..rest.count(whole)? {
        match first_sequence(rest.0) {
            Some((kind, coordinates, behind)) if kind == parts => {
                see(kind, kind == GeometryKind::Polygon, coordinates);
                rest.0 = behind;
                continue;
            }
            _ => {}
        }
        let part = rest.header()?;
        if part.geometry_type.kind != parts {
            return None;
        }
        rest.single(part, &mut see)?;
    }
    rest.0.is_empty().then_some(geometry_type)
}

/// The unread part of a value.
struct Rest<'a>(&'a [u8]);

#[derive(Clone, Copy)]
struct WkbHeader {
    byte_order: ByteOrder,
    geometry_type: GeometryType,
}

impl<'a> Rest<'a> {
    #[inline]
    fn header(&mut self) -> Option<WkbHeader> {
        let ([order, code @ ..], rest) = self.0.split_first_chunk::<5>()?;
        self.0 = rest;
        let byte_order = ByteOrder::from_byte(*order).ok()?;
        Some(WkbHeader {
            byte_order,
            geometry_type: GeometryType::from_code(byte_order.number(*code))?,
        })
    }

    #[inline]
    fn count(&mut self, part: WkbHeader) -> Option<u32> {
        let (count, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(part.byte_order.number(*count))
    }

    #[inline]
    fn coordinates(&mut self, part: WkbHeader, positions: u32) -> Option<Coordinates<'a>> {
        let dimensions = part.geometry_type.dimensions;
        let size = (positions as usize).checked_mul(dimensions.position_bytes())?;
        let (bytes, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(Coordinates::new(bytes, part.byte_order, dimensions))
    }

    /// Reads a point, a line string or a polygon.
    #[inline(always)]
    fn single(
        &mut self,
        part: WkbHeader,
        see: &mut impl FnMut(GeometryKind, bool, Coordinates<'a>),
    ) -> Option<()> {
        let kind = part.geometry_type.kind;
        match kind {
            GeometryKind::Point => see(kind, false, self.coordinates(part, 1)?),
            GeometryKind::LineString => {
                let positions = self.count(part)?;
                see(kind, false, self.coordinates(part, positions)?);
            }
            GeometryKind::Polygon => {
                for ring in 0..self.count(part)? {
                    let positions = self.count(part)?;
                    see(kind, ring == 0, self.coordinates(part, positions)?);
                }
            }
            _ => return None,
        }
        Some(())
    }
}
