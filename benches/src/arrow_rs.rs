//! The work of `parquet` (arrow-rs) in each case.

use crate::{BATCH_SIZE, Result, memory_for};
use bytes::Bytes;
use herringbone::Compression;
use herringbone::arrow::array::RecordBatch;
use herringbone::arrow::schema::{DataType, Schema};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{BrotliLevel, Compression as Codec, GzipLevel, ZstdLevel};
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use std::fs::File;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

/// Reads all columns, or some leaf columns, drops each batch at once, and returns the row count.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn read(bytes: &Bytes, leaves: Option<&[usize]>) -> Result<u64> {
    stream(bytes.clone(), leaves, ArrowReaderOptions::default())
}

/// Reads all columns like [`read`], but with strings and binaries as views.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn read_views(bytes: &Bytes) -> Result<u64> {
    let plain = ArrowReaderMetadata::load(bytes, ArrowReaderOptions::default())?;
    let fields: Vec<_> = plain
        .schema()
        .fields()
        .iter()
        .map(|field| match field.data_type() {
            DataType::Utf8 => field.as_ref().clone().with_data_type(DataType::Utf8View),
            DataType::Binary => field.as_ref().clone().with_data_type(DataType::BinaryView),
            _ => field.as_ref().clone(),
        })
        .collect();
    let options = ArrowReaderOptions::default().with_schema(Arc::new(Schema::new(fields)));
    stream(bytes.clone(), None, options)
}

/// Reads all columns like [`read`], but from a file on disk.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn read_path(path: &Path) -> Result<u64> {
    stream(File::open(path)?, None, ArrowReaderOptions::default())
}

pub(crate) fn stream<R: ChunkReader + 'static>(
    source: R,
    leaves: Option<&[usize]>,
    options: ArrowReaderOptions,
) -> Result<u64> {
    let mut builder = ParquetRecordBatchReaderBuilder::try_new_with_options(source, options)?
        .with_batch_size(BATCH_SIZE);
    if let Some(leaves) = leaves {
        let mask = ProjectionMask::leaves(builder.parquet_schema(), leaves.iter().copied());
        builder = builder.with_projection(mask);
    }
    let mut rows = 0;
    for batch in builder.build()? {
        rows += black_box(batch?).num_rows() as u64;
    }
    Ok(rows)
}

/// Reads and decompresses all pages without decoding them, and returns the row count in the footer.
/// No reader can be faster than this, unless it decompresses faster.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn pages(bytes: &Bytes) -> Result<u64> {
    let file = SerializedFileReader::new(bytes.clone())?;
    let mut rows = 0;
    for index in 0..file.num_row_groups() {
        let row_group = file.get_row_group(index)?;
        rows += u64::try_from(row_group.metadata().num_rows())?;
        for leaf in 0..row_group.num_columns() {
            for page in row_group.get_column_page_reader(leaf)? {
                black_box(page?);
            }
        }
    }
    Ok(rows)
}

/// Opens a file, loads its metadata without using it, and returns the number of row groups.
///
/// # Errors
///
/// Fails if the file cannot be opened.
pub fn open(bytes: &Bytes) -> Result<u64> {
    let metadata = black_box(ParquetMetaDataReader::new().parse_and_finish(bytes)?);
    Ok(metadata.num_row_groups() as u64)
}

/// Opens a file, derives its Arrow schema, and returns the number of columns.
///
/// # Errors
///
/// Fails if the file cannot be opened.
pub fn schema(bytes: &Bytes) -> Result<u64> {
    let metadata = ArrowReaderMetadata::load(bytes, ArrowReaderOptions::default())?;
    Ok(black_box(metadata).schema().fields().len() as u64)
}

/// Writes batches to memory with the codec's default level.
///
/// # Errors
///
/// Fails if the batches cannot be written.
pub fn write(batches: &[RecordBatch], compression: Compression) -> Result<Vec<u8>> {
    write_with(batches, compression, |builder| builder)
}

/// Writes batches like [`write`], but with other properties.
pub(crate) fn write_with(
    batches: &[RecordBatch],
    compression: Compression,
    more: impl FnOnce(WriterPropertiesBuilder) -> WriterPropertiesBuilder,
) -> Result<Vec<u8>> {
    let codec = match compression {
        Compression::Uncompressed => Codec::UNCOMPRESSED,
        Compression::Snappy => Codec::SNAPPY,
        Compression::Gzip(_) => Codec::GZIP(Default::default()),
        Compression::Brotli(_) => Codec::BROTLI(Default::default()),
        Compression::Zstd(_) => Codec::ZSTD(Default::default()),
        Compression::Lz4Raw => Codec::LZ4_RAW,
        other => return Err(format!("the peer has no {other}").into()),
    };
    let properties = more(WriterProperties::builder().set_compression(codec)).build();
    let schema = batches.first().ok_or("no batches")?.schema();
    let mut file = memory_for(batches);
    let mut writer = ArrowWriter::try_new(&mut file, schema, Some(properties))?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.close()?;
    Ok(file)
}

/// Writes batches like [`write`], but in row groups of `row_group_rows` rows and with the level of
/// `compression`.
///
/// # Errors
///
/// Fails if the batches cannot be written.
pub fn write_groups(
    batches: &[RecordBatch],
    compression: Compression,
    row_group_rows: usize,
) -> Result<Vec<u8>> {
    let codec = codec(compression)?;
    write_with(batches, compression, |builder| {
        let builder = builder.set_max_row_group_row_count(Some(row_group_rows));
        builder.set_compression(codec)
    })
}

/// Rewrites a file in row groups of `row_group_rows` rows. If `version_2` is true, it has data
/// pages of version 2, with their encodings.
///
/// # Errors
///
/// Fails if a file cannot be read or written.
pub fn rewrite(
    source: File,
    target: File,
    compression: Compression,
    row_group_rows: usize,
    version_2: bool,
) -> Result<()> {
    let version = match version_2 {
        true => WriterVersion::PARQUET_2_0,
        false => WriterVersion::PARQUET_1_0,
    };
    let properties = WriterProperties::builder()
        .set_compression(codec(compression)?)
        .set_max_row_group_row_count(Some(row_group_rows))
        .set_writer_version(version)
        .build();
    let reader = ParquetRecordBatchReaderBuilder::try_new(source)?;
    let schema = reader.schema().clone();
    let mut writer = ArrowWriter::try_new(target, schema, Some(properties))?;
    for batch in reader.build()? {
        writer.write(&batch?)?;
    }
    writer.close()?;
    Ok(())
}

/// Returns the codec with the same level.
fn codec(compression: Compression) -> Result<Codec> {
    Ok(match compression.to_string().split_once(':') {
        Some(("zstd", level)) => Codec::ZSTD(ZstdLevel::try_new(level.parse()?)?),
        Some(("gzip", level)) => Codec::GZIP(GzipLevel::try_new(level.parse()?)?),
        Some(("brotli", level)) => Codec::BROTLI(BrotliLevel::try_new(level.parse()?)?),
        Some((name, _)) => return Err(format!("no level of {name} is compared").into()),
        None => match compression {
            Compression::Snappy => Codec::SNAPPY,
            Compression::Lz4Raw => Codec::LZ4_RAW,
            _ => Codec::UNCOMPRESSED,
        },
    })
}
