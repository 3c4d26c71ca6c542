//! Compares the files of apache/parquet-testing with the results of other readers.

use std::path::Path;

use bytes::Bytes;
use herringbone::{
    Error, ErrorKind, Int96Overflow, Limits, ParquetFile, ReadOptions, SchemaOptions,
};
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::Int32Type;
use herringbone_arrow::schema::TimeUnit;

use crate::expectation::Expectation;
use crate::files;
use crate::remote;
use crate::table::{Table, without_panic};

/// The files that have tests of their own, with reasons.
const SPECIAL: [(&str, &str); 6] = [
    (
        "data/datapage_v1-corrupt-checksum.parquet",
        "an error with checksums on",
    ),
    (
        "data/rle-dict-uncompressed-corrupt-checksum.parquet",
        "an error with checksums on",
    ),
    ("data/int96_from_spark.parquet", "an error in nanoseconds"),
    (
        "data/large_string_map.brotli.parquet",
        "2 GiB of strings, beyond the default limits",
    ),
    ("data/alp_arade.parquet", "no Python reader knows ALP"),
    ("data/alp_float_arade.parquet", "no Python reader knows ALP"),
];

fn read(path: &Path, options: ReadOptions) -> Result<Table, Error> {
    let file = ParquetFile::open(path)?;
    remote::compare_on_threads(&file, &options);
    Table::read(file.read(options)?)
}

fn expected(name: &str) -> Expectation {
    Expectation::open(&files::expected().join(format!("{name}.json")))
}

fn matches(folder: &Path, name: &str, options: ReadOptions) {
    let table = read(&folder.join(name), options).unwrap_or_else(|error| panic!("{name}: {error}"));
    let wrong = expected(name).check(&table);
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
}

