//! Reads on several threads, a row group a thread: of small row groups, and those of which a filter wants some rows.
//!
//! Each row group is read as the loop of one thread reads it, and its batches wait until those of the row groups before
//! it were given out. The caller takes row groups as well, instead of waiting. What the budget of several threads refuses is
//! left to one.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use herringbone_arrow::array::RecordBatch;
use herringbone_core::budget::{Budget, Reservation};
use herringbone_core::loss::Losses;
use herringbone_core::read::{BegunRowGroup, GivenOut, PushDecoder, ReadPlan};
use herringbone_format::Result;

use crate::inline::{Inline, Progress};
use crate::source::Source;
use crate::workers::Workers;

/// Row groups a thread that may be begun and not given out whole. One is not enough: the caller does not give out what is
/// ready while it works on a row group of its own.
const BEGUN_A_THREAD: usize = 2;

/// Bytes of columns below which a second thread is not worth its start: pruning may leave so little.
const FEW_BYTES: u64 = 1 << 20;

/// Row groups that are looked at before a second thread is worth its start, whatever is left of them.
const FEW_ROW_GROUPS: usize = 16;

/// Decodes row groups on several threads.
pub(crate) struct RowGroupThreads {
    shared: Arc<Shared>,
    given_out: GivenOut,
    /// What the caller works on when it would wait otherwise.
    taken: Option<Taken>,
    losses: Losses,
    workers: Workers,
}

struct Shared {
    source: Arc<dyn Source>,
    budget: Arc<Budget>,
    threads: usize,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// What is read by from now on.
    plan: Arc<ReadPlan>,
    /// Row groups that were begun and not given out whole, the first of which is given out.
    begun: VecDeque<Begun>,
    /// Index, in the plan, of that one.
    front: usize,
    /// Threads that sleep until something changes.
    asleep: usize,
    /// Those of them that have a row group, and wait for memory.
    short_of_memory: usize,
    stop: bool,
    panic: Option<Box<dyn Any + Send>>,
}

/// A row group that somebody works on, or has.
struct Begun {
    waiting: VecDeque<Result<Waiting>>,
    is_over: bool,
}

/// What came of a row group whose turn it is not yet.
struct Waiting {
    /// With what it came of. None where the rest of the row group was lost.
    batch: Option<(RecordBatch, BegunRowGroup)>,
    /// What was lost on the way there.
    losses: Losses,
    _memory: Reservation,
}

/// A row group, for the thread that works on it.
struct Taken {
    row_group: usize,
    plan: Arc<ReadPlan>,
    inline: Inline,
}

impl Taken {
    /// Goes on, up to the next read of the source at most; by another plan if there is one.
    fn advance(&mut self, plan: Option<Arc<ReadPlan>>) -> Result<Progress> {
        if let Some(plan) = plan {
            self.plan = plan.clone();
            self.inline.go_on_by(plan)?;
        }
        self.inline.advance()
    }
}

impl RowGroupThreads {
    /// The start of a read.
    pub(crate) fn new(
        plan: Arc<ReadPlan>,
        source: Arc<dyn Source>,
        threads: usize,
        budget: Arc<Budget>,
    ) -> Self {
        let mut given_out = GivenOut::new(plan.clone());
        given_out.next_row_group();
        let threads = threads.min(plan.row_groups().len());
        let state = State {
            plan,
            begun: VecDeque::new(),
            front: 0,
            asleep: 0,
            short_of_memory: 0,
            stop: false,
            panic: None,
        };
        let shared = Shared {
            source,
            budget,
            threads,
            state: Mutex::new(state),
            changed: Condvar::new(),
        };
        Self {
            shared: Arc::new(shared),
            given_out,
            taken: None,
            losses: Losses::default(),
            workers: Workers::new(threads - 1),
        }
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while !self.given_out.is_full() {
            let mut state = self.shared.lock();
            if let Some(panic) = state.panic.take() {
                drop(state);
                resume_unwind(panic);
            }
            if let Some(front) = state.begun.front_mut() {
                if let Some(waiting) = front.waiting.pop_front() {
                    match state.short_of_memory {
                        0 => drop(state),
                        _ => self.shared.wake(state),
                    }
                    let waiting = waiting?;
                    self.losses.append(waiting.losses);
                    let batch = waiting.batch;
                    match batch.and_then(|(batch, begun)| self.given_out.give_out(batch, begun)) {
                        Some(batch) => return Ok(Some(batch)),
                        None => continue,
                    }
                }
                if front.is_over {
                    state.begun.pop_front();
                    state.front += 1;
                    self.shared.wake(state);
                    if self.given_out.next_row_group().is_none() {
                        break;
                    }
                    continue;
                }
            }
            if self.taken.is_none() {
                self.taken = self.shared.take(&mut state);
            }
            match &mut self.taken {
                Some(taken) if self.shared.may_go_on(&state, taken.row_group) => {
                    let begun = state.front + state.begun.len();
                    drop(state);
                    let (shared, workers) = (&self.shared, &mut self.workers);
                    let is_over = shared.work_on(taken, || {
                        if begun > FEW_ROW_GROUPS || shared.budget.column_bytes() >= FEW_BYTES {
                            workers.start(|| {
                                let shared = shared.clone();
                                move || shared.work()
                            });
                        }
                    });
                    if is_over {
                        self.taken = None;
                    }
                }
                taken => drop(self.shared.wait(state, taken.is_some())),
            }
        }
        Ok(None)
    }

