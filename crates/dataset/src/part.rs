//! Parts of a dataset, for engines that plan their own work.

use std::ops::Range;

use crate::Dataset;

/// A part of a dataset, consisting of the row groups of one file that start in a byte range. With
/// adjacent ranges, each row is in exactly one part.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DataPart {
    /// The file's ordinal in [`Dataset::files`].
    pub file: usize,
    /// The byte range in the file. It can reach beyond the end of the file.
    pub bytes: Range<u64>,
}

impl DataPart {
    /// Creates a part of a file.
    #[must_use]
    pub fn new(file: usize, bytes: Range<u64>) -> Self {
        Self { file, bytes }
    }

    /// Creates a part with all of a file's rows.
    #[must_use]
    pub fn whole(file: usize) -> Self {
        Self::new(file, 0..u64::MAX)
    }
}

impl Dataset {
    /// Splits all files into parts of about `bytes` bytes, in file order. Since this reads nothing,
    /// row group boundaries are not known. For example, a single part might have all of a file's
    /// row groups, leaving none for the others.
    ///
    /// ```
    /// use herringbone_dataset::{Dataset, DatasetOptions, DatasetReadOptions};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    ///
    /// let dataset = Dataset::open("testdata/example.parquet", DatasetOptions::new())?;
    /// let mut rows = 0;
    /// // An engine runs one task per part, on any machine.
    /// for part in dataset.split(1000) {
    ///     let options = DatasetReadOptions::new().parts([part]);
    ///     rows += dataset.read(options)?.map(|batch| batch.unwrap().num_rows()).sum::<usize>();
    /// }
    /// assert_eq!(rows, 24);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn split(&self, bytes: u64) -> Vec<DataPart> {
        let bytes = bytes.max(1);
        let mut parts = Vec::new();
        for (file, found) in self.files().iter().enumerate() {
            let length = found.identity().length;
            let count = length.div_ceil(bytes).max(1);
            // We make a file's parts equally large, so that there's no small remainder.
            let size = length.div_ceil(count).max(1);
            for part in 0..count {
                let end = match part + 1 == count {
                    true => u64::MAX,
                    false => (part + 1) * size,
                };
                parts.push(DataPart::new(file, part * size..end));
            }
        }
        parts
    }
}
