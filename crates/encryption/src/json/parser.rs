//! Text in, values out.

use zeroize::Zeroizing;

use super::{Json, Member, Value};

/// Arrays and objects in one another.
const MAX_DEPTH: usize = 16;

/// What is wrong, and in which line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonError {
    pub(crate) line: usize,
    pub(crate) message: &'static str,
}

/// The value that `text` consists of.
pub(crate) fn parse(text: &str) -> Result<Json, JsonError> {
    // A byte order mark is what some editors begin with.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser = Parser {
        rest: text,
        line: 1,
    };
    let value = parser.value(0)?;
    parser.space();
    match parser.rest.is_empty() {
        true => Ok(value),
        false => Err(parser.error("something follows the end of the JSON")),
    }
}

struct Parser<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Parser<'a> {
    fn error(&self, message: &'static str) -> JsonError {
        JsonError {
            line: self.line,
            message,
        }
    }

    /// Passes over white space.
    fn space(&mut self) {
        let rest = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let passed = &self.rest[..self.rest.len() - rest.len()];
        self.line += passed.matches('\n').count();
        self.rest = rest;
    }

    /// Passes over white space and `text`, if that is what follows.
    fn takes(&mut self, text: &str) -> bool {
        self.space();
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.space();
        let line = self.line;
        let value = match self.rest.as_bytes().first() {
            Some(b'{' | b'[') if depth == MAX_DEPTH => {
                return Err(self.error("more than 16 arrays and objects in one another"));
            }
            Some(b'{') => Value::Object(self.object(depth + 1)?),
            Some(b'[') => Value::Array(self.array(depth + 1)?),
            Some(b'"') => Value::Text(self.text()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ if self.takes("true") => Value::Boolean(true),
            _ if self.takes("false") => Value::Boolean(false),
            _ if self.takes("null") => Value::Null,
            Some(_) => return Err(self.error("a value was expected")),
            None => return Err(self.error("the JSON ends early")),
        };
        Ok(Json { line, value })
    }

    fn object(&mut self, depth: usize) -> Result<Vec<Member>, JsonError> {
        self.takes("{");
        let mut members: Vec<Member> = Vec::new();
        if self.takes("}") {
            return Ok(members);
        }
        loop {
            self.space();
            if !self.rest.starts_with('"') {
                return Err(self.error("the name of a member was expected, in quotes"));
            }
            let name = self.text()?;
            if members.iter().any(|member| member.name == name) {
                return Err(self.error("a member is there twice"));
            }
            if !self.takes(":") {
                return Err(self.error("a colon was expected behind the name of a member"));
            }
            let value = self.value(depth)?;
            members.push(Member { name, value });
            if self.takes("}") {
                return Ok(members);
            }
            if !self.takes(",") {
                return Err(self.error("a comma or the end of the object was expected"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Vec<Json>, JsonError> {
        self.takes("[");
        let mut values = Vec::new();
        if self.takes("]") {
            return Ok(values);
        }
        loop {
            values.push(self.value(depth)?);
            if self.takes("]") {
                return Ok(values);
            }
            if !self.takes(",") {
                return Err(self.error("a comma or the end of the array was expected"));
            }
        }
    }

    fn number(&mut self) -> Result<Value, JsonError> {
        let is_part = |byte: char| byte.is_ascii_alphanumeric() || "+-.".contains(byte);
        let rest = self.rest.trim_start_matches(is_part);
        let number = &self.rest[..self.rest.len() - rest.len()];
        // `f64` also takes what JSON does not have: leading zeros, and a point at either end.
        let digits = number.strip_prefix('-').unwrap_or(number);
        let is_json = match digits.as_bytes() {
            [b'0', b'0'..=b'9', ..] | [.., b'.'] => false,
            [b'0'..=b'9', ..] => !digits.contains(".e") && !digits.contains(".E"),
            _ => false,
        };
        if !is_json || number.parse::<f64>().is_err() {
            return Err(self.error("a number is malformed"));
        }
        self.rest = rest;
        Ok(Value::Number)
    }

    /// Text in quotes.
    fn text(&mut self) -> Result<Zeroizing<String>, JsonError> {
        let start = self.rest.strip_prefix('"').unwrap_or(self.rest);
        // Room for all of it, so that no half of a key is left behind when it grows.
        let mut text = Zeroizing::new(String::with_capacity(encoded_length(start)));
        let mut chars = start.chars();
        loop {
            match chars.next() {
                Some('"') => break,
                Some('\\') => text.push(self.escape(&mut chars)?),
                Some('\0'..='\u{1f}') => {
                    return Err(self.error("text contains a control character or ends in no quote"));
                }
                Some(char) => text.push(char),
                None => return Err(self.error("text ends in no quote")),
            }
        }
        self.rest = chars.as_str();
        Ok(text)
    }

    fn escape(&self, chars: &mut std::str::Chars<'a>) -> Result<char, JsonError> {
        let unknown = || self.error("an unknown escape sequence in text");
        Ok(match chars.next() {
            Some(char @ ('"' | '\\' | '/')) => char,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => {
                let first = hex(chars).ok_or_else(unknown)?;
                let code = match first {
                    0xd800..0xdc00 if chars.as_str().starts_with("\\u") => {
                        chars.nth(1);
                        let second = hex(chars).filter(|low| (0xdc00..0xe000).contains(low));
                        let low = second.ok_or_else(unknown)? - 0xdc00;
                        0x10000 + ((first - 0xd800) << 10) + low
                    }
                    _ => first,
                };
                char::from_u32(code).ok_or_else(unknown)?
            }
            _ => return Err(unknown()),
        })
    }
}

/// Four hexadecimal digits.
fn hex(chars: &mut std::str::Chars<'_>) -> Option<u32> {
    (0..4).try_fold(0, |code, _| Some(code << 4 | chars.next()?.to_digit(16)?))
}

/// Bytes up to the closing quote.
fn encoded_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().position(|byte| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    });
    end.unwrap_or(text.len())
}
