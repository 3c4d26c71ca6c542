//! Reports on why columns are stored as they are.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use herringbone_format::Encoding;

use crate::options::DataPageVersion;
use herringbone_core::compression::Compression;

/// The stored form of a column chunk's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoredAs {
    /// The values themselves, in this encoding.
    Values(Encoding),
    /// Indices into a dictionary.
    #[non_exhaustive]
    Dictionary {
        /// True if the dictionary's entries are sorted.
        is_sorted: bool,
        /// True if indices have spare bits, so that they don't cross byte boundaries.
        is_aligned: bool,
    },
}

impl fmt::Display for StoredAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Values(encoding) => f.pad(&encoding.to_string()),
            Self::Dictionary {
                is_sorted,
                is_aligned,
            } => {
                let sorted = if *is_sorted { ", sorted" } else { "" };
                let aligned = if *is_aligned { ", aligned" } else { "" };
                f.pad(&format!("dictionary{sorted}{aligned}"))
            }
        }
    }
}

/// The estimated cost of a column chunk's values in one form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodingEstimate {
    /// The form to store the values in.
    pub stored_as: StoredAs,
    /// The compression of the pages.
    pub compression: Compression,
    /// The estimated size of all values seen, in bytes, including any dictionary.
    pub bytes: u64,
    /// The estimated time to decompress and decode the values, in nanoseconds. It comes from a cost table.
    pub nanoseconds: u64,
}

/// A column chunk's form and the alternatives considered by the writer.
///
/// ```
/// use std::sync::Arc;
///
/// use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
/// use herringbone::{Explanation, StoredAs, WriteOptions, Writer};
///
/// let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..10_000));
/// let kinds = (0..10_000).map(|row| ["bird", "fish"][row % 2]);
/// let kinds: ArrayRef = Arc::new(StringArray::from_iter_values(kinds));
/// let batch = RecordBatch::try_from_iter([("id", ids), ("kind", kinds)])?;
/// let explanation = Explanation::new();
/// let options = WriteOptions::new().explanation(explanation.clone());
/// let mut writer = Writer::new(Vec::new(), batch.schema(), options)?;
/// writer.write(&batch)?;
/// writer.finish()?;
///
/// let choices = explanation.take();
/// let kind = choices.iter().find(|choice| choice.path == ["kind"]).ok_or("no choice")?;
/// // Two different values are worth a dictionary.
/// assert!(matches!(kind.stored_as, StoredAs::Dictionary { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnChoice {
    /// The column path.
    pub path: Vec<String>,
    /// The ordinal of the chunk's row group.
    pub row_group: usize,
    /// The value form. If a dictionary overflowed later, the following values use the cheapest other encoding.
    pub stored_as: StoredAs,
    /// The compression of pages.
    pub compression: Compression,
    /// The version of data pages.
    pub version: DataPageVersion,
    /// The forms tried. Empty if the options left no choice, if there were too few values, or if the previous row
    /// group's choice was reused.
    pub estimates: Vec<EncodingEstimate>,
}

/// The choice for a column chunk, without its place in the file.
#[derive(Debug, Clone)]
pub(crate) struct ChunkChoice {
    pub(crate) stored_as: StoredAs,
    pub(crate) compression: Compression,
    pub(crate) version: DataPageVersion,
    pub(crate) estimates: Vec<EncodingEstimate>,
}

impl ChunkChoice {
    /// Adds the chunk's place in the file.
    pub(crate) fn of(&self, path: Vec<String>, row_group: usize) -> ColumnChoice {
        ColumnChoice {
            path,
            row_group,
            stored_as: self.stored_as,
            compression: self.compression,
            version: self.version,
            estimates: self.estimates.clone(),
        }
    }
}

/// A collector of the reasons why columns are stored as they are, filled while a file is being written. Use this if a
/// file is larger than you expect, or to compare profiles.
///
/// Clones share the collected choices. Pass one clone to
/// [`WriteOptions::explanation`](crate::WriteOptions::explanation), and read from another once the file is complete.
///
/// ```
/// # use std::sync::Arc;
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..10_000));
/// # let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// use herringbone::format::Encoding;
/// use herringbone::{Compatibility, Explanation, StoredAs, WriteOptions, Writer};
///
/// // `batch` has the column `id` with the numbers from 0 to 9999.
/// let explanation = Explanation::new();
/// let options = WriteOptions::new()
///     .compatibility(Compatibility::Modern)
///     .explanation(explanation.clone());
/// let mut writer = Writer::new(Vec::new(), batch.schema(), options)?;
/// writer.write(&batch)?;
/// writer.finish()?;
/// let choices = explanation.take();
/// assert_eq!((choices.len(), &choices[0].path), (1, &vec!["id".to_owned()]));
/// assert_eq!(choices[0].stored_as, StoredAs::Values(Encoding::DeltaBinaryPacked));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Explanation {
    choices: Arc<Mutex<Vec<ColumnChoice>>>,
}

impl Explanation {
    /// Creates an empty collector.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes and returns the choices collected so far, in file order.
    #[must_use]
    pub fn take(&self) -> Vec<ColumnChoice> {
        let mut choices = self.choices.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *choices)
    }

    pub(crate) fn add(&self, choice: ColumnChoice) {
        let mut choices = self.choices.lock().unwrap_or_else(PoisonError::into_inner);
        choices.push(choice);
    }
}
