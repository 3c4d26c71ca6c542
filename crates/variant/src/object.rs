//! A view over an object.

use std::cmp::Ordering;

use herringbone_format::{Error, Result};

use crate::children::Children;
use crate::container::Container;
use crate::variant::Variant;

/// A view over an object, which gives its named fields in the order of their names.
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

    /// Returns the number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.container.len() as usize
    }

    /// Returns true if there are no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the field with this name, or `None` if it is missing.
    ///
    /// This is usually a binary search, since fields are ordered by the bytes of their names. But
    /// some writers order fields by UTF-16. If that could make a difference, we look at all fields
    /// before reporting one as missing.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if the dictionary lacks a name
    /// ID, or if the field lies outside the object.
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
        // Code points up to U+D7FF sort before all others in both orders, so a name made of them
        // cannot be misplaced.
        let may_differ = self.container.len() > 1 && name.iter().any(|byte| *byte >= 0xEE);
        match may_differ && self.container.metadata().orders_differ() {
            true => self.scan(name),
            false => Ok(None),
        }
    }

    /// Finds a field as [`Object::position`] does, but first tries `place`, its position in a
    /// previous object. Updates `place` if the field has moved.
    #[inline]
    pub(crate) fn position_near(&self, name: &[u8], place: &mut u32) -> Result<Option<u32>> {
        let is_there = *place < self.container.len()
            && self
                .name_bytes(*place)
                .is_ok_and(|name_bytes| name_bytes == name);
        if is_there {
            return Ok(Some(*place));
        }
        let found = self.position(name)?;
        if let Some(found) = found {
            *place = found;
        }
        Ok(found)
    }

    /// Searches all fields, whatever their order is.
    #[cold]
    fn scan(&self, name: &[u8]) -> Result<Option<u32>> {
        for index in 0..self.container.len() {
            if self.name_bytes(index)? == name {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Returns the name of the field at `index`.
    #[inline]
    pub(crate) fn name_bytes(&self, index: u32) -> Result<&'a [u8]> {
        let id = self.container.field_id(index).ok_or_else(no_id)?;
        self.container.metadata().name_bytes(id)
    }

    /// Returns all fields, in the order of their names.
    ///
    /// The iterator also returns an error if values share bytes. Otherwise, a small hostile object
    /// could make a walk take far longer than its size suggests. The iterator ends after the first
    /// error.
    #[must_use]
    pub fn iter(&self) -> Fields<'a> {
        Fields {
            children: self.children(),
        }
    }

    pub(crate) fn children(&self) -> Children<'a> {
        Children::new(self.container)
    }

    /// Returns this object as a value.
    #[must_use]
    pub fn as_variant(&self) -> Variant<'a> {
        Variant::from_parts(self.container.metadata(), self.container.as_bytes())
    }
}

/// An iterator over an object's names and values, returned by [`Object::iter`].
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
        // Taking the value advances the iterator, or ends it after an error, so we do that before
        // looking at the name's error.
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
