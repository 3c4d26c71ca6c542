//! Times reading: `read [--dir DIR] [--seconds S] [PART_OF_A_NAME ...]`.

use herringbone_benches::arguments::Arguments;
use herringbone_benches::workload::{self, Workload};
use herringbone_benches::{Result, measure, table};
use std::process::ExitCode;

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let (mut ratios, mut failures) = (Vec::new(), 0);
    println!("{}", table::HEADING);
    for file in arguments.files()? {
        if !arguments.wants(&workload::case_name(&file)) {
            continue;
        }
        for case in workload::of_file(&file)? {
            match time(&case, arguments.seconds) {
                Ok(ratio) => ratios.push(ratio),
                Err(error) => {
                    failures += 1;
                    println!("| {} | {error} |", case.name);
                }
            }
        }
    }
    let slow = ratios.iter().filter(|&&ratio| ratio > table::SLOW).count();
    let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
    println!();
    println!(
        "{} cases, geometric mean of the ratios {:.2}; {slow} slower than {}, {failures} failed",
        ratios.len(),
        mean.exp(),
        table::SLOW
    );
    Ok(ExitCode::from(u8::from(slow + failures > 0)))
}

/// Times one case, prints its line, and returns our time as a multiple of the peer's.
fn time(case: &Workload, seconds: f64) -> Result<f64> {
    let mut sides = vec![&case.ours, &case.theirs];
    sides.extend(&case.floors);
    let times = measure::in_turns(&sides, seconds)?;
    let (line, ratio) = table::line(&case.name, &times[0], &times[1], &times[2..]);
    println!("{line}");
    Ok(ratio)
}
