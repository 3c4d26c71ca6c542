//! The row groups in progress, and the order of their batches.

use std::collections::VecDeque;
use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_core::budget::{Budget, Reservation};
use herringbone_core::loss::Losses;
use herringbone_format::modular_encryption::KeyStep;
use herringbone_format::{Error, Result};
use herringbone_read::{Assembly, ReadSequence, RowGroupRead, SharedStep, StageTask};

use crate::source_bytes::SharedBytes;

/// The number of batches past the due one that threads are allowed to work on if they share
/// columns.
pub(super) const BATCHES_AHEAD: u64 = 3;

/// The state of a read on several threads. Most of it is the row groups in progress.
pub(super) struct State {
    pub(super) sequence: ReadSequence,
    pub(super) bytes: Arc<SharedBytes>,
    /// The row groups in progress, in order. The first one is due.
    pub(super) slots: VecDeque<Slot>,
    pub(super) next_id: u64,
    /// The number of row groups begun so far.
    pub(super) begun: u64,
    /// The number of tasks running on threads.
    pub(super) running: usize,
    /// True if the due row group was refused memory, until it ends. Meanwhile, a single thread
    /// continues alone.
    pub(super) is_alone: bool,
}

/// A row group in progress.
pub(super) struct Slot {
    pub(super) id: u64,
    /// The row group's read. Absent while a thread has the whole row group.
    pub(super) read: Option<Box<RowGroupRead>>,
    pub(super) mode: ReadMode,
    /// Batches of a whole row group, waiting for their turn.
    pub(super) ready: VecDeque<Result<Ready>>,
    pub(super) is_over: bool,
    /// An upper bound on the rows remaining after the last emitted batch.
    pub(super) rows_left: u64,
    pub(super) planned_rows: u64,
    pub(super) index: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadMode {
    /// One thread makes all batches, one after the other.
    Whole,
    /// Like `Whole`, but only while the row group is due. Used after a row group was refused
    /// memory.
    WholeIfDue,
    /// A thread opens the row group first, fetching its bytes.
    Unopened,
    /// Threads share the row group's columns.
    Shared,
}

/// A finished batch waiting for its turn.
pub(super) struct Ready {
    pub(super) batch: RecordBatch,
    pub(super) losses: Losses,
    pub(super) rows_left: u64,
    pub(super) memory: Reservation,
}

/// The caller's next step.
pub(super) enum Event {
    /// Returns this batch.
    Emit(RecordBatch),
    /// Assembles a batch of this row group.
    Assemble(u64, Box<Assembly>),
    Failed(Error),
}

impl State {
    pub(super) fn new(sequence: ReadSequence, bytes: Arc<SharedBytes>) -> Self {
        Self {
            sequence,
            bytes,
            slots: VecDeque::new(),
            next_id: 0,
            begun: 0,
            running: 0,
            is_alone: false,
        }
    }

    /// Begins a row group, after all the ones in progress.
    pub(super) fn push(&mut self, read: RowGroupRead, mode: ReadMode) {
        self.begun += 1;
        let id = self.new_id();
        self.slots.push_back(Slot {
            id,
            mode,
            ready: VecDeque::new(),
            is_over: false,
            rows_left: read.rows_left(),
            planned_rows: read.planned_rows(),
            index: read.index(),
            read: Some(Box::new(read)),
        });
    }

    /// Returns the caller's next step, or `None` if the caller must wait.
    pub(super) fn event(&mut self) -> Option<Event> {
        loop {
            if self.sequence.rows_to_find() == 0 {
                self.finish();
                return None;
            }
            let most = self.sequence.rows_to_find();
            let plan = self.sequence.plan().clone();
            let Some(front) = self.slots.front_mut() else {
                let key = self.sequence.missing_keys().into_iter().next()?;
                return KeyStep::<()>::NeedKey(key).ready().err().map(Event::Failed);
            };
            if let Some(ready) = front.ready.pop_front() {
                match ready {
                    Ok(ready) => match self.emit(ready) {
                        Some(batch) => return Some(Event::Emit(batch)),
                        None => continue,
                    },
                    Err(error) => match self.fail(error) {
                        Some(error) => return Some(Event::Failed(error)),
                        None => continue,
                    },
                }
            }
            if front.is_over {
                self.pop_front();
                continue;
            }
            let read = front
                .read
                .as_mut()
                .filter(|_| front.mode == ReadMode::Shared)?;
            if read.tighten_filter(&plan) {
                self.restart_front(ReadMode::Unopened);
                continue;
            }
            match read.poll_shared(most) {
                Ok(SharedStep::Pending | SharedStep::Split) => return None,
                Ok(SharedStep::Batch(assembly)) => {
                    return Some(Event::Assemble(front.id, assembly));
                }
                Ok(SharedStep::End) => {
                    let losses = read.take_losses();
                    self.sequence.add_losses(losses);
                    self.pop_front();
                }
                Err(error) => {
                    if let Some(error) = self.fail(error) {
                        return Some(Event::Failed(error));
                    }
                }
            }
        }
    }

