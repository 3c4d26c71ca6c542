//! Row groups: some rows of all columns.

use crate::{ColumnChunk, thrift::thrift_struct};

thrift_struct! {
    /// A row group with all of its column chunks.
    #[derive(Debug, Clone, PartialEq)]
    pub struct RowGroup {
        /// One for each leaf of the schema, in its order.
        1: required columns: Vec<ColumnChunk>,
        /// Bytes of all pages after decompression. For information.
        2: required total_byte_size: i64,
        /// Rows, not negative.
        3: count num_rows: i64,
        /// What the rows are sorted by.
        4: optional sorting_columns: Vec<SortingColumn>,
        /// Where its first page starts in the file.
        5: optional file_offset: i64,
        /// Bytes of all pages in the file.
        6: optional total_compressed_size: i64,
        /// Its ordinal in the file.
        7: optional ordinal: i16,
    }
}

/// A row group without its column chunks. The fields are those of [`RowGroup`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowGroupHeader {
    /// Bytes of all pages after decompression. For information.
    pub total_byte_size: i64,
    /// Rows, not negative.
    pub num_rows: i64,
    /// What the rows are sorted by.
    pub sorting_columns: Option<Vec<SortingColumn>>,
    /// Where its first page starts in the file.
    pub file_offset: Option<i64>,
    /// Bytes of all pages in the file.
    pub total_compressed_size: Option<i64>,
    /// Its ordinal in the file.
    pub ordinal: Option<i16>,
}

thrift_struct! {
    /// A column that rows are sorted by.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct SortingColumn {
        /// Ordinal of the leaf column.
        1: required column_idx: i32,
        /// Whether values descend.
        2: required descending: bool,
        /// Whether nulls come first.
        3: required nulls_first: bool,
    }
}
