//! Reads a file whenever it is told to, for `peers.py`, which has other peers read it in between.
//!
//! ```text
//! in:   side PATH            side: herringbone or arrow-rs, -views behind it, or pages
//!       below COLUMN VALUE COLUMNS PATH, with tabs between them: these columns, separated by commas, of the rows of which a
//!                            column is below a value: i and an integer, s and text, or t and microseconds
//! out:  seconds rows         or: error MESSAGE
//! ```

use bytes::Bytes;
use herringbone::filter::{Literal, col};
use herringbone::{ParquetFile, ReadOptions};
use herringbone_benches::{Result, arrow_rs, ours};
use std::io::{BufRead, Write};
use std::time::Instant;

fn main() -> Result<()> {
    let mut held: Option<(String, Bytes)> = None;
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

/// One read, of the file that is held if it is the same; the seconds it took and the rows.
fn turn(line: &str, held: &mut Option<(String, Bytes)>) -> Result<(f64, u64)> {
    let (side, path) = line.rsplit_once([' ', '\t']).ok_or("no path")?;
    let bytes = match held {
        Some((name, bytes)) if name == path => bytes.clone(),
        _ => {
            let bytes = Bytes::from(std::fs::read(path)?);
            *held = Some((path.to_owned(), bytes.clone()));
            bytes
        }
    };
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

/// What `below COLUMN VALUE COLUMNS` asks for.
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
