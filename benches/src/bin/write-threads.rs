//! Measures the gain from two threads:
//! `write-threads [--dir DIR] [--seconds S] [PART_OF_A_NAME ...]`.
//!
//! Compares one file written on two threads with two files written in parallel on one thread each.
//! The latter is the limit of what two cores can do.

use std::sync::Arc;

use herringbone::Compression;
use herringbone::arrow::array::RecordBatch;
use herringbone_benches::arguments::Arguments;
use herringbone_benches::workload::{Work, case_name, side_by_side};
use herringbone_benches::{Result, give_back, measure, ours};

fn main() -> Result<()> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    println!("| case | two threads ms | two files side by side ms | share of their throughput |");
    println!("|---|---:|---:|---:|");
    for file in arguments.files()? {
        let name = case_name(&file);
        if name.starts_with("wide_") || !arguments.wants(&name) {
            continue;
        }
        let batches = Arc::new(ours::batches(&file)?);
        let codec = ours::codec(&name)?;
        let together = together(batches.clone(), codec);
        let one = move || write(&batches, codec, 1);
        let side_by_side = side_by_side(one.clone(), one);
        let times = measure::in_turns(&[&together, &side_by_side], arguments.seconds)?;
        let (together, apart) = (times[0].median(), times[1].median());
        println!(
            "| {name} | {together:.1} ±{:.0}% | {apart:.1} ±{:.0}% | {:.2} |",
            times[0].spread() * 100.0,
            times[1].spread() * 100.0,
            apart / 2.0 / together
        );
    }
    Ok(())
}

fn together(batches: Arc<Vec<RecordBatch>>, codec: Compression) -> Work {
    Box::new(move || write(&batches, codec, 2))
}

fn write(batches: &[RecordBatch], codec: Compression, threads: usize) -> Result<u64> {
    ours::write(batches, codec, threads).map(give_back)
}
