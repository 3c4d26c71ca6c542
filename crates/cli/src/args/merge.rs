//! The options for reading several files as one. They list the allowed differences between files.

use clap::Args;
use herringbone_rewrite::SchemaMerge;

/// The options of commands that read several files as one.
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Find columns by name: their order may differ between files, and missing columns are null
    #[arg(long)]
    by_name: bool,
    /// Read columns whose types differ between files as a common type of all values, e.g. INT32 and INT64 as INT64
    #[arg(long)]
    cast: bool,
}

impl Merge {
    /// Returns true if one of the options is given.
    pub(crate) fn is_given(&self) -> bool {
        self.by_name || self.cast
    }

    /// Returns the choice in the library's type.
    pub(crate) fn choice(&self) -> SchemaMerge {
        let mut merge = SchemaMerge::default();
        merge.by_name = self.by_name;
        merge.cast = self.cast;
        merge
    }
}

/// The option of commands that can copy column chunks.
#[derive(Debug, Args)]
pub(crate) struct CopyChunks {
    /// Copy column chunks without decoding them: much faster. Row groups keep their sizes, codecs, encodings,
    /// page indexes and bloom filters. Rows of files that do not have the schema of OUT are encoded again
    #[arg(long, conflicts_with_all = [
        "compression", "encoding", "dictionary", "row_group_rows", "row_group_bytes", "page_rows",
        "page_bytes", "content_defined_chunking", "data_page_version", "prefer", "bloom_filter", "no_bloom_filter", "sort_by",
        "dictionary_bytes", "distinct_counts", "truncate_bounds",
        "geoparquet", "no_page_index", "no_crc", "on_error", "condition", "bbox", "limit", "offset", "sample",
    ])]
    pub(crate) copy: bool,
}
