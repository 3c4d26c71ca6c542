//! Assigns row groups to byte ranges, for engines that read a file in parts.

use std::ops::Range;

use herringbone_format::{FileMetadata, Result};

/// Returns the ordinals of the row groups in a range of the file's bytes, in ascending order.
///
/// A row group belongs to the range that contains its first byte. So if the ranges cover each byte of a file of
/// `file_length` bytes exactly once, each row group belongs to exactly one range. This holds even for a damaged footer,
/// because a first byte outside the file counts as the file's last byte.
///
/// # Errors
/// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) or
/// [Unsupported](herringbone_format::ErrorKind::Unsupported) if the metadata of a row group's first column chunk cannot
/// be decoded, and with [Key](herringbone_format::ErrorKind::Key) if it is not authentic.
pub fn row_groups_in(
    bytes: &Range<u64>,
    metadata: &FileMetadata,
    file_length: u64,
) -> Result<Vec<usize>> {
    let last = file_length.saturating_sub(1);
    let mut row_groups = Vec::new();
    for row_group in 0..metadata.num_row_groups() {
        let first = first_byte(metadata, row_group)?;
        if bytes.contains(&first.min(last)) {
            row_groups.push(row_group);
        }
    }
    Ok(row_groups)
}

/// Returns the offset of a row group's first page, or 0 if the footer does not contain it.
///
/// The offset doesn't depend on the available keys, so that all of a file's readers agree on it.
fn first_byte(metadata: &FileMetadata, row_group: usize) -> Result<u64> {
    let stated = metadata.row_group_header(row_group)?.file_offset;
    let chunk = match metadata.num_columns(row_group) {
        0 => None,
        _ => Some(metadata.column_chunk(row_group, 0)?),
    };
    let plaintext = chunk.filter(|chunk| chunk.encrypted_column_metadata.is_none());
    let offset = match plaintext.and_then(|chunk| chunk.meta_data) {
        Some(chunk) => {
            // Some writers set the offset to 0 if there's no such page, so we ignore zeros.
            let offsets = [chunk.dictionary_page_offset, Some(chunk.data_page_offset)];
            let offsets = offsets.into_iter().flatten();
            offsets.filter(|offset| *offset > 0).min()
        }
        None => stated,
    };
    Ok(u64::try_from(offset.unwrap_or(0)).unwrap_or(0))
}
