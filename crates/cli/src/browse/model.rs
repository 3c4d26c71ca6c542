//! The viewer's state, and the effect of each key on it.
//!
//! Nothing here reads a file or uses a terminal. [`Model::need`] returns the next thing to read for
//! the current state. [`Model::answer`] takes the result, whatever keys were pressed in the
//! meantime.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::facts::Facts;
use super::grid::Grid;
use super::help;
use super::need::{Answer, Need, Reply};
use super::panel::Panel;
use crate::base::plural::counted;
use crate::base::printable::printable;
use crate::render::table::shown;

/// The number of lines around the rows, which are title, header and status.
const AROUND: u16 = 3;

/// The viewer's state.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) facts: Facts,
    pub(super) grid: Grid,
    /// The pages in front of the rows. Only the last one is visible.
    panels: Vec<Panel>,
    pub(super) prompt: Option<Prompt>,
    /// The outcome of the last key, to show to the user.
    pub(super) message: Option<String>,
    /// The condition that the user typed last.
    condition: String,
    /// The outstanding search, copy or change to another file.
    asked: Option<Need>,
    /// Text for the terminal's clipboard.
    pub(super) copied: Option<String>,
    /// The cancelled need. We don't ask for it again until the state needs something else.
    given_up: Option<Need>,
    size: (u16, u16),
    /// True if the user has left.
    pub(super) has_ended: bool,
}

/// A line being typed by the user.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Prompt {
    pub(super) kind: Asked,
    pub(super) text: String,
}

/// The purpose of the line being typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    Row,
    Condition,
}

impl Model {
    /// Creates the initial state for a file. `size` has the screen's columns and lines.
    pub(super) fn new(facts: Facts, size: (u16, u16)) -> Self {
        let mut model = Self {
            grid: Grid::new(&facts),
            facts,
            panels: Vec::new(),
            prompt: None,
            message: None,
            condition: String::new(),
            asked: None,
            copied: None,
            given_up: None,
            size,
            has_ended: false,
        };
        model.resize(size);
        model
    }

    /// Returns the page on the screen. `None` means that the rows are visible.
    pub(super) fn panel(&self) -> Option<&Panel> {
        self.panels.last()
    }

    /// Sets the size of the screen.
    pub(super) fn resize(&mut self, size: (u16, u16)) {
        self.size = size;
        let (width, height) = (size.0.into(), size.1.saturating_sub(AROUND).into());
        self.grid.resize(width, height);
        for panel in &mut self.panels {
            panel.resize(width, height);
        }
    }

    /// Returns the next thing to read for the screen.
    pub(super) fn need(&self) -> Option<Need> {
        let need = match (&self.asked, self.panel()) {
            (Some(asked), _) => Some(asked.clone()),
            (None, Some(panel)) => panel.need.clone().filter(|_| panel.is_waiting()),
            (None, None) => {
                let window = self.grid.window();
                (!self.grid.has(&window)).then_some(Need::Rows(window))
            }
        };
        need.filter(|need| self.given_up.as_ref() != Some(need))
    }

    /// Takes an answer. Since it might come too late, we first check if anything is still waiting
    /// for it.
    pub(super) fn answer(&mut self, need: Need, reply: Reply) {
        if self.asked.as_ref() == Some(&need) {
            self.asked = None;
            self.end(&need, reply);
            return;
        }
        match (need, reply) {
            (Need::Rows(window), Ok(answer)) => self.grid.load(window, answer),
            (need @ Need::Rows(_), Err(error)) => {
                self.message = Some(error);
                self.given_up = Some(need);
            }
            (need, reply) => {
                let waiting = self.panels.iter_mut();
                let mut waiting = waiting.filter(|waiting| waiting.is_waiting());
                if let Some(panel) = waiting.find(|waiting| waiting.need.as_ref() == Some(&need)) {
                    panel.load(reply);
                }
            }
        }
    }

