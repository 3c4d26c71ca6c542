//! Converts a value to GeoJSON.

use std::fmt::Write;

use herringbone_format::{Error, Result};

use crate::wkb::{
    Coordinates, Event, Events, GeometryKind, Header, MAX_DEPTH, Position, WkbError, WkbErrorKind,
};

/// Appends a value as a geometry object. An empty point has the coordinates `[]`. A position has
/// two numbers if its z is NaN.
///
/// # Errors
///
/// Fails if the value is not well-known binary, or if GeoJSON cannot represent it because it has M,
/// an opaque geometry, infinite ordinates, or NaN for x or y. After an error, `out` can end in a
/// partial geometry.
pub fn write(value: &[u8], out: &mut String) -> Result<()> {
    let mut json = Json {
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
        match event? {
            Event::Start(header) => json.start(&header, at)?,
            Event::Coordinates(coordinates) => json.coordinates(&coordinates)?,
            Event::End(_) => json.end(),
            Event::Opaque(_) => {}
        }
    }
}

/// A geometry whose brackets are not closed yet.
#[derive(Debug, Clone, Copy, Default)]
struct Open {
    kind: Option<GeometryKind>,
    has_part: bool,
    /// True for an object, false for a part of an outer object's coordinates.
    is_object: bool,
}

struct Json<'a> {
    out: &'a mut String,
    open: [Open; MAX_DEPTH],
    depth: usize,
}

impl Json<'_> {
    fn start(&mut self, header: &Header, at: usize) -> Result<()> {
        let geometry_type = header.geometry_type;
        let kind = geometry_type.kind;
        let Some(name) = kind.name() else {
            let kind = WkbErrorKind::Opaque(kind);
            return Err(WkbError { kind, at }.into());
        };
        if geometry_type.dimensions.has_m() {
            return Err(Error::argument(format!(
                "the geometry at byte {at} is a {geometry_type}, but GeoJSON does not support M"
            )));
        }
        let whole = self.comma();
        let is_object = whole.is_none_or(|whole| whole == GeometryKind::GeometryCollection);
        if is_object {
            let members = match kind {
                GeometryKind::GeometryCollection => "geometries",
                _ => "coordinates",
            };
            // Writing to a string does not fail.
            write!(self.out, "{{\"type\":\"{name}\",\"{members}\":").ok();
        }
        if kind != GeometryKind::Point {
            self.out.push('[');
        }
        if let Some(open) = self.open.get_mut(self.depth) {
            *open = Open {
                kind: Some(kind),
                has_part: false,
                is_object,
            };
        }
        self.depth += 1;
        Ok(())
    }

    fn coordinates(&mut self, coordinates: &Coordinates<'_>) -> Result<()> {
        match self.comma() {
            Some(GeometryKind::Polygon) => {
                self.out.push('[');
                self.positions(coordinates)?;
                self.out.push(']');
                Ok(())
            }
            Some(GeometryKind::Point)
                if coordinates.iter().all(|coordinate| coordinate.is_nowhere()) =>
            {
                self.out.push_str("[]");
                Ok(())
            }
            _ => self.positions(coordinates),
        }
    }

    fn end(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if let Some(open) = self.open.get(self.depth) {
            if open.kind != Some(GeometryKind::Point) {
                self.out.push(']');
            }
            if open.is_object {
                self.out.push('}');
            }
        }
    }

    /// Writes a comma before a part of the innermost geometry, unless it is the first part. Returns
    /// the innermost geometry's kind.
    fn comma(&mut self) -> Option<GeometryKind> {
        let open = self.open.get_mut(self.depth.checked_sub(1)?)?;
        if open.has_part {
            self.out.push(',');
        }
        open.has_part = true;
        open.kind
    }

    fn positions(&mut self, coordinates: &Coordinates<'_>) -> Result<()> {
        for (index, position) in coordinates.iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.position(&position)?;
        }
        Ok(())
    }

    fn position(&mut self, position: &Position) -> Result<()> {
        let Position { x, y, z, .. } = *position;
        if !x.is_finite() || !y.is_finite() || z.is_infinite() {
            return Err(Error::argument(format!(
                "a position is {x} {y}, but GeoJSON supports only finite numbers"
            )));
        }
        self.out.push('[');
        crate::wkt::write_number(x, self.out);
        self.out.push(',');
        crate::wkt::write_number(y, self.out);
        if !z.is_nan() {
            self.out.push(',');
            crate::wkt::write_number(z, self.out);
        }
        self.out.push(']');
        Ok(())
    }
}
