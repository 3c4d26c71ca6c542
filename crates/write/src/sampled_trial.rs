//! Values buffered after nearly all values were new to a dictionary, which then receives only a sample of them.
//!
//! Such a dictionary is usually given up in the end, and looking up new values is most of the work of writing them. It
//! still pays if values repeat cyclically, or if the data changes. So the rest of the page and a few more pages are
//! buffered as values. The dictionary receives only a sample of them, from which its size for all values is predicted.

use std::ops::Range;

use herringbone_format::Result;
use herringbone_schema::WriteLeaf;

use super::bounds::Bounds;
use super::dictionary_growth::Counts;
use herringbone_core::encoding::ValueEncoder;
use herringbone_core::encoding::physical_values::{PlainSize, Values, with_plain};
use herringbone_core::levels::EncodedLevels;

/// The number of values in a block of a page. The dictionary is tested with the start of each block.
const BLOCK_VALUES: usize = 512;

/// The number of values at the start of a block with which the dictionary is tested.
const SAMPLED_VALUES: usize = 64;

/// The values that the dictionary may still receive.
#[derive(Default)]
pub(super) struct SampledTrial {
    /// The counts of the dictionary when this trial began.
    pub(super) before: Counts,
    /// The finished pages. The first values of the first page may be in the dictionary, because the trial began after
    /// them.
    pub(super) pages: Vec<TrialPage>,
    /// The number of values since the trial began.
    num_values: usize,
    /// The number of values counted in the page under construction.
    page_values: usize,
    /// The number of values with which the dictionary was tested.
    pub(super) sampled_values: usize,
}

impl SampledTrial {
    /// Creates a trial without pages, after `before.values` values.
    pub(super) fn after(before: Counts) -> Self {
        Self {
            before,
            ..Self::default()
        }
    }

    /// Returns the number of values of the chunk, including those before the trial.
    pub(super) fn all_values(&self) -> usize {
        self.before.values + self.num_values
    }

    /// Returns the size of the finished pages in PLAIN, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.pages.iter().map(|page| page.size.bytes).sum()
    }

    /// Returns the number of reserved bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.pages.iter().map(TrialPage::heap_bytes).sum()
    }

    /// Counts `num_values` values of the page under construction. Returns the ranges of these values with which the
    /// dictionary is tested.
    pub(super) fn count(&mut self, num_values: usize) -> impl Iterator<Item = Range<usize>> {
        let first = self.page_values;
        self.page_values += num_values;
        self.num_values += num_values;
        let parts = tested(first..self.page_values);
        parts.map(move |part| part.start - first..part.end - first)
    }

    /// Finishes the page under construction.
    pub(super) fn end_page(&mut self, page: TrialPage) {
        self.page_values = 0;
        self.pages.push(page);
    }
}

/// A page of values that the dictionary may still receive.
pub(super) struct TrialPage {
    pub(super) levels: EncodedLevels,
    /// The encoder, which contains the values in PLAIN.
    pub(super) encoder: Box<dyn ValueEncoder>,
    pub(super) size: PlainSize,
    pub(super) bounds: Bounds,
}

impl TrialPage {
    pub(super) fn num_values(&self) -> usize {
        self.levels.num_levels - self.levels.num_nulls
    }

    /// Takes the values out of the encoder and passes them to `visit`, with the emptied encoder and their size in
    /// bytes.
    pub(super) fn with_values<R>(
        &mut self,
        leaf: &WriteLeaf,
        visit: impl FnOnce(&mut dyn ValueEncoder, &Values<'_>, usize) -> Result<R>,
    ) -> Result<R> {
        let mut plain = Vec::new();
        self.encoder.finish_page(&mut plain, &mut Vec::new());
        let (physical_type, type_length) = (leaf.physical_type, leaf.type_length);
        with_plain(
            physical_type,
            type_length,
            &plain,
            self.num_values(),
            |values| visit(&mut *self.encoder, values, plain.len()),
        )
    }

    fn heap_bytes(&self) -> usize {
        size_of::<Self>()
            + self.levels.heap_bytes()
            + self.encoder.heap_bytes()
            + self.bounds.heap_bytes()
    }
}

/// Returns the parts of `range` that the dictionary receives. `range` is a range of values of a page. The parts depend
/// on the positions in the page alone, not on the batches in which values arrive.
fn tested(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let blocks = range.start / BLOCK_VALUES..range.end.div_ceil(BLOCK_VALUES);
    let parts = blocks.map(move |block| {
        let start = block * BLOCK_VALUES;
        start.max(range.start)..(start + SAMPLED_VALUES).min(range.end)
    });
    parts.filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use herringbone_format::{Encoding, Type};

    use super::*;
    use herringbone_core::compression::Compression;
    use herringbone_core::encoding::value_encoder;

    #[test]
    fn the_same_values_are_tested_however_they_come_in() {
        let all: Vec<usize> = tested(0..1600).flatten().collect();
        let expected: Vec<usize> = (0..64)
            .chain(512..576)
            .chain(1024..1088)
            .chain(1536..1600)
            .collect();
        assert_eq!(all, expected);
        for step in [1, 7, 64, 100, 512, 1000] {
            let ranges = (0..1600_usize).step_by(step);
            let ranges = ranges.map(|at| at..(at + step).min(1600));
            assert_eq!(ranges.flat_map(tested).flatten().collect::<Vec<_>>(), all);
        }
        assert_eq!(tested(70..500).count(), 0);
    }

    #[test]
    fn each_page_has_tested_values_of_its_own() {
        let mut trial = SampledTrial::after(Counts {
            values: 1024,
            entries: 1020,
        });
        assert_eq!(trial.count(500).flatten().count(), 64);
        assert_eq!(trial.all_values(), 1524);
        trial.end_page(TrialPage {
            levels: EncodedLevels::default(),
            encoder: value_encoder(Encoding::Plain, Type::Int64, 0, Compression::Uncompressed)
                .unwrap(),
            size: PlainSize::default(),
            bounds: Bounds::default(),
        });
        // A new page starts with tested values again.
        assert_eq!(trial.count(10).collect::<Vec<_>>(), [0..10]);
        assert_eq!(trial.all_values(), 1534);
    }
}
