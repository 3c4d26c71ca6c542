//! BinaryView and Utf8View, whose values stay in their pages.

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};
use herringbone_kernels::Malformed;
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::hybrid::HybridDecoder;
use herringbone_kernels::views::{ViewBuilder, ViewDictionary};

use super::read::ByteLayout;
use crate::encoding::byte_array::ByteSink;

/// The number of bytes per view.
const VIEW: usize = 16;

impl ByteSink for ViewBuilder {
    fn append_plain(
        &mut self,
        page: &Buffer,
        position: usize,
        n: usize,
    ) -> Result<usize, Malformed> {
        self.append_plain(page, position, n)
    }

    fn append_fixed(
        &mut self,
        page: &Buffer,
        position: usize,
        end: usize,
        width: usize,
    ) -> Result<(), Malformed> {
        self.append_fixed(page, position, end, width)
    }

    fn append_lengths(
        &mut self,
        lengths: &[i32],
        page: &Buffer,
        position: usize,
    ) -> Result<usize, Malformed> {
        self.append_lengths(lengths, page, position)
    }

    fn append_delta_byte_array(
        &mut self,
        prefixes: &[i32],
        suffixes: &[i32],
        bytes: &[u8],
        previous: &mut Vec<u8>,
    ) -> Result<usize, Malformed> {
        self.append_delta_byte_array(prefixes, suffixes, bytes, previous)
    }
}

impl ByteLayout for ViewBuilder {
    type Dictionary = ViewDictionary;

    /// Each value needs its view, plus the length prefix from the PLAIN page, which stays in the
    /// buffer.
    const OVERHEAD: usize = VIEW + 4;

    const ENTRY: usize = VIEW;

    fn longest(_dictionary: &ViewDictionary) -> usize {
        0
    }

    fn dictionary(
        &self,
        page: &Buffer,
        n: usize,
        width: Option<usize>,
    ) -> Result<ViewDictionary, Malformed> {
        match width {
            None => ViewDictionary::plain(page, n, self.is_utf8()),
            Some(width) => ViewDictionary::fixed(page, width, n, self.is_utf8()),
        }
    }

    fn gather(
        &mut self,
        dictionary: &ViewDictionary,
        indices: &mut HybridDecoder,
        runs: &[u8],
        n: usize,
    ) -> Result<(), Malformed> {
        self.gather(dictionary, indices, runs, n)
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn retain(&mut self, start: usize, wanted: &BooleanBuffer) -> Result<(), Malformed> {
        self.retain(start, wanted);
        Ok(())
    }

    fn fit_indices(
        &self,
        _dictionary: &ViewDictionary,
        _indices: &HybridDecoder,
        _runs: &[u8],
        n: usize,
        budget: usize,
    ) -> usize {
        n.min(budget / VIEW)
    }

    fn data_room(&self) -> usize {
        // There's always room, because we open a new block when the last one is full.
        i32::MAX as usize
    }

    fn expand(&mut self, validity: &Bitmap, start: usize, slots: usize) -> Result<(), Malformed> {
        self.expand(validity, start, slots)
    }

    fn bytes(&self) -> usize {
        self.bytes()
    }

    fn borrows_pages(&self) -> bool {
        true
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, Malformed> {
        self.finish(nulls)
    }
}
