//! Converts the units that pages store to the values of Arrow arrays.
//!
//! The bytes of a PLAIN page are converted directly. For other encodings without a dictionary, we decode one L1-sized
//! block of units at a time and convert it before decoding the next block.

use std::ops::Range;

use herringbone_arrow::buffer::{ArrowNativeType, BooleanBuffer, Buffer};
use herringbone_format::{Error, Remedy, Result};
use herringbone_kernels::Malformed;
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::expand::{expand, spread};
use herringbone_kernels::filter::{filter_plain, retain};
use herringbone_kernels::plain;

use super::fixed_width_buffer::FixedWidthBuffer;
use crate::encoding::plain::PlainDecoder;
use crate::encoding::{Native, Page, ends_early};
use crate::malformed;

/// The size in bytes of a decoded block of units. We convert each block while it's still in the L1 cache, so it must
/// fit there.
pub(super) const BLOCK_BYTES: usize = 8192;

/// Appends the values from a PLAIN page's bytes. The number is the unit count per value.
type Read = fn(&[u8], usize, &mut Vec<i64>) -> Result<(), Malformed>;

/// A 64-bit representation for wider array values. Used to keep large dictionaries small.
pub(super) struct Short<T> {
    pub(super) read: Read,
    /// Appends the array values for the given 64-bit integers.
    pub(super) widen: fn(&[u8], &mut Vec<T>),
}

impl<T> Clone for Short<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Short<T> {}

/// A conversion from units to Arrow values.
pub(super) trait Convert<U: Native>: Send + Sync {
    /// The Arrow value, or an element of it.
    type To: ArrowNativeType;

    /// Appends the Arrow values for the units in `bytes`, which don't have to be aligned.
    ///
    /// # Errors
    /// Fails if the Arrow type cannot represent a value.
    fn convert(&self, bytes: &[u8], out: &mut Vec<Self::To>, lost: &mut Lost) -> Result<()>;

    /// Converts a dictionary's entries. An entry only matters if a row uses it, so the conversion can note
    /// unrepresentable entries as lost instead of failing.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::convert`].
    fn convert_entries(
        &self,
        bytes: &[u8],
        out: &mut Vec<Self::To>,
        lost: &mut Lost,
    ) -> Result<()> {
        self.convert(bytes, out, lost)
    }

    /// Checks the dictionary entries used by rows.
    ///
    /// # Errors
    /// Fails if a used entry is lost and lost values are an error.
    fn check_used(&self, _lost: &Lost, _before: usize) -> Result<()> {
        Ok(())
    }

    /// Returns the number of array elements per value of `units` units.
    fn elements(&self, _units: usize) -> usize {
        1
    }

    /// Converts and appends the next `n` values of `page`. Each value has `units` units.
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

    /// Appends a value for each slot: the next converted value from `page` if the slot's bit is set, otherwise zero.
    /// Returns false without doing anything if decoding the values first and spreading them afterwards is just as
    /// simple.
    fn spread(
        &self,
        _page: &mut PlainDecoder,
        _validity: &Bitmap,
        _slots: Range<usize>,
        _out: &mut Vec<Self::To>,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Converts and appends the wanted values among the next `wanted.len()` values from `page`, where each value is one
    /// unit. Returns false without doing anything if the values cannot be separated before conversion.
    fn append_wanted(
        &self,
        _page: &mut PlainDecoder,
        _wanted: &BooleanBuffer,
        _values: &mut FixedWidthBuffer<Self::To>,
    ) -> Result<bool> {
        Ok(false)
    }

    /// Returns a representation of dictionary entries that is shorter than the array's, if there is one. Each entry has
    /// `units` units.
    fn short(&self, _units: usize) -> Option<Short<Self::To>> {
        None
    }

    /// Returns the next `n` units of `page` in place, if they already are the Arrow values.
    fn borrow(&self, _page: &mut Page<U>, _n: usize) -> Result<Option<Buffer>> {
        Ok(None)
    }
}

/// The identity conversion, for units that match the Arrow values element by element.
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
        values: &mut FixedWidthBuffer<U>,
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

/// A conversion that works in blocks and maps zeros to zeros.
pub(super) struct Blocks<T> {
    convert: fn(&[u8], &mut Vec<T>) -> Result<(), Malformed>,
    short: Option<Short<T>>,
    /// The remedy to report if a value cannot be converted.
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

