//! The header in front of every page.
//!
//! ```text
//! column chunk   [page header, page body]*
//! ```
//!
//! A header doesn't contain its own length. So unless a reader has the whole chunk in memory, it decodes a prefix and
//! reads more bytes if the prefix ends too early.

use crate::{
    Encoding, Limits, PageType, Result, Statistics,
    thrift::{
        CompactReader, CompactWriter, Value, Wire, decode_prefix, decode_whole, read_prefix,
        thrift_struct,
    },
};

/// The name of the limit on page headers.
const LIMIT: &str = "page_header_bytes";

thrift_struct! {
    /// The header of a page. It should have the type-specific header that matches its type, but this isn't checked
    /// here.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct PageHeader {
        /// The page's type.
        1: required type_: PageType,
        /// The body's size in bytes after decompression, not negative.
        2: count uncompressed_page_size: i32,
        /// The body's size in bytes as stored in the file, not negative.
        3: count compressed_page_size: i32,
        /// The CRC-32 of the body as stored in the file.
        4: optional crc: i32,
        /// The header of a data page version 1.
        5: optional data_page_header: DataPageHeader,
        /// The header of an index page.
        6: optional index_page_header: IndexPageHeader,
        /// The header of a dictionary page.
        7: optional dictionary_page_header: DictionaryPageHeader,
        /// The header of a data page version 2.
        8: optional data_page_header_v2: DataPageHeaderV2,
    }
}

thrift_struct! {
    /// The type-specific header of a data page version 1.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DataPageHeader {
        /// The number of values including nulls, not negative.
        1: count num_values: i32,
        /// The encoding of the values.
        2: required encoding: Encoding,
        /// The encoding of the definition levels.
        3: required definition_level_encoding: Encoding,
        /// The encoding of the repetition levels.
        4: required repetition_level_encoding: Encoding,
        /// Bounds and counts of the page's values.
        5: optional statistics: PageStatistics,
    }
}

thrift_struct! {
    /// The type-specific header of an index page. It has no fields.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct IndexPageHeader {}
}

thrift_struct! {
    /// The type-specific header of a dictionary page.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DictionaryPageHeader {
        /// The number of entries, not negative.
        1: count num_values: i32,
        /// The encoding of the entries: PLAIN, or its older name PLAIN_DICTIONARY.
        2: required encoding: Encoding,
        /// True if the entries are in ascending order.
        3: optional is_sorted: bool,
    }
}

thrift_struct! {
    /// The type-specific header of a data page version 2. In such a page's body, the levels come before the values.
    /// Levels are never compressed and have no length prefixes.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DataPageHeaderV2 {
        /// The number of values including nulls, not negative.
        1: count num_values: i32,
        /// The number of nulls, not negative.
        2: count num_nulls: i32,
        /// The number of rows, not negative. A page starts with a new row.
        3: count num_rows: i32,
        /// The encoding of the values.
        4: required encoding: Encoding,
        /// The size of the definition levels in bytes, not negative.
        5: count definition_levels_byte_length: i32,
        /// The size of the repetition levels in bytes, not negative.
        6: count repetition_levels_byte_length: i32,
        /// True if the values are compressed. This is also the default if the field is absent.
        7: or_true is_compressed: bool,
        /// Bounds and counts of the page's values.
        8: optional statistics: PageStatistics,
    }
}

/// One page's bounds and counts, kept as bytes until they're needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageStatistics(Box<[u8]>);

impl PageStatistics {
    /// Decodes the statistics.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt) if the bytes break the protocol.
    pub fn decode(&self, limits: &Limits) -> Result<Statistics> {
        decode_whole(&self.0, limits, LIMIT, self.0.len(), "page statistics")
            .map(|(statistics, _)| statistics)
    }
}

impl From<&Statistics> for PageStatistics {
    fn from(statistics: &Statistics) -> Self {
        let mut writer = CompactWriter::new();
        statistics.encode(&mut writer);
        Self(writer.finish().into())
    }
}

impl Value for PageStatistics {
    const WIRE: Wire = Wire::Struct;

    fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
        reader.expect(wire, Wire::Struct)?;
        reader.raw_struct().map(|bytes| Self(bytes.into()))
    }

    fn write(&self, writer: &mut CompactWriter) {
        writer.raw(&self.0);
    }
}

impl PageHeader {
    /// Returns the page's bounds and counts, still encoded.
    #[must_use]
    pub fn statistics(&self) -> Option<&PageStatistics> {
        match self.type_ {
            PageType::DataPage => self.data_page_header.as_ref()?.statistics.as_ref(),
            PageType::DataPageV2 => self.data_page_header_v2.as_ref()?.statistics.as_ref(),
            _ => None,
        }
    }

    /// Returns a dictionary page's declared entry count, or a data page's declared level count. Returns `None` if the
    /// header for the page's type is missing or the page carries no values.
    #[must_use]
    pub fn num_values(&self) -> Option<i32> {
        match self.type_ {
            PageType::DictionaryPage => self.dictionary_page_header.as_ref().map(|h| h.num_values),
            PageType::DataPage => self.data_page_header.as_ref().map(|h| h.num_values),
            PageType::DataPageV2 => self.data_page_header_v2.as_ref().map(|h| h.num_values),
            _ => None,
        }
    }

    /// Returns the values' encoding, or `None` if the header for the page's type is missing or the page carries no
    /// values.
    #[must_use]
    pub fn encoding(&self) -> Option<Encoding> {
        match self.type_ {
            PageType::DictionaryPage => self.dictionary_page_header.as_ref().map(|h| h.encoding),
            PageType::DataPage => self.data_page_header.as_ref().map(|h| h.encoding),
            PageType::DataPageV2 => self.data_page_header_v2.as_ref().map(|h| h.encoding),
            _ => None,
        }
    }

    /// Decodes the header at the start of `bytes` and returns it with its byte count.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt), with the byte in the message, if the header breaks the
    /// protocol, lacks a required field or has a negative size. Fails with [Limit](crate::ErrorKind::Limit) if it is
    /// longer than [`Limits::page_header_bytes`].
    pub fn decode(bytes: &[u8], limits: &Limits) -> Result<(Self, usize)> {
        decode_whole(
            bytes,
            limits,
            LIMIT,
            limits.page_header_bytes,
            "page header",
        )
    }

    /// Decodes the header at the start of `bytes` like [`Self::decode`], but returns `None` if more bytes are needed
    /// because `bytes` end inside the header.
    pub fn decode_prefix(bytes: &[u8], limits: &Limits) -> Result<Option<(Self, usize)>> {
        decode_prefix(bytes, limits, LIMIT, limits.page_header_bytes)
    }

    /// Decodes the header at the start of `bytes` like [`Self::decode_prefix`], but skips its statistics and leaves
    /// them absent. Use this if you're going to read the page itself anyway.
    pub fn decode_prefix_without_statistics(
        bytes: &[u8],
        limits: &Limits,
    ) -> Result<Option<(Self, usize)>> {
        let read = |reader: &mut CompactReader<'_>| {
            reader.skip_raw_structs();
            let mut header = Self::read(reader, Wire::Struct)?;
            if let Some(page) = &mut header.data_page_header {
                page.statistics = None;
            }
            if let Some(page) = &mut header.data_page_header_v2 {
                page.statistics = None;
            }
            Ok(header)
        };
        read_prefix(bytes, limits, LIMIT, limits.page_header_bytes, read)
    }
}
