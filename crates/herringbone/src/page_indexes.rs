//! Page indexes of several column chunks, read together.

use std::sync::Arc;

use herringbone_core::pruning::{IndexDecoder, PageIndexCell};
use herringbone_format::{ColumnIndex, Error, OffsetIndex, Result};

use crate::metadata_handle::MetadataHandle;
use crate::source::{Fetched, Source};

/// The indexes of a column chunk that are not known yet.
struct Missing {
    row_group: usize,
    leaf: usize,
    columns: Option<IndexDecoder<ColumnIndex>>,
    offsets: Option<IndexDecoder<OffsetIndex>>,
}

/// Reads the indexes of these column chunks that the handle does not have, and puts them there.
/// Returns the indexes of all of them.
///
/// # Errors
/// Argument if there is no such column chunk; Corrupt or Limit if an index cannot be used; Key if
/// a key is missing or wrong; those of the source.
pub(crate) fn load(
    handle: &MetadataHandle,
    source: &dyn Source,
    chunks: impl IntoIterator<Item = (usize, usize)>,
) -> Result<Vec<PageIndexCell>> {
    let mut cells = Vec::new();
    let mut missing = Vec::new();
    for (row_group, leaf) in chunks {
        let cell = handle.page_index(row_group, leaf);
        if cell.is_none() {
            missing.push((cells.len(), Missing::new(handle, row_group, leaf)?));
        }
        cells.push(cell.unwrap_or_default());
    }
    let ranges: Vec<_> = missing.iter().flat_map(|(_, it)| it.ranges()).collect();
    check_overlap(handle, ranges.iter().map(|range| range.end - range.start))?;
    let fetched = Fetched::read(source, ranges)?;
    for (place, chunk) in missing {
        let cell = chunk
            .decode(&fetched, handle)
            .map_err(|error| handle.locate(error, chunk.row_group, chunk.leaf))?;
        handle.keep(chunk.row_group, chunk.leaf, cell.clone());
        if let Some(place) = cells.get_mut(place) {
            *place = cell;
        }
    }
    Ok(cells)
}

/// Fails if indexes have so many bytes together that many must be the same.
fn check_overlap(handle: &MetadataHandle, bytes: impl Iterator<Item = u64>) -> Result<()> {
    let bytes = bytes.fold(0, u64::saturating_add);
    let file_length = handle.file_length().max(1);
    let limit = handle.limits().overlap_ratio as u64;
    if bytes > file_length.saturating_mul(limit) {
        let ratio = bytes.div_ceil(file_length);
        return Err(Error::limit("overlap_ratio", ratio, limit));
    }
    Ok(())
}

impl Missing {
    fn new(handle: &MetadataHandle, row_group: usize, leaf: usize) -> Result<Self> {
        let chunk = handle.chunk(row_group, leaf)?;
        let new = || {
            let (length, limits) = (handle.file_length(), handle.limits());
            let columns = IndexDecoder::of_column(&chunk, length, limits)?;
            let offsets = IndexDecoder::of_offsets(&chunk, length, limits)?;
            let cipher = match columns.is_some() || offsets.is_some() {
                true => handle
                    .metadata()
                    .cipher_of(row_group, leaf, &chunk)?
                    .ready()?,
                false => None,
            };
            Ok(Self {
                row_group,
                leaf,
                columns: columns.map(|it| it.encrypted(cipher.clone())),
                offsets: offsets.map(|it| it.encrypted(cipher)),
            })
        };
        new().map_err(|error| handle.locate(error, row_group, leaf))
    }

    fn ranges(&self) -> impl Iterator<Item = std::ops::Range<u64>> {
        let columns = self.columns.as_ref().map(IndexDecoder::range);
        columns
            .into_iter()
            .chain(self.offsets.as_ref().map(IndexDecoder::range))
    }

    fn decode(&self, fetched: &Fetched, handle: &MetadataHandle) -> Result<PageIndexCell> {
        let columns = self.columns.as_ref();
        let columns = columns.map(|index| decoded(index, fetched, handle));
        let offsets = self.offsets.as_ref();
        let offsets = offsets.map(|index| decoded(index, fetched, handle));
        Ok(PageIndexCell::new(
            columns.transpose()?,
            offsets.transpose()?,
        ))
    }
}

fn decoded<T>(
    index: &IndexDecoder<T>,
    fetched: &Fetched,
    handle: &MetadataHandle,
) -> Result<Arc<T>> {
    let bytes = fetched.get(&index.range())?;
    index.decode(&bytes, handle.limits()).map(Arc::new)
}
