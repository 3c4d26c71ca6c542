//! The fuzz targets. Each of them checks a property, and is a function of its input here.
//!
//! The ordinary tests compile this file as well, so that harmful inputs are replayed without a fuzzer.

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

// The generators and the normal form of values from the ordinary tests, with choices from the fuzzer.
mod random;
#[allow(dead_code, reason = "the other tests need all of it")]
#[path = "../../tests/it/batches.rs"]
mod batches;
#[allow(dead_code, reason = "the other tests need all of it")]
#[path = "../../tests/it/crafted.rs"]
mod crafted;
#[allow(dead_code, reason = "the other tests need all of it")]
#[path = "../../tests/it/canonical.rs"]
mod canonical;
#[allow(dead_code, reason = "the other tests need all of it")]
#[path = "../../tests/it/table.rs"]
mod table;
#[allow(dead_code, reason = "the other tests need all of it")]
mod write;
