//! Units of work for checking a file.

use herringbone_format::{Error, Result};

use super::ChunkId;
use super::chunk::{self, Checked};
use super::column::Column;
use super::finding::{FindingKind, Report};
use super::{geoparquet_values, sorting, variants};
use herringbone::ParquetFile;

/// A unit of work, checked independently so that threads can share the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    Chunk {
        row_group: usize,
        leaf: usize,
    },
    Order {
        row_group: usize,
    },
    /// The column chunks so far add up to `ratio` times the file's size. We stop here, because
    /// overlapping chunks could make a small file very expensive to check.
    Overlap {
        row_group: usize,
        ratio: u64,
    },
}

/// The outcome of a task.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) task: Task,
    pub(super) report: Report,
    /// The results for a column chunk.
    pub(super) checked: Checked,
}

/// Runs a task.
///
/// # Errors
/// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails.
pub(super) fn check(file: &ParquetFile, task: Task) -> Result<Outcome> {
    let mut report = Report::default();
    let checked = match task {
        Task::Chunk { row_group, leaf } => chunk(file, row_group, leaf, &mut report)?,
        Task::Order { row_group } => {
            report.location.row_group = Some(row_group);
            order(file, row_group, &mut report)?;
            Checked::default()
        }
        Task::Overlap { row_group, ratio } => {
            report.location.row_group = Some(row_group);
            let limit = file.limits().overlap_ratio as u64;
            let error = Error::limit("overlap_ratio", ratio, limit);
            report.failed(FindingKind::Overlap, error)?;
            Checked::default()
        }
    };
    report.close();
    Ok(Outcome {
        task,
        report,
        checked,
    })
}

fn chunk(
    file: &ParquetFile,
    row_group: usize,
    leaf: usize,
    report: &mut Report,
) -> Result<Checked> {
    let metadata = file.metadata();
    // The file-level check reports undecodable metadata.
    let Ok(chunk) = metadata.column_chunk(row_group, leaf) else {
        return Ok(Checked::default());
    };
    let column = Column::new(metadata, file.parquet_schema(), leaf);
    report.location.row_group = Some(row_group);
    report.location.set_column(column.path.join("."));
    let num_rows = metadata.row_group_header(row_group)?.num_rows;
    let num_rows = u64::try_from(num_rows).unwrap_or_default();
    let id = ChunkId { row_group, leaf };
    chunk::check(file, id, &chunk, num_rows, &column, report)
}

fn order(file: &ParquetFile, row_group: usize, report: &mut Report) -> Result<()> {
    variants::check(file, row_group, report)?;
    geoparquet_values::check(file, row_group, report)?;
    match &file.metadata().row_group_header(row_group)?.sorting_columns {
        Some(sorting) if !sorting.is_empty() => sorting::check(file, row_group, sorting, report),
        _ => Ok(()),
    }
}
