//! The markdown table.

use crate::measure::Times;

/// A case slower than this many times the peer is marked, and fails the run.
pub const SLOW: f64 = 1.1;

/// The table's first two lines.
pub const HEADING: &str = "\
| case | herringbone ms | arrow-rs ms | ratio | pages ms | over pages |
|---|---:|---:|---:|---:|---:|";

/// The line of a case, and our time in units of theirs.
///
/// `pages` is the floor: arrow-rs reading and decompressing the pages alone.
#[must_use]
pub fn line(name: &str, ours: &Times, theirs: &Times, floor: Option<&Times>) -> (String, f64) {
    let ratio = ours.median() / theirs.median();
    let mark = if ratio > SLOW { " **slow**" } else { "" };
    let (pages, over) = floor.map_or_else(
        || (String::new(), String::new()),
        |floor| {
            let over = ours.median() / floor.median();
            // A floor of nothing (plain pages are slices) says nothing about us.
            let over = if over < 100.0 {
                format!("{over:.2}")
            } else {
                String::new()
            };
            (format!("{:.2}", floor.median()), over)
        },
    );
    let line = format!(
        "| {name} | {} | {} | {ratio:.2}{mark} | {pages} | {over} |",
        time(ours),
        time(theirs)
    );
    (line, ratio)
}

fn time(times: &Times) -> String {
    format!("{:.2} ±{:.0}%", times.median(), times.spread() * 100.0)
}
