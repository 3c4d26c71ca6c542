//! Tests INT96 columns without nulls that the `parquet` crate writes, and in which some timestamps become null.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::schema::SchemaOptions;
use herringbone::{
    ErrorKind, Int96Overflow, Int96Units, Limits, MetadataHandle, ParquetFile, ReadOptions, Step,
};
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::schema::TimeUnit;
use herringbone_inspect::repair::{Repair, RepairOptions};
use parquet::data_type::{Int96, Int96Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::push::{SUPPLIES, pushed, pushed_by};
use crate::table::Table;

const JULIAN_DAY_OF_1970: u32 = 2_440_588;

/// Returns midnight, `days` days after 1970-01-01.
fn day(days: u32) -> Int96 {
    Int96::from(vec![0, 0, JULIAN_DAY_OF_1970 + days])
}

/// A day outside the range of 64-bit nanoseconds.
const FAR: u32 = 300 * 366;

/// Writes a file of two rows in which each column has the same values and levels.
fn file(schema: &str, values: &[u32], rep_levels: Option<&[i16]>) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::default());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    let values: Vec<Int96> = values.iter().map(|&days| day(days)).collect();
    let def_levels = rep_levels.map(|levels| vec![1; levels.len()]);
    let mut row_group = writer.next_row_group().unwrap();
    while let Some(mut column) = row_group.next_column().unwrap() {
        column
            .typed::<Int96Type>()
            .write_batch(&values, def_levels.as_deref(), rep_levels)
            .unwrap();
        column.close().unwrap();
    }
    row_group.close().unwrap();
    writer.into_inner().unwrap()
}

fn read(bytes: Vec<u8>) -> Result<Table, herringbone::Error> {
    let mut schema = SchemaOptions::default();
    schema.int96_overflow = Int96Overflow::Null;
    let file = ParquetFile::from_bytes(bytes)?;
    Table::read(file.read(ReadOptions::default().schema(schema))?)
}

#[test]
fn required_timestamps_become_null() {
    let schema = "message m { required int96 a; required group s { required int96 b; } }";
    let table = read(file(schema, &[1, FAR], None)).unwrap();
    assert_eq!(table.columns[0].len(), 2);
    assert_eq!(table.columns[0][1], "null");
    assert_ne!(table.columns[0][0], "null");
    assert!(table.columns[1][1].contains("null"), "{:?}", table.columns);
    assert!(!table.columns[1][0].contains("null"), "{:?}", table.columns);
}

#[test]
fn timestamps_in_lists_become_null() {
    let schema = "message m { repeated int96 a; }";
    let table = read(file(schema, &[1, FAR, 2, FAR], Some(&[0, 1, 0, 1]))).unwrap();
    assert_eq!(table.columns[0].len(), 2);
    for list in &table.columns[0] {
        assert_eq!(list.matches("null").count(), 1, "{list}");
    }
}

#[test]
fn keys_of_maps_do_not_become_null() {
    let schema = "message m { required group a (MAP) { repeated group key_value {
                  required int96 key; required int96 value; } } }";
    let error = read(file(schema, &[1, FAR], Some(&[0, 0]))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.message().contains("key"), "{error}");
}

fn coarser() -> ReadOptions {
    let mut schema = SchemaOptions::default();
    schema.int96_overflow = Int96Overflow::CoarserUnit;
    ReadOptions::default().schema(schema)
}

