//! Checks metadata against the rows by brute force, in code that shares nothing with the writer.

mod keys;
mod rows;

mod bounds;
mod structure;
mod few_rows;
mod limits;
mod bloom_filters;
