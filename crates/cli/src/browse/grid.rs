//! The grid of rows on the screen: which rows and columns are visible, and how wide the columns
//! are.

use super::facts::Facts;
use super::need::{Answer, Cell, Cells, Window};
use super::text::width;

/// The maximum width of a column, in terminal columns.
const WIDEST: usize = 40;
/// The space between two columns.
pub(super) const GAP: usize = 2;
/// The minimum width of a column cut off at the screen's edge. Narrower columns are left out.
const NARROWEST: usize = 8;

/// A column on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lane {
    pub(super) column: usize,
    pub(super) width: usize,
    /// True if the column is wider than the space for it.
    is_cut: bool,
}

/// The rows on the screen, and the cell with the cursor.
#[derive(Debug, Default)]
pub(super) struct Grid {
    rows: u64,
    /// Each column's width, that is, the width of its name or of the widest cell so far.
    widths: Vec<usize>,
    are_numbers: Vec<bool>,
    /// The space on the screen, in terminal columns and lines.
    width: usize,
    height: usize,
    /// The row and the column of the cursor.
    pub(super) row: u64,
    pub(super) column: usize,
    /// The first row and the first column on the screen.
    top: u64,
    left: usize,
    window: Window,
    loaded: Vec<Cells>,
}

impl Grid {
    /// Creates a file's grid, with the cursor in the first cell.
    pub(super) fn new(facts: &Facts) -> Self {
        let names = facts.columns.iter();
        let names = names.map(|name| width(&crate::render::table::shown(&name.name)).min(WIDEST));
        Self {
            rows: facts.rows(),
            widths: names.collect(),
            are_numbers: facts
                .columns
                .iter()
                .map(|column| column.is_number)
                .collect(),
            ..Self::default()
        }
    }

    /// Sets the space for rows.
    pub(super) fn resize(&mut self, width: usize, height: usize) {
        (self.width, self.height) = (width, height);
        self.settle();
    }

    /// Returns the number of rows that fit.
    pub(super) fn height(&self) -> usize {
        self.height
    }

    /// Returns the width of the row numbers.
    pub(super) fn gutter(&self) -> usize {
        self.rows.saturating_sub(1).to_string().len().max(3)
    }

    /// Moves the cursor to a row.
    pub(super) fn go_to_row(&mut self, row: u64) {
        self.row = row.min(self.rows.saturating_sub(1));
        self.settle();
    }

    /// Moves the cursor to a row that might be far away. If the row wasn't visible, we center it on
    /// the screen to show some context.
    pub(super) fn jump(&mut self, row: u64) {
        if !self.window().rows.contains(&row) {
            self.top = row.saturating_sub(self.height as u64 / 2);
        }
        self.go_to_row(row);
    }

    /// Returns true if the cursor is in the lower half of the screen.
    pub(super) fn is_low(&self) -> bool {
        self.row.saturating_sub(self.top) >= self.height as u64 / 2
    }

    /// Moves the cursor to a column.
    pub(super) fn go_to_column(&mut self, column: usize) {
        self.column = column.min(self.widths.len().saturating_sub(1));
        self.settle();
    }

    /// Scrolls until the cursor is on the screen.
    fn settle(&mut self) {
        let height = self.height.max(1) as u64;
        let lowest = self.rows.saturating_sub(height);
        self.top = self.top.min(lowest).min(self.row);
        self.top = self.top.max((self.row + 1).saturating_sub(height));
        self.left = self.left.min(self.column);
        while self.left < self.column && !self.shows(self.column) {
            self.left += 1;
        }
    }

    /// Returns true if the whole width of a column is on the screen.
    fn shows(&self, column: usize) -> bool {
        let lanes = self.lanes();
        lanes
            .iter()
            .any(|lane| lane.column == column && !lane.is_cut)
    }

    /// Returns the columns on the screen. The last column is allowed to be cut if it's text.
    /// Numbers are left out instead, because a cut number would be misread.
    pub(super) fn lanes(&self) -> Vec<Lane> {
        let mut space = self.width.saturating_sub(self.gutter());
        let mut lanes = Vec::new();
        for (column, &width) in self.widths.iter().enumerate().skip(self.left) {
            space = space.saturating_sub(GAP);
            let is_cut = width > space;
            let is_number = self.are_numbers.get(column) == Some(&true);
            if is_cut && !lanes.is_empty() && (space < NARROWEST || is_number) {
                break;
            }
            let width = width.min(space);
            lanes.push(Lane {
                column,
                width,
                is_cut,
            });
            space -= width;
            if is_cut {
                break;
            }
        }
        lanes
    }

    /// Returns the rows and columns that are on the screen.
    pub(super) fn window(&self) -> Window {
        let end = self.top.saturating_add(self.height as u64).min(self.rows);
        let last = self
            .lanes()
            .last()
            .map_or(self.left, |lane| lane.column + 1);
        Window {
            rows: self.top..end,
            columns: self.left..last,
        }
    }

    /// Returns true if the window's cells are loaded or the window is empty.
    pub(super) fn has(&self, window: &Window) -> bool {
        let (rows, columns) = (&window.rows, &window.columns);
        let has_rows = self.window.rows == *rows;
        let has_columns =
            columns.start >= self.window.columns.start && columns.end <= self.window.columns.end;
        rows.is_empty() || columns.is_empty() || (has_rows && has_columns)
    }

    /// Takes the cells for a window. Columns grow to fit their cells but never shrink.
    pub(super) fn load(&mut self, window: Window, answer: Answer) {
        let Answer::Rows(loaded) = answer else {
            return;
        };
        for (most, cells) in self
            .widths
            .iter_mut()
            .skip(window.columns.start)
            .zip(&loaded)
        {
            let cells = cells.iter().flatten();
            let widest = cells.map(|cell| width(&cell.text)).max().unwrap_or(0);
            *most = widest.min(WIDEST).max(*most);
        }
        (self.window, self.loaded) = (window, loaded);
        self.settle();
    }

    /// Forgets all cells, so that they are read again.
    pub(super) fn unload(&mut self) {
        self.window = Window::default();
        self.loaded.clear();
    }

    /// Returns a cell, if it is loaded. An error concerns the whole column.
    pub(super) fn cell(&self, row: u64, column: usize) -> Option<Result<&Cell, &str>> {
        let at = column.checked_sub(self.window.columns.start)?;
        let down = row.checked_sub(self.window.rows.start)?;
        if !self.window.rows.contains(&row) {
            return None;
        }
        match self.loaded.get(at)? {
            Ok(cells) => cells.get(usize::try_from(down).ok()?).map(Ok),
            Err(error) => Some(Err(error)),
        }
    }

    /// Returns the error of the cursor's column, falling back to the first error of any column on
    /// the screen.
    pub(super) fn error(&self) -> Option<&str> {
        let window = self.window();
        let mut columns = std::iter::once(self.column).chain(window.columns);
        columns.find_map(|column| self.cell(window.rows.start, column)?.err())
    }
}
