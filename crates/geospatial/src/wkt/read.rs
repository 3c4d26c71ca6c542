//! Converts text to a value.

use herringbone_format::{Error, Result};

use crate::wkb::{Dimensions, GeometryKind, GeometryType, MAX_DEPTH, Position, Writer};

/// Appends a text as well-known binary. Words are case-insensitive, and dimensions can follow the
/// name directly (`POINTZ`). The parentheses around a MULTIPOINT's points are optional.
///
/// # Errors
///
/// Fails with [Argument](herringbone_format::ErrorKind::Argument) if the text is not well-known
/// text, or if collections are nested deeper than [`MAX_DEPTH`]. After an error, `out` can end in a
/// partial geometry.
pub fn read(text: &str, out: &mut Vec<u8>) -> Result<()> {
    let mut parser = Parser { text, at: 0, out };
    parser.geometry(MAX_DEPTH)?;
    match parser.peek() {
        None => Ok(()),
        Some(_) => Err(parser.wrong("the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    out: &'a mut Vec<u8>,
}

impl<'a> Parser<'a> {
    fn geometry(&mut self, depth: usize) -> Result<()> {
        if depth == 0 {
            let message = format!("geometries are nested more than {MAX_DEPTH} levels deep");
            return Err(Error::argument(message));
        }
        let geometry_type = self.geometry_type()?;
        let kind = geometry_type.kind;
        match kind {
            GeometryKind::Point if self.eats_empty() => self.nowhere(geometry_type),
            GeometryKind::Point => {
                Writer::new(self.out).start(geometry_type, 1);
                self.expect('(')?;
                self.position(geometry_type)?;
                self.expect(')')
            }
            _ => self.parts(geometry_type, depth),
        }
    }

    /// Parses the parts of a geometry, which must not be a point.
    fn parts(&mut self, geometry_type: GeometryType, depth: usize) -> Result<()> {
        Writer::new(self.out).start(geometry_type, 0);
        let part = |kind| GeometryType::new(kind, geometry_type.dimensions);
        match geometry_type.kind {
            GeometryKind::LineString => self.list(|it| it.position(geometry_type)),
            GeometryKind::Polygon => self.list(|it| it.ring(geometry_type)),
            GeometryKind::MultiPoint => self.list(|it| it.point(part(GeometryKind::Point))),
            GeometryKind::MultiLineString => {
                self.list(|it| it.parts(part(GeometryKind::LineString), depth))
            }
            GeometryKind::MultiPolygon => {
                self.list(|it| it.parts(part(GeometryKind::Polygon), depth))
            }
            _ => self.list(|it| it.geometry(depth - 1)),
        }
    }

    fn ring(&mut self, geometry_type: GeometryType) -> Result<()> {
        Writer::new(self.out).start_ring(0);
        self.list(|it| it.position(geometry_type))
    }

    /// Parses a point in a MULTIPOINT.
    fn point(&mut self, geometry_type: GeometryType) -> Result<()> {
        if self.eats_empty() {
            return self.nowhere(geometry_type);
        }
        Writer::new(self.out).start(geometry_type, 1);
        let is_within = self.eats('(');
        self.position(geometry_type)?;
        if is_within { self.expect(')') } else { Ok(()) }
    }

    fn nowhere(&mut self, geometry_type: GeometryType) -> Result<()> {
        const NAN: f64 = f64::NAN;
        let mut writer = Writer::new(self.out);
        writer.start(geometry_type, 1);
        let (x, y, z, m) = (NAN, NAN, NAN, NAN);
        writer.position(Position { x, y, z, m }, geometry_type);
        Ok(())
    }

    /// Parses `EMPTY` or `(…, …)`, patching the count into the four bytes before it.
    fn list(&mut self, mut part: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        if self.eats_empty() {
            return Ok(());
        }
        let end = self.out.len();
        self.expect('(')?;
        let mut count = 0_u32;
        loop {
            part(self)?;
            // No text is long enough to have more parts.
            count = count.saturating_add(1);
            if !self.eats(',') {
                break;
            }
        }
        let place = self.out.get_mut(end.saturating_sub(4)..end);
        if let Some(place) = place {
            place.copy_from_slice(&count.to_le_bytes());
        }
        self.expect(')')
    }

    fn position(&mut self, geometry_type: GeometryType) -> Result<()> {
        let dimensions = geometry_type.dimensions;
        let (x, y) = (self.number()?, self.number()?);
        let mut if_has = |has| if has { self.number() } else { Ok(f64::NAN) };
        let z = if_has(dimensions.has_z())?;
        let m = if_has(dimensions.has_m())?;
        Writer::new(self.out).position(Position { x, y, z, m }, geometry_type);
        Ok(())
    }

    fn geometry_type(&mut self) -> Result<GeometryType> {
        let start = self.at;
        let word = self.word().to_ascii_uppercase();
        let of = |name: &str| {
            let mut kinds = GeometryKind::KNOWN.into_iter();
            kinds.find(|kind| kind.to_string() == name)
        };
        let tag = |tag: &str| match tag {
            "Z" => Some(Dimensions::Xyz),
            "M" => Some(Dimensions::Xym),
            "ZM" => Some(Dimensions::Xyzm),
            _ => None,
        };
        if let Some(kind) = of(&word) {
            let before = self.at;
            let tag = tag(&self.word().to_ascii_uppercase());
            if tag.is_none() {
                self.at = before;
            }
            return Ok(GeometryType::new(kind, tag.unwrap_or(Dimensions::Xy)));
        }
        // This is unambiguous, because no name ends with Z or M.
        let name = word.trim_end_matches(['Z', 'M']);
        let by_name = of(name).zip(tag(word.get(name.len()..).unwrap_or_default()));
        let (kind, dimensions) = by_name.ok_or_else(|| {
            self.at = start;
            self.wrong("a geometry name such as POINT")
        })?;
        Ok(GeometryType::new(kind, dimensions))
    }

    fn number(&mut self) -> Result<f64> {
        self.peek();
        let is_end = |it: char| it.is_whitespace() || matches!(it, ',' | '(' | ')');
        let rest = self.rest();
        let token = rest.split(is_end).next().unwrap_or_default();
        let number = token.parse().map_err(|_| self.wrong("a number"))?;
        self.at += token.len();
        Ok(number)
    }

    fn eats_empty(&mut self) -> bool {
        let before = self.at;
        let is_empty = self.word().eq_ignore_ascii_case("EMPTY");
        if !is_empty {
            self.at = before;
        }
        is_empty
    }

    /// Consumes and returns the next letters.
    fn word(&mut self) -> &'a str {
        self.peek();
        let rest = self.rest();
        let is_other = |it: char| !it.is_ascii_alphabetic();
        let word = rest.split(is_other).next().unwrap_or_default();
        self.at += word.len();
        word
    }

    fn expect(&mut self, wanted: char) -> Result<()> {
        match self.eats(wanted) {
            true => Ok(()),
            false => Err(self.wrong(&format!("`{wanted}`"))),
        }
    }

    fn eats(&mut self, wanted: char) -> bool {
        let is = self.peek() == Some(wanted);
        if is {
            self.at += wanted.len_utf8();
        }
        is
    }

    /// Skips white space and returns the next character without consuming it.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed.chars().next()
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn wrong(&self, wanted: &str) -> Error {
        let found = match self.rest().chars().next() {
            Some(found) => format!("{found:?}"),
            None => "the end".to_owned(),
        };
        Error::argument(format!(
            "invalid well-known text: expected {wanted} at byte {}, found {found}",
            self.at
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::wkt::write;

    fn value(text: &str) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        let result = read(text, &mut out);
        result.map(|()| out).map_err(|it| it.message().to_owned())
    }

    #[test]
    fn forms_of_a_text() {
        let canonical = |text: &str| {
            let mut out = String::new();
            write(&value(text).unwrap(), &mut out).unwrap();
            out
        };
        for (text, wanted) in [
            ("point(1 2)", "POINT (1 2)"),
            (" POINTZM ( 1 2 3 4 ) ", "POINT ZM (1 2 3 4)"),
            (
                "MultiPoint(1 2,(3 4), EMPTY)",
                "MULTIPOINT ((1 2), (3 4), EMPTY)",
            ),
            ("POINT M (1e3 -.5 NaN)", "POINT M (1000 -0.5 NaN)"),
        ] {
            assert_eq!(canonical(text), wanted);
        }
    }

    #[test]
    fn what_is_no_text() {
        for (text, wanted) in [
            (
                "",
                "invalid well-known text: expected a geometry name such as POINT at byte 0, found the end",
            ),
            (
                "POINT (1)",
                "invalid well-known text: expected a number at byte 8, found ')'",
            ),
            (
                "POINT (1 2 3)",
                "invalid well-known text: expected `)` at byte 11, found '3'",
            ),
            (
                "POINT (1 2) x",
                "invalid well-known text: expected the end at byte 12, found 'x'",
            ),
            (
                "CURVE EMPTY",
                "invalid well-known text: expected a geometry name such as POINT at byte 0, found 'C'",
            ),
            (
                "LINESTRING (1 2",
                "invalid well-known text: expected `)` at byte 15, found the end",
            ),
        ] {
            assert_eq!(value(text).unwrap_err(), wanted, "{text}");
        }
        let deep = "GEOMETRYCOLLECTION(".repeat(100_000);
        assert!(value(&deep).unwrap_err().contains("more than 32 levels"));
    }
}
