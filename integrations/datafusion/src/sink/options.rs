//! The options of a table as options of a writer.

use datafusion_common::config::{ParquetColumnOptions, ParquetOptions, TableParquetOptions};
use datafusion_common::parquet_config::DFParquetWriterVersion;
use datafusion_common::{Result, config_datafusion_err, config_err, not_impl_err};
use herringbone::format::{Encoding, KeyValue};
use herringbone::schema::HintPolicy;
use herringbone::{
    BloomFilterOptions, BrotliLevel, ColumnOptions, Compression, ContentDefinedChunking,
    DataPageVersion, GzipLevel, StatisticsLevel, WriteOptions, ZstdLevel,
};

use crate::error::from_library;

/// Rejects wrong and unsupported options for writing.
///
/// # Errors
/// Configuration or not implemented, with the name of the option.
pub(crate) fn check(options: &TableParquetOptions) -> Result<()> {
    write_options(options).map(drop)
}

/// Returns the options of a writer. If the session has the engine's default, the writer chooses by itself.
///
/// # Errors
/// Configuration if an option has a wrong value; not implemented if it cannot be honoured.
pub(crate) fn write_options(options: &TableParquetOptions) -> Result<WriteOptions> {
    let (global, default) = (&options.global, ParquetOptions::default());
    let mut columns = ColumnOptions::new();
    if global.data_pagesize_limit != default.data_pagesize_limit {
        columns = columns.page_bytes(global.data_pagesize_limit);
    }
    if global.data_page_row_count_limit != default.data_page_row_count_limit {
        columns = columns.page_rows(global.data_page_row_count_limit);
    }
    if global.dictionary_page_size_limit != default.dictionary_page_size_limit {
        columns = columns.dictionary_bytes(global.dictionary_page_size_limit);
    }
    if global.statistics_truncate_length != default.statistics_truncate_length {
        columns = columns.truncate_bounds(global.statistics_truncate_length.unwrap_or(usize::MAX));
    }
    let of_all = ParquetColumnOptions {
        bloom_filter_enabled: Some(global.bloom_filter_on_write),
        encoding: global.encoding.clone(),
        dictionary_enabled: global
            .dictionary_enabled
            .filter(|_| global.dictionary_enabled != default.dictionary_enabled),
        compression: global.compression.clone(),
        statistics_enabled: global.statistics_enabled.clone(),
        bloom_filter_fpp: global.bloom_filter_fpp,
        bloom_filter_ndv: global.bloom_filter_ndv,
    };
    let mut write = WriteOptions::new().columns(column(columns, &of_all)?);
    let mut names: Vec<_> = options.column_specific_options.iter().collect();
    names.sort_unstable_by_key(|(name, _)| *name);
    for (name, of_column) in names {
        // A column with its own rate or number has a filter if all columns do. Others inherit it from the writer.
        let (rate, distinct) = (of_column.bloom_filter_fpp, of_column.bloom_filter_ndv);
        let has_own = rate.is_some() || distinct.is_some();
        let inherited = ParquetColumnOptions {
            bloom_filter_enabled: of_column
                .bloom_filter_enabled
                .or(has_own.then_some(global.bloom_filter_on_write)),
            bloom_filter_fpp: of_column.bloom_filter_fpp.or(global.bloom_filter_fpp),
            bloom_filter_ndv: of_column.bloom_filter_ndv.or(global.bloom_filter_ndv),
            ..of_column.clone()
        };
        write = write.column(name, column(ColumnOptions::new(), &inherited)?);
    }
    write = write
        .row_group_rows(global.max_row_group_size)
        .data_page_version(match global.writer_version {
            DFParquetWriterVersion::V1_0 => DataPageVersion::V1,
            DFParquetWriterVersion::V2_0 => DataPageVersion::V2,
        });
    let chunking = &global.content_defined_chunking;
    if chunking.enabled {
        let sizes = ContentDefinedChunking::new()
            .min_chunk_bytes(chunking.min_chunk_size)
            .max_chunk_bytes(chunking.max_chunk_size)
            .norm_level(chunking.norm_level);
        write = write.content_defined_chunking(sizes);
    }
    if let Some(bytes) = &global.max_row_group_bytes {
        write = write.row_group_bytes(bytes.get());
    }
    if global.created_by != default.created_by {
        write = write.created_by(global.created_by.clone());
    }
    if global.skip_arrow_metadata {
        write.schema.arrow_schema_hint = HintPolicy::None;
    }
    let mut pairs: Vec<_> = options.key_value_metadata.iter().collect();
    pairs.sort_unstable();
    let pairs = pairs.into_iter().map(|(key, value)| match value {
        Some(value) => KeyValue::new(key, value.as_bytes()),
        None => KeyValue::without_value(key),
    });
    Ok(write.key_value_metadata(pairs.collect()))
}

