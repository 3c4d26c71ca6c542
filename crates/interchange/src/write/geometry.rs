//! Writes geometries as well-known text.

use herringbone::geospatial::geoarrow::{EXTENSION_NAME, FORMER_EXTENSION_NAME};
use herringbone::geospatial::wkb::{Event, Events};
use herringbone::geospatial::wkt;
use herringbone_arrow::array::{Array, ArrayAccessor, cast::AsArray as _};
use herringbone_arrow::schema::{DataType, Field};

use super::scalar::quoted;
use super::text::push_base64;
use super::value::{Boxed, Value};

/// Returns true if a field's values are geometries in well-known binary.
pub fn is_geometry(field: &Field) -> bool {
    let is_known = |name: &str| [EXTENSION_NAME, FORMER_EXTENSION_NAME].contains(&name);
    field.extension_type_name().is_some_and(is_known)
}

/// Returns the geometries in an array of bytes, whatever its layout is.
pub fn of<'a>(array: &'a dyn Array) -> Option<Boxed<'a>> {
    Some(match array.data_type() {
        DataType::Binary => Box::new(Wkt(array.as_binary::<i32>())),
        DataType::LargeBinary => Box::new(Wkt(array.as_binary::<i64>())),
        DataType::BinaryView => Box::new(Wkt(array.as_binary_view())),
        _ => return None,
    })
}

struct Wkt<A>(A);

impl<'a, A: ArrayAccessor<Item = &'a [u8]>> Value for Wkt<A> {
    fn json(&self, row: usize, out: &mut String) {
        quoted(self, row, out);
    }

    fn text(&self, row: usize, out: &mut String) {
        push_wkt(out, self.0.value(row));
    }
}

/// Appends a value as well-known text. Values that WKT can't represent fall back to base64, like
/// other bytes. These are malformed values, curves and surfaces, and also the extended form,
/// because its SRID would get lost.
pub fn push_wkt(out: &mut String, value: &[u8]) {
    let start = out.len();
    let has_srid = matches!(
        Events::new(value).next(),
        Some(Ok(Event::Start(header))) if header.srid.is_some()
    );
    if has_srid || wkt::write(value, out).is_err() {
        out.truncate(start);
        push_base64(out, value);
    }
}
