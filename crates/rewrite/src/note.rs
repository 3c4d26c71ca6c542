//! Remarks about properties that could not be kept.

use std::fmt;

use herringbone::format::FooterExtension;
use herringbone::geospatial::geoparquet::KEY;

/// A property of the input files, changed or missing in the new file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The files disagree about these columns' Parquet types, so the columns are stored as their
    /// Arrow types require.
    ColumnsDescribedOtherwise {
        /// The names of top-level columns.
        columns: Vec<String>,
    },
    /// Two files have different values for a metadata key, and the earlier file's value is kept.
    KeyValueDiffers {
        /// The name of the later file.
        file: String,
        /// The key whose values differ.
        key: String,
    },
    /// Only some files have a metadata key. In the new file, it applies to all rows.
    KeyNotInAll {
        /// The name of the first file with the key.
        file: String,
        /// The key.
        key: String,
    },
    /// A metadata key describes columns other than those written, so it is left out.
    KeyLeftOut {
        /// The name of the file with the key.
        file: String,
        /// The key.
        key: String,
    },
    /// The GeoParquet metadata for some or all of a file's columns cannot be used, so that part is
    /// left out.
    UnusableGeoParquet {
        /// The name of the file with the metadata.
        file: String,
        /// The first defect in the unusable part.
        reason: String,
    },
    /// A pandas data frame's index is not kept, because it counts one file's rows or lacks a value
    /// for some rows.
    PandasIndex {
        /// The name of the file with the index.
        file: String,
    },
    /// A file's footer has an extension, and it is not kept.
    FooterExtension {
        /// The file's name.
        file: String,
        /// The extension's size in bytes.
        bytes: usize,
        /// The UUID at the end of the extension, or `None` if the extension is too short for one.
        uuid: Option<String>,
    },
    /// A BOOLEAN column had a bloom filter, which writers do not write for this type.
    NoBloomFilterForBoolean {
        /// The column path.
        path: Vec<String>,
    },
    /// Some sorting columns are not kept.
    SortingColumns {
        /// The number of sorting columns kept.
        kept: usize,
        /// The largest number of sorting columns in any row group.
        of: usize,
    },
    /// A file is encrypted in DuckDB's dialect, but the new file is encrypted as the specification
    /// requires.
    DuckDbDialect {
        /// The file's name.
        file: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ColumnsDescribedOtherwise { columns } => write!(
                f,
                "the files describe these columns differently, so they are written as their Arrow \
                 types require: {}",
                columns.join(", ")
            ),
            Self::KeyValueDiffers { file, key } => write!(
                f,
                "{file}: the metadata `{key}` differs; that of an earlier file is kept"
            ),
            Self::KeyNotInAll { file, key } => write!(
                f,
                "not all files have the metadata `{key}`; that of {file} is kept, for all rows"
            ),
            Self::KeyLeftOut { file, key } => write!(
                f,
                "{file}: the metadata `{key}` is left out, because it describes columns other than \
                 those written"
            ),
            Self::UnusableGeoParquet { file, reason } => write!(
                f,
                "{file}: the metadata `{KEY}` is not kept in full, because {reason}; geometries \
                 that it does not describe are plain bytes"
            ),
            Self::PandasIndex { file } => write!(
                f,
                "{file}: the index of pandas is not kept, because it does not cover all rows; \
                 pandas will number the rows of OUT from 0"
            ),
            Self::FooterExtension { file, bytes, uuid } => {
                let field = FooterExtension::FIELD;
                write!(
                    f,
                    "{file}: the extension of the footer is not kept: field {field}, {bytes} bytes"
                )?;
                uuid.as_ref()
                    .map_or(Ok(()), |uuid| write!(f, ", UUID {uuid}"))
            }
            Self::NoBloomFilterForBoolean { path } => {
                write!(
                    f,
                    "`{}`: a BOOLEAN column cannot have a bloom filter",
                    path.join(".")
                )
            }
            Self::SortingColumns { kept, of } => {
                match kept {
                    0 => f.write_str("the sorting columns are not kept")?,
                    kept => write!(f, "only the first {kept} of {of} sorting columns are kept")?,
                }
                f.write_str(
                    ": row groups differ in the others, or these were not read or cannot be \
                     ordered",
                )
            }
            Self::DuckDbDialect { file } => write!(
                f,
                "{file}: DuckDB's dialect is not kept; OUT is encrypted as the specification \
                 requires"
            ),
        }
    }
}
