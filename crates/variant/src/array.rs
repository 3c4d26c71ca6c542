//! A view over an array.

use herringbone_format::Result;

use crate::children::Children;
use crate::container::Container;
use crate::variant::Variant;

/// A view over an array: elements in order.
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

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.container.len() as usize
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at this place, counted from 0, or `None` if there are fewer.
    ///
    /// # Errors
    ///
    /// An element that lies outside of the array.
    #[inline]
    pub fn get(&self, index: usize) -> Result<Option<Variant<'a>>> {
        match u32::try_from(index) {
            Ok(index) if index < self.container.len() => self.container.value(index).map(Some),
            _ => Ok(None),
        }
    }

    /// All elements, in order.
    ///
    /// The iterator also gives an error where elements share bytes, so that a walk never takes
    /// longer than the bytes allow; it ends with the first error.
    #[must_use]
    pub fn iter(&self) -> Elements<'a> {
        Elements {
            children: self.children(),
        }
    }

    /// This array as a value.
    #[must_use]
    pub fn as_variant(&self) -> Variant<'a> {
        Variant::from_parts(self.container.metadata(), self.container.as_bytes())
    }

    pub(crate) fn children(&self) -> Children<'a> {
        Children::new(self.container)
    }
}

/// The elements of an array: see [`Array::iter`].
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
