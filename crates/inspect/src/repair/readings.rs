//! Enumerates the possible readings of pages.

use herringbone_format::{CompressionCodec, Result};
use herringbone_schema::{Leaf, ParquetSchema};

use super::codecs::{CodecSet, Codecs};
use super::fit::{Candidate, Fit, Fits, too_much};
use super::scan::{FoundPage, FoundPages, Gap};

/// The maximum number of steps per page. This bounds the time.
const STEPS_PER_PAGE: usize = 1_000;
/// The number of steps allowed even for few pages.
const MIN_STEPS: usize = 1_000_000;
/// The absolute maximum number of steps. Results are cached, so this bounds the memory.
const MAX_STEPS: usize = 20_000_000;

/// A possible column chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChunkReading {
    /// The first page after the column chunk.
    pub(super) end: usize,
    pub(super) rows: u64,
    pub(super) levels: u64,
    /// A set of codecs with the same values.
    codecs: CodecSet,
    /// True if the last row would continue on the next page, provided that the page belongs to this
    /// column chunk.
    is_continued: bool,
}

/// The candidate column chunks starting at a page.
#[derive(Debug, Default)]
struct ChunkReadings {
    whole: Vec<ChunkReading>,
    /// The furthest end page of an unfinished column chunk.
    unfinished: usize,
}

/// A possible row group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) start: usize,
    /// The first page after the row group.
    pub(super) end: usize,
    pub(super) rows: u64,
}

/// The candidate row groups starting at a page.
#[derive(Debug, Default, Clone)]
pub(super) struct RowGroupReadings {
    pub(super) whole: Vec<Reading>,
    /// The furthest end page of an unfinished row group.
    pub(super) unfinished: usize,
}

/// A column chunk of an accepted row group.
#[derive(Debug)]
pub(super) struct FoundChunk {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) codec: CompressionCodec,
    pub(super) levels: u64,
}

/// A column chunk that can still grow by further pages.
#[derive(Clone, Copy)]
struct Unfinished {
    next: usize,
    rows: u64,
    levels: u64,
    codecs: CodecSet,
    has_data: bool,
    /// The index of the complete column chunk ending here, if any.
    whole: Option<usize>,
}

/// Finds the possible ways to read pages.
pub(super) struct Readings<'a> {
    schema: &'a ParquetSchema,
    pages: &'a [FoundPage],
    end_is_known: bool,
    codecs: &'a Codecs,
    fits: Fits<'a>,
    /// The row count per row group. The last row group can have fewer rows.
    row_group_rows: Option<u64>,
    steps_left: usize,
}

impl<'a> Readings<'a> {
    pub(super) fn new(
        schema: &'a ParquetSchema,
        found: &'a FoundPages,
        codecs: &'a Codecs,
        fits: Fits<'a>,
        row_group_rows: Option<u64>,
    ) -> Self {
        let pages = &found.pages;
        Self {
            schema,
            pages,
            end_is_known: found.end_is_known,
            codecs,
            fits,
            row_group_rows,
            steps_left: pages
                .len()
                .saturating_mul(STEPS_PER_PAGE)
                .saturating_add(MIN_STEPS)
                .min(MAX_STEPS),
        }
    }

    /// Returns all candidate row groups that start at page `start` and end before page `stop`.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails, and with
    /// [`ErrorKind::Limit`](herringbone::ErrorKind::Limit) if there are too many ways.
    pub(super) fn row_groups(&mut self, start: usize, stop: usize) -> Result<RowGroupReadings> {
        self.rests(0, start, stop)
    }

    /// Returns all candidate ends of a row group, given that its column chunks for `leaf` and later
    /// leaves start at page `start`.
    pub(super) fn rests(
        &mut self,
        leaf: usize,
        start: usize,
        stop: usize,
    ) -> Result<RowGroupReadings> {
        let num_leaves = self.schema.leaves().len();
        let mut found = RowGroupReadings {
            whole: Vec::new(),
            unfinished: start,
        };
        let mut work = vec![(leaf, start, None)];
        while let Some((leaf, next, rows)) = work.pop() {
            if leaf == num_leaves {
                let rows = rows.unwrap_or_default();
                if self.may_have(rows, next) {
                    found.whole.push(Reading {
                        start,
                        end: next,
                        rows,
                    });
                }
                continue;
            }
            let chunks = self.chunks(leaf, next, stop, rows)?;
            found.unfinished = found.unfinished.max(chunks.unfinished);
            for chunk in chunks.whole {
                if leaf + 1 < num_leaves {
                    found.unfinished = found.unfinished.max(chunk.end);
                }
                work.push((leaf + 1, chunk.end, Some(chunk.rows)));
            }
        }
        Ok(found)
    }

