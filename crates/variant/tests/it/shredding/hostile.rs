//! Whatever the bytes are, shredding and reading return values or errors.

use herringbone_arrow::array::StructArray;
use herringbone_variant::shredding::{Shredder, ShreddingType, UnshredOptions, VariantArray};
use herringbone_variant::{Limits, PrimitiveType, Variant};
use proptest::prelude::*;

use super::{binary, lenient, object, primitive, shredded_object};
use crate::official::all;

/// Checks that shredding and reading return values or errors, whatever the bytes are.
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
            assert!(appended.is_ok() || array.is_err());
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
}