    /// Takes the answer to a search, a copy, or a change to another file.
    fn end(&mut self, need: &Need, reply: Reply) {
        match reply {
            Ok(Answer::File(facts)) => {
                self.grid = Grid::new(&facts);
                self.facts = *facts;
                self.panels.clear();
                self.given_up = None;
                self.resize(self.size);
            }
            Ok(Answer::Copy(Ok(text))) => {
                let count = text.chars().count();
                self.message = Some(format!("copied {}", counted(count as i128, "character")));
                self.copied = Some(text);
            }
            Ok(Answer::Copy(Err(bytes))) => {
                self.message = Some(format!(
                    "a terminal's clipboard has no room for {bytes} bytes; Enter shows the cell"
                ));
            }
            Err(error) if matches!(need, Need::Copy { .. } | Need::File(_)) => {
                self.message = Some(error);
            }
            reply => self.end_search(need, reply),
        }
    }

    fn end_search(&mut self, need: &Need, reply: Reply) {
        let Need::Match {
            condition,
            from,
            is_forward,
        } = need
        else {
            return;
        };
        let condition = shown(condition);
        self.message = Some(match (reply, is_forward) {
            (Ok(Answer::Match(Some(row))), _) => {
                self.grid.jump(row);
                format!("row {row}: {condition}")
            }
            (Ok(_), true) => format!("no row from {from} on has {condition}; N searches before it"),
            (Ok(_), false) => format!("no row before {from} has {condition}; n searches after it"),
            (Err(error), _) => error,
        });
    }

    /// Handles a key.
    pub(super) fn key(&mut self, key: KeyEvent) {
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('c') {
            self.has_ended = true;
            return;
        }
        self.message = None;
        if let Some(prompt) = self.prompt.take() {
            self.prompt = self.typed(prompt, key);
            return;
        }
        let is_plain = !key
            .modifiers
            .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        match key.code {
            KeyCode::Char('q') if is_plain => self.has_ended = self.panels.pop().is_none(),
            KeyCode::Esc => self.go_back(),
            KeyCode::Char('?') | KeyCode::F(1) => self.open(Panel::list(
                "Keys".into(),
                help::KEYS.lines().map(str::to_owned).collect(),
                None,
            )),
            code if is_plain => match self.panels.is_empty() {
                true => self.key_of_rows(code),
                false => self.key_of_panel(code),
            },
            _ => {}
        }
    }

    /// Cancels the current read, or leaves the page if nothing is being read.
    fn go_back(&mut self) {
        let waits = self.need();
        if let Some(asked) = self.asked.take() {
            let what = match asked {
                Need::Match { .. } => "the search is cancelled",
                _ => "cancelled",
            };
            self.message = Some(what.into());
        } else if self.panels.pop().is_none() && waits.is_some() {
            self.given_up = waits;
            self.message = Some("cancelled; r reads these rows again".into());
        }
    }

    fn key_of_rows(&mut self, code: KeyCode) {
        let grid = &mut self.grid;
        let (row, column) = (grid.row, grid.column);
        let page = grid.height().max(1) as u64;
        match code {
            KeyCode::Down | KeyCode::Char('j') => grid.go_to_row(row.saturating_add(1)),
            KeyCode::Up | KeyCode::Char('k') => grid.go_to_row(row.saturating_sub(1)),
            KeyCode::PageDown | KeyCode::Char(' ') => grid.go_to_row(row.saturating_add(page)),
            KeyCode::PageUp | KeyCode::Char('b') => grid.go_to_row(row.saturating_sub(page)),
            KeyCode::Home | KeyCode::Char('g') => grid.go_to_row(0),
            KeyCode::End | KeyCode::Char('G') => grid.go_to_row(u64::MAX),
            KeyCode::Right | KeyCode::Char('l') | KeyCode::Tab => grid.go_to_column(column + 1),
            KeyCode::Left | KeyCode::Char('h') | KeyCode::BackTab => {
                grid.go_to_column(column.saturating_sub(1));
            }
            KeyCode::Char('^') => grid.go_to_column(0),
            KeyCode::Char('$') => grid.go_to_column(usize::MAX),
            KeyCode::Char(':') => self.ask(Asked::Row, String::new()),
            KeyCode::Char(digit @ '0'..='9') => self.ask(Asked::Row, digit.into()),
            KeyCode::Char('/') => self.ask(Asked::Condition, String::new()),
            KeyCode::Char('n') => self.search_on(true),
            KeyCode::Char('N') => self.search_on(false),
            KeyCode::Char('r') => {
                self.given_up = None;
                grid.unload();
            }
            KeyCode::Char('t') => self.open_tree(),
            KeyCode::Enter => self.open_cell(),
            KeyCode::Char('y') if self.facts.rows() > 0 => {
                self.asked = Some(Need::Copy { row, column });
            }
            KeyCode::Char('<') => self.go_to_file(|file| file.checked_sub(1)),
            KeyCode::Char('>') => self.go_to_file(|file| file.checked_add(1)),
            code => {
                let column = self.facts.columns.get(column);
                if let Some(path) = column.map(|column| vec![column.name.clone()]) {
                    self.open_path(code, path);
                }
            }
        }
    }

