//! Converts a value to text.

use std::fmt::Write;

use crate::wkb::{
    Coordinates, Dimensions, Event, Events, GeometryKind, GeometryType, Header, MAX_DEPTH,
    Position, WkbError, WkbErrorKind,
};

/// Appends a value as text. Numbers are written in the shortest form that round-trips, and missing
/// ordinates as `NaN`.
///
/// # Errors
///
/// Fails if the value is not well-known binary, or has an [opaque](Event::Opaque) geometry. Also
/// fails if a part of a multi-geometry has ordinates that the whole does not have, because the text
/// cannot represent them. After an error, `out` can end in partial text.
pub fn write(value: &[u8], out: &mut String) -> Result<(), WkbError> {
    let mut text = Text {
        out,
        open: [Open::default(); MAX_DEPTH],
        depth: 0,
    };
    let mut events = Events::new(value);
    loop {
        let at = events.position();
        let Some(event) = events.next() else {
            return Ok(());
        };
        let result = match event? {
            Event::Start(header) => text.start(&header),
            Event::Coordinates(coordinates) => {
                text.coordinates(&coordinates);
                Ok(())
            }
            Event::End(_) => {
                text.end();
                Ok(())
            }
            Event::Opaque(_) => Ok(()),
        };
        result.map_err(|kind| WkbError { kind, at })?;
    }
}

/// A geometry whose parenthesis is not closed yet.
#[derive(Debug, Clone, Copy, Default)]
struct Open {
    geometry_type: Option<GeometryType>,
    /// True if it already has a part.
    has_part: bool,
    /// True if it has a parenthesis to close.
    has_parenthesis: bool,
}

struct Text<'a> {
    out: &'a mut String,
    open: [Open; MAX_DEPTH],
    depth: usize,
}

impl Text<'_> {
    fn start(&mut self, header: &Header) -> Result<(), WkbErrorKind> {
        let mut geometry_type = header.geometry_type;
        let kind = geometry_type.kind;
        if kind.is_opaque() {
            return Err(WkbErrorKind::Opaque(kind));
        }
        let whole = self.comma();
        match whole.filter(|whole| whole.kind != GeometryKind::GeometryCollection) {
            None => {
                // Writing to a string does not fail.
                write!(self.out, "{geometry_type} ").ok();
            }
            // Parts of multi-geometries have no tag, so they use the dimensions of the whole
            // geometry.
            Some(whole) => {
                let part = geometry_type;
                if whole.dimensions.union(part.dimensions) != whole.dimensions {
                    return Err(WkbErrorKind::PartDimensions { whole, part });
                }
                geometry_type.dimensions = whole.dimensions;
            }
        }
        let is_point = kind == GeometryKind::Point;
        let has_parenthesis = header.parts > 0 && !is_point;
        self.out.push_str(match (is_point, has_parenthesis) {
            (true, _) => "",
            (false, true) => "(",
            (false, false) => "EMPTY",
        });
        if let Some(open) = self.open.get_mut(self.depth) {
            *open = Open {
                geometry_type: Some(geometry_type),
                has_part: false,
                has_parenthesis,
            };
        }
        self.depth += 1;
        Ok(())
    }

    fn coordinates(&mut self, coordinates: &Coordinates<'_>) {
        let Some(geometry_type) = self.comma() else {
            return;
        };
        let dimensions = geometry_type.dimensions;
        match geometry_type.kind {
            GeometryKind::LineString => self.positions(coordinates, dimensions),
            GeometryKind::Point if coordinates.iter().all(|position| position.is_nowhere()) => {
                self.out.push_str("EMPTY");
            }
            _ if coordinates.is_empty() => self.out.push_str("EMPTY"),
            _ => {
                self.out.push('(');
                self.positions(coordinates, dimensions);
                self.out.push(')');
            }
        }
    }

    fn end(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self
            .open
            .get(self.depth)
            .is_some_and(|open| open.has_parenthesis)
        {
            self.out.push(')');
        }
    }

    /// Writes a comma before a part of the innermost geometry, unless it is the first part. Returns
    /// the innermost geometry's type.
    fn comma(&mut self) -> Option<GeometryType> {
        let open = self.open.get_mut(self.depth.checked_sub(1)?)?;
        if open.has_part {
            self.out.push_str(", ");
        }
        open.has_part = true;
        open.geometry_type
    }

    fn positions(&mut self, coordinates: &Coordinates<'_>, dimensions: Dimensions) {
        for (index, position) in coordinates.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.position(&position, dimensions);
        }
    }

    fn position(&mut self, position: &Position, dimensions: Dimensions) {
        let (ordinates, count) = position.ordinates(dimensions);
        for (index, ordinate) in ordinates.iter().take(count).enumerate() {
            if index > 0 {
                self.out.push(' ');
            }
            write_number(*ordinate, self.out);
        }
    }
}

/// Writes a number, such as `0.1`, `-0`, `1e300`, `NaN` or `inf`.
pub(crate) fn write_number(number: f64, out: &mut String) {
    /// The range of numbers written without an exponent. Others would consist mostly of zeros.
    const PLAIN: std::ops::Range<f64> = 1e-4..1e17;
    // Writing to a string does not fail.
    if number == 0.0 || !number.is_finite() || PLAIN.contains(&number.abs()) {
        write!(out, "{number}").ok();
    } else {
        write!(out, "{number:e}").ok();
    }
}
