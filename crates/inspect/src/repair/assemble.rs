//! Assembles row groups from pages. A row group's column chunks follow each other in leaf order and
//! all have the same row count.
//!
//! Pages can often be interpreted in several ways. For example, a page after a dictionary chunk
//! might end that chunk or be the next one, and several row groups with columns of one type might
//! also be a single row group. So we follow all ways that explain the most pages:
//!
//! ```text
//! [ pages, undamaged ]  damage  [ pages, undamaged ]  damage  [ pages, undamaged ]  footer
//!  ^ a row group starts          nothing is known              a row group ends ^
//! ```
//!
//! In the first part of the file, all ways start with a row group. In the last part, they end with
//! a row group if the end of the file is present, but can start inside any column chunk. We only
//! accept a row group that all of these ways agree on, since anything else would be a guess. In the
//! parts between, we only accept pages if the file has a single column.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use herringbone_format::{CompressionCodec, Remedy, Result};
use herringbone_schema::ParquetSchema;

use super::readings::{FoundChunk, Reading, Readings, RowGroupReadings};
use super::scan::{FoundPage, FoundPages};

/// Pages that form a row group.
#[derive(Debug)]
pub(super) struct FoundRowGroup {
    pub(super) pages: Range<usize>,
    pub(super) rows: u64,
    /// The column chunks, one per leaf.
    pub(super) chunks: Vec<FoundChunk>,
}

/// Pages with several interpretations.
#[derive(Debug)]
pub(super) struct Ambiguity {
    pub(super) pages: Range<usize>,
    /// The candidate row counts per row group, or empty if there are too many ways to try.
    pub(super) rows: BTreeSet<u64>,
    /// The candidate codecs, if there are several.
    pub(super) codecs: Vec<CompressionCodec>,
    /// The option that resolves the ambiguity, if there is one.
    pub(super) remedy: Option<Remedy>,
}

impl Ambiguity {
    fn new(pages: Range<usize>, rows: impl IntoIterator<Item = u64>) -> Self {
        Self {
            pages,
            rows: rows.into_iter().collect(),
            codecs: Vec::new(),
            remedy: None,
        }
    }
}

/// The result of assembling all pages.
#[derive(Debug, Default)]
pub(super) struct Assembled {
    /// The row groups in page order.
    pub(super) row_groups: Vec<FoundRowGroup>,
    pub(super) ambiguities: Vec<Ambiguity>,
}

/// Assembles row groups from pages.
pub(super) struct Assembly<'a> {
    num_leaves: usize,
    found: &'a FoundPages,
    readings: Readings<'a>,
    assembled: Assembled,
}

/// The ways to interpret a part of the file, keyed by candidate start pages of row groups.
type Starts = BTreeMap<usize, RowGroupReadings>;

impl<'a> Assembly<'a> {
    pub(super) fn new(
        schema: &ParquetSchema,
        found: &'a FoundPages,
        readings: Readings<'a>,
    ) -> Self {
        Self {
            num_leaves: schema.leaves().len(),
            found,
            readings,
            assembled: Assembled::default(),
        }
    }

    /// Returns all row groups that are certain.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails.
    pub(super) fn run(mut self) -> Result<Assembled> {
        for part in undamaged(self.found) {
            let pages = part.clone();
            match self.part(part) {
                Err(error) if error.is_of_source() => return Err(error),
                Err(_) => {
                    let ambiguity = Ambiguity::new(pages, []);
                    self.assembled.ambiguities.push(ambiguity);
                }
                Ok(()) => {}
            }
        }
        Ok(self.assembled)
    }

    fn part(&mut self, part: Range<usize>) -> Result<()> {
        match self.num_leaves {
            0 => return Ok(()),
            1 => return self.single_column(part),
            _ => {}
        }
        let pages = &self.found.pages;
        let ends_file = part.end == pages.len() && self.found.end_is_known;
        let starts_file =
            part.start == 0 && pages.first().is_some_and(|page| !page.is_behind_damage());
        if !starts_file {
            return match ends_file {
                true => self.last_part(part),
                false => Ok(()),
            };
        }
        let is_complete = self.first_part(part.clone(), ends_file)?;
        if is_complete || !ends_file {
            return Ok(());
        }
        // No way reaches the end of this part, so it must contain undetected damage. We treat
        // everything after the accepted row groups as the last part of a damaged file.
        let last = self.assembled.row_groups.last();
        let taken = last.map_or(part.start, |last| last.pages.end);
        self.last_part(taken + 1..part.end)
    }

