//! A view over an array.

use herringbone_format::Result;

use crate::children::Children;
use crate::container::Container;
use crate::variant::Variant;

/// A view over an array, which gives its elements in order.
///
/// *Variant Binary Encoding, "Value Data for Array".*
#[derive(Debug, Clone, Copy)]
pub struct Array<'a> {
    container: Container<'a>,
}

impl<'a> Array<'a> {
    #[inline]
    pub(crate) fn new(container: Container<'a>) -> Self {
        Self { container }
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.container.len() as usize
    }

    /// Returns true if there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the element at `index`, counted from 0, or `None` if the array is shorter.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if the element lies outside the
    /// array's bytes.
    #[inline]
    pub fn get(&self, index: usize) -> Result<Option<Variant<'a>>> {
        match u32::try_from(index) {
            Ok(index) if index < self.container.len() => self.container.value(index).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns all elements, in order.
    ///
    /// The iterator also returns an error if elements share bytes. Otherwise, a small hostile array
    /// could make a walk take far longer than its size suggests. The iterator ends after the first
    /// error.
    #[must_use]
    pub fn iter(&self) -> Elements<'a> {
        Elements {
            children: self.children(),
        }
    }

    /// Returns this array as a value.
    #[must_use]
    pub fn as_variant(&self) -> Variant<'a> {
        Variant::from_parts(self.container.metadata(), self.container.as_bytes())
    }

    pub(crate) fn children(&self) -> Children<'a> {
        Children::new(self.container)
    }
}

/// An iterator over an array's elements, returned by [`Array::iter`].
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    children: Children<'a>,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Result<Variant<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.children.next().transpose()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.children.left()))
    }
}
