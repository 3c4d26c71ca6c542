//! One column of a column set: its decoders and queued column batches.
//!
//! ```text
//! one thread        one decoder, which decodes in place
//! several threads   splits, each with its decoder: [ passed ] [ due ] [ ahead ] [ ahead ] …
//! ```

use std::collections::{BTreeSet, VecDeque};
use std::ops::Range;

use herringbone_format::Result;

use super::columns::{BATCHES_AHEAD, TaskKey, Tasks, decode};
use super::open::OpenRowGroup;
use super::splits::{Counting, LaneSplits};
use crate::bytes::FileBytes;
use herringbone_core::column::{ColumnBatch, ColumnChunkDecoder, ColumnSplit, RowCounter};
use herringbone_core::page::decompression_limit::DecompressionLimit;

/// A column of an open row group.
#[derive(Default)]
pub(super) struct OpenColumn {
    /// The decoder, if a single thread decodes the lane. It is `None` before the first column batch and after the last.
    decoder: Option<Box<ColumnChunkDecoder>>,
    /// True after the last column batch, if a single thread decodes the lane.
    is_over: bool,
    /// The due split, followed by later splits.
    splits: VecDeque<OpenSplit>,
    /// The pages with rows left to count. Further splits depend on the counts.
    counting: Option<Box<Counting>>,
    /// The number of splits that have delivered all of their column batches.
    passed: usize,
}

/// A split of a column. Usually, it is the whole column.
#[derive(Default)]
pub(super) struct OpenSplit {
    /// The decoder. It is `None` while a thread has it, and after the last column batch.
    decoder: Option<Box<ColumnChunkDecoder>>,
    ready: VecDeque<Result<ColumnBatch>>,
    /// The ordinal of the split's first batch in the row group.
    first_batch: u64,
    /// True once the split's last column batch or error has been delivered.
    is_over: bool,
}

impl OpenSplit {
    fn new(decoder: Result<Box<ColumnChunkDecoder>>, first_batch: u64) -> Self {
        let mut split = Self {
            first_batch,
            ..Self::default()
        };
        match decoder {
            Ok(decoder) => split.decoder = Some(decoder),
            // We store the error, to report it when the column is due.
            Err(error) => {
                split.ready.push_back(Err(error));
                split.is_over = true;
            }
        }
        split
    }

    /// Takes the decoder, unless a thread already has it.
    pub(super) fn take_decoder(&mut self) -> Option<Box<ColumnChunkDecoder>> {
        self.decoder.take()
    }

    fn is_passed(&self) -> bool {
        self.is_over && self.ready.is_empty()
    }
}

impl OpenColumn {
    /// Returns the decoder, if a single thread decodes the lane.
    pub(super) fn decoder(&mut self) -> Option<&mut ColumnChunkDecoder> {
        self.decoder.as_deref_mut()
    }

    /// Decodes the next column batch on the only thread, or returns `None` if bytes are missing.
    ///
    /// # Errors
    /// Returns errors in the bytes along with their location in the file.
    pub(super) fn decode(
        &mut self,
        row_group: &OpenRowGroup,
        ordinal: usize,
        bytes: &mut dyn FileBytes,
    ) -> Result<Option<ColumnBatch>> {
        let decoder = match &mut self.decoder {
            None if self.is_over => return Err(super::too_few_rows()),
            None => self.decoder.insert(row_group.column(ordinal)?),
            Some(decoder) => decoder,
        };
        let column_batch = decode(decoder, bytes)?;
        if column_batch.is_some() && decoder.is_done() {
            bytes.release(decoder.chunk());
            self.decoder = None;
            self.is_over = true;
        }
        Ok(column_batch)
    }

    /// Returns the ranges that the lane still needs, in decode order.
    pub(super) fn planned(&self, row_group: &OpenRowGroup, ordinal: usize) -> Vec<Range<u64>> {
        match &self.decoder {
            None if self.is_over => Vec::new(),
            None => row_group.ranges_of(ordinal, None, &row_group.selection()),
            Some(decoder) => {
                let (offset, selection) = decoder.progress();
                row_group.ranges_of(ordinal, Some(offset), selection)
            }
        }
    }

    /// Splits the lane, so that threads can share it.
    pub(super) fn share(&mut self, row_group: &OpenRowGroup, ordinal: usize, splits: LaneSplits) {
        match splits {
            LaneSplits::Whole => {
                let split = OpenSplit::new(row_group.column(ordinal), 0);
                self.splits.push_back(split);
            }
            LaneSplits::Known(splits, limit) => {
                self.add_splits(row_group, ordinal, splits, limit.as_ref());
            }
            LaneSplits::Counting(counting) => self.counting = Some(counting),
        }
    }

    fn add_splits(
        &mut self,
        row_group: &OpenRowGroup,
        ordinal: usize,
        splits: Vec<ColumnSplit>,
        limit: Option<&DecompressionLimit>,
    ) {
        let starts = row_group.batch_starts();
        for split in splits {
            let first_batch = starts.partition_point(|start| *start < split.rows.start) as u64;
            let split =
                OpenSplit::new(row_group.split(ordinal, split, limit.cloned()), first_batch);
            self.splits.push_back(split);
        }
    }

