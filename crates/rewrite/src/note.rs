//! Remarks about what could not be kept.

use std::fmt;

/// Something that the new file has in another way than the files that its rows come from, or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The Parquet schemas of the files differ in these columns. Their Arrow types decide how they are written.
    ColumnsDescribedOtherwise {
        /// Names of the columns at the top of the schema.
        columns: Vec<String>,
    },
    /// Two files have different values for a key of the key-value metadata. The value of the earlier file is kept.
    KeyValueDiffers {
        /// Name of the later file.
        file: String,
        /// Key whose values differ.
        key: String,
    },
    /// A BOOLEAN column had a bloom filter. Writers make none for this type.
    NoBloomFilterForBoolean {
        /// Names that lead to the column.
        path: Vec<String>,
    },
    /// Not all sorting columns are kept.
    SortingColumns {
        /// Number of sorting columns that are kept.
        kept: usize,
        /// Largest number of sorting columns of a row group.
        of: usize,
    },
    /// A file is encrypted in DuckDB's dialect. The new file is encrypted as the specification requires.
    DuckDbDialect {
        /// Name of the file.
        file: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ColumnsDescribedOtherwise { columns } => write!(
                f,
                "the files describe these columns otherwise, so they are written as their Arrow types \
                 say: {}",
                columns.join(", ")
            ),
            Self::KeyValueDiffers { file, key } => write!(
                f,
                "{file}: the metadata `{key}` differ; those of an earlier file are kept"
            ),
            Self::NoBloomFilterForBoolean { path } => {
                write!(f, "`{}`: BOOLEAN gets no bloom filter", path.join("."))
            }
            Self::SortingColumns { kept, of } => {
                match kept {
                    0 => f.write_str("the sorting columns are not kept")?,
                    kept => write!(f, "only the first {kept} of {of} sorting columns are kept")?,
                }
                f.write_str(
                    ": row groups differ in the others, or these were not read or have no order",
                )
            }
            Self::DuckDbDialect { file } => write!(
                f,
                "{file}: DuckDB's dialect is not kept; OUT is encrypted as the specification has it"
            ),
        }
    }
}
