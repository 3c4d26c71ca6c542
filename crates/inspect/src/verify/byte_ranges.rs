//! Checks that all parts of a file are in bounds and don't overlap.

use std::ops::Range;

use herringbone_core::page::byte_range;
use herringbone_format::modular_encryption::{ChunkCipher, KeyStep};
use herringbone_format::{ColumnChunk, ColumnMetaData, Location, Result};

use super::finding::{FindingKind, Report};
use super::{ChunkId, bloom};
use herringbone::ParquetFile;
use herringbone::source::Source;

/// A part of a file, with a name for messages.
#[derive(Debug)]
struct NamedRange {
    range: Range<u64>,
    name: &'static str,
    location: Location,
}

/// All parts of a file.
#[derive(Debug, Default)]
pub(super) struct ByteRanges(Vec<NamedRange>);

impl ByteRanges {
    pub(super) fn push(&mut self, range: Range<u64>, name: &'static str, location: &Location) {
        if range.start < range.end {
            self.0.push(NamedRange {
                range,
                name,
                location: location.clone(),
            });
        }
    }

    /// Adds a column chunk's parts, reporting any that are out of bounds.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails.
    pub(super) fn chunk(
        &mut self,
        file: &ParquetFile,
        id: ChunkId,
        chunk: &ColumnChunk,
        report: &mut Report,
    ) -> Result<()> {
        let source = &**file.source();
        let indexes = [
            (
                "offset index",
                chunk.offset_index_offset,
                chunk.offset_index_length,
            ),
            (
                "column index",
                chunk.column_index_offset,
                chunk.column_index_length,
            ),
        ];
        for (name, offset, length) in indexes {
            match (offset, length) {
                (Some(offset), Some(length)) => {
                    self.add(name, offset, length.into(), source, report);
                }
                (None, None) => {}
                _ => report.error(
                    FindingKind::ColumnMetadata,
                    format!("the {name} has an offset or a length, but not both"),
                ),
            }
        }
        let Some(metadata) = &chunk.meta_data else {
            return Ok(());
        };
        if chunk.file_path.is_none() {
            match byte_range(&metadata.layout(), source.len()) {
                Ok(range) => {
                    let mut location = report.location.clone();
                    location.offset = Some(range.start);
                    self.push(range, "column chunk", &location);
                }
                Err(error) => report.failed(FindingKind::Range, error)?,
            }
        }
        if let Some(offset) = metadata.bloom_filter_offset {
            let length = match metadata.bloom_filter_length {
                Some(length) => i64::from(length),
                None => bloom::end(file, id)
                    .and_then(|end| i64::try_from(end).ok())
                    .map_or(1, |end| end.saturating_sub(offset)),
            };
            self.add("bloom filter", offset, length, source, report);
        }
        Ok(())
    }

    fn add(
        &mut self,
        name: &'static str,
        offset: i64,
        length: i64,
        source: &dyn Source,
        report: &mut Report,
    ) {
        match range(offset, length).filter(|range| range.end <= source.len()) {
            Some(range) => {
                let mut location = report.location.clone();
                location.offset = Some(range.start);
                self.push(range, name, &location);
            }
            None => report.error(
                FindingKind::Range,
                format!(
                    "the {name} at {offset} with {length} bytes lies outside of the file of {} \
                     bytes",
                    source.len()
                ),
            ),
        }
    }

    /// Reports overlapping parts.
    pub(super) fn overlaps(mut self, report: &mut Report) {
        self.0
            .sort_by_key(|region| (region.range.start, region.range.end));
        // The part with the furthest end so far.
        let mut last: Option<NamedRange> = None;
        for region in self.0 {
            if let Some(last) = &last
                && region.range.start < last.range.end
            {
                let whose = match &last.location {
                    none if none.column.is_none() => String::new(),
                    location => format!(" ({location})"),
                };
                let message = format!("the {} overlaps the {}{whose}", region.name, last.name);
                report.location = region.location.clone();
                report.error(FindingKind::Overlap, message);
            }
            if last
                .as_ref()
                .is_none_or(|last| last.range.end < region.range.end)
            {
                last = Some(region);
            }
        }
        report.location = Location::default();
    }
}

/// Returns the range of `length` bytes from `offset`, if both are valid.
pub(super) fn range(offset: i64, length: i64) -> Option<Range<u64>> {
    let (start, length) = (u64::try_from(offset).ok()?, u64::try_from(length).ok()?);
    Some(start..start.checked_add(length)?)
}

/// Returns the byte range of a column chunk's pages, if it's in bounds.
pub(super) fn chunk_range(metadata: &ColumnMetaData, file_length: u64) -> Option<Range<u64>> {
    byte_range(&metadata.layout(), file_length).ok()
}

/// Returns a column chunk's metadata and cipher. If that's impossible, reports that the chunk can't
/// be checked.
pub(super) fn readable<'a>(
    file: &ParquetFile,
    id: ChunkId,
    chunk: &'a ColumnChunk,
    report: &mut Report,
) -> Option<(&'a ColumnMetaData, Option<ChunkCipher>)> {
    let cipher = file.metadata().cipher_of(id.row_group, id.leaf, chunk);
    let cipher = cipher.and_then(KeyStep::ready);
    let reason = match (&chunk.file_path, cipher, &chunk.meta_data) {
        (Some(path), ..) => format!("the column chunk is in another file, `{path}`"),
        (None, Ok(cipher), Some(metadata)) => return Some((metadata, cipher)),
        (None, Err(error), _) => error.message().to_owned(),
        (None, Ok(_), None) => "the column chunk has no metadata".to_owned(),
    };
    report.warning(FindingKind::NotChecked, reason);
    None
}
