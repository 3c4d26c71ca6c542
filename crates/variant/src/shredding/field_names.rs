//! Which fields of an object are shredded.

use std::cmp::Ordering;

/// The names of the fields that are shredded.
pub(super) struct FieldNames {
    /// In the order of names, each with the place of its column.
    sorted: Vec<(String, usize)>,
    /// How many of them are not behind the name that was asked for last.
    passed: usize,
}

impl FieldNames {
    pub(super) fn new<'n>(names: impl Iterator<Item = &'n String>) -> Self {
        let mut sorted: Vec<_> = names.cloned().zip(0..).collect();
        sorted.sort_unstable();
        Self { sorted, passed: 0 }
    }

    /// The names of another object are asked for.
    pub(super) fn start(&mut self) {
        self.passed = 0;
    }

    /// The place of the column of the field of this name, `None` if it is not shredded.
    ///
    /// The fields of an object tend to come in the order of their names. Then this is one comparison for a name
    /// that is shredded, and two for another.
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
            // The fields are in another order.
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

    /// How the name at `at` compares with `name`.
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
            for (name, place) in fields.split("").filter(|it| !it.is_empty()).zip(places) {
                assert_eq!(names.place(name.as_bytes()), place, "{name} of {fields}");
            }
        }
    }
}
