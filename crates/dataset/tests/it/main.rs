//! Tests of datasets in folders and in memory.

mod files;
mod folders;
mod listings;
mod memory;
mod schemas;
