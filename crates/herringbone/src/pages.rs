//! The pages of a column chunk, as their headers tell.

use std::ops::Range;
use std::sync::Arc;

use herringbone_core::read::{byte_range, plain_metadata};
use herringbone_format::{ColumnChunkLayout, Error, Limits, PageHeader, PageType, Result};

use crate::source::Source;

/// Bytes read for a page header at first; far more than most have.
const HEADER_READ: u64 = 512;

/// One page of a column chunk.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PageInfo {
    /// Where the header starts in the file.
    pub offset: u64,
    /// Bytes of the header; the body follows it.
    pub header_bytes: usize,
    /// The header.
    pub header: PageHeader,
}

/// The pages of a column chunk in file order, index pages and unknown pages included.
pub struct Pages {
    source: Arc<dyn Source>,
    limits: Limits,
    position: u64,
    end: u64,
    ordinal: usize,
    /// Values still to come in data pages.
    values_left: i64,
}

impl Pages {
    pub(crate) fn new(
        source: Arc<dyn Source>,
        chunk: &ColumnChunkLayout,
        limits: Limits,
    ) -> Result<Self> {
        let metadata = plain_metadata(chunk)?;
        let range = byte_range(metadata, source.len())?;
        let num_values = u64::try_from(metadata.num_values).unwrap_or(0);
        Ok(Self::over(source, range, num_values, limits))
    }

    /// The pages of a chunk of `num_values` levels that lies in `range`.
    pub(crate) fn over(
        source: Arc<dyn Source>,
        range: Range<u64>,
        num_values: u64,
        limits: Limits,
    ) -> Self {
        Self {
            source,
            limits,
            position: range.start,
            end: range.end,
            ordinal: 0,
            values_left: i64::try_from(num_values).unwrap_or(i64::MAX),
        }
    }

    fn page(&mut self) -> Result<PageInfo> {
        let offset = self.position;
        let (header, header_bytes) = header_at(&self.source, offset, &self.limits)?;
        let body = u64::try_from(header.compressed_page_size)
            .map_err(|_| Error::corrupt("page header has a negative size"))?;
        self.position = offset
            .saturating_add(header_bytes as u64)
            .saturating_add(body);
        if header.type_ != PageType::DictionaryPage {
            let num_values = header.num_values().unwrap_or_default();
            self.values_left = self.values_left.saturating_sub(i64::from(num_values));
        }
        Ok(PageInfo {
            offset,
            header_bytes,
            header,
        })
    }
}

/// The page header at `offset`, and its bytes.
///
/// # Errors
/// What the source says, and Corrupt or Limit where there is no header that can be used.
pub fn header_at(source: &dyn Source, offset: u64, limits: &Limits) -> Result<(PageHeader, usize)> {
    let mut length = HEADER_READ;
    loop {
        let end = offset.saturating_add(length).min(source.len());
        let bytes = source.read(offset.min(end)..end)?;
        if let Some(parsed) = PageHeader::decode_prefix(&bytes, limits)? {
            return Ok(parsed);
        }
        if end == source.len() {
            return Err(Error::corrupt("the file ends inside a page header"));
        }
        if length >= limits.page_header_bytes as u64 {
            let limit = limits.page_header_bytes as u64;
            return Err(Error::limit("page_header_bytes", length, limit));
        }
        length *= 4;
    }
}

impl Iterator for Pages {
    type Item = Result<PageInfo>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.values_left <= 0 || self.position >= self.end {
            return None;
        }
        let (offset, ordinal) = (self.position, self.ordinal);
        self.ordinal += 1;
        let page = self
            .page()
            .map_err(|error| error.at_offset(offset).in_page(ordinal));
        if page.is_err() {
            self.position = self.end;
        }
        Some(page)
    }
}
