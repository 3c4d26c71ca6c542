//! `--row-groups 0,2-4`: a list of row groups, by their ordinals.

use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::base::failure::{Failure, Result};

/// Row groups, in the order of the command line. We keep ranges as they are, because a huge one
/// must not cost memory before we know the file's row group count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowGroups(Vec<RangeInclusive<usize>>);

impl FromStr for RowGroups {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            text.parse::<usize>()
                .map_err(|_| format!("\"{text}\" is not the number of a row group"))
        };
        let range = |part: &str| match part.split_once('-') {
            None => number(part).map(|only| only..=only),
            Some((first, last)) => match (number(first)?, number(last)?) {
                (first, last) if first <= last => Ok(first..=last),
                _ => Err(format!("\"{part}\" ends before it starts")),
            },
        };
        text.split(',')
            .map(range)
            .collect::<Result<_, _>>()
            .map(Self)
    }
}

impl RowGroups {
    /// Returns the ordinals of these row groups in a file that has `count` of them.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if an ordinal is too large for the file.
    pub(crate) fn of(&self, count: usize) -> Result<Vec<usize>> {
        let mut all = Vec::new();
        for range in &self.0 {
            if *range.end() >= count {
                let last = range.end();
                return Err(Failure::Usage(format!(
                    "there is no row group {last}: the file has {count}, counted from 0"
                )));
            }
            all.extend(range.clone());
        }
        Ok(all)
    }
}

/// Returns the chosen row groups in a file with `count` row groups, or all of them if nothing was
/// chosen.
pub(crate) fn chosen(row_groups: Option<&RowGroups>, count: usize) -> Result<Vec<usize>> {
    row_groups.map_or_else(|| Ok((0..count).collect()), |chosen| chosen.of(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_and_ranges() {
        let row_groups: RowGroups = "3,0-1".parse().unwrap();
        assert_eq!(row_groups.of(4).unwrap(), [3, 0, 1]);
        assert_eq!(row_groups.of(3).unwrap_err().code(), 2);
    }

    #[test]
    fn a_huge_range_costs_nothing() {
        let row_groups: RowGroups = format!("0-{}", usize::MAX).parse().unwrap();
        assert_eq!(row_groups.of(1).unwrap_err().code(), 2);
    }

    #[test]
    fn broken_lists_are_refused() {
        for text in ["", "a", "1,", "-1", "2-1", "1-2-3", "1-"] {
            assert!(text.parse::<RowGroups>().is_err(), "{text}");
        }
    }
}
