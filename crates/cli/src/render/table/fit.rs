//! Which columns of a table a terminal has room for.

use unicode_width::UnicodeWidthStr as _;

/// What stands around each cell: a space at either side, and a line.
const AROUND: usize = 3;
/// What a column needs for its cells to be readable, though not in full.
const CELL: usize = 12;

/// The columns at both ends of a table; those between them are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    /// Columns at the left.
    pub(super) left: usize,
    /// Columns at the right.
    pub(super) right: usize,
}

impl Ends {
    /// As many of the columns, which need such widths, as a terminal of `width` has room for: all of them,
    /// or those at the ends with one between them that counts the others. At least one is there.
    pub(super) fn fitting(needs: &[usize], width: usize) -> Self {
        let count = needs.len();
        let left_over = width.saturating_sub(1);
        if needs.iter().map(|need| need + AROUND).sum::<usize>() <= left_over {
            return Self {
                left: count,
                right: 0,
            };
        }
        let mut left_over = left_over.saturating_sub(left_out(count).width() + AROUND);
        let mut ends = Self { left: 0, right: 0 };
        while ends.left + ends.right < count {
            let is_left = ends.left <= ends.right;
            let at = match is_left {
                true => ends.left,
                false => count - 1 - ends.right,
            };
            let need = needs.get(at).map_or(0, |need| need + AROUND);
            if need > left_over && ends.left > 0 {
                break;
            }
            left_over = left_over.saturating_sub(need);
            match is_left {
                true => ends.left += 1,
                false => ends.right += 1,
            }
        }
        ends
    }

    /// How many of `count` columns are left out.
    pub(super) fn left_out(self, count: usize) -> usize {
        count - self.left - self.right
    }

    /// The columns at the ends, with `between` where others are left out.
    pub(super) fn of<T>(self, mut row: Vec<T>, between: T) -> Vec<T> {
        let left_out = self.left_out(row.len());
        if left_out > 0 {
            row.splice(self.left..self.left + left_out, [between]);
        }
        row
    }
}

/// The name of the column that stands for `count` others.
pub(super) fn left_out(count: usize) -> String {
    format!("… {count} more")
}

/// What a column with this header needs: its longest word, which is not broken, but half of the
/// terminal at most; and some of its cells.
pub(super) fn need<'a>(header: &str, cells: impl Iterator<Item = &'a str>, width: usize) -> usize {
    let longest = cells.map(|cell| cell.width()).max().unwrap_or(0);
    word(header, width).max(longest.min(CELL))
}

/// The width of the longest word of a header, if it may have that much.
pub(super) fn word(header: &str, width: usize) -> usize {
    let longest = header.split(' ').map(|word| word.width()).max();
    longest.unwrap_or(0).min(width / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_columns_or_the_ends() {
        // Three columns of 10 take 3 * 13 + 1.
        assert_eq!(Ends::fitting(&[10; 3], 40), Ends { left: 3, right: 0 });
        // Of 80, "… 300 more" takes 13 and the last line 1: five of 13 have room.
        assert_eq!(Ends::fitting(&[10; 300], 80), Ends { left: 3, right: 2 });
        assert_eq!(Ends::fitting(&[70, 70], 80), Ends { left: 1, right: 0 });
        assert_eq!(Ends::fitting(&[70, 70], 0), Ends { left: 1, right: 0 });
        assert_eq!(Ends::fitting(&[], 80), Ends { left: 0, right: 0 });
    }

    #[test]
    fn what_is_left_out_is_one_column() {
        let ends = Ends { left: 1, right: 1 };
        assert_eq!(ends.of(vec![1, 2, 3, 4], 0), [1, 0, 4]);
        assert_eq!(ends.of(vec![1, 2], 0), [1, 2]);
        assert_eq!(ends.left_out(4), 2);
    }

    #[test]
    fn headers_need_their_longest_word() {
        assert_eq!(need("row group", ["7"].into_iter(), 80), 5);
        assert_eq!(need("a", [&*"x".repeat(50)].into_iter(), 80), CELL);
        assert_eq!(need(&"x".repeat(50), [].into_iter(), 80), 40);
        assert_eq!(need("日本", [].into_iter(), 80), 4);
    }
}
