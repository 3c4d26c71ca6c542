//! Reads invalid files in a separate process, measures its memory, and checks that it can be bounded.

use std::path::PathBuf;
use std::process::Command;

use herringbone::{Error, ParquetFile, ReadOptions};

use crate::files;
use crate::table::without_panic;

/// The maximum memory of a process that reads all invalid files, one after the other.
const PEAK_KIB: u64 = 400 << 10;
/// The environment variable that is set in the measured process.
const CHILD: &str = "HERRINGBONE_TESTS_CHILD";

/// Reads every bad file in a child process, and checks the peak memory of that process.
#[test]
fn lies_take_little_memory() {
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    let Some(_) = peak_kib() else {
        eprintln!("skipped: this system does not tell a process its peak memory");
        return;
    };
    let stdout = run_child(Command::new(std::env::current_exe().unwrap()));
    let peak = stdout
        .lines()
        .find_map(|line| line.split_once("peak KiB: "))
        .unwrap()
        .1;
    let peak: u64 = peak.trim().parse().unwrap();
    assert!(
        peak < PEAK_KIB,
        "hostile files took {peak} KiB, more than {PEAK_KIB}"
    );
}

/// A failed allocation aborts the process, so no allocation may have a size that a file has made up.
#[test]
fn lies_are_read_in_512_mib_of_address_space() {
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    let mut limited = Command::new("prlimit");
    limited.arg("--as=536870912");
    if !Command::new("prlimit")
        .args(["--as=536870912", "true"])
        .status()
        .is_ok_and(|status| status.success())
    {
        eprintln!("skipped: there is no `prlimit` to bound the address space with");
        return;
    }
    limited.arg(std::env::current_exe().unwrap());
    let stdout = run_child(limited);
    assert!(stdout.contains("peak KiB: "), "it came to its end");
}

/// Runs `command`, which starts this binary and reads all bad files, and returns its output.
fn run_child(mut command: Command) -> String {
    let output = command
        .args([
            "--exact",
            "memory::child_reads_everything",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "the child failed:\n{stdout}\n{stderr}"
    );
    stdout
}

/// Returns the invalid files of this repository and the official ones.
fn bad_files() -> Vec<PathBuf> {
    let mut files = files::parquet_files(&files::testdata().join("hostile"));
    if let Some(official) = files::official() {
        files.extend(files::parquet_files(&official.join("bad_data")));
    }
    files
}

#[test]
fn child_reads_everything() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    for path in bad_files() {
        for threads in [1, 2] {
            let read = || -> Result<(), Error> {
                let options = ReadOptions::default().threads(threads).limit(10_000);
                for batch in ParquetFile::open(&path)?.read(options)? {
                    if batch.is_err() {
                        break;
                    }
                }
                Ok(())
            };
            // We print this first, so that we know the file if the process aborts.
            println!("{} with {threads} threads", files::short(&path));
            let before = peak_kib().unwrap_or_default();
            // Errors are the subject of other tests, and only memory counts here.
            drop(without_panic(read));
            let after = peak_kib().unwrap_or_default();
            if after > before + (64 << 10) {
                println!("it took {} KiB", after - before);
            }
        }
    }
    println!("peak KiB: {}", peak_kib().unwrap_or_default());
}

/// Returns this process's peak memory, or `None` if the system does not report it.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
