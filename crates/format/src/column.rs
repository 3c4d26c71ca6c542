//! Column chunks: one column of one row group.

use crate::{
    CompressionCodec, Encoding, GeospatialStatistics, KeyValue, PageType, SizeStatistics,
    Statistics, Type,
    thrift::{RawStruct, thrift_struct},
};

thrift_struct! {
    /// Where a column chunk lies and what is known about it.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct ColumnChunk {
        /// The file with the data, relative to this one; this one when absent.
        1: optional file_path: String,
        /// Deprecated, and not to be relied upon.
        2: required file_offset: i64,
        /// Its metadata; absent when `encrypted_column_metadata` has it.
        3: optional meta_data: ColumnMetaData,
        /// Where the offset index starts in the file.
        4: optional offset_index_offset: i64,
        /// Bytes of the offset index.
        5: optional offset_index_length: i32,
        /// Where the column index starts in the file.
        6: optional column_index_offset: i64,
        /// Bytes of the column index.
        7: optional column_index_length: i32,
        /// How the chunk is encrypted.
        8: optional crypto_metadata: RawStruct,
        /// Its metadata under the column's own key.
        9: optional encrypted_column_metadata: Vec<u8>,
    }
}

thrift_struct! {
    /// A [`ColumnChunk`] as far as it takes to read its pages: statistics and the like are passed
    /// over, which matters where there are many thousands of chunks.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub(crate) struct ColumnChunkLayout {
        /// The file that holds the chunk, if it is another one.
        1: optional file_path: String,
        /// What there is to know of its pages.
        3: optional meta_data: ColumnLayout,
        /// How the chunk is encrypted.
        8: optional crypto_metadata: RawStruct,
        /// Its metadata as a module of its own.
        9: optional encrypted_column_metadata: Vec<u8>,
    }
}

thrift_struct! {
    /// A [`ColumnMetaData`] as far as it takes to read pages.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ColumnLayout {
        /// The physical type.
        1: required type_: Type,
        /// How its pages are compressed.
        4: required codec: CompressionCodec,
        /// Values, nulls included, not negative.
        5: count num_values: i64,
        /// Bytes of all pages and their headers after decompression. For information.
        6: required total_uncompressed_size: i64,
        /// Bytes of all pages and their headers in the file, not negative.
        7: count total_compressed_size: i64,
        /// Where the first data page starts in the file, not negative.
        9: count data_page_offset: i64,
        /// Where the dictionary page starts. Some writers put 0 for none.
        11: optional dictionary_page_offset: i64,
    }
}

thrift_struct! {
    /// What a reader has to know of a column chunk.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ColumnMetaData {
        /// The physical type.
        1: required type_: Type,
        /// Every encoding in the chunk, those of levels included.
        2: required encodings: Vec<Encoding>,
        /// The path from below the root to the leaf; empty if the writer left it out.
        3: or_default path_in_schema: Vec<String>,
        /// How its pages are compressed.
        4: required codec: CompressionCodec,
        /// Values, nulls included, not negative.
        5: count num_values: i64,
        /// Bytes of all pages and their headers after decompression. For information: there are
        /// files in which it is wrong.
        6: required total_uncompressed_size: i64,
        /// Bytes of all pages and their headers in the file, not negative.
        7: count total_compressed_size: i64,
        /// What the writer adds.
        8: optional key_value_metadata: Vec<KeyValue>,
        /// Where the first data page starts in the file, not negative.
        9: count data_page_offset: i64,
        /// Where the index page starts; never written.
        10: optional index_page_offset: i64,
        /// Where the dictionary page starts. Some writers put 0 for none.
        11: optional dictionary_page_offset: i64,
        /// Bounds and counts.
        12: optional statistics: Statistics,
        /// How many pages there are of each type and encoding.
        13: optional encoding_stats: Vec<PageEncodingStats>,
        /// Where the bloom filter's header starts in the file.
        14: optional bloom_filter_offset: i64,
        /// Bytes of the bloom filter, its header included.
        15: optional bloom_filter_length: i32,
        /// How large it is in memory.
        16: optional size_statistics: SizeStatistics,
        /// Bounds of a GEOMETRY or GEOGRAPHY.
        17: optional geospatial_statistics: GeospatialStatistics,
    }
}

thrift_struct! {
    /// How many pages of a column chunk have this type and this encoding.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct PageEncodingStats {
        /// The type.
        1: required page_type: PageType,
        /// The encoding.
        2: required encoding: Encoding,
        /// The number of pages.
        3: required count: i32,
    }
}
