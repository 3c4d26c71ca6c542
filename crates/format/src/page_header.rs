//! The header in front of every page.
//!
//! ```text
//! column chunk   [page header, page body]*
//! ```
//!
//! A header does not say how long it is. Who does not have the whole chunk in memory decodes a
//! prefix, and asks for more bytes when that ends too early.

use crate::{
    Encoding, Limits, PageType, Result, Statistics,
    thrift::{decode_prefix, decode_whole, thrift_struct},
};

thrift_struct! {
    /// The header of a page. One of the four particular headers belongs to its type, which is not
    /// checked here.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct PageHeader {
        /// What the page holds.
        1: required type_: PageType,
        /// Bytes of the body after decompression, not negative.
        2: count uncompressed_page_size: i32,
        /// Bytes of the body in the file, not negative.
        3: count compressed_page_size: i32,
        /// CRC-32 of the body as it lies in the file.
        4: optional crc: i32,
        /// Of a data page version 1.
        5: optional data_page_header: DataPageHeader,
        /// Of an index page.
        6: optional index_page_header: IndexPageHeader,
        /// Of a dictionary page.
        7: optional dictionary_page_header: DictionaryPageHeader,
        /// Of a data page version 2.
        8: optional data_page_header_v2: DataPageHeaderV2,
    }
}

thrift_struct! {
    /// The particular header of a data page version 1.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DataPageHeader {
        /// Values, nulls included, not negative.
        1: count num_values: i32,
        /// Of the values.
        2: required encoding: Encoding,
        /// Of the definition levels.
        3: required definition_level_encoding: Encoding,
        /// Of the repetition levels.
        4: required repetition_level_encoding: Encoding,
        /// Bounds and counts of the page.
        5: optional statistics: Statistics,
    }
}

thrift_struct! {
    /// The particular header of an index page: nothing.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct IndexPageHeader {}
}

thrift_struct! {
    /// The particular header of a dictionary page.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DictionaryPageHeader {
        /// Entries, not negative.
        1: count num_values: i32,
        /// Of the entries: PLAIN under one of its two names.
        2: required encoding: Encoding,
        /// Whether the entries ascend.
        3: optional is_sorted: bool,
    }
}

thrift_struct! {
    /// The particular header of a data page version 2. Levels come first in the body, never
    /// compressed, and without lengths of their own.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DataPageHeaderV2 {
        /// Values, nulls included, not negative.
        1: count num_values: i32,
        /// Nulls, not negative.
        2: count num_nulls: i32,
        /// Rows, not negative; a page starts with a new row.
        3: count num_rows: i32,
        /// Of the values.
        4: required encoding: Encoding,
        /// Bytes of the definition levels, not negative.
        5: count definition_levels_byte_length: i32,
        /// Bytes of the repetition levels, not negative.
        6: count repetition_levels_byte_length: i32,
        /// Whether the values are compressed; true when absent.
        7: or_true is_compressed: bool,
        /// Bounds and counts of the page.
        8: optional statistics: Statistics,
    }
}

thrift_struct! {
    /// A [`PageHeader`] as far as it takes to read the page: statistics are passed over.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct PageLayout {
        /// What the page holds.
        1: required type_: PageType,
        /// Bytes of the body after decompression, not negative.
        2: count uncompressed_page_size: i32,
        /// Bytes of the body in the file, not negative.
        3: count compressed_page_size: i32,
        /// CRC-32 of the body as it lies in the file.
        4: optional crc: i32,
        /// Of a data page version 1.
        5: optional data_page_header: DataPageLayout,
        /// Of a dictionary page.
        7: optional dictionary_page_header: DictionaryPageHeader,
        /// Of a data page version 2.
        8: optional data_page_header_v2: DataPageLayoutV2,
    }
}

thrift_struct! {
    /// A [`DataPageHeader`] without statistics.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DataPageLayout {
        /// Values, nulls included, not negative.
        1: count num_values: i32,
        /// Of the values.
        2: required encoding: Encoding,
        /// Of the definition levels.
        3: required definition_level_encoding: Encoding,
        /// Of the repetition levels.
        4: required repetition_level_encoding: Encoding,
    }
}

thrift_struct! {
    /// A [`DataPageHeaderV2`] without statistics.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DataPageLayoutV2 {
        /// Values, nulls included, not negative.
        1: count num_values: i32,
        /// Nulls, not negative.
        2: count num_nulls: i32,
        /// Rows, not negative; a page starts with a new row.
        3: count num_rows: i32,
        /// Of the values.
        4: required encoding: Encoding,
        /// Bytes of the definition levels, not negative.
        5: count definition_levels_byte_length: i32,
        /// Bytes of the repetition levels, not negative.
        6: count repetition_levels_byte_length: i32,
        /// Whether the values are compressed; true when absent.
        7: or_true is_compressed: bool,
    }
}

impl From<&PageHeader> for PageLayout {
    fn from(header: &PageHeader) -> Self {
        let v1 = header.data_page_header.as_ref();
        let v2 = header.data_page_header_v2.as_ref();
        Self {
            type_: header.type_,
            uncompressed_page_size: header.uncompressed_page_size,
            compressed_page_size: header.compressed_page_size,
            crc: header.crc,
            data_page_header: v1.map(|v1| DataPageLayout {
                num_values: v1.num_values,
                encoding: v1.encoding,
                definition_level_encoding: v1.definition_level_encoding,
                repetition_level_encoding: v1.repetition_level_encoding,
            }),
            dictionary_page_header: header.dictionary_page_header.clone(),
            data_page_header_v2: v2.map(|v2| DataPageLayoutV2 {
                num_values: v2.num_values,
                num_nulls: v2.num_nulls,
                num_rows: v2.num_rows,
                encoding: v2.encoding,
                definition_levels_byte_length: v2.definition_levels_byte_length,
                repetition_levels_byte_length: v2.repetition_levels_byte_length,
                is_compressed: v2.is_compressed,
            }),
        }
    }
}

impl PageLayout {
    /// As [`PageHeader::decode_prefix`].
    pub fn decode_prefix(bytes: &[u8], limits: &Limits) -> Result<Option<(Self, usize)>> {
        decode_prefix(bytes, limits, "page_header_bytes", limits.page_header_bytes)
    }
}

impl PageHeader {
    /// Decodes the header at the start of `bytes`, and says how many bytes it has.
    ///
    /// **Errors**: corrupt, with the byte in the message, if it breaks the protocol, misses a
    /// required field or has a negative size; limit if it is longer than
    /// [`Limits::page_header_bytes`].
    pub fn decode(bytes: &[u8], limits: &Limits) -> Result<(Self, usize)> {
        decode_whole(
            bytes,
            limits,
            "page_header_bytes",
            limits.page_header_bytes,
            "page header",
        )
    }

    /// The same, but `None` if `bytes` end inside of the header: more of them are needed.
    pub fn decode_prefix(bytes: &[u8], limits: &Limits) -> Result<Option<(Self, usize)>> {
        decode_prefix(bytes, limits, "page_header_bytes", limits.page_header_bytes)
    }
}
