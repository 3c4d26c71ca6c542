//! Counts and reports the rows and values lost because of bad rows in a text.

use std::sync::Arc;

/// The maximum number of reported losses. Beyond this, we only count.
const REPORTED: u64 = 5;

/// Options for skipping over bad rows or values instead of failing at the first one.
#[derive(Clone)]
pub struct Lenient {
    /// True to replace a bad value with null. Otherwise, its row is left out.
    pub nulls: bool,
    /// The callback for the description of a loss.
    pub report: Arc<dyn Fn(&str) + Send + Sync>,
}

/// The losses in a text. On drop, it reports the total if some losses weren't listed.
pub(super) struct Losses {
    name: String,
    lenient: Lenient,
    rows: u64,
    values: u64,
}

impl Losses {
    pub(super) fn new(name: &str, lenient: &Lenient) -> Self {
        Self {
            name: name.to_owned(),
            lenient: lenient.clone(),
            rows: 0,
            values: 0,
        }
    }

    /// Returns true if bad values become null.
    pub(super) fn makes_nulls(&self) -> bool {
        self.lenient.nulls
    }

    /// Counts a lost row.
    pub(super) fn row(&mut self, line: usize, reason: &str) {
        self.rows += 1;
        self.add(line, "the row is left out", reason);
    }

    /// Counts a value that becomes null.
    pub(super) fn value(&mut self, line: usize, reason: &str) {
        self.values += 1;
        self.add(line, "the value is null", reason);
    }

    fn add(&self, line: usize, fate: &str, reason: &str) {
        if self.rows + self.values <= REPORTED {
            (self.lenient.report)(&format!("{}: line {line}: {fate}: {reason}", self.name));
        }
    }
}

impl Drop for Losses {
    fn drop(&mut self) {
        if self.rows + self.values > REPORTED {
            (self.lenient.report)(&format!(
                "{}: in all, {} rows are left out and {} values are null; the first {REPORTED} of these are listed",
                self.name, self.rows, self.values
            ));
        }
    }
}
