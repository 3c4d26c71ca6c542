//! What came of each damaged copy.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use bytes::Bytes;
use herringbone::Error;
use peak_alloc::PeakAlloc;

use crate::corpus;
use crate::damages::Damage;
use crate::watchdog::Watchdog;
use crate::ways;

/// The most that reading a damaged copy may hold: two decompressed pages of 16 MiB for each of a few
/// columns. Larger ones have to hold what they announce.
const BUDGET: usize = 128 << 20;

pub(crate) struct Report {
    allocator: &'static PeakAlloc,
    watchdog: Watchdog,
    attempts: usize,
    /// How often each outcome came.
    outcomes: BTreeMap<String, usize>,
    wrong: Vec<String>,
    /// The most bytes that a read held, and which.
    peak: (usize, String),
    /// The longest read.
    longest: (Duration, String),
}

impl Report {
    pub(crate) fn new(allocator: &'static PeakAlloc) -> Self {
        Self {
            allocator,
            watchdog: Watchdog::new(),
            attempts: 0,
            outcomes: BTreeMap::new(),
            wrong: Vec::new(),
            peak: (0, String::new()),
            longest: (Duration::ZERO, String::new()),
        }
    }

    /// Reads a damaged copy, its rows in one of the ways with checksums and without, and all that
    /// stands beside them.
    pub(crate) fn attempt(&mut self, name: &str, damage: &Damage, copy: &[u8]) {
        let turn = self.attempts;
        self.attempts += 1;
        let bytes = Bytes::copy_from_slice(copy);
        let what = |way: &str| format!("{name}: {damage}, {way}");
        let plain = bytes.clone();
        self.run(what(&format!("way {}", turn % 4)), || {
            ways::rows(plain, turn, true).map(drop)
        });
        let plain = bytes.clone();
        self.run(
            what(&format!("way {} without checksums", turn / 4 % 4)),
            || ways::rows(plain, turn / 4, false).map(drop),
        );
        if name == corpus::MANY_ROWS {
            let plain = bytes.clone();
            self.run(what("several threads"), || ways::on_threads(plain));
        }
        self.run(what("indexes"), || ways::beside(bytes));
    }

    /// Reads a whole file in every way.
    pub(crate) fn whole(&mut self, name: &str, bytes: Vec<u8>) {
        let bytes = Bytes::from(bytes);
        for way in 0..4 {
            let copy = bytes.clone();
            self.run(format!("{name}, way {way}"), || {
                ways::rows(copy, way, true).map(drop)
            });
        }
        self.run(format!("{name}, indexes"), || ways::beside(bytes));
    }

    fn run(&mut self, what: String, work: impl FnOnce() -> Result<(), Error>) {
        let before = self.allocator.current_usage();
        self.allocator.reset_peak_usage();
        let (result, time) = self
            .watchdog
            .watch(what.clone(), || catch_unwind(AssertUnwindSafe(work)));
        let held = self.allocator.peak_usage().saturating_sub(before);
        if held > self.peak.0 {
            self.peak = (held, what.clone());
        }
        if time > self.longest.0 {
            self.longest = (time, what.clone());
        }
        if held > BUDGET {
            self.wrong.push(format!("{what}: held {held} bytes"));
        }
        let outcome = match result {
            Ok(Ok(())) => "data".to_owned(),
            Ok(Err(error)) => error.kind().to_string(),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                self.wrong
                    .push(format!("{what}: {}", text.unwrap_or("panic")));
                "panic".to_owned()
            }
        };
        *self.outcomes.entry(outcome).or_default() += 1;
    }

    /// Prints the counts; fails where something was wrong.
    pub(crate) fn finish(self, all: bool) {
        eprintln!(
            "{} damaged copies ({}): {:?}; at most {} KiB held, by {}; longest {:?}, {}",
            self.attempts,
            if all { "all" } else { "a sample" },
            self.outcomes,
            self.peak.0 >> 10,
            self.peak.1,
            self.longest.0,
            self.longest.1,
        );
        assert!(
            self.outcomes["corrupt file"] > self.attempts / 2,
            "damage is seen"
        );
        assert!(
            self.wrong.is_empty(),
            "{} faults:\n{}",
            self.wrong.len(),
            self.wrong[..self.wrong.len().min(50)].join("\n")
        );
    }
}
