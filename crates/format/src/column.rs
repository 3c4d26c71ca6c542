//! Column chunks, each with one column of one row group.

use crate::{
    CompressionCodec, Encoding, GeospatialStatistics, KeyValue, PageType, SizeStatistics,
    Statistics, Type,
    thrift::{RawStruct, thrift_struct},
};

thrift_struct! {
    /// A column chunk's location and metadata.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// use herringbone::ParquetFile;
    /// use herringbone::format::{CompressionCodec, Type};
    ///
    /// let file = ParquetFile::open("testdata/example.parquet")?;
    /// let chunk = file.metadata().column_chunk(0, 0)?;
    /// // The data is in this file, and not encrypted.
    /// assert_eq!(chunk.file_path, None);
    /// let metadata = chunk.meta_data.ok_or("no metadata")?;
    /// assert_eq!((metadata.type_, metadata.num_values), (Type::Int64, 16));
    /// assert_eq!(metadata.codec, CompressionCodec::Zstd);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Debug, Clone, PartialEq, Default)]
    pub struct ColumnChunk {
        /// The path of the file with the data, relative to this file. Usually absent, because the data is in this file.
        1: optional file_path: String,
        /// A deprecated and unreliable offset.
        2: required file_offset: i64,
        /// The metadata, unless it's in `encrypted_column_metadata`.
        3: optional meta_data: ColumnMetaData,
        /// The offset index's file offset.
        4: optional offset_index_offset: i64,
        /// The offset index's size in bytes.
        5: optional offset_index_length: i32,
        /// The column index's file offset.
        6: optional column_index_offset: i64,
        /// The column index's size in bytes.
        7: optional column_index_length: i32,
        /// The chunk's encryption.
        8: optional crypto_metadata: RawStruct,
        /// The metadata, encrypted with the column's own key.
        9: optional encrypted_column_metadata: Vec<u8>,
    }
}

thrift_struct! {
    /// The fields of a [`ColumnChunk`] needed to read its pages. All other fields, such as statistics, are skipped,
    /// which pays off for many thousands of chunks.
    #[derive(Debug, Clone, PartialEq, Default)]
    pub(crate) struct ColumnChunkLayout {
        /// The file containing the chunk, unless it's this file.
        1: optional file_path: String,
        /// The metadata needed to read pages.
        3: optional meta_data: ColumnLayout,
        /// The chunk's encryption.
        8: optional crypto_metadata: RawStruct,
        /// The metadata as a separate module.
        9: optional encrypted_column_metadata: Vec<u8>,
    }
}

thrift_struct! {
    /// The fields of a [`ColumnMetaData`] needed to read pages.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ColumnLayout {
        /// The physical type.
        1: required type_: Type,
        /// The compression of pages.
        4: required codec: CompressionCodec,
        /// The number of values including nulls, not negative.
        5: count num_values: i64,
        /// The total size of decompressed pages in bytes, including headers. For information only.
        6: required total_uncompressed_size: i64,
        /// The total size of pages in the file in bytes, including headers, not negative.
        7: count total_compressed_size: i64,
        /// The file offset of the first data page, not negative.
        9: count data_page_offset: i64,
        /// The file offset of the dictionary page. Some writers use 0 if there is no dictionary page.
        11: optional dictionary_page_offset: i64,
    }
}

thrift_struct! {
    /// The metadata of a column chunk.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ColumnMetaData {
        /// The physical type.
        1: required type_: Type,
        /// All encodings in the chunk, including the encodings of levels.
        2: required encodings: Vec<Encoding>,
        /// The leaf path without the root, or empty if the writer omitted it.
        3: or_default path_in_schema: Vec<String>,
        /// The compression of pages.
        4: required codec: CompressionCodec,
        /// The number of values including nulls, not negative.
        5: count num_values: i64,
        /// The total size of decompressed pages in bytes, including headers. Don't rely on this, because it's wrong in
        /// some files.
        6: required total_uncompressed_size: i64,
        /// The total size of pages in the file in bytes, including headers, not negative.
        7: count total_compressed_size: i64,
        /// Key-value pairs added by the writer.
        8: optional key_value_metadata: Vec<KeyValue>,
        /// The file offset of the first data page, not negative.
        9: count data_page_offset: i64,
        /// The index page's offset. In practice writers never write such a page.
        10: optional index_page_offset: i64,
        /// The file offset of the dictionary page. Some writers use 0 if there is no dictionary page.
        11: optional dictionary_page_offset: i64,
        /// Bounds and counts of the values.
        12: optional statistics: Statistics,
        /// The number of pages for each page type and encoding.
        13: optional encoding_stats: Vec<PageEncodingStats>,
        /// The bloom filter header's file offset.
        14: optional bloom_filter_offset: i64,
        /// The bloom filter's size in bytes, including its header.
        15: optional bloom_filter_length: i32,
        /// The values' size in memory, and histograms of levels.
        16: optional size_statistics: SizeStatistics,
        /// Bounds of GEOMETRY or GEOGRAPHY values.
        17: optional geospatial_statistics: GeospatialStatistics,
    }
}

thrift_struct! {
    /// The number of pages in a column chunk with a given type and encoding.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct PageEncodingStats {
        /// The pages' type.
        1: required page_type: PageType,
        /// The pages' encoding.
        2: required encoding: Encoding,
        /// The number of pages.
        3: required count: i32,
    }
}

impl ColumnMetaData {
    /// Returns the fields needed to read pages.
    #[must_use]
    pub fn layout(&self) -> ColumnLayout {
        ColumnLayout {
            type_: self.type_,
            codec: self.codec,
            num_values: self.num_values,
            total_uncompressed_size: self.total_uncompressed_size,
            total_compressed_size: self.total_compressed_size,
            data_page_offset: self.data_page_offset,
            dictionary_page_offset: self.dictionary_page_offset,
        }
    }
}