    /// Returns the column chunks of an unambiguous row group.
    pub(super) fn chunks_of(&mut self, reading: Reading, stop: usize) -> Result<Vec<FoundChunk>> {
        let num_leaves = self.schema.leaves().len();
        let mut path: Vec<FoundChunk> = Vec::new();
        let first = self.chunks(0, reading.start, stop, Some(reading.rows))?;
        let mut choices = vec![(reading.start, first.whole.into_iter())];
        while let Some((start, choice)) = choices.last_mut() {
            let start = *start;
            let Some(chunk) = choice.next() else {
                choices.pop();
                path.pop();
                continue;
            };
            let leaf = path.len();
            path.push(FoundChunk {
                start,
                end: chunk.end,
                codec: self.codecs.one_of(chunk.codecs, leaf),
                levels: chunk.levels,
            });
            if path.len() < num_leaves {
                let next = self.chunks(leaf + 1, chunk.end, stop, Some(reading.rows))?;
                choices.push((chunk.end, next.whole.into_iter()));
            } else if chunk.end == reading.end {
                break;
            } else {
                path.pop();
            }
        }
        Ok(path)
    }

    /// Returns the longest column chunk that starts at page `start`, for a file with a single
    /// column. Returns several if codecs lead to different values.
    pub(super) fn longest(&mut self, start: usize, stop: usize) -> Result<Vec<Reading>> {
        let mut chunks = self.chunks(0, start, stop, None)?.whole;
        chunks.retain(|chunk| !chunk.is_continued);
        let end = chunks.iter().map(|chunk| chunk.end).max();
        let longest = chunks.iter().filter(|chunk| Some(chunk.end) == end);
        Ok(longest
            .map(|chunk| Reading {
                start,
                end: chunk.end,
                rows: chunk.rows,
            })
            .collect())
    }

    /// Returns a page's row count, assuming that it continues an earlier column chunk of `leaf`.
    /// Returns `None` if it can't. Note that we know neither that chunk's codec nor its dictionary.
    pub(super) fn rows_of_rest(&mut self, page: usize, leaf: usize) -> Result<Option<u64>> {
        self.step()?;
        let Some((header, leaf_type)) = self.pages.get(page).zip(self.leaf(leaf)) else {
            return Ok(None);
        };
        if header.is_dictionary() {
            return Ok(None);
        }
        if header.refers_to_dictionary() {
            let v2 = header.header.data_page_header_v2.as_ref();
            let rows = match (leaf_type.max_rep_level, v2) {
                (0, _) => header.num_values(),
                (_, Some(v2)) => u64::try_from(v2.num_rows).unwrap_or_default(),
                (_, None) => 0,
            };
            return Ok(Some(rows));
        }
        for class in self.codecs.classes(page, leaf, CodecSet::ALL) {
            if let Some(fit) = self.fit(page, leaf, class, None)? {
                return Ok(Some(fit.rows));
            }
        }
        Ok(None)
    }

    /// Returns the maximum row count of a row group.
    pub(super) fn most_rows(&self) -> u64 {
        self.row_group_rows.unwrap_or(u64::MAX)
    }

    /// Returns true if this row count is possible for a row group that ends before page `end`.
    fn may_have(&self, rows: u64, end: usize) -> bool {
        let is_last = end == self.pages.len();
        let fits = |wanted| rows == wanted || (rows < wanted && is_last);
        rows > 0 && self.row_group_rows.is_none_or(fits)
    }

