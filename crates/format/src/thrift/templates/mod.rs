//! Structs with the same structure.
//!
//! Few bits of a struct determine where it ends: headers, sizes, lengths, and the highest bit of each byte of
//! an integer. The column chunks of a file agree in nearly all of these, and differ in counts, offsets and
//! bounds. The deciding bits of a struct are therefore saved as a [`Template`]. Skipping a struct that fits the
//! template would take the same steps, so it has the same length.
//!
//! ```text
//! struct   18 03 'a' 'b' 'c' 16 c8 01 00      {1: "abc", 2: 100}
//! mask     ff ff 00  00  00  ff 80 80 ff
//! ```
//!
//! Comparing takes a few instructions per eight bytes, without a branch per field.

use super::skip::{Fault, Trace, skip_struct};

#[cfg(test)]
mod tests;

/// The number of bytes compared at once.
const BLOCK: usize = 32;

/// The maximum number of bytes in a template. Longer structs seldom have the same structure: they contain long
/// texts, or lists of varying sizes.
const MAX_BYTES: usize = 1024;

/// The number of templates: enough for alternating columns of some types, with two lengths of their offsets.
const TEMPLATES: usize = 8;

/// Templates of earlier structs, with a note on each.
#[derive(Debug, Clone)]
pub(crate) struct Templates<T = ()> {
    /// The most recently used first.
    templates: Vec<(Template, T)>,
    credit: Credit,
}

impl<T> Default for Templates<T> {
    fn default() -> Self {
        Self {
            templates: Vec::new(),
            credit: Credit(Credit::MOST),
        }
    }
}

impl Templates {
    /// Returns the end of the struct that starts at `position`, see [`skip_struct`], which is used if no
    /// template fits. `depth` must be the same for all structs.
    #[inline]
    pub(super) fn skip_struct(
        &mut self,
        bytes: &[u8],
        position: usize,
        depth: usize,
    ) -> Result<usize, Fault> {
        match self.like(bytes, position, depth, || ())? {
            Some((end, ())) => Ok(end),
            None => skip_struct(bytes, position, depth, &mut ()),
        }
    }
}

impl<T> Templates<T> {
    /// Returns the end of the struct that starts at `position`, and the note on the struct of the template that
    /// it fits. If no template fits, the struct itself may become a template. Returns `None` if no template
    /// fits and a new one is not worth its cost. `depth` must be the same for all structs.
    #[inline]
    pub(super) fn like(
        &mut self,
        bytes: &[u8],
        position: usize,
        depth: usize,
        note: impl FnOnce() -> T,
    ) -> Result<Option<(usize, &T)>, Fault> {
        let last = self.templates.first();
        let end = match last.and_then(|(template, _)| template.end(bytes, position)) {
            Some(end) => {
                self.credit.earn(Credit::FITS);
                Some(end)
            }
            None => self.like_an_earlier_one(bytes, position, depth, note)?,
        };
        let noted = self.templates.first().map(|(_, noted)| noted);
        Ok(end.zip(noted))
    }

    /// Compares a struct with all templates but the first. A fitting or new template becomes the first.
    fn like_an_earlier_one(
        &mut self,
        bytes: &[u8],
        position: usize,
        depth: usize,
        note: impl FnOnce() -> T,
    ) -> Result<Option<usize>, Fault> {
        if !self.credit.buys_a_template() {
            self.credit.earn(Credit::FITS_NOT);
            return Ok(None);
        }
        let others = self.templates.iter().enumerate().skip(1);
        let mut fitting = others.filter_map(|(index, (template, _))| {
            let end = template.end(bytes, position)?;
            Some((index, end))
        });
        if let Some((index, end)) = fitting.next() {
            self.credit.earn(Credit::FITS);
            let template = self.templates.remove(index);
            self.templates.insert(0, template);
            return Ok(Some(end));
        }
        self.credit.buy_a_template();
        // The least recently used template makes room.
        let unused = (self.templates.len() == TEMPLATES).then(|| self.templates.pop());
        let unused = unused.flatten().map(|(template, _)| template);
        let mut template = unused.unwrap_or_default();
        let end = template.take(bytes, position, depth)?;
        self.templates.insert(0, (template, note()));
        Ok(Some(end))
    }
}

/// The budget for creating templates. Creating one costs as much as skipping several structs, and pays off if
/// many others fit it. Otherwise, templates are only created now and then.
#[derive(Debug, Clone, Copy)]
struct Credit(u32);

impl Credit {
    const MOST: u32 = 32 * Self::TEMPLATE;
    const TEMPLATE: u32 = 128;
    const FITS: u32 = 32;
    const FITS_NOT: u32 = 1;

    fn earn(&mut self, credit: u32) {
        self.0 = (self.0 + credit).min(Self::MOST);
    }

    fn buys_a_template(self) -> bool {
        self.0 >= Self::TEMPLATE
    }

    fn buy_a_template(&mut self) {
        self.0 = self.0.saturating_sub(Self::TEMPLATE);
    }
}

/// The deciding bits of a struct.
#[derive(Debug, Clone, Default)]
struct Template {
    /// The number of bytes in the struct; 0 for an empty template, which nothing fits.
    length: usize,
    blocks: Vec<Block>,
}

/// A mask of the deciding bits in a block of a struct, and their values. Bits past the end of the struct are
/// not in the mask.
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

impl Template {
    /// Returns the end of the struct at `position`, if it fits and at least a whole number of blocks is left.
    #[inline]
    fn end(&self, bytes: &[u8], position: usize) -> Option<usize> {
        if self.length == 0 {
            return None;
        }
        let (blocks, _) = bytes.get(position..)?.as_chunks::<BLOCK>();
        let blocks = blocks.get(..self.blocks.len())?;
        for (template, bytes) in self.blocks.iter().zip(blocks) {
            if !template.fits(bytes) {
                return None;
            }
        }
        Some(position + self.length)
    }

    /// Turns this into the template of the struct at `position`. Returns the end of the struct.
    fn take(&mut self, bytes: &[u8], position: usize, depth: usize) -> Result<usize, Fault> {
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

impl Trace for Masks {
    fn whole(&mut self, from: usize, to: usize) {
        self.set(from, to, 0xff);
    }

    fn highest(&mut self, from: usize, to: usize) {
        self.set(from, to, 0x80);
    }
}
