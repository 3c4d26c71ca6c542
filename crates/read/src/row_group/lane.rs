//! One column of a column set: its decoders, and the column batches that wait for their turn.
//!
//! ```text
//! one thread        one decoder, which decodes in place
//! several threads   parts, each with its decoder: [ passed ] [ due ] [ ahead ] [ ahead ] …
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
pub(super) struct Lane {
    /// The decoder of a lane that one thread decodes. `None` before the first and after the last column batch.
    decoder: Option<Box<ColumnChunkDecoder>>,
    /// True after the last column batch of a lane that one thread decodes.
    is_over: bool,
    /// The due part, and those after it.
    parts: VecDeque<Part>,
    /// The pages whose rows are still to be counted. Further parts depend on the counts.
    counting: Option<Box<Counting>>,
    /// The number of parts that have delivered everything.
    passed: usize,
}

/// A part of a column, usually all of it.
#[derive(Default)]
pub(super) struct Part {
    /// `None` while a thread has it, and after the last column batch.
    decoder: Option<Box<ColumnChunkDecoder>>,
    ready: VecDeque<Result<ColumnBatch>>,
    /// The number of its first batch in the row group.
    first_batch: u64,
    /// True once its last column batch or its error has been delivered.
    is_over: bool,
}

impl Part {
    fn new(decoder: Result<Box<ColumnChunkDecoder>>, first_batch: u64) -> Self {
        let mut part = Self {
            first_batch,
            ..Self::default()
        };
        match decoder {
            Ok(decoder) => part.decoder = Some(decoder),
            // The error is reported when the column is due.
            Err(error) => {
                part.ready.push_back(Err(error));
                part.is_over = true;
            }
        }
        part
    }

    /// Takes the decoder, unless a thread has it.
    pub(super) fn take_decoder(&mut self) -> Option<Box<ColumnChunkDecoder>> {
        self.decoder.take()
    }

    fn is_passed(&self) -> bool {
        self.is_over && self.ready.is_empty()
    }
}

impl Lane {
    /// Returns the decoder of a lane that one thread decodes.
    pub(super) fn decoder(&mut self) -> Option<&mut ColumnChunkDecoder> {
        self.decoder.as_deref_mut()
    }

    /// Decodes the next column batch of a lane that one thread decodes, or returns `None` if bytes are missing.
    ///
    /// # Errors
    /// Errors in the bytes, with their location.
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

    /// Returns the ranges of the file that the lane still needs, in the order in which it decodes them.
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
    pub(super) fn split(&mut self, row_group: &OpenRowGroup, ordinal: usize, splits: LaneSplits) {
        match splits {
            LaneSplits::Whole => {
                let part = Part::new(row_group.column(ordinal), 0);
                self.parts.push_back(part);
            }
            LaneSplits::Parts(parts, limit) => {
                self.add_parts(row_group, ordinal, parts, limit.as_ref());
            }
            LaneSplits::Counting(counting) => self.counting = Some(counting),
        }
    }

    fn add_parts(
        &mut self,
        row_group: &OpenRowGroup,
        ordinal: usize,
        parts: Vec<ColumnSplit>,
        limit: Option<&DecompressionLimit>,
    ) {
        let starts = row_group.batch_starts();
        for part in parts {
            let first_batch = starts.partition_point(|start| *start < part.rows.start) as u64;
            let part = Part::new(row_group.part(ordinal, part, limit.cloned()), first_batch);
            self.parts.push_back(part);
        }
    }

    /// Returns true if pages must be counted before all parts are known.
    pub(super) fn is_counting(&self) -> bool {
        self.counting.is_some()
    }

    /// Returns true if there are pages that no thread has begun to count.
    pub(super) fn has_uncounted(&self) -> bool {
        self.counting.as_ref().is_some_and(|it| it.has_more())
    }

    /// Takes the next group of pages to count, unless more than `most` parts and groups are already waiting.
    pub(super) fn begin_count(
        &mut self,
        row_group: &OpenRowGroup,
        most: usize,
    ) -> Option<(usize, Result<Box<RowCounter>>)> {
        let counting = self.counting.as_mut()?;
        let parts = self.parts.iter().filter(|part| !part.is_passed()).count();
        match parts + counting.num_begun() > most {
            true => None,
            false => counting.begin(row_group),
        }
    }

