//! Tests that every Arrow type, alone and nested, is read back as it was written.

use herringbone_arrow::schema::{IntervalUnit, TimeUnit};
use herringbone_format::ErrorKind;

use super::*;
use crate::{Date64, EMPTY_STRUCT_CHILD, EXACT_SCHEMA_KEY, EmptyStructs, HintPolicy};

const UNITS: [TimeUnit; 4] = [
    TimeUnit::Second,
    TimeUnit::Millisecond,
    TimeUnit::Microsecond,
    TimeUnit::Nanosecond,
];

/// Returns every type without fields.
fn leaf_types() -> Vec<DataType> {
    use DataType as T;
    let mut types = vec![
        T::Null,
        T::Boolean,
        T::Int8,
        T::Int16,
        T::Int32,
        T::Int64,
        T::UInt8,
        T::UInt16,
        T::UInt32,
        T::UInt64,
        T::Float16,
        T::Float32,
        T::Float64,
        T::Decimal32(9, 2),
        T::Decimal64(5, 0),
        T::Decimal64(18, 18),
        T::Decimal128(3, 1),
        T::Decimal128(38, 10),
        T::Decimal256(7, 7),
        T::Decimal256(76, 0),
        T::Date32,
        T::Date64,
        T::Time32(TimeUnit::Second),
        T::Time32(TimeUnit::Millisecond),
        T::Time64(TimeUnit::Microsecond),
        T::Time64(TimeUnit::Nanosecond),
        T::Interval(IntervalUnit::YearMonth),
        T::Interval(IntervalUnit::DayTime),
        T::Interval(IntervalUnit::MonthDayNano),
        T::Utf8,
        T::LargeUtf8,
        T::Utf8View,
        T::Binary,
        T::LargeBinary,
        T::BinaryView,
        T::FixedSizeBinary(5),
    ];
    for unit in UNITS {
        types.push(T::Duration(unit));
        for zone in [None, Some("UTC"), Some("Asia/Tokyo")] {
            types.push(T::Timestamp(unit, zone.map(Into::into)));
        }
    }
    types
}

/// Returns the type inside every kind of type that can contain it.
fn nested(leaf: &DataType) -> Vec<DataType> {
    let item = || child("item", leaf.clone());
    let fields = Fields::from(vec![
        Field::new("x", leaf.clone(), true),
        Field::new("y", DataType::LargeList(item()), true),
    ]);
    let mut types = vec![
        leaf.clone(),
        dictionary(leaf.clone()),
        runs(leaf.clone()),
        DataType::List(item()),
        DataType::LargeList(child("element", leaf.clone())),
        DataType::ListView(item()),
        DataType::LargeListView(child("e", dictionary(leaf.clone()))),
        DataType::FixedSizeList(item(), 4),
        DataType::FixedSizeList(child("item", DataType::ListView(item())), 0),
        DataType::Struct(fields.clone()),
        DataType::List(child("item", DataType::Struct(fields))),
        DataType::LargeListView(child("e", runs(leaf.clone()))),
        DataType::Struct(Fields::from(vec![Field::new(
            "r",
            runs(leaf.clone()),
            true,
        )])),
        map(DataType::LargeUtf8, DataType::List(item()), false),
    ];
    if *leaf != DataType::Null {
        types.push(map(leaf.clone(), leaf.clone(), true));
        types.push(map(runs(leaf.clone()), runs(leaf.clone()), false));
    }
    types
}

fn options() -> Vec<WriteSchemaOptions> {
    let default = WriteSchemaOptions::default;
    let mut all = vec![default(); 5];
    all[1].arrow_schema_hint = HintPolicy::All;
    all[2].int96_timestamps = true;
    all[3].flba12_timestamps = true;
    all[3].decimals_as_fixed = true;
    all[4].date64 = Date64::Int64;
    all
}

#[test]
fn every_type_at_every_place() {
    for options in options() {
        for leaf in leaf_types() {
            for data_type in nested(&leaf) {
                let metadata = metadata(&[("k", "v"), ("PARQUET:field_id", "4")]);
                let nullable = !has_null_alone(&data_type);
                let schema = Schema::new(vec![
                    Field::new("a", data_type.clone(), true),
                    Field::new("b", data_type, !nullable).with_metadata(metadata),
                ]);
                assert_eq!(returned(&schema, &options).0, schema);
            }
        }
    }
}

