//! Writes the HTML page of a report.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::facts::Facts;
use super::findings::Findings;
use super::markup::escaped;
use super::{page_map, tables, treemap};
use crate::base::plural::{counted, size};
use crate::base::printable::{printable, printable_lines};
use crate::describe::page::unchecked_pages;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The script's SHA-256 digest, in base64. The page's content security policy allows no other
/// script, so that nothing from a file can run.
const SCRIPT_DIGEST: &str = "KwQUDrO9uNjP5osECD+6q3xBxFsbJiDJ8MOvSuoDyJY=";

/// Returns the page about a file as HTML.
pub(crate) fn page(facts: &Facts, findings: &Findings) -> String {
    let mut main = String::new();
    push_summary(&mut main, &summary(facts));
    push_findings(&mut main, findings);
    let treemap = format!("<div class=\"wide\">{}</div>", treemap::treemap(facts));
    section(&mut main, "bytes", "Bytes", &treemap);
    main.push_str(
        "<p class=\"legend\"><span class=\"data\"></span>data <span class=\"dictionary\"></span>dictionary \
         <span class=\"index\"></span>index <span class=\"bloom\"></span>bloom filter</p>\n",
    );
    section(&mut main, "columns", "Columns", &tables::columns(facts));
    let map = page_map::page_map(facts);
    let map = match map.is_empty() {
        true => "<p>The file has no page index, so the places of pages are not known without reading them.</p>".into(),
        false => format!(
            "<p>Each box is a page, at its rows. The more of the range of its column a page spans, the stronger its \
             colour, and the less often a filter skips it. Select the map and use the arrow keys to read each page. {}</p>\
             <div class=\"wide\" id=\"map\" tabindex=\"0\" role=\"application\" aria-describedby=\"detail\">{map}</div>\
             <p id=\"detail\" aria-live=\"polite\"></p>",
            page_map::left_out(facts).unwrap_or_default()
        ),
    };
    section(&mut main, "pages", "Pages", &map);
    section(&mut main, "groups", "Row groups", &tables::groups(facts));
    push_verify(&mut main, facts);
    let schema = format!("<pre>{}</pre>", escaped(&printable_lines(&facts.schema)));
    section(&mut main, "schema", "Schema", &schema);
    push_keys(&mut main, facts);
    document(&facts.name, &main)
}

/// Returns an HTML document with a heading above its parts.
pub(super) fn document(name: &str, main: &str) -> String {
    let name = escaped(&printable(name));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'sha256-{SCRIPT_DIGEST}'\">\n<title>{name}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#findings\">Skip to the findings</a>\n<header><h1>{name}</h1>\
         <button type=\"button\" id=\"theme\">Light or dark</button></header>\n<main>\n{main}</main>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// Appends a part of the page below a heading.
pub(super) fn section(out: &mut String, id: &str, title: &str, content: &str) {
    _ = writeln!(
        out,
        "<section aria-labelledby=\"{id}\"><h2 id=\"{id}\">{title}</h2>\n{content}</section>"
    );
}

/// Returns a file's properties as names and values.
fn summary(facts: &Facts) -> Vec<(&'static str, String)> {
    let codecs: BTreeSet<&str> = facts
        .columns
        .iter()
        .flat_map(|column| &column.codecs)
        .map(String::as_str)
        .collect();
    let codecs: Vec<&str> = codecs.into_iter().collect();
    vec![
        (
            "size",
            format!("{} ({} bytes)", size(facts.size.into()), facts.size),
        ),
        ("rows", facts.rows().to_string()),
        ("row groups", facts.groups.len().to_string()),
        ("columns", facts.columns.len().to_string()),
        ("codec", codecs.join(", ")),
        ("footer", size(facts.footer.into())),
        ("version", facts.version.to_string()),
        (
            "created by",
            printable(facts.created_by.as_deref().unwrap_or("unknown")),
        ),
    ]
}

/// Appends the names and values of a file's or directory's properties.
pub(super) fn push_summary(out: &mut String, rows: &[(&str, String)]) {
    out.push_str("<dl class=\"summary\">");
    for (name, value) in rows {
        _ = write!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escaped(value));
    }
    out.push_str("</dl>\n");
}

/// Appends the findings with their commands, then the command for all of them.
pub(super) fn push_findings(out: &mut String, findings: &Findings) {
    let mut content = String::new();
    let code = |command: &str| format!("<code>{}</code>", escaped(&printable(command)));
    if findings.each.is_empty() {
        content.push_str("<p>None of the rules found anything to improve.</p>");
    } else {
        content.push_str("<ul class=\"findings\">");
        for finding in &findings.each {
            _ = write!(
                content,
                "<li><p>{}.</p>{}</li>",
                sentence(&printable(&finding.text)),
                finding.command.as_deref().map(code).unwrap_or_default()
            );
        }
        content.push_str("</ul>");
    }
    if let Some(command) = &findings.together {
        _ = write!(
            content,
            "<div class=\"together\"><p>One command mends all of them, and reads the file once:</p>{}</div>",
            code(command)
        );
    }
    content
        .push_str("<p class=\"note\"><code>herringbone help report</code> explains the rules.</p>");
    section(out, "findings", "Findings", &content);
}

/// Returns a sentence as HTML, turning names in backticks into code.
fn sentence(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split('`').enumerate() {
        match at % 2 {
            0 => out.push_str(&escaped(part)),
            _ => _ = write!(out, "<code>{}</code>", escaped(part)),
        }
    }
    out
}

fn push_verify(out: &mut String, facts: &Facts) {
    let mut content = String::new();
    if !facts.is_verified {
        content.push_str("<p>Not yet: only the metadata and the page indexes were read.</p>");
    } else if facts.faults.is_empty() {
        content.push_str("<p>Sound: all metadata agrees with the data.</p>");
        let (unchecked, all) = facts.unchecked_pages;
        if let Some(remark) = unchecked_pages(unchecked, all) {
            _ = write!(content, "<p>But {}.</p>", escaped(&remark));
        }
    } else {
        content.push_str("<ul>");
        for fault in &facts.faults {
            _ = write!(content, "<li>{}</li>", escaped(&printable(fault)));
        }
        content.push_str("</ul>");
        if facts.more_faults > 0 {
            let more = counted(facts.more_faults as i128, "finding");
            _ = write!(content, "<p>And {more} more.</p>");
        }
    }
    section(out, "verify", "Verified", &content);
}

fn push_keys(out: &mut String, facts: &Facts) {
    if facts.keys.is_empty() {
        return;
    }
    let mut content = String::from("<ul>");
    for (key, length) in &facts.keys {
        let length = size(*length as i128);
        _ = write!(
            content,
            "<li><code>{}</code>: {length}</li>",
            escaped(&printable(key))
        );
    }
    content.push_str("</ul>");
    section(out, "keys", "Key-value metadata", &content);
}

#[cfg(test)]
mod tests {
    use base64::prelude::{BASE64_STANDARD, Engine as _};

    use super::*;

    /// The browser only runs the script if the policy has the script's digest.
    #[test]
    fn the_policy_has_the_digest_of_the_script() {
        let digest = ring::digest::digest(&ring::digest::SHA256, SCRIPT.as_bytes());
        assert_eq!(BASE64_STANDARD.encode(digest), SCRIPT_DIGEST);
    }

    #[test]
    fn sentences_do_not_become_markup() {
        assert_eq!(
            sentence("`<x>` is & `y`"),
            "<code>&lt;x&gt;</code> is &amp; <code>y</code>"
        );
    }
}
