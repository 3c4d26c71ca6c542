//! Values from JSON text: one pass, straight into a builder, without recursion.

use herringbone_format::{Error, Result};

use super::escape::unescape;
use super::scan::plain_len;
use super::{JsonOptions, number};
use crate::builder::VariantBuilder;
use crate::owned::VariantBuf;
use crate::value::Value;

impl VariantBuilder {
    /// Appends the value that `text`, RFC 8259 JSON, holds: see [`json`](crate::json).
    ///
    /// # Errors
    ///
    /// Text that is no JSON, with the byte where it is not; numbers that cannot be kept; half of a
    /// surrogate pair; and what [`VariantBuilder::push`] and [`VariantBuilder::field`] say. The value
    /// is half built then: see [`VariantBuilder::clear`].
    pub fn push_json(&mut self, text: &str, options: &JsonOptions) -> Result<()> {
        let mut reader = Reader {
            text,
            at: 0,
            depth: 0,
            options,
            unescaped: String::new(),
        };
        reader.value(self)?;
        reader.skip_spaces();
        if reader.at < text.len() {
            return Err(reader.unexpected("the end"));
        }
        Ok(())
    }
}

impl VariantBuf {
    /// The value that `text`, RFC 8259 JSON, holds: see [`json`](crate::json).
    ///
    /// # Errors
    ///
    /// As [`VariantBuilder::push_json`].
    pub fn from_json(text: &str) -> Result<Self> {
        let mut builder = VariantBuilder::new();
        builder.push_json(text, &JsonOptions::default())?;
        builder.finish()
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Objects and arrays that are open, of this text.
    depth: usize,
    options: &'a JsonOptions,
    /// A string that had escapes.
    unescaped: String,
}

impl<'a> Reader<'a> {
    /// Reads one value with all that it holds.
    fn value(&mut self, builder: &mut VariantBuilder) -> Result<()> {
        loop {
            // A value; if it is the beginning of one, then its first value.
            if self.begin(builder)? {
                continue;
            }
            // What follows a value: another one in the same object or array, or the end of it.
            loop {
                if self.depth == 0 {
                    return Ok(());
                }
                let in_object = builder.is_in_object();
                self.skip_spaces();
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        if in_object {
                            self.name(builder)?;
                        }
                        break;
                    }
                    Some(b'}') if in_object => self.end(builder)?,
                    Some(b']') if !in_object => self.end(builder)?,
                    _ if in_object => return Err(self.unexpected("`,` or `}`")),
                    _ => return Err(self.unexpected("`,` or `]`")),
                }
            }
        }
    }

    /// Reads a value, or the beginning of an object or array; whether a value in it comes next.
    #[inline]
    fn begin(&mut self, builder: &mut VariantBuilder) -> Result<bool> {
        self.skip_spaces();
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                let text = self.string()?;
                builder.push(text)?;
            }
            Some(b'{') => {
                builder.begin_object()?;
                self.open();
                if self.peek() != Some(b'}') {
                    self.name(builder)?;
                    return Ok(true);
                }
                self.end(builder)?;
            }
            Some(b'[') => {
                builder.begin_array()?;
                self.open();
                if self.peek() != Some(b']') {
                    return Ok(true);
                }
                self.end(builder)?;
            }
            Some(b'-' | b'0'..=b'9') => self.number(builder)?,
            _ => self.literal(builder)?,
        }
        Ok(false)
    }

    fn open(&mut self) {
        self.at += 1;
        self.depth += 1;
        self.skip_spaces();
    }

    fn end(&mut self, builder: &mut VariantBuilder) -> Result<()> {
        self.at += 1;
        self.depth -= 1;
        builder.end()
    }

    /// Reads the name of a field, and the colon.
    fn name(&mut self, builder: &mut VariantBuilder) -> Result<()> {
        self.skip_spaces();
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a name in quotes"));
        }
        self.at += 1;
        let name = self.string()?;
        builder.field(name)?;
        self.skip_spaces();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a string behind its first quote.
    #[inline]
    fn string(&mut self) -> Result<&str> {
        let start = self.at;
        self.at += plain_len(self.rest());
        if self.peek() == Some(b'"') {
            let end = self.at;
            self.at += 1;
            // Quotes are never within a character, so these are always borders.
            return Ok(self.text.get(start..end).unwrap_or_default());
        }
        self.string_with_escapes(start)
    }

    #[cold]
    fn string_with_escapes(&mut self, mut start: usize) -> Result<&str> {
        self.unescaped.clear();
        loop {
            let plain = self.text.get(start..self.at);
            self.unescaped.push_str(plain.unwrap_or_default());
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(&self.unescaped);
                }
                Some(b'\\') => {
                    let escape = self.text.as_bytes().get(self.at + 1..).unwrap_or_default();
                    let size = unescape(escape, &mut self.unescaped);
                    let size = size.ok_or_else(|| self.unexpected("an escape of JSON"))?;
                    self.at += 1 + size;
                }
                Some(_) => return Err(self.unexpected("control characters as escapes")),
                None => return Err(self.unexpected("the closing quote")),
            }
            start = self.at;
            self.at += plain_len(self.rest());
        }
    }

    #[inline]
    fn number(&mut self, builder: &mut VariantBuilder) -> Result<()> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(number) = number::scan(rest) else {
            if self.options.non_finite && self.skip("-Infinity") {
                return builder.push(f64::NEG_INFINITY);
            }
            return Err(self.unexpected("a number of JSON"));
        };
        number.push(builder, self.options)?;
        self.at += number.len();
        Ok(())
    }

    fn literal(&mut self, builder: &mut VariantBuilder) -> Result<()> {
        if self.skip("true") {
            builder.push(true)
        } else if self.skip("false") {
            builder.push(false)
        } else if self.skip("null") {
            builder.push(Value::Null)
        } else if self.options.non_finite && self.skip("NaN") {
            builder.push(f64::NAN)
        } else if self.options.non_finite && self.skip("Infinity") {
            builder.push(f64::INFINITY)
        } else {
            Err(self.unexpected("a value"))
        }
    }

    /// Passes over `word` if it comes next.
    fn skip(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }

    #[inline]
    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn skip_spaces(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    #[cold]
    fn unexpected(&self, expected: &str) -> Error {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let found = match rest.chars().next() {
            Some(found) => format!("{found:?}"),
            None => "the end".to_owned(),
        };
        Error::argument(format!(
            "the JSON has {found} at byte {} where {expected} was expected",
            self.at
        ))
    }
}
