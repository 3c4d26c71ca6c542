//! The offsets and rows of a column chunk's data pages according to its offset index. Used to jump to pages without
//! walking over all headers.

use std::ops::Range;
use std::sync::Arc;

use herringbone_format::OffsetIndex;

use super::PageStart;

/// The page maps for some of a row group's column chunks, each with the ordinal of its leaf.
pub type PageMaps = Arc<[(usize, Arc<PageMap>)]>;

/// A map of a column chunk's data pages (format, "Page Index").
///
/// An index that contradicts itself doesn't become a map. But even a consistent map can be wrong, so anything that uses
/// a map also checks it against the pages.
#[derive(Debug)]
pub struct PageMap {
    pages: Vec<MappedPage>,
    num_rows: u64,
    is_contradicted: bool,
}

#[derive(Debug, Clone, Copy)]
struct MappedPage {
    offset: u64,
    length: u64,
    first_row: u64,
}

/// One page, as described by the map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageInMap {
    /// The byte range of the page header and body in the file.
    pub range: Range<u64>,
    /// The page's rows, counted from the first row of the row group.
    pub rows: Range<u64>,
}

impl PageMap {
    /// Creates the map for a chunk at `chunk` with `num_rows` rows, or returns `None` if the index contradicts itself.
    pub fn new(index: &OffsetIndex, chunk: &Range<u64>, num_rows: u64) -> Option<Self> {
        let mut pages = Vec::with_capacity(index.page_locations.len());
        let (mut end, mut next_row) = (chunk.start, 0);
        for location in &index.page_locations {
            let page = MappedPage {
                offset: u64::try_from(location.offset).ok()?,
                length: u64::try_from(location.compressed_page_size).ok()?,
                first_row: u64::try_from(location.first_row_index).ok()?,
            };
            let is_first = pages.is_empty();
            let is_sound = page.length > 0
                && page.offset >= end
                && match is_first {
                    true => page.first_row == 0,
                    // Data pages must follow each other without gaps.
                    false => page.offset == end && page.first_row >= next_row,
                };
            end = page.offset.checked_add(page.length)?;
            next_row = page.first_row.checked_add(1)?;
            if !is_sound || end > chunk.end || next_row > num_rows {
                return None;
            }
            pages.push(page);
        }
        (!pages.is_empty()).then_some(Self {
            pages,
            num_rows,
            is_contradicted: false,
        })
    }

    /// Marks the map as contradicted by a page header or a histogram.
    pub fn contradicted(self) -> Self {
        Self {
            is_contradicted: true,
            ..self
        }
    }

    /// Returns true if a page header or a histogram contradicts the map. In that case we trust neither the map nor the
    /// headers.
    pub fn is_contradicted(&self) -> bool {
        self.is_contradicted
    }

    /// Returns the number of data pages, at least one.
    pub fn num_pages(&self) -> usize {
        self.pages.len()
    }

    /// Returns the map entry for the data page at `index`.
    pub fn get(&self, index: usize) -> Option<PageInMap> {
        let page = self.pages.get(index)?;
        let next = self.pages.get(index + 1);
        let next_row = next.map_or(self.num_rows, |next| next.first_row);
        Some(PageInMap {
            range: page.offset..page.offset + page.length,
            rows: page.first_row..next_row,
        })
    }

    /// Returns the index of the page containing a row.
    pub fn page_of(&self, row: u64) -> usize {
        let behind = self.pages.partition_point(|page| page.first_row <= row);
        behind.saturating_sub(1)
    }

    /// Returns the start of the page at `index`, counted from another page `from` with a known number of preceding
    /// pages. For columns with lists, the number of preceding levels is unknown, so `num_values_before` counts rows
    /// instead.
    pub fn start(&self, index: usize, from: PageStart) -> Option<PageStart> {
        let page = self.pages.get(index)?;
        Some(PageStart {
            ordinal: from.ordinal + index.checked_sub(from.data_pages_before)?,
            data_pages_before: index,
            offset: page.offset,
            num_values_before: page.first_row,
        })
    }

    /// Returns the number of heap bytes.
    pub fn heap_bytes(&self) -> u64 {
        (self.pages.capacity() * size_of::<MappedPage>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use herringbone_format::PageLocation;

    use super::*;

    fn map(locations: &[(i64, i32, i64)]) -> Option<PageMap> {
        let page_locations = locations
            .iter()
            .map(|&(offset, size, row)| PageLocation::new(offset, size, row));
        let index = OffsetIndex::new(page_locations.collect());
        PageMap::new(&index, &(100..200), 30)
    }

    #[test]
    fn rows_are_found_in_their_pages() {
        let map = map(&[(110, 20, 0), (130, 30, 10), (160, 40, 25)]).unwrap();
        let pages: Vec<_> = [0, 9, 10, 24, 25, 29].map(|row| map.page_of(row)).to_vec();
        assert_eq!(pages, [0, 0, 1, 1, 2, 2]);
        let last = map.get(2).unwrap();
        assert_eq!((last.range, last.rows), (160..200, 25..30));
        let mut first = PageStart::first(110);
        first.ordinal = 1;
        let start = map.start(2, first).unwrap();
        assert_eq!((start.ordinal, start.data_pages_before), (3, 2));
        assert_eq!((start.offset, start.num_values_before), (160, 25));
    }

    #[test]
    fn an_index_that_contradicts_itself_makes_no_map() {
        assert!(map(&[(110, 20, 0), (130, 30, 10)]).is_some());
        for wrong in [
            &[][..],
            &[(90, 20, 0)],
            &[(110, 20, 1)],
            &[(110, 91, 0)],
            &[(110, 0, 0)],
            &[(-1, 20, 0)],
            &[(110, 20, 0), (131, 20, 10)],
            &[(110, 20, 0), (129, 20, 10)],
            &[(110, 20, 0), (130, 20, 0)],
            &[(110, 20, 0), (130, 20, 30)],
            &[(110, 20, 0), (130, 20, 10), (150, 20, 9)],
            &[(110, 20, i64::MAX)],
        ] {
            assert!(map(wrong).is_none(), "{wrong:?}");
        }
    }
}
