//! Positions, read from the bytes of the value when they are asked for.

use super::{ByteOrder, Dimensions};

/// A position; NaN where it does not have the ordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    /// Longitude, easting.
    pub x: f64,
    /// Latitude, northing.
    pub y: f64,
    /// Usually the height.
    pub z: f64,
    /// A measure.
    pub m: f64,
}

impl Position {
    /// That of an empty point.
    pub(crate) const NOWHERE: Self = Self {
        x: f64::NAN,
        y: f64::NAN,
        z: f64::NAN,
        m: f64::NAN,
    };

    /// The ordinates that positions of these dimensions have: the first 2 to 4.
    #[must_use]
    pub fn ordinates(&self, dimensions: Dimensions) -> ([f64; 4], usize) {
        let third = if dimensions.has_z() { self.z } else { self.m };
        ([self.x, self.y, third, self.m], dimensions.ordinates())
    }

    /// Whether x, y, z and m are all NaN, which is how a point without position is written.
    #[must_use]
    pub fn is_nowhere(&self) -> bool {
        self.x.is_nan() && self.y.is_nan() && self.z.is_nan() && self.m.is_nan()
    }
}

/// The positions of a point, of a line string or of a ring, in the bytes of the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coordinates<'a> {
    bytes: &'a [u8],
    byte_order: ByteOrder,
    dimensions: Dimensions,
}

impl<'a> Coordinates<'a> {
    /// `bytes` are whole positions.
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

    /// How many positions there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len() / self.dimensions.position_bytes()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Which ordinates they have.
    #[must_use]
    pub fn dimensions(&self) -> Dimensions {
        self.dimensions
    }

    /// The ordinates one after the other, as they lie in the value: 8 bytes each.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The order of the bytes of each ordinate.
    #[must_use]
    pub fn byte_order(&self) -> ByteOrder {
        self.byte_order
    }

    /// The position at `index`, from 0.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Position> {
        let size = self.dimensions.position_bytes();
        let start = index.checked_mul(size)?;
        let bytes = self.bytes.get(start..start.checked_add(size)?)?;
        Some(self.position(bytes))
    }

    /// All positions.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Position> + Clone + use<'a> {
        let coordinates = *self;
        self.bytes
            .chunks_exact(self.dimensions.position_bytes())
            .map(move |bytes| coordinates.position(bytes))
    }

    /// All ordinates, those of a position together: `N` is [`Dimensions::ordinates`], or nothing is
    /// seen.
    #[inline]
    pub fn for_each<const N: usize>(&self, mut see: impl FnMut([f64; N])) {
        if N != self.dimensions.ordinates() {
            return;
        }
        let (ordinates, _) = self.bytes.as_chunks::<8>();
        let (positions, _) = ordinates.as_chunks::<N>();
        // One loop for each order, so that neither asks.
        match self.byte_order {
            ByteOrder::LittleEndian => positions
                .iter()
                .for_each(|position| see(position.map(f64::from_le_bytes))),
            ByteOrder::BigEndian => positions
                .iter()
                .for_each(|position| see(position.map(f64::from_be_bytes))),
        }
    }

    /// The bytes of x and y, the least significant first; `None` where there are other ordinates, or the order is another one.
    #[inline]
    pub(crate) fn little_endian(&self) -> Option<&'a [[[u8; 8]; 2]]> {
        let is_so = (self.byte_order, self.dimensions) == (ByteOrder::LittleEndian, Dimensions::Xy);
        is_so.then_some(self.bytes.as_chunks().0.as_chunks().0)
    }

    /// Positions of x and y.
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
            // Positions have two to four ordinates.
            _ => return Position::NOWHERE,
        };
        Position { x, y, z, m }
    }
}
