//! What Herringbone does in each case.

use crate::{BATCH_SIZE, Result, memory_for};
use bytes::Bytes;
use herringbone::arrow::array::RecordBatch;
use herringbone::format::footer::Tail;
use herringbone::format::thrift::{CompactReader, Wire};
use herringbone::format::{ColumnMetaData, CompressionCodec};
use herringbone::schema::ByteLayout;
use herringbone::{
    Compression, Limits, PageInfo, ParquetFile, Projection, ReadOptions, SchemaOptions,
    WriteOptions, Writer,
};
use herringbone_core::compression::{compress, decompress};
use std::hint::black_box;
use std::path::Path;

/// Reads everything, or some leaf columns, and drops the batches as they come; the number of rows.
///
/// # Errors
///
/// Whatever reading meets.
pub fn read(bytes: &Bytes, leaves: Option<&[usize]>) -> Result<u64> {
    let options = match leaves {
        Some(leaves) => ReadOptions::default().projection(Projection::Leaves(leaves.to_vec())),
        None => ReadOptions::default(),
    };
    stream(ParquetFile::from_bytes(bytes.clone())?, options.threads(1))
}

/// [`read`] of everything on so many threads.
///
/// # Errors
///
/// Whatever reading meets.
pub fn read_on(bytes: &Bytes, threads: usize) -> Result<u64> {
    stream(
        ParquetFile::from_bytes(bytes.clone())?,
        ReadOptions::default().threads(threads),
    )
}

/// [`read`] of everything, with strings and binaries as views.
///
/// # Errors
///
/// Whatever reading meets.
pub fn read_views(bytes: &Bytes) -> Result<u64> {
    let mut schema = SchemaOptions::default();
    schema.strings = ByteLayout::Views;
    schema.use_arrow_schema = false;
    let options = ReadOptions::default().schema(schema).threads(1);
    stream(ParquetFile::from_bytes(bytes.clone())?, options)
}

/// Decompresses all pages, and decodes none: the floor of reading with our decompressors. The rows
/// in the footer.
///
/// # Errors
///
/// Whatever reading meets.
pub fn pages(bytes: &Bytes) -> Result<u64> {
    pages_of(bytes, |_| true)
}

/// [`pages`] of some columns, by the first part of their path.
///
/// # Errors
///
/// Whatever reading meets.
pub fn pages_of(bytes: &Bytes, is_wanted: impl Fn(&str) -> bool) -> Result<u64> {
    let mut body = Vec::new();
    let is_wanted = |chunk: &ColumnMetaData| {
        let name = chunk.path_in_schema.first();
        name.is_some_and(|name| is_wanted(name))
    };
    each_page(bytes, is_wanted, |codec, page| {
        decompress_page(bytes, codec, page, &mut body)
    })
}

/// Visits the pages of some column chunks, with their codec; the rows in the footer.
fn each_page(
    bytes: &Bytes,
    is_wanted: impl Fn(&ColumnMetaData) -> bool,
    mut visit: impl FnMut(CompressionCodec, &PageInfo) -> Result<()>,
) -> Result<u64> {
    let file = ParquetFile::from_bytes(bytes.clone())?;
    let metadata = file.metadata();
    let mut rows = 0;
    for index in 0..metadata.num_row_groups() {
        let row_group = metadata.row_group(index)?;
        rows += u64::try_from(row_group.num_rows)?;
        for (leaf, chunk) in row_group.columns.iter().enumerate() {
            let chunk = chunk.meta_data.as_ref().ok_or("no metadata")?;
            if is_wanted(chunk) {
                for page in file.pages(index, leaf)? {
                    visit(chunk.codec, &page?)?;
                }
            }
        }
    }
    Ok(rows)
}

fn decompress_page(
    bytes: &Bytes,
    codec: CompressionCodec,
    page: &PageInfo,
    body: &mut Vec<u8>,
) -> Result<()> {
    let header = &page.header;
    let start = usize::try_from(page.start.offset)? + page.header_bytes;
    let end = start + usize::try_from(header.compressed_page_size)?;
    let input = bytes.get(start..end).ok_or("a page outside of the file")?;
    // Levels of a page of version 2 are never compressed.
    let (levels, is_compressed) = header.data_page_header_v2.as_ref().map_or((0, true), |v2| {
        let levels = v2.repetition_levels_byte_length + v2.definition_levels_byte_length;
        (levels as usize, v2.is_compressed)
    });
    if codec != CompressionCodec::Uncompressed && is_compressed {
        body.resize(usize::try_from(header.uncompressed_page_size)? - levels, 0);
        decompress(codec, input.get(levels..).unwrap_or_default(), body)?;
    }
    black_box((input, body));
    Ok(())
}

/// [`read`] from a file on disk.
///
/// # Errors
///
/// Whatever reading meets.
pub fn read_path(path: &Path) -> Result<u64> {
    stream(ParquetFile::open(path)?, ReadOptions::default().threads(1))
}

