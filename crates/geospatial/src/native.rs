//! Describes the native encodings of GeoParquet 1.1. These are GeoArrow's encodings with separate
//! coordinates.
//!
//! ```text
//! point            Struct {x, y, …}           multipoint       List<point>
//! linestring       List<point>                multilinestring  List<linestring>
//! polygon          List<List<point>>          multipolygon     List<polygon>
//! ```

use herringbone_arrow::schema::{DataType, Field};

use crate::geoarrow::native_name;
use crate::wkb::GeometryKind;

/// Returns the number of lists around a kind's points, or `None` if the kind has no such encoding.
pub(crate) fn lists_around(kind: GeometryKind) -> Option<usize> {
    Some(match kind {
        GeometryKind::Point => 0,
        GeometryKind::LineString | GeometryKind::MultiPoint => 1,
        GeometryKind::Polygon | GeometryKind::MultiLineString => 2,
        GeometryKind::MultiPolygon => 3,
        GeometryKind::GeometryCollection | GeometryKind::Opaque(_) => return None,
    })
}

/// Returns the geometry kind of a field whose extension type is a native encoding.
pub(crate) fn kind_of(field: &Field) -> Option<GeometryKind> {
    let name = field.extension_type_name()?;
    let mut kinds = GeometryKind::KNOWN.into_iter();
    kinds.find(|kind| native_name(*kind) == Some(name) && is_array_of(field.data_type(), *kind))
}

/// Returns true if a type is the native encoding of this kind.
pub(crate) fn is_array_of(data_type: &DataType, kind: GeometryKind) -> bool {
    let Some(lists) = lists_around(kind) else {
        return false;
    };
    let mut inner = data_type;
    for _ in 0..lists {
        inner = match inner {
            DataType::List(child) | DataType::LargeList(child) => child.data_type(),
            _ => return false,
        };
    }
    let DataType::Struct(fields) = inner else {
        return false;
    };
    const ORDINATES: [&str; 4] = ["x", "y", "z", "m"];
    let is_ordinate = |name: &str| ORDINATES.contains(&name);
    let mut names = fields.iter().map(|field| field.name().as_str());
    fields.len() >= 2
        && fields
            .iter()
            .all(|field| *field.data_type() == DataType::Float64)
        && names.clone().take(2).eq(["x", "y"])
        && names.all(is_ordinate)
}
