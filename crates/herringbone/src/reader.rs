//! Record batches from a source, on one thread or several.

use std::sync::Arc;

use herringbone_arrow::array::{RecordBatch, RecordBatchReader};
use herringbone_arrow::schema::{ArrowError, SchemaRef};
use herringbone_core::budget::Budget;
use herringbone_core::loss::{Loss, Losses, Lost, OnError};
use herringbone_core::metrics::ReadMetrics;
use herringbone_core::read::{ReadPlan, RowGroupPlan, tests_row_groups};
use herringbone_format::{Error, Result};
use herringbone_pipeline::threads;

use crate::allocator::{ONE_THREAD, SEVERAL_THREADS, keep_memory};
use crate::inline::Inline;
use crate::source::Source;
use crate::threads::{FilteredThreads, RowGroupThreads, Threads};

/// Values below which neither a second thread nor anything else is worth its start.
const FEW_VALUES: u64 = 1 << 17;

/// Values of a row group up to which a thread takes all of it: it stays in the caches until it is given out, and takes
/// less time than its columns would to go from thread to thread.
const SMALL_ROW_GROUP: u64 = 1 << 19;

/// Bytes of such a row group, at most: some of them wait for their turn.
const SMALL_ROW_GROUP_BYTES: u64 = 8 << 20;

/// Bytes of a column chunk below which it is not worth handing it to another thread.
const SMALL_CHUNK_BYTES: u64 = 2 << 10;

/// An iterator of record batches.
///
/// Batches come in file order and are the same whatever the number of threads. After an error there
/// are no more.
pub struct Reader {
    plan: Arc<ReadPlan>,
    driver: Driver,
    budget: Arc<Budget>,
    rows_left: u64,
    losses: Losses,
}

enum Driver {
    Inline(Box<Inline>),
    Threads(Threads),
    /// The same, a row group a thread.
    RowGroups(Box<RowGroupThreads>),
    /// The same with a filter, a column a thread.
    Filtered(Box<FilteredThreads>),
    /// An error came before.
    Failed,
}

impl Reader {
    pub(crate) fn new(plan: Arc<ReadPlan>, source: Arc<dyn Source>) -> Self {
        let rows_left = plan
            .row_groups()
            .iter()
            .map(|group| group.num_wanted())
            .sum();
        let threads = threads(plan.options().threads);
        let values = (plan.num_columns() as u64).saturating_mul(rows_left);
        let is_short = plan.num_columns() == 0 || values < FEW_VALUES;
        let budget = Budget::new(&plan.options().limits);
        let tune_allocator = |bytes| {
            if plan.options().tune_allocator {
                keep_memory(bytes);
            }
        };
        let driver = if threads == 1 || is_short || !Driver::has_threads_for(&plan, threads) {
            if !is_short {
                tune_allocator(ONE_THREAD);
            }
            Driver::Inline(Box::new(Inline::new(plan.clone(), source, budget.clone())))
        } else {
            tune_allocator(SEVERAL_THREADS);
            Driver::of_threads(&plan, source, threads, &budget)
        };
        Self {
            plan,
            budget,
            driver,
            rows_left,
            losses: Losses::default(),
        }
    }

