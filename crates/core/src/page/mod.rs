//! Pages of a column chunk: header, checksum, decompression, and where their sections lie.

use herringbone_arrow::buffer::Buffer;
use herringbone_format::Encoding;

pub(crate) mod decompression_limit;
pub(crate) mod body;
pub(crate) mod chunk_bytes;
mod data_page;
mod reader;
mod shared;
mod walker;

pub(crate) use data_page::level_width;
pub(crate) use reader::{PageReader, PageReaderChunk, PageReaderOptions};
pub use shared::SharedPage;
pub(crate) use walker::PagePlace;
pub use walker::{PageStart, PageWalker};

/// A page that carries values, decompressed.
#[derive(Debug)]
pub(crate) enum Page {
    /// PLAIN values that later pages refer to by index.
    Dictionary { values: Buffer, num_values: usize },
    /// Levels and values.
    Data(DataPage),
}

/// A data page of either version, taken apart.
#[derive(Debug)]
pub(crate) struct DataPage {
    /// Levels in the page: values, nulls and empty lists.
    pub(crate) num_values: usize,
    /// Repetition levels; `None` where the column has none.
    pub(crate) repetition: Option<LevelSection>,
    /// Definition levels; `None` where the column has none.
    pub(crate) definition: Option<LevelSection>,
    /// The encoding of `values`.
    pub(crate) encoding: Encoding,
    /// The values section.
    pub(crate) values: Buffer,
}

impl DataPage {
    /// Bytes of levels and values.
    pub(crate) fn bytes(&self) -> usize {
        let levels = [&self.repetition, &self.definition].into_iter().flatten();
        self.values.len() + levels.map(|section| section.bytes.len()).sum::<usize>()
    }
}

/// The levels of a page, without length prefix.
#[derive(Debug)]
pub(crate) struct LevelSection {
    /// RLE or BIT_PACKED.
    pub(crate) bit_packed: bool,
    pub(crate) bytes: Buffer,
}
