//! Checks everything in a file that can be checked.
//!
//! A footer, a page index or a bloom filter that is wrong makes readers fail or, worse, pass over
//! rows that they should find. Here all that a file says of itself is compared with its data, every
//! page of which is decoded:
//!
//! - magic, offsets and lengths: inside of the file, and not over each other;
//! - page headers, checksums, compression, levels, values, dictionary indices, UTF-8;
//! - lists and nulls of structs, which have to be the same in all their columns;
//! - counts of rows, values, nulls and NaNs, sizes, level histograms, encodings;
//! - bounds of column chunks and pages, in the order of the column, and whether they are exact;
//! - page indexes, bloom filters, sorting columns, the Arrow schema among the metadata.
//!
//! What the specification leaves to writers is no finding: what they leave out, bounds that hold
//! without being tight, the orders in which the deprecated `min` and `max` were once written.
//! Geospatial statistics and encrypted columns are not looked into.

mod bloom;
mod bounds;
mod chunk;
mod column;
mod encodings;
mod file;
mod finding;
mod index;
mod nesting;
mod page;
mod regions;
mod sorting;
mod statistics;
mod truth;

pub use finding::{Finding, FindingKind, Severity};

use herringbone_format::{Location, Result};

use crate::file::ParquetFile;
use chunk::{Checked, Sizes};
use column::Column;
use finding::Report;
use nesting::Shared;

/// The findings of one file, as they are found; see [`ParquetFile::verify`].
///
/// Holds a page and the findings of a column chunk at a time.
pub struct Verify {
    file: ParquetFile,
    report: Report,
    step: Step,
    /// Of the column chunks of the row group so far; `None` once one of them is not known.
    sizes: Option<Sizes>,
    shared: Shared,
    done: u64,
}

/// What is checked next.
#[derive(Debug, Clone, Copy)]
enum Step {
    File,
    Chunk { row_group: usize, leaf: usize },
    RowGroup(usize),
    Done,
}

impl Verify {
    pub(crate) fn new(file: ParquetFile) -> Self {
        Self {
            file,
            report: Report::default(),
            step: Step::File,
            sizes: Some(Sizes::default()),
            shared: Shared::default(),
            done: 0,
        }
    }

    /// How many column chunks there are.
    #[must_use]
    pub fn num_chunks(&self) -> u64 {
        let metadata = self.file.metadata();
        let chunks = |row_group| metadata.num_columns(row_group).min(self.num_leaves()) as u64;
        (0..metadata.num_row_groups()).map(chunks).sum()
    }

    /// How many of them were checked.
    #[must_use]
    pub fn chunks_done(&self) -> u64 {
        self.done
    }

    fn num_leaves(&self) -> usize {
        self.file.parquet_schema().leaves().len()
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
        match self.step {
            Step::File => {
                file::check(&self.file, &mut self.report)?;
                self.step = self.row_group(0);
            }
            Step::Chunk { row_group, leaf } => {
                let columns = self.file.metadata().num_columns(row_group);
                if leaf >= columns.min(self.num_leaves()) {
                    self.step = Step::RowGroup(row_group);
                    return Ok(());
                }
                let sizes = self.chunk(row_group, leaf)?;
                self.sizes = self.sizes.zip(sizes).map(|(all, one)| Sizes {
                    compressed: all.compressed + one.compressed,
                    uncompressed: all.uncompressed + one.uncompressed,
                });
                self.done += 1;
                let leaf = leaf + 1;
                self.step = Step::Chunk { row_group, leaf };
            }
            Step::RowGroup(row_group) => {
                self.report.location = Location::default();
                self.report.location.row_group = Some(row_group);
                file::check_row_group(&self.file, row_group, self.sizes, &mut self.report)?;
                self.sizes = Some(Sizes::default());
                self.shared = Shared::default();
                self.step = self.row_group(row_group + 1);
            }
            Step::Done => {}
        }
        Ok(())
    }

    fn row_group(&self, row_group: usize) -> Step {
        if row_group < self.file.metadata().num_row_groups() {
            Step::Chunk { row_group, leaf: 0 }
        } else {
            Step::Done
        }
    }

    fn chunk(&mut self, row_group: usize, leaf: usize) -> Result<Option<Sizes>> {
        let metadata = self.file.metadata();
        // Was reported with the file, if it cannot be decoded.
        let Ok(chunk) = metadata.column_chunk(row_group, leaf) else {
            return Ok(None);
        };
        let column = Column::new(metadata, self.file.parquet_schema(), leaf);
        let mut location = Location::default();
        location.row_group = Some(row_group);
        location.column = Some(column.path.join("."));
        self.report.location = location;
        let num_rows = metadata.row_group_header(row_group)?.num_rows;
        let num_rows = u64::try_from(num_rows).unwrap_or_default();
        let Checked { sizes, nesting } =
            chunk::check(&self.file, &chunk, &column, num_rows, &mut self.report)?;
        let schema = self.file.parquet_schema();
        if let Some(nesting) = nesting
            && let Some(other) = self.shared.add(leaf, &nesting)
        {
            let other = schema.column_path(other);
            let message =
                format!("its lists or nulls are not those of `{other}` in the group they share");
            self.report.error(FindingKind::Nesting, message);
        }
        Ok(sizes)
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
