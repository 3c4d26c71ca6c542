//! Reads on several threads: the choice of each thread's next task, and the handling of its result.
//!
//! Threads work on a row group in one of two ways. Either they *share* its columns, and each task
//! decodes one column's next column batch. Or one thread takes the *whole* row group, and each task
//! makes its next batch. Small row groups are taken whole, and so are row groups that would
//! otherwise run out of memory.
//!
//! If the source is slow, a thread opens several row groups and fetches all their bytes in one
//! round, while the other threads are decoding.
//!
//! The due row group has priority, so work ahead waits while memory is short. If the due row group
//! is refused memory, we drop the work ahead, and one thread continues alone after the emitted
//! rows.

mod state;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_core::budget::{Budget, Reservation};
use herringbone_format::{Error, Result};
use herringbone_pipeline::{Crew, Shared, Work};
use herringbone_read::{ReadSequence, RowGroupRead, RowGroupStep, StageTask};

use self::state::{BATCHES_AHEAD, Event, ReadMode, Ready, Slot, State};
use crate::source::Source;
use crate::source_bytes::SharedBytes;

/// The number of whole row groups allowed in progress per thread. One isn't enough, because the
/// caller returns no batches while it is working on a row group of its own.
const WHOLE_PER_THREAD: usize = 2;

/// The most row groups allowed in progress if their bytes are fetched ahead.
const MAX_ROW_GROUPS: u64 = 64;

/// The number of column bytes below which a second thread is not worth starting. Pruning can leave
/// only a few.
const MIN_BYTES_FOR_HELP: u64 = 1 << 20;

/// The number of row groups to prune from which a second thread is worth starting.
const MIN_ROW_GROUPS_FOR_HELP: u64 = 16;

/// The unit of work that threads divide a read into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grain {
    /// Each thread takes a whole row group.
    RowGroup,
    /// Threads share the columns of a row group.
    Column,
}

/// A read on several threads.
pub(crate) struct Threads {
    crew: Crew<ReadWork>,
}

/// The parts of a read that never change, shared by all threads.
struct ReadWork {
    bytes: Arc<SharedBytes>,
    budget: Arc<Budget>,
    threads: usize,
    grain: Grain,
    /// The number of row groups allowed in progress, or `None` if bytes are not fetched ahead.
    fetched_row_groups: Option<usize>,
}

/// A unit of work for a thread.
enum Task {
    /// Makes the next batch of a row group.
    Whole {
        id: u64,
        read: Box<RowGroupRead>,
        /// True if the row group is due. The next flag is true if no other thread is working.
        is_due: bool,
        is_alone: bool,
    },
    /// Opens row groups, or advances them to their next stage, and fetches about `ahead` bytes for
    /// each.
    Open {
        reads: Vec<(u64, Box<RowGroupRead>)>,
        ahead: u64,
    },
    /// Works on a column or tests a batch.
    Stage(u64, Box<StageTask>),
}

/// The outcome of a task.
enum Done {
    Whole(u64, Box<RowGroupRead>, Result<Option<Ready>>),
    Open(Vec<Opened>),
    Stage(u64, Box<StageTask>),
}

/// A row group after a thread has tried to open it.
struct Opened {
    id: u64,
    read: Box<RowGroupRead>,
    /// False while bytes are still missing.
    is_open: Result<bool>,
}

impl Threads {
    pub(crate) fn new(
        sequence: ReadSequence,
        source: Arc<dyn Source>,
        (threads, grain): (usize, Grain),
    ) -> Self {
        let budget = sequence.budget().clone();
        let bytes = Arc::new(SharedBytes::new(source, budget.clone()));
        let plan = sequence.plan();
        let row_group_bytes = plan
            .mean_chunk_bytes()
            .saturating_mul(plan.num_columns() as u64);
        let fetched_row_groups = bytes.fetch_policy().map(|policy| {
            let row_groups = policy.max_bytes_ahead / row_group_bytes.max(1);
            row_groups.clamp(1, MAX_ROW_GROUPS) as usize
        });
        let work = ReadWork {
            bytes: bytes.clone(),
            budget,
            threads,
            grain,
            fetched_row_groups,
        };
        let host = sequence.plan().options().spawn.clone();
        let state = State::new(sequence, bytes);
        Self {
            crew: Crew::new(work, state, threads, host),
        }
    }

