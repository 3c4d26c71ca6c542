//! Measures the memory of streaming reads: `peak-memory [--dir DIR] [PART_OF_A_NAME ...]`.
//!
//! We read files from disk, so that the result is a reader's own memory, which is pages and batches
//! in flight, and not the file. Memory that C libraries allocate is not counted.

use herringbone_benches::arguments::Arguments;
use herringbone_benches::workload::case_name;
use herringbone_benches::{Result, arrow_rs, ours};
use peak_alloc::PeakAlloc;
use std::path::Path;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let mut failures = 0;
    println!("| case | file MB | herringbone peak MB | arrow-rs peak MB | ratio |");
    println!("|---|---:|---:|---:|---:|");
    for file in arguments.files()? {
        let name = case_name(&file);
        if !arguments.wants(&name) {
            continue;
        }
        let size = std::fs::metadata(&file)?.len() as f64 / 1e6;
        match (
            peak(&file, ours::read_path),
            peak(&file, arrow_rs::read_path),
        ) {
            (Ok(ours), Ok(theirs)) => println!(
                "| {name} | {size:.1} | {ours:.2} | {theirs:.2} | {:.2} |",
                ours / theirs
            ),
            (Err(error), _) | (_, Err(error)) => {
                failures += 1;
                println!("| {name} | {error} |");
            }
        }
    }
    Ok(ExitCode::from(u8::from(failures > 0)))
}

/// Returns the most megabytes that were allocated during `read`, beyond those allocated before.
fn peak(path: &Path, read: fn(&Path) -> Result<u64>) -> Result<f64> {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    read(path)?;
    Ok(ALLOCATOR.peak_usage().saturating_sub(before) as f64 / 1e6)
}
