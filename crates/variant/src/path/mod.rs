//! Paths into values, such as `$.a['b.c'][0]`.

mod parse;

use std::fmt;

use herringbone_format::{Error, Result};

use crate::container::Container;
use crate::metadata::Metadata;
use crate::object::Object;
use crate::variant::Variant;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PathPart {
    /// A field of an object: `.a` or `['a']`.
    Field(String),
    /// An element of an array, counted from 0: `[0]`.
    Element(usize),
    /// Every element of an array: `[*]`. You can parse it, but you cannot read values with it yet.
    EveryElement,
}

/// A path into a value.
///
/// ```text
/// $            the value itself
/// $.a          field a of an object; the name may contain any character except `.` and `[`
/// $['b.c']     a field of any name, in single or double quotes; a backslash before a quote or a
/// $["b.c"]     backslash makes it a part of the name
/// $[0]         an element of an array, counted from 0
/// $[*]         every element of an array
/// ```
///
///
/// The leading `$` is optional, so `a.b[0]` works too.
///
/// ```
/// use herringbone::variant::VariantPath;
///
/// let path: VariantPath = "$.a['b.c'][0]".parse()?;
/// assert_eq!(path, VariantPath::root().field("a").field("b.c").element(0));
/// assert_eq!(path.to_string(), "$.a['b.c'][0]");
/// # Ok::<(), herringbone::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct VariantPath {
    parts: Vec<PathPart>,
}

impl VariantPath {
    /// Returns the path that leads to the value itself.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// Appends an object's field to the path.
    #[must_use]
    pub fn field(self, name: impl Into<String>) -> Self {
        self.join(PathPart::Field(name.into()))
    }

    /// Appends an array's element, counted from 0, to the path.
    #[must_use]
    pub fn element(self, index: usize) -> Self {
        self.join(PathPart::Element(index))
    }

    /// Appends every element of an array to the path.
    #[must_use]
    pub fn every_element(self) -> Self {
        self.join(PathPart::EveryElement)
    }

    /// Appends this part to the path.
    #[must_use]
    pub fn join(mut self, part: PathPart) -> Self {
        self.parts.push(part);
        self
    }

    /// Returns the parts, from the outside in.
    #[must_use]
    pub fn parts(&self) -> &[PathPart] {
        &self.parts
    }
}

impl From<Vec<PathPart>> for VariantPath {
    fn from(parts: Vec<PathPart>) -> Self {
        Self { parts }
    }
}

impl fmt::Display for VariantPath {
    /// Prints the path, quoting names only where needed. The text parses back to an equal path.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        for part in &self.parts {
            match part {
                PathPart::Field(name) if !name.is_empty() && !name.contains(['.', '[']) => {
                    write!(f, ".{name}")?;
                }
                PathPart::Field(name) => {
                    let name = name.replace('\\', "\\\\").replace('\'', "\\'");
                    write!(f, "['{name}']")?;
                }
                PathPart::Element(index) => write!(f, "[{index}]")?,
                PathPart::EveryElement => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}

impl<'a> Variant<'a> {
    /// Returns the value at `path`, or `None` if it is missing.
    ///
    /// If a value is not an object, all its fields are missing, and if it is not an array, so are
    /// all its elements. A null counts as a value if it is present. Use [`Variant::is_null`] to
    /// recognize it.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Variant::field`] and [`Variant::element`]. Fails with
    /// [Unsupported](herringbone_format::ErrorKind::Unsupported) if the path has a `[*]`.
    pub fn get(&self, path: &VariantPath) -> Result<Option<Self>> {
        self.get_parts(&path.parts, &mut [])
    }

    /// Returns the value at a path. [`bytes_at`] explains `fields`.
    pub(crate) fn get_parts(&self, parts: &[PathPart], fields: &mut [u32]) -> Result<Option<Self>> {
        let bytes = bytes_at(&self.metadata(), self.as_bytes(), parts, fields)?;
        Ok(bytes.map(|bytes| Self::from_parts(self.metadata(), bytes)))
    }
}

/// Returns the bytes of the value at a path, inside the value at the start of `bytes`. If the path
/// has no parts, this returns all of `bytes`.
///
/// `fields` has one entry per part: the position that the path's field had in a previous value's
/// object. We try it first, because it often stays the same. Trailing entries can be missing if
/// nothing is known yet.
pub(crate) fn bytes_at<'a>(
    metadata: &Metadata<'a>,
    bytes: &'a [u8],
    parts: &[PathPart],
    mut fields: &mut [u32],
) -> Result<Option<&'a [u8]>> {
    let Some((last, parts)) = parts.split_last() else {
        return Ok(Some(bytes));
    };
    let mut bytes = bytes;
    for part in parts {
        let (field, rest) = split_first(fields);
        fields = rest;
        let Some(container) = Container::if_any(*metadata, bytes)? else {
            return no_container(part);
        };
        let Some(index) = find(&container, part, field)? else {
            return Ok(None);
        };
        // Trailing bytes do no harm here, since only the last value has to be delimited.
        bytes = container.bytes_from(index)?;
    }
    let Some(container) = Container::if_any(*metadata, bytes)? else {
        return no_container(last);
    };
    match find(&container, last, split_first(fields).0)? {
        Some(index) => container.value_bytes(index).map(Some),
        None => Ok(None),
    }
}

/// Returns the result of applying `part` to a primitive value.
fn no_container<'a>(part: &PathPart) -> Result<Option<&'a [u8]>> {
    match part {
        PathPart::EveryElement => Err(every_element()),
        _ => Ok(None),
    }
}

fn split_first(fields: &mut [u32]) -> (Option<&mut u32>, &mut [u32]) {
    match fields.split_first_mut() {
        Some((field, rest)) => (Some(field), rest),
        None => (None, &mut []),
    }
}

/// Returns the error for a wildcard path, which would match many values.
#[cold]
pub(crate) fn every_element() -> Error {
    Error::unsupported(
        "the variant path contains `[*]`, every element; name one element, as in `[0]`",
    )
}

/// Returns the index of the value that `part` selects in an object or array, or `None` if it is
/// missing.
#[inline]
fn find(holder: &Container<'_>, part: &PathPart, field: Option<&mut u32>) -> Result<Option<u32>> {
    match part {
        PathPart::EveryElement => Err(every_element()),
        PathPart::Field(name) if holder.is_object() => {
            let object = Object::new(*holder);
            match field {
                Some(field) => object.position_near(name.as_bytes(), field),
                None => object.position(name.as_bytes()),
            }
        }
        PathPart::Element(index) if !holder.is_object() => {
            let index = u32::try_from(*index).ok();
            Ok(index.filter(|index| *index < holder.len()))
        }
        _ => Ok(None),
    }
}
