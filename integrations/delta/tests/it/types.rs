use std::sync::Arc;

use delta_kernel::ParquetHandler;
use delta_kernel::arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, Date32Array, RecordBatch, StructArray,
    TimestampMillisecondArray,
};
use delta_kernel::arrow::buffer::NullBuffer;
use delta_kernel::arrow::compute::cast;
use delta_kernel::arrow::datatypes::{DataType as ArrowType, Field, TimestampMicrosecondType};
use delta_kernel::schema::DataType;

use crate::support::{Handlers, data, engine_data, file, nullable, read, read_as_default, schema};

fn decimal(precision: u8, scale: u8) -> DataType {
    DataType::decimal(precision, scale).unwrap()
}

/// Returns each of the file's columns, with the types in which it can be read.
fn readable() -> Vec<(&'static str, Vec<DataType>)> {
    use DataType as D;
    let timestamps = vec![D::TIMESTAMP, D::TIMESTAMP_NTZ];
    vec![
        (
            "i8",
            vec![
                D::BYTE,
                D::SHORT,
                D::INTEGER,
                D::LONG,
                D::DOUBLE,
                decimal(3, 0),
                decimal(10, 4),
            ],
        ),
        (
            "i16",
            vec![
                D::SHORT,
                D::INTEGER,
                D::LONG,
                D::DOUBLE,
                decimal(5, 0),
                decimal(20, 7),
            ],
        ),
        (
            "i32",
            vec![
                D::INTEGER,
                D::LONG,
                D::DOUBLE,
                D::DATE,
                decimal(10, 0),
                decimal(38, 20),
            ],
        ),
        ("i64", vec![D::LONG, decimal(20, 0), decimal(38, 18)]),
        ("micros", timestamps.clone()),
        ("day_number", vec![D::DATE]),
        ("f32", vec![D::FLOAT, D::DOUBLE]),
        ("f64", vec![D::DOUBLE]),
        ("bool", vec![D::BOOLEAN]),
        ("text", vec![D::STRING]),
        ("bytes", vec![D::BINARY]),
        ("date", vec![D::DATE, D::TIMESTAMP_NTZ]),
        ("ts_ms", timestamps.clone()),
        ("ts_us", timestamps.clone()),
        ("ts_ns", timestamps.clone()),
        ("ts_ms_utc", timestamps.clone()),
        ("ts_us_utc", timestamps.clone()),
        ("ts_ns_utc", timestamps),
        (
            "dec9",
            vec![
                decimal(9, 2),
                decimal(10, 2),
                decimal(12, 5),
                decimal(38, 31),
            ],
        ),
        ("dec18", vec![decimal(18, 3), decimal(38, 3)]),
        ("dec30", vec![decimal(30, 4), decimal(38, 12)]),
    ]
}

#[test]
fn values_are_widened_as_the_default_engine_does() {
    let file = [data("types.parquet")];
    let mut columns = 0;
    for (name, types) in readable() {
        for wanted in types {
            let rows = read_as_default(&file, &schema([nullable(name, wanted)]));
            // Every seventh value is null, which are 3, 10, 17 and 24.
            assert_eq!(
                (rows.num_rows(), rows.column(0).null_count()),
                (30, 4),
                "{name}"
            );
            columns += 1;
        }
    }
    assert_eq!(columns, 53);
}

#[test]
fn nanoseconds_are_truncated_toward_zero() {
    let file = [data("types.parquet")];
    let wanted = schema([
        nullable("ts_us", DataType::TIMESTAMP_NTZ),
        nullable("ts_ns", DataType::TIMESTAMP_NTZ),
    ]);
    let rows = read_as_default(&file, &wanted);
    let nanos = rows.column(1).as_primitive::<TimestampMicrosecondType>();
    // Row 1 has -(10^15 + 123456) * 7 / 10 ns, rounded down, which is -700000000086420 ns.
    assert_eq!(nanos.value(1), -700_000_000_086);
    assert_eq!(nanos.value(2), 1_400_000_000_086);
}

