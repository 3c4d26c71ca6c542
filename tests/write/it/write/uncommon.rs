//! Tests forms that are only written on request, and decimals with a negative scale.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::format::Encoding;
use herringbone::{ColumnOptions, ParquetFile, ReadOptions, WriteOptions};
use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::*;
use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::{DataType, Field, Schema, TimeUnit};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::compare::{difference, read, written};
use crate::{canonical, files};

fn of_one(array: ArrayRef) -> RecordBatch {
    let field = Field::new("a", array.data_type().clone(), true);
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap()
}

/// Writes a batch, checks that this library reads it back unchanged, and returns the file.
fn round_trip(batch: &RecordBatch, options: WriteOptions) -> Vec<u8> {
    let batches = std::slice::from_ref(batch);
    let file = written(&batch.schema(), batches, options).unwrap();
    let (_, read) = read(&file, ReadOptions::default()).unwrap();
    assert_eq!(difference(batches, &read, &batch.schema()), None);
    file
}

/// Returns the column that the `parquet` crate reads.
fn theirs(file: Vec<u8>) -> ArrayRef {
    let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file)).unwrap();
    let mut reader = reader.build().unwrap();
    reader.next().unwrap().unwrap().column(0).clone()
}

/// Returns options for PLAIN uncompressed values.
fn plain() -> WriteOptions {
    let columns = ColumnOptions::new().dictionary(false);
    let options = WriteOptions::new().columns(columns);
    options.compression(herringbone::Compression::Uncompressed)
}

fn holds(file: &[u8], values: &[u8]) -> bool {
    file.windows(values.len()).any(|window| window == values)
}

/// Times before 1970, at 1970-01-01, at midnight, and with all digits.
const NANOS: [i64; 4] = [-1, 0, 86_400_000_000_000, 1_234_567_890_123_456_789];

fn timestamps(unit: TimeUnit, zone: Option<&str>) -> ArrayRef {
    let per: i64 = match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    };
    let counts = NANOS.map(|nanos| Some(nanos.div_euclid(per)));
    let counts: Int64Array = counts.into_iter().chain([None]).collect();
    let data = counts.to_data().into_builder();
    let data_type = DataType::Timestamp(unit, zone.map(Into::into));
    make_array(data.data_type(data_type).build().unwrap())
}

const UNITS: [TimeUnit; 4] = [
    TimeUnit::Second,
    TimeUnit::Millisecond,
    TimeUnit::Microsecond,
    TimeUnit::Nanosecond,
];

#[test]
fn int96_timestamps_of_all_units() {
    let mut options = plain();
    options.schema.int96_timestamps = true;
    for unit in UNITS {
        for zone in [None, Some("UTC")] {
            let array = timestamps(unit, zone);
            let file = round_trip(&of_one(array.clone()), options.clone());
            // These are the nanoseconds of the day, and the Julian day. 1970 began with the Julian day 2 440 588.
            assert!(holds(&file, &[0, 0, 0, 0, 0, 0, 0, 0, 0x8d, 0x3d, 0x25, 0]));
            let theirs = theirs(file);
            assert_eq!(
                canonical::lines(&theirs),
                canonical::lines(&array),
                "{unit:?} {zone:?}"
            );
        }
    }
}

#[test]
fn timestamps_of_12_bytes() {
    let mut options = plain();
    options.schema.flba12_timestamps = true;
    for unit in UNITS {
        for zone in [None, Some("UTC")] {
            let array = timestamps(unit, zone);
            let file = round_trip(&of_one(array.clone()), options.clone());
            // No peer reads them. Each value is a little-endian count, which is in milliseconds if the unit is seconds.
            let counts = array.to_data().buffers()[0].typed_data::<i64>().to_vec();
            let factor = if unit == TimeUnit::Second { 1000 } else { 1 };
            let wide = |count: &i64| (i128::from(*count) * factor).to_le_bytes()[..12].to_vec();
            let expected: Vec<u8> = counts[..4].iter().flat_map(wide).collect();
            assert!(holds(&file, &expected), "{unit:?} {zone:?}");
        }
    }
}

/// Reads files with known bytes in ALP, writes their values in ALP, and reads them again.
#[test]
fn alp_of_known_values() {
    for name in ["built/alp_float.parquet", "built/alp_double.parquet"] {
        let bytes = std::fs::read(files::testdata().join(name)).unwrap();
        let (schema, batches) = read(&bytes, ReadOptions::default()).unwrap();
        let options = plain().column("x", ColumnOptions::new().encoding(Encoding::Alp));
        let file = written(&schema, &batches, options).unwrap();
        let (_, again) = read(&file, ReadOptions::default()).unwrap();
        assert_eq!(difference(&batches, &again, &schema), None, "{name}");
        is_alp(&file);
    }
}

