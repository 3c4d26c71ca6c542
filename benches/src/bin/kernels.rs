//! Times kernels alone, with each instruction set: `kernels [--seconds S] [PART_OF_A_NAME ...]`.
//!
//! `kernels --times N NAME` runs one kernel N times without output, so that `instructions.py` can count its
//! instructions. `kernels --set` prints the instruction set in use.

use herringbone_benches::arguments::Arguments;
use herringbone_benches::kernels::{self, Kernel};
use herringbone_benches::{Result, measure};
use herringbone_kernels::cpu::{Isa, isa};
use std::process::Command;

/// The environment variable that forces an instruction set for a process.
const FORCED: &str = "HERRINGBONE_SIMD";

/// The environment variable that marks a process as one column of the table.
const COLUMN: &str = "HERRINGBONE_BENCH_COLUMN";

fn main() -> Result<()> {
    let mut given: Vec<String> = std::env::args().skip(1).collect();
    if given.first().is_some_and(|first| first == "--list") {
        for kernel in kernels::all() {
            println!("{}", kernel.name);
        }
        return Ok(());
    }
    if given.first().is_some_and(|first| first == "--set") {
        println!("{:?}", isa());
        return Ok(());
    }
    if given.first().is_some_and(|first| first == "--times") {
        let times = given.get(1).ok_or("--times needs a number")?.parse()?;
        let name = given.get(2).ok_or("--times needs the name of a kernel")?;
        return repeat(name, times);
    }
    let arguments = Arguments::parse(given.iter().cloned())?;
    let wanted = kernels::all()
        .into_iter()
        .filter(|kernel| arguments.wants(&kernel.name));
    if std::env::var_os(COLUMN).is_some() {
        for kernel in wanted {
            let (ratio, spread) = in_copies(kernel, arguments.seconds)?;
            println!("{ratio:.2} ±{:.0}%", spread * 100.0);
        }
        return Ok(());
    }
    if !given.iter().any(|argument| argument == "--seconds") {
        given.splice(0..0, ["--seconds".into(), "0.1".into()]);
    }
    let names: Vec<String> = wanted.map(|kernel| kernel.name).collect();
    let mut columns = Vec::new();
    for (name, set) in [
        ("scalar", Isa::Scalar),
        ("neon", Isa::Neon),
        ("avx2", Isa::Avx2),
        ("avx512", Isa::Avx512),
    ] {
        // Instruction sets other than the best one are each forced in a separate process.
        if set <= isa() && (set != Isa::Neon || isa() == Isa::Neon) {
            columns.push((name, column(name, &given)?));
        }
    }
    println!("Time in units of a copy of the bytes that are written, all in the caches.\n");
    let titles: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    println!("| kernel | {} |", titles.join(" | "));
    println!("|---{}|", "|---:".repeat(columns.len()));
    for (row, name) in names.iter().enumerate() {
        let cells: Vec<&str> = columns
            .iter()
            .map(|(_, lines)| lines.get(row).map_or("", String::as_str))
            .collect();
        println!("| {name} | {} |", cells.join(" | "));
    }
    Ok(())
}

/// Returns the output of a process that uses this instruction set.
fn column(set: &str, given: &[String]) -> Result<Vec<String>> {
    let output = Command::new(std::env::current_exe()?)
        .env(FORCED, set)
        .env(COLUMN, set)
        .args(given)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// Returns a kernel's time as a multiple of the time to copy its output, and the spread.
fn in_copies(kernel: Kernel, seconds: f64) -> Result<(f64, f64)> {
    /// The number of runs per turn, which is more than one because a kernel only takes
    /// microseconds.
    const TURN: usize = 20;
    let work = |kernel: Kernel| -> Box<dyn Fn() -> Result<u64>> {
        let run = std::cell::RefCell::new(kernel.run);
        Box::new(move || {
            for _ in 0..TURN {
                (run.borrow_mut())().map_err(|error| error.0)?;
            }
            Ok(0)
        })
    };
    let copy = work(kernels::copy(kernel.bytes));
    let ours = work(kernel);
    let times = measure::in_turns(&[&ours, &copy], seconds)?;
    Ok((times[0].median() / times[1].median(), times[0].spread()))
}

fn repeat(name: &str, times: usize) -> Result<()> {
    let mut kernel = kernels::all()
        .into_iter()
        .find(|kernel| kernel.name == name)
        .ok_or_else(|| format!("{name}: no such kernel"))?;
    for _ in 0..times {
        (kernel.run)().map_err(|error| error.0)?;
    }
    Ok(())
}
