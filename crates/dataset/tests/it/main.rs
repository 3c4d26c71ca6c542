//! Tests of datasets in folders and in memory.

#[cfg(test)]
mod async_writers;
#[cfg(test)]
mod chunk_files;
#[cfg(test)]
mod expected;
#[cfg(test)]
mod files;
#[cfg(test)]
mod folders;
#[cfg(test)]
mod listings;
#[cfg(test)]
mod losses;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod metadata_files;
#[cfg(test)]
mod parts;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod writers;
#[cfg(all(test, any(feature = "object-store-013", feature = "object-store-014")))]
mod stores;