/// Reads what the options ask for; the number of rows.
///
/// # Errors
///
/// Whatever reading meets.
pub fn stream(file: ParquetFile, options: ReadOptions) -> Result<u64> {
    let mut reader = file.read(options.batch_size(BATCH_SIZE))?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += black_box(batch).num_rows() as u64;
    }
    Ok(rows)
}

/// Opens a file: its metadata, before any question about it; the number of row groups.
///
/// # Errors
///
/// Whatever opening meets.
pub fn open(bytes: &Bytes) -> Result<u64> {
    let file = black_box(ParquetFile::from_bytes(bytes.clone())?);
    Ok(file.metadata().num_row_groups() as u64)
}

/// Opens a file and derives its Arrow schema; the number of columns.
///
/// # Errors
///
/// Whatever opening meets.
pub fn schema(bytes: &Bytes) -> Result<u64> {
    let file = ParquetFile::from_bytes(bytes.clone())?;
    let schema = black_box(file.arrow_schema(&SchemaOptions::default())?);
    Ok(schema.fields().len() as u64)
}

/// Walks over the metadata of a file, field by field, and keeps nothing of it: who has to know where
/// its parts are does no less, unless parts are alike.
///
/// # Errors
///
/// The file does not end as Parquet files do, or its metadata breaks the protocol.
pub fn walk_footer(bytes: &Bytes) -> Result<()> {
    let (front, tail) = bytes.split_last_chunk().ok_or("no footer")?;
    let length = Tail::decode(tail)?.metadata_length as usize;
    let start = front.len().checked_sub(length).ok_or("no metadata")?;
    let mut reader = CompactReader::new(&front[start..], Limits::default().schema_depth);
    Ok(reader.skip(Wire::Struct)?)
}

/// All batches of a file, as plain arrays: as most programs hand them over.
///
/// # Errors
///
/// Whatever reading meets.
pub fn batches(path: &Path) -> Result<Vec<RecordBatch>> {
    let mut schema = SchemaOptions::default();
    schema.use_arrow_schema = false;
    let reader = ParquetFile::open(path)?.read(ReadOptions::default().schema(schema))?;
    Ok(reader.collect::<Result<_, _>>()?)
}

/// The codec that the name of a case ends in, if it does.
///
/// # Errors
///
/// None: all of them are known.
pub fn codec(name: &str) -> Result<Compression> {
    let codec = ["snappy", "gzip", "brotli", "zstd", "lz4"]
        .into_iter()
        .find(|codec| name.ends_with(codec));
    Ok(match codec {
        Some("lz4") => "lz4_raw".parse()?,
        // The level that the peer takes.
        Some("brotli") => "brotli:1".parse()?,
        Some(codec) => codec.parse()?,
        None => Compression::Uncompressed,
    })
}

/// Writes batches to memory.
///
/// # Errors
///
/// Whatever writing meets.
pub fn write(batches: &[RecordBatch], compression: Compression, threads: usize) -> Result<Vec<u8>> {
    let options = WriteOptions::default()
        .compression(compression)
        .threads(threads);
    write_with(batches, options)
}

/// [`write`] in row groups of so many rows, on one thread.
///
/// # Errors
///
/// Whatever writing meets.
pub fn write_groups(
    batches: &[RecordBatch],
    compression: Compression,
    row_group_rows: usize,
) -> Result<Vec<u8>> {
    let options = WriteOptions::default().compression(compression).threads(1);
    write_with(batches, options.row_group_rows(row_group_rows))
}

/// The pages of a file that has a codec, decompressed, and that codec at its default level.
///
/// # Errors
///
/// Whatever reading meets.
pub fn decompressed_pages(bytes: &Bytes) -> Result<(Compression, Vec<Vec<u8>>)> {
    let mut pages = Vec::new();
    let mut compression = Compression::Uncompressed;
    let has_codec = |chunk: &ColumnMetaData| chunk.codec != CompressionCodec::Uncompressed;
    each_page(bytes, has_codec, |codec, page| {
        compression = codec.to_string().to_lowercase().parse()?;
        let mut body = Vec::new();
        decompress_page(bytes, codec, page, &mut body)?;
        pages.push(body);
        Ok(())
    })?;
    Ok((compression, pages))
}

/// Compresses pages, and drops what comes of it; the bytes of that.
///
/// # Errors
///
/// Whatever compressing meets.
pub fn compress_pages(compression: Compression, pages: &[Vec<u8>]) -> Result<u64> {
    let (mut out, mut bytes) = (Vec::new(), 0);
    for page in pages {
        out.clear();
        compress(compression, page, &mut out)?;
        bytes += black_box(&out).len() as u64;
    }
    Ok(bytes)
}

/// [`write`] with other options.
pub(crate) fn write_with(batches: &[RecordBatch], options: WriteOptions) -> Result<Vec<u8>> {
    let schema = batches.first().ok_or("no batches")?.schema();
    let mut file = memory_for(batches);
    let mut writer = Writer::new(&mut file, schema, options)?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.finish()?;
    Ok(file)
}
