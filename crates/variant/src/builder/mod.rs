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

/// The treatment of a field if its object already has a field with this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DuplicateFields {
    /// A second field is an error.
    #[default]
    Error,
    /// The first field stays.
    KeepFirst,
    /// The last field stays, as in JavaScript and Python.
    KeepLast,
}

/// Builds variant values one after another, each from the outside in. Use this to write values from
/// your own data, or to change a value by copying the parts to keep.
///
/// The metadata has version 1, with sorted and unique names, and every ID, offset and size has the
/// smallest width. You open and close objects and arrays one by one, so nothing recurses. Reuse a
/// builder if you can, since it remembers field names from previous values and looks them up
/// faster.
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
    /// The handle of the next value's name, set by `field` and taken by the value.
    name: Option<u32>,
    duplicates: DuplicateFields,
    limits: Limits,
}

impl VariantBuilder {
    /// Creates a builder with the default limits that rejects duplicate field names.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limits for all values.
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

    /// Builds all values with this metadata from now on, until you call
    /// [`VariantBuilder::use_own_metadata`].
    ///
    /// Values that already have this metadata are then copied byte for byte. Names missing from the
    /// metadata are an error. An unfinished value is discarded.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Metadata::name`], and with
    /// [Limit](herringbone_format::ErrorKind::Limit) if the metadata has too many bytes.
    pub fn use_metadata(&mut self, metadata: Metadata<'_>) -> Result<()> {
        self.clear();
        self.limits
            .check_metadata_bytes(metadata.as_bytes().len())?;
        self.names.use_metadata(metadata)
    }

    /// Builds each value with its own metadata again. An unfinished value is discarded.
    pub fn use_own_metadata(&mut self) {
        self.clear();
        self.names.use_own_metadata();
    }

    /// Discards an unfinished value. Call this after an error, before you build the next value.
    pub fn clear(&mut self) {
        self.tape.clear();
        self.names.clear();
        self.name = None;
    }

    /// Opens an object. The next values become its fields.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`VariantBuilder::push`], and with
    /// [Limit](herringbone_format::ErrorKind::Limit) if the value is nested too deeply.
    pub fn begin_object(&mut self) -> Result<()> {
        self.begin(Kind::Object)
    }

    /// Opens an array. The next values become its elements.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`VariantBuilder::push`], and with
    /// [Limit](herringbone_format::ErrorKind::Limit) if the value is nested too deeply.
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

    /// Sets the field name of the next value, which goes into the open object.
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if no object is open, if the
    /// previous field has no value yet, or if given metadata lacks the name. A duplicate name fails
    /// too, if duplicates are an error.
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
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if none is open, if a field
    /// has no value, or for duplicate names if they are an error.
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

    /// Appends a value, keeping its exact type, such as `5_i64`, `"text"` or `Value::Date(0)`.
    ///
    /// If it is an object or array, everything in it is copied, including the names.
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) for a second value at the
    /// top, for a field without a name, and for a decimal with more digits than its type allows.
    /// Fails with [Limit](herringbone_format::ErrorKind::Limit) if the value gets too large. For
    /// objects and arrays, errors from the walk over them are returned too.
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

    /// Appends an integer in the narrowest type that holds it.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`VariantBuilder::push`].
    #[inline]
    pub fn push_int(&mut self, value: i64) -> Result<()> {
        let name = self.place()?;
        encode::push_int(self.tape.data(), value);
        self.scalar(name)
    }

    /// Appends a decimal in the narrowest type that holds its digits.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`VariantBuilder::push`].
    pub fn push_decimal(&mut self, value: Decimal) -> Result<()> {
        self.push(match value.width() {
            4 => Value::Decimal4(value),
            8 => Value::Decimal8(value),
            _ => Value::Decimal16(value),
        })
    }

    /// Appends a copy of another value, with everything in it.
    ///
    /// If the value has the metadata given to [`VariantBuilder::use_metadata`], its bytes are
    /// copied without being inspected.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`VariantBuilder::push`]. Errors from the walk over the value are
    /// returned too.
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

    /// Copies a primitive value, or opens an object or array and adds a level for the values in it.
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
    /// Fails for the reasons of [`VariantBuilder::finish_into`].
    pub fn finish(&mut self) -> Result<VariantBuf> {
        let (mut metadata, mut value) = (Vec::new(), Vec::new());
        self.finish_into(&mut metadata, &mut value)?;
        Ok(VariantBuf::from_parts(metadata, value))
    }

    /// Appends the metadata and the value to your buffers, leaving the builder ready for the next
    /// value.
    ///
    /// If you have given metadata, it is appended unchanged.
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if there is no value, or if
    /// an object or array is still open, and with [Limit](herringbone_format::ErrorKind::Limit) if
    /// the value or its metadata is too large. After an error nothing has been appended, and the
    /// value is discarded.
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

    /// Checks that a value is allowed here. Returns the name's handle if the value is in an object.
    #[inline]
    fn place(&mut self) -> Result<u32> {
        self.limits.check_bytes(self.tape.len() + 1)?;
        self.tape.place(self.name.take())
    }

    /// Turns the bytes just appended to the data into a value.
    #[inline]
    fn scalar(&mut self, name: u32) -> Result<()> {
        self.tape.scalar(name);
        self.limits.check_bytes(self.tape.data().len())
    }
}
