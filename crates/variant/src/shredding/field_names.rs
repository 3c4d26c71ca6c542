//! Which fields of an object are shredded.

use std::cmp::Ordering;

use herringbone_format::Result;

use crate::object::Object;

/// The names of the fields that are shredded.
pub(super) struct FieldNames {
    /// In the order of names, each with the place of its column.
    sorted: Vec<(String, usize)>,
    /// By the place of the column, which field of the object it is.
    found: Vec<Option<u32>>,
}

impl FieldNames {
    pub(super) fn new<'n>(names: impl Iterator<Item = &'n String>) -> Self {
        let mut sorted: Vec<_> = names.cloned().zip(0..).collect();
        sorted.sort_unstable();
        Self {
            found: vec![None; sorted.len()],
            sorted,
        }
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        let found = self
            .sorted
            .binary_search_by(|(it, _)| it.as_str().cmp(name));
        found.is_ok()
    }

    /// Which field of `object` each of them is, in the order of the columns; `None` of those that it lacks.
    ///
    /// # Errors
    ///
    /// As [`Object::get`].
    pub(super) fn find(&mut self, object: &Object<'_>) -> Result<&[Option<u32>]> {
        /// Where there are fewer fields to a name, looking at all of them takes less than searching for each name.
        const FIELDS_A_NAME: usize = 8;
        let looks_at_all = object.len() / FIELDS_A_NAME <= self.sorted.len();
        if !(looks_at_all && self.merge(object)?) {
            for (name, place) in &self.sorted {
                if let Some(found) = self.found.get_mut(*place) {
                    *found = object.position(name.as_bytes())?;
                }
            }
        }
        Ok(&self.found)
    }

    /// Goes along the fields and the names at once; whether fields are in the order of their names.
    fn merge(&mut self, object: &Object<'_>) -> Result<bool> {
        self.found.fill(None);
        let mut names = self.sorted.iter().peekable();
        let mut before: Option<&[u8]> = None;
        for index in 0..object.len() as u32 {
            let field = object.name_bytes(index)?;
            if before.is_some_and(|before| before >= field) {
                return Ok(false);
            }
            before = Some(field);
            while let Some((name, place)) = names.peek() {
                match name.as_bytes().cmp(field) {
                    Ordering::Greater => break,
                    Ordering::Less => {}
                    Ordering::Equal => {
                        if let Some(found) = self.found.get_mut(*place) {
                            *found = Some(index);
                        }
                    }
                }
                names.next();
            }
        }
        Ok(true)
    }
}