#[test]
fn every_file_equals_what_others_read() {
    let Some(root) = files::official() else {
        return;
    };
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for folder in ["data", "data/geospatial", "shredded_variant"] {
        for path in files::parquet_files(&root.join(folder)) {
            let name = format!("{folder}/{}", path.file_name().unwrap().to_string_lossy());
            if SPECIAL.iter().any(|(special, _)| *special == name) {
                continue;
            }
            checked += 1;
            match without_panic(|| read(&path, ReadOptions::default())) {
                Err(panic) => wrong.push(format!("{name}: panic: {panic}")),
                Ok(Err(error)) => wrong.push(format!("{name}: {error}")),
                Ok(Ok(table)) => wrong.extend(
                    expected(&name)
                        .check(&table)
                        .iter()
                        .map(|w| format!("{name}: {w}")),
                ),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{checked} files, {} faults:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert_eq!(
        checked, 208,
        "files of apache/parquet-testing that have an expectation"
    );
}

#[test]
fn wrong_checksums_are_errors_unless_switched_off() {
    let Some(root) = files::official() else {
        return;
    };
    for (name, _) in &SPECIAL[..2] {
        let error = read(&root.join(name), ReadOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{name}: {error}");
        assert!(
            error.location().column.is_some(),
            "{name}: {error} does not say which column"
        );
        matches(&root, name, ReadOptions::default().verify_crc(false));
    }
}

/// Spark's arithmetic wrapped around when it wrote the last value. The sum of its days and nanoseconds fits no unit,
/// but a reader that wraps around as well recovers the intended value.
#[test]
fn spark_timestamps_need_microseconds_that_wrap() {
    let Some(root) = files::official() else {
        return;
    };
    let name = "data/int96_from_spark.parquet";
    let options = |unit: TimeUnit, overflow: Int96Overflow| {
        let mut schema = SchemaOptions::default();
        schema.int96_unit = unit;
        schema.int96_overflow = overflow;
        ReadOptions::default().schema(schema)
    };
    for unit in [TimeUnit::Nanosecond, TimeUnit::Microsecond] {
        let error = read(&root.join(name), options(unit, Int96Overflow::Error)).unwrap_err();
        assert_eq!(error.location().column.as_deref(), Some("a"), "{error}");
    }
    matches(
        &root,
        name,
        options(TimeUnit::Microsecond, Int96Overflow::Wrap),
    );
    let nulls = |unit| {
        let table = read(&root.join(name), options(unit, Int96Overflow::Null)).unwrap();
        table.columns[0]
            .iter()
            .map(|v| v == "null")
            .collect::<Vec<_>>()
    };
    assert_eq!(
        nulls(TimeUnit::Nanosecond),
        [false, false, true, false, true, true]
    );
    assert_eq!(
        nulls(TimeUnit::Microsecond),
        [false, false, false, false, true, true]
    );
}

#[test]
fn alp_equals_what_arrow_rs_reads() {
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let Some(root) = files::official() else {
        return;
    };
    for (name, _) in &SPECIAL[4..] {
        let path = root.join(name);
        let bytes = Bytes::from(std::fs::read(&path).unwrap());
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
        let mut theirs = Table::empty(builder.schema());
        for batch in builder.build().unwrap() {
            theirs.push(&batch.unwrap());
        }
        let ours = read(&path, ReadOptions::default()).unwrap();
        assert!(theirs.rows > 1000, "{name} has rows to compare");
        assert_eq!(ours.difference(&theirs, true), None, "{name}");
    }
}

/// Each of the two rows contains a key of a gibibyte. Together, the keys do not fit in one batch with 32-bit offsets,
/// and we must raise the limits to read them.
#[test]
fn more_than_two_gibibytes_of_strings() {
    // This takes fifteen seconds, so `cargo test` leaves it to the turn of CI that has many random cases.
    if crate::random::cases(1) == 1 {
        return;
    }
    let Some(root) = files::official() else {
        return;
    };
    let path = root.join(SPECIAL[3].0);
    let limited = read(&path, ReadOptions::default()).unwrap_err();
    assert_eq!(limited.kind(), ErrorKind::Limit, "{limited}");
    let mut limits = Limits::default();
    limits.page_bytes = (1 << 31) - 1;
    limits.batch_column_bytes = 1 << 31;
    limits.memory_bytes = 8 << 30;
    limits.decompression_ratio = 1 << 30;
    let text = std::fs::read_to_string(
        files::expected().join("data/large_string_map.brotli.parquet.json"),
    )
    .unwrap();
    let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut entries = expected["entries"].as_array().unwrap().iter();
    let options = ReadOptions::default().threads(1).limits(limits);
    for batch in ParquetFile::open(&path).unwrap().read(options).unwrap() {
        let batch = batch.unwrap();
        let map = batch.column(0).as_map();
        let (keys, values) = (map.keys().as_string::<i32>(), map.values());
        for (row, lengths) in map.offsets().lengths().enumerate() {
            let entry = entries.next().unwrap();
            assert_eq!(lengths, 1, "entries of a row");
            let key = keys.value(row).as_bytes();
            assert_eq!(key.len() as u64, entry["key_bytes"].as_u64().unwrap());
            let crc = format!("{:08x}", crc32fast::hash(key));
            assert_eq!(crc, entry["key_crc32"].as_str().unwrap());
            let value = values.as_primitive::<Int32Type>().value(row);
            assert_eq!(i64::from(value), entry["value"].as_i64().unwrap());
        }
    }
    assert_eq!(entries.next(), None, "rows missing");
}

/// Corrupt files are errors. Two of them may also be read, with the values that other readers return.
#[test]
fn bad_data_never_panics() {
    let Some(root) = files::official() else {
        return;
    };
    let mut wrong = Vec::new();
    for path in files::parquet_files(&root.join("bad_data")) {
        let name = format!("bad_data/{}", path.file_name().unwrap().to_string_lossy());
        let readable = files::expected().join(format!("{name}.json")).exists();
        for threads in [1, 2] {
            match without_panic(|| read(&path, ReadOptions::default().threads(threads))) {
                Err(panic) => wrong.push(format!("{name}: panic: {panic}")),
                Ok(Ok(table)) if readable => wrong.extend(expected(&name).check(&table)),
                Ok(Ok(table)) => wrong.push(format!("{name}: {} rows, no error", table.rows)),
                Ok(Err(_)) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Encrypted files need keys. If there are none, a read returns their plain columns, or an error that mentions
/// encryption.
#[test]
fn encrypted_files_are_clear_errors() {
    let Some(root) = files::official() else {
        return;
    };
    let entries = std::fs::read_dir(root.join("data")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let encrypted: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|e| e == "encrypted"))
        .collect();
    assert!(encrypted.len() >= 8, "{encrypted:?}");
    for path in encrypted {
        let name = files::short(&path);
        let error = without_panic(|| read(&path, ReadOptions::default()))
            .unwrap_or_else(|panic| panic!("{name}: {panic}"))
            .expect_err(&name);
        assert!(error.kind() == ErrorKind::Key, "{name}: {error}");
        assert!(error.to_string().contains("encrypt"), "{name}: {error}");
    }
}
