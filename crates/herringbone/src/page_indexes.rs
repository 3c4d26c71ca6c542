//! Reading several column chunks' page indexes together.

use std::ops::Range;
use std::sync::Arc;

use herringbone_filter::pruning::{IndexDecoder, PageIndexCell};
use herringbone_format::{ColumnChunk, ColumnIndex, Error, Limits, OffsetIndex, Result};

use crate::metadata_handle::MetadataHandle;
use crate::source::{Fetched, Source};

/// A column chunk's indexes still to load.
struct Missing {
    row_group: usize,
    leaf: usize,
    columns: Option<IndexDecoder<ColumnIndex>>,
    offsets: Option<IndexDecoder<OffsetIndex>>,
}

/// Reads these column chunks' indexes and adds them to the handle.
///
/// # Errors
/// Fails for the same reasons as [`read`].
pub(crate) fn load(
    handle: &MetadataHandle,
    source: &dyn Source,
    chunks: &[(usize, usize)],
) -> Result<Vec<PageIndexCell>> {
    let cells = read(handle, source, chunks)?;
    for ((row_group, leaf), cell) in chunks.iter().zip(&cells) {
        handle.keep(*row_group, *leaf, cell.clone());
    }
    Ok(cells)
}

/// Returns these column chunks' indexes, reading any that the handle lacks.
///
/// # Errors
/// Fails with Argument if there is no such column chunk, with Corrupt or Limit if an index cannot
/// be used, and with Key if a key is missing or wrong. Returns the source's errors.
pub(crate) fn read(
    handle: &MetadataHandle,
    source: &dyn Source,
    chunks: &[(usize, usize)],
) -> Result<Vec<PageIndexCell>> {
    let mut cells = Vec::with_capacity(chunks.len());
    let mut missing = Vec::new();
    for (row_group, leaf) in chunks {
        let cell = handle.page_index(*row_group, *leaf);
        if cell.is_none() {
            missing.push((cells.len(), Missing::new(handle, *row_group, *leaf)?));
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
        if let Some(place) = cells.get_mut(place) {
            *place = cell;
        }
    }
    Ok(cells)
}

/// Reads one of a column chunk's indexes, or returns `None` if the chunk lacks it.
///
/// # Errors
/// Fails for the same reasons as [`read`].
pub(crate) fn read_one<T>(
    handle: &MetadataHandle,
    source: &dyn Source,
    row_group: usize,
    leaf: usize,
    decoder_of: DecoderOf<T>,
) -> Result<Option<T>> {
    let chunk = handle.chunk(row_group, leaf)?;
    let read = || {
        let index = decoder(handle, row_group, leaf, &chunk, decoder_of)?;
        index
            .map(|index| index.decode(&source.read(index.range())?, handle.limits()))
            .transpose()
    };
    read().map_err(|error| handle.locate(error, row_group, leaf))
}

/// A function that finds one of a column chunk's indexes in a file of the given length.
type DecoderOf<T> = fn(&ColumnChunk, u64, &Limits) -> Result<Option<IndexDecoder<T>>>;

/// Returns the decoder for one of a column chunk's indexes, including the key if the index is
/// encrypted.
fn decoder<T>(
    handle: &MetadataHandle,
    row_group: usize,
    leaf: usize,
    chunk: &ColumnChunk,
    decoder_of: DecoderOf<T>,
) -> Result<Option<IndexDecoder<T>>> {
    let Some(decoder) = decoder_of(chunk, handle.file_length(), handle.limits())? else {
        return Ok(None);
    };
    let cipher = handle.metadata().cipher_of(row_group, leaf, chunk)?;
    Ok(Some(decoder.encrypted(cipher.ready()?)))
}

/// Fails if the total index size exceeds `overlap_ratio` times the file length. Indexes can only be
/// that large if they overlap.
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
            Ok(Self {
                row_group,
                leaf,
                columns: decoder(handle, row_group, leaf, &chunk, IndexDecoder::of_column)?,
                offsets: decoder(handle, row_group, leaf, &chunk, IndexDecoder::of_offsets)?,
            })
        };
        new().map_err(|error| handle.locate(error, row_group, leaf))
    }

    fn ranges(&self) -> impl Iterator<Item = Range<u64>> {
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
