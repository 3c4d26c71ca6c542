//! Builds a column chunk's page index, page by page.

use super::EncodedBounds;
use super::encoded::compare;
use herringbone_format::{BoundaryOrder, ByteArrays, ColumnIndex, OffsetIndex, PageLocation, Type};
use herringbone_schema::ColumnOrderKind;

/// The column index's contents for one data page.
#[derive(Debug, Clone, Copy)]
pub struct PageSummary<'a> {
    /// True if all values are null.
    pub null_page: bool,
    /// The bounds of the non-null values, if there are any.
    pub bounds: &'a EncodedBounds,
    /// The number of nulls.
    pub null_count: i64,
    /// The number of occurrences of each repetition level. Leave this empty to omit the counts, but then do so for all
    /// pages.
    pub repetition_levels: &'a [u64],
    /// The number of occurrences of each definition level. Leave this empty to omit the counts, but then do so for all
    /// pages.
    pub definition_levels: &'a [u64],
}

/// A builder for a column chunk's [`ColumnIndex`].
#[derive(Debug, Clone)]
pub struct ColumnIndexBuilder {
    order: ColumnOrderKind,
    physical: Type,
    null_pages: Vec<bool>,
    min_values: ByteArrays,
    max_values: ByteArrays,
    null_counts: Vec<i64>,
    nan_counts: Vec<i64>,
    repetition_levels: Vec<i64>,
    definition_levels: Vec<i64>,
    /// The ordinal of the last page with bounds.
    last: Option<usize>,
    ascending: bool,
    descending: bool,
    /// True if every page with values also has bounds.
    complete: bool,
}

impl ColumnIndexBuilder {
    /// Creates a builder without pages, for a column of this type and order.
    #[must_use]
    pub fn new(order: ColumnOrderKind, physical: Type) -> Self {
        Self {
            order,
            physical,
            null_pages: Vec::new(),
            min_values: ByteArrays::new(),
            max_values: ByteArrays::new(),
            null_counts: Vec::new(),
            nan_counts: Vec::new(),
            repetition_levels: Vec::new(),
            definition_levels: Vec::new(),
            last: None,
            ascending: true,
            descending: true,
            complete: order != ColumnOrderKind::Undefined,
        }
    }

    /// Returns the number of bytes held by the builder.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let counts = [
            &self.null_counts,
            &self.nan_counts,
            &self.repetition_levels,
            &self.definition_levels,
        ];
        let counts: usize = counts.into_iter().map(Vec::capacity).sum();
        self.null_pages.capacity()
            + self.min_values.heap_bytes()
            + self.max_values.heap_bytes()
            + size_of::<i64>() * counts
    }

    /// Adds the next data page.
    pub fn push(&mut self, page: PageSummary<'_>) {
        let (min, max) = match (page.null_page, &page.bounds.min, &page.bounds.max) {
            (true, ..) => (&[][..], &[][..]),
            (false, Some(min), Some(max)) => {
                self.compare_with_last(min, max);
                self.last = Some(self.null_pages.len());
                (min.as_slice(), max.as_slice())
            }
            _ => {
                self.complete = false;
                (&[][..], &[][..])
            }
        };
        self.null_pages.push(page.null_page);
        self.min_values.push(min);
        self.max_values.push(max);
        self.null_counts.push(page.null_count);
        self.nan_counts.extend(page.bounds.nan_count);
        // The casts are lossless, because counts of values in memory fit in `i64`.
        let counts = |levels: &[u64]| levels.iter().map(|count| *count as i64).collect::<Vec<_>>();
        self.repetition_levels
            .extend(counts(page.repetition_levels));
        self.definition_levels
            .extend(counts(page.definition_levels));
    }

    /// Compares the bounds with the last page's bounds, noting any boundary orders they rule out.
    fn compare_with_last(&mut self, min: &[u8], max: &[u8]) {
        let compare = |a, b| compare(self.order, self.physical, a, b);
        let before = match self.last {
            Some(last) => self.min_values.get(last).zip(self.max_values.get(last)),
            // The first bounds are compared with themselves. This only fails for NaNs.
            None => Some((min, max)),
        };
        let orders = before
            .and_then(|(least, greatest)| Some((compare(least, min)?, compare(greatest, max)?)));
        match orders {
            Some((min, max)) => {
                self.ascending &= min.is_le() && max.is_le();
                self.descending &= min.is_ge() && max.is_ge();
            }
            // A binary search over pages of NaNs might go wrong, so we claim no order.
            None => (self.ascending, self.descending) = (false, false),
        }
    }

    /// Returns the index of all pages. A column chunk has no column index if a page has values but no bounds, or if the
    /// type has no order. In that case this returns `None`.
    #[must_use]
    pub fn finish(self) -> Option<ColumnIndex> {
        if !self.complete {
            return None;
        }
        let some = |list: Vec<i64>| (!list.is_empty()).then_some(list);
        let order = match (self.ascending, self.descending) {
            (true, _) => BoundaryOrder::Ascending,
            (false, true) => BoundaryOrder::Descending,
            (false, false) => BoundaryOrder::Unordered,
        };
        let index = ColumnIndex::new(self.null_pages, self.min_values, self.max_values, order)
            .null_counts(self.null_counts)
            .repetition_level_histograms(some(self.repetition_levels))
            .definition_level_histograms(some(self.definition_levels))
            .nan_counts(some(self.nan_counts));
        Some(index)
    }
}

/// A builder for a column chunk's [`OffsetIndex`], usable before the chunk's file offset is known.
#[derive(Debug, Clone, Default)]
pub struct OffsetIndexBuilder {
    pages: Vec<PageLocation>,
    byte_array_bytes: Vec<i64>,
}

impl OffsetIndexBuilder {
    /// Returns the number of bytes held by the builder.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        size_of::<PageLocation>() * self.pages.capacity()
            + size_of::<i64>() * self.byte_array_bytes.capacity()
    }

    /// Adds the next data page, with its offset from the start of the chunk.
    ///
    /// For BYTE_ARRAY columns, `byte_array_bytes` is the total length of the values without their length prefixes. For
    /// other columns, it is `None`.
    pub fn push(&mut self, page: PageLocation, byte_array_bytes: Option<i64>) {
        self.pages.push(page);
        self.byte_array_bytes.extend(byte_array_bytes);
    }

    /// Returns the index of all pages, for a chunk starting at `chunk_offset` in the file.
    #[must_use]
    pub fn finish(mut self, chunk_offset: i64) -> OffsetIndex {
        for page in &mut self.pages {
            page.offset += chunk_offset;
        }
        let bytes = self.byte_array_bytes;
        OffsetIndex::new(self.pages)
            .unencoded_byte_array_data_bytes((!bytes.is_empty()).then_some(bytes))
    }
}
