//! Recognizes structs with the same structure.
//!
//! Only few of a struct's bits determine where it ends, namely headers, sizes, lengths, and the high bit of each byte
//! in an integer. A file's column chunks typically agree in nearly all of these bits, but differ in counts, offsets and
//! bounds. So we save a struct's deciding bits as a [`Shape`]. Skipping another struct that fits the shape would take
//! exactly the same steps, so it must have the same length.
//!
//! ```text
//! struct   18 03 'a' 'b' 'c' 16 c8 01 00      {1: "abc", 2: 100}
//! mask     ff ff 00  00  00  ff 80 80 ff
//! ```
//!
//! The comparison takes a few instructions per eight bytes, without a branch per field.

use super::skip::{SkipError, SkipTrace, skip_struct};

#[cfg(test)]
mod tests;

/// The number of bytes to compare at once.
const BLOCK: usize = 32;

/// The maximum byte count of a shape. Longer structs rarely have the same structure, because they contain long texts or
/// lists of varying sizes.
const MAX_BYTES: usize = 1024;

/// The maximum number of shapes. This is enough for alternating columns of a few types, with two offset lengths each.
const MAX_SHAPES: usize = 8;

/// The shapes of earlier structs, each with a cached value.
#[derive(Debug, Clone)]
pub(crate) struct ShapeCache<T = ()> {
    /// The shapes, most recently used first.
    shapes: Vec<(Shape, T)>,
    credit: Credit,
}

impl<T> Default for ShapeCache<T> {
    fn default() -> Self {
        Self {
            shapes: Vec::new(),
            credit: Credit(Credit::MAX),
        }
    }
}

impl ShapeCache {
    /// Returns the end of the struct at `position`, falling back to [`skip_struct`] if no shape fits. The caller must
    /// pass the same `depth` for all structs.
    #[inline]
    pub(super) fn skip_struct(
        &mut self,
        bytes: &[u8],
        position: usize,
        depth: usize,
    ) -> Result<usize, SkipError> {
        match self.get_or_insert(bytes, position, depth, || ())? {
            Some((end, ())) => Ok(end),
            None => skip_struct(bytes, position, depth, &mut ()),
        }
    }
}

impl<T> ShapeCache<T> {
    /// Returns the end of the struct at `position`, and the cached value of its shape. If no shape fits, the struct
    /// itself might become a shape. Returns `None` if no shape fits and a new shape isn't worth its cost. The caller
    /// must pass the same `depth` for all structs.
    #[inline]
    pub(super) fn get_or_insert(
        &mut self,
        bytes: &[u8],
        position: usize,
        depth: usize,
        value: impl FnOnce() -> T,
    ) -> Result<Option<(usize, &T)>, SkipError> {
        let last = self.shapes.first();
        let end = match last.and_then(|(shape, _)| shape.end(bytes, position)) {
            Some(end) => {
                self.credit.earn(Credit::HIT);
                Some(end)
            }
            None => self.find_or_insert(bytes, position, depth, value)?,
        };
        let value = self.shapes.first().map(|(_, value)| value);
        Ok(end.zip(value))
    }

    /// Compares a struct with all shapes but the first. The matching or newly created shape moves to the front.
    fn find_or_insert(
        &mut self,
        bytes: &[u8],
        position: usize,
        depth: usize,
        value: impl FnOnce() -> T,
    ) -> Result<Option<usize>, SkipError> {
        if !self.credit.affords_shape() {
            self.credit.earn(Credit::MISS);
            return Ok(None);
        }
        let others = self.shapes.iter().enumerate().skip(1);
        let mut fitting = others.filter_map(|(index, (shape, _))| {
            let end = shape.end(bytes, position)?;
            Some((index, end))
        });
        if let Some((index, end)) = fitting.next() {
            self.credit.earn(Credit::HIT);
            let shape = self.shapes.remove(index);
            self.shapes.insert(0, shape);
            return Ok(Some(end));
        }
        self.credit.pay_for_shape();
        // Evict the least recently used shape.
        let unused = (self.shapes.len() == MAX_SHAPES).then(|| self.shapes.pop());
        let unused = unused.flatten().map(|(shape, _)| shape);
        let mut shape = unused.unwrap_or_default();
        let end = shape.set(bytes, position, depth)?;
        self.shapes.insert(0, (shape, value()));
        Ok(Some(end))
    }
}

