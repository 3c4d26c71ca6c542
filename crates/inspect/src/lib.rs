//! Inspects Parquet files beyond reading their rows. Use this crate to verify a file's metadata, or
//! to recover data from a damaged file.
//!
//! | to | use |
//! |---|---|
//! | check all metadata of a file against its data | [`verify()`] |
//! | recover data from a damaged file | [`repair::Repair`] |
//!
//! Both are built on top of `herringbone` and live in a crate of their own, so that programs that
//! only read files don't have to compile them.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod repair;
pub mod verify;

use herringbone::ParquetFile;

use verify::Verify;

/// Compares all of the file's metadata with its data, returning an iterator over the findings. It
/// is empty for a sound file. Note that this reads and decodes all pages, because only the values
/// show whether bounds, counts and filters are right.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let file = herringbone::ParquetFile::open("testdata/example.parquet")?;
/// assert_eq!(herringbone_inspect::verify(&file).count(), 0);
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn verify(file: &ParquetFile) -> Verify {
    Verify::new(file)
}
