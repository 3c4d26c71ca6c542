//! A read with a filter, a row group at a time, for drivers that decode several columns at once.
//!
//! ```text
//! next_row_group ─► Whole: its batches ─► give_out
//!                └► Tested: batches of the tested columns ─► test ─► others: their batches ─► put_together ─► give_out
//! ```

use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::array::RecordBatch;
use herringbone_format::Result;

use super::plan::RowGroupPlan;
use super::row_group::{FoundRows, Pruned, RowGroupPruner};
use super::{BatchAssembler, BegunRowGroup, GivenOut, Needs, PushDecoder, ReadPlan};
use crate::budget::Budget;
use crate::column::selection::WantedPiece;
use crate::filter::Verdict;

/// Where a read with a filter stands.
pub struct FilteredRead {
    plan: Arc<ReadPlan>,
    budget: Arc<Budget>,
    /// Another plan was handed in, so row groups are read span by span: others may follow.
    goes_by_span: bool,
    rows: FoundRows,
    /// Rows of the row group that are wanted.
    wanted: Vec<WantedPiece>,
    /// The row group that is tested, with the maps of its pages.
    tested: Option<RowGroupPlan>,
    pruner: Option<RowGroupPruner>,
    /// Puts together what comes of the wanted rows where nothing else of them is decoded.
    without_columns: Option<BatchAssembler>,
    /// The row group at hand, from the row on where it was begun by the plan.
    row_group: Option<RowGroupPlan>,
    /// Row groups behind it that are at hand as well.
    whole_behind: usize,
    /// Whether only a span of that is at hand.
    is_span: bool,
    /// What of it is read later on.
    rest: Option<RowGroupPlan>,
    given_out: GivenOut,
}

/// What comes next of a read with a filter.
pub enum FilteredRowGroup {
    /// Bytes are missing.
    Needs,
    /// All planned rows of these row groups are wanted.
    Whole(Arc<ReadPlan>),
    /// These columns are to be tested.
    Tested(Arc<ReadPlan>),
    /// There are no more rows.
    End,
}

impl FilteredRead {
    /// The start of a read; none if it has no filter.
    #[must_use]
    pub fn new(plan: &Arc<ReadPlan>, budget: &Arc<Budget>) -> Option<Self> {
        let filter = plan.filter()?.clone();
        Some(Self {
            rows: FoundRows::new(filter, plan.schema().clone(), budget),
            wanted: Vec::new(),
            tested: None,
            pruner: None,
            without_columns: None,
            row_group: None,
            whole_behind: 0,
            is_span: false,
            rest: None,
            goes_by_span: false,
            given_out: GivenOut::new(plan.clone()),
            plan: plan.clone(),
            budget: budget.clone(),
        })
    }

    /// Goes to the next row group of which a row may be wanted, or to the rest of the one at hand. Without bytes, `needs` says
    /// what is needed.
    ///
    /// # Errors
    /// Corrupt where its metadata makes no sense; Key, Limit; what predicates say.
    pub fn next_row_group(&mut self, needs: &mut Needs) -> Result<FilteredRowGroup> {
        loop {
            let pruner = match &mut self.pruner {
                Some(pruner) => pruner,
                none => {
                    let rest = self.rest.take().filter(|_| !self.given_out.is_full());
                    let next = rest.or_else(|| {
                        let next = self.given_out.next_row_group()?;
                        self.given_out.plan().row_groups().get(next).cloned()
                    });
                    let Some(row_group) = next else {
                        return Ok(FilteredRowGroup::End);
                    };
                    self.row_group = Some(row_group.clone());
                    let plan = self.given_out.plan();
                    if !Arc::ptr_eq(plan, &self.plan)
                        && let Some(filter) = plan.filter()
                    {
                        let schema = plan.schema().clone();
                        self.rows = FoundRows::new(filter.clone(), schema, &self.budget);
                        self.plan = plan.clone();
                    }
                    let (plan, budget) = (self.plan.clone(), self.budget.clone());
                    none.insert(RowGroupPruner::new(plan, row_group, budget)?)
                }
            };
            let Some(pruned) = pruner.poll(needs)? else {
                return Ok(FilteredRowGroup::Needs);
            };
            self.pruner = None;
            if let Some(row_group) = self.open(pruned)? {
                return Ok(row_group);
            }
        }
    }

    fn open(&mut self, mut pruned: Pruned) -> Result<Option<FilteredRowGroup>> {
        self.wanted.clear();
        self.tested = None;
        self.whole_behind = 0;
        let verdict = pruned.verdicts.whole();
        self.is_span = self.goes_by_span && verdict != Verdict::None;
        if self.is_span {
            (pruned.row_group, self.rest) = pruned.row_group.split_span();
        }
        Ok(match verdict {
            Verdict::None => None,
            Verdict::All => {
                self.rows.open_whole(pruned.memory);
                let row_group = pruned.row_group;
                let row_group = row_group.restricted(row_group.ranges.clone(), pruned.maps);
                let mut row_groups = vec![row_group];
                self.add_whole_behind(&mut row_groups)?;
                Some(FilteredRowGroup::Whole(self.plan.of_row_groups(row_groups)))
            }
            Verdict::Some => {
                let row_group = self.rows.open(pruned);
                self.wanted = self.rows.add_sure(Vec::new());
                let tested = self.plan.filter().map(|filter| filter.tested());
                let tested = tested.map(|it| it.of_row_groups(vec![row_group.clone()]));
                self.tested = Some(row_group);
                tested.map(FilteredRowGroup::Tested)
            }
        })
    }

