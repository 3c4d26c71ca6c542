//! Words in a schema's text.
//!
//! A bare word ends at the next white space or punctuation, so names containing these are in double
//! quotes. In quotes, a backslash starts one of Rust's escapes: `\"`, `\'`, `\\`, `\n`, `\r`, `\t`,
//! `\0` or `\u{1f600}`.

use std::fmt::{self, Write as _};

/// A name, displayed as it is if that is unambiguous. Otherwise, it is displayed in double quotes,
/// with escapes.
pub(super) struct Word<'a>(pub(super) &'a str);

impl fmt::Display for Word<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_bare = |c| !(ends_word(c) || is_invisible(c) || matches!(c, '"' | '\\'));
        if !self.0.is_empty() && self.0.chars().all(is_bare) {
            return f.write_str(self.0);
        }
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                ' ' => f.write_char(c)?,
                c if is_invisible(c) => write!(f, "{}", c.escape_default())?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

/// Returns true if `c` ends a bare word.
pub(super) fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, '{' | '}' | '(' | ')' | ',' | ';' | '=')
}

/// Returns true if `c` has no visible shape. We escape such characters, because they can control a
/// terminal, change the text direction, or make two names look alike.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || c.is_whitespace()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}'
        )
}
