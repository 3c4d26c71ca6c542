//! A view over an object.

use std::cmp::Ordering;

use herringbone_format::{Error, Result};

use crate::children::Children;
use crate::container::Container;
use crate::variant::Variant;

/// A view over an object: fields with names, in the order of their names.
///
/// *Variant Binary Encoding, "Value Data for Object" and "Object field ID order and uniqueness".*
#[derive(Debug, Clone, Copy)]
pub struct Object<'a> {
    container: Container<'a>,
}

impl<'a> Object<'a> {
    #[inline]
    pub(crate) fn new(container: Container<'a>) -> Self {
        Self { container }
    }

    /// Number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.container.len() as usize
    }

    /// Whether there are no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The field with this name, or `None` if it is missing.
    ///
    /// Fields are ordered by the bytes of their names, so this takes a binary search. Some writers
    /// order by UTF-16; where that may make a difference, all fields are looked at before one is
    /// missing.
    ///
    /// # Errors
    ///
    /// Ids of names beyond the dictionary, and a field that lies outside of the object.
    #[inline]
    pub fn get(&self, name: &str) -> Result<Option<Variant<'a>>> {
        match self.position(name.as_bytes())? {
            Some(index) => self.container.value(index).map(Some),
            None => Ok(None),
        }
    }

    #[inline]
    pub(crate) fn position(&self, name: &[u8]) -> Result<Option<u32>> {
        let (mut low, mut high) = (0, self.container.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.name_bytes(middle)?.cmp(name) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Ok(Some(middle)),
            }
        }
        // Code points up to U+D7FF have the same place among all others in both orders.
        let may_differ = self.container.len() > 1 && name.iter().any(|byte| *byte >= 0xEE);
        match may_differ && self.container.metadata().orders_differ() {
            true => self.scan(name),
            false => Ok(None),
        }
    }

    /// The same, if it is not where it was in an object before, `place`, which is set to where it is.
    #[inline]
    pub(crate) fn position_near(&self, name: &[u8], place: &mut u32) -> Result<Option<u32>> {
        let is_there =
            *place < self.container.len() && self.name_bytes(*place).is_ok_and(|it| it == name);
        if is_there {
            return Ok(Some(*place));
        }
        let found = self.position(name)?;
        if let Some(found) = found {
            *place = found;
        }
        Ok(found)
    }

    /// Looks at all fields.
    #[cold]
    fn scan(&self, name: &[u8]) -> Result<Option<u32>> {
        for index in 0..self.container.len() {
            if self.name_bytes(index)? == name {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// The name of the field at `index`.
    #[inline]
    pub(crate) fn name_bytes(&self, index: u32) -> Result<&'a [u8]> {
        let id = self.container.field_id(index).ok_or_else(no_id)?;
        self.container.metadata().name_bytes(id)
    }

    /// All fields, in the order of their names.
    ///
    /// The iterator also gives an error where values share bytes, so that a walk never takes longer
    /// than the bytes allow; it ends with the first error.
    #[must_use]
    pub fn iter(&self) -> Fields<'a> {
        Fields {
            children: self.children(),
        }
    }

    pub(crate) fn children(&self) -> Children<'a> {
        Children::new(self.container)
    }

    /// This object as a value.
    #[must_use]
    pub fn as_variant(&self) -> Variant<'a> {
        Variant::from_parts(self.container.metadata(), self.container.as_bytes())
    }
}

/// The fields of an object, each a name and a value: see [`Object::iter`].
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    children: Children<'a>,
}

impl<'a> Fields<'a> {
    fn try_next(&mut self) -> Result<Option<(&'a str, Variant<'a>)>> {
        let Some(id) = self.children.next_field_id() else {
            return Ok(None);
        };
        let name = self.children.container().metadata().name(id);
        // The value first: it moves on, or ends after an error.
        let Some(value) = self.children.next()? else {
            return Ok(None);
        };
        Ok(Some((name?, value)))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(&'a str, Variant<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.try_next().transpose()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.children.left()))
    }
}

#[cold]
fn no_id() -> Error {
    Error::corrupt("a variant object ends within its field ids")
}
