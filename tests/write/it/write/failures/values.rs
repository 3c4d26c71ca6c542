//! Tests values that a column cannot store, and the choice between several errors.

use std::sync::Arc;

use herringbone::{ErrorKind, ParquetFile, ReadOptions, Remedy, WriteOptions, Writer};
use herringbone_arrow::array::builder::{FixedSizeBinaryBuilder, Int32Builder, ListBuilder};
use herringbone_arrow::array::types::*;
use herringbone_arrow::array::*;
use herringbone_arrow::buffer::{OffsetBuffer, i256};
use herringbone_arrow::schema::Field;

use super::{batch_error, value_error};

fn impossible_decimals() -> Vec<(ArrayRef, &'static str)> {
    let decimals = Decimal128Array::from(vec![1, i128::from(i32::MAX) + 1]);
    let wide = Decimal256Array::from(vec![i256::ONE, i256::MAX]);
    let narrow = Decimal64Array::from(vec![1, i64::MAX]);
    let five_values = |value| {
        let decimals = Decimal128Array::from(vec![99_999, value]);
        decimals.with_precision_and_scale(5, 2).unwrap()
    };
    // The lower 64 bits of these values are 5.
    let beyond = Decimal128Array::from(vec![1, (1 << 64) + 5]);
    let far_beyond = i256::from_parts(5, 1);
    let far_beyond = Decimal256Array::from(vec![i256::ONE, far_beyond]);
    let rescaled = Decimal32Array::from(vec![-99_999, 100_000]);
    let rescaled = rescaled.with_precision_and_scale(5, -3).unwrap();
    let small = Decimal32Array::from(vec![9, -10]);
    let longest = Decimal128Array::from(vec![1 - 10_i128.pow(38), -(10_i128.pow(38))]);
    let above = Decimal256Array::from(vec![i256::ONE, i256::from_i128(10_i128.pow(38))]);
    vec![
        (
            Arc::new(five_values(100_000)),
            "row 1 of the batch: the unscaled decimal 100000 has",
        ),
        (
            Arc::new(five_values(-100_000)),
            "more digits than Decimal128(5, 2)",
        ),
        (Arc::new(rescaled), "decimal 100000 has"),
        (
            Arc::new(small.with_precision_and_scale(1, 0).unwrap()),
            "decimal -10 has",
        ),
        (
            Arc::new(longest.with_precision_and_scale(38, 0).unwrap()),
            "digits",
        ),
        (
            Arc::new(above.with_precision_and_scale(38, 5).unwrap()),
            "digits",
        ),
        (
            Arc::new(decimals.with_precision_and_scale(9, 2).unwrap()),
            "2147483648",
        ),
        (
            Arc::new(beyond.with_precision_and_scale(15, 2).unwrap()),
            "18446744073709551621",
        ),
        (
            Arc::new(far_beyond.with_precision_and_scale(15, 2).unwrap()),
            "340282366920938463463374607431768211461",
        ),
        (
            Arc::new(narrow.with_precision_and_scale(9, 2).unwrap()),
            "9223372036854775807",
        ),
        (
            Arc::new(wide.with_precision_and_scale(40, 2).unwrap()),
            "digits",
        ),
    ]
}

fn impossible_values() -> Vec<(ArrayRef, &'static str)> {
    let day_time = |days, millis| IntervalDayTime::new(days, millis);
    let parts = |months, days, nanos| IntervalMonthDayNano::new(months, days, nanos);
    let intervals = |values: Vec<IntervalMonthDayNano>| -> ArrayRef {
        Arc::new(IntervalMonthDayNanoArray::from(values))
    };
    let times: TimestampSecondArray = vec![1, i64::MAX / 1000 + 1].into();
    vec![
        (
            Arc::new(IntervalYearMonthArray::from(vec![1, -1])),
            "-1 months",
        ),
        (
            Arc::new(IntervalDayTimeArray::from(vec![
                day_time(0, 0),
                day_time(-2, 0),
            ])),
            "-2 days",
        ),
        (
            Arc::new(IntervalDayTimeArray::from(vec![
                day_time(0, 0),
                day_time(0, -3),
            ])),
            "-3 ms",
        ),
        (
            intervals(vec![parts(0, 0, 0), parts(-1, 0, 0)]),
            "-1 months",
        ),
        (
            intervals(vec![parts(0, 0, 0), parts(0, 0, -1_000_000)]),
            "-1000000 ns",
        ),
        (intervals(vec![parts(0, 0, 0), parts(0, 0, 1)]), "1 ns"),
        (
            intervals(vec![
                parts(0, 0, 0),
                parts(0, 0, i64::MAX / 1_000_000 * 1_000_000),
            ]),
            "ns",
        ),
        (Arc::new(Date64Array::from(vec![0, 1])), "1 ms"),
        (
            Arc::new(Date64Array::from(vec![
                0,
                i64::MAX / 86_400_000 * 86_400_000,
            ])),
            "ms",
        ),
        (Arc::new(times.clone()), "seconds since 1970"),
        (Arc::new(times.with_timezone("UTC")), "seconds since 1970"),
        (
            Arc::new(Time32SecondArray::from(vec![86_399, 86_400])),
            "the time 86400 is outside one day",
        ),
        (
            Arc::new(Time32SecondArray::from(vec![0, i32::MAX])),
            "the time 2147483647",
        ),
        (
            Arc::new(Time32MillisecondArray::from(vec![86_399_999, 86_400_000])),
            "the time 86400000",
        ),
        (
            Arc::new(Time32MillisecondArray::from(vec![0, -1000])),
            "the time -1000",
        ),
        (
            Arc::new(Time64MicrosecondArray::from(vec![
                86_399_999_999,
                86_400_000_000,
            ])),
            "the time 86400000000",
        ),
        (
            Arc::new(Time64NanosecondArray::from(vec![86_399_999_999_999, -1])),
            "the time -1",
        ),
    ]
}

