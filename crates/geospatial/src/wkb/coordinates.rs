//! Decodes positions from a value's bytes when they are accessed.

use super::{ByteOrder, Dimensions};

/// A position. Missing ordinates are NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    /// The longitude or easting.
    pub x: f64,
    /// The latitude or northing.
    pub y: f64,
    /// An ordinate, usually a height.
    pub z: f64,
    /// A measure.
    pub m: f64,
}

impl Position {
    /// The position of an empty point.
    pub(crate) const NOWHERE: Self = Self {
        x: f64::NAN,
        y: f64::NAN,
        z: f64::NAN,
        m: f64::NAN,
    };

    /// Returns the ordinates for these dimensions and their count. Only that many entries are valid
    /// (2 to 4).
    #[must_use]
    pub fn ordinates(&self, dimensions: Dimensions) -> ([f64; 4], usize) {
        let third = if dimensions.has_z() { self.z } else { self.m };
        ([self.x, self.y, third, self.m], dimensions.ordinates())
    }

    /// Returns true if x, y, z and m are all NaN. This is how an empty point is encoded.
    #[must_use]
    pub fn is_nowhere(&self) -> bool {
        self.x.is_nan() && self.y.is_nan() && self.z.is_nan() && self.m.is_nan()
    }
}

/// The positions of a point, line string or ring. They borrow from the value's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coordinates<'a> {
    bytes: &'a [u8],
    byte_order: ByteOrder,
    dimensions: Dimensions,
}

impl<'a> Coordinates<'a> {
    /// Wraps `bytes`, which must consist of whole positions.
    pub(super) const fn new(
        bytes: &'a [u8],
        byte_order: ByteOrder,
        dimensions: Dimensions,
    ) -> Self {
        Self {
            bytes,
            byte_order,
            dimensions,
        }
    }

    /// Returns the number of positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.dimensions.position_bytes()
    }

    /// Returns true if there are no positions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the dimensions that the positions have.
    #[must_use]
    pub fn dimensions(&self) -> Dimensions {
        self.dimensions
    }

    /// Returns the ordinates as the value stores them. They are contiguous and have 8 bytes each.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the ordinates' byte order.
    #[must_use]
    pub fn byte_order(&self) -> ByteOrder {
        self.byte_order
    }

    /// Returns the position at `index`, counted from 0.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Position> {
        let size = self.dimensions.position_bytes();
        let start = index.checked_mul(size)?;
        let bytes = self.bytes.get(start..start.checked_add(size)?)?;
        Some(self.position(bytes))
    }

    /// Iterates over all positions.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Position> + Clone + use<'a> {
        let coordinates = *self;
        self.bytes
            .chunks_exact(self.dimensions.position_bytes())
            .map(move |bytes| coordinates.position(bytes))
    }

    /// Calls `see` with the ordinates of each position. Does nothing if `N` does not equal
    /// [`Dimensions::ordinates`].
    #[inline]
    pub fn for_each<const N: usize>(&self, mut see: impl FnMut([f64; N])) {
        if N != self.dimensions.ordinates() {
            return;
        }
        let (ordinates, _) = self.bytes.as_chunks::<8>();
        let (positions, _) = ordinates.as_chunks::<N>();
        // Each byte order has its own loop, so that there is no branch per position.
        match self.byte_order {
            ByteOrder::LittleEndian => positions
                .iter()
                .for_each(|position| see(position.map(f64::from_le_bytes))),
            ByteOrder::BigEndian => positions
                .iter()
                .for_each(|position| see(position.map(f64::from_be_bytes))),
        }
    }

    /// Returns the bytes of each x and y, or `None` if the positions are not little-endian or have
    /// other ordinates.
    #[inline]
    pub(crate) fn little_endian(&self) -> Option<&'a [[[u8; 8]; 2]]> {
        let is_so = (self.byte_order, self.dimensions) == (ByteOrder::LittleEndian, Dimensions::Xy);
        is_so.then_some(self.bytes.as_chunks().0.as_chunks().0)
    }

    /// Wraps little-endian positions of x and y only.
    pub(crate) fn of_little_endian(positions: &'a [[[u8; 8]; 2]]) -> Self {
        let bytes = positions.as_flattened().as_flattened();
        Self::new(bytes, ByteOrder::LittleEndian, Dimensions::Xy)
    }

    fn position(&self, bytes: &[u8]) -> Position {
        let (ordinates, _) = bytes.as_chunks::<8>();
        let of = |bytes: &[u8; 8]| self.byte_order.ordinate(*bytes);
        let (x, y, z, m) = match (ordinates, self.dimensions) {
            ([x, y], _) => (of(x), of(y), f64::NAN, f64::NAN),
            ([x, y, z], Dimensions::Xyz) => (of(x), of(y), of(z), f64::NAN),
            ([x, y, m], _) => (of(x), of(y), f64::NAN, of(m)),
            ([x, y, z, m], _) => (of(x), of(y), of(z), of(m)),
            // Unreachable, since positions have two to four ordinates.
            _ => return Position::NOWHERE,
        };
        Position { x, y, z, m }
    }
}
