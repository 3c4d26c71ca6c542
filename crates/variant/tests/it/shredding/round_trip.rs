//! Shreds any values into any columns, and reads them back.

use herringbone_variant::json::JsonOptions;
use herringbone_variant::shredding::{Shredder, ShreddingType, UnshredOptions, VariantArray};
use herringbone_variant::{Limits, PrimitiveType, VariantBuilder};
use proptest::prelude::*;

use super::primitive;

/// Returns shredding types that match some of the values of [`any_value`].
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
                .prop_map(|inner| ShreddingType::Array(Box::new(inner))),
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
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|texts| format!("[{}]", texts.join(","))),
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
