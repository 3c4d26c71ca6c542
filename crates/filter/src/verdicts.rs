//! Verdicts on rows, and runs of equal verdicts in a row group.

use std::ops::Range;

/// A conclusion about a set of rows, reached without looking at their values. Used to skip rows, or to accept them
/// without a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No row is selected.
    None,
    /// Some rows might be selected.
    Some,
    /// All rows are selected.
    All,
}

/// The verdicts on a row group's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdicts {
    /// The runs of equal verdicts, each with its end and its verdict. The ends are ascending, and the last run ends
    /// with the row group. Adjacent runs have different verdicts.
    runs: Vec<(u64, Verdict)>,
}

impl Verdicts {
    /// Returns one verdict for all of `num_rows` rows.
    pub fn all(num_rows: u64, verdict: Verdict) -> Self {
        Self {
            runs: vec![(num_rows, verdict)],
        }
    }

    /// Creates verdicts from adjacent runs, each given by its end.
    pub(crate) fn from_ends(ends: impl IntoIterator<Item = (u64, Verdict)>) -> Self {
        let mut runs: Vec<(u64, Verdict)> = Vec::new();
        for (end, verdict) in ends {
            match runs.last_mut() {
                Some(last) if last.1 == verdict => last.0 = end,
                _ => runs.push((end, verdict)),
            }
        }
        Self { runs }
    }

    /// Returns the verdict that all rows have in common, or `Some` if they differ.
    pub fn whole(&self) -> Verdict {
        match self.runs.as_slice() {
            [(_, verdict)] => *verdict,
            _ => Verdict::Some,
        }
    }

    /// Returns the verdicts on a conjunction, that is, the lesser verdict for each row.
    pub fn and(&self, other: &Self) -> Self {
        self.combine(other, Verdict::min)
    }

    /// Returns the verdicts on a disjunction, that is, the greater verdict for each row.
    pub(crate) fn or(&self, other: &Self) -> Self {
        self.combine(other, Verdict::max)
    }

    /// Merges two sets of verdicts on one condition. Rows left undecided by `self` get their verdict from `other`.
    pub fn refined(&self, other: &Self) -> Self {
        self.combine(other, |one, other| match one {
            Verdict::Some => other,
            decided => decided,
        })
    }

    fn combine(&self, other: &Self, combine: fn(Verdict, Verdict) -> Verdict) -> Self {
        let (mut one, mut two) = (self.runs.iter().peekable(), other.runs.iter().peekable());
        let ends = std::iter::from_fn(|| {
            let (a, b) = (*one.peek()?, *two.peek()?);
            let end = a.0.min(b.0);
            one.next_if(|run| run.0 == end);
            two.next_if(|run| run.0 == end);
            Some((end, combine(a.1, b.1)))
        });
        Self::from_ends(ends)
    }

    /// Returns the parts of `ranges` with a verdict that satisfies `is_wanted`. The ranges must be ascending.
    pub fn within(
        &self,
        ranges: &[Range<u64>],
        is_wanted: impl Fn(Verdict) -> bool,
    ) -> Vec<Range<u64>> {
        let mut parts: Vec<Range<u64>> = Vec::new();
        let mut runs = self.runs.iter().copied().peekable();
        let mut start = 0;
        for range in ranges {
            let mut from = range.start;
            while let Some(&(end, verdict)) = runs.peek()
                && from < range.end
            {
                let part = from.max(start)..range.end.min(end);
                if !part.is_empty() {
                    from = part.end;
                    if is_wanted(verdict) {
                        match parts.last_mut() {
                            Some(last) if last.end == part.start => last.end = part.end,
                            _ => parts.push(part),
                        }
                    }
                }
                if end > range.end {
                    break;
                }
                start = end;
                runs.next();
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNS: [(u64, Verdict); 4] = [
        (3, Verdict::None),
        (5, Verdict::All),
        (9, Verdict::Some),
        (12, Verdict::None),
    ];

    #[test]
    fn each_row_has_the_verdict_of_both() {
        let one = Verdicts::from_ends(RUNS);
        let two = [(4, Verdict::Some), (7, Verdict::All), (12, Verdict::None)];
        let two = Verdicts::from_ends(two);
        let at = |runs: &Verdicts, row| runs.runs.iter().find(|run| row < run.0).unwrap().1;
        let (and, or) = (one.and(&two), one.or(&two));
        for row in 0..12 {
            assert_eq!(at(&and, row), at(&one, row).min(at(&two, row)), "{row}");
            assert_eq!(at(&or, row), at(&one, row).max(at(&two, row)), "{row}");
        }
        assert_eq!(and.whole(), Verdict::Some);
        let none = Verdicts::all(12, Verdict::None);
        assert_eq!(one.and(&none), none);
        assert_eq!(none.whole(), Verdict::None);
    }

    #[test]
    fn ranges_are_cut_to_runs() {
        let runs = Verdicts::from_ends(RUNS);
        let within = |ranges: &[Range<u64>]| runs.within(ranges, |runs| runs != Verdict::None);
        assert_eq!(within(&[0..12]), [3..9]);
        assert_eq!(within(&[0..4, 6..7, 8..11]), [3..4, 6..7, 8..9]);
        assert_eq!(within(&[0..2, 10..12]), []);
        let all = |ranges: &[Range<u64>]| runs.within(ranges, |runs| runs == Verdict::All);
        assert_eq!(all(&[0..4, 4..12]), [3..5]);
    }
}
