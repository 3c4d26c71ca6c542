//! A value as a sequence of events.

use super::header::{Code, fewest_bytes};
use super::{ByteOrder, Coordinates, GeometryKind, GeometryType, Header, WkbError, WkbErrorKind};

/// The most geometries inside of each other that [`ReadOptions::max_depth`] may allow.
pub const MAX_DEPTH: usize = 32;

/// What a value may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Geometries inside of each other, the outermost included; above [`MAX_DEPTH`] it is that.
    pub max_depth: usize,
    /// Bytes of a value. No BYTE_ARRAY has more than the default.
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

/// What comes next in a value.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A geometry starts: the value, or a part of one that has started and has not ended.
    Start(Header),
    /// Of the geometry that started last: the position of a point, which is
    /// [nowhere](super::Position::is_nowhere) where the point is empty; the positions of a line
    /// string that has any; the positions of each ring of a polygon.
    Coordinates(Coordinates<'a>),
    /// The rest of the value. A geometry that started is not looked into, and where it ends nobody
    /// knows; no event follows, not even the ends of the others.
    Opaque(&'a [u8]),
    /// The geometry of this type ends. Where it is the value, no byte follows.
    End(GeometryType),
}

/// The events of a value, in one pass over its bytes: no allocation, no recursion, and as much work
/// as there are bytes.
///
/// An error is the last item. A value that is not well-known binary may give events before.
#[derive(Debug, Clone)]
pub struct Events<'a> {
    value: &'a [u8],
    at: usize,
    max_depth: usize,
    /// The geometries that have started and have not ended; those above `depth` are of no meaning.
    open: [Open; MAX_DEPTH],
    depth: usize,
    state: State,
}

/// A geometry that has not ended.
#[derive(Debug, Clone, Copy)]
struct Open {
    geometry_type: GeometryType,
    byte_order: ByteOrder,
    /// Parts that have not been read.
    parts: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was read.
    Outside,
    /// Within `open[depth - 1]`.
    Inside,
    /// Within what is opaque.
    Opaque,
    Done,
    TooLong {
        allowed: usize,
    },
}

impl<'a> Events<'a> {
    /// Of the value of a column.
    #[must_use]
    pub fn new(value: &'a [u8]) -> Self {
        Self::with_options(value, ReadOptions::default())
    }

    /// The same, with other limits.
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

    /// Bytes of the value that were read.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }

    /// All that is left.
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

    /// The next part of the innermost geometry, or its end.
    fn inside(&mut self) -> Result<Event<'a>, WkbError> {
        let top = self.depth.saturating_sub(1);
        let Some(open) = self.open.get_mut(top) else {
            // It was there when it started.
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

    /// Says what is missing where fewer than `bytes` bytes are left.
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
