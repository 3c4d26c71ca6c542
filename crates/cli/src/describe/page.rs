//! Describes page headers.

use herringbone::format::PageHeader;
use herringbone::{Limits, PageInfo};

use super::bound::Bounds;
use super::{Object, statistics::statistics};

/// Adds a page to `object`. The fields of the page type's own header are flattened into the object,
/// after the common fields. `bounds` turns bounds into values.
///
/// # Errors
/// Fails with [`ErrorKind::Corrupt`](herringbone::ErrorKind::Corrupt) if the header's statistics
/// cannot be decoded.
pub(crate) fn page(
    object: Object,
    bounds: &Bounds,
    page: &PageInfo,
    limits: &Limits,
) -> herringbone::Result<Object> {
    let header = &page.header;
    let claimed = header
        .statistics()
        .map(|statistics| statistics.decode(limits))
        .transpose()?;
    let object = object
        .with("offset", page.start.offset)
        .with("header_size", page.header_bytes)
        .name("type", header.type_)
        .with("compressed_size", header.compressed_page_size)
        .with("uncompressed_size", header.uncompressed_page_size)
        .some("crc", header.crc.map(i32::cast_unsigned))
        .some("num_values", header.num_values())
        .some(
            "encoding",
            header.encoding().map(|encoding| encoding.to_string()),
        );
    let claimed = claimed.map(|claimed| statistics(bounds, &claimed));
    Ok(particular(object, header).some("statistics", claimed))
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

/// Returns a remark about pages without checksums, if there are any.
pub(crate) fn unchecked_pages(unchecked: u64, all: u64) -> Option<String> {
    let which = match unchecked {
        0 => return None,
        _ if unchecked == all => "the pages have no checksums".to_owned(),
        _ => format!("{unchecked} of {all} pages have no checksums"),
    };
    Some(format!(
        "{which}, so changed bytes inside their values cannot be noticed"
    ))
}
