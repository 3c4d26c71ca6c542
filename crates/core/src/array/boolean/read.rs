//! Reads booleans, whose bits are the same in a page and in an array.

use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::{ArrayRef, BooleanArray};
use herringbone_arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};
use herringbone_format::{Encoding, Error, Result};
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::expand::expand_bits;

use crate::array::LeafArray;
use crate::encoding::Rest;
use crate::encoding::boolean::Booleans;

/// An array of booleans under construction.
pub(in crate::array) struct BooleanLeaf {
    page: Booleans,
    values: Bitmap,
}

impl BooleanLeaf {
    pub(in crate::array) fn new() -> Self {
        Self {
            page: Booleans::empty(),
            values: Bitmap::new(),
        }
    }
}

impl LeafArray for BooleanLeaf {
    fn set_dictionary(&mut self, _values: &Buffer, _num_values: usize) -> Result<()> {
        Err(Error::corrupt("a dictionary page for BOOLEAN"))
    }

    fn set_page(&mut self, encoding: Encoding, values: Buffer, _num_values: usize) -> Result<()> {
        self.page = Booleans::new(encoding, values)?;
        Ok(())
    }

    fn release_page(&mut self) {
        self.page = Booleans::empty();
    }

    fn most_bytes(&mut self, n: usize) -> usize {
        n.div_ceil(8)
    }

    fn append(&mut self, n: usize) -> Result<()> {
        self.page.extend(n, &mut self.values)
    }

    fn spread(&mut self, n: usize, validity: &Bitmap, slots: Range<usize>) -> Result<bool> {
        self.page.spread(n, validity, slots, &mut self.values)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.page.skip(n)
    }

    fn rest(&self) -> Rest<'_> {
        self.page.rest()
    }

    fn expand(&mut self, validity: &Bitmap, start: usize, slots: usize) -> Result<()> {
        let set = validity.set_in(start..start.saturating_add(slots));
        let base = self.values.len().saturating_sub(set);
        expand_bits(&mut self.values, base, validity, start, slots);
        Ok(())
    }

    fn append_wanted(&mut self, wanted: &BooleanBuffer) -> Result<()> {
        let mut all = Bitmap::new();
        self.page.extend(wanted.len(), &mut all)?;
        let selected = all.select(wanted);
        self.values.append_all(&selected);
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.values.len().div_ceil(8)
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let values = self.values.finish_boolean();
        if nulls
            .as_ref()
            .is_some_and(|nulls| nulls.len() != values.len())
        {
            return Err(Error::corrupt(
                "the numbers of levels and values of this column differ",
            ));
        }
        Ok(Arc::new(BooleanArray::new(values, nulls)))
    }
}
