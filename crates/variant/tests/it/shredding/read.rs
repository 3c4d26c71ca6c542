//! Reads columns in all layouts, both by the rules and against them.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::array::types::{Int8Type, Int16Type, Int32Type};
use herringbone_arrow::array::{
    Array, ArrayRef, DictionaryArray, Int8Array, Int32Array, LargeBinaryArray, LargeListArray,
    ListArray, RunArray, UInt32Array,
};
use herringbone_arrow::buffer::OffsetBuffer;
use herringbone_arrow::schema::{DataType, Field};
use herringbone_variant::PrimitiveType;
use herringbone_variant::shredding::{
    Shredder, ShreddingType, UnshredOptions, VariantArray, is_variant, variant_field,
};

use super::{NAME_A, NO_NAMES, binary, by_hand, json, lenient, object, primitive, shredded_object};

#[test]
fn storage_in_all_layouts() {
    let value: ArrayRef = Arc::new(LargeBinaryArray::from(vec![
        Some(&[12_u8, 7][..]),
        None,
        None,
    ]));
    let typed: ArrayRef = Arc::new(Int32Array::from(vec![None, Some(8), None]));
    let expected = ["7", "8", "null"].map(|it| Some(it.to_owned()));
    let plain = binary(vec![Some(NO_NAMES); 3]);
    let names = binary(vec![Some(NO_NAMES), Some(NAME_A)]);
    let keys = Int8Array::from(vec![1, 0, 1]);
    let dictionary = DictionaryArray::<Int8Type>::try_new(keys, names.clone()).unwrap();
    let run_ends = Int32Array::from(vec![2, 5]);
    let runs = RunArray::<Int32Type>::try_new(&run_ends, &names).unwrap();
    for (metadata, lengths) in [
        (plain, [0, 0, 0]),
        (Arc::new(dictionary), [1, 0, 1]),
        (Arc::new(runs.slice(1, 3)), [0, 1, 1]),
    ] {
        let array = by_hand(vec![
            ("typed_value", typed.clone()),
            ("metadata", metadata),
            ("value", value.clone()),
        ]);
        assert_eq!(json(&array, &UnshredOptions::default()), expected);
        let array = VariantArray::try_new(&array).unwrap();
        let names = [0, 1, 2].map(|row| array.metadata(row).unwrap().len());
        assert_eq!(names, lengths);
    }
    // This column has no `value`, and its lists have 64-bit offsets.
    let elements = by_hand(vec![("typed_value", typed)]);
    let field = Arc::new(Field::new("element", elements.data_type().clone(), false));
    let offsets = OffsetBuffer::new(vec![0_i64, 3].into());
    let list: ArrayRef =
        Arc::new(LargeListArray::try_new(field, offsets, Arc::new(elements), None).unwrap());
    let metadata = binary(vec![Some(NO_NAMES)]);
    let array = by_hand(vec![("metadata", metadata), ("typed_value", list)]);
    let expected = [Some("[null,8,null]".to_owned())];
    assert_eq!(json(&array, &UnshredOptions::default()), expected);
}

/// The rows that the specification calls invalid, and the result of a lenient read.
#[test]
fn values_that_were_shredded_against_the_rules() {
    // These are {"a": 9}, {}, and the string "a".
    let object: &[u8] = &[2, 1, 0, 0, 2, 12, 9];
    let (empty, string): (&[u8], &[u8]) = (&[2, 0, 0], &[5, b'a']);
    for (array, expected, message) in [
        (
            shredded_object(Some(object), true, Some(1)),
            r#"{"a":1}"#,
            "also in `value`",
        ),
        (
            shredded_object(Some(object), true, None),
            "{}",
            "also in `value`",
        ),
        (
            shredded_object(Some(object), false, None),
            r#"{"a":9}"#,
            "only in `value`",
        ),
        (
            shredded_object(Some(string), true, None),
            "{}",
            "is not an object",
        ),
        (
            shredded_object(Some(empty), false, None),
            "{}",
            "only in `value`",
        ),
    ] {
        let strict = VariantArray::try_new(&array).unwrap();
        let error = strict.value(0, &UnshredOptions::default()).unwrap_err();
        assert!(error.message().contains(message), "{error}");
        assert!(strict.unshred(&UnshredOptions::default()).is_err());
        assert_eq!(json(&array, &lenient()), [Some(expected.to_owned())]);
    }
    let typed: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let metadata = binary(vec![Some(NO_NAMES)]);
    let value = binary(vec![Some(&[12, 2])]);
    let both = by_hand(vec![
        ("metadata", metadata),
        ("value", value),
        ("typed_value", typed),
    ]);
    let error = VariantArray::try_new(&both)
        .unwrap()
        .value(0, &UnshredOptions::default());
    assert!(error.unwrap_err().message().contains("both"));
    assert_eq!(json(&both, &lenient()), [Some("1".to_owned())]);
    // These rows are valid.
    let array = shredded_object(None, true, Some(1));
    assert_eq!(
        json(&array, &UnshredOptions::default()),
        [Some(r#"{"a":1}"#.to_owned())]
    );
    let array = shredded_object(None, false, None);
    assert_eq!(
        json(&array, &UnshredOptions::default()),
        [Some("null".to_owned())]
    );
    let array = shredded_object(Some(empty), true, None);
    assert_eq!(
        json(&array, &UnshredOptions::default()),
        [Some("{}".to_owned())]
    );
}

#[test]
fn storage_that_is_none() {
    let metadata = binary(vec![Some(NO_NAMES)]);
    let unsigned: ArrayRef = Arc::new(UInt32Array::from(vec![1]));
    let bare: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int16Type, _, _>([Some([
        Some(1),
    ])]));
    for (columns, message) in [
        (vec![("value", metadata.clone())], "no column `metadata`"),
        (
            vec![("metadata", metadata.clone())],
            "neither `value` nor `typed_value`",
        ),
        (
            vec![
                ("metadata", metadata.clone()),
                ("typed_value", unsigned.clone()),
            ],
            "`typed_value` of type UInt32",
        ),
        (
            vec![("metadata", unsigned.clone()), ("value", metadata.clone())],
            "not binary",
        ),
        (
            vec![("metadata", metadata.clone()), ("typed_value", bare)],
            "not a group",
        ),
        (
            vec![
                ("metadata", metadata.clone()),
                ("value", metadata),
                ("values", unsigned),
            ],
            "a column `values`",
        ),
    ] {
        let error = VariantArray::try_new(&by_hand(columns)).err().unwrap();
        assert!(error.message().contains(message), "{error}");
    }
    let twice = object(&[
        ("a", ShreddingType::Unshredded),
        ("a", ShreddingType::Unshredded),
    ]);
    assert!(twice.storage_type().is_err());
    let wide = primitive(PrimitiveType::Decimal {
        precision: 39,
        scale: 0,
    });
    assert!(wide.storage_type().is_err());
    let deep = (0..101).fold(ShreddingType::Unshredded, |it, _| {
        ShreddingType::Array(Box::new(it))
    });
    assert!(Shredder::new(deep).is_err());
}

#[test]
fn extension_names() {
    let field = variant_field("v", DataType::Null, true);
    assert!(is_variant(&field));
    let named = |name: &str| {
        let entry = ("ARROW:extension:name".to_owned(), name.to_owned());
        Field::new("v", DataType::Null, true).with_metadata(HashMap::from([entry]))
    };
    assert!(is_variant(&named("parquet.variant")));
    assert!(!is_variant(&named("arrow.uuid")));
    assert!(!is_variant(&Field::new("v", DataType::Null, true)));
}
