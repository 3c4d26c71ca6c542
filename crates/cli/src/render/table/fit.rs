//! Chooses the columns of a table that fit in a terminal, and their widths.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The overhead per cell: a space on either side and a line.
const AROUND: usize = 3;
/// The minimum width for readable cells, even if they are cut.
const CELL: usize = 12;

/// The numbers of columns shown at both ends of a table, leaving out the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    /// The number of columns at the left.
    pub(super) left: usize,
    /// The number of columns at the right.
    pub(super) right: usize,
}

impl Ends {
    /// Returns the columns that fit in a terminal of `width`, given their needed widths. If not all
    /// fit, we keep columns at both ends, plus a column in between that counts the others. We
    /// always show at least one column.
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
        let (mut is_left_full, mut is_right_full) = (false, false);
        while ends.left + ends.right < count && !(is_left_full && is_right_full) {
            let is_left = is_right_full || (ends.left <= ends.right && !is_left_full);
            let at = match is_left {
                true => ends.left,
                false => count - 1 - ends.right,
            };
            let need = needs.get(at).map_or(0, |need| need + AROUND);
            if need > left_over && ends.left > 0 {
                match is_left {
                    true => is_left_full = true,
                    false => is_right_full = true,
                }
                continue;
            }
            left_over = left_over.saturating_sub(need);
            match is_left {
                true => ends.left += 1,
                false => ends.right += 1,
            }
        }
        ends
    }

    /// Returns the number of columns left out, out of `count`.
    pub(super) fn left_out(self, count: usize) -> usize {
        count - self.left - self.right
    }

    /// Returns the columns at the ends, with `between` in place of the middle.
    pub(super) fn of<T>(self, mut row: Vec<T>, between: T) -> Vec<T> {
        let left_out = self.left_out(row.len());
        if left_out > 0 {
            row.splice(self.left..self.left + left_out, [between]);
        }
        row
    }
}

/// Returns the name of the column that stands for `count` others.
pub(super) fn left_out(count: usize) -> String {
    format!("… {count} more")
}

/// The range of useful widths for a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Need {
    /// The width of the column's longest cell. More would be empty space.
    pub(super) most: usize,
    /// The minimum width for readable cells.
    pub(super) least: usize,
}

impl Need {
    /// Returns the widths for a column with these header lines and cells. `is_whole` returns true
    /// for cells that must not be cut. The header gets at most half of the terminal, so that a long
    /// name leaves room for other columns.
    pub(super) fn of<'a>(
        header: &[String],
        cells: impl Iterator<Item = &'a String>,
        is_whole: impl Fn(&str) -> bool,
        width: usize,
    ) -> Self {
        let header = header.iter().map(|line| line.width()).max().unwrap_or(0);
        let header = header.min(width / 2);
        let mut need = Self {
            most: header,
            least: header.min(CELL),
        };
        for cell in cells {
            let width = cell.width();
            need.most = need.most.max(width);
            let is_whole = width <= CELL || is_whole(cell);
            need.least = need.least.max(if is_whole { width } else { CELL });
        }
        need
    }

    /// Returns widths that keep the header on one line if there is room.
    pub(super) fn or_header(self, header: &str) -> Self {
        Self {
            most: self.most.max(header.width()),
            ..self
        }
    }
}

/// Distributes a terminal's width among columns. Spare width goes to columns with longer cells,
/// always to the narrowest first.
pub(super) fn widths(needs: &[Need], width: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = needs.iter().map(|need| need.least).collect();
    let taken = widths.iter().map(|width| width + AROUND).sum::<usize>() + 1;
    for _ in taken..width {
        let places = widths.iter_mut().zip(needs);
        let wanting = places.filter(|(width, need)| **width < need.most);
        match wanting.min_by_key(|(width, _)| **width) {
            Some((width, _)) => *width += 1,
            None => break,
        }
    }
    widths
}

/// Cuts text to a width, ending in `…` if anything was cut.
pub(super) fn cut(text: String, width: usize) -> String {
    if text.width() <= width {
        return text;
    }
    let mut out = String::new();
    let mut left = width.saturating_sub(1);
    for character in text.chars() {
        let Some(rest) = left.checked_sub(character.width().unwrap_or(0)) else {
            break;
        };
        left = rest;
        out.push(character);
    }
    out.push('…');
    out
}

/// Returns the columns of a list that fit in a terminal. We leave out spare columns first, then the
/// columns on the right.
pub(super) fn shown(needs: &[Need], spare: &[usize], width: usize) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..needs.len()).collect();
    for left_out in spare.iter().copied().chain((1..needs.len()).rev()) {
        let needed = shown.iter().filter_map(|at| needs.get(*at));
        if needed.map(|need| need.least + AROUND).sum::<usize>() < width {
            break;
        }
        shown.retain(|at| *at != left_out);
    }
    shown
}

