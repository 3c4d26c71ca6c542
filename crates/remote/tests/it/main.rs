//! Tests of async reads over an object in memory.

mod batches;
mod cache;
mod drops;
mod faults;
mod files;
mod keys;
mod memory;
mod requests;
#[cfg(any(feature = "object-store-013", feature = "object-store-014"))]
mod stores;
