//! Times writing: `write [--dir DIR] [--seconds S] [PART_OF_A_NAME ...]`.
//!
//! Each file is read once, and then both sides write its batches to memory with the case's codec.

use std::process::ExitCode;
use std::sync::Arc;

use herringbone::Compression;
use herringbone::arrow::array::RecordBatch;
use herringbone_benches::arguments::Arguments;
use herringbone_benches::workload::{Work, case_name};
use herringbone_benches::{Result, arrow_rs, give_back, measure, ours, table};

/// The multiple of the peer's size above which a file is marked.
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
        // We skip tables with thousands of columns, because they test the reading of footers.
        if name.starts_with("wide_") || !arguments.wants(&name) {
            continue;
        }
        let case = Case {
            batches: Arc::new(ours::batches(&file)?),
            compression: ours::codec(&name)?,
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

impl Case {
    /// Returns work that writes the batches, and returns the row count.
    fn work(&self, write: fn(&[RecordBatch], Compression) -> Result<Vec<u8>>) -> Work {
        let (batches, compression) = (self.batches.clone(), self.compression);
        Box::new(move || {
            write(&batches, compression)
                .map(give_back)
                .map(|_| rows(&batches))
        })
    }

    fn run(&self, name: &str, seconds: f64) -> Result<(String, f64, f64)> {
        let ours = self.work(|batches, codec| ours::write(batches, codec, 1));
        let theirs = self.work(arrow_rs::write);
        let our_size = ours::write(&self.batches, self.compression, 1)?.len();
        let their_size = arrow_rs::write(&self.batches, self.compression)?.len();
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

fn rows(batches: &[RecordBatch]) -> u64 {
    batches.iter().map(|batch| batch.num_rows() as u64).sum()
}