    /// Returns the next batch, or `None` after the last one.
    ///
    /// # Errors
    /// Returns errors in the bytes, with their location, and errors of the source.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let Some(event) = self.crew.next(State::event) else {
                return match self.rows_left() {
                    0 => Ok(None),
                    rows => Err(Error::argument(format!(
                        "no thread has a task, but {rows} rows are missing"
                    ))),
                };
            };
            let batch = match event {
                Event::Failed(error) => {
                    self.crew.update(State::finish);
                    return Err(error);
                }
                Event::Emit(batch) => Some(batch),
                Event::Assemble(id, mut assembly) => {
                    assembly.run();
                    self.crew.update(|state| state.deliver_batch(id, assembly))
                }
            };
            if let Some(batch) = batch {
                return Ok(Some(batch));
            }
        }
    }

    #[cfg(test)]
    pub(crate) fn grain(&self) -> Grain {
        self.crew.work().grain
    }

    /// Changes the sequence of row groups, returning the result of `change`.
    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut ReadSequence) -> R) -> R {
        self.crew.update(|state| change(&mut state.sequence))
    }

    /// Returns an upper bound on the number of remaining rows.
    pub(crate) fn rows_left(&self) -> u64 {
        self.crew.look(|state| {
            let begun = state.slots.iter().map(|slot| slot.rows_left);
            state.sequence.rows_left_with(begun.sum())
        })
    }
}

impl ReadWork {
    /// Takes a task from the slot at `index`. If threads share its columns, they are allowed to
    /// work up to `ahead` batches past the due one.
    fn take_of_slot(&self, state: &mut State, index: usize, ahead: u64) -> Option<Task> {
        let is_short = state.sequence.is_short();
        let (plan, is_due) = (state.sequence.plan().clone(), index == 0);
        let most = match is_due {
            true => state.sequence.rows_to_find(),
            false => u64::MAX,
        };
        let (is_alone, running) = (state.is_alone, state.running);
        let bytes_ahead = state.sequence.memory_ahead();
        let slot = state.slots.get_mut(index)?;
        let has_failed = slot.ready.back().is_some_and(Result::is_err);
        // If memory is short, we have to emit the due batch before creating the next one.
        let is_ahead = !is_due || !slot.ready.is_empty();
        if slot.is_over || has_failed || is_ahead && (is_short || is_alone) {
            return None;
        }
        let read = slot.read.as_mut()?;
        match slot.mode {
            ReadMode::Whole if is_alone && running > 0 => None,
            ReadMode::WholeIfDue if !is_due => None,
            ReadMode::Whole if index >= WHOLE_PER_THREAD * self.threads => None,
            ReadMode::Whole | ReadMode::WholeIfDue => {
                read.tighten_filter(&plan);
                Some(Task::Whole {
                    id: slot.id,
                    read: slot.read.take()?,
                    is_due,
                    is_alone,
                })
            }
            ReadMode::Unopened => {
                read.tighten_filter(&plan);
                take_to_open(slot, bytes_ahead)
            }
            ReadMode::Shared => {
                if let Some(task) = read.take_task(ahead) {
                    return Some(Task::Stage(slot.id, Box::new(task)));
                }
                let is_over = read.is_stage_over(most);
                is_over.then(|| take_to_open(slot, bytes_ahead))?
            }
        }
    }

    /// Returns true if at most half of the permitted row groups are in progress and the due one
    /// isn't running alone.
    fn may_fetch(&self, state: &State) -> bool {
        let most = self.fetched_row_groups;
        most.is_some_and(|most| state.slots.len() <= most / 2) && !state.is_alone
    }

    /// Takes all unopened row groups and begins more, so that a single round fetches all their
    /// bytes. This only happens once at most half of the permitted row groups are in progress.
    fn take_to_fetch(&self, state: &mut State) -> Option<Task> {
        if !self.may_fetch(state) {
            return None;
        }
        while self.begin(state) {}
        let (plan, bytes_ahead) = (state.sequence.plan().clone(), state.sequence.memory_ahead());
        let mut reads = Vec::new();
        let unopened = state
            .slots
            .iter_mut()
            .filter(|slot| slot.mode == ReadMode::Unopened);
        for slot in unopened {
            if let Some(mut read) = slot.read.take() {
                read.tighten_filter(&plan);
                reads.push((slot.id, read));
            }
        }
        let ahead = bytes_ahead / (reads.len() as u64).max(1);
        (!reads.is_empty()).then_some(Task::Open { reads, ahead })
    }

