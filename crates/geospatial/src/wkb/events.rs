//! Reads a value as a sequence of events.

use super::header::{Code, fewest_bytes};
use super::{ByteOrder, Coordinates, GeometryKind, GeometryType, Header, WkbError, WkbErrorKind};

/// The upper limit for [`ReadOptions::max_depth`], the number of nested geometries.
pub const MAX_DEPTH: usize = 32;

/// Limits for reading a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The maximum number of nested geometries, including the outermost one. Larger numbers than
    /// [`MAX_DEPTH`] count as [`MAX_DEPTH`].
    pub max_depth: usize,
    /// The maximum byte count of a value. No BYTE_ARRAY exceeds the default.
    pub max_bytes: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            max_depth: MAX_DEPTH,
            max_bytes: i32::MAX as usize,
        }
    }
}

/// The next item of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The start of a geometry. This geometry is the value itself, or a part of a geometry that has
    /// not ended yet.
    Start(Header),
    /// Coordinates of the geometry that started last. A point has its position here, which is
    /// [nowhere](super::Position::is_nowhere) if the point is empty. A line string has all its
    /// positions, if there are any, and a polygon has the positions of one ring.
    Coordinates(Coordinates<'a>),
    /// The rest of the value. We can't decode the innermost geometry, so we don't know where it
    /// ends. No event follows, not even the ends of outer geometries.
    Opaque(&'a [u8]),
    /// The end of a geometry of this type. If this geometry is the value itself, no byte follows.
    End(GeometryType),
}

/// An iterator over a value's events, similar to a streaming parser. It takes a single pass over
/// the bytes, without allocation or recursion. Use this if you only need the coordinates, or
/// convert geometries to another form.
///
/// An error is always the last item. Note that you can get events before the value turns out to be
/// malformed.
///
/// ```
/// use herringbone::geospatial::wkb::{Event, Events, GeometryKind};
/// use herringbone::geospatial::wkt;
///
/// let mut value = Vec::new();
/// wkt::read("POLYGON ((0 0, 4 0, 0 3, 0 0))", &mut value)?;
/// let events = Events::new(&value).collect::<Result<Vec<_>, _>>()?;
/// let Event::Start(header) = events[0] else { return Err("no geometry".into()) };
/// assert_eq!(header.geometry_type.kind, GeometryKind::Polygon);
/// let Event::Coordinates(ring) = events[1] else { return Err("no ring".into()) };
/// assert_eq!(ring.len(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Events<'a> {
    value: &'a [u8],
    at: usize,
    max_depth: usize,
    /// The stack of open geometries. Only the first `depth` entries are valid.
    open: [Open; MAX_DEPTH],
    depth: usize,
    state: State,
}

/// An open geometry.
#[derive(Debug, Clone, Copy)]
struct Open {
    geometry_type: GeometryType,
    byte_order: ByteOrder,
    /// The number of unread parts.
    parts: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing has been read yet.
    Outside,
    /// The reader is inside the geometry `open[depth - 1]`.
    Inside,
    /// The reader is inside an opaque geometry.
    Opaque,
    Done,
    TooLong {
        allowed: usize,
    },
}

impl<'a> Events<'a> {
    /// Reads a column's value, with the default limits.
    #[must_use]
    pub fn new(value: &'a [u8]) -> Self {
        Self::with_options(value, ReadOptions::default())
    }

    /// Reads a value with the given limits.
    #[must_use]
    pub fn with_options(value: &'a [u8], options: ReadOptions) -> Self {
        const NOTHING: Open = Open {
            geometry_type: GeometryType {
                kind: GeometryKind::Point,
                dimensions: super::Dimensions::Xy,
            },
            byte_order: ByteOrder::LittleEndian,
            parts: 0,
        };
        let state = match value.len() > options.max_bytes {
            true => State::TooLong {
                allowed: options.max_bytes,
            },
            false => State::Outside,
        };
        Self {
            value,
            at: 0,
            max_depth: options.max_depth.min(MAX_DEPTH),
            open: [NOTHING; MAX_DEPTH],
            depth: 0,
            state,
        }
    }

