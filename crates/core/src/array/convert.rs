//! From the units that pages hold to the values that Arrow arrays hold.

use herringbone_arrow::buffer::{ArrowNativeType, Buffer};
use herringbone_format::Result;
use herringbone_kernels::Malformed;
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::expand::expand;
use herringbone_kernels::plain;

use crate::encoding::{Native, Page};
use crate::malformed;

/// Bytes of units that are decoded before they are converted: they stay in the L1 cache.
const BLOCK_BYTES: usize = 8192;

/// How units become Arrow values.
pub(super) trait Convert<U: Native>: Send {
    /// The Arrow value, or an element of it.
    type To: ArrowNativeType;

    /// Appends what the values of `block` become.
    ///
    /// # Errors
    /// For values that the Arrow type cannot hold.
    fn convert(&self, block: &[U], out: &mut Vec<Self::To>, lost: &mut Lost) -> Result<()>;

    /// Elements that a value of `units` units becomes.
    fn elements(&self, _units: usize) -> usize {
        1
    }

    /// Appends what the next `n` values of `page` become, of `units` units each.
    fn decode(
        &self,
        page: &mut Page<U>,
        (n, units): (usize, usize),
        out: &mut Vec<Self::To>,
        lost: &mut Lost,
    ) -> Result<()> {
        if let Page::Plain(plain) = page
            && let Some(block) = plain.slice::<U>(n * units)?
        {
            return self.convert(plain::view(&block).unwrap_or_default(), out, lost);
        }
        let block = (BLOCK_BYTES / size_of::<U>() / units.max(1)).max(1);
        let mut scratch = Vec::new();
        let mut left = n;
        while left > 0 {
            let step = left.min(block);
            scratch.clear();
            page.extend(step * units, &mut scratch)?;
            self.convert(&scratch, out, lost)?;
            left -= step;
        }
        Ok(())
    }

    /// The next `n` units of `page` in place, where they are the Arrow values as they are.
    fn borrow(&self, _page: &mut Page<U>, _n: usize) -> Result<Option<Buffer>> {
        Ok(None)
    }
}

/// Units that are the Arrow values already, element by element.
pub(super) struct Identity;

impl<U: Native + ArrowNativeType> Convert<U> for Identity {
    type To = U;

    fn convert(&self, block: &[U], out: &mut Vec<U>, _lost: &mut Lost) -> Result<()> {
        out.extend_from_slice(block);
        Ok(())
    }

    fn elements(&self, units: usize) -> usize {
        units
    }

    fn decode(
        &self,
        page: &mut Page<U>,
        (n, units): (usize, usize),
        out: &mut Vec<U>,
        _lost: &mut Lost,
    ) -> Result<()> {
        page.extend(n * units, out)
    }

    fn borrow(&self, page: &mut Page<U>, n: usize) -> Result<Option<Buffer>> {
        match page {
            Page::Plain(plain) => plain.slice::<U>(n),
            _ => Ok(None),
        }
    }
}

/// A conversion block by block.
pub(super) struct Blocks<U, T>(pub(super) fn(&[U], &mut Vec<T>) -> Result<(), Malformed>);

impl<U: Native, T: ArrowNativeType> Convert<U> for Blocks<U, T> {
    type To = T;

    fn convert(&self, block: &[U], out: &mut Vec<T>, _lost: &mut Lost) -> Result<()> {
        (self.0)(block, out).map_err(malformed)
    }
}

/// Which values became null because the Arrow type cannot hold them.
///
/// Empty as long as there are none; then one flag for each value, 0 for those that are lost.
#[derive(Default)]
pub(super) struct Lost(Vec<u8>);

impl Lost {
    /// Notes that of the values behind the first `len` those are lost for which `lost` says so.
    pub(super) fn note(&mut self, len: usize, lost: impl Iterator<Item = bool>) {
        self.0.resize(len, 1);
        self.0.extend(lost.map(|lost| u8::from(!lost)));
    }

    /// The flags; empty if nothing is lost.
    pub(super) fn flags(&self) -> &[u8] {
        &self.0
    }

    /// The flags to which those of gathered values are appended behind the first `len`.
    pub(super) fn vector(&mut self, len: usize) -> &mut Vec<u8> {
        self.0.resize(len, 1);
        &mut self.0
    }

    /// Says that there are `len` values now, the new ones not lost.
    pub(super) fn fill(&mut self, len: usize) {
        if !self.0.is_empty() {
            self.0.resize(len, 1);
        }
    }

    /// Spreads the flags of the values appended last, as the values are spread.
    pub(super) fn expand(&mut self, validity: &Bitmap, start: usize, slots: usize) {
        if !self.0.is_empty() {
            let set = validity.set_in(start..start.saturating_add(slots));
            let base = self.0.len().saturating_sub(set);
            expand(&mut self.0, base, validity, start, slots);
        }
    }

    /// Takes the flags, one for each slot; none if nothing is lost.
    pub(super) fn finish(&mut self) -> Option<Vec<bool>> {
        let flags = std::mem::take(&mut self.0);
        (!flags.is_empty()).then(|| flags.into_iter().map(|flag| flag != 0).collect())
    }
}
