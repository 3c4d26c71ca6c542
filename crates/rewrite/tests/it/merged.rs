//! Finds common schemas of files and reads with them.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone::arrow::schema::{DataType, Field, IntervalUnit, Schema, SchemaRef, TimeUnit};
use herringbone::{ReadOptions, Remedy};
use herringbone_rewrite::{SchemaMerge, difference, nullable};

use crate::files::{field, schema};

fn merge(by_name: bool, cast: bool) -> SchemaMerge {
    let mut merge = SchemaMerge::default();
    (merge.by_name, merge.cast) = (by_name, cast);
    merge
}

/// Returns the common type of two columns and checks that their order does not matter.
fn common(merge: SchemaMerge, a: &DataType, b: &DataType) -> Option<DataType> {
    let of = |a: &DataType, b: &DataType| {
        let files = [a, b].map(|data_type| ("f", schema(&[("x", data_type.clone())])));
        merge
            .schema(&files)
            .ok()
            .map(|schema| schema.field(0).data_type().clone())
    };
    let found = of(a, b);
    assert_eq!(of(b, a), found, "{a} and {b}");
    found
}

fn runs(ends: DataType, values: DataType) -> DataType {
    let ends = Arc::new(Field::new("run_ends", ends, false));
    DataType::RunEndEncoded(ends, Arc::new(field("values", values)))
}

fn item(data_type: DataType) -> Arc<Field> {
    Arc::new(field("item", data_type))
}

fn map(value: DataType, is_sorted: bool) -> DataType {
    let entries = vec![
        Field::new("key", DataType::Utf8, false),
        field("value", value),
    ];
    let entries = Field::new("entries", DataType::Struct(entries.into()), false);
    DataType::Map(Arc::new(entries), is_sorted)
}

#[test]
fn layouts_of_equal_values_have_a_common_type() {
    use DataType as T;
    let dictionary = |key: T, value: T| T::Dictionary(Box::new(key), Box::new(value));
    let time = |unit| T::Time32(unit);
    let decimal = |width: u8| match width {
        32 => T::Decimal32(5, 2),
        64 => T::Decimal64(5, 2),
        128 => T::Decimal128(5, 2),
        _ => T::Decimal256(5, 2),
    };
    let table = [
        (T::Utf8, T::Utf8View, Some(T::LargeUtf8)),
        (T::Binary, T::BinaryView, Some(T::LargeBinary)),
        (T::Binary, T::Utf8, None),
        (
            time(TimeUnit::Second),
            time(TimeUnit::Millisecond),
            Some(time(TimeUnit::Millisecond)),
        ),
        (
            T::Interval(IntervalUnit::YearMonth),
            T::Interval(IntervalUnit::DayTime),
            Some(T::Interval(IntervalUnit::MonthDayNano)),
        ),
        (decimal(32), decimal(64), Some(decimal(64))),
        (decimal(64), decimal(128), Some(decimal(128))),
        (decimal(128), decimal(0), Some(decimal(0))),
        (decimal(0), T::Decimal256(6, 2), None),
        (
            dictionary(T::Int8, T::Utf8),
            dictionary(T::Int8, T::LargeUtf8),
            Some(dictionary(T::Int8, T::LargeUtf8)),
        ),
        (
            dictionary(T::Int64, T::Utf8),
            dictionary(T::Int8, T::Utf8),
            Some(dictionary(T::Int64, T::Utf8)),
        ),
    ];
    check(&table);
}

fn check(table: &[(DataType, DataType, Option<DataType>)]) {
    for (a, b, expected) in table {
        let found = common(SchemaMerge::default(), a, b);
        assert_eq!(found, *expected, "{a} and {b}");
    }
}

