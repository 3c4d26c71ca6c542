//! Finds the remains of a footer.

use herringbone_format::footer::{FOOTER_TAIL_BYTES, Tail};
use herringbone_format::{Limits, PartialMetadata, Result};
use herringbone_schema::ParquetSchema;

use herringbone::source::Source;

/// The size of the search window in bytes.
const WINDOW: u64 = 4 << 20;
/// The first bytes of metadata: a version of 1 or 2, and then a list of structs.
const STARTS: [[u8; 3]; 2] = [[0x15, 0x02, 0x19], [0x15, 0x04, 0x19]];

/// Finds the remaining metadata and its offset in the file.
///
/// # Errors
/// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails.
pub(super) fn find(source: &dyn Source, limits: &Limits) -> Result<Option<(PartialMetadata, u64)>> {
    let length = source.len();
    let tail = length.saturating_sub(FOOTER_TAIL_BYTES as u64);
    let bytes = source.read(tail..length)?;
    if let Some(bytes) = bytes.first_chunk()
        && let Ok(decoded) = Tail::decode(bytes)
        && let Some(start) = tail.checked_sub(decoded.metadata_length.into())
        && let Some(partial) = at(source, start, limits)?
    {
        return Ok(Some((partial, start)));
    }
    // Otherwise, fall back to the last position that looks like the start of metadata.
    let least = length.saturating_sub(limits.footer_bytes);
    let mut end = length;
    while end > least {
        let start = end.saturating_sub(WINDOW).max(least);
        // A match can straddle the end of the window, so we read a few more bytes.
        let window = source.read(start..(end + STARTS[0].len() as u64).min(length))?;
        let starts = window.windows(STARTS[0].len()).enumerate().rev();
        for (at_byte, bytes) in starts {
            let is_list_of_structs = window
                .get(at_byte + bytes.len())
                .is_none_or(|byte| byte & 0x0f == 0x0c);
            if is_list_of_structs
                && STARTS.iter().any(|it| it == bytes)
                && let Some(partial) = at(source, start + at_byte as u64, limits)?
            {
                return Ok(Some((partial, start + at_byte as u64)));
            }
        }
        end = start;
    }
    Ok(None)
}

/// Returns the metadata at `start`, if there is any and it has a schema.
fn at(source: &dyn Source, start: u64, limits: &Limits) -> Result<Option<PartialMetadata>> {
    let end = start.saturating_add(limits.footer_bytes).min(source.len());
    let partial = PartialMetadata::decode(&source.read(start..end)?, limits);
    let is_schema = |partial: &PartialMetadata| {
        ParquetSchema::new(&partial.schema, limits).is_ok_and(|it| !it.leaves().is_empty())
    };
    Ok(partial.filter(is_schema))
}
