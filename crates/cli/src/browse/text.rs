//! Fits text into the columns of a terminal.
//!
//! Text is only cut between user-perceived characters (grapheme clusters). For example, a family
//! emoji counts as one character, even though it has several code points, and is as wide as any
//! other emoji.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use super::need::Table;

/// Returns a text's width in terminal columns.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Cuts text to a width, ending in `…` if anything was cut.
pub(super) fn cut(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for character in text.graphemes(true) {
        used += width(character);
        if used > most {
            break;
        }
        out.push_str(character);
    }
    if most > 0 {
        out.push('…');
    }
    out
}

/// Returns the longest end of a text within the width.
pub(super) fn end(text: &str, most: usize) -> &str {
    let mut used = 0;
    for (at, character) in text.grapheme_indices(true).rev() {
        used += width(character);
        if used > most {
            return text.get(at + character.len()..).unwrap_or_default();
        }
    }
    text
}

/// Returns a text without its first columns.
pub(super) fn without_start(text: &str, columns: usize) -> &str {
    let mut passed = 0;
    for (at, character) in text.grapheme_indices(true) {
        if passed >= columns {
            return text.get(at..).unwrap_or_default();
        }
        passed += width(character);
    }
    ""
}

/// Returns a text's lines, breaking any that are too wide.
pub(super) fn wrapped(text: &str, most: usize) -> Vec<String> {
    let most = most.max(2);
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let mut rest = String::new();
        let mut used = 0;
        for character in line.graphemes(true) {
            let columns = width(character);
            if used + columns > most {
                lines.push(std::mem::take(&mut rest));
                used = 0;
            }
            used += columns;
            rest.push_str(character);
        }
        lines.push(rest);
    }
    lines
}

/// Returns the table's header and lines as text, with its columns aligned.
pub(super) fn aligned(table: &Table) -> (String, Vec<String>) {
    let all = || std::iter::once(&table.header).chain(&table.lines);
    let mut widths = vec![0; table.header.len()];
    for line in all() {
        for (most, cell) in widths.iter_mut().zip(line) {
            *most = width(cell).max(*most);
        }
    }
    let mut lines = all().map(|line| {
        let mut out = String::new();
        for (at, (cell, most)) in line.iter().zip(&widths).enumerate() {
            let space = " ".repeat(most.saturating_sub(width(cell)));
            match table.numbers.contains(&at) {
                true => out.extend([&space, cell.as_str()]),
                false => out.extend([cell.as_str(), &space]),
            }
            out.push_str("  ");
        }
        out.trim_end().to_owned()
    });
    let header = lines.next().unwrap_or_default();
    (header, lines.collect())
}

/// Returns JSON with one value per line but otherwise unchanged.
pub(super) fn indented(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut depth, mut is_quoted, mut is_escaped) = (0_usize, false, false);
    let mut characters = json.chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    };
    while let Some(character) = characters.next() {
        if is_quoted {
            is_quoted = is_escaped || character != '"';
            is_escaped = character == '\\' && !is_escaped;
            out.push(character);
            continue;
        }
        match character {
            '{' | '[' => {
                out.push(character);
                let closing = if character == '{' { '}' } else { ']' };
                if characters.peek() == Some(&closing) {
                    out.extend(characters.next());
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(',');
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            other => {
                is_quoted = other == '"';
                out.push(other);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_fit() {
        assert_eq!(cut("Rome", 4), "Rome");
        assert_eq!(cut("Lisbon", 4), "Lis…");
        assert_eq!(cut("東京都", 4), "東…");
        assert_eq!(cut("x", 0), "");
        assert_eq!(end("fare > 50", 4), "> 50");
        assert_eq!(end("a", 4), "a");
        assert_eq!(without_start("abc", 2), "c");
        assert_eq!(without_start("abc", 5), "");
        assert_eq!(wrapped("abcde\n\n東京x", 3), ["abc", "de", "", "東", "京x"]);
    }

    /// An emoji of a family of four takes two columns, and a letter with a combining accent takes
    /// one.
    #[test]
    fn emoji_and_accents_stay_whole() {
        let family = "👨\u{200d}👩\u{200d}👧\u{200d}👦";
        assert_eq!(width(family), 2);
        assert_eq!(cut(&format!("{family}abc"), 4), format!("{family}a…"));
        assert_eq!(cut(&format!("a{family}bc"), 3), "a…");
        assert_eq!(end(&format!("a{family}"), 2), family);
        assert_eq!(without_start(&format!("{family}a"), 2), "a");
        assert_eq!(
            wrapped(&format!("a{family}e\u{301}"), 3),
            [format!("a{family}"), "e\u{301}".into()]
        );
    }

    #[test]
    fn json_in_lines() {
        assert_eq!(
            indented(r#"{"a,\"b":[1,{}],"c":[],"d":":"}"#),
            "{\n  \"a,\\\"b\": [\n    1,\n    {}\n  ],\n  \"c\": [],\n  \"d\": \":\"\n}"
        );
        assert_eq!(indented("]]"), "\n]\n]");
    }
}
