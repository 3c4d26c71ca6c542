//! Tests of the codecs, the commands, and clusters of processes. They are one binary, because
//! building takes most of the time.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails panics"
)]

mod cluster;
mod codec;
mod command;
mod distributed;
mod failures;
mod keys;
mod stores;
mod support;
mod tpch;
#[path = "../../../datafusion/tests/it/tpch_tables.rs"]
mod tpch_tables;
mod transient;
