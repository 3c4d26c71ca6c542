//! A column chunk's pages, from headers, checksums, decryption and decompression to the sections of a body.

use std::ops::Range;

use herringbone_arrow::buffer::Buffer;
use herringbone_format::{ColumnLayout, Encoding, Error, Result};

use crate::levels::{LevelSection, Levels};

pub mod decompression_limit;
pub mod body;
pub(crate) mod chunk_bytes;
mod data_page;
mod end;
mod page_map;
mod reader;
mod shared;
mod walker;

pub(crate) use end::{Ending, PageEnd};
pub use page_map::{PageMap, PageMaps};
pub(crate) use reader::PageReaderState;
pub use reader::{PageReader, PageReaderChunk, PageReaderOptions};
pub use shared::SharedPage;
pub use walker::has_dictionary;
pub use walker::{PageStart, PageWalker};

/// The number of levels to decode at once. As bytes, a block of this size stays in the L1 cache.
pub(crate) const BLOCK_LEVELS: usize = 4096;

/// A column's highest possible levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxLevels {
    /// The highest repetition level.
    pub repetition: u8,
    /// The highest definition level.
    pub definition: u8,
}

/// A decompressed page that contains values.
#[derive(Debug)]
pub(crate) enum Page {
    /// PLAIN values, referred to by index from data pages.
    Dictionary { values: Buffer, num_values: usize },
    /// Levels and values.
    Data(DataPage),
}

/// A data page of either version, split into sections.
#[derive(Debug)]
pub(crate) struct DataPage {
    /// The number of levels in the page, counting values, nulls and empty lists.
    pub(crate) num_values: usize,
    /// The number of non-null values according to the header. Only version 2 counts nulls. With lists, this is `None`,
    /// because writers disagree about whether empty lists count.
    pub(crate) num_non_null: Option<u64>,
    /// The repetition levels, or `None` if the column has only level 0.
    pub(crate) repetition: Option<LevelSection>,
    /// The definition levels, or `None` if the column has only level 0.
    pub(crate) definition: Option<LevelSection>,
    /// The encoding of `values`.
    pub(crate) encoding: Encoding,
    /// The values section.
    pub(crate) values: Buffer,
}

impl DataPage {
    /// Returns the byte count of levels and values.
    pub(crate) fn bytes(&self) -> usize {
        let levels = [&self.repetition, &self.definition].into_iter().flatten();
        self.values.len() + levels.map(|section| section.bytes.len()).sum::<usize>()
    }

    /// Returns the number of rows starting in the page, and true if the page starts with a new row. `max_level` is the
    /// column's highest repetition level.
    ///
    /// # Errors
    /// Fails with Corrupt if the levels end early.
    pub(crate) fn row_starts(&self, max_level: u8) -> Result<(u64, bool)> {
        let mut levels = Levels::new(self.repetition.clone(), max_level);
        let (mut rows, mut starts_row) = (0, true);
        let mut block = Vec::new();
        let mut left = self.num_values;
        if left > 0 {
            starts_row = levels.zeros(1, &mut block)? == 1;
            rows = u64::from(starts_row);
            left -= 1;
        }
        while left > 0 {
            let n = left.min(BLOCK_LEVELS);
            rows += levels.zeros(n, &mut block)? as u64;
            left -= n;
        }
        Ok((rows, starts_row))
    }
}

/// Returns a column chunk's byte range in the file. Some old writers set the dictionary page offset to 0 if there is no
/// dictionary page, so we ignore a 0 there.
///
/// # Errors
/// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if the chunk lies outside a file of `file_length`
/// bytes.
pub fn byte_range(metadata: &ColumnLayout, file_length: u64) -> Result<Range<u64>> {
    let data = metadata.data_page_offset;
    let start = match metadata.dictionary_page_offset {
        // If there are no data pages, some writers set their offset to 0, so the chunk starts at its dictionary.
        Some(dictionary) if dictionary > 0 && (dictionary < data || data == 0) => dictionary,
        _ => data,
    };
    let length = metadata.total_compressed_size;
    let range = u64::try_from(start)
        .ok()
        .zip(u64::try_from(length).ok())
        .and_then(|(start, length)| Some(start..start.checked_add(length)?));
    range
        .filter(|range| range.end <= file_length)
        .ok_or_else(|| {
            Error::corrupt(format!(
                "the column chunk at {start} with {length} bytes lies outside of the file of \
             {file_length} bytes"
            ))
        })
}
