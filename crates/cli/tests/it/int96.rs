//! Tests INT96 timestamps that are out of the range of 64-bit nanoseconds, such as dates that Spark
//! writes.

use std::sync::Arc;

use herringbone::schema::HintPolicy;
use herringbone::{ParquetFile, WriteOptions, Writer};
use herringbone_arrow::array::{ArrayRef, Int32Array, RecordBatch, TimestampMicrosecondArray};
use herringbone_arrow::array::{TimestampNanosecondArray, TimestampSecondArray};

use crate::common::{Folder, herringbone};

/// The seconds of 0001-01-01 and of 9999-12-31T23:59:59.
const FIRST: i64 = -62_135_596_800;
const LAST: i64 = 253_402_300_799;

/// Writes a file with a number and a timestamp, without any hint about units.
fn written(folder: &Folder, name: &str, timestamps: ArrayRef) -> String {
    let numbers = Int32Array::from_iter_values(0..timestamps.len() as i32);
    let columns = [("n", Arc::new(numbers) as ArrayRef), ("t", timestamps)];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut options = WriteOptions::default();
    options.schema.int96_timestamps = true;
    options.schema.arrow_schema_hint = HintPolicy::None;
    let path = folder.file(name);
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = Writer::new(file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    path
}

fn micros(folder: &Folder) -> String {
    let values = vec![0, FIRST * 1_000_000 + 1, LAST * 1_000_000];
    written(
        folder,
        "micros.parquet",
        Arc::new(TimestampMicrosecondArray::from(values)),
    )
}

fn nanos(folder: &Folder) -> String {
    let values = vec![1_000, 1_001];
    written(
        folder,
        "nanos.parquet",
        Arc::new(TimestampNanosecondArray::from(values)),
    )
}

fn seconds(folder: &Folder) -> String {
    let values = vec![0, FIRST, LAST];
    written(
        folder,
        "seconds.parquet",
        Arc::new(TimestampSecondArray::from(values)),
    )
}

/// Returns the Arrow type of a file's timestamps.
fn unit(path: &str) -> String {
    let file = ParquetFile::open(path).unwrap();
    let schema = file.arrow_schema(&Default::default()).unwrap();
    schema.field(1).data_type().to_string()
}

#[test]
fn the_finest_unit_that_holds_all() {
    let folder = Folder::new();
    let (micros, seconds, nanos) = (micros(&folder), seconds(&folder), nanos(&folder));
    let rows = concat!(
        "{\"t\":\"1970-01-01T00:00:00.000000\"}\n",
        "{\"t\":\"0001-01-01T00:00:00.000001\"}\n",
        "{\"t\":\"9999-12-31T23:59:59.000000\"}\n",
    );
    herringbone(&["cat", "--columns", "t", &micros]).ok(rows);
    // All inputs are read with the same unit.
    let both = herringbone(&["cat", "--columns", "t", &seconds, &micros]);
    assert_eq!((both.code, both.stderr.as_str()), (0, ""));
    assert_eq!(both.stdout.lines().count(), 6);
    assert!(both.stdout.ends_with(rows), "{}", both.stdout);
    herringbone(&["cat", "--columns", "t", &nanos]).ok(
        "{\"t\":\"1970-01-01T00:00:00.000001000\"}\n{\"t\":\"1970-01-01T00:00:00.000001001\"}\n",
    );
    // If no unit has both the range and the digits, neither is sacrificed.
    for files in [[&micros, &nanos], [&nanos, &micros]] {
        let run = herringbone(&["cat", files[0], files[1]]);
        run.fails(3, "--int96-unit");
        assert_eq!(run.stdout, "");
    }
    // Only values that are printed count.
    herringbone(&["head", "-n", "1", &micros])
        .ok("{\"n\":0,\"t\":\"1970-01-01T00:00:00.000000000\"}\n");
    herringbone(&["cat", "--columns", "n", "--limit", "1", &micros, &nanos]).ok("{\"n\":0}\n");
    assert_eq!(herringbone(&["head", "-n", "4", &nanos, &micros]).code, 3);
    assert_eq!(herringbone(&["head", "-n", "3", &nanos, &micros]).code, 0);
}

#[test]
fn what_the_user_says_counts() {
    let folder = Folder::new();
    let micros = micros(&folder);
    herringbone(&["cat", "--int96-unit", "ns", &micros]).fails(3, "cannot hold");
    let run = herringbone(&["cat", "--columns", "t", "--int96-unit", "s", &micros]);
    assert!(
        run.stdout.contains("0001-01-01T00:00:00\""),
        "{}",
        run.stdout
    );
    let run = herringbone(&["cat", "--columns", "t", "--int96-overflow", "null", &micros]);
    assert_eq!(run.stdout.matches("null").count(), 2, "{}", run.stdout);
}

#[test]
fn files_that_are_written_anew() {
    let folder = Folder::new();
    let micros = micros(&folder);
    let rows = herringbone(&["cat", &micros]).stdout;
    for command in ["convert", "rewrite", "repair", "concat"] {
        let out = folder.file(&format!("{command}.parquet"));
        let arguments = match command {
            "concat" => vec!["concat", &micros, "-o", &out],
            _ => vec!["--quiet", command, &micros, &out],
        };
        let run = herringbone(&arguments);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{command}");
        assert_eq!(unit(&out), "Timestamp(µs)", "{command}");
        assert_eq!(herringbone(&["cat", &out]).stdout, rows, "{command}");
    }
    let out = folder.file("out.csv");
    herringbone(&["convert", &micros, &out]).ok("");
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.contains("9999-12-31T23:59:59.000000"), "{text}");
}

/// The schema has the unit of the rows, which are out of the range of nanoseconds.
#[test]
fn rows_come_back_by_the_schema_of_their_file() {
    let folder = Folder::new();
    let first = micros(&folder);
    let lines = herringbone(&["cat", &first]).stdout;
    assert!(lines.contains("0001-01-01T00:00:00.000001"), "{lines}");
    let (json, second) = (
        folder.with("rows.jsonl", &lines),
        folder.file("second.parquet"),
    );
    herringbone(&["convert", "--schema", &first, &json, &second]).ok("");
    herringbone(&["cat", &second]).ok(&lines);
    let coarse = [
        "convert",
        "-f",
        "--int96-unit",
        "ms",
        "--schema",
        &first,
        &json,
        &second,
    ];
    herringbone(&coarse).fails(3, "column `t`");
}
