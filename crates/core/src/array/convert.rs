//! From the units that pages hold to the values that Arrow arrays hold.

use std::ops::Range;

use herringbone_arrow::buffer::{ArrowNativeType, BooleanBuffer, Buffer};
use herringbone_format::{Error, Remedy, Result};
use herringbone_kernels::Malformed;
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::expand::{expand, spread};
use herringbone_kernels::filter::{filter_plain, retain};
use herringbone_kernels::plain;

use super::values::Values;
use crate::encoding::plain::PlainDecoder;
use crate::encoding::{Native, Page, ends_early};
use crate::malformed;

/// Bytes of units that are decoded before they are converted: they stay in the L1 cache.
pub(super) const BLOCK_BYTES: usize = 8192;

/// Appends the values in the bytes of a PLAIN page, of so many units each.
type Read = fn(&[u8], usize, &mut Vec<i64>) -> Result<(), Malformed>;

/// How values that are wider in the array fit into 64 bits.
pub(super) struct Short<T> {
    pub(super) read: Read,
    /// Appends what 64-bit integers in bytes are in the array.
    pub(super) widen: fn(&[u8], &mut Vec<T>),
}

impl<T> Clone for Short<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Short<T> {}

/// How units become Arrow values.
pub(super) trait Convert<U: Native>: Send {
    /// The Arrow value, or an element of it.
    type To: ArrowNativeType;

    /// Appends what the values become whose units are `bytes`, at any alignment.
    ///
    /// # Errors
    /// For values that the Arrow type cannot hold.
    fn convert(&self, bytes: &[u8], out: &mut Vec<Self::To>, lost: &mut Lost) -> Result<()>;

    /// The same of the entries of a dictionary, which matter only where a row has them: those that the type
    /// cannot hold may be noted as lost.
    ///
    /// # Errors
    /// As [`Self::convert`].
    fn convert_entries(
        &self,
        bytes: &[u8],
        out: &mut Vec<Self::To>,
        lost: &mut Lost,
    ) -> Result<()> {
        self.convert(bytes, out, lost)
    }

    /// Looks at entries of a dictionary that rows have.
    ///
    /// # Errors
    /// Where lost ones are an error.
    fn check_used(&self, _lost: &Lost, _before: usize) -> Result<()> {
        Ok(())
    }

    /// Elements that a value of `units` units becomes.
    fn elements(&self, _units: usize) -> usize {
        1
    }

    /// Appends what the next `n` values of `page` become, of `units` units each.
    fn decode(
        &self,
        page: &mut Page<U>,
        n: usize,
        units: usize,
        out: &mut Vec<Self::To>,
        lost: &mut Lost,
    ) -> Result<()> {
        if let Page::Plain(plain) = page {
            return self.convert(plain.take::<U>(n * units)?, out, lost);
        }
        let block = (BLOCK_BYTES / size_of::<U>() / units.max(1)).max(1);
        let mut scratch = Vec::new();
        let mut left = n;
        while left > 0 {
            let step = left.min(block);
            scratch.clear();
            page.extend(step * units, &mut scratch)?;
            self.convert(plain::bytes(&scratch), out, lost)?;
            left -= step;
        }
        Ok(())
    }