#[test]
fn runs_maps_and_lists_have_common_types() {
    use DataType as T;
    let dictionary = |key: T, value: T| T::Dictionary(Box::new(key), Box::new(value));
    let table = [
        (
            runs(T::Int16, T::Int32),
            runs(T::Int64, T::Int32),
            Some(runs(T::Int64, T::Int32)),
        ),
        (runs(T::Int16, T::Int32), T::Int32, Some(T::Int32)),
        (
            runs(T::Int16, T::Utf8),
            dictionary(T::Int8, T::Utf8),
            Some(T::Utf8),
        ),
        (
            map(T::Utf8, true),
            map(T::LargeUtf8, true),
            Some(map(T::LargeUtf8, true)),
        ),
        (
            map(T::Utf8, true),
            map(T::Utf8, false),
            Some(map(T::Utf8, false)),
        ),
        (map(T::Utf8, true), T::Utf8, None),
        (
            T::FixedSizeList(item(T::Utf8), 2),
            T::FixedSizeList(item(T::LargeUtf8), 2),
            Some(T::FixedSizeList(item(T::LargeUtf8), 2)),
        ),
        (
            T::FixedSizeList(item(T::Utf8), 2),
            T::FixedSizeList(item(T::Utf8), 3),
            Some(T::List(item(T::Utf8))),
        ),
        (
            T::ListView(item(T::Utf8)),
            T::ListView(item(T::LargeUtf8)),
            Some(T::ListView(item(T::LargeUtf8))),
        ),
        (
            T::ListView(item(T::Utf8)),
            T::List(item(T::Utf8)),
            Some(T::List(item(T::Utf8))),
        ),
        (
            T::LargeListView(item(T::Utf8)),
            T::List(item(T::Utf8)),
            Some(T::LargeList(item(T::Utf8))),
        ),
        (
            T::LargeListView(item(T::Utf8)),
            T::LargeListView(item(T::LargeUtf8)),
            Some(T::LargeListView(item(T::LargeUtf8))),
        ),
    ];
    check(&table);
}

#[test]
fn nulls_and_numbers_have_common_types_by_choice() {
    use DataType as T;
    check(&[(T::Int32, T::Int64, None), (T::Null, T::Int64, None)]);
    // Nulls, and integers of other widths, only have a common type with an option.
    assert_eq!(
        common(merge(true, false), &T::Null, &T::Int64),
        Some(T::Int64)
    );
    assert_eq!(
        common(merge(false, true), &T::Null, &T::Int64),
        Some(T::Int64)
    );
    assert_eq!(
        common(merge(false, true), &T::Int32, &T::Int64),
        Some(T::Int64)
    );
    assert_eq!(common(merge(true, false), &T::Int32, &T::Int64), None);
}

/// Seconds are stored as milliseconds, so both can be read as either.
#[test]
fn stored_units_count_for_merges_by_name() {
    use TimeUnit::{Microsecond, Millisecond, Second};
    let time = |unit| DataType::Timestamp(unit, None);
    let by_name = merge(true, false);
    assert_eq!(
        common(by_name, &time(Second), &time(Millisecond)),
        Some(time(Millisecond))
    );
    assert_eq!(
        common(by_name, &time(Microsecond), &time(Millisecond)),
        None
    );
    assert_eq!(common(by_name, &time(Second), &time(Microsecond)), None);
    for other in [merge(false, false), merge(true, true), merge(false, true)] {
        assert_eq!(
            common(other, &time(Microsecond), &time(Millisecond)),
            Some(time(Microsecond))
        );
    }
}

#[test]
fn fields_are_merged_by_place_or_by_name() {
    let ab = schema(&[("a", DataType::Int32), ("b", DataType::Int32)]);
    let ba = schema(&[("b", DataType::Int32), ("a", DataType::Int32)]);
    let a = schema(&[("a", DataType::Int32)]);
    let required = Arc::new(Schema::new(vec![Field::new("a", DataType::Int32, false)]));
    let of = |merge: SchemaMerge, files: &[&SchemaRef]| {
        let files: Vec<_> = files
            .iter()
            .map(|schema| ("f", (*schema).clone()))
            .collect();
        merge.schema(&files)
    };
    let fails = |merge: SchemaMerge, files: &[&SchemaRef], part: &str, remedy: Option<Remedy>| {
        let error = of(merge, files).unwrap_err();
        assert!(error.message().contains(part), "{error}");
        assert_eq!(error.remedy(), remedy, "{error}");
    };
    let by_place = SchemaMerge::default();
    fails(by_place, &[&ab, &ba], "has `b`", Some(Remedy::MergeByName));
    fails(
        by_place,
        &[&ab, &a],
        "field `b` is in f but not",
        Some(Remedy::MergeByName),
    );
    fails(
        by_place,
        &[&a, &ab],
        "field `b` is in f but not",
        Some(Remedy::MergeByName),
    );
    let long = schema(&[("a", DataType::Int64)]);
    fails(by_place, &[&a, &long], "Int32", Some(Remedy::MergeCasting));
    fails(
        by_place,
        &[&ab, &long],
        "`a` is Int32",
        Some(Remedy::MergeByNameCasting),
    );
    let text = schema(&[("a", DataType::Utf8)]);
    fails(by_place, &[&a, &text], "Int32", None);
    let twice = schema(&[("a", DataType::Int32), ("a", DataType::Int32)]);
    fails(
        merge(true, false),
        &[&twice, &a],
        "several fields `a`",
        None,
    );
    assert_eq!(*of(merge(true, false), &[&ab, &ba]).unwrap(), *ab);
    // If one file lacks a column, the column may be null.
    assert_eq!(
        *of(merge(true, false), &[&required, &ba]).unwrap().field(0),
        Field::new("a", DataType::Int32, true)
    );
    let only_b = schema(&[("b", DataType::Int32)]);
    assert!(
        of(merge(true, false), &[&required, &only_b])
            .unwrap()
            .field(0)
            .is_nullable()
    );
}

