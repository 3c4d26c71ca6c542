//! Tests writes. We read the files back, and so does the `parquet` crate.

#[cfg(test)]
use herringbone_tests::{batches, canonical, files, random, remote, table};

#[cfg(test)]
mod write;
#[cfg(test)]
mod completeness;
#[cfg(test)]
mod written_schemas;
