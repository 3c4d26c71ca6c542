//! Tests writes by reading the files back, with this library and with the `parquet` crate.

#[cfg(test)]
use herringbone_tests::{batches, canonical, files, random, remote, table};

#[cfg(test)]
mod write;
#[cfg(test)]
mod completeness;
#[cfg(test)]
mod written_schemas;