    /// Returns the candidate column chunks of `leaf` starting at page `start`. If `rows` is known,
    /// they have exactly that many rows.
    fn chunks(
        &mut self,
        leaf: usize,
        start: usize,
        stop: usize,
        rows: Option<u64>,
    ) -> Result<ChunkReadings> {
        let mut found = ChunkReadings {
            whole: Vec::new(),
            unfinished: start,
        };
        let is_last_leaf = leaf + 1 == self.schema.leaves().len();
        let most = rows.unwrap_or_else(|| self.most_rows());
        let first = self.pages.get(start).filter(|_| start < stop);
        let dictionary = first.is_some_and(FoundPage::is_dictionary).then_some(start);
        let mut work = vec![Unfinished {
            next: start,
            rows: 0,
            levels: 0,
            codecs: CodecSet::ALL,
            has_data: false,
            whole: None,
        }];
        while let Some(chunk) = work.pop() {
            let page = chunk.next;
            if page >= stop || (page > start && !self.goes_on(page)) {
                continue;
            }
            for class in self.codecs.classes(page, leaf, chunk.codecs) {
                self.step()?;
                let dictionary = dictionary.filter(|dictionary| *dictionary < page);
                let Some(fit) = self.fit(page, leaf, class, dictionary)? else {
                    continue;
                };
                let Some(mut longer) =
                    chunk.followed_by(fit, class, dictionary.is_none() && self.is_dictionary(page))
                else {
                    continue;
                };
                if longer.rows > most {
                    continue;
                }
                let before = chunk.whole.and_then(|whole| found.whole.get_mut(whole));
                if let Some(before) = before.filter(|_| !fit.starts_row) {
                    before.is_continued = true;
                }
                let is_whole = longer.has_data
                    && rows.is_none_or(|rows| rows == longer.rows)
                    && (fit.ends_row || self.ends_row(leaf, longer.next, stop))
                    && !self.is_empty_page(longer.next, stop);
                longer.whole = is_whole.then_some(found.whole.len());
                if is_whole {
                    found.whole.push(longer.ended());
                }
                if !is_whole || !is_last_leaf || rows.is_none() {
                    found.unfinished = found.unfinished.max(longer.next);
                }
                work.push(longer);
            }
        }
        Ok(found)
    }

    fn goes_on(&self, page: usize) -> bool {
        self.pages.get(page).is_some_and(FoundPage::goes_on)
    }

    fn is_dictionary(&self, page: usize) -> bool {
        self.pages.get(page).is_some_and(FoundPage::is_dictionary)
    }

    /// Returns true if the page has no values. Such a page counts as part of the previous column
    /// chunk.
    fn is_empty_page(&self, page: usize, stop: usize) -> bool {
        let next = self.pages.get(page).filter(|_| page < stop);
        next.is_some_and(|next| next.num_values() == 0) && self.goes_on(page)
    }

    /// Returns true if the last row before page `next` certainly ends there. This isn't a given,
    /// because version 1 pages can end inside a list.
    fn ends_row(&self, leaf: usize, next: usize, stop: usize) -> bool {
        let is_flat = self.leaf(leaf).is_some_and(|leaf| leaf.max_rep_level == 0);
        is_flat
            || next < stop
            || match self.pages.get(next) {
                Some(page) => page.gap == Gap::Known || page.gap == Gap::KnownAtFirst,
                None => self.end_is_known,
            }
    }

    fn fit(
        &mut self,
        page: usize,
        leaf: usize,
        class: CodecSet,
        dictionary: Option<usize>,
    ) -> Result<Option<Fit>> {
        let candidate = Candidate {
            page,
            codec: self.codecs.one_of(class, leaf),
            dictionary,
        };
        match self.schema.leaves().get(leaf) {
            Some(leaf) => self.fits.fit(candidate, leaf),
            None => Ok(None),
        }
    }

    fn leaf(&self, leaf: usize) -> Option<&Leaf> {
        self.schema.leaves().get(leaf)
    }

    fn step(&mut self) -> Result<()> {
        self.steps_left = self.steps_left.checked_sub(1).ok_or_else(too_much)?;
        Ok(())
    }
}

impl Unfinished {
    /// Returns the column chunk that ends here.
    fn ended(self) -> ChunkReading {
        ChunkReading {
            end: self.next,
            rows: self.rows,
            levels: self.levels,
            codecs: self.codecs,
            is_continued: false,
        }
    }

    /// Extends the column chunk by a page. Returns `None` if the page can't be a column chunk's
    /// first data page.
    fn followed_by(self, fit: Fit, codecs: CodecSet, is_dictionary: bool) -> Option<Self> {
        let longer = Self {
            next: self.next + 1,
            codecs,
            ..self
        };
        if is_dictionary {
            return Some(longer);
        }
        (self.has_data || fit.starts_row).then(|| Self {
            rows: self.rows.saturating_add(fit.rows),
            levels: self.levels.saturating_add(fit.levels),
            has_data: true,
            ..longer
        })
    }
}
