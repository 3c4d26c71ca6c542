//! Collects the results of reading the damaged copies.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use bytes::Bytes;
use herringbone::Error;
use peak_alloc::PeakAlloc;

use crate::corpus;
use crate::damages::Damage;
use crate::subject::Subject;
use crate::watchdog::Watchdog;
use crate::ways;

/// The memory limit for reading a damaged copy. It allows two decompressed pages of 16 MiB for each of a few columns.
/// Larger pages must contain what they announce.
const BUDGET: usize = 128 << 20;

pub(crate) struct Report {
    allocator: &'static PeakAlloc,
    watchdog: Watchdog,
    attempts: usize,
    /// The number of times that each outcome occurred.
    outcomes: BTreeMap<String, usize>,
    wrong: Vec<String>,
    /// The peak memory of a read in bytes, and that read's name.
    peak: (usize, String),
    /// The duration of the longest read, and that read's name.
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

    /// Reads a damaged copy's rows in one of the ways, with checksums and without, and all its other structures. Also
    /// makes one of the other uses of the file, in turn.
    pub(crate) fn attempt(&mut self, subject: &Subject, damage: &Damage, copy: &[u8]) {
        let turn = self.attempts;
        self.attempts += 1;
        let bytes = Bytes::copy_from_slice(copy);
        let what = |way: &str| format!("{}: {damage}, {way}", subject.name);
        for (way, crc) in [(turn, true), (turn / ways::WAYS, false)] {
            let way = way % ways::WAYS;
            let checksums = if crc { "with" } else { "without" };
            self.run(what(&format!("way {way} {checksums} checksums")), || {
                let rows = ways::rows(subject, bytes.clone(), way, crc)?;
                subject.compare(damage, way, crc, &rows);
                Ok(())
            });
        }
        if subject.name == corpus::MANY_ROWS {
            self.run(what("several threads"), || ways::on_threads(bytes.clone()));
        }
        self.run(what("indexes"), || ways::beside(subject, bytes.clone()));
        self.run(what(&format!("use {}", turn % ways::USES)), || {
            ways::used(subject, bytes, turn)
        });
    }

    /// Reads a whole file in every way.
    pub(crate) fn whole(&mut self, name: &str, bytes: Vec<u8>) {
        let subject = Subject::new(name, bytes);
        for way in 0..ways::WAYS {
            self.run(format!("{name}, way {way}"), || {
                ways::rows(&subject, subject.bytes.clone(), way, true).map(drop)
            });
        }
        self.run(format!("{name}, indexes"), || {
            ways::beside(&subject, subject.bytes.clone())
        });
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

    /// Prints the counts, and panics if a result was wrong.
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
