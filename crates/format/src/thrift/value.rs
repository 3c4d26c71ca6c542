//! Field types, in both directions.

use super::{CompactReader, CompactWriter, Field, Wire};
use crate::Result;

/// A type for fields and list elements.
pub(crate) trait Value: Sized {
    /// The type that [`Self::write`] writes.
    const WIRE: Wire;

    /// Returns true if a field of type `wire` can be read as this type. Anything else must be another program's private
    /// field under the same id, so we skip it like an unknown id.
    #[inline]
    fn accepts(wire: Wire) -> bool {
        wire == Self::WIRE
    }

    /// Reads a value whose header has the type `wire`.
    fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self>;

    /// Writes the value without a header.
    fn write(&self, writer: &mut CompactWriter);

    /// Reads a value in a list. This differs only for booleans.
    fn read_element(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
        Self::read(reader, wire)
    }

    /// Writes the value as a field. This differs only for booleans.
    fn write_field(&self, writer: &mut CompactWriter, id: i16) {
        writer.field(id, Self::WIRE);
        self.write(writer);
    }
}

/// Implements `Value` for an integer type. An integer can be read from any width if its value fits, because writers
/// differ.
macro_rules! integer_value {
    ($($type:ty, $wire:ident;)+) => { $(
        impl Value for $type {
            const WIRE: Wire = Wire::$wire;

            #[inline]
            fn accepts(wire: Wire) -> bool {
                wire.is_integer()
            }

            #[inline]
            fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
                let value = reader.integer(wire)?;
                Self::try_from(value).map_err(|_| {
                    reader.corrupt(format!(concat!("{} is not a valid ", stringify!($type)), value))
                })
            }

            fn write(&self, writer: &mut CompactWriter) {
                writer.integer(i64::from(*self));
            }
        }
    )+ };
}

integer_value! { i16, I16; i32, I32; i64, I64; }

impl Value for i8 {
    const WIRE: Wire = Wire::I8;

    fn accepts(wire: Wire) -> bool {
        wire.is_integer()
    }

    fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
        let value = reader.integer(wire)?;
        Self::try_from(value).map_err(|_| reader.corrupt(format!("{value} is not an i8")))
    }

    fn write(&self, writer: &mut CompactWriter) {
        writer.byte(self.cast_unsigned());
    }
}

impl Value for bool {
    const WIRE: Wire = Wire::BooleanTrue;

    fn accepts(wire: Wire) -> bool {
        matches!(wire, Wire::BooleanTrue | Wire::BooleanFalse)
    }

    fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
        reader.boolean(wire)
    }

    fn write(&self, writer: &mut CompactWriter) {
        writer.byte(if *self { 1 } else { 2 });
    }

    fn read_element(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
        reader.boolean(wire)?;
        reader.boolean_element()
    }

    fn write_field(&self, writer: &mut CompactWriter, id: i16) {
        let wire = if *self {
            Wire::BooleanTrue
        } else {
            Wire::BooleanFalse
        };
        writer.field(id, wire);
    }
}

impl Value for f64 {
    const WIRE: Wire = Wire::Double;

    fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
        reader.expect(wire, Wire::Double)?;
        reader.double()
    }

    fn write(&self, writer: &mut CompactWriter) {
        writer.double(*self);
    }
}

impl Value for String {
    const WIRE: Wire = Wire::Binary;

    fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
        reader.expect(wire, Wire::Binary)?;
        reader.string().map(Self::from)
    }

    fn write(&self, writer: &mut CompactWriter) {
        writer.binary(self.as_bytes());
    }
}

impl Value for Vec<u8> {
    const WIRE: Wire = Wire::Binary;

    fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
        reader.expect(wire, Wire::Binary)?;
        reader.binary().map(Self::from)
    }

    fn write(&self, writer: &mut CompactWriter) {
        writer.binary(self);
    }
}

impl<T: Value> Value for Vec<T> {
    const WIRE: Wire = Wire::List;

    fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
        reader.expect(wire, Wire::List)?;
        let (wire, size) = reader.list()?;
        // The size is bounded by the bytes left, but an element can be larger in memory than its one byte in the file.
        // So we reserve no more memory than there are bytes left, and grow as we read elements.
        let reserve = size.min(reader.remaining() / size_of::<T>().max(1) + 1);
        let mut values = Self::with_capacity(reserve);
        for _ in 0..size {
            values.push(T::read_element(reader, wire)?);
        }
        Ok(values)
    }

    fn write(&self, writer: &mut CompactWriter) {
        writer.list(T::WIRE, self.len());
        for value in self {
            value.write(writer);
        }
    }
}

/// A struct kept in its encoded form, that is, its bytes in the compact protocol including the final zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawStruct(pub Vec<u8>);

impl Value for RawStruct {
    const WIRE: Wire = Wire::Struct;

    fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
        reader.expect(wire, Wire::Struct)?;
        reader.raw_struct().map(|bytes| Self(bytes.to_vec()))
    }

    fn write(&self, writer: &mut CompactWriter) {
        writer.raw(&self.0);
    }
}

/// Reads a union, that is, a struct with one set field. Returns `None` if no field is set, and fails if two fields are
/// set.
pub(crate) fn read_union<T>(
    reader: &mut CompactReader<'_>,
    wire: Wire,
    mut variant: impl FnMut(&mut CompactReader<'_>, Field) -> Result<T>,
) -> Result<Option<T>> {
    reader.expect(wire, Wire::Struct)?;
    let (mut value, mut last) = (None, 0);
    while let Some(field) = reader.field(&mut last)? {
        if value.is_some() {
            return Err(reader.corrupt("union with more than one field"));
        }
        value = Some(variant(reader, field)?);
    }
    Ok(value)
}

/// Writes a union with its field `id` set to `variant`, or no field set if `id` is 0.
pub(crate) fn write_union<T: Value>(writer: &mut CompactWriter, id: i16, variant: &T) {
    writer.begin_struct();
    if id != 0 {
        variant.write_field(writer, id);
    }
    writer.end_struct();
}
