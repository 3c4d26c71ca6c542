//! Tests of the conditions under which the file gets the Arrow schema.

use herringbone_arrow::schema::TimeUnit;

use super::*;
use crate::HintPolicy;

fn has_hint(fields: Vec<Field>, policy: HintPolicy) -> bool {
    let options = WriteSchemaOptions {
        arrow_schema_hint: policy,
        ..WriteSchemaOptions::default()
    };
    returned(&Schema::new(fields), &options).1
}

#[test]
fn only_where_the_file_does_not_say_it_all() {
    let utc = |unit| DataType::Timestamp(unit, Some("UTC".into()));
    for (data_type, needed) in [
        (DataType::UInt16, false),
        (DataType::Utf8, false),
        (DataType::LargeUtf8, true),
        (DataType::Decimal128(5, 2), false),
        (DataType::Decimal32(5, 2), true),
        (DataType::Decimal256(40, 2), false),
        (utc(TimeUnit::Microsecond), false),
        (utc(TimeUnit::Second), true),
        (DataType::Date32, false),
        (DataType::Date64, true),
        (DataType::List(child("element", DataType::Int32)), false),
        (DataType::List(child("item", DataType::Int32)), true),
        (DataType::ListView(child("element", DataType::Int32)), true),
        (dictionary(DataType::Utf8), true),
    ] {
        let fields = || {
            vec![
                Field::new("z", DataType::Int8, true),
                Field::new("a", data_type.clone(), true),
            ]
        };
        assert_eq!(
            has_hint(fields(), HintPolicy::Needed),
            needed,
            "{data_type}"
        );
        assert!(has_hint(fields(), HintPolicy::All));
        assert!(!has_hint(fields(), HintPolicy::None));
    }
}

#[test]
fn metadata_of_a_field_need_it() {
    let with = |pairs: &[(&str, &str)]| {
        let field = Field::new("a", DataType::Binary, true).with_metadata(metadata(pairs));
        has_hint(vec![field], HintPolicy::Needed)
    };
    assert!(with(&[("k", "v")]));
    assert!(!with(&[
        ("PARQUET:field_id", "1"),
        ("PARQUET:logical_type", "GEOMETRY")
    ]));
}

#[test]
fn a_hint_among_the_metadata_is_replaced() {
    let field = Field::new("a", DataType::LargeUtf8, true);
    let pairs = metadata(&[(ARROW_SCHEMA_KEY, "old"), ("k", "v")]);
    let schema = Schema::new_with_metadata(vec![field.clone()], pairs);
    let expected = Schema::new_with_metadata(vec![field], metadata(&[("k", "v")]));
    assert_eq!(
        returned(&schema, &WriteSchemaOptions::default()).0,
        expected
    );
}
