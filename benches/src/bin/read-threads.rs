//! Measures the gain from two threads:
//! `read-threads [--dir DIR] [--seconds S] [PART_OF_A_NAME ...]`.
//!
//! Compares one read of a file on two threads with two parallel reads on one thread each. The
//! latter is the limit of what two cores can do.

use bytes::Bytes;
use herringbone_benches::arguments::Arguments;
use herringbone_benches::workload::{Work, case_name, side_by_side};
use herringbone_benches::{Result, measure, ours};

fn main() -> Result<()> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    println!("| case | two threads ms | two reads side by side ms | share of their throughput |");
    println!("|---|---:|---:|---:|");
    for file in arguments.files()? {
        let name = case_name(&file);
        if name.starts_with("wide_") || !arguments.wants(&name) {
            continue;
        }
        let bytes = Bytes::from(std::fs::read(&file)?);
        let together = together(bytes.clone());
        let side_by_side = {
            let copy = Bytes::copy_from_slice(&bytes);
            let [one, other] = [bytes, copy].map(|bytes| move || ours::read_on(&bytes, 1));
            side_by_side(one, other)
        };
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

fn together(bytes: Bytes) -> Work {
    Box::new(move || ours::read_on(&bytes, 2))
}
