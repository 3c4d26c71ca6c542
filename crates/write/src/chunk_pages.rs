//! A column chunk's data pages in their stored form.

use herringbone_format::{OffsetIndex, PageLocation, Result};

use super::chunked_buffer::ChunkedBuffer;
use super::page::{FinishedPage, PageBuffers, PageSink, UnfinishedPage};
use herringbone_core::encoding::length;
use herringbone_core::statistics::OffsetIndexBuilder;

/// A column chunk's data pages so far.
#[derive(Debug, Default)]
pub struct ChunkPages {
    pages: ChunkedBuffer,
    num_pages: usize,
    offset_index: OffsetIndexBuilder,
    /// The uncompressed size of headers and bodies, in bytes.
    pub(super) uncompressed: u64,
    /// The most bytes reserved by a compression so far.
    scratch_bytes: usize,
}

impl ChunkPages {
    /// Returns the number of pages.
    #[must_use]
    pub fn num_pages(&self) -> usize {
        self.num_pages
    }

    /// Returns the stored size of the pages, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pages.len()
    }

    /// Returns the number of reserved bytes. It depends on the pages alone.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.pages.heap_bytes() + self.offset_index.heap_bytes() + self.scratch_bytes
    }

    /// Appends the next page, returning its memory for reuse.
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