#[test]
fn the_finest_unit_that_holds_all_is_found() {
    let schema = "message m { required int96 a; required group s { required int96 b; } }";
    let bytes = Bytes::from(file(schema, &[1, FAR], None));
    let opened = ParquetFile::from_bytes(bytes.clone()).unwrap();
    let error = Table::read(opened.read(ReadOptions::default()).unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    let table = Table::read(opened.read(coarser()).unwrap()).unwrap();
    assert_eq!(table.fields[0].1, "timestamp[us] not null");
    // This is 109,800 days after 1970-01-01, as Python computes it.
    let values = [
        "\"1970-01-02T00:00:00.000000\"",
        "\"2270-08-16T00:00:00.000000\"",
    ];
    assert_eq!(table.columns[0], values);
    assert_eq!(table.columns[1][1], format!("{{\"b\":{}}}", values[1]));
    let schema = opened.arrow_schema(&coarser().schema).unwrap();
    assert_eq!(schema.field(0).data_type().to_string(), "Timestamp(µs)");
    let batches = pushed(&bytes, &coarser(), SUPPLIES[0]).unwrap();
    assert_eq!(batches[0].schema(), schema);
    // Only the values in selected rows count.
    let first = Table::read(opened.read(coarser().limit(1)).unwrap()).unwrap();
    assert_eq!(first.fields[0].1, "timestamp[ns] not null");
}

#[test]
fn timestamps_in_lists_count() {
    let schema = "message m { repeated int96 a; }";
    let bytes = file(schema, &[1, FAR, 2, FAR], Some(&[0, 1, 0, 1]));
    let file = ParquetFile::from_bytes(bytes).unwrap();
    let table = Table::read(file.read(coarser()).unwrap()).unwrap();
    assert!(
        table.fields[0].1.contains("timestamp[us]"),
        "{:?}",
        table.fields
    );
    assert!(
        table.columns[0][0].contains("2270-08-16T"),
        "{:?}",
        table.columns
    );
}

/// Timestamps that are far away are not damage.
#[test]
fn repair_keeps_them() {
    let bytes = Bytes::from(file("message m { required int96 a; }", &[1, FAR], None));
    let mut repair = Repair::open(bytes, &RepairOptions::default()).unwrap();
    repair.check(&ReadOptions::default(), |_| {}).unwrap();
    assert!(repair.lost().is_empty(), "{:?}", repair.lost());
    let table = Table::read(repair.read(coarser()).unwrap()).unwrap();
    assert_eq!(table.rows, 2);
}

/// On request, we return the raw bytes of INT96 values.
#[test]
fn bytes_instead_of_timestamps() {
    let mut schema = SchemaOptions::default();
    schema.int96_as_bytes = true;
    let bytes = file("message m { required int96 a; }", &[1, FAR], None);
    let file = ParquetFile::from_bytes(bytes).unwrap();
    let mut reader = file.read(ReadOptions::default().schema(schema)).unwrap();
    let batch = reader.next_batch().unwrap().unwrap();
    let values = batch.column(0).as_fixed_size_binary();
    let day = (JULIAN_DAY_OF_1970 + FAR).to_le_bytes();
    assert_eq!(values.value(1), [&[0; 8][..], &day].concat());
}

#[test]
fn the_unit_is_found_without_a_source() {
    let bytes = Bytes::from(file("message m { required int96 a; }", &[1, FAR], None));
    let length = bytes.len() as u64;
    let handle = MetadataHandle::decode(&bytes, length, Limits::default()).unwrap();
    let Step::Ready(handle) = handle else {
        panic!("all bytes are there");
    };
    let error = handle.plan(&coarser()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.message().contains("`int96_overflow`"), "{error}");
    // If there are no INT96 columns, there is no unit to determine.
    let other = coarser().columns::<&str>([]);
    assert_eq!(handle.plan(&other).unwrap().num_columns(), 0);
    assert!(handle.int96_plan(&other).unwrap().is_none());

    let mut options = coarser();
    let mut units = Int96Units::default();
    let plan = handle.int96_plan(&options).unwrap().unwrap();
    for batch in pushed_by(plan, &bytes, SUPPLIES[0]).unwrap() {
        units.add(&batch);
    }
    assert_eq!(units.finest(), Some(TimeUnit::Microsecond));
    options.schema.int96_unit = TimeUnit::Microsecond;
    options.schema.int96_overflow = Int96Overflow::Error;
    let plan = handle.plan(&options).unwrap();
    let batches = pushed_by(plan, &bytes, SUPPLIES[0]).unwrap();
    let read = ParquetFile::from_bytes(bytes)
        .unwrap()
        .read(coarser())
        .unwrap();
    assert_eq!(
        batches,
        read.map(|batch| batch.unwrap()).collect::<Vec<_>>()
    );
}
