//! Progress bars for work that takes a while.

use std::io::{self, IsTerminal as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::vec::IntoIter;

use herringbone::ParquetFile;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The time before a bar appears.
const PATIENCE: Duration = Duration::from_millis(700);

/// The time between two frames of a spinner.
const TICK: Duration = Duration::from_millis(200);

/// A bar on standard error, or nothing.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// The start of the work. `None` if the bar is already shown, or is disabled.
    waiting: Option<Instant>,
}

impl Progress {
    /// Creates a bar up to `total`, in units called `unit`. Without a total, it counts.
    ///
    /// It appears only on a terminal, and only if the data is written somewhere else.
    pub(crate) fn new(wanted: bool, total: impl Into<Option<u64>>, unit: &str) -> Self {
        Self::of_file(wanted && !io::stdout().is_terminal(), total, unit)
    }

    /// Creates a bar for data written to a file, regardless of standard output.
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

    /// Creates a bar for rows sorted before the first one is written. It does not estimate the end, because the
    /// rest of the work has another speed.
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

    /// Creates a bar for `verify`, which prints findings on the same terminal. Its units are the bytes of
    /// column chunks, because chunks differ in size.
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

/// The progress of writing sorted rows, in bytes. Their number is not known before the end.
#[derive(Clone, Default)]
pub(crate) struct BytesWritten(Arc<Mutex<Option<Progress>>>);

impl BytesWritten {
    /// Shows the bytes written from now on.
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
    /// The sizes of the other column chunks.
    sizes: IntoIter<u64>,
    /// The number of checked column chunks.
    chunks: u64,
}

impl CheckProgress {
    /// Sets the number of checked column chunks.
    pub(crate) fn advance_to(&mut self, chunks: u64) {
        let done = chunks.saturating_sub(self.chunks);
        self.chunks = chunks;
        let done = self.sizes.by_ref().take(done as usize).sum();
        self.progress.add(done);
    }

    /// Prints something while the bar is hidden.
    pub(crate) fn hidden<T>(&self, print: impl FnOnce() -> T) -> T {
        self.progress.bar.suspend(print)
    }
}

/// Returns the size of each column chunk, in the order in which they are checked. Sizes beyond that of the file are wrong,
/// and count as the rest of the file.
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
    /// Removes the bar, so that an error is not printed after it on the same line.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
