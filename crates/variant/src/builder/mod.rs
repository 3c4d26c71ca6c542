//! Builds values from their parts.

mod encode;
mod fields;
mod layout;
mod names;
mod tape;

use herringbone_format::{Error, Result};

use crate::children::Children;
use crate::decimal::Decimal;
use crate::limits::Limits;
use crate::metadata::Metadata;
use crate::owned::VariantBuf;
use crate::value::Value;
use crate::variant::Variant;
use names::Names;
use tape::{Kind, Tape};

/// The treatment of a field whose name already occurs in its object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DuplicateFields {
    /// It is an error.
    #[default]
    Error,
    /// The first field stays.
    KeepFirst,
    /// The last field stays, as in JavaScript and Python.
    KeepLast,
}

/// Builds one value after another, each from the outside in.
///
/// Metadata is version 1, with sorted and unique names. Every ID, offset and size has the smallest width.
/// Objects and arrays are opened and closed one by one, so nothing recurses. A builder remembers the names of
/// previous values, which makes it faster when it is reused.
///
/// *Variant Binary Encoding.*
///
/// ```
/// use herringbone::variant::{Value, VariantBuilder};
///
/// let mut builder = VariantBuilder::new();
/// builder.begin_object()?;
/// builder.field("id")?;
/// builder.push_int(7)?;
/// builder.field("tags")?;
/// builder.begin_array()?;
/// builder.push("new")?;
/// builder.push(Value::Null)?;
/// builder.end()?;
/// builder.end()?;
/// let variant = builder.finish()?;
/// assert_eq!(variant.as_variant().field("tags")?.unwrap().as_array()?.unwrap().len(), 2);
/// # Ok::<(), herringbone::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct VariantBuilder {
    names: Names,
    tape: Tape,
    /// The name of the next value, in an object.
    name: Option<u32>,
    duplicates: DuplicateFields,
    limits: Limits,
}

impl VariantBuilder {
    /// Creates a builder with the default limits. Duplicate field names are an error.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the treatment of fields with the same name.
    #[must_use]
    pub fn duplicates(mut self, duplicates: DuplicateFields) -> Self {
        self.duplicates = duplicates;
        self
    }

    /// Builds values with this metadata from now on, until [`VariantBuilder::use_own_metadata`].
    ///
    /// Values with the same metadata are then copied byte for byte, and a name missing from it is an error.
    /// Discards an unfinished value.
    ///
    /// # Errors
    ///
    /// See [`Metadata::name`]. Fails if the metadata exceeds its limit.
    pub fn use_metadata(&mut self, metadata: Metadata<'_>) -> Result<()> {
        self.clear();
        self.limits
            .check_metadata_bytes(metadata.as_bytes().len())?;
        self.names.use_metadata(metadata)
    }

    /// Builds each value with its own metadata again. Discards an unfinished value.
    pub fn use_own_metadata(&mut self) {
        self.clear();
        self.names.use_own_metadata();
    }

    /// Discards an unfinished value. This is necessary after an error.
    pub fn clear(&mut self) {
        self.tape.clear();
        self.names.clear();
        self.name = None;
    }

    /// Opens an object.
    ///
    /// # Errors
    ///
    /// See [`VariantBuilder::push`]. Fails at the depth limit.
    pub fn begin_object(&mut self) -> Result<()> {
        self.begin(Kind::Object)
    }

    /// Opens an array.
    ///
    /// # Errors
    ///
    /// See [`VariantBuilder::push`]. Fails at the depth limit.
    pub fn begin_array(&mut self) -> Result<()> {
        self.begin(Kind::Array)
    }

    fn begin(&mut self, kind: Kind) -> Result<()> {
        self.limits.check_depth(self.tape.depth() + 1)?;
        let name = self.place()?;
        let serial = self.names.next_serial();
        self.tape.open(kind, name, serial);
        Ok(())
    }

    /// Sets the field name of the next value in the open object.
    ///
    /// # Errors
    ///
    /// Fails if no object is open, or if the previous field has no value yet. Fails for a duplicate name if
    /// duplicates are an error, and for a name missing from given metadata.
    #[inline]
    pub fn field(&mut self, name: &str) -> Result<()> {
        let Some(object) = self.tape.open_object() else {
            return Err(Error::argument(
                "a variant field was named, but no object is open",
            ));
        };
        if self.name.is_some() {
            return Err(Error::argument(
                "a variant field was named, but has no value",
            ));
        }
        let (id, seen) = self.names.field(name, object.serial)?;
        if seen.is_certain() && self.duplicates == DuplicateFields::Error {
            return Err(fields::duplicate(name));
        }
        object.has_doubtful_names |= seen.is_possible();
        self.name = Some(id);
        Ok(())
    }

    /// Closes the innermost open object or array.
    ///
    /// # Errors
    ///
    /// Fails if none is open, if a field has no value, or for duplicate names if they are an error.
    pub fn end(&mut self) -> Result<()> {
        if self.name.is_some() {
            return Err(Error::argument(
                "a variant field was named, but has no value",
            ));
        }
        if self
            .tape
            .open_object()
            .is_some_and(|open_object| open_object.has_doubtful_names)
        {
            self.drop_duplicates()?;
        }
        self.tape.close()
    }

