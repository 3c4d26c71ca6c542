//! Checks everything in a file that can be checked.
//!
//! A footer, a page index or a bloom filter that is wrong makes readers fail or, worse, pass over
//! rows that they should find. Here all that a file says of itself is compared with its data, every
//! page of which is decoded:
//!
//! - magic, offsets and lengths: inside of the file, and not over each other;
//! - page headers, checksums, compression, levels, values, dictionary indices, UTF-8;
//! - lists and nulls of structs, which have to be the same in all their columns;
//! - integers and times within the bounds of their annotation, no value where all are null, no null
//!   as the key of a map;
//! - decimals, which have no more digits than their precision; geometries in well-known binary;
//! - VARIANT values, and whether they are shredded by the rules;
//! - counts of rows, values, nulls and NaNs, sizes, level histograms, encodings;
//! - bounds of column chunks and pages, in the order of the column, and whether they are exact;
//! - page indexes, bloom filters, sorting columns, bounding boxes and types of geometries, the Arrow
//!   schema among the metadata.
//!
//! What the specification leaves to writers is no finding: what they leave out, bounds that hold
//! without being tight, the orders in which the deprecated `min` and `max` were once written.
//! Encrypted columns without a key are not looked into. Of each part of a file (what concerns it as a whole, a column
//! chunk, a row group) the first 1,000 findings are listed, the others counted.

mod ahead;
mod bloom;
mod bounds;
mod chunk;
mod column;
mod decimals;
mod encodings;
mod file;
mod finding;
mod geoparquet;
mod geospatial;
mod index;
mod nesting;
mod page;
mod part;
mod regions;
mod sorting;
mod statistics;
mod truth;
mod values;
mod variants;

pub use finding::{Finding, FindingKind, Severity};

use std::sync::Arc;

use herringbone_format::{Location, Result};
use herringbone_pipeline::{Spawn, threads};

use ahead::Ahead;
use chunk::Sizes;
use finding::Report;
use herringbone::ParquetFile;
use nesting::Shared;
use part::{Outcome, Task};

/// Which column chunk of a file.
#[derive(Debug, Clone, Copy)]
struct ChunkId {
    row_group: usize,
    leaf: usize,
}

/// Values below which a second thread is not worth its start.
const FEW_VALUES: u64 = 1 << 17;

/// The findings of one file, as they are found; see [`verify`](crate::verify()).
///
/// Each thread holds a page at a time, and the findings of three column chunks. They come in the
/// same order whatever the number of threads.
pub struct Verify {
    file: ParquetFile,
    threads: usize,
    spawn: Option<Arc<dyn Spawn>>,
    report: Report,
    step: Step,
    /// Of the column chunks of the row group so far; `None` once one of them is not known.
    sizes: Option<Sizes>,
    shared: Shared,
    done: u64,
}

/// What is checked next.
enum Step {
    File,
    Parts(Ahead),
    Done,
}

impl Verify {
    pub(crate) fn new(file: ParquetFile) -> Self {
        Self {
            file,
            threads: 0,
            spawn: None,
            report: Report::default(),
            step: Step::File,
            sizes: Some(Sizes::default()),
            shared: Shared::default(),
            done: 0,
        }
    }

    /// Sets the number of threads, the caller's included, before the first part; 0, the default,
    /// stands for one a core. A small file takes one only.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Lends threads of the program, before the first part. By default the threads are those of the pool that all readers and
    /// writers of the process share.
    #[must_use]
    pub fn spawn(mut self, spawn: Arc<dyn Spawn>) -> Self {
        self.spawn = Some(spawn);
        self
    }

    /// How many column chunks there are.
    #[must_use]
    pub fn num_chunks(&self) -> u64 {
        let metadata = self.file.metadata();
        let leaves = self.file.parquet_schema().leaves().len();
        let chunks = |row_group| metadata.num_columns(row_group).min(leaves) as u64;
        (0..metadata.num_row_groups()).map(chunks).sum()
    }

    /// How many of them were checked.
    #[must_use]
    pub fn chunks_done(&self) -> u64 {
        self.done
    }

    /// Checks the next part of the file (its footer, a column chunk, what concerns a row group) and
    /// returns what is wrong with it; `None` behind the last part. For those who show how far they
    /// are; the iterator does the same.
    ///
    /// # Errors
    /// Io.
    pub fn next_part(&mut self) -> Result<Option<Vec<Finding>>> {
        if matches!(self.step, Step::Done) {
            return Ok(None);
        }
        self.step()?;
        Ok(Some(self.report.findings.drain(..).collect()))
    }

    fn step(&mut self) -> Result<()> {
        match &mut self.step {
            Step::File => {
                file::check(&self.file, &mut self.report)?;
                let (file, spawn) = (self.file.clone(), self.spawn.clone());
                self.step = Step::Parts(Ahead::new(file, self.useful_threads(), spawn));
            }
            Step::Parts(ahead) => match ahead.next()? {
                Some(outcome) => self.part(outcome)?,
                None => self.step = Step::Done,
            },
            Step::Done => {}
        }
        self.report.close();
        Ok(())
    }

    /// How many threads there is work for.
    fn useful_threads(&self) -> usize {
        let rows = self.file.metadata().num_rows_of_row_groups();
        let leaves = self.file.parquet_schema().leaves().len() as u64;
        match self.threads {
            _ if rows.saturating_mul(leaves) < FEW_VALUES => 1,
            asked => threads(asked),
        }
    }

    /// Takes what came of a part, and compares it with others.
    fn part(&mut self, outcome: Outcome) -> Result<()> {
        let Outcome {
            task,
            mut report,
            checked,
        } = outcome;
        match task {
            Task::Chunk { leaf, .. } => {
                self.report.findings.append(&mut report.findings);
                self.report.location = report.location;
                if let Some(nesting) = checked.nesting
                    && let Some(other) = self.shared.add(leaf, &nesting)
                {
                    let other = self.file.parquet_schema().column_path(other);
                    let message = format!(
                        "its lists or nulls are not those of `{other}` in the group they share"
                    );
                    self.report.error(FindingKind::Nesting, message);
                }
                self.sizes = self.sizes.zip(checked.sizes).map(|(all, one)| Sizes {
                    compressed: all.compressed + one.compressed,
                    uncompressed: all.uncompressed + one.uncompressed,
                });
                self.done += 1;
            }
            Task::Overlap { .. } => self.report.findings.append(&mut report.findings),
            Task::Order { row_group } => {
                self.report.location = Location::default();
                self.report.location.row_group = Some(row_group);
                file::check_row_group(&self.file, row_group, self.sizes, &mut self.report)?;
                self.report.findings.append(&mut report.findings);
                self.sizes = Some(Sizes::default());
                self.shared = Shared::default();
            }
        }
        Ok(())
    }
}

impl Iterator for Verify {
    /// A finding, or what the source refused.
    type Item = Result<Finding>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(finding) = self.report.findings.pop_front() {
                return Some(Ok(finding));
            }
            if matches!(self.step, Step::Done) {
                return None;
            }
            if let Err(error) = self.step() {
                self.step = Step::Done;
                return Some(Err(error));
            }
        }
    }
}
