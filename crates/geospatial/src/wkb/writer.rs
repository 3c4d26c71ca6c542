//! Writes well-known binary as Parquet requires it: ISO, with the least significant byte first.

use super::{
    ByteOrder, Coordinates, Event, Events, GeometryKind, GeometryType, Header, Position, WkbError,
    WkbErrorKind,
};

/// Appends geometries to a byte buffer.
///
/// The result is well-known binary if you follow each [`start`](Self::start) by the announced
/// number of parts. These are the position of a point, the positions of a line string, the
/// [rings](Self::start_ring) of a polygon, and the geometries in other kinds.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    /// Creates a writer that appends to `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out }
    }

    /// Starts a geometry. For a point, `parts` is ignored.
    pub fn start(&mut self, geometry_type: GeometryType, parts: u32) {
        self.out.push(1);
        self.number(geometry_type.code());
        if geometry_type.kind != GeometryKind::Point {
            self.number(parts);
        }
    }

    /// Starts a polygon's ring.
    pub fn start_ring(&mut self, positions: u32) {
        self.number(positions);
    }

    /// Appends a position to the open point, line string or ring, with the ordinates of
    /// `geometry_type`.
    pub fn position(&mut self, position: Position, geometry_type: GeometryType) {
        let (ordinates, count) = position.ordinates(geometry_type.dimensions);
        for ordinate in ordinates.iter().take(count) {
            self.out.extend_from_slice(&ordinate.to_le_bytes());
        }
    }

    /// Appends positions from another value.
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

    /// Starts an opaque geometry. It keeps its byte order, since we don't know where its numbers
    /// are.
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

/// Appends a value in the ISO form, with the least significant byte first. SRIDs are omitted, since
/// the column defines the reference system in Parquet.
///
/// An [opaque](Event::Opaque) geometry is copied unchanged.
///
/// # Errors
///
/// Fails if the value is not well-known binary, or if it contains an opaque geometry in the
/// extended form. After an error, `out` can end in a partial value.
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
                    // The count was a u32 in the value, so it fits.
                    writer.start_ring(coordinates.len() as u32);
                }
                writer.coordinates(&coordinates);
            }
            Event::Opaque(rest) => writer.out.extend_from_slice(rest),
            Event::End(_) => {}
        }
    }
}
