//! Limits on the resources that a file may use.
//!
//! A Parquet file claims sizes and counts long before its bytes confirm them. Each number that leads to an
//! allocation, a loop or a recursion is compared with one of these limits first. Memory and time are therefore
//! bounded by the bytes present in the file, or by a number that the caller chose.

/// Upper bounds on the resources that a file may use. You can raise or lower each one.
///
/// ```
/// use herringbone::{ErrorKind, Limits, ParquetFile};
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
///
/// let mut limits = Limits::default();
/// limits.row_groups = 1;
/// let bytes = bytes::Bytes::from(std::fs::read("testdata/example.parquet")?);
/// let error = ParquetFile::from_source(bytes, limits).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Limit);
/// assert_eq!(error.limit_name(), Some("row_groups"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes in the footer metadata.
    pub footer_bytes: u64,
    /// Depth of the schema tree, and of any nested Thrift value.
    pub schema_depth: usize,
    /// Nodes in the schema tree.
    pub schema_nodes: usize,
    /// Row groups in a file.
    pub row_groups: usize,
    /// Bytes in a page header.
    pub page_header_bytes: usize,
    /// Bytes in a compressed or decompressed page.
    pub page_bytes: usize,
    /// Decompressed bytes per compressed byte, for all pages of a column chunk in total. Does not count the
    /// bytes that their values account for, and a base allowance of one page: the smaller of `memory_bytes` and
    /// `page_bytes`.
    pub decompression_ratio: usize,
    /// Levels in a page, including nulls.
    pub page_values: usize,
    /// Entries in a dictionary page.
    pub dictionary_values: usize,
    /// Bytes in a column index or offset index.
    pub page_index_bytes: usize,
    /// Bytes in a bloom filter.
    pub bloom_filter_bytes: usize,
    /// Bytes in a column of a record batch.
    pub batch_column_bytes: usize,
    /// Bytes in the column chunks of a read per byte of the file. More than one is possible only if column
    /// chunks share bytes.
    pub overlap_ratio: usize,
    /// Bytes that a read uses at a time, for all its columns: bytes read ahead, pages, dictionaries, and arrays
    /// until their batch is emitted. Each column buffers a page. If a file with a thousand or more columns has
    /// pages larger than their share, raise this limit to 1.1 times the total size of one page per column, or
    /// read fewer columns at a time.
    pub memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            footer_bytes: 1 << 30,
            schema_depth: 100,
            schema_nodes: 1 << 18,
            row_groups: 1 << 20,
            page_header_bytes: 16 << 20,
            page_bytes: 1 << 30,
            decompression_ratio: 8192,
            page_values: 1 << 28,
            dictionary_values: 1 << 27,
            page_index_bytes: 1 << 30,
            bloom_filter_bytes: 128 << 20,
            batch_column_bytes: 1 << 30,
            overlap_ratio: 16,
            memory_bytes: 1 << 30,
        }
    }
}

impl Limits {
    /// Returns the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

crate::setters! { Limits {
    /// Limits bytes in the footer metadata.
    footer_bytes: u64;
    /// Limits the depth of the schema tree.
    schema_depth: usize;
    /// Limits nodes in the schema tree.
    schema_nodes: usize;
    /// Limits row groups in a file.
    row_groups: usize;
    /// Limits bytes in a page header.
    page_header_bytes: usize;
    /// Limits the bytes of pages, both compressed and decompressed.
    page_bytes: usize;
    /// Limits decompressed bytes per compressed byte.
    decompression_ratio: usize;
    /// Limits the levels in a page. Nulls count.
    page_values: usize;
    /// Limits entries in a dictionary page.
    dictionary_values: usize;
    /// Limits bytes in a column index or offset index.
    page_index_bytes: usize;
    /// Limits bytes in a bloom filter.
    bloom_filter_bytes: usize;
    /// Limits bytes in a column of a record batch.
    batch_column_bytes: usize;
    /// Limits bytes in the column chunks of a read per byte of the file.
    overlap_ratio: usize;
    /// Limits bytes that a read uses at a time.
    memory_bytes: u64;
}}