    /// Records the row counts of a group of pages. Returns the ordinal of the first part that became known.
    pub(super) fn counted(
        &mut self,
        row_group: &OpenRowGroup,
        ordinal: usize,
        group: usize,
        rows: Result<Vec<u64>>,
    ) -> usize {
        let first = self.passed + self.parts.len();
        if let Some(counting) = &mut self.counting {
            let parts = counting.counted(group, rows);
            self.add_parts(row_group, ordinal, parts, None);
        }
        first
    }

    /// Returns the part with this ordinal, unless it has passed.
    pub(super) fn part(&mut self, part: usize) -> Option<&mut Part> {
        self.parts.get_mut(part.checked_sub(self.passed)?)
    }

    /// Takes back the decoder of a part, together with a column batch. Returns false if the part was split at a wrong
    /// row.
    pub(super) fn deliver(
        &mut self,
        part: usize,
        decoder: Box<ColumnChunkDecoder>,
        column_batch: Result<ColumnBatch>,
    ) -> bool {
        let is_right = column_batch.is_ok() || !decoder.is_split_wrong();
        let Some(part) = self.part(part) else {
            return is_right;
        };
        match column_batch.is_ok() && !decoder.is_done() {
            true => part.decoder = Some(decoder),
            false => part.is_over = true,
        }
        part.ready.push_back(column_batch);
        is_right
    }

    /// Returns the next task of a part, unless a thread has its decoder or enough column batches wait.
    fn next_task(&self, lane: usize, part: usize) -> Option<TaskKey> {
        let open = self.parts.get(part.checked_sub(self.passed)?)?;
        let is_due = part == self.passed;
        let is_full = is_due && open.ready.len() as u64 >= BATCHES_AHEAD;
        let decoder = open.decoder.as_ref().filter(|_| !is_full)?;
        Some(TaskKey {
            batch: open.first_batch + decoder.next_batch(),
            lane,
            part,
        })
    }
}

impl Tasks {
    /// Adds the first tasks of a lane.
    pub(super) fn add_first(&mut self, lane: &Lane, ordinal: usize) {
        if lane.is_counting() {
            self.uncounted.insert(ordinal);
        }
        self.add_parts(lane, ordinal, 0);
    }

    /// Adds the tasks of the parts from `first` on, but not for more parts than the threads may decode ahead.
    pub(super) fn add_parts(&mut self, lane: &Lane, ordinal: usize, first: usize) {
        let end = (lane.passed + lane.parts.len()).min(lane.passed + self.threads + 1);
        for part in first..end {
            self.add(lane, ordinal, part);
        }
    }

    /// Adds the next task of a part, if it has one.
    pub(super) fn add(&mut self, lane: &Lane, ordinal: usize, part: usize) {
        let Some(key) = lane.next_task(ordinal, part) else {
            return;
        };
        self.tasks_of(part == lane.passed).insert(key);
    }

    fn tasks_of(&mut self, is_due: bool) -> &mut BTreeSet<TaskKey> {
        match is_due {
            true => &mut self.due,
            false => &mut self.ahead,
        }
    }

    /// Takes the due column batch of a lane, or returns `None` if it is not available.
    ///
    /// # Errors
    /// The error with which the column failed.
    pub(super) fn take_column_batch(
        &mut self,
        lane: &mut Lane,
        ordinal: usize,
    ) -> Result<Option<ColumnBatch>> {
        while lane.parts.len() > 1 && lane.parts.front().is_some_and(Part::is_passed) {
            lane.parts.pop_front();
            lane.passed += 1;
            if let Some(key) = lane.next_task(ordinal, lane.passed) {
                self.ahead.remove(&key);
                self.due.insert(key);
            }
            self.add(lane, ordinal, lane.passed + self.threads);
        }
        let ready = lane
            .parts
            .front_mut()
            .and_then(|part| part.ready.pop_front());
        let Some(column_batch) = ready.transpose()? else {
            return Ok(None);
        };
        self.add(lane, ordinal, lane.passed);
        Ok(Some(column_batch))
    }
}