#[test]
fn other_conversions_are_errors_that_name_the_column() {
    use DataType as D;
    let file = [data("types.parquet")];
    let handlers = Handlers::new();
    let refused = [
        ("i64", D::INTEGER),
        ("i64", D::DOUBLE),
        ("i32", D::FLOAT),
        ("i32", D::TIMESTAMP),
        ("f64", D::FLOAT),
        ("date", D::TIMESTAMP),
        ("date", D::INTEGER),
        ("ts_us", D::DATE),
        ("ts_us", D::LONG),
        ("dec9", decimal(9, 3)),
        ("dec9", decimal(8, 2)),
        ("dec9", D::LONG),
        ("bool", D::INTEGER),
    ];
    for (name, wanted) in refused {
        let wanted = schema([nullable(name, wanted)]);
        let error = read(&handlers.ours, &file, &wanted, None)
            .unwrap_err()
            .to_string();
        assert!(error.contains(&format!("column {name}")), "{error}");
        assert!(error.contains("types.parquet"), "{error}");
        assert!(
            read(&handlers.default, &file, &wanted, None).is_err(),
            "{name}"
        );
    }
}

/// The default engine refuses these conversions, although no value is lost.
#[test]
fn text_and_long_integers_may_have_other_types() {
    let handlers = Handlers::new();
    let file = [data("types.parquet")];
    for (name, wanted, same) in [
        ("text", DataType::BINARY, DataType::STRING),
        ("i64", decimal(19, 0), DataType::LONG),
    ] {
        let wanted = schema([nullable(name, wanted)]);
        assert!(read(&handlers.default, &file, &wanted, None).is_err());
        let rows = read(&handlers.ours, &file, &wanted, None).unwrap();
        let stored = read_as_default(&file, &schema([nullable(name, same)]));
        let back = cast(rows.column(0), stored.column(0).data_type()).unwrap();
        assert_eq!(&back, stored.column(0));
    }
}

#[test]
fn bytes_of_fixed_length_are_binary() {
    let handlers = Handlers::new();
    let wanted = schema([nullable("fixed", DataType::BINARY)]);
    let rows = read(&handlers.ours, &[data("types.parquet")], &wanted, None).unwrap();
    let bytes = rows.column(0).as_binary::<i32>();
    assert_eq!(bytes.value(29), [29, 1, 2, 3]);
    assert!(bytes.is_null(10));
}

#[test]
fn int96_has_the_years_that_nanoseconds_lack() {
    let handlers = Handlers::new();
    let file = [data("int96.parquet")];
    for data_type in [DataType::TIMESTAMP, DataType::TIMESTAMP_NTZ] {
        let rows = read(
            &handlers.ours,
            &file,
            &schema([nullable("stamp", data_type)]),
            None,
        )
        .unwrap();
        let stamps = rows.column(0).as_primitive::<TimestampMicrosecondType>();
        // The values are days since 1970 in the calendar, and 04:05:06.000789 on each day.
        let days = [-332, 33, 20_487, 376_233];
        let expected = days.map(|day: i64| day * 86_400_000_000 + 14_706_000_789);
        assert_eq!(stamps.values(), &expected[..]);
    }
}

#[test]
fn footers_are_those_of_the_default_engine() {
    let handlers = Handlers::new();
    for name in [
        "types.parquet",
        "nested.parquet",
        "sorted.parquet",
        "int96.parquet",
    ] {
        let mut file = data(name);
        let theirs = handlers.default.read_parquet_footer(&file).unwrap().schema;
        for size in [file.size, 0] {
            file.size = size;
            let ours = handlers.ours.read_parquet_footer(&file).unwrap().schema;
            assert_eq!(ours, theirs, "{name}");
        }
    }
}

#[test]
fn footers_of_the_official_files_are_those_of_the_default_engine() {
    let Ok(folder) = std::env::var("PARQUET_TEST_DATA") else {
        return;
    };
    let handlers = Handlers::new();
    let (mut compared, mut different) = (0, Vec::new());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "parquet")
        {
            continue;
        }
        let file = file(&path);
        let theirs = handlers.default.read_parquet_footer(&file);
        let Ok(theirs) = theirs.map(|batch| batch.schema) else {
            continue;
        };
        let ours = handlers.ours.read_parquet_footer(&file);
        compared += 1;
        match ours {
            Ok(ours) if ours.schema == theirs => {}
            ours => different.push((
                path,
                ours.map(|ours| ours.schema.to_string()),
                theirs.to_string(),
            )),
        }
    }
    assert!(compared > 50, "{compared}");
    assert!(different.is_empty(), "{different:#?}");
}

