//! Tests of async reads over an object in memory.

#[cfg(test)]
mod batches;
#[cfg(test)]
mod cache;
#[cfg(test)]
mod drops;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod files;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod requests;
#[cfg(all(test, any(feature = "object-store-013", feature = "object-store-014")))]
mod stores;
