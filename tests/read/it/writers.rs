//! Tests files of writers that bend the rules. All readers in this library accept them alike. Their contents are
//! checked together with all other generated files. Files by many versions of writers are in `testdata/writers/`.

use bytes::Bytes;
use herringbone::{ErrorKind, ParquetFile, ReadOptions};
use herringbone_inspect::repair::{Repair, RepairOptions};
use herringbone_inspect::verify::Severity;

use crate::expectation::Expectation;
use crate::files;
use crate::push::{SUPPLIES, pushed};
use crate::table::{Table, without_panic};

/// The files, and the findings of `verify` for each.
const FILES: [(&str, &[&str]); 7] = [
    ("root_with_repetition_minus_one", &[]),
    ("root_with_a_type", &[]),
    ("checksum_of_zero", &[]),
    (
        "footer_of_no_rows",
        &["error rows: the footer declares 0 rows, but the row groups have 6"],
    ),
    ("v2_snappy_whatever_the_header_says", &[]),
    ("v2_zstd_whatever_the_header_says", &[]),
    ("lzo_without_framing", &[]),
];

fn bytes(name: &str) -> Bytes {
    let path = files::testdata().join(format!("built/{name}.parquet"));
    std::fs::read(path).unwrap().into()
}

fn read(bytes: &Bytes, options: ReadOptions) -> Table {
    let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
    Table::read(file.read(options).unwrap()).unwrap()
}

fn repaired(bytes: &Bytes, ignore_footer: bool) -> Table {
    let mut options = RepairOptions::default();
    options.ignore_footer = ignore_footer;
    let mut repair = Repair::open(bytes.clone(), &options).unwrap();
    repair.check(&ReadOptions::default(), |_| {}).unwrap();
    assert!(repair.lost().is_empty(), "{:?}", repair.lost());
    Table::read(repair.read(ReadOptions::default()).unwrap()).unwrap()
}

#[test]
fn every_door_takes_them() {
    for (name, wanted) in FILES {
        let bytes = bytes(name);
        let table = read(&bytes, ReadOptions::default().threads(1));
        assert!(table.rows > 0, "{name}");
        let mut pushed_table = Table::empty(
            &ParquetFile::from_bytes(bytes.clone())
                .unwrap()
                .arrow_schema(&ReadOptions::default().schema)
                .unwrap(),
        );
        for batch in pushed(&bytes, &ReadOptions::default(), SUPPLIES[0]).unwrap() {
            pushed_table.push(&batch);
        }
        assert_eq!(pushed_table.columns, table.columns, "{name}, pushed");
        let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
        // Sizes and encodings come from the script, which does not count them.
        let found = herringbone_inspect::verify(&file).map(Result::unwrap);
        let found = found.filter(|found| found.severity == Severity::Error);
        let found: Vec<_> = found.map(|found| found.to_string()).collect();
        assert_eq!(found, wanted, "{name}");
        assert_eq!(repaired(&bytes, false).columns, table.columns, "{name}");
        let rows = file.metadata().num_rows_of_row_groups();
        assert_eq!(rows, table.rows as u64, "{name}");
    }
}

/// If the footer is missing, its remains identify the pages' writer.
#[test]
fn their_pages_are_put_together() {
    for (name, _) in FILES {
        let bytes = bytes(name);
        let table = read(&bytes, ReadOptions::default());
        assert_eq!(repaired(&bytes, true).columns, table.columns, "{name}");
    }
}

/// We trust the page headers of other writers.
#[test]
fn other_writers_are_not_indulged() {
    let (old, other) = (
        &b"parquet-cpp version 1.5.1-SNAPSHOT"[..],
        &b"parquet-cpp-arrow version 5.0.0   "[..],
    );
    assert_eq!(old.len(), other.len());
    let mut bytes = bytes("v2_snappy_whatever_the_header_says").to_vec();
    let place = bytes
        .windows(old.len())
        .position(|window| window == old)
        .unwrap();
    bytes[place..place + old.len()].copy_from_slice(other);
    let file = ParquetFile::from_bytes(bytes).unwrap();
    let error = Table::read(file.read(ReadOptions::default()).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
}

/// Schema elements other than the root must follow the rules.
#[test]
fn only_the_root_may_bend_them() {
    for (name, message) in [
        ("schema_repetition_unknown", "Repetition with the id"),
        (
            "schema_leaf_of_repetition_minus_one",
            "Repetition with the id -1",
        ),
    ] {
        let path = files::testdata().join(format!("hostile/{name}.parquet"));
        let error = ParquetFile::open(path).err().unwrap();
        assert!(error.message().contains(message), "{error}");
    }
}

/// The bytes after a page's last value differ between versions, but they are not damage.
#[test]
fn each_version_of_each_writer_is_read() {
    let files = files::parquet_files(&files::testdata().join("writers"));
    let mut wrong = Vec::new();
    for path in &files {
        let name = files::short(path);
        let expectation = Expectation::open(&path.with_extension("json"));
        let read = || Table::read(ParquetFile::open(path)?.read(ReadOptions::default())?);
        match without_panic(read) {
            Err(panic) => wrong.push(format!("{name}: panic: {panic}")),
            Ok(Err(error)) => wrong.push(format!("{name}: {error}")),
            Ok(Ok(table)) => {
                let found = expectation.check(&table);
                wrong.extend(found.iter().map(|fault| format!("{name}: {fault}")));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} files, {} faults:\n{}",
        files.len(),
        wrong.len(),
        wrong.join("\n")
    );
}

/// A repair of a sound file loses nothing.
#[test]
fn repair_keeps_all_rows_of_each_version() {
    for path in files::parquet_files(&files::testdata().join("writers")) {
        let bytes: Bytes = std::fs::read(&path).unwrap().into();
        let table = repaired(&bytes, false);
        let wrong = Expectation::open(&path.with_extension("json")).check(&table);
        assert!(wrong.is_empty(), "{}: {wrong:?}", files::short(&path));
    }
}
