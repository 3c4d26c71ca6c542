//! JSON text, value by value (RFC 8259).

use std::borrow::Cow;

use crate::load::value::{Result, Wrong};

/// Levels of arrays and objects, at most.
pub(in crate::load) const DEPTH: usize = 64;

/// A text that is read from its beginning to its end.
pub(in crate::load) struct Json<'t> {
    text: &'t str,
    at: usize,
}

/// A value, or where one with parts begins.
#[derive(Debug, PartialEq)]
pub(in crate::load) enum Start<'t> {
    Null,
    Boolean(bool),
    Number(&'t str),
    Text(Cow<'t, str>),
    Array,
    Object,
}

impl<'t> Json<'t> {
    pub(in crate::load) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// Bytes that were read.
    pub(in crate::load) fn position(&self) -> usize {
        self.at
    }

    /// Reads a value without parts, or the bracket of one that has them.
    pub(in crate::load) fn value(&mut self) -> Result<Start<'t>> {
        match self.peek() {
            Some(b'"') => Ok(Start::Text(self.string()?)),
            Some(b'{') => {
                self.at += 1;
                Ok(Start::Object)
            }
            Some(b'[') => {
                self.at += 1;
                Ok(Start::Array)
            }
            Some(b'-' | b'0'..=b'9') => self.number().map(Start::Number),
            _ => {
                for (word, value) in [
                    ("null", Start::Null),
                    ("true", Start::Boolean(true)),
                    ("false", Start::Boolean(false)),
                ] {
                    if self.rest().starts_with(word) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                Err(self.no_json("a value"))
            }
        }
    }

    /// Whether there is another item in an array; `first` is true before the first.
    pub(in crate::load) fn item(&mut self, first: &mut bool) -> Result<bool> {
        self.more(b']', first)
    }

    /// The next key of an object, with its colon; `None` behind the last.
    pub(in crate::load) fn key(&mut self, first: &mut bool) -> Result<Option<Cow<'t, str>>> {
        if !self.more(b'}', first)? {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
            return Err(self.no_json("a key in quotes"));
        }
        let key = self.string()?;
        if self.peek() != Some(b':') {
            return Err(self.no_json("a colon"));
        }
        self.at += 1;
        Ok(Some(key))
    }

    /// Passes over a value, which may have so many levels.
    pub(in crate::load) fn skip(&mut self, depth: usize) -> Result<()> {
        let start = self.value()?;
        let deeper = || {
            let too_deep = || Wrong::new(format!("more than {DEPTH} levels of nesting"));
            depth.checked_sub(1).ok_or_else(too_deep)
        };
        let mut first = true;
        match start {
            Start::Array => {
                let deeper = deeper()?;
                while self.item(&mut first)? {
                    self.skip(deeper)?;
                }
            }
            Start::Object => {
                let deeper = deeper()?;
                while self.key(&mut first)?.is_some() {
                    self.skip(deeper)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Makes sure that nothing follows.
    pub(in crate::load) fn end(&mut self) -> Result<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.no_json("the end")),
        }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        self.at += self.rest().bytes().take_while(is_blank).count();
        self.rest().bytes().next()
    }

    fn more(&mut self, end: u8, first: &mut bool) -> Result<bool> {
        let next = self.peek();
        if next == Some(end) {
            self.at += 1;
            return Ok(false);
        }
        if !std::mem::replace(first, false) {
            if next != Some(b',') {
                return Err(self.no_json(if end == b']' {
                    "`,` or `]`"
                } else {
                    "`,` or `}`"
                }));
            }
            self.at += 1;
        }
        Ok(true)
    }

    fn no_json(&self, expected: &str) -> Wrong {
        match self.rest().chars().next() {
            None => Wrong::new(format!("no JSON: the row ends where {expected} belongs")),
            Some(found) => Wrong::new(format!(
                "no JSON: there is {found:?} where {expected} belongs"
            )),
        }
    }

    /// `-12.5e3`, without zeros in front.
    fn number(&mut self) -> Result<&'t str> {
        let text = self.rest();
        let length = |from: &str| from.bytes().take_while(u8::is_ascii_digit).count();
        let mut end = usize::from(text.starts_with('-'));
        let after = |end: usize| text.get(end..).unwrap_or_default();
        let whole = length(after(end));
        let mut fits = whole == 1 || whole > 1 && !after(end).starts_with('0');
        end += whole;
        if after(end).starts_with('.') {
            let digits = length(after(end + 1));
            fits &= digits > 0;
            end += 1 + digits;
        }
        if after(end).starts_with(['e', 'E']) {
            end += 1;
            end += usize::from(after(end).starts_with(['-', '+']));
            let digits = length(after(end));
            fits &= digits > 0;
            end += digits;
        }
        let number = text.get(..end).filter(|_| fits);
        let number = number.ok_or_else(|| self.no_json("a number"))?;
        self.at += end;
        Ok(number)
    }

    /// A string, whose quote is next.
    fn string(&mut self) -> Result<Cow<'t, str>> {
        self.at += 1;
        let mut text: Option<String> = None;
        loop {
            let rest = self.rest();
            let is_end = |byte: u8| matches!(byte, b'"' | b'\\' | 0..0x20);
            let Some(end) = rest.bytes().position(is_end) else {
                return Err(Wrong::new("no JSON: a string is not closed"));
            };
            // The byte is ASCII, so it is the border of a character.
            let (clean, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
            self.at += end + 1;
            match tail.bytes().next() {
                Some(b'"') => {
                    return Ok(match text {
                        None => Cow::Borrowed(clean),
                        Some(mut text) => {
                            text.push_str(clean);
                            Cow::Owned(text)
                        }
                    });
                }
                Some(b'\\') => {
                    let text = text.get_or_insert_default();
                    text.push_str(clean);
                    text.push(self.escaped()?);
                }
                _ => {
                    return Err(Wrong::new(
                        "no JSON: a control character in a string, which is to be escaped",
                    ));
                }
            }
        }
    }

    /// What stands behind a backslash.
    fn escaped(&mut self) -> Result<char> {
        let byte = self.rest().bytes().next().unwrap_or_default();
        let character = match byte {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.code_point(),
            _ => return Err(Wrong::new("no JSON: an unknown escape in a string")),
        };
        self.at += 1;
        Ok(character)
    }

    /// `u00e9`, or a pair of surrogates.
    fn code_point(&mut self) -> Result<char> {
        let high = self.unit()?;
        let code = match high {
            0xd800..0xdc00 if self.rest().starts_with("\\u") => {
                self.at += 1;
                let low = self.unit()?;
                let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400);
                low.map(|low| 0x1_0000 + ((high - 0xd800) << 10) + low)
            }
            other => Some(other),
        };
        code.and_then(char::from_u32).ok_or_else(|| {
            Wrong::new(format!(
                "no JSON: \\u{high:04x} alone is half of a character"
            ))
        })
    }

    /// `u` and four digits.
    fn unit(&mut self) -> Result<u32> {
        let digits = self.rest().get(1..5);
        let digits = digits.filter(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let unit = digits.and_then(|it| u32::from_str_radix(it, 16).ok());
        self.at += 5;
        unit.ok_or_else(|| Wrong::new("no JSON: \\u without four digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<Start<'_>, String> {
        let mut json = Json::new(text);
        let value = json.value().map_err(|wrong| wrong.message)?;
        json.end().map_err(|wrong| wrong.message)?;
        Ok(value)
    }

    #[test]
    fn strings_are_what_serde_reads() {
        for text in [
            r#""""#,
            r#""plain ä€🐟""#,
            r#""\"\\\/\b\f\n\r\t""#,
            r#""\u00e9\u20AC\ud83d\udc1f x""#,
            r#""\u0000""#,
            "\"\u{7f}\u{2028}\"",
        ] {
            let expected: String = serde_json::from_str(text).unwrap();
            assert_eq!(value(text), Ok(Start::Text(expected.into())), "{text}");
        }
        for text in [
            r#"""#,
            r#""\"#,
            r#""\x""#,
            r#""\u12""#,
            r#""\u12é4""#,
            r#""\ud83d""#,
            r#""\ud83dx""#,
            r#""\ud83d\u0041""#,
            r#""\udc1f""#,
            "\"\n\"",
            "\"\0\"",
            r#""\u+123""#,
        ] {
            assert!(serde_json::from_str::<String>(text).is_err(), "{text}");
            assert!(value(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_have_no_other_form() {
        for text in [
            "0",
            "-0",
            "10",
            "1.50",
            "-1e5",
            "1E+05",
            "0.1e-7",
            "99999999999999999999",
        ] {
            assert_eq!(value(text), Ok(Start::Number(text)));
        }
        for text in [
            "01", "-", "-a", "+1", "1.", ".5", "1e", "1e+", "0x1", "NaN", "1_0", "--1", "00",
        ] {
            assert!(value(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nesting_has_an_end() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        assert!(Json::new(&nested(DEPTH)).skip(DEPTH).is_ok());
        assert!(Json::new(&nested(DEPTH + 1)).skip(DEPTH).is_err());
        for text in [
            "[1,]",
            "[,1]",
            "[1 2]",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "{\"a\":1,}",
            "[}",
            "tru",
        ] {
            assert!(Json::new(text).skip(DEPTH).is_err(), "{text}");
        }
        assert!(
            Json::new(" { \"a\" : [ 1 , { } , [ ] ] } ")
                .skip(DEPTH)
                .is_ok()
        );
    }
}
