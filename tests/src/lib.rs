//! Helpers that all suites share: files made byte by byte or at random, the text form of values,
//! and drivers for reads.
//!
//! `tests/read`, `tests/write` and `tests/inspect` are separate packages, so that a change only
//! builds the suite that it concerns.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests fail by panics"
)]
#![allow(missing_docs, reason = "names of test data explain themselves")]

pub mod annotated;
pub mod batches;
pub mod canonical;
pub mod crafted;
pub mod damage;
pub mod dismantled;
pub mod expectation;
pub mod files;
pub mod noting;
pub mod push;
pub mod random;
pub mod remote;
pub mod table;