    /// Accepts the pages of a file with a single column. Its row groups can end anywhere, since
    /// there are no other columns to agree with.
    fn single_column(&mut self, part: Range<usize>) -> Result<()> {
        let mut start = part.start;
        while start < part.end {
            let longest = self.readings.longest(start, part.end)?;
            match longest[..] {
                [] => start += 1,
                [only] => {
                    start = only.end;
                    if only.rows > 0 {
                        self.take(only, part.end)?;
                    }
                }
                [first, ..] => {
                    start = first.end;
                    let ambiguity = Ambiguity::new(first.start..first.end, [first.rows]);
                    self.assembled.ambiguities.push(ambiguity);
                }
            }
        }
        Ok(())
    }

    /// Accepts row groups from a part known to start with a row group. Returns false if no way
    /// reaches the end of the file.
    fn first_part(&mut self, part: Range<usize>, ends_file: bool) -> Result<bool> {
        let mut starts = Starts::new();
        self.follow(&mut starts, [part.start], part.end)?;
        let whole = starts.values().flat_map(|start| &start.whole);
        let ends: BTreeSet<usize> = whole.map(|whole| whole.end).collect();
        if ends_file && ends.contains(&part.end) {
            let ways = Ways::new(&starts, part.end, None);
            self.take_certain(&ways, &[], part.end)?;
            return Ok(true);
        }
        let unfinished = starts.values().map(|start| start.unfinished);
        let furthest = unfinished.chain(ends).max().unwrap_or(part.start);
        let ways = Ways::new(&starts, furthest, Some(furthest));
        self.take_certain(&ways, &[], part.end)?;
        Ok(false)
    }

    /// Accepts row groups from a part known to end with a row group. The part can start anywhere.
    fn last_part(&mut self, part: Range<usize>) -> Result<()> {
        let mut starts = Starts::new();
        for first in part.clone() {
            let rests = self.rests(first, part.end)?;
            self.follow(&mut starts, rests.iter().copied(), part.end)?;
            let mut ways = Ways::new(&starts, part.end, None);
            let rests = rests.into_iter().filter(|end| ways.leads.contains(end));
            let rests: Vec<_> = rests.map(|end| first..end).collect();
            if rests.is_empty() {
                continue;
            }
            ways.start_after(&rests);
            return self.take_certain(&ways, &rests, part.end);
        }
        Ok(())
    }

    /// Returns the candidate ends of the row group that contains page `first`, as the pages after
    /// it. This includes `first` itself, since a row group might start there.
    fn rests(&mut self, first: usize, stop: usize) -> Result<BTreeSet<usize>> {
        let mut ends = BTreeSet::from([first]);
        for leaf in 0..self.num_leaves {
            let mut next = first;
            let mut rows = 0_u64;
            loop {
                if leaf + 1 == self.num_leaves {
                    ends.insert(next);
                } else {
                    let rest = self.readings.rests(leaf + 1, next, stop)?;
                    // If these pages were a complete first column chunk, they would start a row
                    // group. Since they're only the rest of a chunk, the row group has at least one
                    // more row.
                    let least = rows + u64::from(leaf == 0 && next > first);
                    let fits = rest.whole.iter().filter(|whole| whole.rows >= least);
                    ends.extend(fits.map(|fit| fit.end));
                }
                let is_one =
                    next == first || self.found.pages.get(next).is_some_and(FoundPage::goes_on);
                if next >= stop || !is_one {
                    break;
                }
                let Some(more) = self.readings.rows_of_rest(next, leaf)? else {
                    break;
                };
                rows = rows.saturating_add(more);
                if rows > self.readings.most_rows() {
                    break;
                }
                next += 1;
            }
        }
        Ok(ends)
    }

    /// Finds all candidate row groups that start at the pages `from`, and transitively all that can
    /// follow.
    fn follow(
        &mut self,
        starts: &mut Starts,
        from: impl IntoIterator<Item = usize>,
        stop: usize,
    ) -> Result<()> {
        let mut work: BTreeSet<usize> = from.into_iter().collect();
        while let Some(start) = work.pop_first() {
            if start >= stop || starts.contains_key(&start) {
                continue;
            }
            let readings = self.readings.row_groups(start, stop)?;
            work.extend(readings.whole.iter().map(|whole| whole.end));
            starts.insert(start, readings);
        }
        Ok(())
    }