    /// Returns true if we are allowed to begin another row group.
    fn may_begin(&self, state: &State) -> bool {
        if state.slots.is_empty() {
            return true;
        }
        let plan = state.sequence.plan();
        // Under a limit we don't test ahead, because those rows might never be needed.
        let is_limited = plan.is_filtered() && plan.options().limit.is_some();
        if is_limited || state.is_alone || state.sequence.is_short() {
            return false;
        }
        if let Some(most) = self.fetched_row_groups {
            return state.slots.len() < most;
        }
        match self.grain {
            Grain::RowGroup => state.slots.len() < WHOLE_PER_THREAD * self.threads,
            Grain::Column => {
                let left = state.slots.iter().map(Slot::batches_left);
                let left = left.fold(0, u64::saturating_add);
                left <= BATCHES_AHEAD || state.slots.len() == 1
            }
        }
    }

    /// Begins the next row group.
    fn begin(&self, state: &mut State) -> bool {
        if !self.may_begin(state) || !state.sequence.missing_keys().is_empty() {
            return false;
        }
        let Some(read) = state.sequence.next_row_group() else {
            return false;
        };
        let mode = match self.grain {
            Grain::RowGroup if self.fetched_row_groups.is_none() => ReadMode::Whole,
            Grain::RowGroup | Grain::Column => ReadMode::Unopened,
        };
        state.push(read, mode);
        true
    }

    /// Makes the next batch of a row group.
    fn run_whole(
        &self,
        read: &mut RowGroupRead,
        is_due: bool,
        is_alone: bool,
    ) -> Result<Option<Ready>> {
        let mut bytes = match is_alone {
            true => self.bytes.of_task(),
            false => self.bytes.of_row_group(),
        };
        let position = read.position();
        loop {
            match read.poll(u64::MAX, false, &mut bytes)? {
                RowGroupStep::Pending => {
                    let policy = self.bytes.fetch_policy();
                    let planned = policy.map(|policy| read.planned(u64::MAX, policy));
                    self.bytes
                        .fetch(bytes.take_unmet(), &planned.unwrap_or_default())?;
                }
                RowGroupStep::End => return Ok(None),
                RowGroupStep::Batch(batch) => {
                    let mut memory = Reservation::new(self.budget.clone());
                    let counted = memory.resize(batch.get_array_memory_size() as u64);
                    // A due batch is never refused memory, because it can't wait for any other
                    // batch.
                    if let Err(error) = counted
                        && !is_due
                    {
                        read.restart_at(position);
                        return Err(error);
                    }
                    return Ok(Some(Ready {
                        losses: read.take_losses(),
                        rows_left: read.rows_left(),
                        batch,
                        memory,
                    }));
                }
            }
        }
    }
}

impl ReadWork {
    /// Opens row groups, or advances them to their next stage. Each round fetches all the bytes
    /// that their next steps need.
    fn open(&self, reads: Vec<(u64, Box<RowGroupRead>)>, ahead: u64) -> Vec<Opened> {
        let unopened = |(id, read)| Opened {
            id,
            read,
            is_open: Ok(false),
        };
        let mut reads: Vec<Opened> = reads.into_iter().map(unopened).collect();
        let mut has_failed = None;
        while reads.iter().any(|read| matches!(read.is_open, Ok(false))) {
            let (mut unmet, mut planned) = (Vec::new(), Vec::new());
            for Opened { read, is_open, .. } in &mut reads {
                let mut bytes = match has_failed {
                    None => self.bytes.of_row_group(),
                    // After an error we read directly, so that each row group reports its own
                    // error.
                    Some(_) => self.bytes.of_task(),
                };
                if let Ok(false) = is_open {
                    *is_open = read.open(&mut bytes);
                }
                unmet.extend(bytes.take_unmet());
                if let Some(policy) = self.bytes.fetch_policy()
                    && is_open.is_ok()
                {
                    planned.extend(read.planned(ahead, policy));
                }
            }
            has_failed = self.bytes.fetch(unmet, &planned).err();
        }
        for Opened { read, is_open, .. } in &mut reads {
            if is_open.is_ok() && self.grain == Grain::Column {
                read.share(self.threads, &mut self.bytes.of_row_group());
            }
        }
        reads
    }
}

