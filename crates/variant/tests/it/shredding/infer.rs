//! Checks the shreddings inferred from values.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field};
use herringbone_variant::shredding::{InferOptions, ShreddingType};
use herringbone_variant::{PrimitiveType, VariantBuf};

use super::{object, primitive};

fn inferred(values: &[&str], options: &InferOptions) -> ShreddingType {
    let values = values
        .iter()
        .map(|text| VariantBuf::from_json(text).unwrap());
    let values: Vec<_> = values.collect();
    ShreddingType::infer(values.iter().map(VariantBuf::as_variant), options).unwrap()
}

fn array(element: ShreddingType) -> ShreddingType {
    ShreddingType::Array(Box::new(element))
}

/// Objects and arrays count as levels, and the inference does not look inside those beyond the last
/// level.
#[test]
fn levels_are_limited() {
    let int = || primitive(PrimitiveType::Int64);
    let inside = |depth| {
        inferred(
            &[r#"{"a": {"b": {"c": 1}}}"#],
            &InferOptions::new().max_depth(depth),
        )
    };
    let (c, unshredded) = (object(&[("c", int())]), ShreddingType::Unshredded);
    for depth in [3, 4, 50] {
        let whole = object(&[("a", object(&[("b", c.clone())]))]);
        assert_eq!(inside(depth), whole, "{depth} levels");
    }
    let two = object(&[("a", object(&[("b", unshredded.clone())]))]);
    assert_eq!(inside(2), two);
    assert_eq!(inside(1), object(&[("a", unshredded.clone())]));
    assert_eq!(inside(0), unshredded);

    let inside = |depth| inferred(&["[[1, 2], [3]]"], &InferOptions::new().max_depth(depth));
    assert_eq!(inside(2), array(array(int())));
    assert_eq!(inside(1), unshredded);
    // Later objects with these fields are on the same level.
    let again = [r#"{"a": {}}"#, r#"{"a": {"b": 1}}"#];
    let inside = |depth| inferred(&again, &InferOptions::new().max_depth(depth));
    assert_eq!(inside(2), object(&[("a", object(&[("b", int())]))]));
    assert_eq!(inside(1), object(&[("a", unshredded)]));
}

/// The most frequent kind of values is shredded if at least half of the values have it.
#[test]
fn half_of_the_values_have_the_type() {
    let text = primitive(PrimitiveType::String);
    let of = |values: &[&str]| inferred(values, &InferOptions::new());
    assert_eq!(of(&[r#""a""#, r#""b""#, "1"]), text);
    assert_eq!(
        of(&[r#""a""#, "true", "[]", "{}"]),
        ShreddingType::Unshredded
    );
    // Nulls have no kind.
    assert_eq!(of(&[r#""a""#, "null", "null"]), text);
    assert_eq!(of(&[]), ShreddingType::Unshredded);
    let frequent = |share| {
        let values = [
            r#"{"a": 1, "b": 1}"#,
            r#"{"a": 1}"#,
            r#"{"a": 1}"#,
            r#"{"a": 1}"#,
        ];
        inferred(&values, &InferOptions::new().min_frequency(share))
    };
    let int = || primitive(PrimitiveType::Int64);
    assert_eq!(frequent(0.25), object(&[("a", int()), ("b", int())]));
    assert_eq!(frequent(0.26), object(&[("a", int())]));
}

/// If there are too many columns, the ones with most values stay, and the first path wins a tie.
#[test]
fn the_most_frequent_columns_are_kept() {
    let values = [
        r#"{"a": 1, "list": [1], "o": {"x": 1, "y": 1}}"#,
        r#"{"a": 2, "list": [2, 3], "o": {"x": 2}}"#,
        r#"{"a": 3}"#,
    ];
    let int = || primitive(PrimitiveType::Int64);
    let (a, list) = (("a", int()), ("list", array(int())));
    let (x, y) = (("x", int()), ("y", int()));
    let of = |max_fields| inferred(&values, &InferOptions::new().max_fields(max_fields));
    // The values: 3 of `a`, 3 elements, 2 of `x`, 1 of `y`.
    let inner = |fields: &[(&str, ShreddingType)]| ("o", object(fields));
    let all = object(&[a.clone(), list.clone(), inner(&[x.clone(), y])]);
    assert_eq!(of(5), all);
    assert_eq!(of(4), all);
    assert_eq!(of(3), object(&[a.clone(), list.clone(), inner(&[x])]));
    assert_eq!(of(2), object(&[a.clone(), list]));
    assert_eq!(of(1), object(&[a]));
    assert_eq!(of(0), ShreddingType::Unshredded);
}

#[test]
fn plain_types_are_shredded_down_to_100_levels() {
    let list = |element| DataType::List(Arc::new(Field::new("item", element, true)));
    let fields = vec![
        Field::new("n", DataType::Int64, true),
        Field::new("texts", list(DataType::Utf8), true),
    ];
    let texts = array(primitive(PrimitiveType::String));
    assert_eq!(
        ShreddingType::of_values(&list(DataType::Struct(fields.into()))).unwrap(),
        array(object(&[
            ("n", primitive(PrimitiveType::Int64)),
            ("texts", texts)
        ]))
    );
    let nested = |levels| (0..levels).fold(DataType::Int64, |element, _| list(element));
    assert!(ShreddingType::of_values(&nested(100)).is_ok());
    let error = ShreddingType::of_values(&nested(101)).unwrap_err();
    assert!(error.to_string().contains("100 levels"), "{error}");
}
