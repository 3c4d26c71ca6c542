//! Readers of record batches, on one thread or several.

use std::fmt;
use std::sync::Arc;

use herringbone_arrow::array::{RecordBatch, RecordBatchReader};
use herringbone_arrow::schema::{ArrowError, SchemaRef};
use herringbone_core::budget::Budget;
use herringbone_core::loss::{Losses, OnError};
use herringbone_core::metrics::ReadMetrics;
use herringbone_filter::Predicate;
use herringbone_format::Result;
use herringbone_format::modular_encryption::KeyStep;
use herringbone_read::{ReadPlan, ReadSequence, ReadStep, RowGroupPlan, tests_row_groups};

use crate::allocator::{is_small, keep_memory_of_read};
use crate::fetched::Fetched;
use crate::source::Source;
use crate::source_bytes::{SourceBytes, is_fetched_ahead};
use crate::threads::{Grain, Threads};

/// The most values in a row group that one thread reads alone. The row group's arrays are then
/// still in the caches when they are emitted.
const SMALL_ROW_GROUP: u64 = 1 << 19;

/// The largest such row group in bytes. We bound it because finished row groups are kept in memory
/// while waiting for their turn.
const SMALL_ROW_GROUP_BYTES: u64 = 8 << 20;

/// The column chunk size in bytes below which another thread does not pay off.
const SMALL_CHUNK_BYTES: u64 = 2 << 10;

/// An iterator of record batches.
///
/// Batches are returned in file order, and are the same for any number of threads. After an error,
/// no more batches are returned.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::{ParquetFile, ReadOptions};
///
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let mut reader = file.read(ReadOptions::new().columns(["id"]))?;
/// let mut rows = 0;
/// while let Some(batch) = reader.next_batch()? {
///     rows += batch.num_rows();
/// }
/// assert_eq!(rows, 24);
/// assert_eq!(reader.metrics().row_groups, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Reader {
    plan: Arc<ReadPlan>,
    budget: Arc<Budget>,
    driver: Driver,
    losses: Losses,
    /// The file's name, used as the beginning of errors.
    name: Option<Arc<str>>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("schema", self.plan.schema())
            .field("rows_left", &self.rows_left())
            .finish_non_exhaustive()
    }
}

/// The loop that drives a read.
enum Driver {
    /// A single thread, reading bytes as it needs them.
    OneThread(Box<ReadSequence>, Arc<dyn Source>),
    /// Several threads.
    Threads(Box<Threads>),
    /// A single thread, with bytes fetched in rounds.
    Fetched(Box<Fetched>),
    /// No loop, because a previous call returned an error.
    Failed,
}

impl Reader {
    pub(crate) fn new(
        plan: Arc<ReadPlan>,
        source: Arc<dyn Source>,
        name: Option<Arc<str>>,
    ) -> Self {
        let sequence = ReadSequence::new(plan.clone());
        let budget = sequence.budget().clone();
        let is_fetched = is_fetched_ahead(&source.fetch_policy());
        let driver = match grain(&plan) {
            None if is_fetched => Driver::Fetched(Box::new(Fetched::new(sequence, source))),
            None => Driver::OneThread(Box::new(sequence), source),
            Some(how) => Driver::Threads(Box::new(Threads::new(sequence, source, how))),
        };
        Self {
            plan,
            budget,
            driver,
            losses: Losses::default(),
            name,
        }
    }

    /// Converts the reader into one that implements Arrow's [`RecordBatchReader`] and returns
    /// Arrow's errors.
    #[must_use]
    pub fn into_record_batch_reader(self) -> ArrowReader<Self> {
        let schema = self.schema();
        ArrowReader::new(self, schema)
    }

