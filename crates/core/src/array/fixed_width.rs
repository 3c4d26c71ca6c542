//! Arrays of fixed-width values: all numbers, times, decimals, intervals and fixed-size binaries.

use std::ops::Range;

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer};
use herringbone_arrow::schema::DataType;
use herringbone_format::{Encoding, Error, Result};
use herringbone_kernels::bitmap::Bitmap;

use super::convert::Short;
use super::convert::{Blocks, Convert, Lost};
use super::entries::Entries;
use super::fixed_width_buffer::FixedWidthBuffer;
use super::{LeafArray, LeafType, finish_fixed_width};
use crate::encoding::{Native, Page, Rest, product};
use crate::malformed;

/// The size in bytes, at the array's width, of the largest dictionary kept as is. A larger one is stored in the short
/// representation.
const LARGE_DICTIONARY: usize = 128 << 10;

/// An array under construction, whose pages contain units `U` for `C` to convert.
pub(super) struct FixedWidth<U: Native, C: Convert<U>> {
    data_type: DataType,
    convert: C,
    /// The number of units per value in the file.
    units: usize,
    dictionary: Option<Entries<C::To>>,
    page: Page<U>,
    values: FixedWidthBuffer<C::To>,
    lost: Lost,
    /// The number of slots so far.
    slots: usize,
}

/// Returns an empty array for `leaf` that converts its numbers `U` one by one.
pub(super) fn converted<U, T>(leaf: &LeafType, convert: Blocks<T>) -> Box<dyn LeafArray>
where
    U: Native,
    T: ArrowNativeType,
{
    let data_type = leaf.data_type.clone();
    Box::new(FixedWidth::<U, _>::new(data_type, 1, convert))
}

impl<U: Native, C: Convert<U>> FixedWidth<U, C> {
    /// Creates an empty array of `data_type`, for values of `units` units in the file.
    pub(super) fn new(data_type: DataType, units: usize, convert: C) -> Self {
        Self {
            data_type,
            convert,
            units,
            dictionary: None,
            page: Page::Empty,
            values: FixedWidthBuffer::new(),
            lost: Lost::default(),
            slots: 0,
        }
    }

    /// Returns the number of elements per value in Arrow.
    fn elements(&self) -> usize {
        self.convert.elements(self.units)
    }

    /// Returns the number of bytes per value in Arrow.
    fn width(&self) -> usize {
        self.elements().saturating_mul(size_of::<C::To>())
    }

    /// Returns the short representation for a large dictionary. A small dictionary doesn't need it, because it stays in
    /// the L1 cache anyway.
    fn short(&self, num_values: usize) -> Option<Short<C::To>> {
        let is_large = num_values.saturating_mul(self.width()) > LARGE_DICTIONARY;
        self.convert.short(self.units).filter(|_| is_large)
    }

    /// Appends the dictionary entries at the next `n` indices.
    fn gather(&mut self, n: usize) -> Result<()> {
        let elements = self.elements();
        product(n, elements)?;
        let Page::Dictionary(indices) = &mut self.page else {
            return Ok(());
        };
        let Some(entries) = &self.dictionary else {
            return Err(Error::corrupt(
                "dictionary indices without a dictionary page",
            ));
        };
        entries.gather(indices, n, elements, &mut self.values, &mut self.lost)
    }

    /// Appends the next `n` values. Dictionary entries that Arrow cannot represent are noted as lost.
    fn append_unchecked(&mut self, n: usize) -> Result<()> {
        let units = product(n, self.units)?;
        if let Page::Dictionary(_) = self.page {
            self.gather(n)?;
        } else if units > 0
            && self.values.is_empty()
            && let Some(buffer) = self.convert.borrow(&mut self.page, units)?
        {
            self.values.borrow(buffer);
        } else {
            let out = self.values.vector(n * self.convert.elements(self.units));
            self.convert
                .decode(&mut self.page, n, self.units, out, &mut self.lost)?;
        }
        self.lost.fill(self.values.len());
        self.slots += n;
        Ok(())
    }
}

