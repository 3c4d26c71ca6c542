//! Sorts a writer's rows, in memory and by spilling to temporary files.
//!
//! ```text
//! batches ─► rows in memory ─ sorted ─► batches                       all of them fit
//!                 └─ full ─► runs in temporary files ─ merged ─► batches
//! ```
//!
//! Rows are compared by [`SortKeys`]. Equal rows keep their order, so the result doesn't depend on
//! the number of runs. Arrow dictionaries are taken out of the rows before sorting and restored
//! afterwards, so that all batches share one dictionary.
//!
//! This crate is for the other crates of this workspace. Its API changes with any release, except
//! for the items that `herringbone` exports.

#![forbid(unsafe_code)]

mod dictionaries;
mod gather;
mod memory;
mod merge;
mod run;
mod temporary;
mod unnamed_file;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::ArrowError;
use herringbone_format::{Error, ErrorKind, Remedy, Result};
use herringbone_write::{SortKeys, WritePlan};

use dictionaries::Dictionaries;
pub use dictionaries::sorted_schema;
use memory::{MemoryRows, SortedRows};
use merge::Merge;
use run::{Run, RunWriter};
use temporary::Spill;

pub use unnamed_file::UnnamedFile;

/// The number of rows added at once. It is small enough to keep their keys in the cache.
const SLICE_ROWS: usize = 1 << 14;

/// The most runs that can exist or be merged at a time. Each run is an open file, and a merge adds
/// one more.
const FAN_IN: usize = 64;

/// The number of bytes always granted to Arrow dictionaries, however little memory there is for
/// rows.
const DICTIONARY_BYTES: usize = 16 << 20;

/// The most rows in a batch.
const BATCH_ROWS: usize = 1 << 16;

/// The approximate size limit of a batch, in bytes.
const BATCH_BYTES: usize = 16 << 20;

/// A sorter that takes all rows first, then returns them in order. Rows beyond the memory limit are
/// spilled to temporary files.
pub struct Sorter {
    keys: SortKeys,
    dictionaries: Dictionaries,
    rows: MemoryRows,
    spill: Spill,
    /// The runs, oldest rows first.
    runs: Vec<Run>,
    memory_bytes: usize,
    /// The number of rows taken but not yet returned.
    num_rows: u64,
    output: Option<Output>,
}

/// The source of the sorted rows.
enum Output {
    Memory(SortedRows),
    Runs(Box<Merge>),
}

impl Sorter {
    /// Creates a sorter for a file's rows, or returns `None` if the plan requires no sort. Unless
    /// the options name a folder, temporary files are put next to `path`.
    ///
    /// # Errors
    /// Fails with [Argument](ErrorKind::Argument) if one of the columns cannot be compared.
    pub fn new(plan: &Arc<WritePlan>, path: Option<&Path>) -> Result<Option<Self>> {
        let Some(keys) = plan.sort_keys()? else {
            return Ok(None);
        };
        let options = plan.options();
        let dictionaries = Dictionaries::new(plan.schema());
        Ok(Some(Self {
            rows: MemoryRows::new(&keys, options.sort_memory_bytes),
            keys,
            spill: Spill::new(plan, path),
            dictionaries,
            runs: Vec::new(),
            memory_bytes: options.sort_memory_bytes,
            num_rows: 0,
            output: None,
        }))
    }

    /// Returns the number of rows taken but not yet returned.
    pub fn num_rows(&self) -> u64 {
        self.num_rows
    }

    /// Returns the number of heap bytes, including held batches.
    pub fn heap_bytes(&self) -> usize {
        self.rows.bytes() + self.dictionaries.heap_bytes()
    }

