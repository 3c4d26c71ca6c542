//! Tests values that the annotation of their column does not allow, or that the Arrow type cannot represent. These are
//! read errors, but never different values. On request, the column is read in its stored form.

use std::sync::Arc;

use herringbone::arrow::array::builder::{LargeStringBuilder, MapBuilder, StringViewBuilder};
use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::{Int32Type, Int64Type, IntervalMonthDayNanoType};
use herringbone::arrow::array::{
    Array, ArrayRef, IntervalDayTimeArray, RecordBatch, Time32SecondArray,
};
use herringbone::arrow::buffer::IntervalDayTime;
use herringbone::arrow::schema::{DataType, TimeUnit};
use herringbone::format::{
    ConvertedType, LogicalType, SchemaElement, TimeUnit as ParquetUnit, Type,
};
use herringbone::variant::extension::VariantExtension;
use herringbone::{
    Error, ErrorKind, ParquetFile, ReadOptions, SchemaOptions, WriteOptions, Writer,
};

use herringbone_inspect::verify::FindingKind;

use crate::annotated::{
    converted, intervals, intervals_of, logical, null_key, numbers, one_column,
};
use crate::crafted::Page;

pub(crate) fn read(file: &[u8], ignored: &[&str]) -> Result<RecordBatch, Error> {
    let mut schema = SchemaOptions::default();
    let parts = |path: &&str| path.split('.').map(str::to_owned).collect();
    schema.ignore_annotations = ignored.iter().map(parts).collect();
    let file = ParquetFile::from_bytes(file.to_vec())?;
    let mut reader = file.read(ReadOptions::default().schema(schema).threads(1))?;
    let batch = reader.next_batch()?.expect("there are rows");
    assert!(reader.next_batch()?.is_none());
    Ok(batch)
}

fn column(batch: &RecordBatch) -> &ArrayRef {
    batch.column(0)
}

/// Returns both forms of each annotation, with the minimum and maximum that the specification allows.
fn small_integers() -> Vec<(SchemaElement, i64, i64)> {
    let integer = |bit_width, is_signed| LogicalType::Integer {
        bit_width,
        is_signed,
    };
    let cases = [
        (ConvertedType::Int8, integer(8, true), -128, 127),
        (ConvertedType::Int16, integer(16, true), -32_768, 32_767),
        (ConvertedType::Uint8, integer(8, false), 0, 255),
        (ConvertedType::Uint16, integer(16, false), 0, 65_535),
    ];
    let both = |(old, new, least, most)| {
        let forms = [converted(Type::Int32, old), logical(Type::Int32, new)];
        forms.map(|element| (element, least, most))
    };
    cases.into_iter().flat_map(both).collect()
}

#[test]
fn small_integers_are_never_cut() {
    for (element, least, most) in small_integers() {
        let plain = i64::from(i32::MIN)..=i64::from(i32::MAX);
        let beyond = [
            least - 1,
            most + 1,
            *plain.start(),
            *plain.end(),
            most + 65_536,
        ];
        for dictionary in [false, true] {
            let batch = read(
                &numbers(element.clone(), &[least, 0, most], dictionary),
                &[],
            );
            let text = format!("{:?}", column(&batch.unwrap()));
            assert!(text.contains(&least.to_string()) && text.contains(&most.to_string()));
            for value in beyond {
                let stored = [0, value, 1];
                let file = numbers(element.clone(), &stored, dictionary);
                let error = read(&file, &[]).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{value}");
                let message = error.to_string();
                assert!(
                    message.contains(&format!("({least} to {most})")),
                    "{message}"
                );
                assert!(message.contains("`ignore_annotations`"), "{message}");
                assert!(message.contains("column x"), "{message}");
                let batch = read(&file, &["x"]).unwrap();
                let values = column(&batch).as_primitive::<Int32Type>().values();
                assert_eq!(values, &stored.map(|value| value as i32));
            }
        }
    }
}

#[test]
fn integers_of_32_bits_are_all_allowed() {
    let element = converted(Type::Int32, ConvertedType::Uint32);
    let batch = read(&numbers(element, &[-1, 0], false), &[]).unwrap();
    let values = column(&batch).as_primitive::<herringbone::arrow::array::types::UInt32Type>();
    assert_eq!(values.values(), &[u32::MAX, 0]);
}

