//! Times encryption: `encrypted [--dir DIR] [--seconds S] [PART_OF_A_NAME ...]`.
//!
//! Each file is read once. Both sides write its batches plain and encrypted, and read the files
//! that they wrote. In the same turns, the cipher runs alone over the bodies of the pages, so that
//! we can compare the cost of encryption with it.

use std::process::ExitCode;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::Compression;
use herringbone::arrow::array::RecordBatch;
use herringbone::encryption::Algorithm;
use herringbone_benches::arguments::Arguments;
use herringbone_benches::encryption::{self, Part, RawCipher};
use herringbone_benches::measure::Times;
use herringbone_benches::workload::{Work, case_name};
use herringbone_benches::{Result, give_back, measure, ours, table};

/// The limit for the cost of encryption, as a multiple of the cipher's own time. We first subtract
/// the median error from the cost.
const DEAR: f64 = 1.2;

/// The batches of a file.
struct Case {
    name: String,
    batches: Arc<Vec<RecordBatch>>,
    compression: Compression,
    seconds: f64,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    println!("AES: {}\n", encryption::CIPHER);
    println!(
        "| case | plain ms | encrypted ms | cipher alone ms | cost in units of it | arrow-rs ms | ratio |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    let mut faults = 0;
    for file in arguments.files()? {
        let name = case_name(&file);
        // We skip tables with thousands of columns, because they test the reading of footers.
        if name.starts_with("wide_") || !arguments.wants(&name) {
            continue;
        }
        let case = Case {
            batches: Arc::new(ours::batches(&file)?),
            compression: ours::codec(&name)?,
            seconds: arguments.seconds,
            name,
        };
        for algorithm in [Algorithm::AesGcmV1, Algorithm::AesGcmCtrV1] {
            faults += case.read(algorithm)? + case.write(algorithm)?;
        }
    }
    println!(
        "\n{faults} slower than {} or dearer than {DEAR}",
        table::SLOW
    );
    Ok(ExitCode::from(u8::from(faults > 0)))
}

impl Case {
    fn read(&self, algorithm: Algorithm) -> Result<usize> {
        let plain = Bytes::from(ours::write(&self.batches, self.compression, 1)?);
        let file = Bytes::from(encryption::write(
            &self.batches,
            self.compression,
            algorithm,
        )?);
        let raw = self.raw(&file, algorithm, Part::Reader)?;
        let ours_plain: Work = Box::new(move || ours::read(&plain, None));
        let bytes = file.clone();
        let ours: Work = Box::new(move || encryption::read(&bytes, algorithm));
        let theirs: Work = Box::new(move || encryption::read_theirs(&file));
        self.line("read", algorithm, [ours_plain, ours, raw, theirs])
    }

    fn write(&self, algorithm: Algorithm) -> Result<usize> {
        let (rows, codec) = (rows(&self.batches), self.compression);
        let file = Bytes::from(encryption::write(&self.batches, codec, algorithm)?);
        let raw = self.raw(&file, algorithm, Part::Writer)?;
        let batches = || self.batches.clone();
        let (a, b, c) = (batches(), batches(), batches());
        let plain: Work = Box::new(move || ours::write(&a, codec, 1).map(give_back).map(|_| rows));
        let ours: Work = Box::new(move || {
            encryption::write(&b, codec, algorithm)
                .map(give_back)
                .map(|_| rows)
        });
        let theirs: Work = Box::new(move || {
            encryption::write_theirs(&c, codec)
                .map(give_back)
                .map(|_| rows)
        });
        self.line("write", algorithm, [plain, ours, raw, theirs])
    }

    fn raw(&self, file: &Bytes, algorithm: Algorithm, part: Part) -> Result<Work> {
        let (raw, rows) = (RawCipher::new(file, algorithm)?, rows(&self.batches));
        Ok(Box::new(move || raw.run(part).map(|()| rows)))
    }

    /// Runs the sides, the peer last, prints a line, and returns the number of faults.
    fn line(&self, what: &str, algorithm: Algorithm, sides: [Work; 4]) -> Result<usize> {
        let has_peer = algorithm == Algorithm::AesGcmV1;
        let sides: Vec<&Work> = sides.iter().take(3 + usize::from(has_peer)).collect();
        let times = measure::in_turns(&sides, self.seconds)?;
        let (plain, ours, raw) = (&times[0], &times[1], &times[2]);
        let cost = ours.median_above(plain) / raw.median();
        let error = ours.error_of_median_above(plain) / raw.median();
        let ratio = times.get(3).map(|theirs| ours.median() / theirs.median());
        let (is_dear, is_slow) = (
            cost - error > DEAR,
            ratio.is_some_and(|ratio| ratio > table::SLOW),
        );
        let mark = |bad: bool, word: &str| match bad {
            true => format!(" **{word}**"),
            false => String::new(),
        };
        println!(
            "| {}, {what}, {algorithm} | {} | {} | {} | {cost:.2} ±{error:.2}{} | {} | {}{} |",
            self.name,
            time(plain),
            time(ours),
            time(raw),
            mark(is_dear, "dear"),
            times.get(3).map(time).unwrap_or_default(),
            ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
            mark(is_slow, "slow"),
        );
        Ok(usize::from(is_dear) + usize::from(is_slow))
    }
}

fn time(times: &Times) -> String {
    format!("{:.2} ±{:.0}%", times.median(), times.spread() * 100.0)
}

fn rows(batches: &[RecordBatch]) -> u64 {
    batches.iter().map(|batch| batch.num_rows() as u64).sum()
}
