//! A view over one value and its metadata.

use herringbone_format::Result;

use crate::container::{Container, ends_early};
use crate::extent::size_of;
use crate::limits::Limits;
use crate::metadata::Metadata;
use crate::types::VariantType;
use crate::value::{Value, decode};
use crate::{array::Array, object::Object};

/// A view over a value's bytes and its metadata. It is small and cheap to copy.
///
/// *Variant Binary Encoding.* A view reads bytes only on demand, and checks the bytes that it
/// reads. Whatever the bytes are, every method returns a result or an error. Skipped parts cost no
/// time, however large they are. [`Variant::validated`] checks everything at once. After that,
/// reading the value and its nested values never returns an error.
///
/// ```
/// use herringbone::variant::{Value, Variant};
///
/// // {"a": 5}: one name; an object of one field, its id, two offsets, and an int8.
/// let metadata = [0x11, 1, 0, 1, b'a'];
/// let value = [0x02, 1, 0, 0, 2, 0x0C, 5];
/// let variant = Variant::new(&metadata, &value)?;
/// let a = variant.field("a")?.unwrap();
/// assert!(matches!(a.value()?, Value::Int8(5)));
/// # Ok::<(), herringbone::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Variant<'a> {
    metadata: Metadata<'a>,
    /// The value's bytes, without any bytes that follow it. This is never empty.
    bytes: &'a [u8],
}

impl Variant<'static> {
    /// The variant null, which is a value.
    pub const NULL: Self = Variant {
        metadata: Metadata::EMPTY,
        bytes: &[0],
    };
}

impl<'a> Variant<'a> {
    /// Creates a view that checks the bytes when it reads them. Bytes after the value are ignored.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Metadata::new`] and [`Variant::with_metadata`].
    pub fn new(metadata: &'a [u8], value: &'a [u8]) -> Result<Self> {
        Self::with_metadata(Metadata::new(metadata)?, value)
    }

    /// Creates a view as [`Variant::new`] does, but with metadata whose header has already been
    /// read.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if the value's header is
    /// invalid, or if the value needs more bytes than there are.
    pub fn with_metadata(metadata: Metadata<'a>, value: &'a [u8]) -> Result<Self> {
        let size = size_of(value)?.unwrap_or(value.len());
        let bytes = value.get(..size).ok_or_else(ends_early)?;
        Ok(Self { metadata, bytes })
    }

    /// Creates a view over bytes after checking all of them with [`Variant::validate`].
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Variant::new`] and [`Variant::validate`].
    pub fn validated(metadata: &'a [u8], value: &'a [u8], limits: &Limits) -> Result<Self> {
        let variant = Self::new(metadata, value)?;
        variant.validate(limits)?;
        Ok(variant)
    }

    /// Creates a view over already delimited bytes, such as a value in an object or array.
    #[inline]
    pub(crate) fn from_parts(metadata: Metadata<'a>, bytes: &'a [u8]) -> Self {
        Self { metadata, bytes }
    }

    /// Checks the metadata and the whole value. This covers every offset and ID, all text, the
    /// order and uniqueness of fields, and `limits`. Values must not share bytes either.
    ///
    /// Objects can be ordered by the UTF-8 or the UTF-16 form of their names, because some writers
    /// use the latter. Values of unknown types are skipped.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if the bytes are invalid, and
    /// with [Limit](herringbone_format::ErrorKind::Limit) if they exceed one of the limits.
    pub fn validate(&self, limits: &Limits) -> Result<()> {
        crate::validate::validate(*self, limits)
    }

    /// Returns the metadata of this value, and of all values in it.
    #[must_use]
    pub fn metadata(&self) -> Metadata<'a> {
        self.metadata
    }

    /// Returns the bytes of this value alone. Together with the metadata, they are a complete
    /// value.
    #[must_use]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the value's type, which its first byte encodes.
    #[inline]
    #[must_use]
    pub fn variant_type(&self) -> VariantType {
        VariantType::of_header(self.header())
    }

    #[inline]
    pub(crate) fn header(&self) -> u8 {
        self.bytes.first().copied().unwrap_or(0)
    }

    /// Decodes the value. An object or array is a view again.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) for text that is not UTF-8, for
    /// a decimal whose scale is above 38, and for an object or array that needs more bytes than
    /// there are.
    pub fn value(&self) -> Result<Value<'a>> {
        decode(self, self.header())
    }

    /// Returns true if the value is the variant null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.header() == 0
    }

    /// Returns the value as an object, or `None` if it has another type.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Variant::value`].
    #[inline]
    pub fn as_object(&self) -> Result<Option<Object<'a>>> {
        if self.variant_type() != VariantType::Object {
            return Ok(None);
        }
        let container = Container::new(self.metadata, self.bytes)?;
        Ok(Some(Object::new(container)))
    }

    /// Returns the value as an array, or `None` if it has another type.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Variant::value`].
    #[inline]
    pub fn as_array(&self) -> Result<Option<Array<'a>>> {
        if self.variant_type() != VariantType::Array {
            return Ok(None);
        }
        let container = Container::new(self.metadata, self.bytes)?;
        Ok(Some(Array::new(container)))
    }

    /// Returns the field with this name, or `None` if it is missing or the value is not an object.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Variant::as_object`] and [`Object::get`].
    #[inline]
    pub fn field(&self, name: &str) -> Result<Option<Self>> {
        match self.as_object()? {
            Some(object) => object.get(name),
            None => Ok(None),
        }
    }

    /// Returns the element at `index`, counted from 0, or `None` if the array is shorter or the
    /// value is not an array.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Variant::as_array`] and [`Array::get`].
    #[inline]
    pub fn element(&self, index: usize) -> Result<Option<Self>> {
        match self.as_array()? {
            Some(array) => array.get(index),
            None => Ok(None),
        }
    }
}