    /// Returns true if pages must be counted before all splits are known.
    pub(super) fn is_counting(&self) -> bool {
        self.counting.is_some()
    }

    /// Returns true if there are pages left that no thread has begun to count.
    pub(super) fn has_uncounted(&self) -> bool {
        self.counting
            .as_ref()
            .is_some_and(|counting| counting.has_more())
    }

    /// Takes the next page group to count, unless more than `most` splits and groups are already queued.
    pub(super) fn begin_count(
        &mut self,
        row_group: &OpenRowGroup,
        most: usize,
    ) -> Option<(usize, Result<Box<RowCounter>>)> {
        let counting = self.counting.as_mut()?;
        let splits = self
            .splits
            .iter()
            .filter(|split| !split.is_passed())
            .count();
        match splits + counting.num_started() > most {
            true => None,
            false => counting.begin(row_group),
        }
    }

    /// Records a page group's row counts. Returns the ordinal of the first newly known split.
    pub(super) fn counted(
        &mut self,
        row_group: &OpenRowGroup,
        ordinal: usize,
        group: usize,
        rows: Result<Vec<u64>>,
    ) -> usize {
        let first = self.passed + self.splits.len();
        if let Some(counting) = &mut self.counting {
            let splits = counting.counted(group, rows);
            self.add_splits(row_group, ordinal, splits, None);
        }
        first
    }

    /// Returns the split with this ordinal, unless it has passed.
    pub(super) fn split_at(&mut self, split: usize) -> Option<&mut OpenSplit> {
        self.splits.get_mut(split.checked_sub(self.passed)?)
    }

    /// Takes back a split's decoder, along with a column batch. Returns false if the column was split at the wrong row.
    pub(super) fn deliver(
        &mut self,
        split: usize,
        decoder: Box<ColumnChunkDecoder>,
        column_batch: Result<ColumnBatch>,
    ) -> bool {
        let is_right = column_batch.is_ok() || !decoder.is_split_wrong();
        let Some(split) = self.split_at(split) else {
            return is_right;
        };
        match column_batch.is_ok() && !decoder.is_done() {
            true => split.decoder = Some(decoder),
            false => split.is_over = true,
        }
        split.ready.push_back(column_batch);
        is_right
    }

    /// Returns a split's next task, unless a thread has the split's decoder or enough column batches are queued.
    fn next_task(&self, lane: usize, split: usize) -> Option<TaskKey> {
        let open = self.splits.get(split.checked_sub(self.passed)?)?;
        let is_due = split == self.passed;
        let is_full = is_due && open.ready.len() as u64 >= BATCHES_AHEAD;
        let decoder = open.decoder.as_ref().filter(|_| !is_full)?;
        Some(TaskKey {
            batch: open.first_batch + decoder.next_batch(),
            lane,
            split,
        })
    }
}

impl Tasks {
    /// Adds a lane's first tasks.
    pub(super) fn add_first(&mut self, lane: &OpenColumn, ordinal: usize) {
        if lane.is_counting() {
            self.uncounted.insert(ordinal);
        }
        self.add_splits(lane, ordinal, 0);
    }

    /// Adds the tasks of the splits starting at `first`, but only for as many splits as the threads can decode ahead.
    pub(super) fn add_splits(&mut self, lane: &OpenColumn, ordinal: usize, first: usize) {
        let end = (lane.passed + lane.splits.len()).min(lane.passed + self.threads + 1);
        for split in first..end {
            self.add(lane, ordinal, split);
        }
    }

    /// Adds a split's next task, if it has one.
    pub(super) fn add(&mut self, lane: &OpenColumn, ordinal: usize, split: usize) {
        let Some(key) = lane.next_task(ordinal, split) else {
            return;
        };
        self.tasks_of(split == lane.passed).insert(key);
    }

    fn tasks_of(&mut self, is_due: bool) -> &mut BTreeSet<TaskKey> {
        match is_due {
            true => &mut self.due,
            false => &mut self.ahead,
        }
    }

    /// Takes a lane's due column batch, or returns `None` if it isn't available yet.
    ///
    /// # Errors
    /// Returns the error that the column failed with.
    pub(super) fn take_column_batch(
        &mut self,
        lane: &mut OpenColumn,
        ordinal: usize,
    ) -> Result<Option<ColumnBatch>> {
        while lane.splits.len() > 1 && lane.splits.front().is_some_and(OpenSplit::is_passed) {
            lane.splits.pop_front();
            lane.passed += 1;
            if let Some(key) = lane.next_task(ordinal, lane.passed) {
                self.ahead.remove(&key);
                self.due.insert(key);
            }
            self.add(lane, ordinal, lane.passed + self.threads);
        }
        let ready = lane
            .splits
            .front_mut()
            .and_then(|split| split.ready.pop_front());
        let Some(column_batch) = ready.transpose()? else {
            return Ok(None);
        };
        self.add(lane, ordinal, lane.passed);
        Ok(Some(column_batch))
    }
}
