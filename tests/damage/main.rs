//! Damages small files at every byte. Each copy is an error or data, without a panic and within a memory budget.
//!
//! `cargo test` takes a sample. You can run all of it, which takes some minutes:
//!
//! ```console
//! $ export CARGO_PROFILE_DEV_OPT_LEVEL=2 HERRINGBONE_DAMAGE=all
//! $ cargo test -p herringbone-tests --test damage -- --nocapture
//! ```
//!
//! `HERRINGBONE_DAMAGE_OF` selects files by a part of their names.

#[cfg(test)]
use herringbone_tests::{crafted, files, random::cases};

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod special;
#[cfg(test)]
mod subject;
#[cfg(test)]
mod damages;
#[cfg(test)]
mod report;
#[cfg(test)]
mod ways;
#[cfg(test)]
mod watchdog;

use peak_alloc::PeakAlloc;

/// The allocator that counts the allocated bytes, so that we can check each read's budget.
#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Runs all tests of this binary in one function, because the allocator counts for all threads together.
#[test]
fn damaged_files_are_errors_or_data() {
    let all = std::env::var_os("HERRINGBONE_DAMAGE").is_some_and(|what| what == "all");
    let mut report = report::Report::new(&ALLOCATOR);
    for (name, bytes) in shapes::files() {
        report.whole(&name, bytes);
    }
    let only = std::env::var("HERRINGBONE_DAMAGE_OF").unwrap_or_default();
    for mut subject in corpus::files().into_iter().chain(special::files()) {
        if !subject.name.contains(&only) {
            continue;
        }
        subject.prepare();
        // We damage every byte, or bytes at a distance that includes each file and each kind of damage.
        let step = match (all, cases(1)) {
            (true, _) => 1,
            (false, 1) => 61,
            (false, _) => 31,
        };
        let start = if all { 0 } else { subject.name.len() % step };
        damages::each(&subject.bytes, start, step, &mut |damage, copy| {
            report.attempt(&subject, &damage, copy)
        });
    }
    report.finish(all);
}
