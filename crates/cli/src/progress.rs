//! How far the work is, for work that takes a while.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work below this time needs no bar.
const PATIENCE: Duration = Duration::from_millis(700);

/// A bar on standard error, or nothing.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// When the work began; `None` when there is no bar to come.
    waiting: Option<Instant>,
}

impl Progress {
    /// A bar up to `total` things called `unit`.
    ///
    /// It appears only on a terminal, and only if the data goes somewhere else.
    pub(crate) fn new(wanted: bool, total: u64, unit: &str) -> Self {
        Self::of_file(wanted && !io::stdout().is_terminal(), total, unit)
    }

    /// The same for data that goes to a file, wherever standard output goes.
    pub(crate) fn of_file(wanted: bool, total: u64, unit: &str) -> Self {
        let wanted = wanted && io::stderr().is_terminal();
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        let template = format!("{{bar:30}} {{human_pos}} of {{human_len}} {unit}, {{eta}} left");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Self {
            bar,
            waiting: wanted.then(Instant::now),
        }
    }

    /// `done` more things are done.
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
    /// Takes the bar away, so that an error is not printed behind it.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
