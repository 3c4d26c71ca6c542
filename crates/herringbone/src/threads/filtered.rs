//! Reads with a filter on several threads: row group after row group, first the tested columns, then the others.
//!
//! Both are read as without a filter, the others of the wanted rows alone. So the wanted rows of a row group are known
//! before the others begin, and batches end where they do on one thread.

use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_core::budget::Budget;
use herringbone_core::read::{FilteredRead, FilteredRowGroup, Needs, ReadPlan};
use herringbone_format::Result;

use super::Threads;
use crate::blocking::read_ahead;
use crate::inline::Inline;
use crate::source::Source;

/// Decodes on several threads what a filter wants.
pub(crate) struct FilteredThreads {
    read: FilteredRead,
    budget: Arc<Budget>,
    source: Arc<dyn Source>,
    threads: usize,
    /// Values to go over below which a second thread is not worth its start.
    few_values: u64,
    at: At,
}

/// What is under way of a row group.
enum At {
    /// It is over.
    End,
    /// All its rows are wanted.
    Whole(Box<Threads>),
    /// Its tested columns.
    Tested(Box<Threads>),
    /// The others, of the wanted rows.
    Others(Box<Threads>),
    /// There are no others.
    WithoutOthers,
}

impl FilteredThreads {
    /// The start of a read; none if it has no filter.
    pub(crate) fn new(
        plan: &Arc<ReadPlan>,
        source: Arc<dyn Source>,
        (threads, few_values): (usize, u64),
        budget: Arc<Budget>,
    ) -> Option<Self> {
        Some(Self {
            read: FilteredRead::new(plan, &budget)?,
            budget,
            source,
            threads,
            few_values,
            at: At::End,
        })
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while !self.read.given_out().is_full() {
            if self.read.end_span() {
                self.at = At::End;
            }
            let batch = match &mut self.at {
                At::End => match self.open()? {
                    true => continue,
                    false => break,
                },
                At::Whole(threads) => threads.next_batch()?,
                At::Tested(threads) => {
                    let batch = threads.next_batch()?;
                    if let Some(batch) = &batch {
                        self.read.test(batch)?;
                    }
                    if batch.is_none() || self.read.is_tested() {
                        self.begin_others();
                    }
                    continue;
                }
                At::Others(threads) => match threads.next_batch()? {
                    Some(others) => Some(self.read.put_together(&others)?),
                    None => None,
                },
                At::WithoutOthers => self.read.without_others()?,
            };
            match batch {
                None => self.at = At::End,
                Some(batch) => {
                    if let Some(batch) = self.read.give_out(batch) {
                        return Ok(Some(batch));
                    }
                }
            }
        }
        self.at = At::End;
        Ok(None)
    }

    /// Goes to the next row group; false behind the last one.
    fn open(&mut self) -> Result<bool> {
        let mut needs = Needs::default();
        loop {
            match self.read.next_row_group(&mut needs)? {
                FilteredRowGroup::End => return Ok(false),
                FilteredRowGroup::Whole(plan) => self.at = At::Whole(self.start(plan)),
                FilteredRowGroup::Tested(plan) => self.at = At::Tested(self.start(plan)),
                FilteredRowGroup::Needs => {
                    for need in std::mem::take(&mut needs.now) {
                        let bytes = read_ahead(&*self.source, &need, need.end)?;
                        self.read.supply(need.start, &bytes);
                    }
                    continue;
                }
            }
            return Ok(true);
        }
    }

    fn begin_others(&mut self) {
        // The threads that tested give back their memory first.
        self.at = At::WithoutOthers;
        if let Some(plan) = self.read.others() {
            self.at = At::Others(self.start(plan));
        }
    }

    /// Threads for the one row group of a plan, no more than are worth it.
    fn start(&self, plan: Arc<ReadPlan>) -> Box<Threads> {
        // Pages are decompressed whole, however few of their rows are wanted.
        let rows = plan.row_groups().iter().map(|it| it.rows_spanned());
        let values = (plan.num_columns() as u64).saturating_mul(rows.sum());
        let threads = match values < self.few_values {
            true => 1,
            false => self.threads,
        };
        let (source, budget) = (self.source.clone(), self.budget.clone());
        Box::new(Threads::new(plan, source, threads, budget))
    }

    /// Whether the loop of one thread decides why the last batch failed: where a column was cut wrong, and where tested
    /// columns failed, since it does not test them all before it goes on.
    pub(crate) fn is_undecided(&self) -> bool {
        match &self.at {
            At::Tested(_) => true,
            At::Whole(threads) | At::Others(threads) => threads.is_split_wrong(),
            At::End | At::WithoutOthers => false,
        }
    }

    /// Has what begins from now on read by another plan.
    ///
    /// # Errors
    /// As [`FilteredRead::go_on_by`].
    pub(crate) fn go_on_by(&mut self, plan: Arc<ReadPlan>) -> Result<()> {
        self.read.go_on_by(plan)
    }

    /// Rows still to come, at most.
    pub(crate) fn rows_left(&self) -> u64 {
        self.read.given_out().rows_left()
    }

    /// Stops, and has the loop of one thread go on behind the last batch.
    pub(crate) fn into_inline(self) -> Inline {
        let Self {
            read, source, at, ..
        } = self;
        drop(at);
        Inline::of(read.into_decoder(), source)
    }
}
