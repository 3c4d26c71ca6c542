//! One column of the row group under construction.
//!
//! We process rows in blocks: first levels, then values without nulls, then indices or encoded values. A page ends once
//! it has enough rows or bytes, or at a content-defined boundary. It always ends with a whole row, but never because an
//! input array ends, so that pages don't depend on the arrays. The page then goes to a [`PageSink`], so that no later
//! page has to wait for the remaining work on it.
//!
//! We only choose how to store values after some pages ([`choice`](super::choice)), buffering their indices until then.
//! All of them are then written either as indices or as values, and in the second case the dictionary is dropped. If
//! nearly all values were new to the dictionary, we buffer values in the meantime
//! ([`SampledTrial`](super::page_values::SampledTrial)). A dictionary that overflows later is closed: later pages are
//! written as values, but earlier pages stay. Without a dictionary, we buffer the first page's values for the choice,
//! and from time to time a later page's values.
//!
//! An Arrow dictionary column comes with a whole dictionary in its own order, including any unused values. We copy it
//! unchanged before processing the slots, unless it is unordered and too large.

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

/// The writer for one column of the row group under construction. You pass it rows, and it passes finished pages to a
/// [`PageSink`].
pub struct ColumnWriter {
    settings: Arc<ColumnSettings>,
    path: Arc<LeafPath>,
    page: PageLevels,
    /// The PLAIN size of the current page's values.
    page_size: PlainSize,
    /// The rows collected since we last checked if the page is full.
    segment: Extent,
    /// True if the last rows offered would exceed [`MAX_PAGE_VALUES`] in the page.
    is_counted_out: bool,
    /// The level form, once chosen.
    levels: Option<LevelForm>,
    values: PageValues,
    /// The choice for the previous row group.
    carried: Option<CarriedChoice>,
    /// The value form, once chosen.
    choice: Option<Choice>,
    chunk: ChunkBuilder,
    observers: Observers,
    /// The hash of the rows so far, if pages are content-defined.
    chunker: Option<Chunker>,
    /// The values of the last preloaded Arrow dictionary. Kept so that the same dictionary isn't copied twice.
    preloaded: Option<ArrayRef>,
}

impl ColumnWriter {
    /// Creates an empty column chunk, encrypting its pages with `cipher`. `before` is the column's chunk in the
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

    /// Returns the approximate stored size of the chunk in bytes, excluding pages already passed to the sink.
    pub fn estimated_bytes(&self) -> usize {
        self.values.estimated_bytes()
    }

    /// Returns the number of reserved bytes, excluding pages already passed to the sink.
    pub fn heap_bytes(&self) -> usize {
        self.chunk.heap_bytes()
            + self.values.heap_bytes()
            + self.page.heap_bytes()
            + self.observers.heap_bytes()
    }

    /// Appends rows of the column's top-level array, passing full pages to the sink. Each call can use a different
    /// `memory`.
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
