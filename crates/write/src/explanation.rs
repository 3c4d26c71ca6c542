//! Why columns are stored as they are.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use herringbone_format::Encoding;

use crate::options::DataPageVersion;
use herringbone_core::compression::Compression;

/// What the values of a column chunk are stored as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoredAs {
    /// Values in this encoding.
    Values(Encoding),
    /// Indices of a dictionary.
    #[non_exhaustive]
    Dictionary {
        /// Whether its entries are sorted.
        is_sorted: bool,
        /// Whether indices have more bits than they need, so that they do not cross borders of bytes.
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

/// What the values of a column chunk would take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncodingEstimate {
    /// Stored so,
    pub stored_as: StoredAs,
    /// and compressed so:
    pub compression: Compression,
    /// bytes of the values that were seen, a dictionary included,
    pub bytes: u64,
    /// and nanoseconds to decompress and decode them, by a table.
    pub nanoseconds: u64,
}

/// How one column chunk is stored, and what it was chosen from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnChoice {
    /// The path of the column, as parts.
    pub path: Vec<String>,
    /// The ordinal of the row group.
    pub row_group: usize,
    /// What values are stored as. Where a dictionary grew too large later, values behind are in the encoding that costs
    /// least of the others.
    pub stored_as: StoredAs,
    /// How pages are compressed.
    pub compression: Compression,
    /// The version of data pages.
    pub version: DataPageVersion,
    /// What was tried; empty where the caller left no choice, values are too few, or what was chosen for the row group before
    /// holds for this one.
    pub estimates: Vec<EncodingEstimate>,
}

/// What a column chunk says of itself.
#[derive(Debug, Clone)]
pub(crate) struct ChunkChoice {
    pub(crate) stored_as: StoredAs,
    pub(crate) compression: Compression,
    pub(crate) version: DataPageVersion,
    pub(crate) estimates: Vec<EncodingEstimate>,
}

impl ChunkChoice {
    /// With its place in the file.
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

/// Collects why columns are stored as they are, while a file is written.
///
/// Clones share what they collect: give one to [`WriteOptions::explanation`](crate::WriteOptions::explanation), and
/// ask the other when the file is complete.
#[derive(Debug, Clone, Default)]
pub struct Explanation {
    choices: Arc<Mutex<Vec<ColumnChoice>>>,
}

impl Explanation {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The column chunks so far, in the order of the file. After that they are no longer here.
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
