//! Row groups out of pages: in a file the column chunks of a row group lie one behind the other, in
//! the order of the leaves, and all have equally many rows.
//!
//! Where a page is missing, those behind it may look like a row group although they are the end of
//! one and the start of the next. So row groups are only looked for where it is certain that one
//! starts or ends: from the first page on, up to the first damage, and from the last page back, up
//! to the last damage.
//!
//! Neighbouring leaves of one type without dictionaries may be cut apart in several ways. Damage can
//! leave only a wrong one of them. So with damage, each column chunk has to end where its leaf's
//! pages end: at a dictionary page, or at a page that cannot be one of the leaf.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use herringbone_format::{
    ColumnChunk, ColumnMetaData, CompressionCodec, Encoding, Error, ErrorKind, Remedy, Result,
    RowGroup,
};
use herringbone_schema::{Leaf, ParquetSchema};

use super::chunk::{End, Trial, Trials};
use super::scan::{FoundPage, FoundPages};

/// Pages that are a row group.
#[derive(Debug)]
struct FoundRowGroup {
    rows: u64,
    /// Of each leaf: its pages, codec and levels.
    chunks: Vec<FoundChunk>,
    /// No column chunk could be longer.
    definite: bool,
}

impl FoundRowGroup {
    fn pages(&self) -> Range<usize> {
        let start = self.chunks.first().map_or(0, |chunk| chunk.pages.start);
        start..self.chunks.last().map_or(start, |chunk| chunk.pages.end)
    }
}

#[derive(Debug, Clone)]
struct FoundChunk {
    pages: Range<usize>,
    codec: CompressionCodec,
    levels: u64,
}

/// Puts pages together.
pub(super) struct Assembly<'a> {
    schema: &'a ParquetSchema,
    pages: &'a [FoundPage],
    end_is_known: bool,
    trials: Trials<'a>,
    /// How many rows row groups have, where the caller knows; the last one may have fewer.
    row_group_rows: Option<u64>,
    /// What was tried already, by first page and leaf.
    known: HashMap<(usize, usize), Option<Trial>>,
}

/// What came of all pages.
#[derive(Debug, Default)]
pub(super) struct Assembled {
    pub(super) row_groups: Vec<RowGroup>,
    /// Pages that are in none of them.
    pub(super) left_over: Range<usize>,
}

impl<'a> Assembly<'a> {
    pub(super) fn new(
        schema: &'a ParquetSchema,
        found: &'a FoundPages,
        trials: Trials<'a>,
        row_group_rows: Option<u64>,
    ) -> Self {
        Self {
            schema,
            pages: &found.pages,
            end_is_known: found.end_is_known,
            trials,
            row_group_rows,
            known: HashMap::new(),
        }
    }

    /// All row groups that certainly are some.
    ///
    /// # Errors
    /// Io; Argument where pages can be put together in several ways, Limit where there are too many.
    pub(super) fn run(mut self) -> Result<Assembled> {
        let whole = |page: &FoundPage| page.intact && !page.is_behind_damage();
        let undamaged = self.end_is_known && self.pages.iter().all(whole);
        let (mut row_groups, mut front) = self.forward(!undamaged)?;
        if undamaged && front < self.pages.len() {
            (row_groups, front) = self.forward(true)?;
        }
        let mut back = self.pages.len();
        let mut from_the_end = Vec::new();
        while self.end_is_known && back > front {
            let found = match self.row_group_before(back, front) {
                // What is found so far is worth more than what may be here.
                Err(error) if error.kind() != ErrorKind::Io => None,
                found => found?,
            };
            let Some(found) = found else { break };
            back = found.pages().start;
            from_the_end.push(self.metadata(&found));
        }
        row_groups.extend(from_the_end.into_iter().rev());
        Ok(Assembled {
            row_groups,
            left_over: front..back,
        })
    }

    /// The row groups from the first page on, and the page behind them.
    fn forward(&mut self, definite: bool) -> Result<(Vec<RowGroup>, usize)> {
        let mut row_groups = Vec::new();
        let mut front = 0;
        while self
            .pages
            .get(front)
            .is_some_and(|page| !page.is_behind_damage())
        {
            let found = self.row_groups_at(front)?;
            let Some(found) = self.only(found, definite)? else {
                break;
            };
            front = found.pages().end;
            row_groups.push(self.metadata(&found));
        }
        Ok((row_groups, front))
    }

    /// The row group that ends in front of page `end`, if one does, and starts at `least` or behind.
    fn row_group_before(&mut self, end: usize, least: usize) -> Result<Option<FoundRowGroup>> {
        let mut found = Vec::new();
        for first in (least..end).rev() {
            let all = self.row_groups_at(first)?;
            found.extend(all.into_iter().filter(|it| it.pages().end == end));
            // A row group does not go on behind it.
            if self
                .pages
                .get(first)
                .is_none_or(|page| page.is_behind_damage() || !page.intact)
            {
                break;
            }
        }
        self.only(found, true)
    }