    /// The schema of the batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.plan.schema().clone()
    }

    /// What of the Arrow schema in the file had to be ignored.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        self.plan.warnings()
    }

    /// Rows still to come.
    #[must_use]
    pub fn rows_left(&self) -> u64 {
        self.rows_left
    }

    /// What the batches so far did without, if [damage](herringbone_core::loss::OnError) is no reason to fail.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// What the read did so far: row groups, rows and pages that were looked at and passed over, and bytes by step.
    #[must_use]
    pub fn metrics(&self) -> ReadMetrics {
        self.budget.read_metrics()
    }

    /// Goes on by another plan of the same read: of the same file and the same options, but for a filter that wants fewer
    /// rows. It counts from the next row group on, and in the one at hand behind a batch with which 131,072 rows of it were
    /// gone over: what is left of it is opened again then, and the batches of the new filter begin there. So rows may still
    /// come that it does not want; with several threads that depends on how far they are.
    ///
    /// ```
    /// use herringbone::filter::col;
    /// use herringbone::{ParquetFile, ReadOptions};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    ///
    /// let file = ParquetFile::open("testdata/example.parquet")?;
    /// let options = ReadOptions::new().columns(["id"]);
    /// let mut reader = file.read(options.clone().filter(col("id").ge(1)))?;
    /// while let Some(batch) = reader.next_batch()? {
    ///     // Whoever looks for the greatest ones knows better and better.
    ///     let better = file.plan(&options.clone().filter(col("id").ge(3)))?;
    ///     reader.go_on_by(better.into())?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Argument if it is a plan of another file, other columns or row groups, or has no filter. A read without a filter that has
    /// an offset or a limit cannot receive one: it counts other rows.
    pub fn go_on_by(&mut self, plan: Arc<ReadPlan>) -> Result<()> {
        self.plan.check_goes_on_by(&plan)?;
        self.driver = match std::mem::replace(&mut self.driver, Driver::Failed) {
            // The threads of one row group test all columns of a filter at once.
            Driver::Filtered(filtered) if plan.has_stages() => {
                Driver::Inline(Box::new(filtered.into_inline()))
            }
            // Threads that decode all columns at once do not test any.
            Driver::Threads(threads) => Driver::Inline(Box::new(threads.into_inline())),
            other => other,
        };
        match &mut self.driver {
            Driver::Inline(inline) => inline.go_on_by(plan),
            Driver::RowGroups(threads) => threads.go_on_by(plan),
            Driver::Filtered(filtered) => filtered.go_on_by(plan),
            Driver::Threads(_) | Driver::Failed => Ok(()),
        }
    }

    /// The next batch; `None` behind the last one, and after an error.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes, with its place, or Io.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            match self.driver.next_batch() {
                Ok(batch) => {
                    self.losses.append(self.driver.take_losses());
                    let rows = batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
                    self.rows_left = match &self.driver {
                        Driver::Inline(inline) => inline.rows_left(),
                        Driver::RowGroups(threads) => threads.rows_left(),
                        Driver::Filtered(filtered) => filtered.rows_left(),
                        Driver::Threads(_) | Driver::Failed => self.rows_left - rows,
                    };
                    return Ok(batch);
                }
                Err(error) => {
                    if let Driver::RowGroups(threads) = &mut self.driver {
                        // Of row groups that are over: nobody begins these again.
                        self.losses.append(threads.take_losses());
                    }
                    if self.driver.falls_back(&error) {
                        continue;
                    }
                    if let Driver::Threads(threads) = &mut self.driver
                        && self.plan.options().on_error.goes_on(&error)
                    {
                        let rows = threads.skip_row_group();
                        self.rows_left -= rows;
                        let lost = Lost::Rows(rows);
                        self.losses.push(Loss { error, lost });
                        continue;
                    }
                    self.driver = Driver::Failed;
                    return Err(error);
                }
            }
        }
    }
}

impl Driver {
    /// Returns true if this number of threads can read such a plan. Within a row group, one thread counts the losses of damaged
    /// files if there is a filter, and tests the stages of a filter.
    fn has_threads_for(plan: &ReadPlan, threads: usize) -> bool {
        if plan.is_filtered() {
            return Self::shares_columns(plan) || Self::may_take_row_groups(plan);
        }
        let chunk_bytes = plan.chunk_bytes();
        let columns_pay = chunk_bytes >= SMALL_CHUNK_BYTES || chunk_bytes == 0;
        columns_pay || Self::takes_row_groups(plan, threads)
    }

    /// Returns true if threads can share the columns of a row group that a filter tests.
    fn shares_columns(plan: &ReadPlan) -> bool {
        plan.options().on_error == OnError::Fail && !plan.has_stages()
    }

    /// Whether each thread may have a row group of its own. Under a limit nothing is tested ahead of time that may not be
    /// needed.
    fn may_take_row_groups(plan: &ReadPlan) -> bool {
        let tests_ahead = plan.is_filtered() && plan.options().limit.is_some();
        plan.row_groups().len() > 1 && !tests_ahead
    }

    /// Whether each of so many threads has one. Where most rows of large row groups are wanted as they are, arrays that
    /// wait for their turn would leave the caches.
    fn takes_row_groups(plan: &ReadPlan, threads: usize) -> bool {
        if !Self::may_take_row_groups(plan) {
            return false;
        }
        if plan.is_filtered() {
            return !Self::shares_columns(plan) || tests_row_groups(plan);
        }
        let row_groups = plan.row_groups().len() as u64;
        let columns = plan.num_columns() as u64;
        let rows: u64 = plan.row_groups().iter().map(RowGroupPlan::num_wanted).sum();
        let values = rows.saturating_mul(columns) / row_groups;
        let bytes = plan.chunk_bytes().saturating_mul(columns);
        row_groups >= threads as u64
            && values <= SMALL_ROW_GROUP
            && (1..=SMALL_ROW_GROUP_BYTES).contains(&bytes)
    }

