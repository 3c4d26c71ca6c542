//! Page headers.

use herringbone::PageInfo;
use herringbone::format::{Encoding, PageHeader, Statistics};

use super::bound::Bounds;
use super::{Object, statistics::statistics};

/// What all kinds of pages have in common, as far as the header says it.
pub(crate) struct Summary<'a> {
    /// Values, nulls included; entries of a dictionary.
    pub(crate) num_values: Option<i32>,
    /// Of the values.
    pub(crate) encoding: Option<Encoding>,
    /// Bounds and counts.
    pub(crate) statistics: Option<&'a Statistics>,
}

impl<'a> Summary<'a> {
    /// Of the particular header that is there.
    pub(crate) fn of(header: &'a PageHeader) -> Self {
        if let Some(page) = &header.data_page_header {
            let statistics = page.statistics.as_ref();
            return Self {
                num_values: Some(page.num_values),
                encoding: Some(page.encoding),
                statistics,
            };
        }
        if let Some(page) = &header.data_page_header_v2 {
            let statistics = page.statistics.as_ref();
            return Self {
                num_values: Some(page.num_values),
                encoding: Some(page.encoding),
                statistics,
            };
        }
        let page = header.dictionary_page_header.as_ref();
        Self {
            num_values: page.map(|page| page.num_values),
            encoding: page.map(|page| page.encoding),
            statistics: None,
        }
    }
}

/// Adds a page whose bounds are `bounds` to `object`, flat: the fields of the particular header come
/// after those of all pages.
pub(crate) fn page(object: Object, bounds: &Bounds, page: &PageInfo) -> Object {
    let header = &page.header;
    let summary = Summary::of(header);
    let object = object
        .with("offset", page.offset)
        .with("header_size", page.header_bytes)
        .name("type", header.type_)
        .with("compressed_size", header.compressed_page_size)
        .with("uncompressed_size", header.uncompressed_page_size)
        .some("crc", header.crc.map(i32::cast_unsigned))
        .some("num_values", summary.num_values)
        .some("encoding", summary.encoding.map(|it| it.to_string()));
    particular(object, header).some(
        "statistics",
        summary.statistics.map(|it| statistics(bounds, it)),
    )
}

fn particular(object: Object, header: &PageHeader) -> Object {
    if let Some(page) = &header.data_page_header {
        object
            .name("definition_level_encoding", page.definition_level_encoding)
            .name("repetition_level_encoding", page.repetition_level_encoding)
    } else if let Some(page) = &header.data_page_header_v2 {
        object
            .with("num_nulls", page.num_nulls)
            .with("num_rows", page.num_rows)
            .with(
                "definition_levels_byte_length",
                page.definition_levels_byte_length,
            )
            .with(
                "repetition_levels_byte_length",
                page.repetition_levels_byte_length,
            )
            .with("is_compressed", page.is_compressed)
    } else if let Some(page) = &header.dictionary_page_header {
        object.some("is_sorted", page.is_sorted)
    } else {
        object
    }
}