    /// Returns the number of bytes read so far.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns the rest of the value.
    fn opaque(&mut self) -> Event<'a> {
        let rest = self.value.get(self.at..).unwrap_or_default();
        self.at = self.value.len();
        self.state = State::Done;
        Event::Opaque(rest)
    }

    fn too_long(&self, allowed: usize) -> WkbError {
        let bytes = self.value.len();
        self.error(WkbErrorKind::TooLong { bytes, allowed })
    }

    /// Returns the innermost geometry's next part, or its end.
    fn inside(&mut self) -> Result<Event<'a>, WkbError> {
        let top = self.depth.saturating_sub(1);
        let Some(open) = self.open.get_mut(top) else {
            // Unreachable, since the entry was set when the geometry started.
            return Err(self.error(WkbErrorKind::TooDeep(self.max_depth)));
        };
        if open.parts == 0 {
            let geometry_type = open.geometry_type;
            return self.end(geometry_type);
        }
        let Open {
            geometry_type,
            byte_order,
            parts,
        } = *open;
        match geometry_type.kind {
            GeometryKind::Point | GeometryKind::LineString => {
                open.parts = 0;
                self.coordinates(parts, byte_order, geometry_type)
            }
            GeometryKind::Polygon => {
                open.parts -= 1;
                let positions = byte_order.number(self.take()?);
                self.coordinates(positions, byte_order, geometry_type)
            }
            whole => {
                open.parts -= 1;
                self.start(Some(whole))
            }
        }
    }

    fn end(&mut self, geometry_type: GeometryType) -> Result<Event<'a>, WkbError> {
        self.depth -= 1;
        if self.depth == 0 {
            self.state = State::Done;
            let trailing = self.value.len() - self.at;
            if trailing > 0 {
                return Err(self.error(WkbErrorKind::Trailing(trailing)));
            }
        }
        Ok(Event::End(geometry_type))
    }

    fn start(&mut self, whole: Option<GeometryKind>) -> Result<Event<'a>, WkbError> {
        let start = self.at;
        let at = |kind| WkbError { kind, at: start };
        let [order] = self.take()?;
        let byte_order = ByteOrder::from_byte(order).map_err(at)?;
        let code = Code::new(byte_order.number(self.take()?)).map_err(at)?;
        let geometry_type = code.geometry_type;
        let kind = geometry_type.kind;
        if let Some(whole) = whole.filter(|whole| !whole.may_contain(kind)) {
            return Err(at(WkbErrorKind::Part { whole, part: kind }));
        }
        let srid = match code.has_srid {
            true => Some(byte_order.number(self.take()?)),
            false => None,
        };
        let parts = match kind {
            GeometryKind::Point => 1,
            GeometryKind::Opaque(_) => 0,
            _ => byte_order.number(self.take()?),
        };
        self.ensure(fewest_bytes(geometry_type, parts))?;
        let header = Header {
            geometry_type,
            parts,
            byte_order,
            is_extended: code.is_extended,
            srid,
        };
        if kind.is_opaque() {
            self.state = State::Opaque;
            return Ok(Event::Start(header));
        }
        let depth = self.depth;
        let open = self.open.get_mut(depth).filter(|_| depth < self.max_depth);
        *open.ok_or(at(WkbErrorKind::TooDeep(self.max_depth)))? = Open {
            geometry_type,
            byte_order,
            parts,
        };
        self.depth += 1;
        self.state = State::Inside;
        Ok(Event::Start(header))
    }

    fn coordinates(
        &mut self,
        positions: u32,
        byte_order: ByteOrder,
        geometry_type: GeometryType,
    ) -> Result<Event<'a>, WkbError> {
        let dimensions = geometry_type.dimensions;
        let size = u64::from(positions) * dimensions.position_bytes() as u64;
        let size = self.ensure(size)?;
        let bytes = self.value.get(self.at..self.at + size).unwrap_or_default();
        self.at += size;
        let coordinates = Coordinates::new(bytes, byte_order, dimensions);
        Ok(Event::Coordinates(coordinates))
    }

    /// Checks that at least `bytes` bytes are left. The error has the number of missing bytes.
    fn ensure(&self, bytes: u64) -> Result<usize, WkbError> {
        let left = self.value.len() - self.at;
        match usize::try_from(bytes) {
            Ok(bytes) if bytes <= left => Ok(bytes),
            _ => Err(self.error(WkbErrorKind::Truncated {
                missing: bytes - left as u64,
            })),
        }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], WkbError> {
        let rest = self.value.get(self.at..).unwrap_or_default();
        match rest.first_chunk() {
            Some(taken) => {
                self.at += N;
                Ok(*taken)
            }
            None => Err(self.error(WkbErrorKind::Truncated {
                missing: (N - rest.len()) as u64,
            })),
        }
    }

    fn error(&self, kind: WkbErrorKind) -> WkbError {
        WkbError { kind, at: self.at }
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Result<Event<'a>, WkbError>;

    fn next(&mut self) -> Option<Self::Item> {
        let event = match self.state {
            State::Outside => self.start(None),
            State::Inside => self.inside(),
            State::Opaque => Ok(self.opaque()),
            State::TooLong { allowed } => Err(self.too_long(allowed)),
            State::Done => return None,
        };
        if event.is_err() {
            self.state = State::Done;
        }
        Some(event)
    }
}

impl std::iter::FusedIterator for Events<'_> {}