    /// Appends a value for each of the slots: what the next ones of `page` become where the bitmap is
    /// set, zero elsewhere. False, and nothing done, where that is no simpler than to decode the values
    /// and to spread them then.
    fn spread(
        &self,
        _page: &mut PlainDecoder,
        _validity: &Bitmap,
        _slots: Range<usize>,
        _out: &mut Vec<Self::To>,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Appends what those of the next `wanted.len()` values of `page` become whose bit is set, of one unit each. False, and
    /// nothing done, where they cannot be told apart before they are converted.
    fn append_wanted(
        &self,
        _page: &mut PlainDecoder,
        _wanted: &BooleanBuffer,
        _values: &mut Values<Self::To>,
    ) -> Result<bool> {
        Ok(false)
    }

    /// How the entries of a dictionary, of `units` units each, are kept shorter than in the array.
    fn short(&self, _units: usize) -> Option<Short<Self::To>> {
        None
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

    fn convert(&self, bytes: &[u8], out: &mut Vec<U>, _lost: &mut Lost) -> Result<()> {
        plain::extend(bytes, out);
        Ok(())
    }

    fn elements(&self, units: usize) -> usize {
        units
    }

    fn decode(
        &self,
        page: &mut Page<U>,
        n: usize,
        units: usize,
        out: &mut Vec<U>,
        _lost: &mut Lost,
    ) -> Result<()> {
        page.extend(n * units, out)
    }

    fn spread(
        &self,
        page: &mut PlainDecoder,
        validity: &Bitmap,
        slots: Range<usize>,
        out: &mut Vec<U>,
    ) -> Result<bool> {
        spread_plain(page, validity, slots, out).map(|()| true)
    }

    fn append_wanted(
        &self,
        page: &mut PlainDecoder,
        wanted: &BooleanBuffer,
        values: &mut Values<U>,
    ) -> Result<bool> {
        values.filter_plain(page.take::<U>(wanted.len())?, wanted);
        Ok(true)
    }

    fn borrow(&self, page: &mut Page<U>, n: usize) -> Result<Option<Buffer>> {
        match page {
            Page::Plain(plain) => plain.slice::<U>(n),
            _ => Ok(None),
        }
    }
}

/// A conversion block by block, of zeros to zeros.
pub(super) struct Blocks<T> {
    convert: fn(&[u8], &mut Vec<T>) -> Result<(), Malformed>,
    short: Option<Short<T>>,
    /// What helps where a value cannot be converted.
    remedy: Option<Remedy>,
}

impl<T> Blocks<T> {
    pub(super) fn new(convert: fn(&[u8], &mut Vec<T>) -> Result<(), Malformed>) -> Self {
        Self {
            convert,
            short: None,
            remedy: None,
        }
    }

    /// A conversion that the Arrow schema in the file asks for, and nothing else.
    pub(super) fn of_hint(convert: fn(&[u8], &mut Vec<T>) -> Result<(), Malformed>) -> Self {
        Self {
            remedy: Some(Remedy::IgnoreArrowSchema),
            ..Self::new(convert)
        }
    }

    /// A conversion that the annotation of the column asks for, and that not all stored values allow.
    pub(super) fn of_annotation(convert: fn(&[u8], &mut Vec<T>) -> Result<(), Malformed>) -> Self {
        Self {
            remedy: Some(Remedy::IgnoreAnnotations),
            ..Self::new(convert)
        }
    }

    fn refused(&self, reason: Malformed) -> Error {
        match self.remedy {
            None => malformed(reason),
            Some(remedy) => malformed(reason).with_remedy(remedy),
        }
    }

    /// With entries of dictionaries that are kept short.
    pub(super) fn with_short(self, short: Short<T>) -> Self {
        let short = Some(short);
        Self { short, ..self }
    }
}

impl<U: Native, T: ArrowNativeType> Convert<U> for Blocks<T> {
    type To = T;

    fn convert(&self, bytes: &[u8], out: &mut Vec<T>, _lost: &mut Lost) -> Result<()> {
        (self.convert)(bytes, out).map_err(|it| self.refused(it))
    }

    fn short(&self, _units: usize) -> Option<Short<T>> {
        self.short
    }

    fn spread(
        &self,
        page: &mut PlainDecoder,
        validity: &Bitmap,
        slots: Range<usize>,
        out: &mut Vec<T>,
    ) -> Result<bool> {
        let mut scratch = Vec::<U>::new();
        // Spread before they grow, and while they are in the L1 cache.
        let block = BLOCK_BYTES / size_of::<U>();
        for start in slots.clone().step_by(block) {
            let end = slots.end.min(start.saturating_add(block));
            scratch.clear();
            spread_plain(page, validity, start..end, &mut scratch)?;
            (self.convert)(plain::bytes(&scratch), out).map_err(|it| self.refused(it))?;
        }
        Ok(true)
    }

    fn append_wanted(
        &self,
        page: &mut PlainDecoder,
        wanted: &BooleanBuffer,
        values: &mut Values<T>,
    ) -> Result<bool> {
        let mut scratch = Vec::<U>::new();
        filter_plain(page.take::<U>(wanted.len())?, wanted, &mut scratch);
        let out = values.vector(scratch.len());
        (self.convert)(plain::bytes(&scratch), out).map_err(|it| self.refused(it))?;
        Ok(true)
    }
}

/// Appends the next values of `page` where `validity` is set, and zeros elsewhere.
fn spread_plain<U: Native>(
    page: &mut PlainDecoder,
    validity: &Bitmap,
    slots: Range<usize>,
    out: &mut Vec<U>,
) -> Result<()> {
    let bytes = page.take::<U>(validity.set_in(slots.clone()))?;
    if spread(bytes, validity, slots.start, slots.len(), out) {
        Ok(())
    } else {
        Err(ends_early())
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

    /// Whether there is one behind the first `before`. Among these, the flags of nulls mean nothing.
    pub(super) fn is_any_behind(&self, before: usize) -> bool {
        self.0.get(before..).is_some_and(|flags| flags.contains(&0))
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

    /// Drops flags as values are dropped.
    pub(super) fn retain(&mut self, start: usize, wanted: &BooleanBuffer) {
        if !self.0.is_empty() {
            retain(&mut self.0, start, wanted);
        }
    }

    /// Takes the flags, one for each slot; none if nothing is lost.
    pub(super) fn finish(&mut self) -> Option<Vec<bool>> {
        let flags = std::mem::take(&mut self.0);
        (!flags.is_empty()).then(|| flags.into_iter().map(|flag| flag != 0).collect())
    }
}
