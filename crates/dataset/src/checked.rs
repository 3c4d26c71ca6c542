//! Reading files with their footers from a `_metadata` file.
//!
//! ```text
//! footer in `_metadata` ─► schema, statistics: are there rows to read? ─► bytes of the file ─► its own footer: the same?
//! ```
//!
//! A file might have changed after `_metadata` was written, even if its modification time and size
//! don't show it. So we compare the file's own footer with the one in `_metadata` as soon as any of
//! its bytes are read.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use herringbone::format::{ColumnChunk, FileMetadata};
use herringbone::source::{FetchPolicy, Source};
use herringbone::{Error, ErrorKind, MetadataHandle, OpenOptions, ParquetFile, Remedy, Result};

/// A file's bytes, read with a footer from a `_metadata` file. Before returning the first bytes,
/// this compares the file's own footer with that one.
pub(crate) struct CheckedSource {
    source: Arc<dyn Source>,
    known: MetadataHandle,
    options: OpenOptions,
    is_same: Mutex<bool>,
}

impl CheckedSource {
    pub(crate) fn new(
        source: Arc<dyn Source>,
        known: MetadataHandle,
        options: OpenOptions,
    ) -> Self {
        Self {
            source,
            known,
            options,
            is_same: Mutex::default(),
        }
    }

    /// Compares the footers, unless we already know that they agree. Other threads are waiting
    /// meanwhile, so that the file's own footer is only read once.
    fn check(&self) -> Result<()> {
        let mut is_same = self.is_same.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_same {
            let own = ParquetFile::from_source(self.source.clone(), self.options.clone())?;
            check_same(self.known.metadata(), own.metadata())?;
            *is_same = true;
        }
        Ok(())
    }
}

impl Source for CheckedSource {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        self.check()?;
        self.source.read(range)
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.check()?;
        self.source.read_many(ranges)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.source.fetch_policy()
    }
}

/// Compares a file's footer in `_metadata` with the file's own: the schema, and each column chunk's
/// rows, place and statistics.
///
/// # Errors
/// Fails with Replaced if they disagree, and with Corrupt if a column chunk's metadata cannot be
/// decoded.
pub(crate) fn check_same(known: &FileMetadata, own: &FileMetadata) -> Result<()> {
    // We skip the root, since its name has no meaning.
    if known.schema().get(1..) != own.schema().get(1..) {
        return Err(differing("another schema"));
    }
    let (known_groups, own_groups) = (known.num_row_groups(), own.num_row_groups());
    if known_groups != own_groups {
        return Err(differing(&format!(
            "{known_groups} of its {own_groups} row groups"
        )));
    }
    for row_group in 0..own_groups {
        let known_rows = known.row_group_header(row_group)?.num_rows;
        let own_rows = own.row_group_header(row_group)?.num_rows;
        if known_rows != own_rows {
            let rows = format!("{known_rows} rows in place of {own_rows}");
            return Err(differing(&rows).in_row_group(row_group));
        }
        for leaf in 0..known.num_columns(row_group).max(own.num_columns(row_group)) {
            let known = known.column_chunk(row_group, leaf)?;
            let own = own.column_chunk(row_group, leaf)?;
            if let Some(what) = difference(&known, &own) {
                let column = own
                    .meta_data
                    .map(|meta_data| meta_data.path_in_schema.join("."));
                let error = differing(&what).in_row_group(row_group);
                return Err(error.in_column(column.unwrap_or_default()));
            }
        }
    }
    Ok(())
}

/// Returns the first difference between two column chunks that matters for reading.
fn difference(known: &ColumnChunk, own: &ColumnChunk) -> Option<String> {
    let (Some(known), Some(own)) = (&known.meta_data, &own.meta_data) else {
        return Some("no metadata of a column chunk".to_owned());
    };
    let numbers = [
        (
            "data_page_offset",
            known.data_page_offset,
            own.data_page_offset,
        ),
        (
            "dictionary_page_offset",
            known.dictionary_page_offset.unwrap_or(0),
            own.dictionary_page_offset.unwrap_or(0),
        ),
        (
            "total_compressed_size",
            known.total_compressed_size,
            own.total_compressed_size,
        ),
        ("num_values", known.num_values, own.num_values),
    ];
    let number = numbers.into_iter().find(|number| number.1 != number.2);
    match number {
        Some((name, known, own)) => Some(format!("`{name}` {known} in place of {own}")),
        None if known.codec != own.codec => Some(format!(
            "the codec {} in place of {}",
            known.codec, own.codec
        )),
        None if known.statistics != own.statistics => Some("other statistics".to_owned()),
        None => None,
    }
}

fn differing(what: &str) -> Error {
    let message = format!("`_metadata` does not fit the file, because it has {what}");
    Error::new(ErrorKind::Replaced, message).with_remedy(Remedy::UseOwnFooters)
}
