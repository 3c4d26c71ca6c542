//! The fuzz targets. Each of them checks a property, and is a function of its input here.
//!
//! The ordinary tests compile this file as well, so that they replay harmful inputs without a
//! fuzzer.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic is how a finding is told"
)]

pub mod codec;
pub mod encrypted;
pub mod import;
pub mod metadata;
pub mod page;
pub mod peer;
pub mod read;
pub mod round_trip;
pub mod store;
mod targets;
pub mod variant;

pub use targets::{TARGETS, run};

#[cfg(test)]
mod regressions;
#[cfg(test)]
mod seeds;

// The generators, and the normal form of values, are those of the ordinary tests, with choices made
// by the fuzzer.
#[allow(
    unreachable_pub,
    reason = "it stands for a module that is public elsewhere"
)]
mod random;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the suites of tests need all of it"
)]
#[path = "../../tests/src/batches.rs"]
mod batches;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the suites of tests need all of it"
)]
#[path = "../../tests/src/crafted.rs"]
mod crafted;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the suites of tests need all of it"
)]
#[path = "../../tests/src/canonical.rs"]
mod canonical;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the suites of tests need all of it"
)]
#[path = "../../tests/src/table.rs"]
mod table;
#[allow(
    dead_code,
    unreachable_pub,
    reason = "the suites of tests need all of it"
)]
mod write;