fn column(mut column: ColumnOptions, options: &ParquetColumnOptions) -> Result<ColumnOptions> {
    if let Some(compression) = &options.compression {
        column = column.compression(parse_compression(compression)?);
    }
    if let Some(encoding) = &options.encoding {
        column = column.encoding(parse_encoding(encoding)?);
    }
    if let Some(dictionary) = options.dictionary_enabled {
        column = column.dictionary(dictionary);
    }
    if let Some(statistics) = &options.statistics_enabled {
        column = column.statistics(match statistics.to_lowercase().as_str() {
            "none" => StatisticsLevel::Counts,
            "chunk" => StatisticsLevel::Chunk,
            "page" => StatisticsLevel::Page,
            _ => {
                return config_err!(
                    "Unknown parquet statistics setting {statistics}: use none, chunk or page"
                );
            }
        });
    }
    if options.bloom_filter_enabled == Some(true) {
        let mut bloom_filter = BloomFilterOptions::new(options.bloom_filter_fpp.unwrap_or(0.05));
        bloom_filter.distinct_values = options.bloom_filter_ndv;
        column = column.bloom_filter(bloom_filter);
    }
    Ok(column)
}

fn parse_compression(text: &str) -> Result<Compression> {
    let text = text.replace('\'', "").to_lowercase();
    let (codec, level) = match text.split_once('(') {
        Some((codec, level)) => {
            let level = level
                .strip_suffix(')')
                .and_then(|level| level.parse::<i32>().ok());
            let level = level.ok_or_else(|| {
                config_datafusion_err!(
                    "the level of the parquet compression {text} is not a number"
                )
            })?;
            (codec, Some(level))
        }
        None => (text.as_str(), None),
    };
    match (codec, level) {
        ("uncompressed", None) => Ok(Compression::Uncompressed),
        ("snappy", None) => Ok(Compression::Snappy),
        ("lz4_raw", None) => Ok(Compression::Lz4Raw),
        ("lz4", None) => not_impl_err!("the deprecated parquet compression lz4: use lz4_raw"),
        ("gzip", Some(level)) => GzipLevel::new(level)
            .map(Compression::Gzip)
            .map_err(from_library),
        ("brotli", Some(level)) => BrotliLevel::new(level)
            .map(Compression::Brotli)
            .map_err(from_library),
        ("zstd", Some(level)) => ZstdLevel::new(level)
            .map(Compression::Zstd)
            .map_err(from_library),
        _ => config_err!(
            "Unknown or unsupported parquet compression: {text}. Valid values are: uncompressed, snappy, \
             gzip(level), brotli(level), zstd(level), and lz4_raw."
        ),
    }
}

fn parse_encoding(text: &str) -> Result<Encoding> {
    match text.to_lowercase().as_str() {
        "plain" => Ok(Encoding::Plain),
        "rle" => Ok(Encoding::Rle),
        "delta_binary_packed" => Ok(Encoding::DeltaBinaryPacked),
        "delta_length_byte_array" => Ok(Encoding::DeltaLengthByteArray),
        "delta_byte_array" => Ok(Encoding::DeltaByteArray),
        "plain_dictionary" | "rle_dictionary" => Ok(Encoding::RleDictionary),
        "byte_stream_split" => Ok(Encoding::ByteStreamSplit),
        _ => config_err!(
            "Unknown or unsupported parquet encoding: {text}. Valid values are: plain, plain_dictionary, rle, \
             delta_binary_packed, delta_length_byte_array, delta_byte_array, rle_dictionary, and byte_stream_split."
        ),
    }
}
