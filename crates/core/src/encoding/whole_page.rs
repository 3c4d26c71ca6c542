//! The encoder for encodings that need all of a page's values before writing the first byte.

use herringbone_format::Result;

use super::physical_values::Values;
use super::{ValueEncoder, mismatch};

/// A number type with a slice in [`Values`].
pub(super) trait Number: Copy + Send + Sync {
    /// Returns the slice of this type, or `None` if the values have another type.
    fn slice<'a>(values: &Values<'a>) -> Option<&'a [Self]>;
}

macro_rules! numbers {
    ($($number:ty: $values:ident),*) => {$(
        impl Number for $number {
            fn slice<'a>(values: &Values<'a>) -> Option<&'a [Self]> {
                match values {
                    Values::$values(values) => Some(values),
                    _ => None,
                }
            }
        }
    )*};
}

numbers!(i32: Int32, i64: Int64, f32: Float, f64: Double);

/// An encoding that encodes all values of a page at once.
pub(super) trait EncodePage<T>: Send + Sync {
    /// Appends the values section for a page with these values to `out`.
    fn encode(&mut self, values: &[T], out: &mut Vec<u8>);
}

/// An encoder that collects values until the page ends and then encodes them all at once.
pub(super) struct WholePage<T, E> {
    values: Vec<T>,
    encoding: E,
}

impl<T, E> WholePage<T, E> {
    /// Creates an encoder without any values.
    pub(super) fn new(encoding: E) -> Self {
        Self {
            values: Vec::new(),
            encoding,
        }
    }
}

impl<T: Number, E: EncodePage<T>> ValueEncoder for WholePage<T, E> {
    fn append(&mut self, values: &Values<'_>) -> Result<()> {
        self.values
            .extend_from_slice(T::slice(values).ok_or_else(mismatch)?);
        Ok(())
    }

    fn page_bytes(&self) -> usize {
        size_of_val(self.values.as_slice())
    }

    fn finish_page(&mut self, out: &mut Vec<u8>, _: &mut Vec<usize>) {
        self.encoding.encode(&self.values, out);
        self.values.clear();
    }

    fn heap_bytes(&self) -> usize {
        self.values.capacity() * size_of::<T>()
    }
}
