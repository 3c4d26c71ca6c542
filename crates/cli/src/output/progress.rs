//! Progress bars for work that takes a while.

use std::io::{self, IsTerminal as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::vec::IntoIter;

use herringbone::ParquetFile;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The time before a bar appears. Quick commands never show one.
const PATIENCE: Duration = Duration::from_millis(700);

/// The time between two frames of a spinner.
const TICK: Duration = Duration::from_millis(200);

/// A bar on standard error, possibly disabled.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// The start time, or `None` if the bar is already visible or disabled.
    waiting: Option<Instant>,
}

impl Progress {
    /// Creates a bar up to `total`, counted in `unit`. Without a total, the bar only counts up.
    ///
    /// The bar only appears on a terminal, and only if the data goes elsewhere, since the two would
    /// mix.
    pub(crate) fn new(wanted: bool, total: impl Into<Option<u64>>, unit: &str) -> Self {
        Self::of_file(wanted && !io::stdout().is_terminal(), total, unit)
    }

    /// Creates a bar for data that goes into a file, so that it does not matter whether standard
    /// output is a terminal.
    pub(crate) fn of_file(wanted: bool, total: impl Into<Option<u64>>, unit: &str) -> Self {
        let total = total.into();
        Self::with(
            wanted,
            total,
            &match total {
                Some(_) => {
                    format!("{{bar:30}} {{human_pos}} of {{human_len}} {unit}, {{eta}} left")
                }
                None => format!("{{spinner}} {{human_pos}} {unit}"),
            },
        )
    }

    /// Creates a bar for the time until all rows are read and sorted. It doesn't estimate the time
    /// left, since writing the rows runs at a different speed.
    pub(crate) fn before_sorting(wanted: bool, total: u64, unit: &str) -> Self {
        let template = format!("{{bar:30}} {{human_pos}} of {{human_len}} {unit} read and sorted");
        Self::with(wanted, Some(total), &template)
    }

    fn with(wanted: bool, total: Option<u64>, template: &str) -> Self {
        let wanted = wanted && io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self {
            bar,
            waiting: wanted.then(Instant::now),
        }
    }

    /// Creates a bar for `verify`, which prints findings on the same terminal. It counts bytes
    /// rather than column chunks, because chunks vary in size.
    pub(crate) fn of_check(wanted: bool, file: &ParquetFile, size: u64) -> CheckProgress {
        let sizes = chunk_sizes(file, size);
        CheckProgress {
            progress: Self::of_file(wanted, sizes.iter().sum::<u64>(), "bytes"),
            sizes: sizes.into_iter(),
            chunks: 0,
        }
    }

    /// Adds `done` units of finished work.
    pub(crate) fn add(&mut self, done: u64) {
        if self
            .waiting
            .is_some_and(|since| since.elapsed() >= PATIENCE)
        {
            self.waiting = None;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.inc(done);
    }
}

/// The progress of writing sorted rows, in bytes. There is no total, since we only know it at the
/// end.
#[derive(Clone, Default)]
pub(crate) struct BytesWritten(Arc<Mutex<Option<Progress>>>);

impl BytesWritten {
    /// Shows bytes written from now on.
    pub(crate) fn show(&self, wanted: bool) {
        let template = "{spinner} writing sorted rows: {human_pos} bytes in {elapsed}";
        let mut progress = Progress::with(wanted, None, template);
        if progress.waiting.take().is_some() {
            progress.bar.set_draw_target(ProgressDrawTarget::stderr());
            progress.bar.enable_steady_tick(TICK);
        }
        *self.lock() = Some(progress);
    }

    /// Adds bytes.
    pub(crate) fn add(&self, bytes: usize) {
        if let Some(progress) = &mut *self.lock() {
            progress.add(bytes as u64);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Progress>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the line.
    pub(crate) fn hide(&self) {
        *self.lock() = None;
    }
}

/// The progress of `verify`.
pub(crate) struct CheckProgress {
    progress: Progress,
    /// The sizes of the remaining column chunks.
    sizes: IntoIter<u64>,
    /// The number of column chunks checked so far.
    chunks: u64,
}

impl CheckProgress {
    /// Sets the number of column chunks checked so far.
    pub(crate) fn advance_to(&mut self, chunks: u64) {
        let done = chunks.saturating_sub(self.chunks);
        self.chunks = chunks;
        let done = self.sizes.by_ref().take(done as usize).sum();
        self.progress.add(done);
    }

    /// Hides the bar while printing, so that the two don't mix.
    pub(crate) fn hidden<T>(&self, print: impl FnOnce() -> T) -> T {
        self.progress.bar.suspend(print)
    }
}

/// Returns each column chunk's size, in checking order. If they add up to more than the file's size
/// they must be wrong, so we cap them.
fn chunk_sizes(file: &ParquetFile, size: u64) -> Vec<u64> {
    let (metadata, leaves) = (file.metadata(), file.parquet_schema().leaves().len());
    let mut left = size;
    let mut sizes = Vec::new();
    for row_group in 0..metadata.num_row_groups() {
        for leaf in 0..metadata.num_columns(row_group).min(leaves) {
            let chunk = metadata.column_chunk(row_group, leaf).ok();
            let data = chunk.and_then(|chunk| chunk.meta_data);
            let size = data.map_or(0, |data| data.total_compressed_size);
            let size = u64::try_from(size).unwrap_or(0).min(left);
            left -= size;
            sizes.push(size);
        }
    }
    sizes
}

impl Drop for Progress {
    /// Removes the bar, so that an error message doesn't end up on the same line.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
