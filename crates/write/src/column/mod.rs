//! One column of the row group under construction.
//!
//! We process rows in blocks: first levels, then values without nulls, then indices or encoded values. A page ends when
//! it has enough rows or bytes, or by its content with content-defined chunking. It always ends with a whole row, and
//! never because an input array ends, so that pages do not depend on the arrays. The page is then passed to a
//! [`PageSink`], so that no later page waits for the remaining work on it.
//!
//! We choose how values are stored only after some pages ([`choice`](super::choice)), and buffer their indices until
//! then. All of them are then written either as indices or as values, and in the second case the dictionary is dropped.
//! If nearly all values were new to the dictionary, they are buffered as values meanwhile
//! ([`SampledTrial`](super::page_values::SampledTrial)). A dictionary that grows too large later is closed: later pages
//! are written as values, but earlier pages stay. Without a dictionary, the values of the first page are buffered for
//! the choice, and from time to time the values of a later page.
//!
//! An Arrow dictionary column has a whole dictionary in its own order, including values that no slot uses. We copy it
//! unchanged before we process the slots, unless it is unordered and too large.

mod block_memory;
mod pages;
mod rows;

use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::ArrayRef;
use herringbone_core::encoding::physical_values::PlainSize;
use herringbone_core::levels::PageLevels;
use herringbone_format::Result;
use herringbone_format::modular_encryption::ChunkCipher;

pub use block_memory::BlockMemory;
use rows::Extent;

use crate::choice::{CarriedChoice, Choice, LevelForm, usual_runs};
use crate::chunk::{ChunkBuilder, EndedColumn};
use crate::column_statistics::ColumnStatistics;
use crate::content_defined::Chunker;
use crate::levels::LeafPath;
use crate::observers::{Observers, bloom_filter};
use crate::page::PageSink;
use crate::page_values::PageValues;
use crate::settings::ColumnSettings;

/// One column of the row group under construction.
pub struct ColumnWriter {
    settings: Arc<ColumnSettings>,
    path: Arc<LeafPath>,
    page: PageLevels,
    /// The size of the current page's values in PLAIN.
    page_size: PlainSize,
    /// The rows collected since we last checked whether the page is full.
    segment: Extent,
    /// True if the last offered rows would exceed [`MAX_PAGE_VALUES`] in the page.
    is_counted_out: bool,
    /// The form of the stored levels, once it is chosen.
    levels: Option<LevelForm>,
    values: PageValues,
    /// The choice for the previous row group.
    carried: Option<CarriedChoice>,
    /// The form of the stored values, once it is chosen.
    choice: Option<Choice>,
    chunk: ChunkBuilder,
    observers: Observers,
    /// The hash of the rows so far, if pages end by their content.
    chunker: Option<Chunker>,
    /// The values of the last preloaded Arrow dictionary.
    preloaded: Option<ArrayRef>,
}

impl ColumnWriter {
    /// Creates an empty column chunk whose pages are encrypted with `cipher`. `before` is the column's chunk in the
    /// previous row group.
    ///
    /// # Errors
    /// Fails with `Argument` if the encoding does not support the column's type.
    pub(crate) fn new(
        settings: Arc<ColumnSettings>,
        path: Arc<LeafPath>,
        cipher: Option<ChunkCipher>,
        statistics: Option<Box<dyn ColumnStatistics>>,
        before: Option<&EndedColumn>,
    ) -> Result<Self> {
        let carried = before.and_then(|before| before.choice);
        let chunker = before.and_then(|before| before.chunker);
        let leaf = &settings.leaf;
        let runs = usual_runs(settings.compression);
        Ok(Self {
            page: PageLevels::new(leaf.max_def_level, leaf.max_rep_level, runs),
            page_size: PlainSize::default(),
            segment: Extent::default(),
            is_counted_out: false,
            levels: None,
            values: PageValues::new(&settings, carried)?,
            carried,
            choice: None,
            chunk: ChunkBuilder::new(settings.clone(), cipher),
            observers: Observers {
                bloom_filter: bloom_filter(&settings)?,
                statistics,
            },
            chunker: chunker.or(settings.chunker),
            preloaded: None,
            path,
            settings,
        })
    }

    /// Returns the approximate number of bytes that the chunk will take in the file, without the pages already passed
    /// to the sink.
    pub fn estimated_bytes(&self) -> usize {
        self.values.estimated_bytes()
    }

    /// Returns the number of reserved bytes, without the pages already passed to the sink.
    pub fn heap_bytes(&self) -> usize {
        self.chunk.heap_bytes()
            + self.values.heap_bytes()
            + self.page.heap_bytes()
            + self.observers.heap_bytes()
    }

    /// Appends rows of the top-level array that contains the column, and passes full pages to the sink. The memory may
    /// be another one in each call.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if a value cannot be stored, with
    /// [`Limit`](herringbone_format::ErrorKind::Limit) if a value is too large for the format, and with the sink's
    /// errors.
    pub fn write(
        &mut self,
        array: &ArrayRef,
        rows: Range<usize>,
        memory: &mut BlockMemory,
        sink: &mut dyn PageSink,
    ) -> Result<()> {
        let written = match self.chunker {
            None => self.write_rows(array, rows, memory, sink),
            Some(_) => self.write_chunked(array, rows, memory, sink),
        };
        memory.release();
        written.map_err(|error| error.in_column(self.settings.leaf.path.join(".")))
    }
}
