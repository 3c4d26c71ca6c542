//! Tests the findings that `verify` has in files by other writers, and in files that we damage on purpose.

mod agreement;
mod footer;
mod geoparquet;
mod geospatial;
mod known;
mod many;
mod pages;
mod threads;
mod values;
mod written;

use herringbone::ParquetFile;
use herringbone_inspect::verify::Finding;

/// Returns the findings in a file, which must have a footer.
pub(crate) fn findings(file: &[u8]) -> Vec<Finding> {
    let file = ParquetFile::from_bytes(file.to_vec()).unwrap();
    herringbone_inspect::verify(&file)
        .map(Result::unwrap)
        .collect()
}

/// Returns the findings as lines.
pub(crate) fn lines(file: &[u8]) -> Vec<String> {
    findings(file).iter().map(ToString::to_string).collect()
}