#[test]
fn a_read_is_hinted_or_wants_the_common_schema() {
    let common = schema(&[("a", DataType::Int32)]);
    let read = |merge: SchemaMerge| {
        let mut options = ReadOptions::new();
        merge.read_as(&common, &mut options);
        (
            options.schema.arrow_schema.is_some(),
            options.wanted_schema.map(|it| it.schema().clone()),
        )
    };
    assert_eq!(read(SchemaMerge::default()), (true, None));
    assert_eq!(read(merge(true, false)), (false, Some(common.clone())));
    assert_eq!(read(merge(false, true)), (false, Some(common.clone())));
}

#[test]
fn nullable_reaches_all_fields_but_keys() {
    let required = |name: &str, data_type: DataType| Field::new(name, data_type, false);
    let inner = |nullable: bool| vec![Field::new("x", DataType::Int32, nullable)];
    let element = |nullable: bool| {
        let fields = DataType::Struct(inner(nullable).into());
        Arc::new(Field::new("item", fields, nullable))
    };
    let map_of = |nullable: bool| {
        let entries = vec![
            required("key", DataType::Utf8),
            Field::new("value", DataType::Int32, nullable),
        ];
        DataType::Map(
            Arc::new(Field::new(
                "entries",
                DataType::Struct(entries.into()),
                false,
            )),
            true,
        )
    };
    let all = |nullable: bool| {
        vec![
            DataType::Int32,
            DataType::Struct(inner(nullable).into()),
            DataType::List(element(nullable)),
            DataType::LargeList(element(nullable)),
            DataType::ListView(element(nullable)),
            DataType::LargeListView(element(nullable)),
            DataType::FixedSizeList(element(nullable), 2),
            map_of(nullable),
        ]
    };
    for (before, after) in all(false).into_iter().zip(all(true)) {
        let found = nullable(&Schema::new(vec![required("c", before)]));
        assert_eq!(found, Schema::new(vec![field("c", after)]));
    }
    let extension = HashMap::from([("ARROW:extension:name".to_owned(), "arrow.any".to_owned())]);
    let whole = required("c", DataType::Struct(inner(false).into())).with_metadata(extension);
    let found = nullable(&Schema::new(vec![whole.clone()]));
    assert_eq!(found, Schema::new(vec![whole.with_nullable(true)]));
}

#[test]
fn differences_are_found_in_all_kinds_of_types() {
    let differ = |a: DataType, b: DataType| {
        let [a, b] = [a, b].map(|data_type| Schema::new(vec![field("c", data_type)]));
        let found = difference("1", &a, "2", &b);
        found.map(|text| text.split('`').nth(1).unwrap_or_default().to_owned())
    };
    let at = |path: &str| Some(path.to_owned());
    use DataType as T;
    for kind in [
        T::List as fn(_) -> _,
        T::LargeList,
        T::ListView,
        T::LargeListView,
        |it| T::FixedSizeList(it, 2),
    ] {
        assert_eq!(
            differ(kind(item(T::Int8)), kind(item(T::Int16))),
            at("c.item")
        );
        assert_eq!(differ(kind(item(T::Int8)), kind(item(T::Int8))), None);
        assert_eq!(differ(kind(item(T::Int8)), T::Int8), at("c"));
    }
    assert_eq!(
        differ(
            T::FixedSizeList(item(T::Int8), 2),
            T::FixedSizeList(item(T::Int8), 3)
        ),
        at("c")
    );
    assert_eq!(
        differ(map(T::Int8, false), map(T::Int16, false)),
        at("c.entries.value")
    );
    assert_eq!(differ(map(T::Int8, false), map(T::Int8, true)), at("c"));
    let geometry = |crs: &str| {
        let metadata = HashMap::from([
            ("ARROW:extension:name".to_owned(), "geoarrow.wkb".to_owned()),
            ("ARROW:extension:metadata".to_owned(), crs.to_owned()),
        ]);
        Schema::new(vec![field("g", T::Binary).with_metadata(metadata)])
    };
    let (a, b) = (
        geometry(r#"{"crs":"EPSG:4326"}"#),
        geometry(r#"{"crs":"EPSG:3857"}"#),
    );
    assert_eq!(difference("1", &a, "2", &a), None);
    assert!(
        difference("1", &a, "2", &b)
            .unwrap()
            .contains("geometries of `g`")
    );
}
