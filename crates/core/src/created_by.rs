//! Detects a file's writer from `created_by`, because old writers have bugs that readers must work around.

/// Writers based on segmentio/parquet-go, which was archived soon after the bug was fixed. Their versions don't reveal
/// the parquet-go release in use, so we never trust their upper bounds.
const CUTTING_WRITERS: [&str; 3] = [
    "github.com/segmentio/parquet-go",
    "github.com/grafana/phlare",
    "github.com/grafana/pyroscope",
];

/// The known quirks of a file's writer. Used to decide how far to trust the file's metadata.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CreatedBy {
    /// True if the writer compressed all pages. This includes version 2 data pages with headers that claim otherwise
    /// (ARROW-17100).
    pub(crate) compresses_all_pages: bool,
    /// True if the writer appends eight zeros to the values of each data page.
    pub(crate) appends_zeros: bool,
    /// True if the writer truncates byte array upper bounds in column indexes without incrementing them. Values can
    /// then exceed their bounds (segmentio/parquet-go issue 495, fixed in April 2023).
    pub truncates_upper_bounds: bool,
    /// True if the writer derives a column chunk's bounds from its pages' bounds, comparing them as unsigned bytes even
    /// if they're decimals in byte arrays. Values can then lie outside of the chunk's bounds (polars 0.20 to 1.30).
    pub compares_decimals_as_bytes: bool,
    /// True if the writer left the dictionary page header out of `total_compressed_size` (PARQUET-816). The last page
    /// can then start after the column chunk's end according to the metadata.
    pub(crate) omits_dictionary_header: bool,
}

impl CreatedBy {
    /// Returns the known habits of the writer that `created_by` names.
    pub fn new(created_by: Option<&str>) -> Self {
        let (name, version) = name_and_version(created_by.unwrap_or_default());
        Self {
            omits_dictionary_header: name == "parquet-mr" && version < [1, 2, 9],
            // The last version of parquet-cpp was 1.5.1, but Arrow before 3.0 still used this name and version.
            compresses_all_pages: name == "parquet-cpp" && version < [2, 0, 0],
            appends_zeros: name == "fastparquet-python" || name == "fastparquet",
            // Later versions of polars state their number, so the bare name means an old version.
            compares_decimals_as_bytes: created_by == Some("Polars"),
            truncates_upper_bounds: CUTTING_WRITERS.iter().any(|it| name.starts_with(it)),
        }
    }
}

/// Splits `parquet-cpp version 1.5.1-SNAPSHOT` into `parquet-cpp` and the numbers 1, 5 and 1. Missing or invalid
/// numbers become 0.
fn name_and_version(created_by: &str) -> (&str, [u32; 3]) {
    let (name, version) = created_by
        .split_once(" version ")
        .unwrap_or((created_by, ""));
    let mut numbers = version.split(|it: char| !it.is_ascii_digit());
    let version = [(); 3].map(|()| {
        numbers
            .next()
            .and_then(|number| number.parse().ok())
            .unwrap_or_default()
    });
    (name.trim(), version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_compresses_all_pages() {
        for (created_by, expected) in [
            ("parquet-cpp version 1.5.1-SNAPSHOT", true),
            ("parquet-cpp version 1.0.0", true),
            ("parquet-cpp", true),
            ("parquet-cpp version 2.0.0", false),
            ("parquet-cpp-arrow version 1.0.0", false),
            ("parquet-cpp-arrow version 3.0.0", false),
            ("parquet-mr version 1.5.1", false),
            ("", false),
        ] {
            let writer = CreatedBy::new(Some(created_by));
            assert_eq!(writer.compresses_all_pages, expected, "{created_by}");
        }
        assert_eq!(CreatedBy::new(None), CreatedBy::default());
    }

    #[test]
    fn truncated_upper_bounds_by_writer() {
        for (created_by, expected) in [
            (
                "github.com/segmentio/parquet-go version 0.0.0-20230209 (build f785677b9a75)",
                true,
            ),
            ("github.com/segmentio/parquet-go", true),
            (
                "github.com/grafana/phlare/ version 0.5.0 (build 3b1a0d2)",
                true,
            ),
            (
                "github.com/parquet-go/parquet-go version 0.23.0 (build )",
                false,
            ),
            ("parquet-mr version 1.13.1", false),
        ] {
            let writer = CreatedBy::new(Some(created_by));
            assert_eq!(writer.truncates_upper_bounds, expected, "{created_by}");
        }
    }

    #[test]
    fn who_omits_the_header_of_dictionaries() {
        for (created_by, expected) in [
            ("parquet-mr", true),
            ("parquet-mr version 1.2.8", true),
            ("parquet-mr version 1.2.9", false),
            ("parquet-mr version 1.10.0 (build abc)", false),
            ("parquet-rs version 1.0.0", false),
            ("", false),
        ] {
            let writer = CreatedBy::new(Some(created_by));
            assert_eq!(writer.omits_dictionary_header, expected, "{created_by}");
        }
    }
}
