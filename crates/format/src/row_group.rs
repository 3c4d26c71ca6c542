//! Row groups, each with some rows of all columns.

use crate::{ColumnChunk, thrift::thrift_struct};

thrift_struct! {
    /// A row group with all of its column chunks.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// use herringbone::ParquetFile;
    ///
    /// let file = ParquetFile::open("testdata/example.parquet")?;
    /// let row_group = file.metadata().row_group(1)?;
    /// assert_eq!(row_group.num_rows, 8);
    /// assert_eq!(row_group.columns.len(), file.parquet_schema().leaves().len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Debug, Clone, PartialEq)]
    pub struct RowGroup {
        /// The column chunks, one per leaf, in schema order.
        1: required columns: Vec<ColumnChunk>,
        /// The total size of decompressed pages in bytes. For information only.
        2: required total_byte_size: i64,
        /// The number of rows, not negative.
        3: count num_rows: i64,
        /// The sorting columns, if the rows are sorted.
        4: optional sorting_columns: Vec<SortingColumn>,
        /// The file offset of the row group's first page.
        5: optional file_offset: i64,
        /// The total size of pages in bytes, as stored in the file.
        6: optional total_compressed_size: i64,
        /// The ordinal of the row group in the file.
        7: optional ordinal: i16,
    }
}

/// A row group without its column chunks. Use this if you only need the other fields of a
/// [`RowGroup`], because it comes decoded with the footer.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::ParquetFile;
///
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let metadata = file.metadata();
/// let mut rows = Vec::new();
/// for row_group in 0..metadata.num_row_groups() {
///     rows.push(metadata.row_group_header(row_group)?.num_rows);
/// }
/// assert_eq!(rows, [16, 8]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowGroupHeader {
    /// The total size of decompressed pages in bytes. For information only.
    pub total_byte_size: i64,
    /// The number of rows, not negative.
    pub num_rows: i64,
    /// The sorting columns, if the rows are sorted.
    pub sorting_columns: Option<Vec<SortingColumn>>,
    /// The file offset of the row group's first page.
    pub file_offset: Option<i64>,
    /// The total size of pages in bytes, as stored in the file.
    pub total_compressed_size: Option<i64>,
    /// The ordinal of the row group in the file.
    pub ordinal: Option<i16>,
}

thrift_struct! {
    /// A sorting column.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct SortingColumn {
        /// The ordinal of the leaf column.
        1: required column_idx: i32,
        /// True if the values are in descending order.
        2: required descending: bool,
        /// True if nulls come first.
        3: required nulls_first: bool,
    }
}
