//! Values stored as indices, with their dictionary.

use std::mem;

use herringbone_core::encoding::dictionary::{Dictionary, ranks};
use herringbone_core::encoding::physical_values::{PlainSize, Slots};
use herringbone_core::levels::EncodedLevels;
use herringbone_format::{Encoding, Result};
use herringbone_kernels::hybrid;

use crate::bounds::Bounds;
use crate::choice::Packing;
use crate::chunk::{ChunkBuilder, DataPage};
use crate::dictionary_growth::Counts;
use crate::explanation::StoredAs;
use crate::page::PageSink;
use crate::settings::ColumnSettings;

/// The indices of a chunk with a dictionary.
pub(crate) struct IndexedValues {
    pub(crate) dictionary: ChunkDictionary,
    pub(crate) page: IndexPage,
    /// The fallback encoding for values once the dictionary is full.
    pub(crate) encoding: Encoding,
}

impl IndexedValues {
    pub(super) fn append(&mut self, slots: &Slots<'_>) -> Result<()> {
        self.page.append(&mut self.dictionary.entries, slots)
    }

    /// Writes the page and starts the next one.
    ///
    /// # Errors
    /// Returns errors from codecs, encryption and the sink.
    pub(crate) fn end_page(
        &mut self,
        settings: &ColumnSettings,
        levels: EncodedLevels,
        size: PlainSize,
        chunk: &mut ChunkBuilder,
        sink: &mut dyn PageSink,
    ) -> Result<()> {
        let page = self
            .page
            .take(settings, &self.dictionary.entries, levels, size);
        self.dictionary.write_page(settings, &page, chunk, sink)?;
        self.page.indices = page.indices;
        self.page.indices.clear();
        Ok(())
    }

    /// Returns true if the dictionary accepts no further values.
    pub(super) fn is_full(&self, settings: &ColumnSettings) -> bool {
        is_full(&self.dictionary.entries, settings)
    }

    pub(super) fn estimated_bytes(&self) -> usize {
        self.dictionary.entries.plain_bytes() + self.page.estimated_bytes()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.dictionary.entries.heap_bytes() + self.page.heap_bytes()
    }
}

/// Returns true if the dictionary accepts no further values.
pub(super) fn is_full(dictionary: &Dictionary, settings: &ColumnSettings) -> bool {
    !settings.keeps_order() && dictionary.plain_bytes() > settings.dictionary_bytes
}

/// The chunk's dictionary and its index form.
pub(crate) struct ChunkDictionary {
    pub(crate) entries: Dictionary,
    packing: Packing,
    /// The number of entries when the dictionary was sorted, or `None` if it wasn't.
    sorted_entries: Option<usize>,
}

impl ChunkDictionary {
    /// Creates a dictionary with this index packing.
    pub(crate) fn new(entries: Dictionary, packing: Packing) -> Self {
        Self {
            entries,
            packing,
            sorted_entries: None,
        }
    }

    /// Sorts the entries into the ascending `order`, updating the indices of buffered pages.
    pub(crate) fn sort(&mut self, order: &[u32], pages: &mut [PendingPage]) {
        self.entries.reorder(order);
        let ranks = ranks(order);
        for page in pages {
            page.num_entries = order.len();
            for index in &mut page.indices {
                *index = ranks.get(*index as usize).copied().unwrap_or(0);
            }
        }
        self.sorted_entries = Some(order.len());
    }

    /// Returns true if all entries are sorted.
    pub(crate) fn is_sorted(&self) -> bool {
        self.sorted_entries == Some(self.entries.num_values())
    }

    pub(super) fn stored_as(&self) -> StoredAs {
        StoredAs::Dictionary {
            is_sorted: self.is_sorted(),
            is_aligned: self.packing.is_aligned,
        }
    }

    /// Writes the indices of `page`.
    ///
    /// # Errors
    /// Returns errors from codecs, encryption and the sink.
    pub(crate) fn write_page(
        &self,
        settings: &ColumnSettings,
        page: &PendingPage,
        chunk: &mut ChunkBuilder,
        sink: &mut dyn PageSink,
    ) -> Result<()> {
        let index_bounds = match &page.bounds {
            Some(_) => Bounds::new(settings),
            None => Bounds::of_indices(settings, &self.entries, &page.indices),
        };
        let data_page = DataPage {
            levels: &page.levels,
            encoding: Encoding::RleDictionary,
            bounds: page.bounds.as_ref().unwrap_or(&index_bounds),
            byte_array_bytes: page.byte_array_bytes,
        };
        let width = self.packing.width(page.num_entries);
        let append_indices = |front: &[u8], out: &mut Vec<u8>, _: &mut Vec<usize>| {
            out.extend_from_slice(front);
            out.push(width);
            hybrid::encode_u32(&page.indices, width, self.packing.runs, out);
            0
        };
        chunk.data_page(&data_page, append_indices, sink)
    }
}

