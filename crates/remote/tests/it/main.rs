//! Tests of async reads and writes over objects in memory.

#[cfg(test)]
mod batches;
#[cfg(test)]
#[cfg(feature = "blocking")]
mod blocking;
#[cfg(test)]
mod bucket;
#[cfg(test)]
mod cache;
#[cfg(test)]
mod chunk_objects;
#[cfg(test)]
mod drops;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod files;
#[cfg(test)]
mod keys;
mod lookups;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod row_groups;
#[cfg(all(test, any(feature = "object-store-013", feature = "object-store-014")))]
mod servers;
#[cfg(all(test, any(feature = "object-store-013", feature = "object-store-014")))]
mod stores;
#[cfg(test)]
mod without_ranges;
#[cfg(test)]
mod writes;
