//! Points, which many columns have alone.

use super::{ByteOrder, Coordinates, GeometryKind, GeometryType};

/// The type and the position of a value that is a point in its ISO form, with nothing after it;
/// `None` of any other. It gives what [`Events`](super::Events) give, sooner.
#[inline]
pub(crate) fn point(value: &[u8]) -> Option<(GeometryType, Coordinates<'_>)> {
    let ([order, code @ ..], ordinates) = value.split_first_chunk::<5>()?;
    let byte_order = ByteOrder::from_byte(*order).ok()?;
    let geometry_type = GeometryType::from_code(byte_order.number(*code))?;
    let dimensions = geometry_type.dimensions;
    let is_point = geometry_type.kind == GeometryKind::Point;
    (is_point && ordinates.len() == dimensions.position_bytes()).then(|| {
        let coordinates = Coordinates::new(ordinates, byte_order, dimensions);
        (geometry_type, coordinates)
    })
}
