//! Checks the file as a whole and its row groups.

use herringbone::ReadOptions;
use herringbone_format::footer::{FOOTER_TAIL_BYTES, MAGIC, MAGIC_ENCRYPTED, Tail};
use herringbone_format::{Result, RowGroupHeader};
use herringbone_schema::{SchemaOptions, to_arrow};

use super::ChunkId;
use super::byte_ranges::ByteRanges;
use super::chunk::Sizes;
use super::finding::{FindingKind, Report};
use super::geoparquet;
use super::variants;
use herringbone::ParquetFile;

/// Checks file-level properties: magic bytes, schema, row counts, and the locations of parts.
///
/// # Errors
/// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails.
pub(super) fn check(file: &ParquetFile, report: &mut Report) -> Result<()> {
    let mut byte_ranges = ByteRanges::default();
    magic(file, &mut byte_ranges, report)?;
    schema(file, report)?;
    let metadata = file.metadata();
    let leaves = file.parquet_schema().leaves().len();
    if let Some(orders) = metadata.column_orders()
        && orders.len() != leaves
    {
        let message = format!(
            "column_orders has {} entries for {leaves} columns",
            orders.len()
        );
        report.error(FindingKind::Footer, message);
    }
    let mut rows = 0_i64;
    for row_group in 0..metadata.num_row_groups() {
        report.location.row_group = Some(row_group);
        let header = metadata.row_group_header(row_group)?;
        rows = rows.saturating_add(header.num_rows);
        row_group_header(header, row_group, report);
        let columns = metadata.num_columns(row_group);
        if columns != leaves {
            let message = format!("it has {columns} column chunks for {leaves} columns");
            report.error(FindingKind::RowGroup, message);
        }
        for leaf in 0..columns.min(leaves) {
            report
                .location
                .set_column(file.parquet_schema().column_path(leaf));
            match metadata.column_chunk(row_group, leaf) {
                Ok(chunk) => {
                    byte_ranges.chunk(file, ChunkId { row_group, leaf }, &chunk, report)?
                }
                Err(error) => report.failed(FindingKind::ColumnMetadata, error)?,
            }
        }
        report.location.column = None;
    }
    report.location.row_group = None;
    if rows != metadata.num_rows() {
        let said = metadata.num_rows();
        let message = format!("the footer declares {said} rows, but the row groups have {rows}");
        report.error(FindingKind::Rows, message);
    }
    byte_ranges.overlaps(report);
    Ok(())
}

/// Checks the first and the last bytes.
fn magic(file: &ParquetFile, byte_ranges: &mut ByteRanges, report: &mut Report) -> Result<()> {
    let length = file.source().len();
    let magic = MAGIC.len() as u64;
    let start = file.source().read(0..magic.min(length))?;
    report.location.offset = Some(0);
    let tail_offset = length.saturating_sub(FOOTER_TAIL_BYTES as u64);
    let tail = file.source().read(tail_offset..length)?;
    let Some(tail) = tail.first_chunk() else {
        return Ok(());
    };
    let tail = Tail::decode(tail)?;
    let expected = match tail.encrypted {
        true => MAGIC_ENCRYPTED,
        false => MAGIC,
    };
    if start[..] != expected {
        let message = format!(
            "the file starts with \"{}\", not with \"{}\"",
            start.escape_ascii(),
            expected.escape_ascii()
        );
        report.error(FindingKind::Magic, message);
    }
    report.location.offset = None;
    byte_ranges.push(0..magic, "magic", &report.location);
    let metadata_length = u64::from(tail.metadata_length);
    let footer = tail_offset.saturating_sub(metadata_length);
    byte_ranges.push(footer..length, "footer", &report.location);
    let decoded = file.metadata().encoded_len() as u64;
    // A signed footer is followed by its signature.
    let is_alone = !tail.encrypted && file.metadata().encryption_algorithm().is_none();
    if decoded < metadata_length && is_alone {
        let surplus = metadata_length - decoded;
        report.location.offset = Some(footer + decoded);
        report.note(
            FindingKind::Footer,
            format!("{surplus} bytes after the metadata are unused"),
        );
        report.location.offset = None;
    }
    Ok(())
}

/// Checks the annotations and the embedded Arrow schema.
fn schema(file: &ParquetFile, report: &mut Report) -> Result<()> {
    let key_values = file.metadata().key_value_metadata();
    let warnings = |options: &SchemaOptions| {
        to_arrow(file.parquet_schema(), key_values, options).map(|mapping| mapping.warnings)
    };
    let mut plain = SchemaOptions::default();
    plain.use_arrow_schema = false;
    let own = match warnings(&plain) {
        Ok(own) => own,
        Err(error) => {
            report.failed(FindingKind::Schema, error)?;
            return Ok(());
        }
    };
    let all = warnings(&SchemaOptions::default())?;
    for warning in all.iter().filter(|warning| !own.contains(warning)) {
        report.warning(FindingKind::ArrowSchema, warning.clone());
    }
    for warning in own {
        report.warning(FindingKind::Schema, warning);
    }
    for (leaf, found) in file.parquet_schema().leaves().iter().enumerate() {
        if found.annotation_ignored {
            report
                .location
                .set_column(file.parquet_schema().column_path(leaf));
            let message = "its annotation is unknown, or is not allowed for its physical type";
            report.warning(FindingKind::Schema, message);
            report.location.column = None;
        }
    }
    geoparquet::check(file, report)?;
    // Readers must be able to read the whole schema.
    match file.plan(&ReadOptions::default()) {
        Ok(_) => variants::check_schema(file, report),
        Err(error) if error.is_of_source() => Err(error),
        Err(error) => report.failed(FindingKind::Schema, error),
    }
}

fn row_group_header(header: &RowGroupHeader, row_group: usize, report: &mut Report) {
    if let Some(ordinal) = header.ordinal
        && i64::from(ordinal) != row_group as i64
        // The ordinal field only has 16 bits.
        && row_group <= i16::MAX as usize
    {
        report.warning(FindingKind::RowGroup, format!("its ordinal is {ordinal}"));
    }
}

/// Checks a row group's sizes after its column chunks have been checked. `sizes` is the total size
/// of its pages, if known.
///
/// # Errors
/// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails.
pub(super) fn check_row_group(
    file: &ParquetFile,
    row_group: usize,
    sizes: Option<Sizes>,
    report: &mut Report,
) -> Result<()> {
    let header = file.metadata().row_group_header(row_group)?;
    if let Some(sizes) = sizes {
        let mut compare = |name: &str, said: i64, pages: u64| {
            if u64::try_from(said) != Ok(pages) {
                let message = format!("{name} is {said}, but the pages have {pages}");
                // Readers only use this size as an estimate.
                report.note(FindingKind::RowGroup, message);
            }
        };
        compare(
            "total_byte_size",
            header.total_byte_size,
            sizes.uncompressed,
        );
        if let Some(said) = header.total_compressed_size {
            compare("total_compressed_size", said, sizes.compressed);
        }
    }
    Ok(())
}