/// Takes a slot's row group, to open it or advance it to its next stage.
fn take_to_open(slot: &mut Slot, ahead: u64) -> Option<Task> {
    let reads = vec![(slot.id, slot.read.take()?)];
    Some(Task::Open { reads, ahead })
}

impl Work for ReadWork {
    type State = State;
    type Task = Task;
    type Output = Done;
    /// The row group that the thread last worked on. Preferred next time, because parts of it are
    /// still in the thread's caches.
    type Scratch = Option<u64>;

    fn take(&self, state: &mut State, last: &mut Option<u64>) -> Option<Task> {
        let own = match self.grain {
            Grain::RowGroup => last.and_then(|id| state.slot(id)).map(|(index, _)| index),
            Grain::Column => None,
        };
        let mut task = self.take_to_fetch(state);
        task = task.or_else(|| own.and_then(|index| self.take_of_slot(state, index, 0)));
        loop {
            let mut aheads = state.aheads().into_iter().enumerate();
            task = task.or_else(|| {
                aheads.find_map(|(index, ahead)| self.take_of_slot(state, index, ahead))
            });
            if task.is_some() || !self.begin(state) {
                break;
            }
        }
        let task = task?;
        *last = task.id();
        state.running += 1;
        Some(task)
    }

    fn wants_help(&self, state: &mut State) -> bool {
        match self.grain {
            _ if self.may_fetch(state) && state.sequence.rows_left_with(0) > 0 => true,
            Grain::RowGroup => {
                let is_worth = state.begun > MIN_ROW_GROUPS_FOR_HELP
                    || self.budget.column_bytes() >= MIN_BYTES_FOR_HELP;
                is_worth && !state.is_alone
            }
            Grain::Column => {
                let has_task = |(slot, ahead): (&Slot, u64)| {
                    slot.read.as_ref().is_some_and(|read| read.has_task(ahead))
                };
                let aheads = state.aheads();
                !state.is_alone && state.slots.iter().zip(aheads).any(has_task)
            }
        }
    }

    fn run(&self, task: Task, _: &mut Option<u64>, _: &Shared<Self>) -> Done {
        match task {
            Task::Whole {
                id,
                mut read,
                is_due,
                is_alone,
            } => {
                let ready = self.run_whole(&mut read, is_due, is_alone);
                Done::Whole(id, read, ready)
            }
            Task::Open { reads, ahead } => Done::Open(self.open(reads, ahead)),
            Task::Stage(id, mut task) => {
                task.run(&mut self.bytes.of_task());
                Done::Stage(id, task)
            }
        }
    }

    fn finish(&self, state: &mut State, done: Done) {
        state.running -= 1;
        // The row group might have been dropped or restarted since the task began. If so, its slot
        // is gone.
        match done {
            Done::Stage(id, task) => {
                let slot = state.slot(id);
                if let Some(read) = slot.and_then(|(_, slot)| slot.read.as_mut()) {
                    // There's no batch to return here, since only the caller assembles last-stage
                    // batches.
                    drop(read.deliver(*task));
                }
            }
            Done::Open(reads) => {
                for Opened { id, read, is_open } in reads {
                    if let Some((index, slot)) = state.slot(id) {
                        slot.read = Some(read);
                        slot.mode = match self.grain {
                            Grain::RowGroup => ReadMode::Whole,
                            Grain::Column => ReadMode::Shared,
                        };
                        slot.take_result(index, is_open.map(|_| ()));
                    }
                }
            }
            Done::Whole(id, read, ready) => {
                let Some((index, slot)) = state.slot(id) else {
                    return;
                };
                slot.read = Some(read);
                match ready {
                    Ok(Some(ready)) => slot.ready.push_back(Ok(ready)),
                    Ok(None) => slot.is_over = true,
                    Err(error) => slot.take_result(index, Err(error)),
                }
            }
        }
    }
}

impl Task {
    /// Returns the task's row group, unless it has several.
    fn id(&self) -> Option<u64> {
        match self {
            Self::Whole { id, .. } | Self::Stage(id, _) => Some(*id),
            Self::Open { reads, .. } => match &**reads {
                [(id, _)] => Some(*id),
                _ => None,
            },
        }
    }
}
