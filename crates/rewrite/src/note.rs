//! Remarks about properties that could not be kept.

use std::fmt;

use herringbone::format::FooterExtension;
use herringbone::geospatial::geoparquet::KEY;

/// A property that differs between the new file and its input files, or is missing in the new file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The Parquet schemas of the files differ in these columns. Their Arrow types determine their stored form.
    ColumnsDescribedOtherwise {
        /// The names of the columns at the top level of the schema.
        columns: Vec<String>,
    },
    /// Two files have different values for a key of the key-value metadata. The value of the earlier file is kept.
    KeyValueDiffers {
        /// The name of the later file.
        file: String,
        /// The key with different values.
        key: String,
    },
    /// Some files have a key of the key-value metadata, and others do not. In the new file it applies to all rows.
    KeyNotInAll {
        /// The name of the first file with the key.
        file: String,
        /// The key.
        key: String,
    },
    /// A key of the key-value metadata describes other columns than the written ones. It is omitted.
    KeyLeftOut {
        /// The name of the file with the key.
        file: String,
        /// The key.
        key: String,
    },
    /// The GeoParquet metadata for all or some columns of a file cannot be used. That part is omitted.
    UnusableGeoParquet {
        /// The name of the file with the metadata.
        file: String,
        /// The first defect of that part.
        reason: String,
    },
    /// The index of a pandas data frame is not kept. It counts the rows of one file or lacks a value for some rows.
    PandasIndex {
        /// The name of the file with the index.
        file: String,
    },
    /// The footer of a file has an extension, which is not kept.
    FooterExtension {
        /// The name of the file.
        file: String,
        /// The size of the extension, in bytes.
        bytes: usize,
        /// The UUID at the end of the extension, or `None` if the extension is too short for one.
        uuid: Option<String>,
    },
    /// A BOOLEAN column had a bloom filter. Writers do not write bloom filters for this type.
    NoBloomFilterForBoolean {
        /// The names on the path to the column.
        path: Vec<String>,
    },
    /// Not all sorting columns are kept.
    SortingColumns {
        /// The number of kept sorting columns.
        kept: usize,
        /// The largest number of sorting columns in a row group.
        of: usize,
    },
    /// A file is encrypted in DuckDB's dialect. The new file is encrypted as the specification requires.
    DuckDbDialect {
        /// The name of the file.
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
