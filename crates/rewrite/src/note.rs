//! Remarks about what could not be kept.

use std::fmt;

use herringbone::format::FooterExtension;

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
    /// Some files have a key of the key-value metadata, and others do not. The new file has it for all rows.
    KeyNotInAll {
        /// Name of the first file that has the key.
        file: String,
        /// The key.
        key: String,
    },
    /// A key of the key-value metadata describes other columns than those that are written. It is left out.
    KeyLeftOut {
        /// Name of the file that has the key.
        file: String,
        /// The key.
        key: String,
    },
    /// The index of a pandas data frame is not kept: it counts the rows of one file, or some rows have no value in it.
    PandasIndex {
        /// Name of the file that has the index.
        file: String,
    },
    /// The footer of a file has an extension, which is not kept.
    FooterExtension {
        /// Name of the file.
        file: String,
        /// Number of bytes of the extension.
        bytes: usize,
        /// UUID at the end of the extension; `None` if it is too short for one.
        uuid: Option<String>,
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
            Self::KeyNotInAll { file, key } => write!(
                f,
                "not all files have the metadata `{key}`; that of {file} is kept, for all rows"
            ),
            Self::KeyLeftOut { file, key } => write!(
                f,
                "{file}: the metadata `{key}` are left out, as they describe other columns than those that \
                 are written"
            ),
            Self::PandasIndex { file } => write!(
                f,
                "{file}: the index of pandas is not kept, as it is not an index of all rows; pandas gives OUT \
                 one that counts them from 0"
            ),
            Self::FooterExtension { file, bytes, uuid } => {
                let field = FooterExtension::FIELD;
                write!(
                    f,
                    "{file}: the extension of its footer is not kept: field {field}, {bytes} bytes"
                )?;
                uuid.as_ref()
                    .map_or(Ok(()), |uuid| write!(f, ", UUID {uuid}"))
            }
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
