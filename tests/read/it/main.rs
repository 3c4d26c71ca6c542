//! Tests reads of files by other writers, of hand-built files and of hostile files.
//!
//! The text form of a value is defined once, in `canonical`. A file's expected contents are in the JSON file next to
//! it. The scripts in `testdata/` and `tests/scripts/` write it, and never use this library.

#[cfg(test)]
use herringbone_tests::{
    annotated, batches, canonical, crafted, damage, dismantled, expectation, files, noting, push,
    random, remote, table,
};

#[cfg(test)]
mod generated;
#[cfg(test)]
mod official;
#[cfg(test)]
mod options;
#[cfg(test)]
mod projections;
#[cfg(test)]
mod metadata;
#[cfg(test)]
mod push_decoder;
#[cfg(test)]
mod filter;
#[cfg(test)]
mod filter_lists;
#[cfg(test)]
mod filter_literals;
#[cfg(test)]
mod filter_stages;
#[cfg(test)]
mod wanted_casts;
#[cfg(test)]
mod wanted_schema;
#[cfg(test)]
mod row_origins;
#[cfg(test)]
mod metadata_handle;
#[cfg(test)]
mod column_bounds;
#[cfg(test)]
mod polars_bounds;
#[cfg(test)]
mod skipping;
#[cfg(test)]
mod tightened;
#[cfg(test)]
mod small_row_groups;
#[cfg(test)]
mod sources;
#[cfg(test)]
mod spawn;
#[cfg(test)]
mod parts;
#[cfg(test)]
mod arrow_rs;
#[cfg(test)]
mod int96;
#[cfg(test)]
mod large;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod memory_pool;
#[cfg(test)]
mod nested_reads;
#[cfg(test)]
mod padding;
#[cfg(test)]
mod contradictions;
#[cfg(test)]
mod random_contradictions;
#[cfg(test)]
mod work;
#[cfg(test)]
mod writers;
#[cfg(test)]
mod budget;
#[cfg(test)]
mod dictionaries;
#[cfg(test)]
mod categories;
#[cfg(test)]
mod categories_filtered;
#[cfg(test)]
mod annotations;
#[cfg(test)]
mod geospatial;
#[cfg(test)]
mod encryption;
#[cfg(test)]
mod on_error;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod rounds;
#[cfg(test)]
mod extensions;
#[cfg(test)]
mod variant;
#[cfg(test)]
mod open_once;