fn has_null_alone(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null => true,
        DataType::Dictionary(_, value) => has_null_alone(value),
        DataType::RunEndEncoded(_, values) => has_null_alone(values.data_type()),
        _ => false,
    }
}

#[test]
fn metadata_at_every_level() {
    let with = |field: Field, value: &str| field.with_metadata(metadata(&[("level", value)]));
    let key = with(Field::new("k", DataType::Int32, false), "key");
    let value = with(Field::new("v", DataType::Int32, true), "value");
    let entries = DataType::Struct(Fields::from(vec![key, value]));
    let entries = with(Field::new("e", entries, false), "entries");
    let item = with(
        Field::new("i", DataType::Map(Arc::new(entries), true), true),
        "item",
    );
    let list = with(
        Field::new("l", DataType::ListView(Arc::new(item)), true),
        "list",
    );
    let field = with(
        Field::new("s", DataType::Struct(Fields::from(vec![list])), false),
        "struct",
    );
    let schema = Schema::new_with_metadata(vec![field], metadata(&[("z", "1"), ("a", "2")]));
    assert_eq!(returned(&schema, &WriteSchemaOptions::default()).0, schema);
    let mapping = from_arrow(&schema, &WriteSchemaOptions::default()).unwrap();
    let pairs = mapping.key_values(&[], &[]).unwrap();
    let keys: Vec<&str> = pairs.iter().map(|pair| &*pair.key).collect();
    assert_eq!(keys, ["a", "z", EXACT_SCHEMA_KEY, ARROW_SCHEMA_KEY]);
}

#[test]
fn extension_types_and_annotations() {
    let of = |data_type, pairs: &[(&str, &str)]| {
        Field::new("a", data_type, true).with_metadata(metadata(pairs))
    };
    let name = |name| [("ARROW:extension:name", name)];
    let logical = |text| [("PARQUET:logical_type", text)];
    let custom = [
        ("ARROW:extension:name", "my.type"),
        ("ARROW:extension:metadata", "{}"),
    ];
    let point = DataType::Struct(Fields::from(vec![Field::new("x", DataType::Float64, true)]));
    let time = DataType::Time64(TimeUnit::Microsecond);
    for field in [
        of(DataType::FixedSizeBinary(16), &name("arrow.uuid")),
        of(
            DataType::FixedSizeBinary(16),
            &[
                ("ARROW:extension:name", "arrow.uuid"),
                ("ARROW:extension:metadata", "mine"),
            ],
        ),
        of(DataType::FixedSizeBinary(16), &custom),
        of(DataType::Utf8View, &name("arrow.json")),
        of(
            DataType::Utf8,
            &[
                ("ARROW:extension:name", "arrow.json"),
                ("ARROW:extension:metadata", ""),
            ],
        ),
        of(DataType::Int8, &name("arrow.bool8")),
        of(point.clone(), &custom),
        of(DataType::ListView(child("item", DataType::Int32)), &custom),
        of(dictionary(DataType::LargeUtf8), &custom),
        of(DataType::LargeUtf8, &logical("ENUM")),
        of(DataType::Binary, &logical("BSON")),
        of(DataType::Binary, &logical("GEOMETRY(crs=srid:0)")),
        of(
            DataType::LargeBinary,
            &logical("GEOGRAPHY(crs=a, algorithm=b, algorithm=VINCENTY)"),
        ),
        of(point.clone(), &logical("VARIANT")),
        of(point, &logical("FILE")),
        of(time.clone(), &[("adjusted_to_utc", "true")]),
        of(time, &[("adjusted_to_utc", "false")]),
    ] {
        let schema = Schema::new(vec![field]);
        assert_eq!(returned(&schema, &WriteSchemaOptions::default()).0, schema);
    }
}