    /// Appends a value: `5_i64`, `"text"`, `Value::Date(0)`. Its type is not changed.
    ///
    /// Objects and arrays are copied, including their names.
    ///
    /// # Errors
    ///
    /// Fails for a second value at the top, for a field without a name, and at the size limit. Fails for a
    /// decimal with more digits than its type allows. For objects and arrays, errors of the walk are returned
    /// too.
    pub fn push<'v>(&mut self, value: impl Into<Value<'v>>) -> Result<()> {
        match value.into() {
            Value::Object(object) => self.push_variant(object.as_variant()),
            Value::Array(array) => self.push_variant(array.as_variant()),
            value => {
                let name = self.place()?;
                encode::push_primitive(self.tape.data(), &value)?;
                self.scalar(name)
            }
        }
    }

    /// Appends an integer in the narrowest type that fits it.
    ///
    /// # Errors
    ///
    /// See [`VariantBuilder::push`].
    #[inline]
    pub fn push_int(&mut self, value: i64) -> Result<()> {
        let name = self.place()?;
        encode::push_int(self.tape.data(), value);
        self.scalar(name)
    }

    /// Appends a decimal in the narrowest type that fits its digits.
    ///
    /// # Errors
    ///
    /// See [`VariantBuilder::push`].
    pub fn push_decimal(&mut self, value: Decimal) -> Result<()> {
        self.push(match value.width() {
            4 => Value::Decimal4(value),
            8 => Value::Decimal8(value),
            _ => Value::Decimal16(value),
        })
    }

    /// Appends a copy of another value, with everything in it.
    ///
    /// If it has the metadata given to [`VariantBuilder::use_metadata`], its bytes are copied without
    /// inspection.
    ///
    /// # Errors
    ///
    /// See [`VariantBuilder::push`]. Errors of a walk over the value are returned too.
    pub fn push_variant(&mut self, variant: Variant<'_>) -> Result<()> {
        if self.names.are(variant.metadata()) {
            let name = self.place()?;
            self.tape.data().extend_from_slice(variant.as_bytes());
            return self.scalar(name);
        }
        let mut levels = Vec::new();
        self.copy(variant, &mut levels)?;
        while let Some(children) = levels.last_mut() {
            if let Some(id) = children.next_field_id() {
                self.field(children.container().metadata().name(id)?)?;
            }
            match children.next()? {
                Some(value) => self.copy(value, &mut levels)?,
                None => {
                    self.end()?;
                    drop(levels.pop());
                }
            }
        }
        Ok(())
    }

    /// Copies a primitive value, or opens an object or array and adds its level.
    fn copy<'v>(&mut self, variant: Variant<'v>, levels: &mut Vec<Children<'v>>) -> Result<()> {
        match variant.value()? {
            Value::Object(object) => {
                self.begin_object()?;
                levels.push(object.children());
            }
            Value::Array(array) => {
                self.begin_array()?;
                levels.push(array.children());
            }
            _ => {
                let name = self.place()?;
                self.tape.data().extend_from_slice(variant.as_bytes());
                self.scalar(name)?;
            }
        }
        Ok(())
    }

    /// Returns the value as a [`VariantBuf`].
    ///
    /// # Errors
    ///
    /// See [`VariantBuilder::finish_into`].
    pub fn finish(&mut self) -> Result<VariantBuf> {
        let (mut metadata, mut value) = (Vec::new(), Vec::new());
        self.finish_into(&mut metadata, &mut value)?;
        Ok(VariantBuf::from_parts(metadata, value))
    }

    /// Appends the metadata and the value to buffers, and prepares for the next value.
    ///
    /// Given metadata is appended unchanged.
    ///
    /// # Errors
    ///
    /// Fails if there is no value, if an object or array is still open, and at the size limits. In this case
    /// nothing is appended to the buffers, and the value is discarded.
    pub fn finish_into(&mut self, metadata: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<()> {
        let result = self.write(metadata, value);
        self.clear();
        result
    }

    fn write(&mut self, metadata: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<()> {
        self.tape.check_complete()?;
        self.names.number();
        let numbers = self.names.numbers();
        let size = self.tape.measure(numbers.ids)?;
        self.limits.check_bytes(size)?;
        self.limits.check_metadata_bytes(self.names.size())?;
        value.reserve(size);
        self.tape.write(&numbers, value);
        self.names.write(metadata);
        Ok(())
    }

    /// Checks the place of the next value, and returns the handle of its name if it is in an object.
    #[inline]
    fn place(&mut self) -> Result<u32> {
        self.limits.check_bytes(self.tape.len() + 1)?;
        self.tape.place(self.name.take())
    }

    /// Records the bytes appended to the data as a value.
    #[inline]
    fn scalar(&mut self, name: u32) -> Result<()> {
        self.tape.scalar(name);
        self.limits.check_bytes(self.tape.data().len())
    }
}
