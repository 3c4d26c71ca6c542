//! Decoders driven by reads of a source that wait for their bytes.

use std::ops::Range;

use bytes::Bytes;
use herringbone_core::Step;
use herringbone_core::column::{ColumnBatch, ColumnChunkDecoder, RowCounter};
use herringbone_format::Result;

use crate::source::Source;

/// The next column batch of a column, reading whatever bytes it needs.
pub(crate) fn next_column_batch(
    column: &mut ColumnChunkDecoder,
    source: &dyn Source,
) -> Result<Option<ColumnBatch>> {
    loop {
        match column.poll()? {
            Step::Ready(column_batch) => return Ok(column_batch),
            Step::Need(need) => {
                let bytes = read_ahead(source, &need, column.chunk_end())?;
                column.supply(need.start, bytes);
            }
        }
    }
}

/// Rows that start in each page of a column, reading whatever bytes are needed.
pub(crate) fn count_rows(counter: &mut RowCounter, source: &dyn Source) -> Result<Vec<u64>> {
    let mut rows = Vec::new();
    loop {
        match counter.poll()? {
            Step::Ready(Some(rows_of_page)) => rows.push(rows_of_page),
            Step::Ready(None) => return Ok(rows),
            Step::Need(need) => {
                let bytes = read_ahead(source, &need, counter.chunk_end())?;
                counter.supply(need.start, bytes);
            }
        }
    }
}

/// Reads a range, and the rest of the column chunk with it if the source is in memory already.
///
/// Bytes that are fetched take memory that a read counts, so no more of them are taken along.
pub(crate) fn read_ahead(source: &dyn Source, need: &Range<u64>, chunk_end: u64) -> Result<Bytes> {
    let end = match source.fetch_policy().in_memory {
        true => need.end.max(chunk_end),
        false => need.end,
    };
    source.read(need.start..end)
}
