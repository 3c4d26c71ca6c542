//! The data pages of a column chunk, in the form in which the file stores them.

use herringbone_format::{OffsetIndex, PageLocation, Result};

use super::chunked_buffer::ChunkedBuffer;
use super::page::{FinishedPage, PageBuffers, PageSink, UnfinishedPage};
use herringbone_core::encoding::length;
use herringbone_core::statistics::OffsetIndexBuilder;

/// The data pages of a column chunk so far.
#[derive(Debug, Default)]
pub struct ChunkPages {
    pages: ChunkedBuffer,
    num_pages: usize,
    offset_index: OffsetIndexBuilder,
    /// The byte count of headers, and of bodies before compression.
    pub(super) uncompressed: u64,
    /// The maximum number of bytes that compression had to reserve.
    scratch_bytes: usize,
}

impl ChunkPages {
    /// Returns the number of pages.
    #[must_use]
    pub fn num_pages(&self) -> usize {
        self.num_pages
    }

    /// Returns the number of bytes that the pages take in the file.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pages.len()
    }

    /// Returns the number of reserved bytes, which depends on the pages alone.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.pages.heap_bytes() + self.offset_index.heap_bytes() + self.scratch_bytes
    }

    /// Appends the next page. Returns the memory of a page to be used for a later one.
    ///
    /// # Errors
    /// Fails with [`Limit`](herringbone_format::ErrorKind::Limit) if the page is larger than the offset index can
    /// record.
    pub fn push(&mut self, page: FinishedPage) -> Result<PageBuffers> {
        let mut buffers = page.buffers;
        let start = self.pages.len();
        self.pages.push(&page.head);
        self.pages.push(&buffers.front);
        let (body, body_start) = buffers.stored();
        self.pages.push_or_take(body, body_start);
        let bytes = length(self.pages.len() - start)?;
        let location = PageLocation::new(start as i64, bytes, page.place.first_row as i64);
        self.offset_index
            .push(location, page.place.byte_array_bytes);
        self.num_pages += 1;
        self.uncompressed += page.uncompressed;
        self.scratch_bytes = self.scratch_bytes.max(page.scratch_bytes);
        Ok(buffers.into_next())
    }

    /// Returns the pages, and their offsets in a chunk whose first data page is at `data_offset`.
    pub(super) fn finish(self, data_offset: i64) -> (ChunkedBuffer, OffsetIndex) {
        (self.pages, self.offset_index.finish(data_offset))
    }
}

/// A sink that finishes each page at once.
impl PageSink for ChunkPages {
    fn page(&mut self, page: UnfinishedPage) -> Result<PageBuffers> {
        self.push(page.finish()?)
    }
}