#[test]
fn values_that_parquet_cannot_hold() {
    for (array, words) in impossible_decimals().into_iter().chain(impossible_values()) {
        for threads in [1, 3] {
            let data_type = array.data_type().clone();
            let error = value_error(array.clone(), true, threads);
            assert_eq!(error.kind(), ErrorKind::Argument, "{data_type}: {error}");
            assert!(error.to_string().contains(words), "{data_type}: {error}");
            assert_eq!(error.location().column.as_deref(), Some("odd"));
        }
        // The values are refused in dictionaries and runs, too.
        let keys = Int8Array::from(vec![0, 1, 0]);
        let dictionary = DictionaryArray::new(keys, array.clone());
        let ends = Int32Array::from(vec![2, 5]);
        let runs = RunArray::<Int32Type>::try_new(&ends, &array).unwrap();
        for array in [Arc::new(dictionary) as ArrayRef, Arc::new(runs)] {
            assert_eq!(value_error(array, true, 1).kind(), ErrorKind::Argument);
        }
    }
}

/// On request, values that fit the physical type are written unchanged, and the error names this option.
#[test]
fn values_out_of_range_are_written_on_request() {
    let five = |array: Decimal128Array| array.with_precision_and_scale(5, 2).unwrap();
    let nineteen = Decimal128Array::from(vec![1, 2 * 10_i128.pow(19)]);
    let arrays: [ArrayRef; 8] = [
        Arc::new(five(Decimal128Array::from(vec![1, -1_234_567]))),
        Arc::new(
            Decimal32Array::from(vec![1, 1_234_567])
                .with_precision_and_scale(5, 2)
                .unwrap(),
        ),
        Arc::new(
            Decimal64Array::from(vec![1, 10_i64.pow(18)])
                .with_precision_and_scale(18, 2)
                .unwrap(),
        ),
        Arc::new(nineteen.with_precision_and_scale(19, 0).unwrap()),
        Arc::new(Time32SecondArray::from(vec![1, 86_400])),
        Arc::new(Time32MillisecondArray::from(vec![1, 86_400_000])),
        Arc::new(Time64MicrosecondArray::from(vec![1, 86_400_000_000])),
        Arc::new(Time64NanosecondArray::from(vec![1, -1])),
    ];
    for array in arrays {
        let error = value_error(array.clone(), true, 1);
        assert_eq!(error.remedy(), Some(Remedy::AllowOutOfRange), "{error}");
        assert!(
            error
                .to_string()
                .contains("`WriteOptions::allow_out_of_range`")
        );
        let batch = RecordBatch::try_from_iter([("a", array)]).unwrap();
        let options = WriteOptions::new().allow_out_of_range(true);
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let file = ParquetFile::from_bytes(file).unwrap();
        let mut reader = file.read(ReadOptions::default()).unwrap();
        assert_eq!(reader.next_batch().unwrap().unwrap(), batch);
    }
}

/// The milliseconds of these seconds do not fit in 32 bits, and neither does the decimal.
#[test]
fn values_that_the_physical_type_cannot_hold_stay_an_error() {
    let seconds: ArrayRef = Arc::new(Time32SecondArray::from(vec![2_147_484]));
    let decimals = Decimal128Array::from(vec![1 << 31]);
    let decimals = decimals.with_precision_and_scale(9, 2).unwrap();
    for array in [seconds, Arc::new(decimals) as ArrayRef] {
        let batch = RecordBatch::try_from_iter([("a", array)]).unwrap();
        let options = WriteOptions::new().allow_out_of_range(true);
        let mut writer = Writer::new(Vec::new(), batch.schema(), options).unwrap();
        let error = writer
            .write(&batch)
            .and_then(|()| writer.finish().map(drop));
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Argument);
    }
}

