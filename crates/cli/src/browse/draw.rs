//! Draws the viewer's state on a screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};

use super::grid::{GAP, Grid, Lane};
use super::model::{Asked, Model};
use super::panel::Panel;
use super::text::{cut, end, width, without_start, wrapped};
use crate::base::plural::{counted, size};
use crate::render::table::shown;

/// The maximum number of lines of a message.
const MESSAGE_LINES: usize = 5;

/// Drawing options apart from the state.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    /// True unless the user has turned colours off.
    pub(super) has_colors: bool,
    /// True if the screen is waiting for data from the file.
    pub(super) is_waiting: bool,
    /// The progress of the read in percent, if known.
    pub(super) percent: Option<u8>,
}

impl Look {
    fn colored(self, color: Color) -> Style {
        match self.has_colors {
            true => Style::new().fg(color),
            false => Style::new(),
        }
    }

    fn title(self) -> Style {
        self.colored(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    fn header(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED)
    }

    fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    fn error(self) -> Style {
        self.colored(Color::Red).add_modifier(Modifier::BOLD)
    }

    fn cursor(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}

/// Draws the state.
pub(super) fn draw(model: &Model, look: Look, buffer: &mut Buffer) {
    let area = *buffer.area();
    let title = match model.panel() {
        Some(panel) => panel.title.clone(),
        None => title(model),
    };
    put(buffer, 0, 0, &title, look.title());
    match model.panel() {
        Some(panel) => draw_panel(panel, look, buffer),
        None => draw_rows(model, look, buffer),
    }
    draw_message(model, look, buffer);
    if area.height > 1 {
        draw_status(model, look, buffer);
    }
}

/// Writes text on one line, cutting it at the screen's edge.
fn put(buffer: &mut Buffer, x: usize, y: usize, text: &str, style: Style) {
    let Rect { width, height, .. } = *buffer.area();
    let (Ok(x), Ok(y)) = (u16::try_from(x), u16::try_from(y)) else {
        return;
    };
    if x < width && y < height {
        let space = width - x;
        buffer.set_stringn(x, y, cut(text, space.into()), space.into(), style);
    }
}

fn title(model: &Model) -> String {
    let facts = &model.facts;
    let file = match facts.files {
        0 | 1 => String::new(),
        files => format!("file {} of {files}, ", facts.file + 1),
    };
    format!(
        "{}  {file}{}, {}, {}",
        facts.name,
        counted(i128::from(facts.rows()), "row"),
        counted(facts.columns.len() as i128, "column"),
        size(i128::from(facts.size))
    )
}

fn draw_panel(panel: &Panel, look: Look, buffer: &mut Buffer) {
    let header = without_start(panel.header(), panel.left);
    put(buffer, 0, 1, header, look.header());
    for (y, (line, has_cursor)) in panel.shown().enumerate() {
        let style = match has_cursor {
            true => look.cursor(),
            false => Style::new(),
        };
        put(buffer, 0, y + 2, without_start(line, panel.left), style);
    }
}

fn draw_rows(model: &Model, look: Look, buffer: &mut Buffer) {
    let grid = &model.grid;
    let gutter = grid.gutter();
    put(buffer, 0, 1, &format!("{:>gutter$}", "row"), look.dim());
    let rows = grid.window().rows;
    for (y, row) in rows.clone().enumerate() {
        let style = match row == grid.row {
            true => Style::new().add_modifier(Modifier::BOLD),
            false => look.dim(),
        };
        put(buffer, 0, y + 2, &format!("{row:>gutter$}"), style);
    }
    let mut x = gutter;
    for lane in grid.lanes() {
        x += GAP;
        let Some(column) = model.facts.columns.get(lane.column) else {
            continue;
        };
        let name = padded(&shown(&column.name), lane.width, column.is_number);
        put(buffer, x, 1, &name, look.header());
        for (y, row) in rows.clone().enumerate() {
            let (text, style) = cell(grid, row, lane, look);
            let has_cursor = row == grid.row && lane.column == grid.column;
            let (text, style) = match has_cursor {
                true => (padded(&text, lane.width, column.is_number), look.cursor()),
                false => (padded(&text, lane.width, column.is_number), style),
            };
            put(buffer, x, y + 2, &text, style);
        }
        x += lane.width;
    }
    if grid.window().rows.is_empty() {
        put(buffer, 0, 2, "no rows", look.dim());
    }
}

fn cell(grid: &Grid, row: u64, lane: Lane, look: Look) -> (String, Style) {
    match grid.cell(row, lane.column) {
        Some(Ok(cell)) if cell.is_null => (cell.text.clone(), look.dim()),
        Some(Ok(cell)) => (cell.text.clone(), Style::new()),
        Some(Err(_)) => ("error".into(), look.error()),
        None => ("·".into(), look.dim()),
    }
}

/// Returns the text, cut or padded to exactly this number of columns.
fn padded(text: &str, columns: usize, is_right: bool) -> String {
    let text = cut(text, columns);
    let space = " ".repeat(columns.saturating_sub(width(&text)));
    match is_right {
        true => space + &text,
        false => text + &space,
    }
}

/// Draws the rows' error, or a message that is too long for the status line. It is drawn away from
/// the cursor, so that it doesn't hide the current cell.
fn draw_message(model: &Model, look: Look, buffer: &mut Buffer) {
    let Rect { width, height, .. } = *buffer.area();
    let is_long = |text: &&String| super::text::width(text) > space_of_status(model, width.into());
    let row_error = || model.grid.error().filter(|_| model.panel().is_none());
    let (text, style) = match (model.message.as_ref().filter(is_long), row_error()) {
        (Some(message), _) => (message.as_str(), look.cursor()),
        (None, Some(error)) => (error, look.error()),
        (None, None) => return,
    };
    let lines = wrapped(text, width.into());
    let count = lines.len().min(MESSAGE_LINES);
    let top = match model.panel().is_none() && model.grid.is_low() {
        true => 2,
        false => usize::from(height).saturating_sub(count + 1),
    };
    for (y, line) in lines.iter().take(count).enumerate() {
        put(
            buffer,
            0,
            top + y,
            &padded(line, width.into(), false),
            style,
        );
    }
}

/// Returns the key hints for the status line.
fn keys(model: &Model) -> &'static str {
    match model.panel() {
        Some(_) => "Esc back, ? keys",
        None => "? keys, q quit",
    }
}

/// Returns the status line's space before the key hints, in terminal columns.
fn space_of_status(model: &Model, columns: usize) -> usize {
    columns.saturating_sub(keys(model).len() + GAP)
}

fn draw_status(model: &Model, look: Look, buffer: &mut Buffer) {
    let Rect { width, height, .. } = *buffer.area();
    let (columns, y) = (usize::from(width), usize::from(height - 1));
    if let Some(prompt) = &model.prompt {
        let sign = match prompt.kind {
            Asked::Row => "row: ",
            Asked::Condition => "where: ",
        };
        let text = crate::base::printable::printable(&prompt.text);
        let text = end(&text, columns.saturating_sub(sign.len() + 1));
        put(buffer, 0, y, sign, look.title());
        put(buffer, sign.len(), y, text, Style::new());
        let after = sign.len() + super::text::width(text);
        put(buffer, after, y, " ", look.cursor());
        return;
    }
    let space = space_of_status(model, columns);
    put(buffer, space + GAP, y, keys(model), look.dim());
    let message = model.message.as_ref();
    let message = message.filter(|text| super::text::width(text) <= space);
    let (text, style) = match (look.is_waiting, message, model.panel()) {
        (true, ..) => (reading(look), look.title()),
        (false, Some(message), _) => (message.clone(), look.cursor()),
        (false, None, Some(panel)) => (panel.place().unwrap_or_default(), look.dim()),
        (false, None, None) => (place(model), look.dim()),
    };
    put(buffer, 0, y, &cut(&text, space), style);
}

fn reading(look: Look) -> String {
    match look.percent {
        Some(percent) => format!("reading, {percent} % done; Esc cancels"),
        None => "reading; Esc cancels".to_owned(),
    }
}

/// Returns the text that describes the cursor's place.
fn place(model: &Model) -> String {
    let grid = &model.grid;
    let Some(column) = model.facts.columns.get(grid.column) else {
        return "no columns".into();
    };
    let type_ = format!("{}: {}", shown(&column.name), column.type_);
    if model.facts.rows() == 0 {
        return type_;
    }
    let row_group = model.facts.row_group(grid.row);
    format!("row {}, row group {row_group}; {type_}", grid.row)
}