    /// Takes a batch's rows.
    ///
    /// # Errors
    /// Fails with [Argument](ErrorKind::Argument) if the batch cannot be compared, with
    /// [Io](ErrorKind::Io) if a temporary file cannot be written, and with
    /// [Limit](ErrorKind::Limit) if Arrow dictionaries use too much memory.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let stored = self.dictionaries.take_out(batch)?;
        let dictionary_bytes = self.dictionaries.heap_bytes();
        let most = DICTIONARY_BYTES.max(self.memory_bytes / 2);
        if dictionary_bytes > most {
            return Err(too_large_dictionaries(dictionary_bytes, most));
        }
        let memory_bytes = self.memory_bytes.saturating_sub(dictionary_bytes);
        let mut at = 0;
        while at < batch.num_rows() {
            let rows = SLICE_ROWS.min(batch.num_rows() - at);
            let rows = rows.min(self.rows.rows_to_block_end());
            let (slice, stored) = (batch.slice(at, rows), stored.slice(at, rows));
            at += rows;
            self.rows.push(&mut self.keys, &slice, stored)?;
            self.num_rows += rows as u64;
            if self.rows.bytes() > memory_bytes || self.rows.is_full() {
                self.spill()?;
            }
        }
        Ok(())
    }

    /// Returns the next rows in the sorted order of all rows taken so far, or `None` after the last
    /// one.
    ///
    /// # Errors
    /// Fails with [Io](ErrorKind::Io) if temporary files cannot be written or read, and with
    /// [Limit](ErrorKind::Limit) if the values of one row or of a dictionary are too long for an
    /// array. Fails with [Unsupported](ErrorKind::Unsupported) if rows of this type cannot be
    /// sorted.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.output.is_none() {
            self.output = Some(self.start()?);
        }
        let batch = match &mut self.output {
            Some(Output::Memory(rows)) => match rows.next(batch_bytes(self.memory_bytes))? {
                Some(batch) => Some(self.dictionaries.put_back(&batch)?),
                None => None,
            },
            Some(Output::Runs(merge)) => merge.next(&mut self.keys, &mut self.dictionaries)?,
            None => None,
        };
        match &batch {
            Some(batch) => self.num_rows -= batch.num_rows() as u64,
            None => self.output = None,
        }
        Ok(batch)
    }

    /// Starts the sorted output.
    fn start(&mut self) -> Result<Output> {
        if self.runs.is_empty() {
            return Ok(Output::Memory(self.rows.take().sorted()));
        }
        self.spill()?;
        let runs = std::mem::take(&mut self.runs);
        let merge = self.merge(runs, batch_bytes(self.memory_bytes))?;
        Ok(Output::Runs(Box::new(merge)))
    }

    fn merge(&mut self, runs: Vec<Run>, batch_bytes: usize) -> Result<Merge> {
        Merge::new(runs, batch_bytes, &mut self.keys, &mut self.dictionaries)
    }

    /// Merges several runs into one.
    fn merged(&mut self, runs: Vec<Run>, level: u32) -> Result<Run> {
        let mut merge = self.merge(runs, block_bytes(self.memory_bytes))?;
        let stored = self.dictionaries.stored_schema();
        let mut writer = RunWriter::new(&mut self.spill, stored, level)?;
        while let Some(batch) = merge.next_stored(&mut self.keys, &mut self.dictionaries)? {
            writer.write(&batch)?;
        }
        writer.finish()
    }

    /// Spills the rows in memory to a new run.
    fn spill(&mut self) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut rows = self.rows.take().sorted();
        let stored = self.dictionaries.stored_schema();
        let mut writer = RunWriter::new(&mut self.spill, stored, 0)?;
        while let Some(batch) = rows.next(block_bytes(self.memory_bytes))? {
            writer.write(&batch)?;
        }
        self.runs.push(writer.finish()?);
        drop(rows);
        self.merge_newest()
    }

    /// Merges the newest runs once the limit is reached. We merge the runs of the lowest level, and
    /// if that level has just one run, the next level's too. A merged run is one level higher.
    /// Levels therefore fall from the oldest run to the newest, and each row is merged once per
    /// level. We only merge adjacent runs, so that equal rows keep their order.
    fn merge_newest(&mut self) -> Result<()> {
        let [.., next, _] = self.runs.as_slice() else {
            return Ok(());
        };
        if self.runs.len() < FAN_IN {
            return Ok(());
        }
        let level = next.level;
        let higher = self.runs.iter().rposition(|run| run.level > level);
        let newest = self.runs.split_off(higher.map_or(0, |at| at + 1));
        let run = self.merged(newest, level + 1)?;
        self.runs.push(run);
        Ok(())
    }
}

#[cold]
fn too_large_dictionaries(bytes: usize, most: usize) -> Error {
    let message = format!(
        "the dictionaries of the rows to sort need {bytes} bytes, but `sort_memory_bytes` leaves \
         only {most} bytes for them"
    );
    Error::new(ErrorKind::Limit, message).with_remedy(Remedy::RaiseSortMemory)
}

/// Returns the batch size for runs, in bytes. It is small enough that one batch from each of the
/// merged runs only takes part of the memory.
fn block_bytes(memory_bytes: usize) -> usize {
    (memory_bytes / FAN_IN / 2).min(BATCH_BYTES / 4)
}

/// Returns the batch size for output, in bytes.
fn batch_bytes(memory_bytes: usize) -> usize {
    (memory_bytes / 8).min(BATCH_BYTES)
}

/// Returns the number of rows in a batch of about `batch_bytes` bytes.
fn batch_rows(batch_bytes: usize, bytes: usize, num_rows: usize) -> usize {
    let row_bytes = (bytes / num_rows.max(1)).max(1);
    (batch_bytes / row_bytes).clamp(1, BATCH_ROWS)
}

/// Returns the error for an Arrow operation that should not fail for valid arrays.
#[cold]
fn unsortable(error: ArrowError) -> Error {
    match error {
        // A temporary file's errors arrive wrapped, since they've passed through the stream reader.
        ArrowError::IoError(_, error) => match error.downcast::<Error>() {
            Ok(error) => error,
            Err(error) => Error::from(error),
        },
        error => Error::unsupported(format!("rows cannot be sorted: {error}")),
    }
}