#[test]
fn alp_of_many_values() {
    let odd = [
        f64::NAN,
        f64::INFINITY,
        -0.0,
        f64::MIN_POSITIVE,
        1e300,
        f64::from_bits(0x7ff8_0000_0000_0007),
    ];
    let value = |i: usize| match i % 97 {
        0 => Some(odd[i / 97 % odd.len()]),
        1 => None,
        2 => Some((i as f64).sqrt()),
        _ => Some((i * 7919 % 100_000) as f64 / 100.0),
    };
    let doubles = Float64Array::from_iter((0..5000).map(value));
    let floats = Float32Array::from_iter((0..5000).map(|i| value(i).map(|value| value as f32)));
    for array in [Arc::new(doubles) as ArrayRef, Arc::new(floats)] {
        for page_rows in [1, 100, 1024, 5000] {
            let columns = ColumnOptions::new()
                .encoding(Encoding::Alp)
                .page_rows(page_rows);
            let file = round_trip(&of_one(array.clone()), plain().column("a", columns));
            is_alp(&file);
            if page_rows == 5000 && *array.data_type() == DataType::Float64 {
                // Plain values take 40 000 bytes.
                assert!(file.len() < 20_000, "{}", file.len());
            }
        }
    }
}

fn is_alp(file: &[u8]) {
    let file = ParquetFile::from_bytes(file.to_vec()).unwrap();
    let group = file.metadata().row_group(0).unwrap();
    let metadata = group.columns[0].meta_data.as_ref().unwrap();
    assert!(metadata.encodings.contains(&Encoding::Alp));
    assert!(!metadata.encodings.contains(&Encoding::Plain));
}

/// Parquet has no negative scales, so zeros are appended to the numbers.
#[test]
fn decimals_of_negative_scale() {
    let small = Decimal32Array::from(vec![Some(-99_999), None, Some(0), Some(7)]);
    let long = Decimal64Array::from(vec![Some(10_i64.pow(18) - 1), Some(-1), None]);
    let wide = Decimal128Array::from(vec![Some(1 - 10_i128.pow(30)), Some(12), None]);
    let widest = Decimal256Array::from(vec![Some(i256::from_i128(-5)), None]);
    for (array, expected) in [
        (
            Arc::new(small.clone().with_precision_and_scale(5, -2).unwrap()) as ArrayRef,
            &["-9999900", "", "0", "700"][..],
        ),
        (
            Arc::new(small.with_precision_and_scale(5, -5).unwrap()),
            &["-9999900000", "", "0", "700000"],
        ),
        (
            Arc::new(long.with_precision_and_scale(18, -3).unwrap()),
            &["999999999999999999000", "-1000", ""],
        ),
        (
            Arc::new(wide.with_precision_and_scale(30, -8).unwrap()),
            &["-99999999999999999999999999999900000000", "1200000000", ""],
        ),
        (
            Arc::new(widest.with_precision_and_scale(40, -10).unwrap()),
            &["-50000000000", ""],
        ),
    ] {
        let batch = of_one(array.clone());
        let file = written(
            &batch.schema(),
            std::slice::from_ref(&batch),
            WriteOptions::new(),
        )
        .unwrap();
        let (_, read) = read(&file, ReadOptions::default()).unwrap();
        let texts = |array: &dyn Array| -> Vec<String> {
            let text = |i| match array.is_null(i) {
                true => String::new(),
                false => match array.data_type() {
                    DataType::Decimal32(_, 0) => array
                        .as_primitive::<types::Decimal32Type>()
                        .value(i)
                        .to_string(),
                    DataType::Decimal64(_, 0) => array
                        .as_primitive::<types::Decimal64Type>()
                        .value(i)
                        .to_string(),
                    DataType::Decimal128(_, 0) => array
                        .as_primitive::<types::Decimal128Type>()
                        .value(i)
                        .to_string(),
                    DataType::Decimal256(_, 0) => array
                        .as_primitive::<types::Decimal256Type>()
                        .value(i)
                        .to_string(),
                    other => panic!("{other}"),
                },
            };
            (0..array.len()).map(text).collect()
        };
        assert_eq!(texts(&theirs(file)), expected, "{}", array.data_type());
        if read[0].column(0).data_type() != array.data_type() {
            assert_eq!(texts(read[0].column(0)), expected, "{}", array.data_type());
        }
    }
}
