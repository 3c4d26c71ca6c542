//! Writes a stream of Arrow IPC as a file with a version of the crate `parquet`, and reads a file as such a stream.
//!
//!     program write FILE [NAME=VALUE …] < STREAM
//!     program read FILE > STREAM
//!
//! `matrix.py` builds this program once for each version. The version's feature, such as `v20`, chooses the names that
//! it has.

use std::error::Error;
use std::fs::File;

use arrow::ipc::{reader::StreamReader, writer::StreamWriter};
use parquet::arrow::arrow_writer::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion,
};

macro_rules! page_size {
    ($builder:expr, $value:expr) => {{
        #[cfg(any(feature = "v20", feature = "v30", feature = "v40"))]
        let builder = $builder.set_data_pagesize_limit($value);
        #[cfg(not(any(feature = "v20", feature = "v30", feature = "v40")))]
        let builder = $builder.set_data_page_size_limit($value);
        builder
    }};
}

macro_rules! rows_of_group {
    ($builder:expr, $value:expr) => {{
        #[cfg(feature = "v60")]
        let builder = $builder.set_max_row_group_row_count(Some($value));
        #[cfg(not(feature = "v60"))]
        let builder = $builder.set_max_row_group_size($value);
        builder
    }};
}

macro_rules! batches_of {
    ($file:expr) => {{
        #[cfg(feature = "v20")]
        let batches = {
            use parquet::arrow::{ArrowReader, ParquetFileArrowReader};
            ParquetFileArrowReader::try_new($file)?.get_record_reader(1000)?
        };
        #[cfg(not(feature = "v20"))]
        let batches =
            parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new($file)?
                .build()?;
        batches
    }};
}

fn with(
    builder: WriterPropertiesBuilder,
    name: &str,
    value: &str,
) -> Result<WriterPropertiesBuilder, Box<dyn Error>> {
    Ok(match name {
        "compression" if value == "snappy" => builder.set_compression(Compression::SNAPPY),
        "version" if value == "2" => builder.set_writer_version(WriterVersion::PARQUET_2_0),
        "dictionary" => builder.set_dictionary_enabled(value.parse()?),
        "statistics" if value == "none" => builder.set_statistics_enabled(EnabledStatistics::None),
        "statistics" if value == "chunk" => {
            builder.set_statistics_enabled(EnabledStatistics::Chunk)
        }
        "row_group_size" => rows_of_group!(builder, value.parse()?),
        "page_size" => page_size!(builder, value.parse()?),
        "write_batch_size" => builder.set_write_batch_size(value.parse()?),
        #[cfg(not(feature = "v20"))]
        "bloom_filter" => builder
            .set_bloom_filter_enabled(true)
            .set_bloom_filter_ndv(value.parse()?),
        _ => return Err(format!("{name}={value} is not known").into()),
    })
}

fn write(path: &str, options: &[String]) -> Result<(), Box<dyn Error>> {
    let mut builder = WriterProperties::builder();
    for option in options {
        let (name, value) = option.split_once('=').ok_or("an option is NAME=VALUE")?;
        builder = with(builder, name, value)?;
    }
    let batches = StreamReader::try_new(std::io::stdin(), None)?;
    let mut writer =
        ArrowWriter::try_new(File::create(path)?, batches.schema(), Some(builder.build()))?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    writer.close()?;
    Ok(())
}

fn read(path: &str) -> Result<(), Box<dyn Error>> {
    use arrow::record_batch::RecordBatchReader;
    let batches = batches_of!(File::open(path)?);
    let mut writer = StreamWriter::try_new(std::io::stdout(), &batches.schema())?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    Ok(writer.finish()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [verb, path, options @ ..] if verb == "write" => write(path, options),
        [verb, path] if verb == "read" => read(path),
        _ => Err("write FILE [NAME=VALUE …], or read FILE".into()),
    }
}
