//! Checks everything checkable in a file.
//!
//! A wrong footer, page index or bloom filter makes readers fail or, worse, skip rows that they
//! should find. This module decodes each page to compare all of a file's metadata with its data:
//!
//! - magic, offsets and lengths: inside the file, and without overlap;
//! - page headers, checksums, compression, levels, values, dictionary indices, UTF-8;
//! - lists and nulls of structs, which must be the same in all columns of the struct;
//! - integers and times within the range of their annotation, no values in an all-null column, no
//!   null keys in maps;
//! - decimals within their precision; geometries in well-known binary;
//! - VARIANT values, and whether they are shredded according to the rules;
//! - counts of rows, values, nulls and NaNs, sizes, level histograms, encodings;
//! - bounds of column chunks and pages, in the order of the column, and whether they are exact;
//! - page indexes, bloom filters, sorting columns, the Arrow schema in the key-value metadata;
//! - bounding boxes and types of geometries, in statistics, in GeoParquet metadata and in
//!   coverings.
//!
//! Choices that the specification leaves to writers are not findings. For example, metadata can be
//! omitted, bounds don't have to be tight, and the deprecated `min` and `max` can be in any of the
//! orders once in use. Encrypted columns without a key are not checked. For each part of a file
//! (the file as a whole, a column chunk, a row group), we list the first 1,000 findings and only
//! count the others, because even a small file can have a huge number of them.

mod parallel;
mod bloom;
mod bounds;
mod chunk;
mod column;
mod decimals;
mod encodings;
mod file;
mod finding;
mod geoparquet;
mod geoparquet_values;
mod geospatial;
mod index;
mod nesting;
mod page;
mod task;
mod byte_ranges;
mod sorting;
mod statistics;
mod observed;
mod values;
mod variants;

pub use finding::{Finding, FindingKind, Severity};

use std::sync::Arc;

use herringbone_format::{Location, Result};
use herringbone_pipeline::{Spawn, threads};

use chunk::{PageCounts, Sizes};
use finding::Report;
use herringbone::ParquetFile;
use nesting::Shared;
use parallel::ParallelVerifier;
use task::{Outcome, Task};

/// Identifies a column chunk in a file.
#[derive(Debug, Clone, Copy)]
struct ChunkId {
    row_group: usize,
    leaf: usize,
}

/// The break-even point for a second thread, in values. Below this, starting it costs more than it
/// saves.
const MIN_VALUES_FOR_THREADS: u64 = 1 << 17;

/// An iterator over the findings about a file; see [`verify`](crate::verify()).
///
/// Each thread buffers one page at a time and the findings of three column chunks. The order of
/// findings doesn't depend on the number of threads.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let file = herringbone::ParquetFile::open("testdata/example.parquet")?;
/// let mut verify = herringbone_inspect::verify(&file);
/// while let Some(findings) = verify.next_part()? {
///     assert!(findings.is_empty());
///     println!("{} of {} column chunks", verify.chunks_done(), verify.num_chunks());
/// }
/// assert_eq!(verify.chunks_done(), verify.num_chunks());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Verify {
    file: ParquetFile,
    threads: usize,
    spawn: Option<Arc<dyn Spawn>>,
    report: Report,
    step: Step,
    /// The total size of the row group's column chunks so far, or `None` after a chunk of unknown
    /// size.
    sizes: Option<Sizes>,
    shared: Shared,
    done: u64,
    pages: PageCounts,
}

/// The next step of the check.
enum Step {
    File,
    Tasks(ParallelVerifier),
    Done,
}

impl Verify {
    pub(crate) fn new(file: &ParquetFile) -> Self {
        Self {
            // The program that shows findings already names the file, so we drop the name from
            // errors.
            file: file.without_name(),
            threads: 0,
            spawn: None,
            report: Report::default(),
            step: Step::File,
            sizes: Some(Sizes::default()),
            shared: Shared::default(),
            done: 0,
            pages: PageCounts::default(),
        }
    }

    /// Sets the number of threads, including the caller's. The default, 0, means one per core. Call
    /// this before checking the first part. Note that small files are always checked on a single
    /// thread, because starting more would cost more than it saves.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Uses your program's own threads. Use this if you already have a thread pool. By default,
    /// threads come from the process-wide pool of all readers and writers. Call this before
    /// checking the first part.
    #[must_use]
    pub fn spawn(mut self, spawn: Arc<dyn Spawn>) -> Self {
        self.spawn = Some(spawn);
        self
    }

    /// Returns the number of column chunks in the file.
    #[must_use]
    pub fn num_chunks(&self) -> u64 {
        let metadata = self.file.metadata();
        let leaves = self.file.parquet_schema().leaves().len();
        let chunks = |row_group| metadata.num_columns(row_group).min(leaves) as u64;
        (0..metadata.num_row_groups()).map(chunks).sum()
    }

    /// Returns the number of column chunks checked so far.
    #[must_use]
    pub fn chunks_done(&self) -> u64 {
        self.done
    }

    /// Returns the number of pages in the column chunks checked so far.
    #[must_use]
    pub fn num_pages(&self) -> u64 {
        self.pages.all
    }

    /// Returns the number of pages without a checksum in the column chunks checked so far. If bytes
    /// in such a page have flipped but still make valid values, no reader can notice it. This isn't
    /// a finding, since checksums are optional in the format. Encrypted pages don't count, because
    /// their ciphers detect changes.
    #[must_use]
    pub fn pages_without_checksum(&self) -> u64 {
        self.pages.without_checksum
    }

    /// Checks the next part of the file: its footer, a column chunk, or the properties of a row
    /// group. Returns the findings about that part, or `None` after the last part. Use this instead
    /// of the iterator to show progress. Both perform the same checks.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails.
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
                self.step = Step::Tasks(ParallelVerifier::new(file, self.useful_threads(), spawn));
            }
            Step::Tasks(verifier) => match verifier.next()? {
                Some(outcome) => self.add_outcome(outcome)?,
                None => self.step = Step::Done,
            },
            Step::Done => {}
        }
        self.report.close();
        Ok(())
    }

    /// Returns the number of threads with enough work.
    fn useful_threads(&self) -> usize {
        let rows = self.file.metadata().num_rows_of_row_groups();
        let leaves = self.file.parquet_schema().leaves().len() as u64;
        match self.threads {
            _ if rows.saturating_mul(leaves) < MIN_VALUES_FOR_THREADS => 1,
            asked => threads(asked),
        }
    }

    /// Adds a part's outcome and compares it with other parts.
    fn add_outcome(&mut self, outcome: Outcome) -> Result<()> {
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
                        "its lists or nulls differ from those of `{other}` in the group they share"
                    );
                    self.report.error(FindingKind::Nesting, message);
                }
                self.sizes = self.sizes.zip(checked.sizes).map(|(all, one)| Sizes {
                    compressed: all.compressed + one.compressed,
                    uncompressed: all.uncompressed + one.uncompressed,
                });
                self.done += 1;
                self.pages.all += checked.pages.all;
                self.pages.without_checksum += checked.pages.without_checksum;
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
    /// A finding, or an error of the source.
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
