//! What is known of the rows of a row group, by runs of them.

use std::ops::Range;

use super::Verdict;

/// A verdict for each row of a row group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdicts {
    /// Where each run ends, and its verdict: ascending, the last one at the end of the row group. No two runs next to each
    /// other have the same verdict.
    runs: Vec<(u64, Verdict)>,
}

impl Verdicts {
    /// The same for all of `num_rows` rows.
    pub fn all(num_rows: u64, verdict: Verdict) -> Self {
        Self {
            runs: vec![(num_rows, verdict)],
        }
    }

    /// Runs one behind the other, each up to a row.
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

    /// The verdict of all rows; where they differ, that of some.
    pub fn whole(&self) -> Verdict {
        match self.runs.as_slice() {
            [(_, verdict)] => *verdict,
            _ => Verdict::Some,
        }
    }

    /// What is wanted where both are true: the lesser verdict of each row.
    pub fn and(&self, other: &Self) -> Self {
        self.combine(other, Verdict::min)
    }

    /// What is wanted where one is true: the greater verdict of each row.
    pub(crate) fn or(&self, other: &Self) -> Self {
        self.combine(other, Verdict::max)
    }

    /// Returns what is known by both of the same rows: a row that one of them leaves undecided has the verdict of the other.
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

    /// The parts of `ranges`, which are ascending, whose verdict is one that `is_wanted`.
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
        let within = |ranges: &[Range<u64>]| runs.within(ranges, |it| it != Verdict::None);
        assert_eq!(within(&[0..12]), [3..9]);
        assert_eq!(within(&[0..4, 6..7, 8..11]), [3..4, 6..7, 8..9]);
        assert_eq!(within(&[0..2, 10..12]), []);
        let all = |ranges: &[Range<u64>]| runs.within(ranges, |it| it == Verdict::All);
        assert_eq!(all(&[0..4, 4..12]), [3..5]);
    }
}
