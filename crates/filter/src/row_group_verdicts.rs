//! A test's verdicts on row groups, kept because a read asks for them when it chooses its threads and again when it
//! begins a row group.

use std::ops::Range;
use std::sync::OnceLock;

use herringbone_format::Result;

use super::Verdict;

/// The number of row groups in a block. We decide them together, because an array of 64 bounds is decoded nearly as
/// fast as an array of one. A read with a limit might need the first row group only, so blocks are not larger.
const BLOCK: usize = 64;

/// The verdicts on a file's row groups that are known so far, in blocks.
#[derive(Debug)]
pub(super) struct RowGroupVerdicts {
    num_row_groups: usize,
    /// The verdicts on each block's row groups, or `None` if they cannot be decided together.
    blocks: Vec<OnceLock<Option<Vec<Verdict>>>>,
}

impl RowGroupVerdicts {
    /// Creates an empty set of verdicts on `num_row_groups` row groups.
    pub(super) fn new(num_row_groups: usize) -> Self {
        let blocks = num_row_groups.div_ceil(BLOCK);
        Self {
            num_row_groups,
            blocks: (0..blocks).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Returns the verdict on a row group. `decide` returns the verdicts on adjacent row groups, or `None` if the
    /// metadata of one of them is missing. Without the verdicts on a whole block, each of its row groups is decided
    /// alone, so that damage affects no other row group.
    ///
    /// # Errors
    /// Returns the error of deciding this row group alone.
    pub(super) fn get(
        &self,
        row_group: usize,
        decide: impl Fn(Range<usize>) -> Result<Option<Vec<Verdict>>>,
    ) -> Result<Verdict> {
        let first = row_group - row_group % BLOCK;
        let all = first..self.num_row_groups.min(first + BLOCK);
        let block = self.blocks.get(row_group / BLOCK);
        let known = block.and_then(|block| {
            let verdicts = block.get_or_init(|| decide(all).ok().flatten());
            verdicts.as_ref()?.get(row_group - first).copied()
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let alone = decide(row_group..row_group + 1)?.unwrap_or_default();
        Ok(alone.first().copied().unwrap_or(Verdict::Some))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use herringbone_format::Error;

    use super::*;

    #[test]
    fn each_block_is_decided_once() {
        let (verdicts, asked) = (RowGroupVerdicts::new(130), RefCell::new(Vec::new()));
        let decide = |row_groups: Range<usize>| {
            asked.borrow_mut().push(row_groups.clone());
            let verdict = |row_group| [Verdict::None, Verdict::Some, Verdict::All][row_group % 3];
            Ok(Some(row_groups.map(verdict).collect()))
        };
        for _ in 0..2 {
            for row_group in 0..130 {
                let verdict = verdicts.get(row_group, decide).unwrap();
                let expected = [Verdict::None, Verdict::Some, Verdict::All][row_group % 3];
                assert_eq!(verdict, expected, "{row_group}");
            }
        }
        assert_eq!(*asked.borrow(), [0..64, 64..128, 128..130]);
    }

    #[test]
    fn damage_affects_no_other_row_group() {
        let verdicts = RowGroupVerdicts::new(70);
        let decide = |row_groups: Range<usize>| match row_groups.contains(&5) {
            true => Err(Error::corrupt("damaged")),
            false if row_groups.contains(&69) => Ok(None),
            false => Ok(Some(vec![Verdict::None; row_groups.len()])),
        };
        for row_group in 0..70 {
            let verdict = verdicts.get(row_group, decide);
            match row_group {
                5 => assert!(verdict.is_err()),
                69 => assert_eq!(verdict.unwrap(), Verdict::Some),
                _ => assert_eq!(verdict.unwrap(), Verdict::None, "{row_group}"),
            }
        }
    }
}
