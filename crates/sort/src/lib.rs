//! A sorter of the rows of a writer, in memory and in temporary files.
//!
//! ```text
//! batches ─► rows in memory ─ sorted ─► batches                       all of them fit
//!                 └─ full ─► runs in temporary files ─ merged ─► batches
//! ```
//!
//! Rows are compared by [`SortKeys`]. Equal rows keep their order, so the result does not depend on the number of runs.
//! Arrow dictionaries are taken out of the rows before they are sorted, and put back after that: all batches then share
//! one dictionary.
//!
//! This crate is for the crates of this workspace. Its API changes with any release, except for the items that
//! `herringbone` exports.

#![forbid(unsafe_code)]

mod dictionaries;
mod gather;
mod memory;
mod merge;
mod run;
mod temporary;

use std::path::Path;
use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::ArrowError;
use herringbone_format::{Error, ErrorKind, Remedy, Result};
use herringbone_write::{SortKeys, WritePlan};

use dictionaries::Dictionaries;
use memory::{MemoryRows, SortedRows};
use merge::Merge;
use run::{Run, RunWriter};
use temporary::Spill;

/// Rows that are looked at together: their keys then stay in the cache.
const SLICE_ROWS: usize = 1 << 14;

/// Runs that there are at a time, each an open file, and that are merged at a time. One more is open while they are merged.
const FAN_IN: usize = 64;

/// Bytes that dictionaries of Arrow may hold, however little memory there is for rows.
const DICTIONARY_BYTES: usize = 16 << 20;

/// Rows of a batch, at most,
const BATCH_ROWS: usize = 1 << 16;

/// and their bytes, roughly.
const BATCH_BYTES: usize = 16 << 20;

/// Sorts rows: takes all of them, then gives them back in order.
pub struct Sorter {
    keys: SortKeys,
    dictionaries: Dictionaries,
    rows: MemoryRows,
    spill: Spill,
    /// The oldest rows first.
    runs: Vec<Run>,
    memory_bytes: usize,
    /// Rows that were taken and not given back.
    num_rows: u64,
    output: Option<Output>,
}

/// Where the rows in order come from.
enum Output {
    Memory(SortedRows),
    Runs(Box<Merge>),
}

impl Sorter {
    /// What sorts the rows of a file, which may have a path, if the plan asks for that.
    ///
    /// # Errors
    /// Argument where rows cannot be compared by one of the columns.
    pub fn new(plan: &Arc<WritePlan>, path: Option<&Path>) -> Result<Option<Self>> {
        let Some(keys) = plan.sort_keys()? else {
            return Ok(None);
        };
        let options = plan.options();
        let dictionaries = Dictionaries::new(plan.schema());
        Ok(Some(Self {
            rows: MemoryRows::new(&keys),
            keys,
            spill: Spill::new(plan, path),
            dictionaries,
            runs: Vec::new(),
            memory_bytes: options.sort_memory_bytes,
            num_rows: 0,
            output: None,
        }))
    }

    /// Rows that were taken and not given back.
    pub fn num_rows(&self) -> u64 {
        self.num_rows
    }

    /// Bytes held, those of batches included.
    pub fn heap_bytes(&self) -> usize {
        self.rows.bytes() + self.dictionaries.heap_bytes()
    }

    /// Takes the rows of a batch.
    ///
    /// # Errors
    /// Argument where the batch cannot be compared; Io where a temporary file cannot be written; Limit where dictionaries of
    /// Arrow hold too much.
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

    /// The next rows in order, of all that were taken; none behind the last one.
    ///
    /// # Errors
    /// Io where temporary files cannot be written or read; Unsupported where the values of one batch are
    /// too long for an array.
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

    /// What gives the rows in order.
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

    /// Several runs as one.
    fn merged(&mut self, runs: Vec<Run>, level: u32) -> Result<Run> {
        let mut merge = self.merge(runs, block_bytes(self.memory_bytes))?;
        let stored = self.dictionaries.stored_schema();
        let mut writer = RunWriter::new(&mut self.spill, stored, level)?;
        while let Some(batch) = merge.next_stored(&mut self.keys, &mut self.dictionaries)? {
            writer.write(&batch)?;
        }
        writer.finish()
    }

    /// Moves the rows in memory to a run.
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

    /// Merges the newest runs once there are as many as there may be: those of the lowest level, and if there is only one of it,
    /// those of the next level too. A merged run is one level higher, so levels fall from the oldest run to the newest one,
    /// and rows are merged once for each level. The runs are neighbours, so that equal rows stay in their order.
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
        "dictionaries of rows to sort hold {bytes} bytes, which is more than the {most} bytes that \
         `sort_memory_bytes` leaves to them"
    );
    Error::new(ErrorKind::Limit, message).with_remedy(Remedy::RaiseSortMemory)
}

/// Bytes of a batch in a run: those of all runs that are merged take a part of the memory.
fn block_bytes(memory_bytes: usize) -> usize {
    (memory_bytes / FAN_IN / 2).min(BATCH_BYTES / 4)
}

/// Bytes of a batch that is given back.
fn batch_bytes(memory_bytes: usize) -> usize {
    (memory_bytes / 8).min(BATCH_BYTES)
}

/// Rows of a batch that is to have so many bytes.
fn batch_rows(batch_bytes: usize, bytes: usize, num_rows: usize) -> usize {
    let row_bytes = (bytes / num_rows.max(1)).max(1);
    (batch_bytes / row_bytes).clamp(1, BATCH_ROWS)
}

/// Of what Arrow cannot do with sound arrays.
#[cold]
fn unsortable(error: ArrowError) -> Error {
    match error {
        // What a temporary file ran into comes through the reader of its stream.
        ArrowError::IoError(_, error) => match error.downcast::<Error>() {
            Ok(error) => error,
            Err(error) => Error::from(error),
        },
        error => Error::unsupported(format!("rows cannot be sorted: {error}")),
    }
}
