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
    thrift::{
        CompactReader, CompactWriter, Value, Wire, decode_prefix, decode_whole, read_prefix,
        thrift_struct,
    },
};

/// The name of the limit on page headers.
const LIMIT: &str = "page_header_bytes";

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
        5: optional statistics: PageStatistics,
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
        8: optional statistics: PageStatistics,
    }
}

/// Bounds and counts of a page: bytes of its header, until they are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageStatistics(Box<[u8]>);

impl PageStatistics {
    /// What they say.
    ///
    /// **Errors**: corrupt if the bytes break the protocol.
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
    /// Bounds and counts of the page, undecoded.
    #[must_use]
    pub fn statistics(&self) -> Option<&PageStatistics> {
        match self.type_ {
            PageType::DataPage => self.data_page_header.as_ref()?.statistics.as_ref(),
            PageType::DataPageV2 => self.data_page_header_v2.as_ref()?.statistics.as_ref(),
            _ => None,
        }
    }

    /// Values that the page declares: entries of a dictionary, or levels of a data page. None where the header
    /// of its type is missing, or the page carries no values.
    #[must_use]
    pub fn num_values(&self) -> Option<i32> {
        match self.type_ {
            PageType::DictionaryPage => self.dictionary_page_header.as_ref().map(|h| h.num_values),
            PageType::DataPage => self.data_page_header.as_ref().map(|h| h.num_values),
            PageType::DataPageV2 => self.data_page_header_v2.as_ref().map(|h| h.num_values),
            _ => None,
        }
    }

    /// The encoding of the values. None where the header of its type is missing, or the page carries no values.
    #[must_use]
    pub fn encoding(&self) -> Option<Encoding> {
        match self.type_ {
            PageType::DictionaryPage => self.dictionary_page_header.as_ref().map(|h| h.encoding),
            PageType::DataPage => self.data_page_header.as_ref().map(|h| h.encoding),
            PageType::DataPageV2 => self.data_page_header_v2.as_ref().map(|h| h.encoding),
            _ => None,
        }
    }

    /// Decodes the header at the start of `bytes`, and says how many bytes it has.
    ///
    /// **Errors**: corrupt, with the byte in the message, if it breaks the protocol, misses a
    /// required field or has a negative size; limit if it is longer than
    /// [`Limits::page_header_bytes`].
    pub fn decode(bytes: &[u8], limits: &Limits) -> Result<(Self, usize)> {
        decode_whole(
            bytes,
            limits,
            LIMIT,
            limits.page_header_bytes,
            "page header",
        )
    }

    /// The same, but `None` if `bytes` end inside of the header: more of them are needed.
    pub fn decode_prefix(bytes: &[u8], limits: &Limits) -> Result<Option<(Self, usize)>> {
        decode_prefix(bytes, limits, LIMIT, limits.page_header_bytes)
    }

    /// The same for who reads the page: its statistics are passed over, and are none.
    pub fn decode_prefix_without_statistics(
        bytes: &[u8],
        limits: &Limits,
    ) -> Result<Option<(Self, usize)>> {
        let read = |reader: &mut CompactReader<'_>| {
            reader.pass_over_raw_structs();
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
