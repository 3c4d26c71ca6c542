//! Types without a Parquet form cause an error that names the column.

use herringbone_arrow::schema::{UnionFields, UnionMode};
use herringbone_format::ErrorKind;

use super::*;
use crate::HintPolicy;

fn refused(field: Field) -> (ErrorKind, String) {
    let error = from_arrow(&Schema::new(vec![field]), &WriteSchemaOptions::default()).unwrap_err();
    (error.kind(), error.location().column.clone().unwrap())
}

fn a(data_type: DataType) -> Field {
    Field::new("a", data_type, true)
}

fn union() -> DataType {
    let fields = UnionFields::try_new([0], [Field::new("x", DataType::Int32, true)]).unwrap();
    DataType::Union(fields, UnionMode::Dense)
}

#[test]
fn no_form() {
    use ErrorKind::Unsupported;
    let inner = DataType::Struct(Fields::from(vec![Field::new("u", union(), true)]));
    for (data_type, column) in [
        (union(), "a"),
        (runs(dictionary(union())), "a"),
        (DataType::List(child("item", union())), "a.list.element"),
        (
            map(DataType::Int32, inner.clone(), false),
            "a.key_value.value.u",
        ),
        (inner, "a.u"),
        (DataType::Struct(Fields::empty()), "a"),
        (DataType::FixedSizeBinary(0), "a"),
        (DataType::Decimal256(76, -1), "a"),
        (map(DataType::Null, DataType::Int32, false), "a.key_value"),
    ] {
        let text = data_type.to_string();
        assert_eq!(
            refused(a(data_type)),
            (Unsupported, column.to_owned()),
            "{text}"
        );
    }
}

/// A dictionary page stores the order of leaf values only. Without a hint, no order is promised, so
/// none is lost.
#[test]
fn orders_that_no_dictionary_page_keeps() {
    let ordered = |data_type: DataType| a(data_type).with_dict_is_ordered(true);
    let in_runs = |value: Field| {
        let ends = Arc::new(Field::new("run_ends", DataType::Int32, false));
        DataType::RunEndEncoded(ends, Arc::new(value))
    };
    let group = DataType::Struct(Fields::from(vec![a(DataType::Int32)]));
    let list = DataType::List(child("item", DataType::Int32));
    for (field, is_kept) in [
        (ordered(dictionary(DataType::Utf8)), true),
        (ordered(dictionary(DataType::Int32)), true),
        (ordered(dictionary(DataType::Boolean)), false),
        (ordered(dictionary(group)), false),
        (ordered(dictionary(list)), false),
        (ordered(dictionary(runs(DataType::Utf8))), false),
        (a(dictionary(DataType::Boolean)), true),
        (a(in_runs(a(dictionary(DataType::Utf8)))), true),
        (a(in_runs(ordered(dictionary(DataType::Utf8)))), false),
        (
            a(in_runs(a(in_runs(ordered(dictionary(DataType::Utf8)))))),
            false,
        ),
    ] {
        let schema = Schema::new(vec![field.clone()]);
        let result = from_arrow(&schema, &WriteSchemaOptions::default());
        assert_eq!(result.is_ok(), is_kept, "{field:?}");
        if let Err(error) = result {
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.message().contains("cannot keep its order"), "{error}");
        }
        let options = WriteSchemaOptions {
            arrow_schema_hint: HintPolicy::None,
            ..WriteSchemaOptions::default()
        };
        assert!(from_arrow(&schema, &options).is_ok(), "{field:?}");
    }
}

#[test]
fn contradictions() {
    let with = |data_type, key, value| a(data_type).with_metadata(metadata(&[(key, value)]));
    let (id, logical) = ("PARQUET:field_id", "PARQUET:logical_type");
    for field in [
        a(DataType::Decimal128(0, 0)),
        a(DataType::Decimal32(10, 0)),
        a(DataType::Decimal128(5, 6)),
        a(DataType::Map(child("entries", DataType::Int32), false)),
        with(DataType::Int32, id, "one"),
        with(DataType::Int32, logical, "GEOMETRY"),
        with(DataType::Binary, logical, "VARIANT"),
        with(DataType::Binary, logical, "SHAPE"),
        with(DataType::Binary, logical, "GEOMETRY(srid:1)"),
        with(
            DataType::List(child("item", DataType::Int32)),
            logical,
            "FILE",
        ),
        with(
            map(DataType::Int32, DataType::Int32, false),
            logical,
            "ENUM",
        ),
        with(
            DataType::Struct(Fields::from(vec![a(DataType::Int32)])),
            logical,
            "BSON",
        ),
    ] {
        let text = format!("{field:?}");
        assert_eq!(
            refused(field),
            (ErrorKind::Argument, "a".to_owned()),
            "{text}"
        );
    }
}

#[test]
fn what_is_too_deep_to_be_read_back() {
    let deep = |depth| {
        (0..depth).fold(DataType::Int32, |inner, _| {
            DataType::Struct(Fields::from(vec![Field::new("s", inner, true)]))
        })
    };
    assert!(
        from_arrow(
            &Schema::new(vec![a(deep(99))]),
            &WriteSchemaOptions::default()
        )
        .is_ok()
    );
    assert_eq!(refused(a(deep(100))).0, ErrorKind::Limit);
    assert_eq!(refused(a(deep(5000))).0, ErrorKind::Limit);
}
