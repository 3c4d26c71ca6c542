//! Binary, LargeBinary, Utf8 and LargeUtf8, whose values are addressed by offsets.

use herringbone_arrow::array::{ArrayRef, OffsetSizeTrait};
use herringbone_arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};
use herringbone_kernels::Malformed;
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::bytes::{ByteBuilder, ByteDictionary};
use herringbone_kernels::hybrid::HybridDecoder;

use super::read::ByteLayout;
use crate::encoding::byte_array::ByteSink;

impl<O: OffsetSizeTrait> ByteSink for ByteBuilder<O> {
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
        self.append_fixed(page.get(position..end).unwrap_or_default(), width)
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

impl<O: OffsetSizeTrait> ByteLayout for ByteBuilder<O> {
    type Dictionary = ByteDictionary;

    const OVERHEAD: usize = size_of::<O>();

    const ENTRY: usize = size_of::<u64>();

    fn longest(dictionary: &ByteDictionary) -> usize {
        dictionary.longest()
    }

    fn dictionary(
        &self,
        page: &Buffer,
        n: usize,
        width: Option<usize>,
    ) -> Result<ByteDictionary, Malformed> {
        match width {
            None => ByteDictionary::plain(page, n, self.is_utf8()),
            Some(width) => ByteDictionary::fixed(page, width, n, self.is_utf8()),
        }
    }

    fn gather(
        &mut self,
        dictionary: &ByteDictionary,
        indices: &mut HybridDecoder,
        runs: &[u8],
        n: usize,
    ) -> Result<(), Malformed> {
        self.gather(dictionary, indices, runs, n)
    }

    fn gather_wanted(
        &mut self,
        dictionary: &ByteDictionary,
        indices: &mut HybridDecoder,
        runs: &[u8],
        wanted: &BooleanBuffer,
    ) -> Result<(), Malformed> {
        self.gather_wanted(dictionary, indices, runs, wanted)
    }

    fn append_plain_wanted(
        &mut self,
        page: &Buffer,
        position: usize,
        wanted: &BooleanBuffer,
    ) -> Result<usize, Malformed> {
        self.append_plain_wanted(page, position, wanted)
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn retain(&mut self, start: usize, wanted: &BooleanBuffer) -> Result<(), Malformed> {
        self.retain(start, wanted)
    }

    fn fit_indices(
        &self,
        dictionary: &ByteDictionary,
        indices: &HybridDecoder,
        runs: &[u8],
        n: usize,
        budget: usize,
    ) -> usize {
        let most = dictionary.longest().saturating_add(Self::OVERHEAD);
        if n.saturating_mul(most) <= budget {
            return n;
        }
        dictionary.fit(indices, runs, n, Self::OVERHEAD, budget)
    }

    fn data_room(&self) -> usize {
        self.data_room()
    }

    fn expand(&mut self, validity: &Bitmap, start: usize, slots: usize) -> Result<(), Malformed> {
        self.expand(validity, start, slots)
    }

    fn bytes(&self) -> usize {
        self.bytes()
    }

    fn borrows_pages(&self) -> bool {
        self.borrows_page()
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, Malformed> {
        self.finish(nulls)
    }
}