    /// Has what begins from now on read by another plan.
    ///
    /// # Errors
    /// As [`GivenOut::go_on_by`].
    pub(crate) fn go_on_by(&mut self, plan: Arc<ReadPlan>) -> Result<()> {
        self.given_out.go_on_by(plan.clone())?;
        self.shared.lock().plan = plan;
        Ok(())
    }

    /// Rows still to come, at most.
    pub(crate) fn rows_left(&self) -> u64 {
        self.given_out.rows_left()
    }

    pub(crate) fn take_losses(&mut self) -> Losses {
        std::mem::take(&mut self.losses)
    }

    /// Stops, and has the loop of one thread go on behind the last batch.
    pub(crate) fn into_inline(mut self) -> Inline {
        self.stop();
        self.taken = None;
        let mut state = self.shared.lock();
        let last = state.plan.clone();
        state.begun.clear();
        drop(state);
        let (source, budget) = (self.shared.source.clone(), self.shared.budget.clone());
        let given_out = std::mem::replace(&mut self.given_out, GivenOut::new(last));
        Inline::of(given_out.into_decoder(budget), source)
    }

    fn stop(&mut self) {
        let mut state = self.shared.lock();
        state.stop = true;
        self.shared.wake(state);
        self.workers.join();
    }
}

impl Drop for RowGroupThreads {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic is handed over before a lock can be poisoned by it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps until something may have changed.
    fn wait<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        is_short_of_memory: bool,
    ) -> MutexGuard<'a, State> {
        state.asleep += 1;
        state.short_of_memory += usize::from(is_short_of_memory);
        let wait = self.changed.wait(state);
        let mut state = wait.unwrap_or_else(PoisonError::into_inner);
        state.asleep -= 1;
        state.short_of_memory -= usize::from(is_short_of_memory);
        state
    }

    /// Wakes those that sleep. Where nobody does, there is no call to the system.
    fn wake(&self, state: MutexGuard<'_, State>) {
        let is_heard = state.asleep > 0;
        drop(state);
        if is_heard {
            self.changed.notify_all();
        }
    }

    /// The life of a worker.
    fn work(&self) {
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut taken = None;
            let mut state = self.lock();
            while !state.stop {
                if taken.is_none() {
                    taken = self.take(&mut state);
                }
                match &mut taken {
                    Some(it) if self.may_go_on(&state, it.row_group) => {
                        drop(state);
                        if self.work_on(it, || ()) {
                            taken = None;
                        }
                        state = self.lock();
                    }
                    taken => state = self.wait(state, taken.is_some()),
                }
            }
        }));
        if let Err(panic) = outcome {
            let mut state = self.lock();
            state.panic = Some(panic);
            self.wake(state);
        }
    }

    /// The next row group that nobody works on, unless it is too far ahead.
    fn take(&self, state: &mut State) -> Option<Taken> {
        let ahead = state.begun.len();
        let row_group = state.front + ahead;
        if ahead >= BEGUN_A_THREAD * self.threads || row_group >= state.plan.row_groups().len() {
            return None;
        }
        state.begun.push_back(Begun {
            waiting: VecDeque::new(),
            is_over: false,
        });
        let (plan, budget) = (state.plan.clone(), self.budget.clone());
        let decoder = PushDecoder::of_row_group(plan.clone(), budget, row_group);
        Some(Taken {
            row_group,
            plan,
            inline: Inline::of(decoder, self.source.clone()),
        })
    }

    /// Whether there is memory for one more batch: for the row group that is given out there always is.
    fn may_go_on(&self, state: &State, row_group: usize) -> bool {
        row_group == state.front || !self.budget.is_short()
    }

    /// Decodes until there is a batch, or a reason to stop, and says so whenever bytes were read; whether the row group is
    /// over.
    fn work_on(&self, taken: &mut Taken, mut on_read: impl FnMut()) -> bool {
        let batch = loop {
            let state = self.lock();
            if state.stop {
                return true;
            }
            let plan = (!Arc::ptr_eq(&state.plan, &taken.plan)).then(|| state.plan.clone());
            drop(state);
            match taken.advance(plan) {
                Ok(Progress::Reads) => on_read(),
                Ok(Progress::Batch(batch)) => break Ok(Some(batch)),
                Ok(Progress::End) => break Ok(None),
                Err(error) => break Err(error),
            }
        };
        let is_over = !matches!(batch, Ok(Some(_)));
        let losses = taken.inline.take_losses();
        let waiting = match batch {
            Ok(None) if losses.kept().is_empty() => None,
            batch => Some(batch.and_then(|batch| {
                let batch = batch.zip(taken.inline.begun());
                self.keep(batch, losses)
            })),
        };
        let mut state = self.lock();
        let index = taken.row_group.checked_sub(state.front);
        if let Some(begun) = index.and_then(|index| state.begun.get_mut(index)) {
            begun.waiting.extend(waiting);
            begun.is_over = is_over;
        }
        // Nobody waits for a batch whose turn it is not.
        match index {
            Some(1..) if !is_over => drop(state),
            _ => self.wake(state),
        }
        is_over
    }

    /// What there is, with the memory that its batch takes.
    fn keep(&self, batch: Option<(RecordBatch, BegunRowGroup)>, losses: Losses) -> Result<Waiting> {
        let mut memory = Reservation::new(self.budget.clone());
        let bytes = batch.as_ref();
        let bytes = bytes.map_or(0, |(batch, _)| batch.get_array_memory_size());
        memory.resize(bytes as u64)?;
        Ok(Waiting {
            batch,
            losses,
            _memory: memory,
        })
    }
}
