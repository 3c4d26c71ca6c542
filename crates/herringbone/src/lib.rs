//! Apache Parquet for Rust, laid straight into Arrow.
#![forbid(unsafe_code)]