/// The default engine reads null instead.
#[test]
fn a_value_beyond_the_wanted_type_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let millis = TimestampMillisecondArray::from(vec![Some(5), None, Some(i64::MAX / 2)]);
    let days = Date32Array::from(vec![Some(5), None, Some(i32::MAX)]);
    let batch = RecordBatch::try_from_iter([
        ("t", Arc::new(millis) as ArrayRef),
        ("d", Arc::new(days) as ArrayRef),
    ]);
    let handlers = Handlers::new();
    let data = Box::new(std::iter::once(Ok(engine_data(batch.unwrap()))));
    let url = url::Url::from_file_path(&path).unwrap();
    ParquetHandler::write_parquet_file(&handlers.default, url, data).unwrap();
    for name in ["t", "d"] {
        let wanted = schema([nullable(name, DataType::TIMESTAMP_NTZ)]);
        let error = read(&handlers.ours, &[file(&path)], &wanted, None).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("a.parquet") && error.contains(name),
            "{error}"
        );
        let theirs = read(&handlers.default, &[file(&path)], &wanted, None).unwrap();
        assert_eq!(theirs.column(0).null_count(), 2);
    }
}

#[test]
fn a_variant_is_a_struct_of_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let write = |names: &[&str]| {
        let bytes = |value: &[u8]| Arc::new(BinaryArray::from_iter_values([value; 3])) as ArrayRef;
        let fields = names
            .iter()
            .map(|name| Field::new(*name, ArrowType::Binary, false));
        let structs = StructArray::new(
            fields.collect(),
            names.iter().map(|name| bytes(name.as_bytes())).collect(),
            Some(NullBuffer::from(vec![true, false, true])),
        );
        let batch = RecordBatch::try_from_iter([("v", Arc::new(structs) as ArrayRef)]).unwrap();
        let url = url::Url::from_file_path(&path).unwrap();
        let data = Box::new(std::iter::once(Ok(engine_data(batch))));
        ParquetHandler::write_parquet_file(&Handlers::new().default, url, data).unwrap();
    };
    // The kernel wants the metadata first.
    write(&["value", "metadata"]);
    let wanted = schema([nullable("v", DataType::unshredded_variant())]);
    let rows = read_as_default(&[file(&path)], &wanted);
    let variants = rows.column(0).as_struct();
    assert_eq!(variants.column(0).as_binary::<i32>().value(2), b"metadata");
    assert!(variants.is_null(1) && variants.column(0).is_null(1));
    write(&["value", "metadata", "typed_value"]);
    let handlers = Handlers::new();
    let error = read(&handlers.ours, &[file(&path)], &wanted, None).unwrap_err();
    assert!(error.to_string().contains("shredded"), "{error}");
    assert!(read(&handlers.default, &[file(&path)], &wanted, None).is_err());
}

#[test]
fn official_variants_are_read_or_refused_as_by_the_default_engine() {
    let Ok(folder) = std::env::var("PARQUET_TEST_DATA") else {
        return;
    };
    let folder = std::path::Path::new(&folder).join("../shredded_variant");
    let handlers = Handlers::new();
    let wanted = schema([nullable("var", DataType::unshredded_variant())]);
    let (mut equal, mut shredded) = (0, 0);
    for entry in std::fs::read_dir(folder.canonicalize().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "parquet")
        {
            continue;
        }
        let file = [file(&path)];
        let ours = read(&handlers.ours, &file, &wanted, None);
        let theirs = read(&handlers.default, &file, &wanted, None);
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => {
                assert_eq!(ours, theirs, "{path:?}");
                equal += 1;
            }
            (Err(ours), Err(_)) => {
                shredded += usize::from(ours.to_string().contains("a shredded VARIANT"));
            }
            (ours, theirs) => panic!("{path:?}: {ours:?} {theirs:?}"),
        }
    }
    assert!(equal > 30 && shredded > 90, "{equal} {shredded}");
}