impl<U: Native, C: Convert<U>> LeafArray for FixedWidth<U, C> {
    fn set_dictionary(&mut self, values: &Buffer, num_values: usize) -> Result<()> {
        let units = product(num_values, self.units)?;
        if units > values.len() / size_of::<U>() {
            return Err(Error::corrupt(format!(
                "a dictionary page of {} bytes for {num_values} values",
                values.len()
            )));
        }
        if let Some(Short { read, widen }) = self.short(num_values) {
            let bytes = values.get(..units * size_of::<U>()).unwrap_or_default();
            let mut values = Vec::with_capacity(num_values);
            read(bytes, self.units, &mut values).map_err(malformed)?;
            self.dictionary = Some(Entries::Short { values, widen });
            return Ok(());
        }
        let bytes = values.get(..units * size_of::<U>()).unwrap_or_default();
        let mut values = Vec::with_capacity(num_values * self.elements());
        let mut lost = Lost::default();
        self.convert
            .convert_entries(bytes, &mut values, &mut lost)?;
        lost.fill(values.len());
        self.dictionary = Some(Entries::Whole { values, lost });
        Ok(())
    }

    fn drop_dictionary(&mut self) -> bool {
        self.dictionary = None;
        true
    }

    fn set_page(&mut self, encoding: Encoding, values: Buffer, _num_values: usize) -> Result<()> {
        self.page = Page::new(encoding, values, self.units)?;
        Ok(())
    }

    fn release_page(&mut self) {
        self.page = Page::Empty;
        // Further values require a copy anyway, and copying now releases the page before the next one is installed.
        if self.values.is_borrowed() {
            self.values.vector(0);
        }
    }

    fn values_that_fit(&mut self, n: usize, budget: usize) -> Result<usize> {
        // We don't look at the page's length, because nulls and values in runs occupy no bytes there.
        Ok(n.min(budget / self.width().max(1)))
    }

    fn most_bytes(&mut self, n: usize) -> usize {
        n.saturating_mul(self.width())
    }

    fn dictionary_bytes(&self, _page_bytes: usize, num_values: usize) -> usize {
        let width = match self.short(num_values) {
            Some(_) => size_of::<i64>(),
            None => self.width(),
        };
        num_values.saturating_mul(width)
    }

    fn borrows_pages(&self) -> bool {
        self.values.is_borrowed()
    }

    fn append(&mut self, n: usize) -> Result<()> {
        let before = self.values.len();
        self.append_unchecked(n)?;
        self.convert.check_used(&self.lost, before)
    }

    fn spread(&mut self, _n: usize, validity: &Bitmap, slots: Range<usize>) -> Result<bool> {
        let Page::Plain(plain) = &mut self.page else {
            return Ok(false);
        };
        if self.units != 1 {
            return Ok(false);
        }
        let n = slots.len();
        let out = self.values.vector(n);
        let done = self.convert.spread(plain, validity, slots, out)?;
        if done {
            self.lost.fill(self.values.len());
            self.slots += n;
        }
        Ok(done)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.page.skip(n, self.units)
    }

    fn rest(&self) -> Rest<'_> {
        self.page.rest(self.units)
    }

    fn expand(&mut self, validity: &Bitmap, start: usize, slots: usize) -> Result<()> {
        let elements = self.elements();
        self.values.expand(elements, validity, start, slots);
        self.lost.expand(validity, start, slots);
        self.slots += slots - validity.set_in(start..start.saturating_add(slots));
        Ok(())
    }

    fn append_wanted(&mut self, wanted: &BooleanBuffer) -> Result<()> {
        if self.units == 1
            && let Page::Plain(plain) = &mut self.page
            && self
                .convert
                .append_wanted(plain, wanted, &mut self.values)?
        {
            self.lost.fill(self.values.len());
            self.slots += wanted.count_set_bits();
            return Ok(());
        }
        let (start, before) = (self.slots, self.values.len());
        self.append_unchecked(wanted.len())?;
        let elements = self.elements();
        self.values.retain(elements, start, wanted);
        self.lost.retain(start, wanted);
        self.slots = start.saturating_add(wanted.count_set_bits());
        self.convert.check_used(&self.lost, before)
    }

    fn bytes(&self) -> usize {
        self.values.bytes()
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let nulls = match self.lost.finish() {
            Some(flags) => NullBuffer::union(nulls.as_ref(), Some(&NullBuffer::from(flags))),
            None => nulls,
        };
        let slots = std::mem::take(&mut self.slots);
        finish_fixed_width(&self.data_type, slots, self.values.finish(), nulls)
    }
}
