//! Reads invalid files. Each of them causes an error, quickly and in little memory, and never a panic.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use bytes::Bytes;
use herringbone::schema::{ByteLayout, DictionaryOutput, ListLayout, Projection};
use herringbone::{Error, ErrorKind, Int96Overflow, ParquetFile, ReadOptions, SchemaOptions};
use serde_json::Value;

use crate::expectation::Expectation;
use crate::files;
use crate::remote;
use crate::table::{Table, without_panic};

/// The time within which a small invalid file must be reported. It suffices for an unoptimised build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(10);

fn index() -> Value {
    let text = std::fs::read_to_string(files::testdata().join("hostile/index.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn path(name: &str) -> PathBuf {
    files::testdata().join(format!("hostile/{name}.parquet"))
}

fn read(name: &str, options: ReadOptions) -> Result<Table, Error> {
    Table::read(ParquetFile::open(path(name))?.read(options)?)
}

/// Returns the names of valid small files that expand to gigabytes.
pub(crate) fn growing() -> Vec<String> {
    serde_json::from_value(index()["growing"].clone()).unwrap()
}

/// A file's entry in `index.json`.
#[derive(Debug)]
struct Lie {
    wrong: String,
    kind: String,
    place: String,
}

impl Lie {
    fn all() -> BTreeMap<String, Self> {
        let lies: BTreeMap<String, BTreeMap<String, String>> =
            serde_json::from_value(index()["errors"].clone()).unwrap();
        assert!(lies.len() > 250, "all invalid files are listed");
        let lie = |mut said: BTreeMap<String, String>| {
            let mut part = |name| said.remove(name).unwrap();
            Self {
                wrong: part("wrong"),
                kind: part("kind"),
                place: part("place"),
            }
        };
        lies.into_iter()
            .map(|(name, said)| (name, lie(said)))
            .collect()
    }

    /// Returns the error's fault, if it has one.
    fn objection(&self, error: &Error) -> Option<String> {
        if error.message().is_empty() {
            return Some("an error without words".to_owned());
        }
        if error.kind().to_string() != self.kind {
            return Some(format!("not of the kind `{}`: {error}", self.kind));
        }
        let place = error.location();
        let named = match self.place.as_str() {
            "page" => {
                place.row_group.is_some()
                    && place.column.is_some()
                    && place.page.is_some()
                    && place.offset.is_some()
            }
            "chunk" => place.row_group.is_some() && place.column.is_some(),
            "row group" => place.row_group.is_some(),
            "column" => place.column.is_some(),
            "offset" => place.offset.is_some(),
            "file" => true,
            other => panic!("no place `{other}`"),
        };
        (!named).then(|| format!("no {} is named: {error}", self.place))
    }
}

#[test]
fn lies_are_errors_of_their_kind_and_place() {
    let mut wrong = Vec::new();
    for (name, lie) in &Lie::all() {
        for threads in [1, 2] {
            let start = Instant::now();
            match without_panic(|| read(name, ReadOptions::default().threads(threads))) {
                Err(panic) => wrong.push(format!("{name}: panic: {panic}")),
                Ok(Ok(table)) => {
                    wrong.push(format!("{name}: {} rows, though {}", table.rows, lie.wrong));
                }
                Ok(Err(error)) => {
                    let objection = lie.objection(&error);
                    wrong.extend(objection.map(|objection| format!("{name}: {objection}")));
                }
            }
            if start.elapsed() > PATIENCE {
                eprintln!("{name}: took {:?}", start.elapsed());
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

/// An async read returns the same batches and the same error as a blocking read.
#[test]
fn lies_are_the_same_errors_in_async_reads() {
    let mut wrong = Vec::new();
    let growing = growing();
    let files = files::parquet_files(&files::testdata().join("hostile"));
    for path in files.iter().step_by(remote::EVERY_NTH_CASE) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if growing.contains(&name) {
            continue;
        }
        let bytes = Bytes::from(std::fs::read(path).unwrap());
        for options in [
            ReadOptions::new(),
            ReadOptions::new().batch_size(3),
            ReadOptions::new().offset(3).limit(2),
        ] {
            let panic = without_panic(|| remote::compare_bytes(&bytes, &options)).err();
            wrong.extend(panic.map(|panic| format!("{name}: {panic}")));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} faults:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// If a skip lands on rows that do not exist, we return an error, and not the bytes after the page.
#[test]
fn rows_beyond_the_values_of_a_page_are_errors() {
    let options = || ReadOptions::default().threads(1);
    for last in [5..6, 6..7, 7..8] {
        let ranges = [vec![last.clone()], vec![0..1, last]];
        for ranges in ranges {
            let error = read(
                "plain_string_fewer_than_declared",
                options().row_ranges(ranges),
            )
            .expect_err("five values are there, eight are declared");
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            assert_eq!(error.location().page, Some(0), "{error}");
        }
    }
    let table = read(
        "plain_string_fewer_than_declared",
        options().row_ranges(vec![3..5]),
    );
    assert_eq!(table.unwrap().columns[0], ["\"five\"", "\"five\""]);
}

/// Skips and other layouts read the same invalid files on other paths. They may miss faults in skipped data, but they
/// never panic.
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
    let growing = growing();
    for path in files::parquet_files(&files::testdata().join("hostile")) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if growing.contains(&name) {
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

/// The batches before an error, and the error itself, are the same for any number of threads.
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

/// If the leaves of a list disagree about its structure, we refuse them at any batch size, and the error names both.
#[test]
fn leaves_that_disagree_are_refused_at_any_batch_size() {
    let lies = Lie::all();
    let names = lies.keys();
    let names: Vec<_> = names.filter(|name| name.starts_with("siblings_")).collect();
    assert!(names.len() >= 7, "{names:?}");
    for name in names {
        for batch_size in [1, 2, 3, 7, 41, 8192] {
            for threads in [1, 2] {
                // Pieces of text end earlier than pieces of numbers do.
                for batch_bytes in [1000, 1 << 20] {
                    let options = ReadOptions::default()
                        .threads(threads)
                        .batch_size(batch_size)
                        .batch_bytes(batch_bytes);
                    let Err(error) = read(name, options) else {
                        panic!("{name} is read in batches of {batch_size}, {batch_bytes} bytes");
                    };
                    let text = error.to_string();
                    for part in ["disagree about its lists", "e.a`", "column l."] {
                        assert!(text.contains(part), "{name}: {text}");
                    }
                }
            }
        }
    }
}

/// If we read a leaf alone, no other leaf contradicts it.
#[test]
fn leaves_that_disagree_are_read_one_by_one() {
    let rows = |leaf| {
        let options = ReadOptions::default().projection(Projection::Leaves(vec![leaf]));
        let table = read("siblings_disagree_on_lists", options).unwrap();
        table.columns[0].clone()
    };
    assert_eq!(rows(0), [r#"[{"a":0},{"a":1}]"#, r#"[{"a":2}]"#]);
    assert_eq!(rows(1), [r#"[{"b":0}]"#, r#"[{"b":1},{"b":2}]"#]);
}

/// These files may be refused or read, but must not be read wrongly.
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

/// A wrong offset index is an error if it is requested, but it does not change the values that we read.
#[test]
fn lying_indexes_do_no_harm() {
    let mut wrong = Vec::new();
    for name in index()["indexes"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        let asked = without_panic(|| {
            ParquetFile::open(path(name))
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

/// The files have 201 bytes that expand to 5 GB. We read the first rows with no more memory than they need.
#[test]
fn growing_strings_come_in_bounded_batches() {
    for name in growing() {
        let options = ReadOptions::default()
            .threads(1)
            .batch_size(100)
            .limit(1000);
        let table = read(&name, options).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(table.rows, 1000);
        // Each value repeats the previous value and adds a byte.
        let first = table.columns[0][0].len();
        assert!(
            table.columns[0][999].len() > first + 1000,
            "base64 of 999 more bytes"
        );
    }
}
