//! Well-known binary as Parquet wants it: ISO, the least significant byte first.

use super::{
    ByteOrder, Coordinates, Event, Events, GeometryKind, GeometryType, Header, Position, WkbError,
    WkbErrorKind,
};

/// Appends geometries to bytes.
///
/// What is written is well-known binary where after each [`start`](Self::start) as many parts follow
/// as it says: positions of a line string and the one of a point, [rings](Self::start_ring) of a
/// polygon, geometries of the others.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    /// Appends to `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out }
    }

    /// A geometry starts; `parts` means nothing for a point.
    pub fn start(&mut self, geometry_type: GeometryType, parts: u32) {
        self.out.push(1);
        self.number(geometry_type.code());
        if geometry_type.kind != GeometryKind::Point {
            self.number(parts);
        }
    }

    /// A ring of a polygon starts.
    pub fn start_ring(&mut self, positions: u32) {
        self.number(positions);
    }

    /// A position of the line string or ring that has started, or that of the point; the ordinates
    /// that `geometry_type` has.
    pub fn position(&mut self, position: Position, geometry_type: GeometryType) {
        let (ordinates, count) = position.ordinates(geometry_type.dimensions);
        for ordinate in ordinates.iter().take(count) {
            self.out.extend_from_slice(&ordinate.to_le_bytes());
        }
    }

    /// Positions as they lie in another value.
    pub fn coordinates(&mut self, coordinates: &Coordinates<'_>) {
        match coordinates.byte_order() {
            ByteOrder::LittleEndian => self.out.extend_from_slice(coordinates.bytes()),
            ByteOrder::BigEndian => {
                let (ordinates, _) = coordinates.bytes().as_chunks::<8>();
                self.out.extend(ordinates.iter().flat_map(|bytes| {
                    let mut bytes = *bytes;
                    bytes.reverse();
                    bytes
                }));
            }
        }
    }

    /// What is opaque keeps its order, as nobody knows which of its bytes are numbers.
    fn start_opaque(&mut self, header: &Header) {
        let code = header.geometry_type.code();
        match header.byte_order {
            ByteOrder::BigEndian => {
                self.out.push(0);
                self.out.extend_from_slice(&code.to_be_bytes());
            }
            ByteOrder::LittleEndian => {
                self.out.push(1);
                self.number(code);
            }
        }
    }

    fn number(&mut self, number: u32) {
        self.out.extend_from_slice(&number.to_le_bytes());
    }
}

/// Appends a value in the ISO form, its numbers with the least significant byte first. An SRID is
/// left out: in Parquet the column says what the reference system is.
///
/// What is [opaque](Event::Opaque) stays as it is.
///
/// # Errors
///
/// The value is not well-known binary, or a geometry that is opaque has the extended form. `out` has
/// then part of it.
pub fn write_iso(value: &[u8], out: &mut Vec<u8>) -> Result<(), WkbError> {
    out.reserve(value.len());
    let mut writer = Writer::new(out);
    let mut is_polygon = false;
    let mut events = Events::new(value);
    loop {
        let at = events.position();
        let Some(event) = events.next() else {
            return Ok(());
        };
        match event? {
            Event::Start(header) => {
                let GeometryType { kind, .. } = header.geometry_type;
                is_polygon = kind == GeometryKind::Polygon;
                if !kind.is_opaque() {
                    writer.start(header.geometry_type, header.parts);
                } else if header.is_extended {
                    let kind = WkbErrorKind::Opaque(kind);
                    return Err(WkbError { kind, at });
                } else {
                    writer.start_opaque(&header);
                }
            }
            Event::Coordinates(coordinates) => {
                if is_polygon {
                    // It was a u32.
                    writer.start_ring(coordinates.len() as u32);
                }
                writer.coordinates(&coordinates);
            }
            Event::Opaque(rest) => writer.out.extend_from_slice(rest),
            Event::End(_) => {}
        }
    }
}
