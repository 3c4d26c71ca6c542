//! Looks into Parquet files beyond their rows: whether a file is what it says of itself, and what is left
//! of one that is damaged.
//!
//! | to | use |
//! |---|---|
//! | check all that a file says of itself against its data | [`verify()`] |
//! | get out of a damaged file what is left | [`repair::Repair`] |
//!
//! Both stand on `herringbone`, which does not depend on them.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod repair;
pub mod verify;

use herringbone::ParquetFile;

use verify::Verify;

/// Compares everything that the file says of itself with its data: an iterator of what is wrong,
/// which is empty for a sound file. All pages are read and decoded.
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
    Verify::new(file.clone())
}