    fn key_of_panel(&mut self, code: KeyCode) {
        let page = self.grid.height().max(1) as i64;
        let is_tree = self.panel().is_some_and(|panel| panel.cursor.is_some());
        let Some(panel) = self.panels.last_mut() else {
            return;
        };
        match code {
            KeyCode::Down | KeyCode::Char('j') => panel.scroll(1),
            KeyCode::Up | KeyCode::Char('k') => panel.scroll(-1),
            KeyCode::PageDown | KeyCode::Char(' ') => panel.scroll(page),
            KeyCode::PageUp | KeyCode::Char('b') => panel.scroll(-page),
            KeyCode::Home | KeyCode::Char('g') => panel.scroll(i64::MIN),
            KeyCode::End | KeyCode::Char('G') => panel.scroll(i64::MAX),
            KeyCode::Right | KeyCode::Char('l') => panel.shift(true),
            KeyCode::Left | KeyCode::Char('h') => panel.shift(false),
            KeyCode::Backspace => self.go_back(),
            KeyCode::Char('r') => self.read_values(),
            KeyCode::Char('[') => self.turn(|row_group| row_group.checked_sub(1)),
            KeyCode::Char(']') => self.turn(|row_group| row_group.checked_add(1)),
            code if is_tree => self.key_of_tree(code),
            _ => {}
        }
    }

    fn key_of_tree(&mut self, code: KeyCode) {
        let at = self.panel().and_then(|panel| panel.cursor);
        let branch = at.and_then(|at| self.facts.tree.get(at));
        let Some(path) = branch.map(|branch| branch.path.clone()) else {
            return;
        };
        if code != KeyCode::Enter {
            return self.open_path(code, path);
        }
        // Column names aren't unique, so we count columns. They are in tree order.
        let tops = self.facts.tree.iter().take(at.unwrap_or(0) + 1);
        let column = tops.filter(|top| top.depth == 0).count();
        self.panels.pop();
        self.grid.go_to_column(column.saturating_sub(1));
    }

    /// Opens a page about the column or field at a path.
    fn open_path(&mut self, code: KeyCode, path: Vec<String>) {
        let name = shown(&path.join("."));
        let (title, need) = match code {
            KeyCode::Char('s') => {
                let need = Need::Stats { path, reads: false };
                (format!("{name}: statistics of the footer"), need)
            }
            KeyCode::Char('f') => {
                let title = format!("{name}: most frequent values");
                (title, Need::Frequency { path })
            }
            KeyCode::Char('p') => {
                let row_group = self.facts.row_group(self.grid.row);
                let title = title_of_pages(&name, row_group);
                (title, Need::Pages { path, row_group })
            }
            _ => return,
        };
        self.open(Panel::of(title, need));
    }

    fn open_cell(&mut self) {
        let (row, column) = (self.grid.row, self.grid.column);
        let found = self.facts.columns.get(column);
        if let Some(found) = found.filter(|_| self.facts.rows() > 0) {
            let title = format!("{}, row {row}", shown(&found.name));
            self.open(Panel::of(title, Need::Cell { row, column }));
        }
    }

    fn open_tree(&mut self) {
        let tree = self.facts.tree.iter();
        let lines = tree.clone().map(|tree| tree.text.clone()).collect();
        let mut tops = tree.enumerate().filter(|(_, node)| node.depth == 0);
        let at = tops.nth(self.grid.column).map_or(0, |(at, _)| at);
        self.open(Panel::list("Schema".into(), lines, Some(at)));
    }

