//! Values behind those that were all new to a dictionary.
//!
//! Such a dictionary is given up in the end, mostly, and to look up values that are new is most of the work of writing them. It
//! pays all the same where values come back in turns, or become others. So the page and a few more are kept as values, and the
//! dictionary gets some of these alone, which tell what it would make of all.

use std::ops::Range;

use herringbone_format::Result;
use herringbone_schema::WriteLeaf;

use super::bounds::Bounds;
use super::growth::Counts;
use herringbone_core::encoding::ValueEncoder;
use herringbone_core::encoding::values::{PlainSize, Values, with_plain};
use herringbone_core::levels::EncodedLevels;

/// Of so many values of a page,
const BLOCK_VALUES: usize = 512;

/// the dictionary gets the first ones.
const TESTED_VALUES: usize = 64;

/// Values that the dictionary may still get.
#[derive(Default)]
pub(super) struct Doubt {
    /// What the dictionary had when the doubt began.
    pub(super) before: Counts,
    /// Full pages. The first values of the first one may be in the dictionary: the doubt began behind them.
    pub(super) pages: Vec<DoubtedPage>,
    /// Values since it began,
    num_values: usize,
    /// and those of the page under construction.
    page_values: usize,
    /// Values that the dictionary was tested by.
    pub(super) tested_values: usize,
}

impl Doubt {
    /// None yet, behind so many values.
    pub(super) fn behind(before: Counts) -> Self {
        Self {
            before,
            ..Self::default()
        }
    }

    /// All values of the chunk, those before the doubt as well.
    pub(super) fn all_values(&self) -> usize {
        self.before.values + self.num_values
    }

    /// Bytes of the pages in PLAIN.
    pub(super) fn bytes(&self) -> usize {
        self.pages.iter().map(|page| page.size.bytes).sum()
    }

    /// Bytes held.
    pub(super) fn heap_bytes(&self) -> usize {
        self.pages.iter().map(DoubtedPage::heap_bytes).sum()
    }

    /// Counts values of the page under construction. Those of them that the dictionary is tested by come back, as parts of them.
    pub(super) fn count(&mut self, num_values: usize) -> impl Iterator<Item = Range<usize>> {
        let first = self.page_values;
        self.page_values += num_values;
        self.num_values += num_values;
        let parts = tested(first..self.page_values);
        parts.map(move |part| part.start - first..part.end - first)
    }

    /// Ends the page under construction.
    pub(super) fn end_page(&mut self, page: DoubtedPage) {
        self.page_values = 0;
        self.pages.push(page);
    }
}

/// A page of values that the dictionary may still get.
pub(super) struct DoubtedPage {
    pub(super) levels: EncodedLevels,
    /// The values in PLAIN.
    pub(super) encoder: Box<dyn ValueEncoder>,
    pub(super) size: PlainSize,
    pub(super) bounds: Bounds,
}

impl DoubtedPage {
    pub(super) fn num_values(&self) -> usize {
        self.levels.num_levels - self.levels.num_nulls
    }

    /// Takes the values, and gives them to `visit`, with the encoder that had them and the bytes that they take.
    pub(super) fn with_values<R>(
        &mut self,
        leaf: &WriteLeaf,
        visit: impl FnOnce(&mut dyn ValueEncoder, &Values<'_>, usize) -> Result<R>,
    ) -> Result<R> {
        let mut plain = Vec::new();
        self.encoder.finish_page(&mut plain, &mut Vec::new());
        let plain_type = (leaf.physical_type, leaf.type_length);
        with_plain(plain_type, &plain, self.num_values(), |values| {
            visit(&mut *self.encoder, values, plain.len())
        })
    }

    fn heap_bytes(&self) -> usize {
        size_of::<Self>()
            + self.levels.heap_bytes()
            + self.encoder.heap_bytes()
            + self.bounds.heap_bytes()
    }
}

/// Those of the values in `range` of a page that the dictionary gets. They follow from where values lie in the page, not from how
/// they come in.
fn tested(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let blocks = range.start / BLOCK_VALUES..range.end.div_ceil(BLOCK_VALUES);
    let parts = blocks.map(move |block| {
        let start = block * BLOCK_VALUES;
        start.max(range.start)..(start + TESTED_VALUES).min(range.end)
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
        let mut doubt = Doubt::behind(Counts {
            values: 1024,
            entries: 1020,
        });
        assert_eq!(doubt.count(500).flatten().count(), 64);
        assert_eq!(doubt.all_values(), 1524);
        doubt.end_page(DoubtedPage {
            levels: EncodedLevels::default(),
            encoder: value_encoder(Encoding::Plain, (Type::Int64, 0), Compression::Uncompressed)
                .unwrap(),
            size: PlainSize::default(),
            bounds: Bounds::default(),
        });
        // The first ones again.
        assert_eq!(doubt.count(10).collect::<Vec<_>>(), [0..10]);
        assert_eq!(doubt.all_values(), 1534);
    }
}
