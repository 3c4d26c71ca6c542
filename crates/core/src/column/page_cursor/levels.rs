//! The levels of the open page.

use herringbone_format::Result;
use herringbone_kernels::bitmap::Bitmap;

use super::PageCursor;
use crate::levels::Levels;
use crate::page::{BLOCK_LEVELS, PageStart};

/// A data page with levels left.
pub(super) struct OpenPage {
    pub(super) place: PageStart,
    pub(super) repetition: Levels,
    pub(super) definition: Levels,
    /// The level count declared in the header.
    pub(super) num_levels: usize,
    /// The number of non-null values, if declared in the header.
    pub(super) num_non_null: Option<u64>,
    pub(super) levels_left: usize,
    /// The size of levels and values in bytes.
    pub(super) body_bytes: usize,
    /// True if the page is damaged, so that its values become null.
    pub(super) is_lost: bool,
}

/// Decoded levels, some already used.
#[derive(Default)]
pub(super) struct LevelBlock {
    rep: Vec<u8>,
    def: Vec<u8>,
    /// The first unused level's index.
    next: usize,
}

impl LevelBlock {
    pub(super) fn is_used_up(&self) -> bool {
        self.next >= self.rep.len()
    }
}

/// Levels of columns without repetition levels, where each level is a row.
impl PageCursor {
    /// Returns the number of levels in the open page not decoded yet.
    #[inline]
    pub(in crate::column) fn levels_left(&self) -> usize {
        self.page.as_ref().map_or(0, |page| page.levels_left)
    }

    /// Skips levels of the open page, which must contain them. Returns the number of skipped values.
    pub(in crate::column) fn skip_levels(&mut self, levels: usize) -> Result<usize> {
        let Some(page) = &mut self.page else {
            return Ok(0);
        };
        page.levels_left -= levels;
        page.definition.skip(levels, &mut self.block.def)
    }

    /// Uses levels of the open page, which must contain them. Since they're all 0, nothing is decoded.
    pub(in crate::column) fn use_zeros(&mut self, levels: usize) {
        if let Some(page) = &mut self.page {
            page.levels_left -= levels;
        }
    }

    /// Appends definition levels of 0 and 1 to `validity` as bits, returning the number of ones.
    pub(in crate::column) fn append_bits(
        &mut self,
        levels: usize,
        validity: &mut Bitmap,
    ) -> Result<usize> {
        let Some(page) = &mut self.page else {
            return Ok(0);
        };
        page.levels_left -= levels;
        let scratch = &mut self.block.def;
        page.definition.extend_bitmap(levels, scratch, validity)
    }

    /// Decodes the open page's next definition levels. The caller asks for at most a block.
    pub(in crate::column) fn definition(&mut self, levels: usize) -> Result<&[u8]> {
        self.block.def.clear();
        if let Some(page) = &mut self.page {
            page.levels_left -= levels;
            page.definition.extend(levels, &mut self.block.def)?;
        }
        Ok(&self.block.def)
    }
}

/// Levels of columns with repetition levels. We decode these block by block.
impl PageCursor {
    /// Decodes the open page's next block of levels. The previous block must be used up. Returns false if no page is
    /// open.
    pub(in crate::column) fn decode_block(&mut self) -> Result<bool> {
        let Some(page) = &mut self.page else {
            return Ok(false);
        };
        let levels = page.levels_left.min(BLOCK_LEVELS);
        let block = &mut self.block;
        block.rep.clear();
        block.def.clear();
        block.next = 0;
        page.repetition.extend(levels, &mut block.rep)?;
        page.definition.extend(levels, &mut block.def)?;
        page.levels_left -= levels;
        Ok(true)
    }

    /// Returns the decoded but unused repetition levels.
    #[inline]
    pub(in crate::column) fn repetition(&self) -> &[u8] {
        &self.block.rep[self.block.next..]
    }

    /// Uses the next `levels` decoded levels, returning their repetition and definition levels.
    pub(in crate::column) fn use_block(&mut self, levels: usize) -> (&[u8], &[u8]) {
        let from = self.block.next;
        self.block.next += levels;
        let used = from..self.block.next;
        (&self.block.rep[used.clone()], &self.block.def[used])
    }
}
