//! Sets of ordered values accepted by comparisons.

use std::cmp::Ordering;

/// A set of ordered values, bounded by cuts.
///
/// ```text
/// x < 5 or x = 7        ──────)5   [7]        cuts: before 5, before 7, after 7; starts inside
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ranges<K> {
    /// True if values below all cuts are inside the set.
    starts_inside: bool,
    /// The cuts between inside and outside, ascending and distinct.
    cuts: Vec<Cut<K>>,
}

/// A cut immediately before or after a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cut<K> {
    pub(super) key: K,
    /// True if the cut is after the value.
    pub(super) is_after: bool,
}

/// A piece of a set between two cuts. `None` means unbounded on that side.
type Piece<'a, K> = (Option<&'a Cut<K>>, Option<&'a Cut<K>>);

impl<K: Ord + Clone> Ranges<K> {
    /// Returns the empty set.
    pub(super) fn none() -> Self {
        Self {
            starts_inside: false,
            cuts: Vec::new(),
        }
    }

    /// Returns the set of all values below a cut.
    pub(super) fn below(cut: Cut<K>) -> Self {
        Self {
            starts_inside: true,
            cuts: vec![cut],
        }
    }

    /// Returns the set of these values.
    pub(super) fn points(mut keys: Vec<K>) -> Self {
        keys.sort();
        keys.dedup();
        let cut = |key: &K, is_after| Cut {
            key: key.clone(),
            is_after,
        };
        Self {
            starts_inside: false,
            cuts: keys
                .iter()
                .flat_map(|key| [cut(key, false), cut(key, true)])
                .collect(),
        }
    }

    /// Returns the set of all values from one cut to another.
    pub(super) fn between(low: Cut<K>, high: Cut<K>) -> Self {
        match low < high {
            true => Self {
                starts_inside: false,
                cuts: vec![low, high],
            },
            false => Self::none(),
        }
    }

    /// Returns true if values below all cuts are inside the set.
    pub(super) fn starts_inside(&self) -> bool {
        self.starts_inside
    }

    /// Returns the cuts between inside and outside, in ascending order.
    pub(super) fn cuts(&self) -> &[Cut<K>] {
        &self.cuts
    }

    /// Returns the part of this set below a cut.
    pub(super) fn and_below(mut self, cut: Cut<K>) -> Self {
        let within = self.cuts.partition_point(|own| *own < cut);
        self.cuts.truncate(within);
        if self.starts_inside != (within % 2 == 1) {
            self.cuts.push(cut);
        }
        self
    }

    /// Returns the complement, that is, all values outside this set.
    pub(super) fn complement(mut self) -> Self {
        self.starts_inside = !self.starts_inside;
        self
    }

    /// Returns the set's pieces, each with its first and last cut. A cut is `None` if the piece is unbounded on that
    /// side.
    pub(super) fn pieces(&self) -> Vec<Piece<'_, K>> {
        let mut pieces = Vec::new();
        let mut cuts = self.cuts.iter();
        let mut low = match self.starts_inside {
            true => Some(None),
            false => cuts.next().map(Some),
        };
        while let Some(from) = low {
            pieces.push((from, cuts.next()));
            low = match pieces.last() {
                Some((_, Some(_))) => cuts.next().map(Some),
                _ => None,
            };
        }
        pieces
    }

    /// Returns true if a value is inside the set. `compare` returns the order of a key relative to the value.
    pub(super) fn contains(&self, compare: impl Fn(&K) -> Ordering) -> bool {
        let passed = self.cuts.partition_point(|cut| match compare(&cut.key) {
            Ordering::Less => true,
            Ordering::Equal => !cut.is_after,
            Ordering::Greater => false,
        });
        self.starts_inside != (passed % 2 == 1)
    }

    /// Returns true if the set might contain a value in the given inclusive range. A missing bound is treated as
    /// unbounded.
    pub(super) fn touches(&self, min: Option<&K>, max: Option<&K>) -> bool {
        // This is the number of cuts before the least value.
        let passed = match min {
            None => 0,
            Some(min) => self
                .cuts
                .partition_point(|cut| cut.key < *min || (cut.key == *min && !cut.is_after)),
        };
        if self.starts_inside != (passed % 2 == 1) {
            return true;
        }
        // The least value is outside, but values after the next cut are inside.
        match (self.cuts.get(passed), max) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(cut), Some(max)) => cut.key < *max || (cut.key == *max && !cut.is_after),
        }
    }

    /// Returns true if all values between two bounds, both inclusive, are inside the set.
    pub(super) fn covers(&self, min: Option<&K>, max: Option<&K>) -> bool {
        !self.clone().complement().touches(min, max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_numbers_are_what_their_members_say() {
        type IsMember = fn(i32) -> bool;
        let cut = |key: i32, is_after| Cut { key, is_after };
        let up_to_5 = cut(5, true);
        let sets: [(Ranges<i32>, IsMember); 8] = [
            (Ranges::points(vec![3, 7]).and_below(up_to_5.clone()), |x| {
                x == 3
            }),
            (
                Ranges::below(cut(2, false)).complement().and_below(up_to_5),
                |x| (2..=5).contains(&x),
            ),
            (Ranges::none(), |_| false),
            (Ranges::none().complement(), |_| true),
            (Ranges::below(cut(4, true)), |x| x <= 4),
            (Ranges::below(cut(4, false)).complement(), |x| x >= 4),
            (Ranges::points(vec![7, 3, 3]), |x| x == 3 || x == 7),
            (Ranges::between(cut(2, true), cut(6, false)), |x| {
                x > 2 && x < 6
            }),
        ];
        for (set, is_member) in sets {
            for inverted in [false, true] {
                let set = if inverted {
                    set.clone().complement()
                } else {
                    set.clone()
                };
                let is_member = |x: i32| is_member(x) != inverted;
                for min in 0..10 {
                    assert_eq!(
                        set.contains(|key| key.cmp(&min)),
                        is_member(min),
                        "{set:?} {min}"
                    );
                    for max in min..10 {
                        let any = (min..=max).any(is_member);
                        let all = (min..=max).all(is_member);
                        // There might be no whole number between two cuts, so results for bounds can be conservative.
                        assert!(
                            set.touches(Some(&min), Some(&max)) || !any,
                            "{set:?} {min}..={max}"
                        );
                        assert!(
                            !set.covers(Some(&min), Some(&max)) || all,
                            "{set:?} {min}..={max}"
                        );
                        assert_eq!(
                            any,
                            set.pieces().iter().any(|(low, high)| {
                                (min..=max).any(|x| {
                                    low.is_none_or(|low| {
                                        low.key < x || (low.key == x && !low.is_after)
                                    }) && high.is_none_or(|high| {
                                        x < high.key || (x == high.key && high.is_after)
                                    })
                                })
                            })
                        );
                    }
                }
            }
        }
        let point = Ranges::points(vec![5]);
        assert!(point.touches(Some(&5), Some(&5)) && point.covers(Some(&5), Some(&5)));
        assert!(!point.touches(Some(&6), None) && !point.touches(None, Some(&4)));
        assert!(point.touches(None, None) && !point.covers(Some(&5), None));
    }
}
