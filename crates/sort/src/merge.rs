//! Merges several sorted runs into one.
//!
//! The runs form a heap, with the least row's run at the top. Each cursor caches the first bytes of
//! its row's key as a number, so that most comparisons don't have to look at the keys.

use std::cmp::Ordering;
use std::collections::VecDeque;

use herringbone_arrow::array::RecordBatch;
use herringbone_format::Result;
use herringbone_write::{RowKeys, SortKeys};

use super::batch_rows;
use super::dictionaries::Dictionaries;
use super::gather::{RowPosition, gather_batches};
use super::run::{Run, RunReader};

/// A merge of runs, given with the oldest rows first.
pub(super) struct Merge {
    cursors: Vec<Cursor>,
    /// The ordinals of the cursors with rows left, as a heap. The first cursor has the least row.
    heap: Vec<usize>,
    /// The source batches of the rows in `places`, including the cursors' current batches.
    sources: Vec<RecordBatch>,
    places: Vec<RowPosition>,
    batch_rows: usize,
    /// The batches to return next.
    ready: VecDeque<RecordBatch>,
}

/// A cursor at a row of a run.
struct Cursor {
    reader: RunReader,
    batch: RecordBatch,
    keys: RowKeys,
    row: usize,
    /// The first bytes of the row's key.
    prefix: u128,
    /// The batch's ordinal in `sources`.
    source: usize,
}

impl Cursor {
    /// Reads the next non-empty batch, or returns false after the last one.
    fn read(&mut self, keys: &mut SortKeys, dictionaries: &mut Dictionaries) -> Result<bool> {
        loop {
            let Some(batch) = self.reader.next()? else {
                return Ok(false);
            };
            if batch.num_rows() == 0 {
                continue;
            }
            self.keys.clear();
            keys.append(&dictionaries.put_back(&batch)?, &mut self.keys)?;
            self.batch = batch;
            self.set_row(0);
            return Ok(true);
        }
    }

    fn set_row(&mut self, row: usize) {
        self.row = row;
        let key = self.keys.row(row);
        let mut bytes = [0; 16];
        let length = key.len().min(16);
        if let (Some(to), Some(from)) = (bytes.get_mut(..length), key.get(..length)) {
            to.copy_from_slice(from);
        }
        self.prefix = u128::from_be_bytes(bytes);
    }

    fn compare(&self, other: &Self) -> Ordering {
        let rest = || self.keys.row(self.row).cmp(other.keys.row(other.row));
        self.prefix.cmp(&other.prefix).then_with(rest)
    }
}

impl Merge {
    /// Creates a merge of these runs into batches of about `batch_bytes` bytes.
    ///
    /// # Errors
    /// Fails with Io if a run cannot be read.
    pub(super) fn new(
        runs: Vec<Run>,
        batch_bytes: usize,
        keys: &mut SortKeys,
        dictionaries: &mut Dictionaries,
    ) -> Result<Self> {
        let bytes = runs.iter().map(|run| run.bytes).sum();
        let num_rows = runs.iter().map(|run| run.num_rows).sum();
        let mut merge = Self {
            cursors: Vec::with_capacity(runs.len()),
            heap: Vec::with_capacity(runs.len()),
            sources: Vec::new(),
            places: Vec::new(),
            batch_rows: batch_rows(batch_bytes, bytes, num_rows),
            ready: VecDeque::new(),
        };
        for run in runs {
            let mut cursor = Cursor {
                reader: run.read()?,
                batch: RecordBatch::new_empty(dictionaries.stored_schema().clone()),
                keys: RowKeys::default(),
                row: 0,
                prefix: 0,
                source: merge.sources.len(),
            };
            if cursor.read(keys, dictionaries)? {
                merge.sources.push(cursor.batch.clone());
                merge.heap.push(merge.cursors.len());
                merge.cursors.push(cursor);
            }
        }
        for root in (0..merge.heap.len() / 2).rev() {
            merge.sift_down(root);
        }
        Ok(merge)
    }

    /// Returns the next sorted rows, or `None` after the last one.
    ///
    /// # Errors
    /// Fails with Io if a run cannot be read.
    pub(super) fn next(
        &mut self,
        keys: &mut SortKeys,
        dictionaries: &mut Dictionaries,
    ) -> Result<Option<RecordBatch>> {
        let batch = self.next_stored(keys, dictionaries)?;
        batch.map(|batch| dictionaries.put_back(&batch)).transpose()
    }

    /// Returns the next sorted rows in their stored form, without dictionaries.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::next`].
    pub(super) fn next_stored(
        &mut self,
        keys: &mut SortKeys,
        dictionaries: &mut Dictionaries,
    ) -> Result<Option<RecordBatch>> {
        while self.ready.is_empty() {
            let most_sources = 2 * self.cursors.len() + 1;
            while self.places.len() < self.batch_rows && self.sources.len() <= most_sources {
                if !self.step(keys, dictionaries)? {
                    break;
                }
            }
            if self.places.is_empty() {
                return Ok(None);
            }
            gather_batches(&self.sources, &self.places, &mut self.ready)?;
            self.places.clear();
            self.sources.clear();
            for &ordinal in &self.heap {
                if let Some(cursor) = self.cursors.get_mut(ordinal) {
                    cursor.source = self.sources.len();
                    self.sources.push(cursor.batch.clone());
                }
            }
        }
        Ok(self.ready.pop_front())
    }

    /// Takes the least row, or returns false if there are no rows left.
    fn step(&mut self, keys: &mut SortKeys, dictionaries: &mut Dictionaries) -> Result<bool> {
        let Some(&ordinal) = self.heap.first() else {
            return Ok(false);
        };
        let Some(cursor) = self.cursors.get_mut(ordinal) else {
            return Ok(false);
        };
        self.places
            .push(RowPosition::new(cursor.source, cursor.row));
        if cursor.row + 1 < cursor.batch.num_rows() {
            cursor.set_row(cursor.row + 1);
        } else if cursor.read(keys, dictionaries)? {
            cursor.source = self.sources.len();
            self.sources.push(cursor.batch.clone());
        } else {
            self.heap.swap_remove(0);
        }
        self.sift_down(0);
        Ok(true)
    }

    /// Sifts the cursor at `place` down the heap, until no cursor below it has a lesser row.
    fn sift_down(&mut self, mut place: usize) {
        loop {
            let mut least = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if self.is_less(child, least) {
                    least = child;
                }
            }
            if least == place {
                return;
            }
            self.heap.swap(place, least);
            place = least;
        }
    }

    /// Returns true if one heap place's row sorts before another's. Ties are broken by run order,
    /// which keeps the sort stable.
    fn is_less(&self, place: usize, other: usize) -> bool {
        let ordinal = |place: usize| self.heap.get(place).copied();
        let (Some(a), Some(b)) = (ordinal(place), ordinal(other)) else {
            return false;
        };
        match (self.cursors.get(a), self.cursors.get(b)) {
            (Some(row), Some(other)) => row.compare(other).then(a.cmp(&b)).is_lt(),
            _ => false,
        }
    }
}
