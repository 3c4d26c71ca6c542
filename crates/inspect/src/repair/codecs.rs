//! Determines the pages' codecs, from their bytes, a footer or a sibling file.
//!
//! A page doesn't record its codec, and compressed bytes of the same length as the uncompressed
//! bytes could even be the values themselves. So we try every codec on each page. If several codecs
//! succeed with different results, the codecs of other chunks decide:
//!
//! ```text
//! the codec of the column in the footer or the sibling   if the file has pages of no other codecs than these
//! the codecs of the pages that leave no choice           otherwise
//! ```

use bytes::Bytes;
use herringbone_core::budget::Budget;
use herringbone_core::physical::PageDecompressor;
use herringbone_format::{CompressionCodec, Limits, Result};

use super::scan::FoundPage;
use herringbone::source::Source;

/// All codecs of the format.
const CODECS: [CompressionCodec; 8] = [
    CompressionCodec::Uncompressed,
    CompressionCodec::Snappy,
    CompressionCodec::Zstd,
    CompressionCodec::Gzip,
    CompressionCodec::Lz4Raw,
    CompressionCodec::Brotli,
    CompressionCodec::Lz4,
    CompressionCodec::Lzo,
];

/// A set of codecs, with one bit per entry of [`CODECS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CodecSet(u8);

impl CodecSet {
    pub(super) const ALL: Self = Self(u8::MAX);

    pub(super) fn insert(&mut self, codec: CompressionCodec) {
        if let Some(bit) = CODECS.iter().position(|known| *known == codec) {
            self.0 |= 1 << bit;
        }
    }

    fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn within(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the codecs, in the order of [`CODECS`].
    pub(super) fn iter(self) -> impl Iterator<Item = CompressionCodec> {
        let is_in = move |bit: &usize| self.0 & (1 << bit) != 0;
        let codecs = CODECS.into_iter().enumerate();
        codecs
            .filter(move |(bit, _)| is_in(bit))
            .map(|codecs| codecs.1)
    }
}

/// The results of decompressing one page.
#[derive(Debug, Clone, Default)]
struct Outcome {
    /// Equivalence classes of codecs that decompress the page to the same bytes.
    classes: Vec<CodecSet>,
    /// True if the page decompresses to no bytes. Such a page says nothing about its codec.
    is_empty: bool,
}

impl Outcome {
    /// Returns the page's codecs, or `None` if they are ambiguous.
    fn certain(&self) -> Option<CodecSet> {
        let [only] = self.classes[..] else {
            return None;
        };
        let mut uncompressed = CodecSet::default();
        uncompressed.insert(CompressionCodec::Uncompressed);
        // Every codec is allowed to leave version 2 pages uncompressed.
        let is_any = only != uncompressed && !only.within(uncompressed).is_empty();
        (!self.is_empty && !is_any).then_some(only)
    }
}

/// The codecs of all pages.
pub(super) struct Codecs {
    outcomes: Vec<Outcome>,
    /// The preferred codecs per leaf.
    preferred: Vec<CodecSet>,
    /// The codecs of all unambiguous pages.
    certain: CodecSet,
}

impl Codecs {
    /// Decompresses all pages. `known` has each leaf's codecs from a footer or a sibling file.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails.
    pub(super) fn new(
        source: &dyn Source,
        pages: &[FoundPage],
        mut known: Vec<CodecSet>,
        created_by: Option<&str>,
        limits: &Limits,
    ) -> Result<Self> {
        let budget = Budget::new(limits);
        let mut decompressors =
            CODECS.map(|codec| PageDecompressor::new(codec, created_by, limits, &budget));
        let mut outcomes = Vec::with_capacity(pages.len());
        for page in pages {
            outcomes.push(match page.intact {
                true => outcome(page, &source.read(page.body..page.end)?, &mut decompressors),
                false => Outcome::default(),
            });
        }
        let all_known = known
            .iter()
            .copied()
            .fold(CodecSet::default(), CodecSet::with);
        let certain = || outcomes.iter().filter_map(Outcome::certain);
        if certain().any(|codecs| codecs.within(all_known).is_empty()) {
            known.clear();
        }
        let certain = certain().fold(CodecSet::default(), CodecSet::with);
        Ok(Self {
            outcomes,
            preferred: known,
            certain,
        })
    }