    /// Returns the part of a due row group's batch to emit. The batch's memory is released first,
    /// so that it is available before another thread can begin the next batch.
    pub(super) fn emit(&mut self, ready: Ready) -> Option<RecordBatch> {
        drop(ready.memory);
        self.sequence.add_losses(ready.losses);
        if let Some(front) = self.slots.front_mut() {
            front.rows_left = ready.rows_left;
        }
        self.sequence.emit(ready.batch)
    }

    /// Takes back a batch that the caller has assembled for the due row group.
    pub(super) fn deliver_batch(
        &mut self,
        id: u64,
        assembly: Box<Assembly>,
    ) -> Option<RecordBatch> {
        let front = self.slots.front_mut().filter(|front| front.id == id)?;
        let read = front.read.as_mut()?;
        match read.deliver(StageTask::Batch(assembly)) {
            Ok(batch) => {
                let losses = read.take_losses();
                front.rows_left = read.rows_left();
                self.sequence.add_losses(losses);
                self.sequence.emit(batch?)
            }
            Err(error) => {
                front.ready.push_back(Err(error));
                None
            }
        }
    }

    /// Handles an error in the due row group, returning the error if it ends the read.
    pub(super) fn fail(&mut self, error: Error) -> Option<Error> {
        let is_split_wrong = match self.slots.front() {
            Some(front) => front
                .read
                .as_ref()
                .is_some_and(|read| read.is_split_wrong()),
            None => false,
        };
        let is_refused = Budget::depends_on_others(&error) && !self.is_alone;
        if is_refused || is_split_wrong {
            self.work_alone();
            return None;
        }
        let rows = self.slots.front().map_or(0, |front| front.rows_left);
        self.pop_front();
        self.sequence.lose(error, rows).err()
    }

    /// Drops all work ahead, so that a single thread continues alone after the emitted rows.
    pub(super) fn work_alone(&mut self) {
        while self.slots.len() > 1
            && let Some(slot) = self.slots.pop_back()
        {
            self.sequence
                .return_row_groups(slot.index, slot.planned_rows);
        }
        self.bytes.drop_ahead();
        self.is_alone = true;
        self.restart_front(ReadMode::Whole);
    }

    /// Restarts the due row group after the emitted rows.
    pub(super) fn restart_front(&mut self, mode: ReadMode) {
        // Tasks still running keep the old id, so their results will be ignored.
        let id = self.new_id();
        if let Some(front) = self.slots.front_mut() {
            front.id = id;
            front.mode = mode;
            if let Some(read) = &mut front.read {
                read.restart();
                front.rows_left = read.rows_left();
            }
        }
    }

    pub(super) fn pop_front(&mut self) {
        let front = self.slots.pop_front();
        if let Some(read) = front.and_then(|front| front.read) {
            self.bytes.release(read.chunk_ranges());
        }
        self.is_alone = false;
    }

    pub(super) fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// Drops all row groups, so that no more rows are returned.
    pub(super) fn finish(&mut self) {
        self.slots.clear();
        self.sequence.finish();
    }

    /// Returns how many batches past the due one threads are allowed to work on, for each row
    /// group.
    pub(super) fn aheads(&self) -> Vec<u64> {
        let mut ahead = match self.sequence.is_short() {
            true => 0,
            false => BATCHES_AHEAD,
        };
        let aheads = self.slots.iter().map(|slot| {
            let slot_ahead = ahead;
            ahead = ahead.saturating_sub(slot.batches_left());
            slot_ahead
        });
        aheads.collect()
    }

    pub(super) fn slot(&mut self, id: u64) -> Option<(usize, &mut Slot)> {
        let mut slots = self.slots.iter_mut().enumerate();
        slots.find(|(_, slot)| slot.id == id)
    }
}

impl Slot {
    /// Returns the number of remaining batches, or `u64::MAX` if this is unknown or threads do not
    /// share columns.
    pub(super) fn batches_left(&self) -> u64 {
        let read = self.read.as_ref().filter(|_| self.mode == ReadMode::Shared);
        let left = read.and_then(|read| read.batches_left());
        left.unwrap_or(u64::MAX)
    }

    /// Handles the result of a task that had a whole row group.
    pub(super) fn take_result(&mut self, index: usize, result: Result<()>) {
        let Err(error) = result else {
            return;
        };
        // We restart the row group once it's due, so that nothing is lost ahead of its turn.
        if index > 0 && Budget::depends_on_others(&error) {
            if let Some(read) = &mut self.read {
                read.restart();
            }
            self.mode = ReadMode::WholeIfDue;
            return;
        }
        self.ready.push_back(Err(error));
    }
}
