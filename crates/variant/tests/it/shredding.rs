//! Values in Arrow arrays, shredded and back.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::{Int8Type, Int16Type, Int32Type, Int64Type};
use herringbone_arrow::array::{
    Array, ArrayRef, BinaryArray, DictionaryArray, Int8Array, Int32Array, LargeBinaryArray,
    LargeListArray, ListArray, RunArray, StructArray, UInt32Array,
};
use herringbone_arrow::buffer::{NullBuffer, OffsetBuffer};
use herringbone_arrow::schema::{DataType, Field};
use herringbone_variant::json::{JsonOptions, JsonWriter};
use herringbone_variant::shredding::{
    GetOptions, Shredder, ShreddingType, UnshredOptions, VariantArray, is_variant, variant_field,
    variant_get,
};
use herringbone_variant::{Limits, PrimitiveType, Variant, VariantBuf, VariantBuilder};
use proptest::prelude::*;

use crate::official::all;

fn primitive(primitive: PrimitiveType) -> ShreddingType {
    ShreddingType::Primitive(primitive)
}

fn object(fields: &[(&str, ShreddingType)]) -> ShreddingType {
    let fields = fields.iter();
    ShreddingType::Object(
        fields
            .map(|(name, it)| ((*name).to_owned(), it.clone()))
            .collect(),
    )
}

fn lenient() -> UnshredOptions {
    let mut options = UnshredOptions::default();
    options.lenient = true;
    options
}

/// JSON of the values of an array.
fn json(array: &dyn Array, options: &UnshredOptions) -> Vec<Option<String>> {
    let array = VariantArray::try_new(array).unwrap();
    let values = (0..array.len()).map(|row| {
        array.value(row, options).unwrap().map(|value| {
            let mut out = String::new();
            JsonWriter::new()
                .write(value.as_variant(), &mut out)
                .unwrap();
            out
        })
    });
    values.collect()
}

fn shred(values: &[Option<&str>], shredding: ShreddingType) -> StructArray {
    let expected = shredding.storage_type().unwrap();
    let mut shredder = Shredder::new(shredding).unwrap();
    for value in values {
        match value {
            Some(text) => {
                let value = VariantBuf::from_json(text).unwrap();
                shredder.append(value.as_variant()).unwrap();
            }
            None => shredder.append_null().unwrap(),
        }
    }
    let array = shredder.finish().unwrap();
    assert_eq!(array.data_type(), &expected);
    array
}

fn column<'a>(array: &'a StructArray, path: &str) -> &'a ArrayRef {
    let mut names = path.split('/');
    let mut column = array.column_by_name(names.next().unwrap()).unwrap();
    for name in names {
        column = column.as_struct().column_by_name(name).unwrap();
    }
    column
}

fn values(array: &StructArray, path: &str) -> Vec<Option<Vec<u8>>> {
    let column = column(array, path).as_binary_view();
    column
        .iter()
        .map(|value| value.map(<[u8]>::to_vec))
        .collect()
}

/// The table of "Value Shredding": 34, null, "n/a", 100.
#[test]
fn measurements_of_the_specification() {
    let input = [Some("34"), Some("null"), Some("\"n/a\""), Some("100")];
    let array = shred(&input, primitive(PrimitiveType::Int64));
    let typed = column(&array, "typed_value").as_primitive::<Int64Type>();
    assert_eq!(
        typed.iter().collect::<Vec<_>>(),
        [Some(34), None, None, Some(100)]
    );
    let value = |bytes: &[u8]| Some(bytes.to_vec());
    let expected = [None, value(&[0]), value(b"\x0Dn/a"), None];
    assert_eq!(values(&array, "value"), expected);
    assert!(
        values(&array, "metadata")
            .iter()
            .all(|it| it.as_deref() == Some(&[0x11, 0, 0][..]))
    );
    assert_eq!(
        json(&array, &UnshredOptions::default()),
        input.map(|it| it.map(str::to_owned))
    );
}

