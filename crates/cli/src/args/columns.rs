//! `--columns a,b.c`: a list of column paths, which follows this grammar:
//!
//! ```text
//! list  path ("," path)*
//! path  part ("." part)*
//! part  plain characters, `\` before any character, or "…" around any characters
//! ```

use std::str::FromStr;

use herringbone::Projection;

/// Columns, or fields inside them, each as a path of names from the top level down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Columns {
    /// The paths in the order of the command line.
    pub(crate) paths: Vec<Vec<String>>,
}

impl Columns {
    /// Returns the projection to these columns. `None` means all columns.
    pub(super) fn projection(columns: Option<&Self>) -> Projection {
        columns.map_or(Projection::All, |columns| {
            Projection::Paths(columns.paths.clone())
        })
    }
}

impl FromStr for Columns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut paths = Vec::new();
        let mut path = Vec::new();
        let mut part = Part::default();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                ',' => {
                    path.push(part.take()?);
                    paths.push(std::mem::take(&mut path));
                }
                '.' => path.push(part.take()?),
                '\\' => part.text.push(
                    characters
                        .next()
                        .ok_or("the last \\ must be followed by a character")?,
                ),
                '"' => part.quoted(&mut characters)?,
                other => part.text.push(other),
            }
        }
        path.push(part.take()?);
        paths.push(path);
        Ok(Self { paths })
    }
}

/// Splits a list at its commas. Commas inside quoted names or parentheses don't count, so that
/// names and function calls stay in one piece.
pub(super) fn elements(text: &str) -> Vec<&str> {
    let mut elements = Vec::new();
    let mut rest = text;
    while let Some(at) = position_of(rest, ',') {
        let (element, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        elements.push(element);
        rest = after.strip_prefix(',').unwrap_or_default();
    }
    elements.push(rest);
    elements
}

/// Returns the offset of the first unescaped `sign` outside quotes and parentheses.
pub(super) fn position_of(text: &str, sign: char) -> Option<usize> {
    let (mut quoted, mut escaped, mut open) = (false, false, 0_usize);
    for (at, character) in text.char_indices() {
        if character == sign && !quoted && !escaped && open == 0 {
            return Some(at);
        }
        match character {
            '"' if !escaped => quoted = !quoted,
            '(' if !quoted && !escaped => open += 1,
            ')' if !quoted && !escaped => open = open.saturating_sub(1),
            _ => {}
        }
        escaped = character == '\\' && !escaped;
    }
    None
}

/// One part of a path, which grows while we read its characters.
#[derive(Default)]
struct Part {
    text: String,
    /// True if some of the name was in quotes. Only then may the name be empty, because a forgotten
    /// name would look the same otherwise.
    quoted: bool,
}

impl Part {
    fn take(&mut self) -> Result<String, String> {
        let part = std::mem::take(self);
        if part.text.is_empty() && !part.quoted {
            return Err("empty column name; write \"\" for a field whose name is empty".into());
        }
        Ok(part.text)
    }

    /// Appends all characters up to the closing quote.
    fn quoted(&mut self, characters: &mut impl Iterator<Item = char>) -> Result<(), String> {
        self.quoted = true;
        loop {
            match characters.next().ok_or("a quote is not closed")? {
                '"' => return Ok(()),
                '\\' => self
                    .text
                    .push(characters.next().ok_or("a quote is not closed")?),
                other => self.text.push(other),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Vec<Vec<String>> {
        text.parse::<Columns>().unwrap().paths
    }

    #[test]
    fn paths_are_split_at_commas_and_dots() {
        assert_eq!(parsed("a"), [["a"]]);
        assert_eq!(parsed("a,b.c, d"), [vec!["a"], vec!["b", "c"], vec![" d"]]);
    }

    #[test]
    fn names_may_hold_anything() {
        assert_eq!(parsed(r"a\.b,c\,d"), [["a.b"], ["c,d"]]);
        assert_eq!(parsed(r#""a.b,c".d"#), [["a.b,c", "d"]]);
        assert_eq!(parsed(r#""say \"hi\"",\\"#), [[r#"say "hi""#], [r"\"]]);
        assert_eq!(parsed(r#""""#), [[""]]);
        assert_eq!(parsed(r#"a"b.c"d"#), [["ab.cd"]]);
    }

    #[test]
    fn broken_lists_are_refused() {
        for text in ["", ",", "a,", "a.", ".a", "a..b", "\\", "\"a", "\"a\\"] {
            assert!(text.parse::<Columns>().is_err(), "{text}");
        }
    }
}