/// The budget for creating shapes. Creating a shape costs as much as skipping several structs, so it only pays off if
/// many others fit. If they don't, we only create a shape now and then.
#[derive(Debug, Clone, Copy)]
struct Credit(u32);

impl Credit {
    const MAX: u32 = 32 * Self::SHAPE;
    const SHAPE: u32 = 128;
    const HIT: u32 = 32;
    const MISS: u32 = 1;

    fn earn(&mut self, credit: u32) {
        self.0 = (self.0 + credit).min(Self::MAX);
    }

    fn affords_shape(self) -> bool {
        self.0 >= Self::SHAPE
    }

    fn pay_for_shape(&mut self) {
        self.0 = self.0.saturating_sub(Self::SHAPE);
    }
}

/// A struct's deciding bits, which determine where it ends.
#[derive(Debug, Clone, Default)]
struct Shape {
    /// The struct's byte count, or 0 for an empty shape that fits no struct.
    length: usize,
    blocks: Vec<Block>,
}

/// A mask of the deciding bits in one of a struct's blocks, and their values. Bits past the struct's end aren't in the
/// mask.
#[derive(Debug, Clone, Copy)]
struct Block {
    mask: [u8; BLOCK],
    bits: [u8; BLOCK],
}

impl Block {
    #[inline]
    #[allow(
        clippy::needless_range_loop,
        clippy::indexing_slicing,
        reason = "arrays of one length: neither bounds nor iterators are left of it"
    )]
    fn fits(&self, bytes: &[u8; BLOCK]) -> bool {
        let mut differ = 0;
        for index in 0..BLOCK {
            differ |= (bytes[index] & self.mask[index]) ^ self.bits[index];
        }
        differ == 0
    }
}

impl Shape {
    /// Returns the end of the struct at `position`, if it fits the shape and there are enough bytes left for a whole
    /// number of blocks.
    #[inline]
    fn end(&self, bytes: &[u8], position: usize) -> Option<usize> {
        if self.length == 0 {
            return None;
        }
        let (blocks, _) = bytes.get(position..)?.as_chunks::<BLOCK>();
        let blocks = blocks.get(..self.blocks.len())?;
        for (shape, bytes) in self.blocks.iter().zip(blocks) {
            if !shape.fits(bytes) {
                return None;
            }
        }
        Some(position + self.length)
    }

    /// Turns this into the shape of the struct at `position`, returning the struct's end.
    fn set(&mut self, bytes: &[u8], position: usize, depth: usize) -> Result<usize, SkipError> {
        self.length = 0;
        self.blocks.clear();
        let mut masks = Masks {
            start: position,
            mask: Vec::new(),
        };
        let end = skip_struct(bytes, position, depth, &mut masks)?;
        if end - position <= MAX_BYTES {
            let mut mask = masks.mask;
            mask.resize((end - position).next_multiple_of(BLOCK), 0);
            self.fill(&mask, bytes.get(position..end).unwrap_or_default());
        }
        Ok(end)
    }

    fn fill(&mut self, mask: &[u8], bytes: &[u8]) {
        self.length = bytes.len();
        let mut bytes = bytes.iter();
        for &mask in mask.as_chunks::<BLOCK>().0 {
            let mut bits = [0; BLOCK];
            for ((bits, mask), byte) in bits.iter_mut().zip(mask).zip(&mut bytes) {
                *bits = byte & mask;
            }
            self.blocks.push(Block { mask, bits });
        }
    }
}

/// A mask under construction.
struct Masks {
    start: usize,
    mask: Vec<u8>,
}

impl Masks {
    fn set(&mut self, from: usize, to: usize, mask: u8) {
        let (from, to) = (from - self.start, to - self.start);
        if to <= MAX_BYTES {
            self.mask.resize(from, 0);
            self.mask.resize(to, mask);
        }
    }
}

impl SkipTrace for Masks {
    fn all_bits(&mut self, from: usize, to: usize) {
        self.set(from, to, 0xff);
    }

    fn high_bits(&mut self, from: usize, to: usize) {
        self.set(from, to, 0x80);
    }
}
