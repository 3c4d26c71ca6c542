//! A column chunk's pages, as described by their headers.

use std::fmt;
use std::sync::Arc;

use herringbone_core::page::PageWalker;
pub use herringbone_core::page::{PageStart, byte_range};
use herringbone_format::{Limits, PageHeader, ReadableChunk, Result};

use crate::source::Source;

/// The number of bytes to read at first for a page header. Most headers are much smaller.
const HEADER_READ: u64 = 512;

/// One page of a column chunk.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PageInfo {
    /// The page's offset and the counts before it.
    pub start: PageStart,
    /// The header's size in bytes. The body comes right after the header.
    pub header_bytes: usize,
    /// The body's size in bytes, according to the header.
    pub body_bytes: u64,
    /// The header.
    pub header: PageHeader,
}

/// The pages of a column chunk in file order, including index pages and pages of unknown types.
///
/// [`ParquetFile::pages`](crate::ParquetFile::pages) creates this iterator. It reads headers, but
/// no bodies.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::ParquetFile;
/// use herringbone::format::PageType;
///
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let pages = file.pages(0, 0)?.collect::<herringbone::Result<Vec<_>>>()?;
/// let types: Vec<_> = pages.iter().map(|page| page.header.type_).collect();
/// assert_eq!(types, [PageType::DictionaryPage, PageType::DataPage]);
/// assert_eq!((pages[1].start.offset, pages[1].body_bytes), (80, 25));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Pages {
    source: Arc<dyn Source>,
    limits: Limits,
    walker: PageWalker,
    /// The number of the chunk's levels.
    num_values: u64,
    /// True if a header could not be read.
    failed: bool,
}

impl fmt::Debug for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages")
            .field("next", &self.walker.start())
            .field("num_values", &self.num_values)
            .finish_non_exhaustive()
    }
}

impl Pages {
    pub(crate) fn new(
        source: Arc<dyn Source>,
        chunk: &ReadableChunk,
        limits: Limits,
    ) -> Result<Self> {
        let num_values = u64::try_from(chunk.layout.num_values).unwrap_or(0);
        let walker = PageWalker::of_chunk(chunk, source.len())?;
        Ok(Self::over(source, walker, num_values, limits))
    }

    /// Iterates over the pages of a chunk with `num_values` levels. `walker` must be before the
    /// first page.
    pub(crate) fn over(
        source: Arc<dyn Source>,
        walker: PageWalker,
        num_values: u64,
        limits: Limits,
    ) -> Self {
        Self {
            walker,
            source,
            limits,
            num_values,
            failed: false,
        }
    }

    fn page(&mut self) -> Result<PageInfo> {
        let header = read_header(&*self.source, &mut self.walker, &self.limits)?;
        let page = PageInfo {
            start: self.walker.start(),
            header_bytes: self.walker.header_bytes(),
            body_bytes: self.walker.body_bytes().unwrap_or_default(),
            header,
        };
        self.walker.pass();
        Ok(page)
    }
}

/// Reads the header of the current page.
///
/// # Errors
/// Returns the source's errors. Fails with [Corrupt](crate::ErrorKind::Corrupt) or
/// [Limit](crate::ErrorKind::Limit) if the header cannot be used.
pub fn read_header(
    source: &dyn Source,
    walker: &mut PageWalker,
    limits: &Limits,
) -> Result<PageHeader> {
    let start = walker.position();
    let mut length = HEADER_READ;
    loop {
        let end = start.saturating_add(length).min(walker.end());
        let bytes = source.read(start.min(end)..end)?;
        let is_whole = walker.decode_header(&bytes, limits, PageHeader::decode_prefix)?;
        if let Some(header) = walker.header().filter(|_| is_whole) {
            return Ok(header.clone());
        }
        length *= 4;
    }
}

impl Iterator for Pages {
    type Item = Result<PageInfo>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.walker.start();
        let is_over =
            start.num_values_before >= self.num_values || start.offset >= self.walker.chunk().end;
        if self.failed || is_over {
            return None;
        }
        let page = self
            .page()
            .map_err(|error| error.at_offset(start.offset).in_page(start.ordinal));
        self.failed = page.is_err();
        Some(page)
    }
}
