//! Needs and answers, the messages between the viewer's state and its reading thread.

use std::ops::Range;

use super::facts::Facts;

/// Something to read from the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Need {
    /// The cells of a window.
    Rows(Window),
    /// The complete text of a cell, to show it.
    Cell { row: u64, column: usize },
    /// The complete text of a cell, to copy it.
    Copy { row: u64, column: usize },
    /// The facts about another file in the directory.
    File(usize),
    /// The statistics of the values below a path. They come from the footer, unless `reads` is set
    /// to read all values.
    Stats { path: Vec<String>, reads: bool },
    /// The most frequent values below a path.
    Frequency { path: Vec<String> },
    /// The pages in the column chunks below a path.
    Pages { path: Vec<String>, row_group: usize },
    /// The nearest row that matches a condition. A forward search starts at `from`, and a backward
    /// search just before it.
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
    /// The cell's text, made printable and cut to a reasonable length.
    pub(super) text: String,
    pub(super) is_null: bool,
}

/// The cells of a column in a window, or the reason why they could not be read.
pub(super) type Cells = Result<Vec<Cell>, String>;

/// The answer to a need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// The columns of a window.
    Rows(Vec<Cells>),
    /// Text for the panel to wrap.
    Text(String),
    /// A table for the panel to align.
    Table(Table),
    /// The matching row, if there is one.
    Match(Option<u64>),
    /// The text of a cell. `Err` has the length in bytes of a text too long for the clipboard.
    Copy(Result<String, usize>),
    /// The facts about a file that was opened.
    File(Box<Facts>),
}

/// A table of text cells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Table {
    pub(super) header: Vec<String>,
    /// The columns that are aligned to the right.
    pub(super) numbers: Vec<usize>,
    pub(super) lines: Vec<Vec<String>>,
    /// The last line, for example the reason why more lines are missing.
    pub(super) end: Option<String>,
}

/// The answer, or the reason why there is none.
pub(super) type Reply = Result<Answer, String>;