    /// Creates a conversion requested only by the Arrow schema in the file. If it fails, the remedy is to ignore that
    /// schema.
    pub(super) fn of_hint(convert: fn(&[u8], &mut Vec<T>) -> Result<(), Malformed>) -> Self {
        Self {
            remedy: Some(Remedy::IgnoreArrowSchema),
            ..Self::new(convert)
        }
    }

    /// Creates a conversion requested by the column's annotation. If stored values violate the annotation, the remedy
    /// is to ignore it.
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

    /// Sets the short representation of dictionary entries.
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
        // We spread a block while its values are still small and in the L1 cache.
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
        values: &mut FixedWidthBuffer<T>,
    ) -> Result<bool> {
        let mut scratch = Vec::<U>::new();
        filter_plain(page.take::<U>(wanted.len())?, wanted, &mut scratch);
        let out = values.vector(scratch.len());
        (self.convert)(plain::bytes(&scratch), out).map_err(|it| self.refused(it))?;
        Ok(true)
    }
}

/// Appends the next values from `page` at the set bits of `validity`, filling the other slots with zeros.
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

/// Flags for the values that became null because the Arrow type cannot represent them.
///
/// Empty until the first value is lost. From then on there's one flag per value, and a lost value's flag is 0.
#[derive(Default)]
pub(super) struct Lost(Vec<u8>);

impl Lost {
    /// Appends a flag for each item of `lost`, after the flags of the first `len` values. In `lost`, true means lost.
    pub(super) fn note(&mut self, len: usize, lost: impl Iterator<Item = bool>) {
        self.0.resize(len, 1);
        self.0.extend(lost.map(|lost| u8::from(!lost)));
    }

    /// Returns true if a value after the first `before` values is lost. Earlier flags aren't checked, because null
    /// slots among them have meaningless flags.
    pub(super) fn is_any_behind(&self, before: usize) -> bool {
        self.0.get(before..).is_some_and(|flags| flags.contains(&0))
    }

    /// Returns the flags. There are none if nothing is lost.
    pub(super) fn flags(&self) -> &[u8] {
        &self.0
    }

    /// Returns the flags for the first `len` values, ready for the caller to append the flags of gathered values.
    pub(super) fn vector(&mut self, len: usize) -> &mut Vec<u8> {
        self.0.resize(len, 1);
        &mut self.0
    }

    /// Extends the flags to `len` values. The new values are not lost.
    pub(super) fn fill(&mut self, len: usize) {
        if !self.0.is_empty() {
            self.0.resize(len, 1);
        }
    }

    /// Spreads the flags of the values appended last, just as the values are spread.
    pub(super) fn expand(&mut self, validity: &Bitmap, start: usize, slots: usize) {
        if !self.0.is_empty() {
            let set = validity.set_in(start..start.saturating_add(slots));
            let base = self.0.len().saturating_sub(set);
            expand(&mut self.0, base, validity, start, slots);
        }
    }

    /// Drops flags, just as values are dropped.
    pub(super) fn retain(&mut self, start: usize, wanted: &BooleanBuffer) {
        if !self.0.is_empty() {
            retain(&mut self.0, start, wanted);
        }
    }

    /// Takes the flags, one per slot, or returns `None` if nothing is lost.
    pub(super) fn finish(&mut self) -> Option<Vec<bool>> {
        let flags = std::mem::take(&mut self.0);
        (!flags.is_empty()).then(|| flags.into_iter().map(|flag| flag != 0).collect())
    }
}
