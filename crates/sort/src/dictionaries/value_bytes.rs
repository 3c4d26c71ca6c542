//! Views a dictionary's values as bytes, so that equal values can be found by hashing.

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{Array as _, ArrayRef};
use herringbone_arrow::buffer::Buffer;
use herringbone_arrow::schema::DataType;

/// An array's values as bytes.
pub(super) enum Bytes<'a> {
    Fixed(Buffer, usize),
    Any(Box<dyn Fn(usize) -> &'a [u8] + 'a>),
}

impl Bytes<'_> {
    pub(super) fn value(&self, ordinal: usize) -> &[u8] {
        match self {
            Self::Fixed(values, width) => {
                let range = width * ordinal..width * (ordinal + 1);
                values.get(range).unwrap_or_default()
            }
            Self::Any(value) => value(ordinal),
        }
    }
}

/// Returns an array's values as bytes, or `None` if the type has no byte view.
pub(super) fn bytes_of(array: &ArrayRef) -> Option<Bytes<'_>> {
    Some(match array.data_type() {
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            Bytes::Any(Box::new(|ordinal| array.value(ordinal).as_bytes()))
        }
        DataType::LargeUtf8 => {
            let array = array.as_string::<i64>();
            Bytes::Any(Box::new(|ordinal| array.value(ordinal).as_bytes()))
        }
        DataType::Utf8View => {
            let array = array.as_string_view();
            Bytes::Any(Box::new(|ordinal| array.value(ordinal).as_bytes()))
        }
        DataType::Binary => {
            let array = array.as_binary::<i32>();
            Bytes::Any(Box::new(|ordinal| array.value(ordinal)))
        }
        DataType::LargeBinary => {
            let array = array.as_binary::<i64>();
            Bytes::Any(Box::new(|ordinal| array.value(ordinal)))
        }
        DataType::BinaryView => {
            let array = array.as_binary_view();
            Bytes::Any(Box::new(|ordinal| array.value(ordinal)))
        }
        DataType::FixedSizeBinary(_) => {
            let array = array.as_fixed_size_binary();
            Bytes::Any(Box::new(|ordinal| array.value(ordinal)))
        }
        other => {
            let width = other.primitive_width()?;
            let data = array.to_data();
            let values = data.buffers().first()?;
            Bytes::Fixed(values.slice(width * data.offset()), width)
        }
    })
}
