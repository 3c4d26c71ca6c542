//! Row groups decoded separately from the rest of their read.

use std::ops::Range;

use bytes::Bytes;
use herringbone_arrow::array::RecordBatch;
use herringbone_format::Result;

use super::store::{ByteStore, Wanted};
use crate::bytes::FileBytes as _;
use crate::row_group::{RowGroupPosition, RowGroupRead, RowGroupStep};
use herringbone_core::budget::{Budget, Reservation};
use herringbone_core::fetch::FetchPolicy;
use herringbone_core::loss::Losses;

/// A row group of a read, along with its bytes. It can be decoded on any thread.
///
/// ```
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("price", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().row_group_rows(50);
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use std::sync::Arc;
/// use herringbone::push::{PushDecoder, RowGroupPoll};
/// use herringbone::{ParquetFile, ReadOptions};
///
/// // 100 rows in two row groups, with the columns `id` and `price`.
/// let file = ParquetFile::from_bytes(bytes)?;
/// let source = file.source().clone();
/// let mut decoder = PushDecoder::new(Arc::new(file.plan(&ReadOptions::new())?));
/// let mut threads = Vec::new();
/// while let Some(mut row_group) = decoder.take_row_group() {
///     let source = source.clone();
///     threads.push(std::thread::spawn(move || -> herringbone::Result<usize> {
///         let mut rows = 0;
///         loop {
///             match row_group.poll()? {
///                 RowGroupPoll::Needs(ranges) => {
///                     for range in ranges {
///                         row_group.supply(range.start, &source.read(range)?);
///                     }
///                 }
///                 RowGroupPoll::Batch(batch) => rows += batch.num_rows(),
///                 RowGroupPoll::Finished => return Ok(rows),
///             }
///         }
///     }));
/// }
/// let rows = threads.into_iter().map(|thread| thread.join().expect("no panic"));
/// assert_eq!(rows.collect::<herringbone::Result<Vec<_>>>()?, [50, 50]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DetachedRowGroup {
    read: RowGroupRead,
    store: ByteStore,
    policy: FetchPolicy,
    wanted: Wanted,
    /// True if the row group was restarted because memory was short.
    has_started_again: bool,
    /// The position before a batch that couldn't be decoded ahead.
    failed_at: Option<RowGroupPosition>,
}

/// The result of [`DetachedRowGroup::poll`].
///
/// The enum is exhaustive on purpose. A driver ignoring a step would never end, so it must not compile.
#[derive(Debug)]
pub enum RowGroupPoll {
    /// More of the file's bytes are needed, either for rows selected by a filter, or because they were dropped when
    /// memory was short.
    Needs(Vec<Range<u64>>),
    /// The next batch.
    Batch(RecordBatch),
    /// The row group has no more rows.
    Finished,
}

/// A batch waiting until it is due. It counts as memory of the read in the meantime.
pub struct WaitingBatch {
    /// The batch.
    pub batch: RecordBatch,
    /// The damaged pages left out of the batch.
    pub losses: Losses,
    /// An upper bound on the number of rows after the batch in the row group.
    pub rows_left: u64,
    /// The position before the batch. The row group can return to it.
    position: RowGroupPosition,
    _memory: Reservation,
}

/// The result of [`DetachedRowGroup::poll_ahead`].
pub enum AheadStep {
    /// The next batch.
    Batch(Box<WaitingBatch>),
    /// The row group has no more rows. These damaged pages were left out after the last batch.
    Finished(Losses),
    /// The next batch cannot be decoded ahead, because bytes or memory are missing or the bytes are damaged. Once the
    /// row group is [put back](super::PushDecoder::put_back), its decoder returns the error.
    Failed,
}

impl DetachedRowGroup {
    pub(super) fn new(read: RowGroupRead, store: ByteStore, policy: FetchPolicy) -> Self {
        Self {
            read,
            store,
            policy,
            wanted: Wanted::default(),
            has_started_again: false,
            failed_at: None,
        }
    }

    /// Returns the row group's ordinal in the file.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.read.ordinal()
    }

    /// Decodes the next batch from the supplied bytes, or returns the missing ranges.
    ///
    /// # Errors
    /// Returns errors in the bytes along with their location in the file.
    pub fn poll(&mut self) -> Result<RowGroupPoll> {
        loop {
            self.store.take_unmet();
            let is_short = self.has_started_again || self.read.budget().is_short();
            match self.read.poll(u64::MAX, !is_short, &mut self.store) {
                Ok(RowGroupStep::Batch(batch)) => return Ok(RowGroupPoll::Batch(batch)),
                Ok(RowGroupStep::End) => return Ok(RowGroupPoll::Finished),
                Ok(RowGroupStep::Pending) => {
                    let ahead = if is_short { 0 } else { u64::MAX };
                    let planned = self.read.planned(ahead, &self.policy);
                    let unmet = self.store.take_unmet();
                    self.wanted = self.store.want(unmet, &planned);
                    return Ok(RowGroupPoll::Needs(self.wanted.ranges().to_vec()));
                }
                Err(error) => {
                    let may_drop = Budget::refused(&error) && !self.has_started_again;
                    if !may_drop || !self.store.drop_ahead() {
                        return Err(error);
                    }
                    self.has_started_again = true;
                    self.read.restart();
                }
            }
        }
    }

    /// Decodes the next batch before it is due. If the batch `is_due`, it needs no memory for waiting.
    #[doc(hidden)] // For async reads.
    pub fn poll_ahead(&mut self, is_due: bool) -> AheadStep {
        let position = self.read.position();
        let mut memory = Reservation::new(self.read.budget().clone());
        if let Ok(step) = self.read.poll(u64::MAX, false, &mut self.store) {
            match step {
                RowGroupStep::Pending => {}
                RowGroupStep::End => return AheadStep::Finished(self.read.take_losses()),
                RowGroupStep::Batch(batch) => {
                    let bytes = batch.get_array_memory_size() as u64;
                    if memory.resize(bytes).is_ok() || is_due {
                        return AheadStep::Batch(Box::new(WaitingBatch {
                            batch,
                            losses: self.read.take_losses(),
                            rows_left: self.read.rows_left(),
                            position,
                            _memory: memory,
                        }));
                    }
                }
            }
        }
        self.read.wait_until_due();
        self.failed_at = Some(position);
        AheadStep::Failed
    }

    /// Returns true if memory is too short to decode batches ahead.
    #[doc(hidden)] // For async reads.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.read.budget().is_short()
    }

    /// Takes the row group apart, after moving it back to the `first` batch not emitted.
    pub(super) fn into_parts(mut self, first: Option<&WaitingBatch>) -> (RowGroupRead, ByteStore) {
        let position = first.map(|first| first.position).or(self.failed_at);
        if let Some(position) = position {
            self.read.restart_at(position);
        }
        (self.read, self.store)
    }

    /// Takes bytes of the file starting at `offset`.
    pub fn supply(&mut self, offset: u64, bytes: &Bytes) {
        self.read.budget().add_fetched(1, bytes.len() as u64);
        let keeps_ahead = !self.has_started_again;
        self.store
            .supply((offset, bytes), &self.wanted, keeps_ahead);
    }

    /// Takes the damaged pages left out of the batches since the last call.
    pub fn take_losses(&mut self) -> Losses {
        self.read.take_losses()
    }

    /// Returns an upper bound on the number of rows left to emit.
    #[must_use]
    pub fn rows_left(&self) -> u64 {
        self.read.rows_left()
    }
}
