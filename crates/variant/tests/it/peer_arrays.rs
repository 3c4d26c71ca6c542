//! Compares our arrays with those of the `parquet-variant-compute` crate.

use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::Int64Type;
use herringbone_arrow::array::{Array, ArrayRef, StructArray};
use herringbone_arrow::schema::{DataType, Field};
use herringbone_variant::shredding::{Shredder, ShreddingType, UnshredOptions, VariantArray};
use herringbone_variant::{Limits, PrimitiveType, VariantBuf};
use parquet_variant_compute as theirs;

const ROWS: [Option<&str>; 7] = [
    Some(r#"{"id": 7, "tags": ["a", null, 5], "rest": {"x": [true]}}"#),
    Some(r#"{"id": "seven"}"#),
    None,
    Some("null"),
    Some(r#"{"id": null, "tags": {}}"#),
    Some("[1, 2]"),
    Some(r#"{"id": 300000000000, "tags": []}"#),
];

fn shredding() -> ShreddingType {
    let string = ShreddingType::Primitive(PrimitiveType::String);
    ShreddingType::Object(vec![
        (
            "id".to_owned(),
            ShreddingType::Primitive(PrimitiveType::Int64),
        ),
        ("tags".to_owned(), ShreddingType::Array(Box::new(string))),
    ])
}

fn values() -> Vec<Option<VariantBuf>> {
    let rows = ROWS.iter();
    rows.map(|row| row.map(|text| VariantBuf::from_json(text).unwrap()))
        .collect()
}

fn ours(shredding: ShreddingType) -> StructArray {
    let mut shredder = Shredder::new(shredding).unwrap();
    for value in values() {
        match value {
            Some(value) => shredder.append(value.as_variant()).unwrap(),
            None => shredder.append_null().unwrap(),
        }
    }
    shredder.finish().unwrap()
}

/// Checks that Herringbone reads all rows of `array` as the expected values.
fn check(array: &StructArray) {
    let array = VariantArray::try_new(array).unwrap();
    assert_eq!(array.len(), ROWS.len());
    for (row, expected) in values().iter().enumerate() {
        let value = array.value(row, &UnshredOptions::default()).unwrap();
        match (value, expected) {
            (Some(value), Some(expected)) => {
                let (value, expected) = (value.as_variant(), expected.as_variant());
                assert!(
                    value.equals(&expected, &Limits::default()).unwrap(),
                    "row {row}"
                );
            }
            (value, expected) => assert_eq!(value.is_some(), expected.is_some(), "row {row}"),
        }
    }
}

#[test]
fn they_read_our_arrays_as_they_are() {
    for shredding in [shredding(), ShreddingType::Unshredded] {
        let array = ours(shredding);
        let read = theirs::VariantArray::try_new(&array).unwrap();
        assert_eq!(read.inner().data_type(), array.data_type());
        check(theirs::unshred_variant(&read).unwrap().inner());
    }
}

#[test]
fn they_get_by_path_from_our_arrays() {
    for shredding in [shredding(), ShreddingType::Unshredded] {
        let array: ArrayRef = Arc::new(ours(shredding));
        let path = parquet_variant::VariantPath::try_from("id").unwrap();
        let wanted = Field::new("id", DataType::Int64, true);
        let options = theirs::GetOptions::new_with_path(path).with_as_type(Some(Arc::new(wanted)));
        let ids = theirs::variant_get(&array, options).unwrap();
        let ids: Vec<Option<i64>> = ids.as_primitive::<Int64Type>().iter().collect();
        assert_eq!(ids[0], Some(7));
        assert_eq!(ids[2..6], [None; 4]);
        assert_eq!(ids[6], Some(300_000_000_000));
    }
}

#[test]
fn we_read_their_arrays() {
    let plain = ours(ShreddingType::Unshredded);
    let plain = theirs::VariantArray::try_new(&plain).unwrap();
    let strings = Field::new("item", DataType::Utf8, true);
    let wanted = DataType::Struct(
        vec![
            Field::new("id", DataType::Int64, true),
            Field::new("tags", DataType::List(Arc::new(strings)), true),
        ]
        .into(),
    );
    let shredded = theirs::shred_variant(&plain, &wanted).unwrap();
    assert!(shredded.inner().column_by_name("typed_value").is_some());
    check(shredded.inner());
    // Herringbone also reads a slice from the middle of an array.
    let sliced = shredded.inner().slice(4, 3);
    let array = VariantArray::try_new(&sliced).unwrap();
    let unshredded = array.unshred(&UnshredOptions::default()).unwrap();
    let unshredded = VariantArray::try_new(&unshredded).unwrap();
    for (row, expected) in values().iter().skip(4).enumerate() {
        let value = unshredded.value(row, &UnshredOptions::default()).unwrap();
        let (value, expected) = (value.unwrap(), expected.as_ref().unwrap());
        let equal = value
            .as_variant()
            .equals(&expected.as_variant(), &Limits::default());
        assert!(equal.unwrap());
    }
}
