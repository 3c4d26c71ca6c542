//! Needs of the state, and the answers of the file.

use std::ops::Range;

use super::facts::Facts;

/// Something to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Need {
    /// The cells of a window.
    Rows(Window),
    /// A cell in full.
    Cell { row: u64, column: usize },
    /// The text of a cell, to copy it.
    Copy { row: u64, column: usize },
    /// The facts of another file of the directory.
    File(usize),
    /// The facts about the values below a path. They are those of the footer, unless all values are read.
    Stats { path: Vec<String>, reads: bool },
    /// The most frequent values below a path.
    Frequency { path: Vec<String> },
    /// The pages of the column chunks below a path.
    Pages { path: Vec<String>, row_group: usize },
    /// The nearest row that matches a condition: `from` or after it, or before `from`.
    Match {
        condition: String,
        from: u64,
        is_forward: bool,
    },
}

/// The rows and columns on the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Window {
    pub(super) rows: Range<u64>,
    pub(super) columns: Range<usize>,
}

/// A cell of a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    /// The text, printable and cut.
    pub(super) text: String,
    pub(super) is_null: bool,
}

/// The cells of a column in a window, or the reason why there are none.
pub(super) type Cells = Result<Vec<Cell>, String>;

/// The answer to a need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// The columns of a window.
    Rows(Vec<Cells>),
    /// Text to wrap.
    Text(String),
    /// Lines to align.
    Table(Table),
    /// The row that matches, if there is one.
    Match(Option<u64>),
    /// The text of a cell, and its length in bytes, if it is too long for the clipboard.
    Copy(Result<String, usize>),
    /// The facts of a file that was opened.
    File(Box<Facts>),
}

/// Lines of cells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Table {
    pub(super) header: Vec<String>,
    /// The columns aligned to the right.
    pub(super) numbers: Vec<usize>,
    pub(super) lines: Vec<Vec<String>>,
    /// The last line, such as the reason why others are missing.
    pub(super) end: Option<String>,
}

/// The answer, or the reason why there is none.
pub(super) type Reply = Result<Answer, String>;
