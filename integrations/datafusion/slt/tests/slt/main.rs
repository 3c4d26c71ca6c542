//! The engine's own test files on Parquet, run with both readers.

#[cfg(test)]
#[path = "../../../tests/it/engine_files.rs"]
mod engine_files;
#[cfg(test)]
mod records;
