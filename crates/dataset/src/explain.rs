//! Explaining dataset reads, summed over all files.

use herringbone::Result;
use herringbone::filter::{PruningStep, ReadCounts};

use crate::plan::DatasetPlan;

/// The work for a dataset read, summed over its files.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::ReadOptions;
/// use herringbone::filter::col;
/// use herringbone_dataset::{Dataset, DatasetOptions};
///
/// let dataset = Dataset::open("testdata/datasets/codes", DatasetOptions::new())?;
/// let explained = dataset.explain(ReadOptions::new().filter(col("year").eq(2024)))?;
/// assert_eq!((explained.files, explained.files_ruled_out, explained.rows), (8, 4, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DatasetExplanation {
    /// The number of directories listed to open the dataset.
    pub directories_listed: usize,
    /// The number of files in the dataset.
    pub files: usize,
    /// The number of files ruled out by the values in their paths.
    pub files_ruled_out: usize,
    /// The number of row groups in the other files.
    pub row_groups: usize,
    /// The number of rows in the other files.
    pub rows: u64,
    /// The number of rows ruled out by each pruning step.
    pub ruled_out: Vec<(PruningStep, u64)>,
    /// The number of rows to test by their values, because no pruning step could decide.
    pub undecided: u64,
    /// The number of bytes in all pages that the read might need.
    pub wanted_bytes: u64,
    /// The requests for these bytes, and the number of bytes they fetch.
    pub fetched: ReadCounts,
}

/// Explains a read, opening one file at a time.
///
/// # Errors
/// Returns the files' errors.
pub(crate) fn explain(plan: &DatasetPlan) -> Result<DatasetExplanation> {
    let dataset = plan.dataset();
    let mut sum = DatasetExplanation {
        directories_listed: dataset.directories_listed,
        files: plan.ruled_out + plan.num_files(),
        files_ruled_out: plan.ruled_out,
        ruled_out: PruningStep::ALL.map(|step| (step, 0)).to_vec(),
        ..DatasetExplanation::default()
    };
    for at in 0..plan.num_files() {
        let (file, mut options) = (plan.file(at)?, plan.options_of(at, 0)?);
        let opened = dataset.files.open_blocking(file)?;
        if let Some(bytes) = plan.bytes_of(at) {
            options = options.row_groups(opened.row_groups_in(bytes)?);
        }
        let explained = opened.explain(&options);
        for row_group in explained.map_err(|error| error.in_file(&file.path))? {
            // The sums saturate, because a damaged footer can claim any number of rows.
            let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
            sum.row_groups += 1;
            add(&mut sum.rows, row_group.rows);
            add(&mut sum.undecided, row_group.undecided());
            add(&mut sum.wanted_bytes, row_group.wanted_bytes);
            add(&mut sum.fetched.requests, row_group.fetched.requests);
            add(&mut sum.fetched.bytes, row_group.fetched.bytes);
            let mut before = 0;
            for step in &row_group.steps {
                let step_sum = sum
                    .ruled_out
                    .iter_mut()
                    .find(|ruled_out| ruled_out.0 == step.step);
                if let Some((_, rows)) = step_sum {
                    add(rows, step.ruled_out.saturating_sub(before));
                }
                before = step.ruled_out;
            }
        }
    }
    Ok(sum)
}
