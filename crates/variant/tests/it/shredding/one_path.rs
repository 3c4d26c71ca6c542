//! Checks the values at one path.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::{Float64Type, Int64Type};
use herringbone_arrow::array::{Array, ArrayRef, Int32Array, StructArray, UInt32Array};
use herringbone_arrow::schema::{DataType, Field};
use herringbone_variant::shredding::{
    GetOptions, ShreddingType, UnshredOptions, VariantArray, is_variant, variant_field, variant_get,
};
use herringbone_variant::{Cast, PrimitiveType, Scalar, VariantPath};

use super::{NO_NAMES, binary, by_hand, json, lenient, object, primitive, shred, shredded_object};

/// Returns the values of an array of integers, doubles or text.
fn texts(array: &ArrayRef) -> Vec<Option<String>> {
    let text = |row: usize| match array.data_type() {
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float64 => array.as_primitive::<Float64Type>().value(row).to_string(),
        _ => array.as_string_view().value(row).to_owned(),
    };
    let rows = 0..array.len();
    rows.map(|row| array.is_valid(row).then(|| text(row)))
        .collect()
}

fn text_of(value: &Cast<'_>) -> Option<String> {
    Some(match value {
        Cast::Value(Scalar::Int(value)) => value.to_string(),
        Cast::Value(Scalar::Double(value)) => value.to_string(),
        Cast::Value(Scalar::String(value)) => value.to_string(),
        _ => return None,
    })
}

