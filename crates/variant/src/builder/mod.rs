//! Values from their parts.

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

/// What becomes of a field whose name its object has already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DuplicateFields {
    /// It is an error.
    #[default]
    Error,
    /// The first one stays.
    KeepFirst,
    /// The last one stays, as in JavaScript and Python.
    KeepLast,
}

/// Builds one value after the other, each from the outside in.
///
/// Metadata is version 1, its names sorted and unique; every id, offset and size has the smallest
/// width. Objects and arrays are opened and closed one by one, so nothing recurses. A builder that
/// is used for many values knows the names of those before, and is faster for it.
///
/// *Variant Binary Encoding.*
///
/// ```
/// use herringbone_variant::{Value, VariantBuilder};
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
/// # Ok::<(), herringbone_format::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct VariantBuilder {
    names: Names,
    tape: Tape,
    /// The name of the value that comes next, in an object.
    name: Option<u32>,
    duplicates: DuplicateFields,
    limits: Limits,
}

impl VariantBuilder {
    /// A builder with the default limits, for which a second field of a name is an error.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With these limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// With this rule for fields of the same name.
    #[must_use]
    pub fn with_duplicates(mut self, duplicates: DuplicateFields) -> Self {
        self.duplicates = duplicates;
        self
    }

    /// Builds values with this metadata from now on, until [`VariantBuilder::use_own_metadata`].
    ///
    /// Values of the same metadata are then copied as they are, and a name that it lacks is an
    /// error. Forgets a value that was begun.
    ///
    /// # Errors
    ///
    /// As [`Metadata::name`].
    pub fn use_metadata(&mut self, metadata: Metadata<'_>) -> Result<()> {
        self.clear();
        self.limits
            .check_metadata_bytes(metadata.as_bytes().len())?;
        self.names.use_metadata(metadata)
    }

    /// Builds each value with metadata of its own again. Forgets a value that was begun.
    pub fn use_own_metadata(&mut self) {
        self.clear();
        self.names.use_own_metadata();
    }

    /// Forgets a value that was begun, as is needed after an error.
    pub fn clear(&mut self) {
        self.tape.clear();
        self.names.clear();
        self.name = None;
    }

    /// Opens an object.
    ///
    /// # Errors
    ///
    /// Those of [`VariantBuilder::push`], and the limit of depth.
    pub fn begin_object(&mut self) -> Result<()> {
        self.begin(Kind::Object)
    }

    /// Opens an array.
    ///
    /// # Errors
    ///
    /// Those of [`VariantBuilder::push`], and the limit of depth.
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

    /// Names the field of the open object that the next value is.
    ///
    /// # Errors
    ///
    /// Where no object is open, where the field before has no value yet, a name that the object has
    /// already, and a name that given metadata lacks.
    #[inline]
    pub fn field(&mut self, name: &str) -> Result<()> {
        let Some(object) = self.tape.open_object() else {
            return Err(Error::argument(
                "a variant field is named where no object is open",
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

    /// Closes the object or array that was opened last.
    ///
    /// # Errors
    ///
    /// Where none is open, where a field has no value, and names that occur twice.
    pub fn end(&mut self) -> Result<()> {
        if self.name.is_some() {
            return Err(Error::argument(
                "a variant field was named, but has no value",
            ));
        }
        if self
            .tape
            .open_object()
            .is_some_and(|it| it.has_doubtful_names)
        {
            self.drop_duplicates()?;
        }
        self.tape.close()
    }

    /// Appends a value: `5_i64`, `"text"`, `Value::Date(0)`. The type stays as it is.
    ///
    /// Objects and arrays are copied, names and all.
    ///
    /// # Errors
    ///
    /// A second value at the top, a field that has no name, a decimal with more digits than its type
    /// has, and the limit of size; of objects and arrays what their walk says.
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
    /// As [`VariantBuilder::push`].
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
    /// As [`VariantBuilder::push`].
    pub fn push_decimal(&mut self, value: Decimal) -> Result<()> {
        self.push(match value.width() {
            4 => Value::Decimal4(value),
            8 => Value::Decimal8(value),
            _ => Value::Decimal16(value),
        })
    }

    /// Appends a copy of another value, with all that it holds.
    ///
    /// Where it has the metadata that was given to [`VariantBuilder::use_metadata`], its bytes are
    /// taken as they are, without a look at them.
    ///
    /// # Errors
    ///
    /// As [`VariantBuilder::push`], and what a walk over the value says.
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

    /// Copies a primitive value, or opens what is one level of others.
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

    /// The value as metadata and value.
    ///
    /// # Errors
    ///
    /// As [`VariantBuilder::finish_into`].
    pub fn finish(&mut self) -> Result<VariantBuf> {
        let (mut metadata, mut value) = (Vec::new(), Vec::new());
        self.finish_into(&mut metadata, &mut value)?;
        Ok(VariantBuf::from_parts(metadata, value))
    }

    /// Appends the metadata and the value to buffers, and is ready for the next value.
    ///
    /// Metadata that was given is appended as it is.
    ///
    /// # Errors
    ///
    /// No value, an object or array that is still open, and the limits of size. The buffers have
    /// nothing appended then, and the value is forgotten.
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

    /// Where the next value goes: the id of its name, in an object.
    #[inline]
    fn place(&mut self) -> Result<u32> {
        self.limits.check_bytes(self.tape.len() + 1)?;
        self.tape.place(self.name.take())
    }

    /// What was appended to the data is a value.
    #[inline]
    fn scalar(&mut self, name: u32) -> Result<()> {
        self.tape.scalar(name);
        self.limits.check_bytes(self.tape.data().len())
    }
}