    /// Returns the schema of the batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.plan.schema().clone()
    }

    /// Describes the parts of the file's Arrow schema that had to be ignored.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        self.plan.warnings()
    }

    /// Returns an upper bound on the number of rows not yet returned.
    #[must_use]
    pub fn rows_left(&self) -> u64 {
        match &self.driver {
            Driver::OneThread(sequence, _) => sequence.rows_left(),
            Driver::Threads(threads) => threads.rows_left(),
            Driver::Fetched(fetched) => fetched.decoder().rows_left(),
            Driver::Failed => 0,
        }
    }

    /// Returns the data lost to damage so far. This is always empty unless the options
    /// [tolerate](herringbone_core::loss::OnError) damage.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Takes the losses since the last call. [`Self::losses`] does not return them again.
    #[must_use]
    pub fn take_losses(&mut self) -> Losses {
        std::mem::take(&mut self.losses)
    }

    /// Returns the read's metrics so far: row groups, rows, pages, requests and bytes.
    #[must_use]
    pub fn metrics(&self) -> ReadMetrics {
        self.budget.read_metrics()
    }

    /// Replaces the filter with an equal or tighter one. The new filter applies to all rows not yet
    /// tested by the old one, and it also prunes row groups not yet started.
    ///
    /// Note that rows already selected by the old filter are still returned. With several threads,
    /// their number depends on how far ahead the threads are.
    ///
    /// ```
    /// use herringbone::filter::col;
    /// use herringbone::{ParquetFile, ReadOptions};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    ///
    /// let file = ParquetFile::open("testdata/example.parquet")?;
    /// let mut reader = file.read(ReadOptions::new().columns(["id"]).filter(col("id").ge(1)))?;
    /// while let Some(batch) = reader.next_batch()? {
    ///     // A search for the greatest values needs fewer and fewer rows.
    ///     reader.tighten_filter(&col("id").ge(3))?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if the form of the new filter does not
    /// show that it [implies](Predicate::implies) the old one, because rows selected only by the
    /// new one might already be gone. Also fails with [Argument](crate::ErrorKind::Argument) if the
    /// filter does not fit the file, or if the read has a limit or an offset but no filter.
    pub fn tighten_filter(&mut self, filter: &Predicate) -> Result<()> {
        match &mut self.driver {
            Driver::OneThread(sequence, _) => sequence.tighten_filter(filter),
            Driver::Threads(threads) => threads.update(|driver| driver.tighten_filter(filter)),
            Driver::Fetched(fetched) => fetched.tighten_filter(filter),
            Driver::Failed => Ok(()),
        }
    }

    /// Returns the next batch, or `None` after the last batch and after an error.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt) or
    /// [Unsupported](crate::ErrorKind::Unsupported) if the file's bytes cannot be decoded, with
    /// [Limit](crate::ErrorKind::Limit) if they need too much memory, and with
    /// [Key](crate::ErrorKind::Key) if they are not authentic. These errors have their location.
    /// Fails with [Io](crate::ErrorKind::Io) if the source fails. Errors from your own predicates
    /// and sources keep their kind.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let batch = match &mut self.driver {
            Driver::OneThread(sequence, source) => next_batch(sequence, source),
            Driver::Threads(threads) => threads.next_batch(),
            Driver::Fetched(fetched) => fetched.next_batch(),
            Driver::Failed => Ok(None),
        };
        let losses = match &mut self.driver {
            Driver::OneThread(sequence, _) => sequence.take_losses(),
            Driver::Threads(threads) => threads.update(ReadSequence::take_losses),
            Driver::Fetched(fetched) => fetched.take_losses(),
            Driver::Failed => Losses::default(),
        };
        let name = self.name.as_deref().unwrap_or_default();
        self.losses
            .append(losses.map_errors(|error| error.in_file(name)));
        batch.map_err(|error| {
            self.driver = Driver::Failed;
            error.in_file(name)
        })
    }
}

/// Returns a sequence's next batch, decoded on this thread.
fn next_batch(
    sequence: &mut ReadSequence,
    source: &Arc<dyn Source>,
) -> Result<Option<RecordBatch>> {
    let budget = sequence.budget().clone();
    let mut bytes = SourceBytes::new(source, &budget);
    loop {
        match sequence.advance(&mut bytes)? {
            ReadStep::Batch(batch) => return Ok(Some(batch)),
            ReadStep::Finished => return Ok(None),
            // We can retry immediately, because this source never makes us wait for bytes.
            ReadStep::Pending => {}
            ReadStep::NeedsKeys(keys) => {
                for key in keys {
                    KeyStep::<()>::NeedKey(key).ready()?;
                }
            }
        }
    }
}

/// Returns a worthwhile number of threads for a read and their way of sharing the work, or `None`
/// if one thread is enough.
fn grain(plan: &ReadPlan) -> Option<(usize, Grain)> {
    let threads = herringbone_pipeline::threads(plan.options().threads);
    if is_small(plan) {
        return None;
    }
    if threads == 1 || !has_threads_for(plan, threads) {
        keep_memory_of_read(plan, 1, 0);
        return None;
    }
    keep_memory_of_read(plan, threads, 0);
    Some(match takes_row_groups(plan, threads) {
        true => (threads.min(plan.row_groups().len()), Grain::RowGroup),
        false => (threads, Grain::Column),
    })
}

/// Returns true if several threads pay off for this plan. Note that with a filter, only one thread
/// at a time can skip damage within a row group.
fn has_threads_for(plan: &ReadPlan, threads: usize) -> bool {
    if plan.is_filtered() {
        return plan.options().on_error == OnError::Fail || may_take_row_groups(plan);
    }
    let chunk_bytes = plan.mean_chunk_bytes();
    let columns_pay = chunk_bytes >= SMALL_CHUNK_BYTES || chunk_bytes == 0;
    columns_pay || takes_row_groups(plan, threads)
}

