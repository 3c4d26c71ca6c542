//! Escapes text from files, so that a hostile file can't control the terminal.
//!
//! We escape three kinds of characters. Control characters include U+009B, which starts commands
//! like ESC does. Line breaks are the second kind. The third are characters that change the
//! direction of text, since they can make a line read as something else (Unicode, Annex 9). CSV and
//! JSON rows are only escaped on a terminal.

use std::io;

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

/// Returns true if `character` could affect a terminal or the reading order of text.
fn is_active(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
        )
}

/// Appends `character`, or an escape such as `\n` or `\u{202e}`.
pub fn push_printable(out: &mut String, character: char) {
    if is_active(character) {
        out.extend(character.escape_default());
    } else {
        out.push(character);
    }
}

/// Returns `text` on one line, with active characters escaped.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars()
        .for_each(|character| push_printable(&mut out, character));
    out
}

/// Returns equivalent JSON with escapes in its strings, so that it is harmless for a terminal.
///
/// `json` must be a single line, which guarantees that active characters only occur in strings.
pub fn printable_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if is_active(character) {
            // All of these characters are in the Basic Multilingual Plane, so four digits are
            // enough.
            out.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            out.push(character);
        }
    }
    out
}

/// Returns the lines of `text`, each of them [`printable`].
pub fn printable_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(line) => out.extend([&printable(line), "\n"]),
            None => out.push_str(&printable(line)),
        }
    }
    out
}

/// Writes `value` as JSON, harmless for a terminal. The value is the same, but its strings have
/// escapes.
pub fn write_json(
    writer: impl io::Write,
    value: &impl Serialize,
    pretty: bool,
) -> serde_json::Result<()> {
    if pretty {
        let formatter = Printable(PrettyFormatter::new());
        value.serialize(&mut Serializer::with_formatter(writer, formatter))
    } else {
        let formatter = Printable(CompactFormatter);
        value.serialize(&mut Serializer::with_formatter(writer, formatter))
    }
}

/// Returns `value` as [`write_json`] writes it, on one line.
pub fn json_line(value: &serde_json::Value) -> String {
    let mut bytes = Vec::new();
    // Writing to memory can't fail.
    write_json(&mut bytes, value, false).ok();
    String::from_utf8(bytes).unwrap_or_default()
}

/// A formatter whose strings are [`printable`]. It delegates everything else to the inner
/// formatter.
struct Printable<F>(F);

/// Delegates methods to the inner formatter.
macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty)?))*) => {$(
        fn $name<W: io::Write + ?Sized>(
            &mut self,
            writer: &mut W,
            $($argument: $type)?
        ) -> io::Result<()> {
            self.0.$name(writer, $($argument)?)
        }
    )*};
}

impl<F: Formatter> Formatter for Printable<F> {
    forward! {
        begin_array() end_array() begin_array_value(first: bool) end_array_value()
        begin_object() end_object() begin_object_key(first: bool) end_object_key()
        begin_object_value() end_object_value()
    }

    fn write_string_fragment<W: io::Write + ?Sized>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        writer.write_all(printable_json(fragment).as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// These are Bidi_Control and line breaks according to the Unicode character database, with C0
    /// and C1.
    const ACTIVE: &str = "\u{7}\u{1b}\u{7f}\u{85}\u{9b}\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\
                          \u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\r\n";

    #[test]
    fn what_terminals_obey_is_escaped() {
        for character in ACTIVE.chars() {
            let text = printable(&format!("a{character}b"));
            assert!(text.starts_with("a\\") && text.ends_with('b'), "{text}");
            assert!(text.is_ascii(), "{text}");
        }
        let harmless = "äß€🐟 שלום \\ 👩‍🚀";
        assert_eq!(printable(harmless), harmless);
        assert_eq!(printable("\u{202e}x\u{9b}2J"), "\\u{202e}x\\u{9b}2J");
        assert_eq!(printable_lines("a\u{9b}\nb\n"), "a\\u{9b}\nb\n");
    }

    #[test]
    fn json_says_the_same_in_other_letters() {
        let value = json!({ ACTIVE: [ACTIVE, "é\u{9b}", 1.5, null, {}], "a": "" });
        for pretty in [false, true] {
            let mut bytes = Vec::new();
            write_json(&mut bytes, &value, pretty).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            assert!(
                !text
                    .chars()
                    .any(|character| is_active(character) && character != '\n'),
                "{text}"
            );
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(&text).unwrap(),
                value
            );
        }
        assert_eq!(json_line(&json!(["\u{9b}"])), r#"["\u009b"]"#);
        assert_eq!(printable_json("{\"é\u{7f}\":1}"), r#"{"é\u007f":1}"#);
    }
}