/// If no slot refers to a value, it may be anything.
#[test]
fn impossible_values_that_nobody_sees() {
    for (array, _) in impossible_decimals().into_iter().chain(impossible_values()) {
        let hidden = array.slice(0, 1);
        let keys = Int8Array::from(vec![Some(0), None, Some(0)]);
        let unnamed = DictionaryArray::new(keys, array.clone());
        let ends = Int32Array::from(vec![2, 5]);
        let runs = RunArray::<Int32Type>::try_new(&ends, &array)
            .unwrap()
            .slice(0, 2);
        for array in [hidden, Arc::new(unnamed), Arc::new(runs)] {
            let batch = RecordBatch::try_from_iter([("a", array)]).unwrap();
            let mut writer = Writer::new(Vec::new(), batch.schema(), WriteOptions::new()).unwrap();
            writer.write(&batch).unwrap();
            writer.finish().unwrap();
        }
    }
}

/// The error has the row in the batch, both for decimals in lists, and for rows after the first block, where nulls hide
/// other values.
#[test]
fn errors_of_values_name_the_row() {
    let decimals = (0..20_000).map(|i| if i == 17_001 { 1_000 } else { i % 1_000 });
    let valid = (0..20_000).map(|i| i != 17_001);
    let decimals = Decimal64Array::from_iter_values(decimals);
    let decimals = decimals.with_precision_and_scale(3, 1).unwrap();
    let flat = value_error(Arc::new(decimals.clone()), true, 1);
    assert!(
        flat.to_string()
            .contains("row 17001 of the batch: the unscaled decimal 1000 has")
    );

    let item = Arc::new(Field::new("item", decimals.data_type().clone(), true));
    let offsets = OffsetBuffer::from_repeated_length(4, 5_000);
    let lists = ListArray::new(
        item.clone(),
        offsets.clone(),
        Arc::new(decimals.clone()),
        None,
    );
    let error = value_error(Arc::new(lists), true, 3);
    assert!(
        error.to_string().contains("row 4250 of the batch"),
        "{error}"
    );

    let (_, values, _) = decimals.into_parts();
    let hidden = Decimal64Array::new(values, Some(valid.collect()));
    let hidden: ArrayRef = Arc::new(hidden.with_precision_and_scale(3, 1).unwrap());
    let lists: ArrayRef = Arc::new(ListArray::new(item, offsets, hidden.clone(), None));
    for array in [hidden, lists] {
        let batch = RecordBatch::try_from_iter([("a", array)]).unwrap();
        let mut writer = Writer::new(Vec::new(), batch.schema(), WriteOptions::new()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
    }
}

#[test]
fn nulls_in_required_fields() {
    let int: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
    let keys = Int8Array::from(vec![0, 1]);
    let dictionary: ArrayRef = Arc::new(DictionaryArray::new(keys, int.clone()));
    let ends = Int16Array::from(vec![2, 3]);
    let runs: ArrayRef = Arc::new(RunArray::<Int16Type>::try_new(&ends, &int).unwrap());
    let mut fixed = FixedSizeBinaryBuilder::new(3);
    fixed.append_value(b"abc").unwrap();
    fixed.append_null();
    let mut lists = ListBuilder::new(Int32Builder::new());
    lists.append_value([Some(1)]);
    lists.append_null();
    let bools = BooleanArray::from(vec![Some(true), None]);
    for array in [
        int,
        dictionary,
        runs,
        Arc::new(fixed.finish()),
        Arc::new(lists.finish()),
        Arc::new(bools),
    ] {
        for threads in [1, 3] {
            let data_type = array.data_type().clone();
            let error = value_error(array.clone(), false, threads);
            assert_eq!(error.kind(), ErrorKind::Argument, "{data_type}: {error}");
            let column = error.location().column.clone().unwrap();
            assert!(column.starts_with("odd"), "{data_type}: {error}");
        }
    }
}

/// For any number of threads, the first error in the first slice is returned.
#[test]
fn the_same_error_for_any_number_of_threads() {
    let bad = |at: usize| -> ArrayRef {
        let values = (0..5000).map(|i| if i == at { -1 } else { 1 });
        Arc::new(IntervalYearMonthArray::from_iter_values(values))
    };
    let columns: Vec<(String, ArrayRef)> = [4990, 3000, 2999, 3001]
        .into_iter()
        .enumerate()
        .map(|(i, at)| (format!("c{i}"), bad(at)))
        .collect();
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let schema = batch.schema();
    let message = batch_error(&schema, &batch, 1).to_string();
    for threads in [2, 3, 4, 0] {
        assert_eq!(batch_error(&schema, &batch, threads).to_string(), message);
    }
}