    /// That of several threads.
    fn of_threads(
        plan: &Arc<ReadPlan>,
        source: Arc<dyn Source>,
        threads: usize,
        budget: &Arc<Budget>,
    ) -> Self {
        let budget = budget.clone();
        if Self::takes_row_groups(plan, threads) {
            let threads = RowGroupThreads::new(plan.clone(), source, threads, budget);
            return Self::RowGroups(Box::new(threads));
        }
        match FilteredThreads::new(plan, source.clone(), (threads, FEW_VALUES), budget.clone()) {
            Some(filtered) => Self::Filtered(Box::new(filtered)),
            None => Self::Threads(Threads::new(plan.clone(), source, threads, budget)),
        }
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        match self {
            Self::Inline(inline) => inline.next_batch(),
            Self::Threads(threads) => threads.next_batch(),
            Self::RowGroups(threads) => threads.next_batch(),
            Self::Filtered(filtered) => filtered.next_batch(),
            Self::Failed => Ok(None),
        }
    }

    /// Leaves the row group to the plain loop, and what comes behind it, where the budget of several threads was too small, they
    /// had cut a column wrong, or what they tested ahead failed; false where the error is the read's.
    fn falls_back(&mut self, error: &Error) -> bool {
        match std::mem::replace(self, Self::Failed) {
            Self::Threads(threads) if Budget::refused(error) || threads.is_split_wrong() => {
                *self = Self::Inline(Box::new(threads.into_inline()));
                true
            }
            Self::RowGroups(threads) if Budget::depends_on_others(error) => {
                *self = Self::Inline(Box::new(threads.into_inline()));
                true
            }
            Self::Filtered(filtered) if Budget::refused(error) || filtered.is_undecided() => {
                *self = Self::Inline(Box::new(filtered.into_inline()));
                true
            }
            other => {
                *self = other;
                false
            }
        }
    }

    fn take_losses(&mut self) -> Losses {
        match self {
            Self::Inline(inline) => inline.take_losses(),
            Self::Threads(threads) => threads.take_losses(),
            Self::RowGroups(threads) => threads.take_losses(),
            Self::Filtered(_) | Self::Failed => Losses::default(),
        }
    }
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch()
            .map_err(|error| ArrowError::ExternalError(Box::new(error)))
            .transpose()
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        self.plan.schema().clone()
    }
}

#[cfg(test)]
mod tests {
    use herringbone_arrow::array::{ArrayRef, Int64Array, StringArray};

    use super::*;
    use crate::{ParquetFile, ReadOptions, WriteOptions, Writer};

    /// A file of so many row groups of these rows, in so many columns of numbers, or of texts of so many bytes.
    fn file(row_groups: usize, rows: usize, columns: usize, text: Option<usize>) -> ParquetFile {
        let column = || -> ArrayRef {
            match text {
                None => Arc::new((0..rows as i64).collect::<Int64Array>()),
                Some(bytes) => {
                    let values = (0..rows).map(|row| Some(format!("{row:0>bytes$}")));
                    Arc::new(values.collect::<StringArray>())
                }
            }
        };
        let columns = (0..columns).map(|name| (name.to_string(), column()));
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let options = WriteOptions::new().row_group_rows(rows);
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
        (0..row_groups).for_each(|_| writer.write(&batch).unwrap());
        writer.finish().unwrap();
        ParquetFile::from_bytes(bytes::Bytes::from(bytes)).unwrap()
    }

    fn driver(file: &ParquetFile, options: ReadOptions) -> &'static str {
        match file.read(options).unwrap().driver {
            Driver::Inline(_) => "one thread",
            Driver::Threads(_) => "columns",
            Driver::RowGroups(_) => "row groups",
            Driver::Filtered(_) => "filtered",
            Driver::Failed => "none",
        }
    }

    #[test]
    fn threads_take_what_is_worth_it() {
        let of = |file: &ParquetFile| driver(file, ReadOptions::new().threads(2));
        // Too few values for a second thread, with small and large row groups.
        assert_eq!(of(&file(2, 1000, 10, None)), "one thread");
        assert_eq!(of(&file(20, 1000, 10, None)), "row groups");
        assert_eq!(of(&file(1, 20_000, 10, None)), "columns");
        assert_eq!(of(&file(2, 300_000, 2, None)), "columns");
        // Few values are many bytes.
        assert_eq!(of(&file(2, 10_000, 8, Some(200))), "columns");
        // Columns of a few bytes, in one row group and in two.
        assert_eq!(of(&file(1, 100, 1500, None)), "one thread");
        assert_eq!(of(&file(2, 100, 1500, None)), "row groups");
    }

    #[test]
    fn a_row_group_for_each_thread() {
        let file = file(4, 20_000, 4, None);
        let with = |threads| driver(&file, ReadOptions::new().threads(threads));
        assert_eq!(with(1), "one thread");
        assert_eq!(with(4), "row groups");
        assert_eq!(with(5), "columns");
    }
}
