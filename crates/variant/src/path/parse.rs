//! Parses paths from text.

use std::str::FromStr;

use herringbone_format::{Error, Result};

use super::{PathPart, VariantPath};

impl FromStr for VariantPath {
    type Err = Error;

    /// Parses a path. [`VariantPath`] shows the syntax.
    fn from_str(text: &str) -> Result<Self> {
        let mut parts = Vec::new();
        let mut rest = match text.strip_prefix('$') {
            Some(rest) => rest,
            None => {
                // There is no dot before the first name if the `$` is left out.
                if text.starts_with('[') {
                    text
                } else {
                    name(text, text, &mut parts)?
                }
            }
        };
        while let Some(start) = rest.chars().next() {
            rest = match start {
                '.' => name(text, rest.get(1..).unwrap_or_default(), &mut parts)?,
                '[' => bracket(text, rest.get(1..).unwrap_or_default(), &mut parts)?,
                _ => return Err(wrong(text, rest, "`.` or `[`")),
            };
        }
        Ok(Self { parts })
    }
}

/// Parses a name without quotes, and returns the text after it.
fn name<'a>(text: &str, rest: &'a str, parts: &mut Vec<PathPart>) -> Result<&'a str> {
    let end = rest.find(['.', '[']).unwrap_or(rest.len());
    if end == 0 {
        return Err(wrong(text, rest, "the name of a field"));
    }
    let (name, rest) = rest.split_at(end);
    parts.push(PathPart::Field(name.to_owned()));
    Ok(rest)
}

/// Parses the contents of brackets, from the position after the opening bracket. Returns the text
/// after the closing one.
fn bracket<'a>(text: &str, rest: &'a str, parts: &mut Vec<PathPart>) -> Result<&'a str> {
    let (part, rest) = match rest.chars().next() {
        Some(quote @ ('\'' | '"')) => {
            let (name, rest) = quoted(text, rest.get(1..).unwrap_or_default(), quote)?;
            (PathPart::Field(name), rest)
        }
        Some('*') => (PathPart::EveryElement, rest.get(1..).unwrap_or_default()),
        _ => {
            let end = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (digits, behind) = rest.split_at(end);
            let index = digits.parse();
            let index = index
                .map_err(|_| wrong(text, rest, "the number of an element, `*`, or a quote"))?;
            (PathPart::Element(index), behind)
        }
    };
    parts.push(part);
    rest.strip_prefix(']')
        .ok_or_else(|| wrong(text, rest, "`]`"))
}

/// Parses a name up to `quote`, returning it and the text after the quote.
fn quoted<'a>(text: &str, rest: &'a str, quote: char) -> Result<(String, &'a str)> {
    let mut name = String::new();
    let mut chars = rest.chars();
    while let Some(next) = chars.next() {
        match next {
            '\\' => {
                let behind = chars.as_str();
                match chars.next() {
                    Some(escaped @ ('\'' | '"' | '\\')) => name.push(escaped),
                    _ => return Err(wrong(text, behind, "a quote or a backslash")),
                }
            }
            next if next == quote => return Ok((name, chars.as_str())),
            next => name.push(next),
        }
    }
    Err(wrong(text, "", "the closing quote"))
}

#[cold]
fn wrong(text: &str, rest: &str, expected: &str) -> Error {
    let at = text.len() - rest.len();
    Error::argument(format!(
        "the variant path `{text}` lacks {expected} at byte {at}; paths are written `$.a['b.c'][0]`"
    ))
}