/// Returns a header, broken between words if it is wider than its column.
pub(super) fn wrapped(header: &str, width: usize) -> String {
    match header.width() <= width {
        true => header.to_owned(),
        false => {
            let words = header.split(' ').map(|word| cut(word.to_owned(), width));
            words.collect::<Vec<_>>().join("\n")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_columns_or_the_ends() {
        // Three columns of 10 take 3 * 13 + 1.
        assert_eq!(Ends::fitting(&[10; 3], 40), Ends { left: 3, right: 0 });
        // In 80 columns, "… 300 more" takes 13 and the last line 1. Five columns of 13 fit in the
        // rest.
        assert_eq!(Ends::fitting(&[10; 300], 80), Ends { left: 3, right: 2 });
        assert_eq!(Ends::fitting(&[70, 70], 80), Ends { left: 1, right: 0 });
        assert_eq!(Ends::fitting(&[70, 70], 0), Ends { left: 1, right: 0 });
        // A wide column at one end leaves the room to the other end.
        assert_eq!(
            Ends::fitting(&[5, 5, 5, 70], 40),
            Ends { left: 3, right: 0 }
        );
        assert_eq!(
            Ends::fitting(&[5, 70, 5, 5], 40),
            Ends { left: 1, right: 2 }
        );
        assert_eq!(Ends::fitting(&[], 80), Ends { left: 0, right: 0 });
    }

    #[test]
    fn what_is_left_out_is_one_column() {
        let ends = Ends { left: 1, right: 1 };
        assert_eq!(ends.of(vec![1, 2, 3, 4], 0), [1, 0, 4]);
        assert_eq!(ends.of(vec![1, 2], 0), [1, 2]);
        assert_eq!(ends.left_out(4), 2);
    }

    fn need(header: &str, cell: &str, is_whole: bool) -> Need {
        Need::of(
            &[header.to_owned()],
            [cell.to_owned()].iter(),
            |_| is_whole,
            80,
        )
    }

    #[test]
    fn what_cannot_be_cut_needs_its_width() {
        let (long, number) = ("x".repeat(50), "1".repeat(50));
        assert_eq!(
            need("a", &number, true),
            Need {
                most: 50,
                least: 50
            }
        );
        assert_eq!(
            need("a", &long, false),
            Need {
                most: 50,
                least: CELL
            }
        );
        assert_eq!(
            need(&long, "", false),
            Need {
                most: 40,
                least: CELL
            }
        );
        assert_eq!(need("日本", "", false), Need { most: 4, least: 4 });
    }

    #[test]
    fn what_is_left_goes_to_the_narrowest() {
        let needs = [(5, 5), (50, 12), (14, 12)].map(|(most, least)| Need { most, least });
        // The cells take 5 + 12 + 12, and there are 10 around them.
        assert_eq!(widths(&needs, 39), [5, 12, 12]);
        assert_eq!(widths(&needs, 44), [5, 15, 14]);
        assert_eq!(widths(&needs, 400), [5, 50, 14]);
        assert_eq!(widths(&needs, 0), [5, 12, 12]);
        assert_eq!(widths(&[], 80), [0; 0]);
    }

    #[test]
    fn spare_columns_are_left_out_first() {
        let need = |most, least| Need { most, least };
        // The cells take 5 + 12 + 12 + 5, with 12 around them, and the last line takes 1.
        let needs = [need(5, 5), need(50, 12), need(14, 12), need(5, 5)];
        assert_eq!(shown(&needs, &[2], 47), [0, 1, 2, 3]);
        assert_eq!(shown(&needs, &[2], 46), [0, 1, 3]);
        assert_eq!(shown(&needs, &[2], 31), [0, 1]);
        assert_eq!(shown(&needs, &[], 46), [0, 1, 2]);
        assert_eq!(shown(&needs, &[2], 1), [0]);
        assert_eq!(shown(&[], &[], 80), [0; 0]);
    }

    #[test]
    fn headers_are_broken_between_words() {
        assert_eq!(wrapped("row group", 9), "row group");
        assert_eq!(wrapped("row group", 8), "row\ngroup");
        assert_eq!(wrapped("row group", 4), "row\ngro…");
    }

    #[test]
    fn texts_are_cut_to_a_width() {
        for (text, width, expected) in [
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("日本語", 5, "日本…"),
            ("日本語", 4, "日…"),
            ("abc", 1, "…"),
        ] {
            assert_eq!(cut(text.to_owned(), width), expected, "{text} {width}");
        }
    }
}