/// Returns true if each thread is allowed to take a whole row group. Under a limit we don't filter
/// ahead, because those rows might never be needed.
fn may_take_row_groups(plan: &ReadPlan) -> bool {
    let tests_ahead = plan.is_filtered() && plan.options().limit.is_some();
    plan.row_groups().len() > 1 && !tests_ahead
}

/// Returns true if each of `threads` threads takes whole row groups. If most rows of large row
/// groups are selected, threads share columns instead, because arrays waiting for their turn would
/// fall out of the caches.
fn takes_row_groups(plan: &ReadPlan, threads: usize) -> bool {
    if !may_take_row_groups(plan) {
        return false;
    }
    if plan.is_filtered() {
        return plan.options().on_error != OnError::Fail || tests_row_groups(plan);
    }
    let row_groups = plan.row_groups().len() as u64;
    let columns = plan.num_columns() as u64;
    let rows: u64 = plan.row_groups().iter().map(RowGroupPlan::num_wanted).sum();
    let values = rows.saturating_mul(columns) / row_groups;
    let bytes = plan.mean_chunk_bytes().saturating_mul(columns);
    row_groups >= threads as u64
        && values <= SMALL_ROW_GROUP
        && (1..=SMALL_ROW_GROUP_BYTES).contains(&bytes)
}

impl Iterator for Reader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

/// A reader's record batches with Arrow's errors. Use this to pass a reader to functions that take
/// Arrow's [`RecordBatchReader`].
///
/// [`Reader::into_record_batch_reader`] creates this type. Each error is an
/// `ArrowError::ExternalError` with an [`Error`](crate::Error) inside.
#[derive(Debug)]
pub struct ArrowReader<R> {
    batches: R,
    schema: SchemaRef,
}

impl<R: Iterator<Item = Result<RecordBatch>>> ArrowReader<R> {
    /// Wraps batches with this schema.
    pub fn new(batches: R, schema: SchemaRef) -> Self {
        Self { batches, schema }
    }
}

impl<R: Iterator<Item = Result<RecordBatch>>> Iterator for ArrowReader<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.batches.next()?;
        Some(next.map_err(ArrowError::from))
    }
}

impl<R: Iterator<Item = Result<RecordBatch>>> RecordBatchReader for ArrowReader<R> {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

#[cfg(test)]
mod tests {
    use herringbone_arrow::array::{ArrayRef, Int64Array, StringArray};

    use super::*;
    use crate::{ParquetFile, ReadOptions, WriteOptions, Writer};

    /// Returns a file of `row_groups` row groups with `rows` rows each. Its columns contain
    /// integers, or strings of `text` bytes.
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
            Driver::OneThread(..) => "one thread",
            Driver::Threads(threads) => match threads.grain() {
                Grain::Column => "columns",
                Grain::RowGroup => "row groups",
            },
            Driver::Fetched(_) => "fetched",
            Driver::Failed => "none",
        }
    }

    #[test]
    fn threads_take_what_is_worth_it() {
        let of = |file: &ParquetFile| driver(file, ReadOptions::new().threads(2));
        // Two row groups with too few values for a second thread, then small and large row groups.
        assert_eq!(of(&file(2, 1000, 10, None)), "one thread");
        assert_eq!(of(&file(20, 1000, 10, None)), "row groups");
        assert_eq!(of(&file(1, 20_000, 10, None)), "columns");
        assert_eq!(of(&file(2, 300_000, 2, None)), "columns");
        // Few values, but many bytes.
        assert_eq!(of(&file(2, 10_000, 8, Some(200))), "columns");
        // Columns of only a few bytes, in one row group and in two.
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

    /// Several threads decode filtered rows, unless that would lose more rows of a damaged file or
    /// test rows beyond a limit.
    #[test]
    fn threads_of_a_filter() {
        let (one, many) = (file(1, 200_000, 2, None), file(4, 50_000, 2, None));
        let with = |file: &ParquetFile, on_error, limit: Option<u64>| {
            let options = ReadOptions::new().threads(2).on_error(on_error);
            let mut options = options.filter(herringbone_filter::col("0").gt(10_i64));
            options.limit = limit;
            driver(file, options)
        };
        use OnError::{Fail, NullPage, SkipRowGroup};
        for (on_error, limit, of_one, of_many) in [
            (Fail, Some(9), "columns", "columns"),
            (SkipRowGroup, None, "one thread", "row groups"),
            (SkipRowGroup, Some(9), "one thread", "one thread"),
            (NullPage, None, "one thread", "row groups"),
            (NullPage, Some(9), "one thread", "one thread"),
        ] {
            let found = (with(&one, on_error, limit), with(&many, on_error, limit));
            assert_eq!(found, (of_one, of_many), "{on_error:?}, {limit:?}");
        }
        assert_ne!(with(&one, Fail, None), "one thread");
        assert_ne!(with(&many, Fail, None), "one thread");
    }
}
