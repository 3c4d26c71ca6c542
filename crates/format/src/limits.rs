//! Limits on a file's resource usage.
//!
//! A Parquet file claims sizes and counts long before its bytes confirm them. So before a number leads to an
//! allocation, a loop or a recursion, we compare it with one of these limits. This bounds memory and time by the file's
//! actual bytes or by a number chosen by the caller.

/// Upper bounds on a file's resource usage. You rarely need to change them, but you can raise a limit for an unusual
/// file or lower it to save resources.
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
    /// The number of bytes in the footer metadata.
    pub footer_bytes: u64,
    /// The depth of the schema tree, and of any nested Thrift value.
    pub schema_depth: usize,
    /// The number of nodes in the schema tree.
    pub schema_nodes: usize,
    /// The number of row groups in a file.
    pub row_groups: usize,
    /// The number of bytes in a page header.
    pub page_header_bytes: usize,
    /// The number of bytes in a page, both compressed and decompressed.
    pub page_bytes: usize,
    /// The number of decompressed bytes per compressed byte, in total over all pages of a column chunk. This doesn't
    /// count bytes accounted for by the pages' values, nor a base allowance for one page (the smaller of `memory_bytes`
    /// and `page_bytes`).
    pub decompression_ratio: usize,
    /// The number of levels in a page, including nulls.
    pub page_values: usize,
    /// The number of entries in a dictionary page.
    pub dictionary_values: usize,
    /// The number of bytes in a column index or offset index.
    pub page_index_bytes: usize,
    /// The number of bytes in a bloom filter.
    pub bloom_filter_bytes: usize,
    /// The number of bytes in a record batch's column.
    pub batch_column_bytes: usize,
    /// The number of bytes in a read's column chunks per byte of the file. A ratio above one is only possible if column
    /// chunks share bytes.
    pub overlap_ratio: usize,
    /// The number of bytes used by a read at a time, over all of its columns. This counts bytes read ahead, pages,
    /// dictionaries, and arrays until their batch is emitted. Note that each column buffers a page. If a file with a
    /// thousand or more columns has pages larger than their share, raise this limit to 1.1 times the total size of one
    /// page per column, or read fewer columns at a time.
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
    /// Limits the bytes in the footer metadata.
    footer_bytes: u64;
    /// Limits the depth of the schema tree.
    schema_depth: usize;
    /// Limits the nodes in the schema tree.
    schema_nodes: usize;
    /// Limits the row groups in a file.
    row_groups: usize;
    /// Limits the bytes in a page header.
    page_header_bytes: usize;
    /// Limits the bytes in a page, both compressed and decompressed.
    page_bytes: usize;
    /// Limits the decompressed bytes per compressed byte.
    decompression_ratio: usize;
    /// Limits the levels in a page, including nulls.
    page_values: usize;
    /// Limits the entries in a dictionary page.
    dictionary_values: usize;
    /// Limits the bytes in a column index or offset index.
    page_index_bytes: usize;
    /// Limits the bytes in a bloom filter.
    bloom_filter_bytes: usize;
    /// Limits the bytes in a record batch's column.
    batch_column_bytes: usize;
    /// Limits the bytes in a read's column chunks per byte of the file.
    overlap_ratio: usize;
    /// Limits the bytes used by a read at a time.
    memory_bytes: u64;
}}