    /// Accepts the row groups common to all ways. `rests` are the leftover pages of row groups that
    /// started before this part.
    fn take_certain(&mut self, ways: &Ways<'_>, rests: &[Range<usize>], stop: usize) -> Result<()> {
        let mut readings: Vec<Reading> = Vec::new();
        let mut covers: Vec<Range<usize>> = rests.to_vec();
        for (start, found) in ways
            .starts
            .iter()
            .filter(|start| ways.leads.contains(start.0))
        {
            readings.extend(
                found
                    .whole
                    .iter()
                    .filter(|whole| ways.leads.contains(&whole.end)),
            );
            if ways.unfinished == Some(found.unfinished) {
                covers.push(*start..found.unfinished);
            }
        }
        covers.extend(readings.iter().map(|reading| reading.start..reading.end));
        let counts = Counts::new(covers);
        readings.sort_by_key(|reading| (reading.start, reading.end));
        let mut ambiguity: Option<Ambiguity> = None;
        for reading in readings {
            if counts.at(reading.start) == 1 {
                self.assembled.ambiguities.extend(ambiguity.take());
                self.take(reading, stop)?;
                continue;
            }
            let ambiguity =
                ambiguity.get_or_insert_with(|| Ambiguity::new(reading.start..reading.end, []));
            ambiguity.pages.end = ambiguity.pages.end.max(reading.end);
            ambiguity.rows.insert(reading.rows);
        }
        self.assembled.ambiguities.extend(ambiguity);
        Ok(())
    }

    fn take(&mut self, reading: Reading, stop: usize) -> Result<()> {
        let chunks = self.readings.chunks_of(reading, stop)?;
        self.assembled.row_groups.push(FoundRowGroup {
            pages: reading.start..reading.end,
            rows: reading.rows,
            chunks,
        });
        Ok(())
    }
}

/// Returns the undamaged parts of a file as ranges of pages.
fn undamaged(found: &FoundPages) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    for (ordinal, page) in found.pages.iter().enumerate() {
        if !page.intact {
            continue;
        }
        match parts.last_mut() {
            Some(part) if part.end == ordinal && !page.is_behind_damage() => part.end = ordinal + 1,
            _ => parts.push(ordinal..ordinal + 1),
        }
    }
    parts
}

/// The ways to interpret a part of a file.
struct Ways<'a> {
    starts: &'a Starts,
    /// The end page of an unfinished row group, if the ways are allowed to end with one.
    unfinished: Option<usize>,
    /// The pages from which row groups lead to the end, including the end itself.
    leads: BTreeSet<usize>,
}

impl<'a> Ways<'a> {
    /// Finds the ways that lead to page `end` or to an unfinished row group ending at page
    /// `unfinished`.
    fn new(starts: &'a Starts, end: usize, unfinished: Option<usize>) -> Self {
        let mut leads = BTreeSet::from([end]);
        for (start, found) in starts.iter().rev() {
            let is_unfinished = unfinished == Some(found.unfinished);
            if is_unfinished || found.whole.iter().any(|whole| leads.contains(&whole.end)) {
                leads.insert(*start);
            }
        }
        Self {
            starts,
            unfinished,
            leads,
        }
    }

    /// Keeps only the ways that start after one of the `rests`.
    fn start_after(&mut self, rests: &[Range<usize>]) {
        let mut reachable: BTreeSet<usize> = rests.iter().map(|rest| rest.end).collect();
        for (start, found) in self.starts {
            if reachable.contains(start) {
                reachable.extend(found.whole.iter().map(|whole| whole.end));
            }
        }
        self.leads.retain(|start| reachable.contains(start));
    }
}

/// Counts how many ranges cover each page, stored as count changes keyed by page.
struct Counts(BTreeMap<usize, i64>);

impl Counts {
    fn new(ranges: Vec<Range<usize>>) -> Self {
        let mut counts = BTreeMap::new();
        for range in ranges {
            *counts.entry(range.start).or_default() += 1;
            *counts.entry(range.end).or_default() -= 1;
        }
        let mut sum = 0;
        for change in counts.values_mut() {
            sum += *change;
            *change = sum;
        }
        Self(counts)
    }

    fn at(&self, page: usize) -> i64 {
        let before = self.0.range(..=page).next_back();
        before.map_or(0, |(_, count)| *count)
    }
}