    /// The one row group that pages can be; with `definite`, not one that may be wrong.
    fn only(&self, mut found: Vec<FoundRowGroup>, definite: bool) -> Result<Option<FoundRowGroup>> {
        found.sort_by_key(|it| it.rows);
        // With one leaf the rows are the same wherever row groups end.
        if self.schema.leaves().len() == 1 {
            return Ok(found.pop());
        }
        let wanted = self.row_group_rows;
        if found.iter().any(|it| Some(it.rows) == wanted) {
            found.retain(|it| Some(it.rows) == wanted);
        } else if definite {
            found.retain(|it| it.definite);
        }
        if found.len() > 1 {
            let offset = found
                .first()
                .and_then(|it| self.pages.get(it.pages().start));
            let mut rows: Vec<String> = found.iter().map(|it| it.rows.to_string()).collect();
            rows.dedup();
            return Err(Error::argument(format!(
                "a row group may have {} rows, its pages do not tell",
                rows.join(" or ")
            ))
            .with_remedy(Remedy::GiveRowGroupRows)
            .at_offset(offset.map_or(0, |page| page.offset)));
        }
        Ok(found.pop())
    }

    /// All row groups that may start with a page.
    fn row_groups_at(&mut self, first: usize) -> Result<Vec<FoundRowGroup>> {
        let Some(leaf) = self.schema.leaves().first() else {
            return Ok(Vec::new());
        };
        let rows: BTreeSet<u64> = match self.trial(first, 0, leaf)? {
            None => return Ok(Vec::new()),
            Some(trial) => trial.ends.iter().map(|end| end.rows).collect(),
        };
        let mut found = Vec::new();
        for rows in rows.into_iter().filter(|rows| *rows > 0) {
            if let Some(row_group) = self.with_rows(first, rows)? {
                found.push(row_group);
            }
        }
        Ok(found)
    }

    /// A row group of so many rows, if the pages can be one.
    fn with_rows(&mut self, first: usize, rows: u64) -> Result<Option<FoundRowGroup>> {
        let schema = self.schema;
        let last_leaf = schema.leaves().len().saturating_sub(1);
        let mut chunks = Vec::with_capacity(schema.leaves().len());
        let (mut next, mut definite) = (first, true);
        for (ordinal, leaf) in schema.leaves().iter().enumerate() {
            let Some(trial) = self.trial(next, ordinal, leaf)? else {
                return Ok(None);
            };
            // Pages that go on with the last row have no rows of their own.
            let fits = |end: &&End| end.rows == rows && end.whole_rows;
            let Some(end) = trial.ends.iter().rfind(fits) else {
                return Ok(None);
            };
            definite &= ordinal == last_leaf || trial.ends.last() == Some(end);
            chunks.push(FoundChunk {
                pages: next..next + end.pages,
                codec: trial.codec,
                levels: end.levels,
            });
            next += end.pages;
        }
        let behind_first = self.pages.get(first + 1..next).unwrap_or_default();
        if behind_first.iter().any(|page| page.is_behind_damage()) {
            return Ok(None);
        }
        Ok(Some(FoundRowGroup {
            rows,
            chunks,
            definite,
        }))
    }

    fn trial(&mut self, first: usize, ordinal: usize, leaf: &Leaf) -> Result<Option<&Trial>> {
        if !self.known.contains_key(&(first, ordinal)) {
            let pages = self.pages.get(first..).unwrap_or_default();
            let trial = self.trials.chunk(pages, leaf)?;
            self.known.insert((first, ordinal), trial);
        }
        Ok(self.known.get(&(first, ordinal)).and_then(Option::as_ref))
    }

    /// What a footer would say of a row group.
    fn metadata(&self, found: &FoundRowGroup) -> RowGroup {
        let chunk = |(leaf, chunk): (usize, &FoundChunk)| self.chunk(leaf, chunk);
        let columns: Vec<ColumnChunk> = found.chunks.iter().enumerate().map(chunk).collect();
        let sizes = columns.iter().filter_map(|it| it.meta_data.as_ref());
        let total_byte_size = sizes.map(|it| it.total_uncompressed_size).sum();
        RowGroup::new(
            columns,
            total_byte_size,
            i64::try_from(found.rows).unwrap_or(i64::MAX),
        )
    }

    #[allow(
        clippy::indexing_slicing,
        reason = "leaves are counted by the same schema"
    )]
    fn chunk(&self, leaf: usize, found: &FoundChunk) -> ColumnChunk {
        let pages = self.pages.get(found.pages.clone()).unwrap_or_default();
        // Offsets in a file fit.
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let start = pages.first().map_or(0, |page| page.offset);
        let end = pages.last().map_or(0, |page| page.end);
        let dictionary = pages.first().filter(|page| page.is_dictionary());
        let data = pages.iter().find(|page| !page.is_dictionary());
        let uncompressed = pages.iter().map(|page| {
            page.body - page.offset
                + u64::try_from(page.header.uncompressed_page_size).unwrap_or_default()
        });
        let path = self.schema.path(leaf).into_iter().map(str::to_owned);
        let metadata = ColumnMetaData::new(
            self.schema.leaves()[leaf].physical_type,
            vec![Encoding::Plain],
            found.codec,
            signed(found.levels),
            signed(uncompressed.sum()),
            signed(end - start),
            signed(data.map_or(start, |page| page.offset)),
        )
        .path_in_schema(path.collect())
        .dictionary_page_offset(dictionary.map(|page| signed(page.offset)));
        ColumnChunk::default().meta_data(metadata)
    }
}
