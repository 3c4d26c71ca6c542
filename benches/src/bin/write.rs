//! Times writing: `write [--dir DIR] [--seconds S] [PART_OF_A_NAME ...]`.
//!
//! Each file is read once; then both sides write its batches to memory, with the codec of the case.

use std::process::ExitCode;
use std::sync::Arc;

use herringbone::arrow::array::RecordBatch;
use herringbone::{Compression, ReadOptions, WriteOptions, Writer};
use herringbone_benches::arguments::Arguments;
use herringbone_benches::workload::{Work, case_name};
use herringbone_benches::{Result, measure, table};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression as TheirCompression, ZstdLevel};
use parquet::file::properties::WriterProperties;

/// A size above this many times the peer's is marked.
const LARGE: f64 = 1.0;

/// The batches of a file.
struct Case {
    batches: Arc<Vec<RecordBatch>>,
    compression: Compression,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let (mut ratios, mut faults) = (Vec::new(), 0);
    println!("| case | herringbone ms | arrow-rs ms | ratio | herringbone bytes | size ratio |");
    println!("|---|---:|---:|---:|---:|---:|");
    for file in arguments.files()? {
        let name = case_name(&file);
        // The tables of thousands of columns are about reading footers.
        if name.starts_with("wide_") || !arguments.wants(&name) {
            continue;
        }
        let case = Case {
            batches: Arc::new(
                herringbone::open_with(&file, options())?.collect::<std::result::Result<_, _>>()?,
            ),
            compression: codec(&name)?,
        };
        let (line, ratio, size) = case.run(&name, arguments.seconds)?;
        println!("{line}");
        faults += usize::from(ratio > table::SLOW || size > LARGE);
        ratios.push(ratio);
    }
    let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
    println!();
    println!(
        "{} cases, geometric mean of the ratios {:.2}; {faults} slower than {} or larger",
        ratios.len(),
        mean.exp(),
        table::SLOW
    );
    Ok(ExitCode::from(u8::from(faults > 0)))
}

/// Plain arrays, as most programs hand them over.
fn options() -> ReadOptions {
    let mut schema = herringbone::SchemaOptions::default();
    schema.use_arrow_schema = false;
    ReadOptions::default().schema(schema)
}

/// The codec that the name of a case ends in, if it does.
fn codec(name: &str) -> Result<Compression> {
    let codec = ["snappy", "gzip", "brotli", "zstd", "lz4"]
        .into_iter()
        .find(|codec| name.ends_with(codec));
    Ok(match codec {
        Some("lz4") => "lz4_raw".parse()?,
        Some("brotli") => "brotli:1".parse()?,
        Some(codec) => codec.parse()?,
        None => Compression::Uncompressed,
    })
}

impl Case {
    fn run(&self, name: &str, seconds: f64) -> Result<(String, f64, f64)> {
        let ours = ours(self.batches.clone(), self.compression);
        let theirs = theirs(self.batches.clone(), self.compression)?;
        let our_size = write_ours(&self.batches, self.compression)?.len();
        let their_size = write_theirs(&self.batches, &properties(self.compression)?)?.len();
        let times = measure::in_turns(&[&ours, &theirs], seconds)?;
        let ratio = times[0].median() / times[1].median();
        let size = our_size as f64 / their_size as f64;
        let mark = |bad: bool, word: &str| {
            if bad {
                format!(" **{word}**")
            } else {
                String::new()
            }
        };
        let line = format!(
            "| {name} | {:.2} ±{:.0}% | {:.2} ±{:.0}% | {ratio:.2}{} | {our_size} | {size:.3}{} |",
            times[0].median(),
            times[0].spread() * 100.0,
            times[1].median(),
            times[1].spread() * 100.0,
            mark(ratio > table::SLOW, "slow"),
            mark(size > LARGE, "large"),
        );
        Ok((line, ratio, size))
    }
}

fn ours(batches: Arc<Vec<RecordBatch>>, compression: Compression) -> Work {
    Box::new(move || write_ours(&batches, compression).map(|_| rows(&batches)))
}

fn theirs(batches: Arc<Vec<RecordBatch>>, compression: Compression) -> Result<Work> {
    let properties = properties(compression)?;
    Ok(Box::new(move || {
        write_theirs(&batches, &properties).map(|_| rows(&batches))
    }))
}

fn rows(batches: &[RecordBatch]) -> u64 {
    batches.iter().map(|batch| batch.num_rows() as u64).sum()
}

fn write_ours(batches: &[RecordBatch], compression: Compression) -> Result<Vec<u8>> {
    let options = WriteOptions::default().compression(compression).threads(1);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batches[0].schema(), options)?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.finish()?;
    Ok(file)
}

fn write_theirs(batches: &[RecordBatch], properties: &WriterProperties) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut file, batches[0].schema(), Some(properties.clone()))?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.close()?;
    Ok(file)
}

fn properties(compression: Compression) -> Result<WriterProperties> {
    let compression = match compression {
        Compression::Uncompressed => TheirCompression::UNCOMPRESSED,
        Compression::Snappy => TheirCompression::SNAPPY,
        Compression::Gzip(_) => TheirCompression::GZIP(Default::default()),
        Compression::Brotli(_) => TheirCompression::BROTLI(Default::default()),
        Compression::Zstd(_) => TheirCompression::ZSTD(ZstdLevel::default()),
        Compression::Lz4Raw => TheirCompression::LZ4_RAW,
    };
    Ok(WriterProperties::builder()
        .set_compression(compression)
        .build())
}