    /// Adds the row groups behind the last one of which statistics alone tell that all rows are wanted: threads go on
    /// without a stop there. No more are looked at than have rows that are to be given out.
    fn add_whole_behind(&mut self, row_groups: &mut Vec<RowGroupPlan>) -> Result<()> {
        let mut rows: u64 = row_groups.iter().map(RowGroupPlan::num_wanted).sum();
        while !self.is_span
            && rows < self.given_out.rows_to_find()
            && let Some(next) = self.given_out.row_group_behind(self.whole_behind).cloned()
        {
            let (plan, budget) = (self.plan.clone(), self.budget.clone());
            // What is wrong with it is said when its turn comes.
            let pruner = RowGroupPruner::new(plan, next.clone(), budget).ok();
            let Some(mut pruner) = pruner.filter(RowGroupPruner::is_wanted_whole) else {
                break;
            };
            // It asks for nothing, and counts what is known.
            pruner.poll(&mut Needs::default())?;
            rows = rows.saturating_add(next.num_wanted());
            row_groups.push(next);
            self.whole_behind += 1;
        }
        Ok(())
    }

    /// Hands in bytes of the file that start at `offset`.
    pub fn supply(&mut self, offset: u64, bytes: &Bytes) {
        if let Some(pruner) = &mut self.pruner {
            pruner.supply(offset, bytes);
        }
    }

    /// Tests the next rows of the tested columns.
    ///
    /// # Errors
    /// What the predicate says; Limit where the budget refuses.
    pub fn test(&mut self, batch: &RecordBatch) -> Result<()> {
        let wanted = self.rows.test(batch)?;
        self.wanted.extend(wanted);
        Ok(())
    }

    /// Whether no more rows of the row group need a test: all are tested, or as many are found as are to be given out.
    #[must_use]
    pub fn is_tested(&self) -> bool {
        self.rows.untested() == 0 || self.rows.found() >= self.given_out.rows_to_find()
    }

    /// The other columns of the rows that are wanted; none where there are no such rows, or columns.
    #[must_use]
    pub fn others(&mut self) -> Option<Arc<ReadPlan>> {
        let others = self.plan.filter()?.others();
        let wanted = std::mem::take(&mut self.wanted);
        let row_group = self.tested.as_ref()?;
        let row_group = row_group.selected(wanted);
        if others.num_columns() == 0 {
            let mut assembler = BatchAssembler::new(others.clone(), &self.budget);
            assembler.open(&row_group);
            self.without_columns = Some(assembler);
        }
        let has_rows = row_group.num_wanted() > 0 && others.num_columns() > 0;
        has_rows.then(|| others.of_row_groups(vec![row_group]))
    }

    /// The next rows, of which `others` has the other columns.
    ///
    /// # Errors
    /// Limit where the budget refuses.
    pub fn put_together(&mut self, others: &RecordBatch) -> Result<RecordBatch> {
        self.rows.put_together(others)
    }

    /// The next rows, where there are no other columns; none where there are no more rows.
    ///
    /// # Errors
    /// Limit where the budget refuses.
    pub fn without_others(&mut self) -> Result<Option<RecordBatch>> {
        let found = self.rows.found();
        match &mut self.without_columns {
            Some(assembler) if found > 0 => {
                let others = assembler.batch_without_columns(found)?;
                self.rows.put_together(&others).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Counts a batch; what of it is to be given out.
    pub fn give_out(&mut self, batch: RecordBatch) -> Option<RecordBatch> {
        if self.whole_behind > 0 && self.given_out.is_given_whole() {
            self.whole_behind -= 1;
            let next = self.given_out.next_row_group()?;
            self.row_group = self.plan.row_groups().get(next).cloned();
        }
        let begun = BegunRowGroup {
            plan: self.plan.clone(),
            row_group: self.row_group.clone()?,
        };
        self.given_out.give_out(batch, begun)
    }

    /// Leaves what is left of the row group to the plan that was handed in, once that is worth it: whether that comes next.
    pub fn end_span(&mut self) -> bool {
        let is_old = !Arc::ptr_eq(self.given_out.plan(), &self.plan);
        let row_group = self.row_group.as_ref();
        let Some(row_group) = row_group.filter(|_| is_old && !self.is_span) else {
            return false;
        };
        if self.whole_behind > 0 && self.given_out.is_given_whole() {
            return true;
        }
        let end = match &self.tested {
            Some(_) => self.rows.given_up_to(),
            None => row_group.end_of(self.given_out.given()),
        };
        self.rest = row_group.behind_span(end);
        self.rest.is_some()
    }

    /// What was given out.
    #[must_use]
    pub fn given_out(&self) -> &GivenOut {
        &self.given_out
    }

    /// Has what begins from now on read by another plan.
    ///
    /// # Errors
    /// As [`GivenOut::go_on_by`].
    pub fn go_on_by(&mut self, plan: Arc<ReadPlan>) -> Result<()> {
        self.goes_by_span = true;
        self.given_out.go_on_by(plan)
    }

    /// Goes on with one column after the other, from where the last batch ended. Nothing of the budget may be in use.
    #[must_use]
    pub fn into_decoder(mut self) -> PushDecoder {
        self.rows.close();
        self.pruner = None;
        self.given_out.into_decoder(self.budget)
    }
}