/// The fields inside runs are nullable if the column is.
#[test]
fn the_fields_of_runs() {
    for ends in [DataType::Int16, DataType::Int32, DataType::Int64] {
        for (nullable, values_nullable) in
            [(true, true), (false, true), (true, false), (false, false)]
        {
            let with = |field: Field, k| field.with_metadata(metadata(&[("k", k)]));
            let ends = with(Field::new("ends", ends.clone(), false), "ends");
            let values = with(Field::new("v", DataType::Int8, values_nullable), "values");
            let data_type = DataType::RunEndEncoded(Arc::new(ends), Arc::new(values));
            let schema = Schema::new(vec![with(Field::new("a", data_type, nullable), "runs")]);
            assert_eq!(returned(&schema, &WriteSchemaOptions::default()).0, schema);
        }
    }
}

/// We hide layers from other readers that would treat them as an error, but restore them ourselves.
#[test]
fn layers_that_others_do_not_expect() {
    let point_of = |data_type| DataType::Struct(vec![Field::new("x", data_type, true)].into());
    let point = point_of(runs(DataType::Utf8View));
    let seen_point = point_of(DataType::Utf8View);
    let list = DataType::List(child("item", dictionary(point.clone())));
    let no_fields = Field::new(EMPTY_STRUCT_CHILD, DataType::Null, true);
    let no_fields = DataType::Struct(Fields::from(vec![no_fields]));
    let empty = DataType::Struct(Fields::empty());
    let options = WriteSchemaOptions {
        empty_structs: EmptyStructs::UnknownLeaf,
        ..WriteSchemaOptions::default()
    };
    for (data_type, for_others) in [
        (runs(DataType::LargeUtf8), DataType::LargeUtf8),
        (runs(runs(DataType::Date64)), DataType::Date64),
        (runs(dictionary(DataType::Utf8)), dictionary(DataType::Utf8)),
        (dictionary(runs(DataType::Utf8)), dictionary(DataType::Utf8)),
        (dictionary(DataType::Boolean), DataType::Boolean),
        (dictionary(DataType::Utf8View), DataType::Utf8View),
        (
            dictionary(DataType::FixedSizeBinary(3)),
            DataType::FixedSizeBinary(3),
        ),
        (
            DataType::ListView(child("item", DataType::Int8)),
            DataType::List(child("item", DataType::Int8)),
        ),
        (
            DataType::LargeListView(child("item", DataType::Int8)),
            DataType::LargeList(child("item", DataType::Int8)),
        ),
        (runs(point.clone()), seen_point.clone()),
        (dictionary(point), seen_point.clone()),
        (runs(list), DataType::List(child("item", seen_point))),
        (
            runs(map(DataType::Utf8, dictionary(empty.clone()), true)),
            map(DataType::Utf8, no_fields.clone(), true),
        ),
        (empty, no_fields),
        (runs(DataType::Decimal64(2, -2)), DataType::Decimal64(4, 0)),
        (DataType::Decimal32(5, -2), DataType::Decimal32(7, 0)),
        (DataType::Decimal32(9, -2), DataType::Decimal64(11, 0)),
        (DataType::Decimal128(38, -2), DataType::Decimal256(40, 0)),
        (
            dictionary(DataType::Decimal64(2, -2)),
            DataType::Decimal64(4, 0),
        ),
    ] {
        let schema = Schema::new(vec![Field::new("a", data_type, true)]);
        assert_eq!(returned(&schema, &options).0, schema);

        let mapping = from_arrow(&schema, &options).unwrap();
        let mut pairs = mapping.key_values(&[], &[]).unwrap();
        pairs.retain(|pair| pair.key != EXACT_SCHEMA_KEY);
        let seen = to_arrow(&mapping.schema, &pairs, &SchemaOptions::default()).unwrap();
        let for_others = Schema::new(vec![Field::new("a", for_others, true)]);
        assert_eq!(*seen.schema, for_others);
        assert_eq!(seen.warnings, [""; 0]);
    }
}

#[test]
fn dictionaries_of_dictionaries_are_refused() {
    let data_type = dictionary(dictionary(DataType::Utf8));
    let field = Field::new("d", DataType::List(child("item", data_type)), true);
    let error = from_arrow(&Schema::new(vec![field]), &WriteSchemaOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("d.list.element"), "{error}");
}
