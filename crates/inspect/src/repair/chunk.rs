//! Which pages may be a column chunk of a leaf, found out by decoding them.

use herringbone_core::budget::Budget;
use herringbone_core::page::PageStart;
use herringbone_core::physical::PageDecoder;
use herringbone_format::{CompressionCodec, Error, ErrorKind, Limits, Remedy, Result};
use herringbone_schema::Leaf;

use super::scan::{FoundPage, FoundPages, Gap};
use herringbone::source::Source;

/// In the order in which they are tried. UNCOMPRESSED decodes pages that did not shrink under
/// another codec, so what counts is how many pages can be decoded.
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

/// Pages that can be decoded as a column chunk of a leaf.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) codec: CompressionCodec,
    /// Where the chunk may end: behind each of its data pages.
    pub(super) ends: Vec<End>,
}

/// A place where a column chunk may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    /// Pages up to there, a dictionary page included.
    pub(super) pages: usize,
    /// Rows and levels up to there.
    pub(super) rows: u64,
    pub(super) levels: u64,
    /// The last row is certainly complete: pages of version 1 may end inside of a list.
    pub(super) whole_rows: bool,
}

/// Decodes pages as those of one leaf.
pub(super) struct Trials<'a> {
    source: &'a dyn Source,
    limits: &'a Limits,
    /// Who wrote the file, if that is known.
    pub(super) created_by: Option<&'a str>,
    /// Nothing is missing behind the last page.
    end_is_known: bool,
    /// Bytes behind the values of a PLAIN page that do not matter.
    pub(super) slack: usize,
    /// The codec that worked last.
    last: Option<CompressionCodec>,
    /// Pages that may still be decoded, so that the time is bounded by the pages there are.
    budget: usize,
}

impl<'a> Trials<'a> {
    pub(super) fn new(source: &'a dyn Source, limits: &'a Limits, found: &FoundPages) -> Self {
        let pages = found.pages.len();
        Self {
            source,
            limits,
            created_by: None,
            end_is_known: found.end_is_known,
            slack: 0,
            last: None,
            budget: 10_000_usize.saturating_add(pages.saturating_mul(64)),
        }
    }

    /// What can be made of the first of `pages` as a column chunk of `leaf`; `None` if nothing.
    ///
    /// # Errors
    /// Io; Limit where too much was tried.
    pub(super) fn chunk(&mut self, pages: &[FoundPage], leaf: &Leaf) -> Result<Option<Trial>> {
        let mut best: Option<Trial> = None;
        for codec in self.last.into_iter().chain(CODECS) {
            let trial = self.with_codec(pages, leaf, codec)?;
            let longest = best.as_ref().map_or(0, |best| best.ends.len());
            if trial.ends.len() > longest {
                let complete = trial.ends.last().map_or(0, |end| end.pages);
                best = Some(trial);
                // Up to where nothing of this chunk can come.
                if pages.get(complete).is_none_or(FoundPage::is_dictionary) {
                    break;
                }
            }
        }
        if let Some(best) = &best {
            self.last = Some(best.codec);
        }
        Ok(best)
    }

    fn with_codec(
        &mut self,
        pages: &[FoundPage],
        leaf: &Leaf,
        codec: CompressionCodec,
    ) -> Result<Trial> {
        let mut trial = Trial {
            codec,
            ends: Vec::new(),
        };
        let (limits, budget) = (self.limits.clone(), Budget::new(self.limits));
        let Ok(mut decoder) = PageDecoder::new(leaf, codec, self.created_by, limits, &budget)
        else {
            return Ok(trial);
        };
        let (mut rows, mut levels) = (0, 0);
        let mut before = None;
        for (ordinal, page) in pages.iter().enumerate() {
            let follows = before.is_none_or(|end| end == page.offset);
            if !follows || !page.intact || (page.is_dictionary() && ordinal > 0) {
                break;
            }
            before = Some(page.end);
            self.budget = self.budget.checked_sub(1).ok_or_else(too_much)?;
            let Some(decoded) = self.page(&mut decoder, page)? else {
                break;
            };
            if page.is_dictionary() {
                continue;
            }
            match trial.ends.last_mut() {
                Some(last) => last.whole_rows |= decoded.starts_row,
                // No chunk starts inside of a row.
                None if !decoded.starts_row => break,
                None => {}
            }
            rows += decoded.rows;
            levels += page.num_values();
            trial.ends.push(End {
                pages: ordinal + 1,
                rows,
                levels,
                whole_rows: leaf.max_rep_level == 0 || page.header.data_page_header_v2.is_some(),
            });
        }
        if let Some(last) = trial.ends.last_mut() {
            // What comes is another chunk, unless it is damaged.
            last.whole_rows |= match pages.get(last.pages) {
                Some(next) => match next.gap {
                    Gap::None => next.intact,
                    gap => gap != Gap::Unknown,
                },
                None => self.end_is_known,
            };
        }
        Ok(trial)
    }

    /// What is in a page; `None` where it is no page of the leaf.
    fn page(&self, decoder: &mut PageDecoder, page: &FoundPage) -> Result<Option<Decoded>> {
        if decoder.check_sizes(&page.header).is_err() {
            return Ok(None);
        }
        let body = self.source.read(page.body..page.end)?;
        if let Err(error) = decoder.open(&page.header, &PageStart::first(page.offset), body) {
            return wrong_page(error);
        }
        let mut decoded = Decoded {
            rows: 0,
            starts_row: true,
        };
        let mut begun = false;
        loop {
            match decoder.block() {
                Ok(Some(block)) => {
                    if !begun {
                        decoded.starts_row = block.rep.first() == Some(&0);
                        begun = true;
                    }
                    let starts = block.rep.iter().filter(|level| **level == 0);
                    decoded.rows += starts.count() as u64;
                }
                Ok(None) => break,
                Err(error) => return wrong_page(error),
            }
        }
        // Values of a narrower type would leave bytes over.
        let fits = [0, self.slack].contains(&decoder.unused_bytes());
        Ok(fits.then_some(decoded))
    }
}

/// What is in a page.
#[derive(Debug, Clone, Copy)]
struct Decoded {
    /// Rows that start in it.
    rows: u64,
    /// Whether it starts with one.
    starts_row: bool,
}

fn wrong_page(error: Error) -> Result<Option<Decoded>> {
    match error.kind() {
        ErrorKind::Io => Err(error),
        _ => Ok(None),
    }
}

#[cold]
fn too_much() -> Error {
    Error::new(
        ErrorKind::Limit,
        "there are too many ways in which the pages may be column chunks",
    )
    .with_remedy(Remedy::GiveRowGroupRows)
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
}
