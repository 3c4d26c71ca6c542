//! Draws a map of the pages along the file's rows, with a lane per column and a box per page.

use std::fmt::Write as _;

use super::facts::{Facts, PAGES};
use super::markup::{escaped, number};
use crate::base::plural::size;

const WIDTH: f64 = 1000.0;
const LANE: f64 = 18.0;
const NAMES: f64 = 180.0;

/// The maximum number of columns that get a lane.
const LANES: usize = 100;

/// Returns a sentence about columns and pages left out of the map, if there are any.
pub(super) fn left_out(facts: &Facts) -> Option<String> {
    let with_pages = facts
        .columns
        .iter()
        .filter(|column| !column.boxes.is_empty());
    let lanes = with_pages.count();
    let pages: usize = facts.columns.iter().map(|column| column.boxes.len()).sum();
    let mut parts = Vec::new();
    if lanes > LANES {
        parts.push(format!("the first {LANES} of {lanes} columns"));
    }
    if pages >= PAGES {
        parts.push(format!("the first {PAGES} pages"));
    }
    (!parts.is_empty()).then(|| format!("The map shows {} only.", parts.join(" and ")))
}

/// Returns the map as SVG, or nothing if the file does not have a page index.
pub(super) fn page_map(facts: &Facts) -> String {
    let rows = facts.rows().max(1) as f64;
    let lanes: Vec<_> = facts
        .columns
        .iter()
        .filter(|column| !column.boxes.is_empty())
        .take(LANES)
        .collect();
    if lanes.is_empty() {
        return String::new();
    }
    let height = lanes.len() as f64 * LANE + 8.0;
    let x = |row: u64| NAMES + row as f64 / rows * (WIDTH - NAMES);
    let mut out = format!(
        "<svg class=\"pages\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Pages along the rows\">"
    );
    for (lane, column) in lanes.iter().enumerate() {
        let y = lane as f64 * LANE + 4.0;
        let name: String = column.path.chars().take(26).collect();
        _ = write!(
            out,
            "<text x=\"0\" y=\"{}\">{}</text>",
            number(y + 11.0),
            escaped(&name)
        );
        for (at, page) in column.boxes.iter().enumerate() {
            let (left, right) = (
                x(page.first_row),
                x(page.first_row.saturating_add(page.rows)),
            );
            let mut text = format!(
                "{}, page {at}: rows {} to {}, {}",
                column.path,
                page.first_row,
                page.first_row + page.rows.saturating_sub(1),
                size(page.bytes.into())
            );
            if let (Some(min), Some(max)) = (&page.min, &page.max) {
                _ = write!(text, "\n{} to {}", shortened(min), shortened(max));
            }
            if let Some(nulls) = page.nulls.filter(|nulls| *nulls > 0) {
                _ = write!(text, "\n{nulls} nulls");
            }
            if let Some(span) = page.span {
                _ = write!(text, "\n{:.0} % of the range of the column", span * 100.0);
            }
            // There are four steps of heat. The hottest pages span the column's whole range, so a
            // filter can never skip them.
            let heat = page.span.map_or("none".to_owned(), |span| {
                format!("{:.0}", (span * 3.0).ceil())
            });
            _ = write!(
                out,
                "<rect class=\"heat-{heat}\" data-lane=\"{lane}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"14\"><title>{}</title></rect>",
                number(left),
                number(y),
                number((right - left - 0.4).max(0.4)),
                escaped(&text)
            );
        }
    }
    let mut row = 0;
    for group in &facts.groups {
        row += group.rows;
        let at = number(x(row));
        _ = write!(
            out,
            "<line x1=\"{at}\" x2=\"{at}\" y1=\"0\" y2=\"{}\"/>",
            number(height)
        );
    }
    out.push_str("</svg>");
    out
}

fn shortened(text: &str) -> String {
    crate::render::table::shown(text)
}
