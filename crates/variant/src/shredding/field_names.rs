//! Finds the columns of shredded fields by name.

use std::cmp::Ordering;

/// The names of the shredded fields, with a cursor that advances along with an object's fields.
pub(super) struct FieldNames {
    /// The names in ascending order, each with its column index.
    sorted: Vec<(String, usize)>,
    /// The number of names up to the name requested last.
    passed: usize,
}

impl FieldNames {
    pub(super) fn new<'n>(names: impl Iterator<Item = &'n String>) -> Self {
        let mut sorted: Vec<_> = names.cloned().zip(0..).collect();
        sorted.sort_unstable();
        Self { sorted, passed: 0 }
    }

    /// Starts again, for the names of another object.
    pub(super) fn start(&mut self) {
        self.passed = 0;
    }

    /// Returns the index of the column for the field with this name, or `None` if the field is not
    /// shredded.
    ///
    /// An object's fields are usually in name order. In that case, this takes one comparison for a
    /// shredded name and two for any other name.
    #[inline]
    pub(super) fn place(&mut self, name: &[u8]) -> Option<usize> {
        let mut next = self.compare(self.passed, name);
        if next == Some(Ordering::Less) {
            self.passed += 1;
            let behind = self.sorted.get(self.passed..).unwrap_or_default();
            self.passed += behind.partition_point(|(it, _)| it.as_bytes() < name);
            next = self.compare(self.passed, name);
        } else if next != Some(Ordering::Equal)
            && let Some(before) = self.passed.checked_sub(1)
            && self.compare(before, name) != Some(Ordering::Less)
        {
            // The fields aren't in name order, so we fall back to searching all names.
            self.passed = self.sorted.partition_point(|(it, _)| it.as_bytes() < name);
            next = self.compare(self.passed, name);
        }
        if next != Some(Ordering::Equal) {
            return None;
        }
        let (_, place) = self.sorted.get(self.passed)?;
        self.passed += 1;
        Some(*place)
    }

    /// Compares the shredded name at `at` with `name`.
    #[inline]
    fn compare(&self, at: usize, name: &[u8]) -> Option<Ordering> {
        let (it, _) = self.sorted.get(at)?;
        Some(it.as_bytes().cmp(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_any_order() {
        let shredded = ["m", "c", "x"].map(str::to_owned);
        let mut names = FieldNames::new(shredded.iter());
        for (fields, places) in [
            ("acmnxz", [None, Some(1), Some(0), None, Some(2), None]),
            ("cmxabd", [Some(1), Some(0), Some(2), None, None, None]),
            ("xmczya", [Some(2), Some(0), Some(1), None, None, None]),
            (
                "xxccma",
                [Some(2), Some(2), Some(1), Some(1), Some(0), None],
            ),
        ] {
            names.start();
            for (name, place) in fields.split("").filter(|part| !part.is_empty()).zip(places) {
                assert_eq!(names.place(name.as_bytes()), place, "{name} of {fields}");
            }
        }
    }
}
