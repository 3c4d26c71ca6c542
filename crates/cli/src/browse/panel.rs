//! The pages of text on top of the rows.

use super::need::{Answer, Need, Reply};
use super::text::{aligned, wrapped};

/// A page of text.
#[derive(Debug)]
pub(super) struct Panel {
    pub(super) title: String,
    /// The source of the text. `None` if the page needs nothing from the file.
    pub(super) need: Option<Need>,
    body: Body,
    /// The cursor's line, if this is a list to choose from.
    pub(super) cursor: Option<usize>,
    /// The first line and the first column on the screen.
    top: usize,
    pub(super) left: usize,
    height: usize,
    width: usize,
}

#[derive(Debug)]
enum Body {
    Waiting,
    Lines {
        header: String,
        lines: Vec<String>,
    },
    /// A text, and its lines at the present width.
    Text {
        text: String,
        lines: Vec<String>,
    },
}

impl Panel {
    /// Creates a panel that shows the answer to a need.
    pub(super) fn of(title: String, need: Need) -> Self {
        Self::new(title, Some(need), Body::Waiting)
    }

    /// Creates a panel that shows a list of lines.
    pub(super) fn list(title: String, lines: Vec<String>, cursor: Option<usize>) -> Self {
        let header = String::new();
        let mut panel = Self::new(title, None, Body::Lines { header, lines });
        panel.cursor = cursor;
        panel
    }

    fn new(title: String, need: Option<Need>, body: Body) -> Self {
        Self {
            title,
            need,
            body,
            cursor: None,
            top: 0,
            left: 0,
            height: 0,
            width: 0,
        }
    }

    /// Returns true if the panel is waiting for its answer.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.body, Body::Waiting)
    }

    /// Takes the answer.
    pub(super) fn load(&mut self, reply: Reply) {
        self.body = match reply {
            Ok(Answer::Table(table)) => {
                let (header, mut lines) = aligned(&table);
                lines.extend(table.end);
                Body::Lines { header, lines }
            }
            Ok(Answer::Text(text)) | Err(text) => Body::Text {
                text,
                lines: Vec::new(),
            },
            Ok(_) => return,
        };
        self.resize(self.width, self.height);
    }

    /// Sets the space for lines, wrapping any text again.
    pub(super) fn resize(&mut self, width: usize, height: usize) {
        (self.width, self.height) = (width, height);
        if let Body::Text { text, lines } = &mut self.body {
            *lines = wrapped(text, width);
        }
        self.scroll(0);
    }

    /// Returns the header line, which stays put while the others scroll.
    pub(super) fn header(&self) -> &str {
        match &self.body {
            Body::Lines { header, .. } => header,
            _ => "",
        }
    }

    fn lines(&self) -> &[String] {
        match &self.body {
            Body::Waiting => &[],
            Body::Lines { lines, .. } | Body::Text { lines, .. } => lines,
        }
    }

    /// Returns the lines on the screen, and true for the line with the cursor.
    pub(super) fn shown(&self) -> impl Iterator<Item = (&str, bool)> {
        let lines = self.lines().iter().enumerate().skip(self.top);
        let lines = lines.take(self.height);
        lines.map(|(at, line)| (line.as_str(), self.cursor == Some(at)))
    }

    /// Moves the cursor by some lines. A panel without a cursor scrolls instead.
    pub(super) fn scroll(&mut self, by: i64) {
        let count = self.lines().len();
        let moved = |from: usize, last: usize| {
            let by_lines = usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX);
            match by < 0 {
                true => from.saturating_sub(by_lines),
                false => from.saturating_add(by_lines).min(last),
            }
        };
        let lowest = count.saturating_sub(self.height);
        match &mut self.cursor {
            Some(cursor) => {
                *cursor = moved(*cursor, count.saturating_sub(1));
                self.top = self.top.min(*cursor);
                self.top = self
                    .top
                    .max((*cursor + 1).saturating_sub(self.height.max(1)));
            }
            None => self.top = moved(self.top, lowest),
        }
        self.top = self.top.min(lowest);
    }

    /// Moves the panel's view to the right or to the left. This has no effect on wrapped text,
    /// which is never wider than the screen.
    pub(super) fn shift(&mut self, is_right: bool) {
        const STEP: usize = 8;
        let widest = self.lines().iter().map(|line| super::text::width(line));
        let last = widest.max().unwrap_or(0).saturating_sub(self.width);
        self.left = match is_right {
            true => (self.left + STEP).min(last),
            false => self.left.saturating_sub(STEP),
        };
    }

    /// Returns the position on the screen, such as `lines 1 to 20 of 57`. `None` if all lines are
    /// visible.
    pub(super) fn place(&self) -> Option<String> {
        let count = self.lines().len();
        let end = (self.top + self.height).min(count);
        let is_whole = count <= self.height;
        (!is_whole).then(|| format!("lines {} to {end} of {count}", self.top + 1))
    }
}
