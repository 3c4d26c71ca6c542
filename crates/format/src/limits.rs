//! What a file may ask of its reader.
//!
//! A Parquet file names sizes and counts long before it proves them. Each number that leads to an
//! allocation, a loop or a recursion is compared with one of these limits first, so that memory and
//! time are bounded by the bytes that are really there or by a number the caller chose.

/// Upper bounds on what a file may ask for; every one can be raised or lowered.
///
/// ```
/// use herringbone_format::Limits;
///
/// let mut limits = Limits::default();
/// limits.page_bytes = 64 << 20;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of the footer metadata.
    pub footer_bytes: u64,
    /// Depth of the schema tree, and of any nested thrift value.
    pub schema_depth: usize,
    /// Nodes of the schema tree.
    pub schema_nodes: usize,
    /// Row groups of one file.
    pub row_groups: usize,
    /// Bytes of one page header.
    pub page_header_bytes: usize,
    /// Bytes of one page, compressed or not.
    pub page_bytes: usize,
    /// Decompressed bytes for each compressed byte of all pages of a column chunk together, beyond what
    /// their values account for, and as many bytes as one page may have: `memory_bytes` or `page_bytes`,
    /// whichever is less.
    pub decompression_ratio: usize,
    /// Levels of one page, nulls included.
    pub page_values: usize,
    /// Entries of one dictionary page.
    pub dictionary_values: usize,
    /// Bytes of one column or offset index.
    pub page_index_bytes: usize,
    /// Bytes of one bloom filter.
    pub bloom_filter_bytes: usize,
    /// Bytes of one column of one record batch.
    pub batch_column_bytes: usize,
    /// Bytes of the column chunks of a read for each byte of the file: more than one only where
    /// column chunks share bytes.
    pub overlap_ratio: usize,
    /// Bytes that one read holds at a time, all of its columns together: bytes read ahead, pages,
    /// dictionaries, and arrays up to when their batch is given out. Each column holds a page: where a
    /// file of a thousand columns or more has larger ones than its share, raise this to a tenth more
    /// than a page of each, or read some of the columns at a time.
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