/// Reading only the columns on a path has the same result as reading all columns.
#[test]
fn one_path_is_what_all_columns_say() {
    let values = [
        Some(r#"{"a":{"b":1,"x":"y"},"n":1.5,"tags":["p","q"]}"#),
        None,
        Some(r#"{"a":{"b":"text"},"tags":[7]}"#),
        Some("null"),
        Some(r#"{"a":null,"n":2}"#),
        Some("[1,2]"),
        Some(r#"{"A":0,"a":{"a":0,"b":"p","c":4,"x":5},"n":-7,"tags":[]}"#),
        Some(r#"{"a":{"b":9,"x":"z"},"n":1e300,"tags":["long text, more than twelve bytes"]}"#),
    ];
    let int = || primitive(PrimitiveType::Int64);
    let a = object(&[("b", int()), ("x", primitive(PrimitiveType::String))]);
    let tags = ShreddingType::Array(Box::new(primitive(PrimitiveType::String)));
    let mut found = 0;
    for shredding in [
        ShreddingType::Unshredded,
        object(&[("a", a), ("n", int()), ("tags", tags)]),
        object(&[
            ("tags", int()),
            ("a", object(&[("x", int()), ("b", int())])),
        ]),
        object(&[("n", int())]),
    ] {
        let array = shred(&values, shredding);
        for path in [
            "$",
            "$.a",
            "$.a.b",
            "$.a.x",
            "$.tags[0]",
            "$.n",
            "$.none",
            "$.a.b.c",
            "$[1]",
        ] {
            let path = path.parse().unwrap();
            for wanted in [
                PrimitiveType::Int64,
                PrimitiveType::Double,
                PrimitiveType::String,
            ] {
                for unshred in [UnshredOptions::default(), lenient()] {
                    let mut options = GetOptions::default();
                    options.unshred = unshred;
                    let one = variant_get(&array, &path, wanted, &options).unwrap();
                    let rows = VariantArray::try_new(&array).unwrap();
                    let all = rows.get_all_as(&path, wanted, &options).unwrap();
                    assert_eq!(&one, &all, "{path} {wanted:?}");
                    let each = (0..rows.len()).map(|row| rows.get_as(row, &path, wanted, &options));
                    let each: Vec<_> = each.map(|each| text_of(&each.unwrap())).collect();
                    assert_eq!(texts(&one), each, "{path} {wanted:?}");
                    found += one.len() - one.null_count();
                }
            }
        }
    }
    assert!(found > 60, "{found}");
}

/// An invalid column is found if the path leads to it.
#[test]
fn one_path_looks_at_its_own_columns() {
    let group = |typed: ArrayRef| -> ArrayRef {
        Arc::new(by_hand(vec![
            ("value", binary(vec![None])),
            ("typed_value", typed),
        ]))
    };
    let odd: ArrayRef = Arc::new(by_hand(vec![
        ("metadata", binary(vec![None])),
        ("typed_value", Arc::new(Int32Array::from(vec![7]))),
    ]));
    let fields = vec![
        ("odd", odd),
        ("good", group(Arc::new(Int32Array::from(vec![7])))),
        ("bad", group(Arc::new(UInt32Array::from(vec![7])))),
    ];
    let array = by_hand(vec![
        ("metadata", binary(vec![Some(NO_NAMES)])),
        ("value", binary(vec![None])),
        ("typed_value", Arc::new(by_hand(fields))),
    ]);
    assert!(VariantArray::try_new(&array).is_err());
    let get = |path: &str| {
        let (path, options) = (path.parse().unwrap(), GetOptions::default());
        variant_get(&array, &path, PrimitiveType::Int64, &options)
    };
    assert_eq!(
        get("$.good").unwrap().as_primitive::<Int64Type>().value(0),
        7
    );
    assert!(get("$.bad").is_err());
    assert!(get("$.odd").is_err());
    let without = by_hand(vec![("value", binary(vec![Some(&[0])]))]);
    let path = "$.a".parse().unwrap();
    let error = variant_get(
        &without,
        &path,
        PrimitiveType::Int64,
        &GetOptions::default(),
    );
    assert!(error.unwrap_err().message().contains("metadata"));
}

/// Builds unshredded values by hand.
fn unshredded(metadata: &[u8], values: &[&[u8]]) -> StructArray {
    by_hand(vec![
        ("metadata", binary(vec![Some(metadata); values.len()])),
        ("value", binary(values.iter().copied().map(Some).collect())),
    ])
}

/// The field's position in the previous row is only a guess for the next row.
#[test]
fn fields_that_move_from_row_to_row() {
    let metadata = crate::encoding::metadata(&["a", "b", "c"], 1, true);
    let (one, two, wide): (&[u8], &[u8], &[u8]) = (&[12, 1], &[12, 2], &[16, 3, 1]);
    let object = |fields: &[(u32, &[u8])], layout: &[usize]| {
        crate::encoding::object(fields, layout, (false, 1, 1))
    };
    let rows = [
        object(&[(0, one), (1, one), (2, two)], &[0, 1, 2]),
        object(&[(1, one), (2, wide)], &[1, 0]),
        object(&[(0, one), (1, two)], &[0, 1]),
        object(&[(2, two)], &[0]),
        object(&[], &[]),
        // The dictionary lacks the last name, but nothing requests it.
        object(&[(0, one), (2, two), (9, one)], &[0, 1, 2]),
    ];
    let rows: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
    let array = unshredded(&metadata, &rows);
    let path = "$.c".parse().unwrap();
    let options = GetOptions::default();
    let found = variant_get(&array, &path, PrimitiveType::Int64, &options).unwrap();
    let found: Vec<_> = found.as_primitive::<Int64Type>().iter().collect();
    let expected = [Some(2), Some(259), None, Some(2), None, Some(2)];
    assert_eq!(found, expected);
}

/// Bytes on a path are checked like the bytes of a separate value.
#[test]
fn values_that_end_early_are_errors_at_a_path() {
    let metadata = crate::encoding::metadata(&["a"], 1, true);
    let whole = crate::encoding::object(&[(0, &[12, 1])], &[0], (false, 1, 1));
    let (empty, short): (&[u8], &[u8]) = (&[], &[24, 1, 2]);
    for bytes in [
        empty,
        short,
        &[0x41, 1],
        &whole[..4],
        &whole[..whole.len() - 1],
    ] {
        for path in ["$.a", "$[0]", "$"] {
            let array = unshredded(&metadata, &[&whole, bytes]);
            let (path, options) = (path.parse().unwrap(), GetOptions::default());
            let found = variant_get(&array, &path, PrimitiveType::Int64, &options);
            assert!(found.is_err(), "{bytes:?} at {path}");
        }
    }
}

/// Checks objects with and without shredded fields next to them, at a path without a column.
#[test]
fn rules_of_shredding_at_a_path() {
    // These are {"a": 9} and the string "a".
    let (object, string): (&[u8], &[u8]) = (&[2, 1, 0, 0, 2, 12, 9], &[5, b'a']);
    let path = "$.other".parse().unwrap();
    let get = |array: &StructArray, is_lenient: bool| {
        let mut options = GetOptions::default();
        options.unshred.lenient = is_lenient;
        variant_get(array, &path, PrimitiveType::Int64, &options)
    };
    for (value, is_typed, is_right) in [
        (Some(object), false, false),
        (Some(string), true, false),
        (Some(string), false, true),
        (Some(object), true, true),
        (None, true, true),
        (None, false, true),
    ] {
        let array = shredded_object(value, is_typed, None);
        let found = get(&array, false);
        assert_eq!(found.is_ok(), is_right, "{value:?} {is_typed}");
        assert_eq!(get(&array, true).unwrap().null_count(), 1);
    }
}

/// Checks the value at `$.a`, with different data around its column and next to it, in strict and
/// lenient reads.
fn check_objects(check: impl Fn(&StructArray, &VariantPath, &GetOptions, Option<i64>)) {
    let object: &[u8] = &[2, 1, 0, 0, 2, 12, 9];
    let path = "$.a".parse().unwrap();
    for (array, strict, lenient) in [
        (shredded_object(None, true, Some(5)), Some(5), Some(5)),
        // Below a null, any bytes are allowed.
        (shredded_object(None, false, Some(5)), None, None),
        // Only a lenient read inspects the data next to the column.
        (shredded_object(Some(object), false, None), None, Some(9)),
        (shredded_object(Some(object), true, None), None, None),
    ] {
        for (is_lenient, expected) in [(false, strict), (true, lenient)] {
            let mut options = GetOptions::default();
            options.unshred.lenient = is_lenient;
            check(&array, &path, &options, expected);
        }
    }
}

#[test]
fn shredded_fields_of_what_is_no_object() {
    check_objects(|array, path, options, expected| {
        let found = variant_get(array, path, PrimitiveType::Int64, options).unwrap();
        let found: Vec<_> = found.as_primitive::<Int64Type>().iter().collect();
        assert_eq!(found, [expected], "{options:?}");
    });
}

#[test]
fn all_values_are_those_of_the_column_unless_the_read_is_lenient() {
    check_objects(|array, path, options, expected| {
        let column = VariantArray::try_new(array).unwrap();
        let found = column.get_all(path, options).unwrap();
        assert_eq!(found.is_valid(0), expected.is_some(), "{options:?}");
        let found = json(&found, &UnshredOptions::default());
        let expected = expected.map(|number| number.to_string());
        assert_eq!(found, [expected], "{options:?}");
    });
}

/// An extension type marks a field, by the name that Arrow has for it or by Parquet's older name.
#[test]
fn columns_of_variants_are_marked() {
    let storage = ShreddingType::Unshredded.storage_type().unwrap();
    let named = |name: &str| {
        let pairs = [("ARROW:extension:name".to_owned(), name.to_owned())];
        Field::new("v", storage.clone(), true).with_metadata(HashMap::from(pairs))
    };
    for (name, is_marked) in [
        ("arrow.parquet.variant", true),
        ("parquet.variant", true),
        ("arrow.json", false),
        ("", false),
    ] {
        assert_eq!(is_variant(&named(name)), is_marked, "{name}");
    }
    assert!(!is_variant(&Field::new("v", storage.clone(), true)));
    for nullable in [false, true] {
        let field = variant_field("v", storage.clone(), nullable);
        assert_eq!(
            (field.name().as_str(), field.is_nullable()),
            ("v", nullable)
        );
        assert_eq!(field.data_type(), &storage);
        let mut metadata: Vec<_> = field.metadata().iter().collect();
        metadata.sort();
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let wanted = [
            pair("ARROW:extension:metadata", ""),
            pair("ARROW:extension:name", "arrow.parquet.variant"),
        ];
        assert_eq!(
            metadata,
            wanted.iter().map(|it| (&it.0, &it.1)).collect::<Vec<_>>()
        );
    }
}
