//! Invalid files: each is an error, quickly, in little memory, and never a panic.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use herringbone::schema::{ByteLayout, DictionaryOutput, ListLayout};
use herringbone::{Error, Int96Overflow, ParquetFile, ReadOptions, SchemaOptions};
use serde_json::Value;

use crate::expectation::Expectation;
use crate::files;
use crate::table::{Table, without_panic};

/// The longest that one small invalid file may take, in an unoptimised build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most that the process may hold while it reads all of them, one after the other.
const PEAK_KIB: u64 = 400 << 10;
/// Set in the process whose memory is measured.
const CHILD: &str = "HERRINGBONE_TESTS_CHILD";

fn index() -> Value {
    let text = std::fs::read_to_string(files::testdata().join("hostile/index.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn read(name: &str, options: ReadOptions) -> Result<Table, Error> {
    let path = files::testdata().join(format!("hostile/{name}.parquet"));
    Table::read(ParquetFile::open(path)?.read(options)?)
}

#[test]
fn lies_are_errors() {
    let lies: BTreeMap<String, String> = serde_json::from_value(index()["errors"].clone()).unwrap();
    assert!(lies.len() > 250, "all invalid files are listed");
    let mut wrong = Vec::new();
    for (name, lie) in &lies {
        for threads in [1, 2] {
            let start = Instant::now();
            match without_panic(|| read(name, ReadOptions::default().threads(threads))) {
                Err(panic) => wrong.push(format!("{name}: panic: {panic}")),
                Ok(Ok(table)) => wrong.push(format!("{name}: {} rows, though {lie}", table.rows)),
                Ok(Err(error)) if error.message().is_empty() => {
                    wrong.push(format!("{name}: an error without words"));
                }
                Ok(Err(_)) => {}
            }
            if start.elapsed() > PATIENCE {
                wrong.push(format!("{name}: took {:?}", start.elapsed()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} faults:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Skips and other layouts go other ways through the same lies; what they pass over they need not
/// find, but they do not panic either.
#[test]
fn lies_are_passed_over_without_panic() {
    let mut schema = SchemaOptions::default();
    schema.strings = ByteLayout::Views;
    schema.dictionary = DictionaryOutput::Always;
    let mut ways = vec![
        ReadOptions::default().offset(3).limit(2),
        ReadOptions::default()
            .batch_size(1)
            .row_ranges(vec![1..2, 4..6, 7..1000]),
        ReadOptions::default().offset(7),
        ReadOptions::default().batch_size(3).schema(schema.clone()),
        ReadOptions::default().limit(1),
    ];
    schema.int96_overflow = Int96Overflow::Wrap;
    ways.push(
        ReadOptions::default()
            .verify_crc(false)
            .schema(schema.clone()),
    );
    schema.int96_overflow = Int96Overflow::Null;
    schema.strings = ByteLayout::LargeOffsets;
    schema.dictionary = DictionaryOutput::Never;
    schema.lists = ListLayout::LargeOffsets;
    schema.smallest_decimals = true;
    ways.push(ReadOptions::default().schema(schema));
    let (mut wrong, mut errors) = (Vec::new(), 0);
    for path in files::parquet_files(&files::testdata().join("hostile")) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if index()["growing"]
            .as_array()
            .unwrap()
            .iter()
            .any(|growing| *growing == *name)
        {
            continue;
        }
        for (way, options) in ways.iter().enumerate() {
            match without_panic(|| read(&name, options.clone().threads(1))) {
                Err(panic) => wrong.push(format!("{name}, way {way}: panic: {panic}")),
                Ok(result) => errors += usize::from(result.is_err()),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} faults:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(errors > 1500, "only {errors} reads were errors");
}

/// The batches before an error, and the error, are the same for any number of threads.
#[test]
fn errors_come_at_the_same_place_for_any_number_of_threads() {
    let outcome = |path: &std::path::Path, threads: usize| -> (Vec<usize>, Option<String>) {
        let mut batches = Vec::new();
        let read = || -> Result<(), Error> {
            let options = ReadOptions::default()
                .threads(threads)
                .batch_size(5)
                .limit(10_000);
            let mut reader = ParquetFile::open(path)?.read(options)?;
            while let Some(batch) = reader.next_batch()? {
                batches.push(batch.num_rows());
            }
            Ok(())
        };
        let error = without_panic(read).expect("no panic").err();
        (batches, error.map(|error| error.to_string()))
    };
    let mut wrong = Vec::new();
    for path in files::parquet_files(&files::testdata().join("hostile")) {
        let plain = outcome(&path, 1);
        for threads in [2, 4] {
            let other = outcome(&path, threads);
            if other != plain {
                let name = files::short(&path);
                wrong.push(format!(
                    "{name}: {other:?} with {threads} threads, not {plain:?}"
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} faults:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Files that may be refused or read, but not wrongly.
#[test]
fn doubtful_files_are_errors_or_right() {
    let mut wrong = Vec::new();
    for path in files::parquet_files(&files::testdata().join("hostile")) {
        let json = path.with_extension("json");
        if !json.exists() {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let expectation = Expectation::open(&json);
        assert!(expectation.or_error, "{name} is one of them");
        match without_panic(|| read(&name, ReadOptions::default())) {
            Err(panic) => wrong.push(format!("{name}: panic: {panic}")),
            Ok(Ok(table)) => {
                wrong.extend(
                    expectation
                        .check(&table)
                        .iter()
                        .map(|w| format!("{name}: {w}")),
                );
            }
            Ok(Err(_)) => {}
        }
    }
    assert!(
        wrong.is_empty(),
        "{} faults:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// An offset index that lies is an error when asked for, and does not change what is read.
#[test]
fn lying_indexes_do_no_harm() {
    let mut wrong = Vec::new();
    for name in index()["indexes"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        let path = files::testdata().join(format!("hostile/{name}.parquet"));
        let asked = without_panic(|| {
            ParquetFile::open(&path)
                .and_then(|file| file.offset_index(0, 0))
                .map(|index| index.is_some())
        });
        match asked {
            Err(panic) => wrong.push(format!("{name}: panic: {panic}")),
            Ok(Ok(false)) => wrong.push(format!("{name}: no index at all")),
            Ok(_) => {}
        }
        for options in [
            ReadOptions::default(),
            ReadOptions::default().offset(3).limit(2),
        ] {
            let first = options.clone();
            match without_panic(|| read(name, first)) {
                Err(panic) => wrong.push(format!("{name}: panic: {panic}")),
                Ok(Ok(table))
                    if !["01234567", "34"].contains(&table.columns[0].concat().as_str()) =>
                {
                    wrong.push(format!("{name}: read as {:?}", table.columns[0]));
                }
                Ok(_) => {}
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} faults:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// 201 bytes that hold 5 GB: the first rows come, and no more memory is taken than they need.
#[test]
fn growing_strings_come_in_bounded_batches() {
    for name in index()["growing"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        let options = ReadOptions::default()
            .threads(1)
            .batch_size(100)
            .limit(1000);
        let table = read(name, options).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(table.rows, 1000);
        // Each value repeats the one before and adds a byte.
        let first = table.columns[0][0].len();
        assert!(
            table.columns[0][999].len() > first + 1000,
            "base64 of 999 more bytes"
        );
    }
}

/// Reads every hostile file in a process of its own and looks at the most memory that it held.
#[test]
fn lies_take_little_memory() {
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    let Some(_) = peak_kib() else {
        eprintln!("skipped: this system does not tell a process its peak memory");
        return;
    };
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "hostile::child_reads_everything",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "the child failed:\n{stdout}\n{stderr}"
    );
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

#[test]
fn child_reads_everything() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    for path in files::parquet_files(&files::testdata().join("hostile")) {
        let read = || -> Result<(), Error> {
            let options = ReadOptions::default().threads(1).limit(10_000);
            for batch in ParquetFile::open(&path)?.read(options)? {
                if batch.is_err() {
                    break;
                }
            }
            Ok(())
        };
        let before = peak_kib().unwrap();
        // Errors are the subject of other tests; here only memory counts.
        drop(without_panic(read));
        let after = peak_kib().unwrap();
        if after > before + (64 << 10) {
            println!("{} took {} KiB", files::short(&path), after - before);
        }
    }
    println!("peak KiB: {}", peak_kib().unwrap());
}

/// The most memory that this process has held, where the system says so.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
