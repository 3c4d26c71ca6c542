//! The work of Herringbone in each case.

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

/// Reads all columns, or some leaf columns, drops each batch at once, and returns the row count.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn read(bytes: &Bytes, leaves: Option<&[usize]>) -> Result<u64> {
    let options = match leaves {
        Some(leaves) => ReadOptions::default().projection(Projection::Leaves(leaves.to_vec())),
        None => ReadOptions::default(),
    };
    stream(ParquetFile::from_bytes(bytes.clone())?, options.threads(1))
}

/// Reads all columns like [`read`], but on `threads` threads.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn read_on(bytes: &Bytes, threads: usize) -> Result<u64> {
    stream(
        ParquetFile::from_bytes(bytes.clone())?,
        ReadOptions::default().threads(threads),
    )
}

/// Reads all columns like [`read`], but with strings and binaries as views.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn read_views(bytes: &Bytes) -> Result<u64> {
    let mut schema = SchemaOptions::default();
    schema.strings = ByteLayout::Views;
    schema.use_arrow_schema = false;
    let options = ReadOptions::default().schema(schema).threads(1);
    stream(ParquetFile::from_bytes(bytes.clone())?, options)
}

/// Decompresses all pages without decoding them, which is the least that a read can take with our
/// decompressors. Returns the row count in the footer.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn pages(bytes: &Bytes) -> Result<u64> {
    pages_of(bytes, |_| true)
}

/// Decompresses pages like [`pages`], but only for columns that `is_wanted` selects by the first
/// part of their path.
///
/// # Errors
///
/// Fails if the file cannot be read.
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

/// Visits the pages of some column chunks, with their codec, and returns the row count in the
/// footer.
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
    // The levels of version 2 pages are never compressed.
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

/// Reads all columns like [`read`], but from a file on disk.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn read_path(path: &Path) -> Result<u64> {
    stream(ParquetFile::open(path)?, ReadOptions::default().threads(1))
}

/// Reads a file with these options and returns the row count.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn stream(file: ParquetFile, options: ReadOptions) -> Result<u64> {
    let mut reader = file.read(options.batch_size(BATCH_SIZE))?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += black_box(batch).num_rows() as u64;
    }
    Ok(rows)
}

/// Opens a file, loads its metadata without using it, and returns the number of row groups.
///
/// # Errors
///
/// Fails if the file cannot be opened.
pub fn open(bytes: &Bytes) -> Result<u64> {
    let file = black_box(ParquetFile::from_bytes(bytes.clone())?);
    Ok(file.metadata().num_row_groups() as u64)
}

/// Opens a file, derives its Arrow schema, and returns the number of columns.
///
/// # Errors
///
/// Fails if the file cannot be opened.
pub fn schema(bytes: &Bytes) -> Result<u64> {
    let file = ParquetFile::from_bytes(bytes.clone())?;
    let schema = black_box(file.arrow_schema(&SchemaOptions::default())?);
    Ok(schema.fields().len() as u64)
}

/// Walks over a file's metadata field by field, without keeping anything. Finding the metadata's
/// parts takes at least this long, unless the parts are alike.
///
/// # Errors
///
/// Fails if the file does not end like a Parquet file, or if its metadata violates the protocol.
pub fn walk_footer(bytes: &Bytes) -> Result<()> {
    let (front, tail) = bytes.split_last_chunk().ok_or("no footer")?;
    let length = Tail::decode(tail)?.metadata_length as usize;
    let start = front.len().checked_sub(length).ok_or("no metadata")?;
    let mut reader = CompactReader::new(&front[start..], Limits::default().schema_depth);
    Ok(reader.skip(Wire::Struct)?)
}

/// Returns all batches of a file as plain arrays, because most programs supply them in this form.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub fn batches(path: &Path) -> Result<Vec<RecordBatch>> {
    let mut schema = SchemaOptions::default();
    schema.use_arrow_schema = false;
    let reader = ParquetFile::open(path)?.read(ReadOptions::default().schema(schema))?;
    Ok(reader.collect::<Result<_, _>>()?)
}

/// Returns the codec at the end of a case name, or no compression if the name has no codec.
///
/// # Errors
///
/// Never fails, because all of these codecs are known.
pub fn codec(name: &str) -> Result<Compression> {
    let codec = ["snappy", "gzip", "brotli", "zstd", "lz4"]
        .into_iter()
        .find(|codec| name.ends_with(codec));
    Ok(match codec {
        Some("lz4") => "lz4_raw".parse()?,
        // The peer uses this level.
        Some("brotli") => "brotli:1".parse()?,
        Some(codec) => codec.parse()?,
        None => Compression::Uncompressed,
    })
}

/// Writes batches to memory.
///
/// # Errors
///
/// Fails if the batches cannot be written.
pub fn write(batches: &[RecordBatch], compression: Compression, threads: usize) -> Result<Vec<u8>> {
    let options = WriteOptions::default()
        .compression(compression)
        .threads(threads);
    write_with(batches, options)
}

/// Writes batches like [`write`], but in row groups of `row_group_rows` rows and on one thread.
///
/// # Errors
///
/// Fails if the batches cannot be written.
pub fn write_groups(
    batches: &[RecordBatch],
    compression: Compression,
    row_group_rows: usize,
) -> Result<Vec<u8>> {
    let options = WriteOptions::default().compression(compression).threads(1);
    write_with(batches, options.row_group_rows(row_group_rows))
}

/// Returns a compressed file's pages after decompression, and its codec at the default level.
///
/// # Errors
///
/// Fails if the file cannot be read.
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

/// Compresses pages, drops the output, and returns the number of compressed bytes.
///
/// # Errors
///
/// Returns the codec's errors.
pub fn compress_pages(compression: Compression, pages: &[Vec<u8>]) -> Result<u64> {
    let (mut out, mut bytes) = (Vec::new(), 0);
    for page in pages {
        out.clear();
        compress(compression, page, &mut out)?;
        bytes += black_box(&out).len() as u64;
    }
    Ok(bytes)
}

/// Writes batches like [`write`], but with other options.
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
