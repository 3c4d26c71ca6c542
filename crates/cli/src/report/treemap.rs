//! Draws a treemap of a file's bytes. Each column is a rectangle of proportional size, divided into
//! the column's parts.
//!
//! Rectangles are laid out in rows to make them as square as possible (squarified treemaps by
//! Bruls, Huizing and van Wijk).

use std::fmt::Write as _;

use super::facts::{Column, Facts};
use super::markup::{escaped, number};
use crate::base::plural::size;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 380.0;

/// The maximum number of columns with a rectangle of their own.
const COLUMNS: usize = 300;

/// A rectangle on the page.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// Returns the treemap as SVG.
pub(super) fn treemap(facts: &Facts) -> String {
    let mut columns: Vec<(usize, &Column)> = facts.columns.iter().enumerate().collect();
    columns.retain(|(_, column)| column.bytes() > 0);
    columns.sort_by_key(|(_, column)| std::cmp::Reverse(column.bytes()));
    let others: u64 = columns
        .iter()
        .skip(COLUMNS)
        .map(|(_, column)| column.bytes())
        .sum();
    columns.truncate(COLUMNS);
    let mut sizes: Vec<f64> = columns
        .iter()
        .map(|(_, column)| column.bytes() as f64)
        .collect();
    if others > 0 {
        sizes.push(others as f64);
    }
    let whole = Area {
        x: 0.0,
        y: 0.0,
        width: WIDTH,
        height: HEIGHT,
    };
    let mut out = format!(
        "<svg class=\"treemap\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"group\" aria-label=\"Bytes by column\">"
    );
    for (at, area) in squarified(&sizes, whole).into_iter().enumerate() {
        match columns.get(at) {
            Some((index, column)) => push_column(&mut out, (*index, column), area, facts.size),
            None => {
                let bytes = size(others.into());
                push(&mut out, area, "other", &format!("Other columns: {bytes}"));
                push_label(&mut out, area, "other columns", &bytes);
            }
        }
    }
    out.push_str("</svg>");
    out
}

fn push_column(out: &mut String, (index, column): (usize, &Column), area: Area, file: u64) {
    let share = column.bytes() as f64 / file.max(1) as f64 * 100.0;
    let name = format!(
        "{}: {}, {share:.1} % of the file",
        column.path,
        size(column.bytes().into())
    );
    let parts = [
        ("data", column.data),
        ("dictionary", column.dictionary),
        ("index", column.index),
        ("bloom filter", column.bloom),
    ];
    let parts: Vec<(&str, u64)> = parts.into_iter().filter(|(_, bytes)| *bytes > 0).collect();
    let sizes: Vec<f64> = parts.iter().map(|(_, bytes)| *bytes as f64).collect();
    _ = write!(
        out,
        "<a href=\"#column-{index}\" aria-label=\"{}\">",
        escaped(&name)
    );
    for ((part, bytes), area) in parts.iter().zip(squarified(&sizes, area)) {
        let text = format!("{name}\n{part}: {}", size((*bytes).into()));
        push(out, area, part.split(' ').next().unwrap_or_default(), &text);
    }
    let bytes = format!("{}, {share:.1} %", size(column.bytes().into()));
    push_label(out, area, &column.path, &bytes);
    let Area {
        x,
        y,
        width,
        height,
    } = area;
    _ = write!(
        out,
        "<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></a>",
        number(x),
        number(y),
        number(width),
        number(height)
    );
}

/// Appends a label with the name and the bytes below it, if the rectangle has room.
fn push_label(out: &mut String, area: Area, name: &str, bytes: &str) {
    let letters = (area.width / 8.0) as usize;
    if letters < 3 || area.height < 18.0 {
        return;
    }
    let mut label: String = name.chars().take(letters).collect();
    if label.len() < name.len() {
        label.pop();
        label.push('…');
    }
    let (x, y) = (number(area.x + 5.0), number(area.y + 15.0));
    _ = write!(out, "<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(&label));
    if bytes.len() <= letters && area.height >= 34.0 {
        let y = number(area.y + 30.0);
        _ = write!(
            out,
            "<text class=\"bytes\" x=\"{x}\" y=\"{y}\">{bytes}</text>"
        );
    }
}

fn push(out: &mut String, area: Area, class: &str, text: &str) {
    _ = write!(
        out,
        "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>",
        number(area.x),
        number(area.y),
        number(area.width),
        number(area.height),
        escaped(text)
    );
}

/// Divides an area into rectangles with these sizes, given in descending order.
fn squarified(sizes: &[f64], area: Area) -> Vec<Area> {
    let total: f64 = sizes.iter().sum();
    if total <= 0.0 {
        return Vec::new();
    }
    let scale = area.width * area.height / total;
    let sizes: Vec<f64> = sizes.iter().map(|size| size * scale).collect();
    let (mut areas, mut left, mut rest) = (Vec::new(), area, sizes.as_slice());
    while !rest.is_empty() {
        let side = left.width.min(left.height);
        let mut count = 1;
        while count < rest.len() && worst(rest, count + 1, side) <= worst(rest, count, side) {
            count += 1;
        }
        let (row, after) = rest.split_at(count);
        left = lay(row, left, &mut areas);
        rest = after;
    }
    areas
}

/// Returns the worst aspect ratio if the first `count` sizes form a row along a side of this
/// length.
fn worst(sizes: &[f64], count: usize, side: f64) -> f64 {
    let row = sizes.get(..count).unwrap_or_default();
    let sum: f64 = row.iter().sum();
    let ratio =
        |size: &f64| (side * side * size / (sum * sum)).max(sum * sum / (side * side * size));
    row.iter().map(ratio).fold(0.0, f64::max)
}

/// Lays a row along the shorter side of an area, returning the rest of the area.
fn lay(row: &[f64], area: Area, areas: &mut Vec<Area>) -> Area {
    let sum: f64 = row.iter().sum();
    let is_wide = area.width >= area.height;
    let side = area.width.min(area.height).max(f64::MIN_POSITIVE);
    let depth = sum / side;
    let mut at = 0.0;
    for size in row {
        let length = size / depth.max(f64::MIN_POSITIVE);
        areas.push(match is_wide {
            true => Area {
                y: area.y + at,
                width: depth,
                height: length,
                ..area
            },
            false => Area {
                x: area.x + at,
                width: length,
                height: depth,
                ..area
            },
        });
        at += length;
    }
    match is_wide {
        true => Area {
            x: area.x + depth,
            width: (area.width - depth).max(0.0),
            ..area
        },
        false => Area {
            y: area.y + depth,
            height: (area.height - depth).max(0.0),
            ..area
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This is the paper's example, with sizes 6, 6, 4, 3, 2, 2 and 1 in an area of 6 by 4.
    #[test]
    fn areas_are_those_of_the_paper() {
        let whole = Area {
            x: 0.0,
            y: 0.0,
            width: 6.0,
            height: 4.0,
        };
        let areas = squarified(&[6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0], whole);
        let shown: Vec<String> = areas
            .iter()
            .map(|area| {
                format!(
                    "{:.2} {:.2} {:.2} {:.2}",
                    area.x, area.y, area.width, area.height
                )
            })
            .collect();
        assert_eq!(shown[0], "0.00 0.00 3.00 2.00");
        assert_eq!(shown[1], "0.00 2.00 3.00 2.00");
        assert_eq!(shown[2], "3.00 0.00 1.71 2.33");
        assert_eq!(shown[3], "4.71 0.00 1.29 2.33");
        assert!(squarified(&[], whole).is_empty());
    }
}
