//! Tries to decode a page as belonging to a given leaf.

use std::collections::HashMap;

use herringbone_core::budget::Budget;
use herringbone_core::page::PageStart;
use herringbone_core::physical::PageDecoder;
use herringbone_format::{CompressionCodec, Error, ErrorKind, Limits, Result, Type};
use herringbone_schema::Leaf;

use super::scan::FoundPage;
use herringbone::source::Source;

/// The maximum number of trial decodings per page. This bounds the time.
const TRIALS_PER_PAGE: usize = 64;
/// The number of trial decodings allowed even for few pages.
const MIN_TRIALS: usize = 10_000;
/// The maximum number of cached decoders. Each decoder can hold a dictionary, so this bounds the
/// memory.
const MAX_DECODERS: usize = 16;

/// The result of decoding a page as some leaf's page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fit {
    /// The number of rows that start in the page.
    pub(super) rows: u64,
    /// The number of levels, or of dictionary entries.
    pub(super) levels: u64,
    /// True if the first level starts a row.
    pub(super) starts_row: bool,
    /// True if the last row ends with the page.
    pub(super) ends_row: bool,
}

/// One way to decode a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Candidate {
    pub(super) page: usize,
    pub(super) codec: CompressionCodec,
    /// The chunk's dictionary page, if there is one before this page.
    pub(super) dictionary: Option<usize>,
}

/// The properties of a leaf that affect decoding. Leaves with the same shape share cached results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Shape {
    physical_type: Type,
    type_length: usize,
    max_def_level: u8,
    max_rep_level: u8,
}

impl Shape {
    fn of(leaf: &Leaf) -> Self {
        Self {
            physical_type: leaf.physical_type,
            type_length: leaf.type_length,
            max_def_level: leaf.max_def_level,
            max_rep_level: leaf.max_rep_level,
        }
    }
}

/// A decoder and the page of its dictionary.
struct Decoder {
    decoder: PageDecoder,
    dictionary: Option<usize>,
}

/// Decodes pages and caches the results, so that each interpretation is only decoded once.
pub(super) struct Fits<'a> {
    source: &'a dyn Source,
    limits: &'a Limits,
    pages: &'a [FoundPage],
    created_by: Option<&'a str>,
    known: HashMap<(Candidate, Shape), Option<Fit>>,
    decoders: HashMap<(CompressionCodec, Shape, bool), Decoder>,
    trials_left: usize,
    /// True if pages are allowed to end with padding. Without a footer, only a row group's other
    /// columns show that the padding has no rows, so this requires several columns.
    accepts_padding: bool,
}

impl<'a> Fits<'a> {
    pub(super) fn new(
        source: &'a dyn Source,
        limits: &'a Limits,
        pages: &'a [FoundPage],
        created_by: Option<&'a str>,
        accepts_padding: bool,
    ) -> Self {
        Self {
            accepts_padding,
            source,
            limits,
            pages,
            created_by,
            known: HashMap::new(),
            decoders: HashMap::new(),
            trials_left: pages
                .len()
                .saturating_mul(TRIALS_PER_PAGE)
                .saturating_add(MIN_TRIALS),
        }
    }

    /// Decodes the page as belonging to `leaf`. Returns `None` if it can't.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if the source fails, and with [`ErrorKind::Limit`] if too many
    /// pages were decoded.
    pub(super) fn fit(&mut self, candidate: Candidate, leaf: &Leaf) -> Result<Option<Fit>> {
        let key = (candidate, Shape::of(leaf));
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let fit = self.decoded(candidate, leaf)?;
        self.known.insert(key, fit);
        Ok(fit)
    }

    fn decoded(&mut self, candidate: Candidate, leaf: &Leaf) -> Result<Option<Fit>> {
        let Candidate {
            page,
            codec,
            dictionary,
        } = candidate;
        let key = (codec, Shape::of(leaf), dictionary.is_some());
        let kept = self.decoders.remove(&key);
        let mut decoder = match kept.filter(|kept| kept.dictionary == dictionary) {
            Some(kept) => kept,
            None => {
                let Some(decoder) = self.decoder(candidate, leaf)? else {
                    return Ok(None);
                };
                decoder
            }
        };
        let fit = self.page(&mut decoder.decoder, page)?;
        let is_dictionary = self.pages.get(page).is_some_and(FoundPage::is_dictionary);
        // Decoding a dictionary page loads it into the decoder, so we don't reuse that decoder for
        // other pages.
        if !is_dictionary && self.decoders.len() < MAX_DECODERS {
            self.decoders.insert(key, decoder);
        } else if !is_dictionary {
            self.decoders.clear();
        }
        Ok(fit)
    }

    /// Creates a decoder with the candidate's dictionary.
    fn decoder(&mut self, candidate: Candidate, leaf: &Leaf) -> Result<Option<Decoder>> {
        let (limits, budget) = (self.limits.clone(), Budget::new(self.limits));
        let decoder =
            PageDecoder::with_budget(leaf, candidate.codec, self.created_by, limits, &budget);
        let Ok(mut decoder) = decoder else {
            return Ok(None);
        };
        if let Some(page) = candidate.dictionary
            && self.page(&mut decoder, page)?.is_none()
        {
            return Ok(None);
        }
        Ok(Some(Decoder {
            decoder,
            dictionary: candidate.dictionary,
        }))
    }

    /// Decodes a whole page. Returns `None` if the page doesn't fit the decoder's leaf.
    fn page(&mut self, decoder: &mut PageDecoder, page: usize) -> Result<Option<Fit>> {
        self.trials_left = self.trials_left.checked_sub(1).ok_or_else(too_much)?;
        let Some(page) = self.pages.get(page) else {
            return Ok(None);
        };
        if decoder.check_sizes(&page.header).is_err() {
            return Ok(None);
        }
        let body = self.source.read(page.body..page.end)?;
        if let Err(error) = decoder.open(&page.header, &PageStart::first(page.offset), body) {
            return wrong_page(error);
        }
        let mut rows = 0;
        let mut first = None;
        loop {
            match decoder.block() {
                Ok(Some(block)) => {
                    first = first.or(block.rep.first().copied());
                    rows += block.rep.iter().filter(|level| **level == 0).count() as u64;
                }
                Ok(None) => break,
                Err(error) => return wrong_page(error),
            }
        }
        let v2 = page.header.data_page_header_v2.as_ref();
        // hangxie's library leaves the row count at 0.
        let other_rows = v2
            .is_some_and(|v2| !matches!(u64::try_from(v2.num_rows), Ok(n) if n == rows || n == 0));
        // Decoding values of a wider type as a narrower type leaves unused bytes.
        if other_rows || decoder.check_unused_bytes().is_err() {
            return Ok(None);
        }
        if decoder.may_have_more_levels() && !self.accepts_padding {
            return Ok(None);
        }
        Ok(Some(Fit {
            rows,
            levels: page.num_values(),
            starts_row: first.is_none_or(|level| level == 0),
            ends_row: v2.is_some(),
        }))
    }
}

fn wrong_page(error: Error) -> Result<Option<Fit>> {
    match error.is_of_source() {
        true => Err(error),
        false => Ok(None),
    }
}

/// Returns the error for too many trials.
#[cold]
pub(super) fn too_much() -> Error {
    Error::new(
        ErrorKind::Limit,
        "the pages may form column chunks in too many ways",
    )
}
