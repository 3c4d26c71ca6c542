//! Reads the values of a column chunk's dictionary without its data pages.
//!
//! A filter tests these values. If all pages refer to the dictionary, this can rule out the whole chunk without reading
//! its data pages.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::array::ArrayRef;
use herringbone_format::{Encoding, Error, Result};

use super::ColumnPlan;
use crate::Step;
use crate::array::leaf_array;
use crate::budget::{Budget, ColumnMemory, MemoryUse};
use crate::page::{Page, PageReader, PageReaderChunk, PageReaderOptions};

/// A reader for the dictionary page of a column chunk.
pub struct DictionaryValues {
    plan: Arc<ColumnPlan>,
    pages: PageReader,
    memory: ColumnMemory,
}

impl DictionaryValues {
    /// Creates a reader for the dictionary at `place` in the file.
    pub fn new(
        plan: Arc<ColumnPlan>,
        (options, chunk): (Arc<PageReaderOptions>, PageReaderChunk),
        place: &Range<u64>,
        budget: Arc<Budget>,
    ) -> Self {
        let mut pages = PageReader::new(options, chunk);
        pages.set_wanted_end(place.end);
        Self {
            plan,
            pages,
            memory: ColumnMemory::new(budget),
        }
    }

    /// Supplies bytes of the file that start at `offset`.
    pub fn supply(&mut self, offset: u64, bytes: Bytes) {
        self.pages.supply(offset, bytes);
    }

    /// Returns the dictionary's values, or `None` if the chunk starts with another page.
    ///
    /// # Errors
    /// Fails with any error caused by the page.
    pub fn poll(&mut self) -> Result<Step<Option<ArrayRef>>> {
        if let Step::Need(range) = self.pages.header(&mut self.memory)? {
            return Ok(Step::Need(range));
        }
        let page = match self.pages.body(false, None, &mut self.memory)? {
            Step::Need(range) => return Ok(Step::Need(range)),
            Step::Ready(page) => page,
        };
        let Page::Dictionary { values, num_values } = page else {
            return Ok(Step::Ready(None));
        };
        let mut array = leaf_array(&self.plan.leaf_type)?;
        // We cap the number of entries at the byte count. If the header claims entries without any bytes, reading the
        // chunk detects the error later.
        let entries = num_values.min(values.len());
        let bytes = array.dictionary_bytes(values.len(), entries);
        self.memory.reserve(MemoryUse::Dictionary, bytes as u64)?;
        array.set_page(Encoding::Plain, values, num_values)?;
        if array.values_that_fit(num_values, usize::MAX)? < num_values {
            return Err(Error::unsupported(
                "the dictionary is too long for an array",
            ));
        }
        array.append(num_values)?;
        array.release_page();
        array.finish(None).map(|values| Step::Ready(Some(values)))
    }
}
