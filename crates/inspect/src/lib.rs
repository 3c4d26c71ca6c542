//! Inspects Parquet files beyond reading their rows: it verifies a file's metadata, and recovers
//! data from damaged files.
//!
//! | to | use |
//! |---|---|
//! | check all metadata of a file against its data | [`verify()`] |
//! | recover data from a damaged file | [`repair::Repair`] |
//!
//! Both are built on `herringbone`, which does not depend on them, so that programs that only read
//! files need not compile them.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod repair;
pub mod verify;

use herringbone::ParquetFile;

use verify::Verify;

/// Compares all metadata of the file with its data. This reads and decodes all pages, because only
/// the values show whether bounds, counts and filters are right. Returns an iterator over the
/// findings, which is empty for a sound file.
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
