//! A view over one value and its metadata.

use herringbone_format::Result;

use crate::container::{Container, ends_early};
use crate::extent::size_of;
use crate::limits::Limits;
use crate::metadata::Metadata;
use crate::types::VariantType;
use crate::value::{Value, decode};
use crate::{array::Array, object::Object};

/// A view over the bytes of a value and of its metadata. It is small, and copied freely.
///
/// *Variant Binary Encoding.* A view looks at bytes when it is asked to, and checks what it looks
/// at: whatever the bytes are, every method gives a result or an error, in time that does not
/// depend on the size of what it passes over. [`Variant::validated`] checks all at once; after it,
/// no method of the value, or of values in it, gives an error.
///
/// ```
/// use herringbone_variant::{Value, Variant};
///
/// // {"a": 5}: one name; an object of one field, its id, two offsets, and an int8.
/// let metadata = [0x11, 1, 0, 1, b'a'];
/// let value = [0x02, 1, 0, 0, 2, 0x0C, 5];
/// let variant = Variant::new(&metadata, &value)?;
/// let a = variant.field("a")?.unwrap();
/// assert!(matches!(a.value()?, Value::Int8(5)));
/// # Ok::<(), herringbone_format::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Variant<'a> {
    metadata: Metadata<'a>,
    /// The value without what follows it, never empty.
    bytes: &'a [u8],
}

impl Variant<'static> {
    /// The null that is a value.
    pub const NULL: Self = Variant {
        metadata: Metadata::EMPTY,
        bytes: &[0],
    };
}

impl<'a> Variant<'a> {
    /// A view that checks what it is asked for. Bytes behind the value are ignored.
    ///
    /// # Errors
    ///
    /// A header of the metadata or of the value that is wrong, or asks for more bytes than there
    /// are.
    pub fn new(metadata: &'a [u8], value: &'a [u8]) -> Result<Self> {
        Self::with_metadata(Metadata::new(metadata)?, value)
    }

    /// As [`Variant::new`], with metadata that was looked at before.
    ///
    /// # Errors
    ///
    /// A header of the value that is wrong, or asks for more bytes than there are.
    pub fn with_metadata(metadata: Metadata<'a>, value: &'a [u8]) -> Result<Self> {
        let size = size_of(value)?.unwrap_or(value.len());
        let bytes = value.get(..size).ok_or_else(ends_early)?;
        Ok(Self { metadata, bytes })
    }

    /// A view over bytes that were checked as a whole: see [`Variant::validate`].
    ///
    /// # Errors
    ///
    /// What [`Variant::new`] and [`Variant::validate`] say.
    pub fn validated(metadata: &'a [u8], value: &'a [u8], limits: &Limits) -> Result<Self> {
        let variant = Self::new(metadata, value)?;
        variant.validate(limits)?;
        Ok(variant)
    }

    /// A value of an object or array that was cut out of it.
    #[inline]
    pub(crate) fn from_parts(metadata: Metadata<'a>, bytes: &'a [u8]) -> Self {
        Self { metadata, bytes }
    }

    /// Checks the metadata and the whole value: every offset and id, all text, that fields are in
    /// order and have different names, that values do not share bytes, and `limits`.
    ///
    /// Objects may be ordered by the UTF-8 or by the UTF-16 form of their names, as some writers do.
    /// Values of unknown types are passed over.
    ///
    /// # Errors
    ///
    /// What of this does not hold.
    pub fn validate(&self, limits: &Limits) -> Result<()> {
        crate::validate::validate(*self, limits)
    }

    /// The metadata of this value, and of all values in it.
    #[must_use]
    pub fn metadata(&self) -> Metadata<'a> {
        self.metadata
    }

    /// The bytes of this value alone; with its metadata they are a value themselves.
    #[must_use]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Its type, from its first byte.
    #[inline]
    #[must_use]
    pub fn variant_type(&self) -> VariantType {
        VariantType::of_header(self.header())
    }

    #[inline]
    pub(crate) fn header(&self) -> u8 {
        self.bytes.first().copied().unwrap_or(0)
    }

    /// The value, decoded; objects and arrays are views again.
    ///
    /// # Errors
    ///
    /// Text that is not UTF-8, a decimal whose scale is above 38, and objects and arrays that ask
    /// for more bytes than there are.
    pub fn value(&self) -> Result<Value<'a>> {
        decode(self, self.header())
    }

    /// Whether it is the null that is a value.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.header() == 0
    }

    /// It as an object, or `None` if it is something else.
    ///
    /// # Errors
    ///
    /// As [`Variant::value`].
    #[inline]
    pub fn as_object(&self) -> Result<Option<Object<'a>>> {
        if self.variant_type() != VariantType::Object {
            return Ok(None);
        }
        let container = Container::new(self.metadata, self.bytes)?;
        Ok(Some(Object::new(container)))
    }

    /// It as an array, or `None` if it is something else.
    ///
    /// # Errors
    ///
    /// As [`Variant::value`].
    #[inline]
    pub fn as_array(&self) -> Result<Option<Array<'a>>> {
        if self.variant_type() != VariantType::Array {
            return Ok(None);
        }
        let container = Container::new(self.metadata, self.bytes)?;
        Ok(Some(Array::new(container)))
    }

    /// The field with this name, or `None` if it is missing or this is no object.
    ///
    /// # Errors
    ///
    /// As [`Object::get`].
    #[inline]
    pub fn field(&self, name: &str) -> Result<Option<Self>> {
        match self.as_object()? {
            Some(object) => object.get(name),
            None => Ok(None),
        }
    }

    /// The element at this place, counted from 0, or `None` if there are fewer or this is no array.
    ///
    /// # Errors
    ///
    /// As [`Array::get`].
    #[inline]
    pub fn element(&self, index: usize) -> Result<Option<Self>> {
        match self.as_array()? {
            Some(array) => array.get(index),
            None => Ok(None),
        }
    }
}
