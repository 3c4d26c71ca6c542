//! Compares with the kernel's default engine, over files of pyarrow and tables that the tests
//! write.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic fails the test"
)]

mod columns;
mod damage;
mod executors;
mod matching;
mod predicates;
mod requests;
mod support;
mod tables;
mod types;
mod writes;