    fn open(&mut self, mut panel: Panel) {
        /// The maximum number of stacked pages, so that the stack can't grow without bound.
        const DEEPEST: usize = 8;
        self.given_up = None;
        if self.panels.len() == DEEPEST {
            self.panels.pop();
        }
        let height = self.size.1.saturating_sub(AROUND).into();
        panel.resize(self.size.0.into(), height);
        self.panels.push(panel);
    }

    /// Replaces the footer's statistics by statistics of all values.
    fn read_values(&mut self) {
        let need = self.panel().and_then(|panel| panel.need.clone());
        if let Some(Need::Stats { path, .. }) = need {
            self.panels.pop();
            let title = format!("{}: statistics of all values", shown(&path.join(".")));
            self.open(Panel::of(title, Need::Stats { path, reads: true }));
        }
    }

    /// Opens another file of the directory.
    fn go_to_file(&mut self, to: impl Fn(usize) -> Option<usize>) {
        let other = to(self.facts.file).filter(|file| *file < self.facts.files);
        match other {
            Some(file) => self.asked = Some(Need::File(file)),
            None => self.message = Some("there is no other file".into()),
        }
    }

    /// Shows the pages of another row group.
    fn turn(&mut self, to: impl Fn(usize) -> Option<usize>) {
        let need = self.panel().and_then(|panel| panel.need.clone());
        let Some(Need::Pages { path, row_group }) = need else {
            return;
        };
        match to(row_group).filter(|row_group| *row_group < self.facts.row_groups()) {
            Some(row_group) => {
                self.panels.pop();
                let title = title_of_pages(&shown(&path.join(".")), row_group);
                self.open(Panel::of(title, Need::Pages { path, row_group }));
            }
            None => self.message = Some("there is no other row group".into()),
        }
    }

    fn ask(&mut self, kind: Asked, text: String) {
        self.prompt = Some(Prompt { kind, text });
    }

    /// Handles a key while the user is typing a line. Returns the line unless it is finished.
    fn typed(&mut self, mut prompt: Prompt, key: KeyEvent) -> Option<Prompt> {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => return None,
            KeyCode::Backspace if prompt.text.pop().is_none() => return None,
            KeyCode::Char('u') if is_control => prompt.text.clear(),
            KeyCode::Up if prompt.kind == Asked::Condition => {
                prompt.text.clone_from(&self.condition);
            }
            KeyCode::Char(character) if !is_control => prompt.text.push(character),
            KeyCode::Enter => {
                self.finish(&prompt);
                return None;
            }
            _ => {}
        }
        Some(prompt)
    }

    fn finish(&mut self, prompt: &Prompt) {
        let text = prompt.text.trim();
        match prompt.kind {
            _ if text.is_empty() => {}
            Asked::Row => match text.parse::<u64>() {
                Ok(row) if row < self.facts.rows() => self.grid.jump(row),
                Ok(_) => {
                    let rows = self.facts.rows();
                    self.message = Some(format!("rows are counted from 0, and there are {rows}"));
                }
                Err(_) => {
                    let text = shown(&printable(text));
                    self.message = Some(format!("expected the number of a row, found `{text}`"));
                }
            },
            Asked::Condition => {
                text.clone_into(&mut self.condition);
                self.asked = Some(Need::Match {
                    condition: self.condition.clone(),
                    from: self.grid.row,
                    is_forward: true,
                });
            }
        }
    }

    /// Searches for the next row that matches the last condition, or for the row before.
    fn search_on(&mut self, is_forward: bool) {
        if self.condition.is_empty() {
            self.message = Some("type / and a condition first, e.g. /fare > 5".into());
            return;
        }
        let row = self.grid.row;
        self.asked = Some(Need::Match {
            condition: self.condition.clone(),
            from: if is_forward {
                row.saturating_add(1)
            } else {
                row
            },
            is_forward,
        });
    }
}

fn title_of_pages(name: &str, row_group: usize) -> String {
    format!("{name}: pages in row group {row_group}")
}