/// The indices of the page under construction.
pub(crate) struct IndexPage {
    pub(super) indices: Vec<u32>,
    /// The bounds of the page's values. We only compute them here for numbers, since checking each number is faster
    /// than finding the indices in use.
    pub(super) bounds: Bounds,
    /// True if `bounds` misses some of the page's values, because they went to the dictionary only.
    pub(super) unbounded: bool,
}

impl IndexPage {
    pub(super) fn new(settings: &ColumnSettings) -> Self {
        Self {
            indices: Vec::new(),
            bounds: Bounds::new(settings),
            unbounded: false,
        }
    }

    /// Adds values to the dictionary and their indices to the page.
    pub(super) fn append(&mut self, dictionary: &mut Dictionary, slots: &Slots<'_>) -> Result<()> {
        match slots {
            Slots::Values(values) if values.are_numbers() => self.bounds.update(values),
            _ => self.unbounded = true,
        }
        dictionary.append(slots, &mut self.indices)
    }

    /// Takes out the finished page and starts the next one.
    pub(super) fn take(
        &mut self,
        settings: &ColumnSettings,
        dictionary: &Dictionary,
        levels: EncodedLevels,
        size: PlainSize,
    ) -> PendingPage {
        let bounds = mem::replace(&mut self.bounds, Bounds::new(settings));
        PendingPage {
            levels,
            indices: mem::take(&mut self.indices),
            num_entries: dictionary.num_values(),
            bounds: (!mem::take(&mut self.unbounded)).then_some(bounds),
            byte_array_bytes: size.byte_array_bytes,
        }
    }

    /// Returns the page's number of non-null values.
    pub(super) fn num_values(&self) -> usize {
        self.indices.len()
    }

    pub(super) fn estimated_bytes(&self) -> usize {
        self.indices.len() / 2 * 3
    }

    pub(super) fn heap_bytes(&self) -> usize {
        size_of::<u32>() * self.indices.capacity() + self.bounds.heap_bytes()
    }
}

/// A finished page of indices.
pub(crate) struct PendingPage {
    pub(crate) levels: EncodedLevels,
    pub(crate) indices: Vec<u32>,
    /// The number of dictionary entries when the page ended. All of its indices are below this.
    num_entries: usize,
    /// The bounds of the values, if they were computed on arrival.
    bounds: Option<Bounds>,
    pub(crate) byte_array_bytes: usize,
}

impl PendingPage {
    /// Returns the page's number of values, and the number of entries when the page ended.
    pub(super) fn counts(&self) -> Counts {
        Counts {
            values: self.indices.len(),
            entries: self.num_entries,
        }
    }

    /// Returns the number of reserved bytes.
    fn heap_bytes(&self) -> usize {
        size_of::<Self>()
            + size_of::<u32>() * self.indices.capacity()
            + self.levels.heap_bytes()
            + self.bounds.as_ref().map_or(0, Bounds::heap_bytes)
    }
}

/// The index pages buffered until their form is chosen.
#[derive(Default)]
pub(crate) struct PendingPages {
    pub(crate) pages: Vec<PendingPage>,
    pub(super) num_values: usize,
    /// The PLAIN size of the values, in bytes.
    pub(super) plain_bytes: usize,
    /// The size of the indices, in bytes.
    pub(super) index_bytes: usize,
}

impl PendingPages {
    /// Adds `page`. Its values have a PLAIN size of `plain_bytes` bytes.
    pub(super) fn push(&mut self, page: PendingPage, plain_bytes: usize) {
        let width = Packing::TIGHT.width(page.num_entries);
        self.num_values += page.indices.len();
        self.plain_bytes += plain_bytes;
        self.index_bytes += page.indices.len() * usize::from(width) / 8;
        self.pages.push(page);
    }

    pub(super) fn estimated_bytes(&self) -> usize {
        self.num_values / 2 * 3
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.pages.iter().map(PendingPage::heap_bytes).sum()
    }
}