/// The table of "Arrays".
#[test]
fn tags_of_the_specification() {
    let input = [
        Some(r#"["comedy","drama"]"#),
        Some(r#"["horror",null]"#),
        Some(r#"["comedy","drama","romance"]"#),
        Some("null"),
        None,
        Some("[]"),
    ];
    let strings = primitive(PrimitiveType::String);
    let array = shred(&input, ShreddingType::Array(Box::new(strings)));
    let list = column(&array, "typed_value").as_list::<i32>();
    assert_eq!(list.value_offsets(), [0, 2, 4, 7, 7, 7, 7]);
    let validity: Vec<bool> = (0..6).map(|row| list.is_valid(row)).collect();
    assert_eq!(validity, [true, true, true, false, false, true]);
    let elements = list.values().as_struct();
    let typed = column(elements, "typed_value").as_string_view();
    let typed: Vec<_> = typed.iter().collect();
    assert_eq!(
        typed[..4],
        [Some("comedy"), Some("drama"), Some("horror"), None]
    );
    assert_eq!(values(elements, "value")[3], Some(vec![0]));
    assert_eq!(
        json(&array, &UnshredOptions::default()),
        input.map(|it| it.map(str::to_owned))
    );
}

/// The table of "Objects".
#[test]
fn events_of_the_specification() {
    let micros = PrimitiveType::Timestamp {
        nanos: false,
        utc: true,
    };
    let shredding = object(&[
        ("event_type", primitive(PrimitiveType::String)),
        ("event_ts", primitive(PrimitiveType::Int64)),
        ("at", primitive(micros)),
    ]);
    let input = [
        Some(r#"{"event_ts":1729794114937,"event_type":"noop"}"#),
        Some(r#"{"email":"user@example.com","event_ts":1729794146402,"event_type":"login"}"#),
        Some(r#"{"error_msg":"malformed: ..."}"#),
        Some(r#""malformed: not an object""#),
        Some(r#"{"event_ts":1729794954163,"event_type":null}"#),
        Some(r#"{"event_ts":"2024-10-24","event_type":"noop"}"#),
        Some("{}"),
        Some("null"),
        None,
    ];
    let array = shred(&input, shredding);
    let valid = |path: &str| -> Vec<bool> {
        (0..9)
            .map(|row| column(&array, path).is_valid(row))
            .collect()
    };
    assert_eq!(
        valid("value"),
        [false, true, true, true, false, false, false, true, false]
    );
    assert_eq!(
        valid("typed_value"),
        [true, true, true, false, true, true, true, false, false]
    );
    assert_eq!(
        valid("typed_value/event_type/typed_value"),
        [true, true, false, false, false, true, false, false, false]
    );
    assert_eq!(
        valid("typed_value/event_type/value"),
        [false, false, false, false, true, false, false, false, false]
    );
    assert_eq!(
        valid("typed_value/event_ts/value"),
        [false, false, false, false, false, true, false, false, false]
    );
    assert_eq!(
        json(&array, &UnshredOptions::default()),
        input.map(|it| it.map(str::to_owned))
    );
    let shredded = VariantArray::try_new(&array).unwrap();
    let shredded = shredded.shredding_type();
    assert!(matches!(shredded, ShreddingType::Object(fields) if fields.len() == 3));
}

/// What is left of an object has the widths that it needs.
#[test]
fn wide_rests_of_objects() {
    let long = format!("\"{}\"", "x".repeat(70_000));
    for (fields, value) in [(1, "1"), (1, long.as_str()), (300, "1"), (700, "\"text\"")] {
        let fields: Vec<String> = (0..fields)
            .map(|field| format!("\"f{field:03}\":{value}"))
            .collect();
        let text = format!("{{{},\"shredded\":5}}", fields.join(","));
        let int = primitive(PrimitiveType::Int8);
        let array = shred(&[Some(&text)], object(&[("shredded", int)]));
        let value = values(&array, "value").remove(0).unwrap();
        let metadata = values(&array, "metadata").remove(0).unwrap();
        let rest = Variant::validated(&metadata, &value, &Limits::default()).unwrap();
        assert_eq!(rest.as_object().unwrap().unwrap().len(), fields.len());
        assert!(rest.field("shredded").unwrap().is_none());
        assert_eq!(json(&array, &UnshredOptions::default()), [Some(text)]);
    }
}

#[test]
fn unshredded_values_have_a_value_each() {
    let input = [Some("1"), None, Some("{}")];
    let array = shred(&input, ShreddingType::Unshredded);
    assert_eq!(column(&array, "value").null_count(), 0);
    let data_type = array.data_type().clone();
    assert_eq!(
        json(&array, &UnshredOptions::default()),
        input.map(|it| it.map(str::to_owned))
    );
    let again = VariantArray::try_new(&array).unwrap();
    let again = again.unshred(&UnshredOptions::default()).unwrap();
    assert_eq!(again.data_type(), &data_type);
    assert!(again.is_null(1) && again.is_valid(0));
}

/// Each official value in a column of its own type, and beside columns of all others.
#[test]
fn official_values_come_back() {
    use PrimitiveType as T;
    let timestamp = |nanos, utc| T::Timestamp { nanos, utc };
    let types = [
        T::Boolean,
        T::Int8,
        T::Int16,
        T::Int32,
        T::Int64,
        T::Float,
        T::Double,
        T::Decimal {
            precision: 9,
            scale: 2,
        },
        T::Decimal {
            precision: 18,
            scale: 2,
        },
        T::Decimal {
            precision: 38,
            scale: 2,
        },
        T::Date,
        T::Time,
        timestamp(false, false),
        timestamp(false, true),
        timestamp(true, false),
        timestamp(true, true),
        T::String,
        T::Binary,
        T::Uuid,
    ];
    let mut shredded = 0;
    for wanted in types {
        let mut shredder = Shredder::new(primitive(wanted)).unwrap();
        let files = all();
        for file in &files {
            shredder.append(file.variant()).unwrap();
        }
        let array = shredder.finish().unwrap();
        let column = array.column_by_name("typed_value").unwrap();
        shredded += column.len() - column.null_count();
        let array = VariantArray::try_new(&array).unwrap();
        for (row, file) in files.iter().enumerate() {
            let value = array
                .value(row, &UnshredOptions::default())
                .unwrap()
                .unwrap();
            let equal = value
                .as_variant()
                .equals(&file.variant(), &Limits::default());
            assert!(equal.unwrap(), "{} as {wanted:?}", file.name);
        }
    }
    if !all().is_empty() {
        // 2 booleans; 1 to 4 integers in the integer types, and those of them that fit, with 1 to
        // 3 decimals, in the decimals; two floating point numbers; a date and a time; each of two
        // timestamps in nanoseconds, and that in microseconds which no nanosecond is in, and 4 in
        // all; three strings; bytes; a UUID.
        let (integers, decimals) = (1 + 2 + 3 + 4, (3 + 1) + (3 + 2) + (4 + 3));
        let timestamps = 1 + 1 + 2 + 2;
        assert_eq!(
            shredded,
            2 + integers + decimals + 2 + 2 + timestamps + 3 + 1 + 1
        );
    }
}

/// A shredded column by hand: columns in any order, `value` perhaps missing.
fn by_hand(columns: Vec<(&str, ArrayRef)>) -> StructArray {
    let len = columns[0].1.len();
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, it)| Field::new(*name, it.data_type().clone(), true))
        .collect();
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    StructArray::try_new_with_length(fields.into(), columns, None, len).unwrap()
}

fn binary(values: Vec<Option<&[u8]>>) -> ArrayRef {
    Arc::new(BinaryArray::from(values))
}

const NO_NAMES: &[u8] = &[0x11, 0, 0];
/// `{"a"}` as a dictionary.
const NAME_A: &[u8] = &[0x11, 1, 0, 1, b'a'];

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
    // No `value`, and lists with 64-bit offsets.
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

/// An object with field a shredded as an integer: columns `value`, `typed_value` valid or not, and
/// `a`.
fn shredded_object(value: Option<&[u8]>, is_typed: bool, a: Option<i32>) -> StructArray {
    let typed: ArrayRef = Arc::new(Int32Array::from(vec![a]));
    let field = by_hand(vec![("value", binary(vec![None])), ("typed_value", typed)]);
    let fields = vec![Field::new("a", field.data_type().clone(), false)];
    let nulls = Some(NullBuffer::from(vec![is_typed]));
    let object = StructArray::try_new(fields.into(), vec![Arc::new(field)], nulls).unwrap();
    by_hand(vec![
        ("metadata", binary(vec![Some(NAME_A)])),
        ("value", binary(vec![value])),
        ("typed_value", Arc::new(object)),
    ])
}

/// The rows that the specification calls invalid, and what lenient reading makes of them.
#[test]
fn values_that_were_shredded_against_the_rules() {
    // {"a": 9}, {}, and the string "a".
    let object: &[u8] = &[2, 1, 0, 0, 2, 12, 9];
    let (empty, string): (&[u8], &[u8]) = (&[2, 0, 0], &[5, b'a']);
    for (array, expected, message) in [
        (
            shredded_object(Some(object), true, Some(1)),
            r#"{"a":1}"#,
            "in `value` as well",
        ),
        (
            shredded_object(Some(object), true, None),
            "{}",
            "in `value` as well",
        ),
        (
            shredded_object(Some(object), false, None),
            r#"{"a":9}"#,
            "in `value` alone",
        ),
        (
            shredded_object(Some(string), true, None),
            "{}",
            "`value` is none",
        ),
        (
            shredded_object(Some(empty), false, None),
            "{}",
            "in `value` alone",
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
    // What is right.
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

/// Whatever the bytes, shredding and reading give values or errors.
fn survive(metadata: &[u8], value: &[u8]) {
    let strings = primitive(PrimitiveType::String);
    let shredding = object(&[
        ("a", ShreddingType::Array(Box::new(strings.clone()))),
        ("id", primitive(PrimitiveType::Int8)),
        ("species", object(&[("name", strings)])),
    ]);
    if let Ok(variant) = Variant::new(metadata, value) {
        for shredding in [
            shredding,
            ShreddingType::Array(Box::new(ShreddingType::Unshredded)),
        ] {
            let mut shredder = Shredder::new(shredding).unwrap();
            let appended = shredder.append(variant);
            let array = shredder.finish();
            if appended.is_ok() {
                let array = array.unwrap();
                let array = VariantArray::try_new(&array).unwrap();
                let read = array.unshred(&UnshredOptions::default());
                assert!(variant.validate(&Limits::default()).is_err() || read.is_ok());
            }
        }
    }
    for is_typed in [false, true] {
        let mut array = shredded_object(Some(value), is_typed, Some(5));
        let columns = array.columns().iter().skip(1).cloned();
        let columns = std::iter::once(binary(vec![Some(metadata)]))
            .chain(columns)
            .collect();
        array = StructArray::try_new(array.fields().clone(), columns, None).unwrap();
        let array = VariantArray::try_new(&array).unwrap();
        for options in [UnshredOptions::default(), lenient()] {
            drop(array.value(0, &options));
            drop(array.unshred(&options));
        }
    }
}

#[test]
fn damaged_official_values() {
    for mut file in all() {
        for at in 0..file.value.len() {
            for bit in 0..8 {
                file.value[at] ^= 1 << bit;
                survive(&file.metadata, &file.value);
                file.value[at] ^= 1 << bit;
            }
        }
        for at in 0..file.metadata.len() {
            for bit in 0..8 {
                file.metadata[at] ^= 1 << bit;
                survive(&file.metadata, &file.value);
                file.metadata[at] ^= 1 << bit;
            }
        }
    }
}

/// Shredding types that have something to do with the values of [`any_value`].
fn any_shredding() -> impl Strategy<Value = ShreddingType> {
    let leaf = prop_oneof![
        Just(ShreddingType::Unshredded),
        Just(primitive(PrimitiveType::Int16)),
        Just(primitive(PrimitiveType::Decimal {
            precision: 5,
            scale: 1
        })),
        Just(primitive(PrimitiveType::String)),
        Just(primitive(PrimitiveType::Boolean)),
        Just(primitive(PrimitiveType::Double)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|it| ShreddingType::Array(Box::new(it))),
            prop::collection::btree_map("[a-d]", inner, 0..4)
                .prop_map(|fields| ShreddingType::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|it| it.to_string()),
        (-300_i64..70_000).prop_map(|it| it.to_string()),
        (-300_i64..300).prop_map(|it| format!("{}.{}", it / 10, it.abs() % 10)),
        (-9_i64..9).prop_map(|it| format!("{it}e2")),
        "[a-z]{0,70}".prop_map(|it| format!("\"{it}\"")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|it| format!("[{}]", it.join(","))),
            prop::collection::btree_map("[a-e]", inner, 0..5).prop_map(|fields| {
                let fields: Vec<_> = fields
                    .into_iter()
                    .map(|(name, it)| format!("\"{name}\":{it}"))
                    .collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_bytes(metadata: Vec<u8>, value in prop::collection::vec(0_u8..24, 0..64)) {
        survive(&metadata, &value);
        survive(&crate::encoding::metadata(&["a", "id", "species"], 1, true), &value);
    }

    #[test]
    fn any_value_comes_back_from_any_columns(
        values in prop::collection::vec(prop::option::of(any_value()), 0..6),
        shredding in any_shredding(),
    ) {
        let mut builder = VariantBuilder::new();
        let mut shredder = Shredder::new(shredding.clone()).unwrap();
        let mut expected = Vec::new();
        for value in &values {
            let Some(text) = value else {
                shredder.append_null().unwrap();
                expected.push(None);
                continue;
            };
            builder.push_json(text, &JsonOptions::default()).unwrap();
            let value = builder.finish().unwrap();
            shredder.append(value.as_variant()).unwrap();
            expected.push(Some(value));
        }
        let array = shredder.finish().unwrap();
        let shredded = VariantArray::try_new(&array).unwrap();
        if array.column_by_name("typed_value").is_some() {
            prop_assert_eq!(shredded.shredding_type(), &shredding);
        }
        let unshredded = shredded.unshred(&UnshredOptions::default()).unwrap();
        let unshredded = VariantArray::try_new(&unshredded).unwrap();
        for (row, expected) in expected.iter().enumerate() {
            let options = UnshredOptions::default();
            for array in [&shredded, &unshredded] {
                let value = array.value(row, &options).unwrap();
                prop_assert_eq!(value.is_some(), expected.is_some());
                if let (Some(value), Some(expected)) = (&value, expected) {
                    value.as_variant().validate(&Limits::default()).unwrap();
                    let (value, expected) = (value.as_variant(), expected.as_variant());
                    prop_assert!(value.equals(&expected, &Limits::default()).unwrap());
                }
            }
        }
    }
}

/// Some writers order fields by UTF-16. Columns have the fields all the same, and nothing is left of them in `value`.
#[test]
fn fields_in_any_order_are_shredded() {
    let int8 = |value: u8| [3 << 2, value];
    let values: Vec<[u8; 2]> = (0..4).map(int8).collect();
    // U+1F600 is before U+E000 there, and behind it in UTF-8.
    let in_utf16 = ["a", "\u{1F600}", "\u{E000}", "z"];
    let in_utf8 = ["a", "z", "\u{E000}", "\u{1F600}"];
    for ordered in [in_utf8, ["a", "z", "\u{1F600}", "\u{E000}"], in_utf16] {
        let names = crate::encoding::metadata(&ordered, 1, false);
        let fields: Vec<(u32, &[u8])> = (0..4).zip(values.iter().map(|it| &it[..])).collect();
        let bytes = crate::encoding::object(&fields, &[0, 1, 2, 3], (false, 1, 1));
        let value = Variant::new(&names, &bytes).unwrap();
        for shredded in [&ordered[..], &ordered[1..3], &["b", "\u{1F600}", "y"]] {
            let fields = shredded.iter();
            let fields = fields.map(|name| (*name, primitive(PrimitiveType::Int8)));
            let fields: Vec<_> = fields.collect();
            let mut shredder = Shredder::new(object(&fields)).unwrap();
            shredder.append(value).unwrap();
            let array = shredder.finish().unwrap();
            let typed = array.column_by_name("typed_value").unwrap().as_struct();
            for name in shredded {
                let group = typed.column_by_name(name).unwrap().as_struct();
                let column = group.column_by_name("typed_value").unwrap();
                let column = column.as_primitive::<Int8Type>();
                let wanted = ordered.iter().position(|it| it == name);
                let found = column.is_valid(0).then(|| column.value(0) as usize);
                assert_eq!(found, wanted, "{name} of {ordered:?}");
            }
            let left = array.column_by_name("value").unwrap();
            let is_whole = ordered.iter().all(|name| shredded.contains(name));
            assert_eq!(left.is_null(0), is_whole, "{shredded:?} of {ordered:?}");
        }
    }
}

/// A path alone, without the columns beside it.
#[test]
fn one_path_is_what_all_columns_say() {
    let values = [
        Some(r#"{"a":{"b":1,"x":"y"},"n":1.5,"tags":["p","q"]}"#),
        None,
        Some(r#"{"a":{"b":"text"},"tags":[7]}"#),
        Some("null"),
        Some(r#"{"a":null,"n":2}"#),
        Some("[1,2]"),
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
                    let all = VariantArray::try_new(&array).unwrap();
                    let all = all.get_all_as(&path, wanted, &options).unwrap();
                    assert_eq!(&one, &all, "{path} {wanted:?}");
                    found += one.len() - one.null_count();
                }
            }
        }
    }
    assert!(found > 60, "{found}");
}

/// What no variant has is found where the path leads there.
#[test]
fn one_path_looks_at_its_own_columns() {
    let group = |typed: ArrayRef| -> ArrayRef {
        Arc::new(by_hand(vec![
            ("value", binary(vec![None])),
            ("typed_value", typed),
        ]))
    };
    let fields = vec![
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