#[test]
fn a_column_of_nulls_has_no_values() {
    let element = logical(Type::Int32, LogicalType::Unknown);
    let file = numbers(element, &[5, 6], false);
    let error = read(&file, &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("UNKNOWN"), "{error}");
    let batch = read(&file, &["x"]).unwrap();
    assert_eq!(column(&batch).as_primitive::<Int32Type>().values(), &[5, 6]);
}

/// Arrow's arrays can represent such times, so we read them as they are stored. Only `verify` reports times outside of
/// a day.
#[test]
fn times_of_no_day_come_as_they_are_stored() {
    let time = |unit| LogicalType::Time {
        is_adjusted_to_utc: false,
        unit,
    };
    let millis = numbers(
        logical(Type::Int32, time(ParquetUnit::Millis)),
        &[86_400_000, -1000],
        false,
    );
    let batch = read(&millis, &[]).unwrap();
    assert_eq!(
        column(&batch).data_type(),
        &DataType::Time32(TimeUnit::Millisecond)
    );
    assert_eq!(
        column(&batch).to_data().buffer::<i32>(0),
        &[86_400_000, -1000]
    );
    let micros = numbers(
        logical(Type::Int64, time(ParquetUnit::Micros)),
        &[86_400_000_000],
        false,
    );
    let batch = read(&micros, &[]).unwrap();
    assert_eq!(column(&batch).to_data().buffer::<i64>(0), &[86_400_000_000]);
    let batch = read(&micros, &["x"]).unwrap();
    assert_eq!(
        column(&batch).as_primitive::<Int64Type>().values(),
        &[86_400_000_000]
    );
}

#[test]
fn intervals_beyond_arrow_come_as_bytes_on_request() {
    let parts = [[1, 2, 3], [1 << 31, 0, u32::MAX], [0, u32::MAX, 0]];
    let file = intervals(&parts);
    let error = read(&file, &[]).unwrap_err();
    // The file is valid, so this is not a matter of corruption.
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let error = error.to_string();
    assert!(error.contains("FixedSizeBinary(12)"), "{error}");
    assert!(error.contains("`ignore_annotations`"), "{error}");
    let batch = read(&file, &["x"]).unwrap();
    assert_eq!(column(&batch).data_type(), &DataType::FixedSizeBinary(12));
    let values = column(&batch).as_fixed_size_binary();
    for (value, parts) in values.iter().zip(parts) {
        let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_le_bytes()).collect();
        assert_eq!(value, Some(&bytes[..]));
    }
    // This smaller number of milliseconds fits Arrow's nanoseconds.
    assert!(read(&intervals(&[[i32::MAX as u32, 0, u32::MAX]]), &[]).is_ok());
}

/// Returns the schema findings that `verify` reports for a file.
fn of_schema(file: &ParquetFile) -> Vec<String> {
    let findings = herringbone_inspect::verify(file).map(|finding| finding.unwrap());
    let findings = findings.filter(|finding| finding.kind == FindingKind::Schema);
    findings.map(|finding| finding.to_string()).collect()
}

/// parquet-java writes UNKNOWN next to INTERVAL because INTERVAL has no logical type.
#[test]
fn intervals_with_unknown_are_intervals() {
    let element = converted(Type::FixedLenByteArray, ConvertedType::Interval)
        .type_length(12)
        .logical_type(LogicalType::Unknown);
    let file = intervals_of(element, &[[1, 2, 3], [0, 0, 4]]);
    let batch = read(&file, &[]).unwrap();
    let values = column(&batch).as_primitive::<IntervalMonthDayNanoType>();
    let parts: Vec<_> = values
        .values()
        .iter()
        .map(|value| (value.months, value.days, value.nanoseconds))
        .collect();
    assert_eq!(parts, [(1, 2, 3_000_000), (0, 0, 4_000_000)]);

    // pyarrow refuses the two annotations together, so a file that we write with this schema only has INTERVAL.
    let file = ParquetFile::from_bytes(file).unwrap();
    assert_eq!(of_schema(&file), [""; 0]);
    let options = WriteOptions::new().parquet_schema(file.parquet_schema().clone());
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    assert_eq!(writer.warnings(), [""; 0]);
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let written = ParquetFile::from_bytes(bytes).unwrap();
    let element = written.parquet_schema().element(0);
    assert_eq!(element.converted_type, Some(ConvertedType::Interval));
    assert_eq!(element.logical_type, None);
}

