//! Reads or writes a file on request, for `peers.py`, `reading.py` and `writing.py`, which run
//! other peers in between.
//!
//! ```text
//! in:   side PATH            side: herringbone or arrow-rs, optionally with -views, or pages
//!       below COLUMN VALUE COLUMNS PATH, separated by tabs: reads these columns, separated by commas, of the rows in
//!                            which a column is below a value: i and an integer, s and text, or t and microseconds
//!       write SIDE CODEC ROWS PATH: writes the rows of the file to memory, in row groups of ROWS rows
//!       compress PATH: compresses the pages of the file, decompressed beforehand, one by one
//! out:  seconds rows         or: error MESSAGE; for write and compress, bytes instead of rows
//! ```

use bytes::Bytes;
use herringbone::arrow::array::RecordBatch;
use herringbone::filter::{Literal, col};
use herringbone::{Compression, ParquetFile, ReadOptions};
use herringbone_benches::{Result, arrow_rs, give_back, ours};
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<()> {
    let mut held = Held::default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        match turn(&line, &mut held) {
            Ok((seconds, rows)) => writeln!(out, "{seconds} {rows}")?,
            Err(error) => writeln!(out, "error {error}")?,
        }
        out.flush()?;
    }
    Ok(())
}

/// The data of the last turns, which we keep so that it is not read again.
#[derive(Default)]
struct Held {
    path: String,
    bytes: Bytes,
    batches: Option<Vec<RecordBatch>>,
    pages: Option<(Compression, Vec<Vec<u8>>)>,
}

impl Held {
    fn open(&mut self, path: &str) -> Result<()> {
        if self.path != path {
            *self = Self {
                path: path.to_owned(),
                bytes: std::fs::read(path)?.into(),
                ..Self::default()
            };
        }
        Ok(())
    }

    fn batches(&mut self) -> Result<&[RecordBatch]> {
        if self.batches.is_none() {
            self.batches = Some(ours::batches(Path::new(&self.path))?);
        }
        Ok(self.batches.as_deref().unwrap_or_default())
    }

    fn pages(&mut self) -> Result<&(Compression, Vec<Vec<u8>>)> {
        if self.pages.is_none() {
            self.pages = Some(ours::decompressed_pages(&self.bytes)?);
        }
        Ok(self.pages.as_ref().ok_or("no pages")?)
    }
}

/// Runs one turn and uses the data that we hold if the file is the same. Returns its seconds and
/// the number of rows.
fn turn(line: &str, held: &mut Held) -> Result<(f64, u64)> {
    let (side, path) = line.rsplit_once([' ', '\t']).ok_or("no path")?;
    held.open(path)?;
    if let Some(write) = side.strip_prefix("write ") {
        return write_turn(write, held.batches()?);
    }
    if side == "compress" {
        let (compression, pages) = held.pages()?;
        let begin = Instant::now();
        let bytes = ours::compress_pages(*compression, pages)?;
        return Ok((begin.elapsed().as_secs_f64(), bytes));
    }
    let bytes = held.bytes.clone();
    let begin = Instant::now();
    let rows = match side {
        "herringbone" => ours::read(&bytes, None)?,
        "arrow-rs" => arrow_rs::read(&bytes, None)?,
        "herringbone-views" => ours::read_views(&bytes)?,
        "arrow-rs-views" => arrow_rs::read_views(&bytes)?,
        "pages" => arrow_rs::pages(&bytes)?,
        below if below.starts_with("below") => ours::stream(
            ParquetFile::from_bytes(bytes)?,
            rows_below(below).ok_or("no column, value and columns")?,
        )?,
        other => return Err(format!("{other}: no side").into()),
    };
    Ok((begin.elapsed().as_secs_f64(), rows))
}

/// Runs `SIDE CODEC ROWS`, and returns its seconds and the file size in bytes.
fn write_turn(words: &str, batches: &[RecordBatch]) -> Result<(f64, u64)> {
    let words: Vec<&str> = words.split(' ').collect();
    let [side, codec, rows] = words.as_slice() else {
        return Err("write SIDE CODEC ROWS PATH".into());
    };
    let (compression, rows) = (codec.parse()?, rows.parse()?);
    let begin = Instant::now();
    let file = match *side {
        "herringbone" => ours::write_groups(batches, compression, rows)?,
        "arrow-rs" => arrow_rs::write_groups(batches, compression, rows)?,
        other => return Err(format!("{other}: no side").into()),
    };
    let seconds = begin.elapsed().as_secs_f64();
    Ok((seconds, give_back(file)))
}

/// Returns the options for `below COLUMN VALUE COLUMNS`.
fn rows_below(side: &str) -> Option<ReadOptions> {
    let mut words = side.split('\t').skip(1);
    let (column, value, columns) = (words.next()?, words.next()?, words.next()?);
    let number = || value.get(1..)?.parse::<i64>().ok();
    let literal: Literal = match value.split_at_checked(1)? {
        ("i", _) => number()?.into(),
        ("t", _) => Literal::Timestamp {
            nanos: i128::from(number()?) * 1000,
            is_utc: false,
        },
        (_, text) => text.into(),
    };
    let options = ReadOptions::new().columns(columns.split(',')).threads(1);
    Some(options.filter(col(column).lt(literal)))
}
