//! Writes the tables of a report.

use std::cmp::Reverse;
use std::fmt::Write as _;

use super::facts::{Column, Facts};
use super::markup::escaped;
use crate::base::plural::size;
use crate::render::table::shown;

/// Returns the table of columns, largest first. Numeric cells also have the plain value, for the
/// page's script to sort by.
pub(super) fn columns(facts: &Facts) -> String {
    let mut out = String::from(
        "<div class=\"wide\"><table class=\"sortable\"><thead><tr><th>column</th><th>type</th><th aria-sort=\"descending\">bytes</th>\
         <th>share</th><th>ratio</th><th>codec</th><th>in dictionary</th><th>encodings</th><th>values</th>\
         <th>nulls</th>",
    );
    if !facts.hides_values {
        out.push_str("<th>min</th><th>max</th>");
    }
    out.push_str("</tr></thead><tbody>");
    let mut columns: Vec<(usize, &Column)> = facts.columns.iter().enumerate().collect();
    columns.sort_by_key(|(_, column)| Reverse(column.bytes()));
    for (index, column) in columns {
        push_column(&mut out, index, column, facts);
    }
    out.push_str("</tbody></table></div>");
    out
}

fn push_column(out: &mut String, index: usize, column: &Column, facts: &Facts) {
    let joined = |set: &std::collections::BTreeSet<String>| {
        escaped(&set.iter().map(String::as_str).collect::<Vec<_>>().join(" "))
    };
    let cell =
        |value: f64, text: &str| format!("<td class=\"number\" data-value=\"{value}\">{text}</td>");
    let count = |count: Option<u64>| match count {
        Some(count) => cell(count as f64, &count.to_string()),
        None => cell(-1.0, "?"),
    };
    let share = column.bytes() as f64 / facts.size.max(1) as f64 * 100.0;
    let ratio = column.uncompressed as f64 / (column.data + column.dictionary).max(1) as f64;
    let keyed = match column.pages {
        Some((all, keyed)) if all > 0 => {
            let share = keyed as f64 / all as f64 * 100.0;
            cell(share, &format!("{share:.0} %"))
        }
        _ => cell(-1.0, ""),
    };
    _ = write!(
        out,
        "<tr id=\"column-{index}\"><th scope=\"row\">{}</th><td>{}</td>{}{}{}<td class=\"words\">{}</td>{keyed}<td class=\"words\">{}</td>{}{}",
        escaped(&shown(&column.path)),
        escaped(&shown(&column.type_)),
        cell(column.bytes() as f64, &size(column.bytes().into())),
        cell(share, &format!("{share:.1} %")),
        cell(ratio, &format!("{ratio:.2}")),
        joined(&column.codecs),
        joined(&column.encodings),
        count(column.values),
        count(column.nulls),
    );
    if !facts.hides_values {
        let bound = |bound: &Option<String>| escaped(&shown(bound.as_deref().unwrap_or_default()));
        _ = write!(
            out,
            "<td>{}</td><td>{}</td>",
            bound(&column.min),
            bound(&column.max)
        );
    }
    out.push_str("</tr>");
}

/// The number of columns with bounds in the row group table.
const SELECTIVE: usize = 3;

/// The maximum number of row groups in the table.
const GROUPS: usize = 1000;

/// Returns the table of row groups. It shows the bounds of the most selective columns, that is,
/// columns whose pages span the smallest share of their range, since filters on these skip the
/// most.
pub(super) fn groups(facts: &Facts) -> String {
    let span = |column: &Column| {
        let spans: Vec<f64> = column.boxes.iter().filter_map(|page| page.span).collect();
        (!spans.is_empty()).then(|| spans.iter().sum::<f64>() / spans.len() as f64)
    };
    let mut selective: Vec<(f64, &Column)> = facts
        .columns
        .iter()
        .filter_map(|column| Some((span(column)?, column)))
        .collect();
    selective.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    selective.truncate(if facts.hides_values { 0 } else { SELECTIVE });
    let mut out = String::from(
        "<div class=\"wide\"><table class=\"sortable\"><thead><tr><th>row group</th><th>rows</th><th>bytes</th><th>sorted by</th>",
    );
    for (_, column) in &selective {
        _ = write!(out, "<th>{}</th>", escaped(&shown(&column.path)));
    }
    out.push_str("</tr></thead><tbody>");
    for (at, group) in facts.groups.iter().enumerate().take(GROUPS) {
        _ = write!(
            out,
            "<tr><td class=\"number\" data-value=\"{at}\">{at}</td><td class=\"number\" data-value=\"{0}\">{0}</td>\
             <td class=\"number\" data-value=\"{1}\">{2}</td><td>{3}</td>",
            group.rows,
            group.compressed,
            size(group.compressed.into()),
            escaped(&shown(&group.sorted_by.join(", ")))
        );
        for (_, column) in &selective {
            let bounds = column.bounds.get(at);
            let text = match bounds {
                Some((Some(min), Some(max))) => format!("{} to {}", shown(min), shown(max)),
                _ => String::new(),
            };
            let least = bounds.and_then(|(min, _)| min.as_deref());
            _ = write!(
                out,
                "<td data-value=\"{}\">{}</td>",
                escaped(&shown(least.unwrap_or_default())),
                escaped(&text)
            );
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    if facts.groups.len() > GROUPS {
        _ = write!(
            out,
            "<p>{} more row groups.</p>",
            facts.groups.len() - GROUPS
        );
    }
    out
}