    /// Returns the candidate codecs from `within` for a page of `leaf`, grouped into sets that give
    /// the same bytes.
    pub(super) fn classes(&self, page: usize, leaf: usize, within: CodecSet) -> Vec<CodecSet> {
        let classes = self
            .outcomes
            .get(page)
            .map(|outcome| outcome.classes.iter());
        let classes = classes.into_iter().flatten();
        let classes: Vec<_> = classes
            .map(|class| class.within(within))
            .filter(|class| !class.is_empty())
            .collect();
        for narrower in [self.preferred(leaf), self.certain] {
            let narrowed = classes.iter().map(|class| class.within(narrower));
            let narrowed: Vec<_> = narrowed.filter(|class| !class.is_empty()).collect();
            if !narrowed.is_empty() {
                return narrowed;
            }
        }
        classes
    }

    /// Returns a page's candidate codecs if every leaf has several, with one codec per distinct
    /// result.
    pub(super) fn choice(&self, page: usize) -> Option<Vec<CompressionCodec>> {
        let leaves = 0..self.preferred.len().max(1);
        let classes = |leaf| self.classes(page, leaf, CodecSet::ALL);
        if leaves.map(classes).any(|classes| classes.len() < 2) {
            return None;
        }
        let classes = classes(0);
        Some(
            classes
                .into_iter()
                .filter_map(|class| class.iter().next())
                .collect(),
        )
    }

    /// Picks a codec from a set, preferring codecs from the footer or the sibling file.
    pub(super) fn one_of(&self, codecs: CodecSet, leaf: usize) -> CompressionCodec {
        let preferred = codecs.within(self.preferred(leaf));
        let first = preferred.iter().next().or_else(|| codecs.iter().next());
        first.unwrap_or(CompressionCodec::Uncompressed)
    }

    fn preferred(&self, leaf: usize) -> CodecSet {
        self.preferred.get(leaf).copied().unwrap_or_default()
    }
}

/// Decompresses a page with each codec.
fn outcome(page: &FoundPage, body: &Bytes, decompressors: &mut [PageDecompressor]) -> Outcome {
    let mut outputs = Vec::new();
    let mut classes: Vec<CodecSet> = Vec::new();
    for (codec, decompressor) in CODECS.into_iter().zip(decompressors) {
        let Ok(output) = decompressor.decompress(&page.header, body.clone()) else {
            continue;
        };
        let same = outputs.iter().position(|it| *it == output);
        let class = same.unwrap_or_else(|| {
            outputs.push(output);
            classes.push(CodecSet::default());
            classes.len() - 1
        });
        if let Some(class) = classes.get_mut(class) {
            class.insert(codec);
        }
    }
    Outcome {
        classes,
        is_empty: outputs.iter().any(|output| output.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_codec_is_tried() {
        for codec in CompressionCodec::ALL {
            assert!(CODECS.contains(codec), "{codec}");
        }
    }

    /// A writer may leave a page of version 2 uncompressed, whatever the chunk's codec.
    #[test]
    fn a_page_decides_unless_it_may_have_any_codec() {
        use CompressionCodec::{Gzip, Uncompressed, Zstd};
        let set = |codecs: &[CompressionCodec]| {
            let mut set = CodecSet::default();
            codecs.iter().for_each(|codec| set.insert(*codec));
            set
        };
        let certain = |classes: &[&[CompressionCodec]], is_empty| {
            let classes = classes.iter().map(|codecs| set(codecs)).collect();
            Outcome { classes, is_empty }.certain()
        };
        for only in [Gzip, Uncompressed, Zstd] {
            assert_eq!(certain(&[&[only]], false), Some(set(&[only])), "{only}");
            assert_eq!(certain(&[&[only]], true), None, "{only}");
        }
        assert_eq!(certain(&[&[Gzip, Zstd]], false), Some(set(&[Gzip, Zstd])));
        assert_eq!(certain(&[&[Gzip, Uncompressed]], false), None);
        assert_eq!(certain(&[&[Gzip], &[Zstd]], false), None);
        assert_eq!(certain(&[], false), None);
    }
}
