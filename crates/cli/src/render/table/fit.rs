//! The columns of a table that fit in a terminal.

use unicode_width::UnicodeWidthStr as _;

/// The width around each cell: a space at either side, and a line.
const AROUND: usize = 3;
/// The width that makes the cells of a column readable, if not in full.
const CELL: usize = 12;

/// The columns shown at both ends of a table. Those between them are omitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    /// The number of columns at the left.
    pub(super) left: usize,
    /// The number of columns at the right.
    pub(super) right: usize,
}

impl Ends {
    /// Returns the columns that fit in a terminal of `width`, given the widths that they need: all of them, or those
    /// at the ends. In the second case, a column between them counts the others. At least one column is shown.
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

    /// Returns the number of omitted columns out of `count`.
    pub(super) fn left_out(self, count: usize) -> usize {
        count - self.left - self.right
    }

    /// Returns the columns at the ends, with `between` in the place of omitted ones.
    pub(super) fn of<T>(self, mut row: Vec<T>, between: T) -> Vec<T> {
        let left_out = self.left_out(row.len());
        if left_out > 0 {
            row.splice(self.left..self.left + left_out, [between]);
        }
        row
    }
}

/// Returns the name of the column that represents `count` omitted ones.
pub(super) fn left_out(count: usize) -> String {
    format!("… {count} more")
}

/// Returns the width that a column needs. The longest word of its header must fit, but may take at most half of the
/// terminal. A readable part of its cells must fit too.
pub(super) fn need<'a>(header: &str, cells: impl Iterator<Item = &'a str>, width: usize) -> usize {
    let longest = cells.map(|cell| cell.width()).max().unwrap_or(0);
    word(header, width).max(longest.min(CELL))
}

/// Returns the width of the longest word of a header, but at most half of the terminal.
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
        // In 80 columns, "… 300 more" takes 13 and the last line 1. Five columns of 13 fit in the rest.
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
