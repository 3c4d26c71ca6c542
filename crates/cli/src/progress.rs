//! Progress bars for work that takes a while.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The time before a bar appears.
const PATIENCE: Duration = Duration::from_millis(700);

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
        let wanted = wanted && io::stderr().is_terminal();
        let total = total.into();
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        let template = match total {
            Some(_) => format!("{{bar:30}} {{human_pos}} of {{human_len}} {unit}, {{eta}} left"),
            None => format!("{{spinner}} {{human_pos}} {unit}"),
        };
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Self {
            bar,
            waiting: wanted.then(Instant::now),
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

impl Drop for Progress {
    /// Removes the bar, so that an error is not printed after it on the same line.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