/// An INTERVAL has 12 bytes. So if a column of another type has this annotation, it is a column of nulls.
#[test]
fn other_columns_with_unknown_and_interval_have_no_values() {
    let element =
        converted(Type::Int32, ConvertedType::Interval).logical_type(LogicalType::Unknown);
    let error = read(&numbers(element, &[5], false), &[]).unwrap_err();
    assert!(error.to_string().contains("UNKNOWN"), "{error}");
}

/// Only a group can be a variant.
#[test]
fn variant_on_a_column_is_passed_over() {
    let element = logical(
        Type::ByteArray,
        LogicalType::Variant {
            specification_version: Some(1),
        },
    );
    let file = one_column(element, 1, vec![Page::v1(1, &[2, 0, 0, 0, 7, 8])]);
    let file = ParquetFile::from_bytes(file).unwrap();
    let options = ReadOptions::default().extension(VariantExtension::new());
    let batch = file.read(options).unwrap().next_batch().unwrap().unwrap();
    assert_eq!(column(&batch).as_binary::<i32>().value(0), [7, 8]);
    assert_eq!(
        of_schema(&file),
        [
            "warning schema: its annotation is unknown, or is not allowed for its physical type \
             (column x)"
        ]
    );
}

#[test]
fn maps_with_null_keys_are_lists_on_request() {
    let file = null_key();
    let error = read(&file, &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let message = error.to_string();
    assert!(message.contains("a key of a map is null"), "{message}");
    assert!(message.contains("`ignore_annotations`"), "{message}");
    assert!(message.contains("m.key_value.key"), "{message}");
    let batch = read(&file, &["m"]).unwrap();
    let lists = column(&batch).as_list::<i32>();
    assert_eq!(lists.value_offsets(), &[0, 2]);
    let entries = lists.values().as_struct();
    let keys = entries.column_by_name("key").unwrap();
    let values = entries.column_by_name("value").unwrap();
    let keys: Vec<_> = keys.as_primitive::<Int32Type>().iter().collect();
    assert_eq!(keys, [Some(7), None]);
    assert_eq!(values.as_primitive::<Int32Type>().values(), &[10, 20]);
}

#[test]
fn only_columns_and_maps_have_annotations_to_ignore() {
    let file = null_key();
    for path in ["m.key_value", "nowhere"] {
        let error = read(&file, &[path]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{path}: {error}");
    }
}

/// The Arrow schema in the file agrees with the annotation, so we ignore it, too, except for types inside a map.
#[test]
fn what_the_arrow_schema_says_of_them_is_passed_over() {
    let mut maps = MapBuilder::new(None, LargeStringBuilder::new(), StringViewBuilder::new());
    maps.keys().append_value("key");
    maps.values().append_value("value");
    maps.append(true).unwrap();
    let intervals = IntervalDayTimeArray::from(vec![IntervalDayTime::new(3, 4)]);
    let seconds = Time32SecondArray::from(vec![5]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("m", Arc::new(maps.finish())),
        ("i", Arc::new(intervals)),
        ("t", Arc::new(seconds)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), WriteOptions::new()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let stored = read(&file, &["m", "i", "t"]).unwrap();
    let DataType::List(entries) = stored.column(0).data_type() else {
        panic!("{}", stored.column(0).data_type());
    };
    let DataType::Struct(fields) = entries.data_type() else {
        panic!("{entries}");
    };
    assert_eq!(fields[0].data_type(), &DataType::LargeUtf8);
    assert_eq!(fields[1].data_type(), &DataType::Utf8View);
    let bytes = stored.column(1).as_fixed_size_binary().value(0);
    assert_eq!(bytes, [0, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0]);
    let millis = stored.column(2).as_primitive::<Int32Type>();
    assert_eq!(millis.values(), &[5000]);
}
