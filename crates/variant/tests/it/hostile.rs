//! Damaged bytes never cause a panic, and never take more memory or time than their size allows.

use herringbone_format::ErrorKind;
use herringbone_variant::json::JsonWriter;
use herringbone_variant::{Limits, Value, Variant, VariantBuilder};
use proptest::prelude::*;

use crate::official::all;

/// Runs every operation on a value.
fn exercise(metadata: &[u8], value: &[u8]) {
    let Ok(variant) = Variant::new(metadata, value) else {
        return;
    };
    let valid = variant.validate(&Limits::default()).is_ok();
    let copied = VariantBuilder::new().push_variant(variant);
    let printed = JsonWriter::new().write(variant, &mut String::new());
    assert!(
        !valid
            || printed.is_ok()
            || printed.is_err_and(|printed| printed.kind() == ErrorKind::Unsupported),
        "a valid value has no JSON"
    );
    let equal = variant.equals(&variant, &Limits::default());
    assert!(
        !valid || equal.is_ok_and(|equal| equal),
        "a valid value is not itself"
    );
    let mut values = vec![variant];
    while let Some(variant) = values.pop() {
        _ = variant.is_null();
        let value = variant.value();
        assert!(!valid || value.is_ok(), "a valid value has a wrong one");
        match value {
            Ok(Value::Object(object)) => {
                drop(object.get("name"));
                for field in object.iter() {
                    assert!(!valid || field.is_ok(), "a valid value has a wrong field");
                    let Ok((name, value)) = field else { break };
                    let found = object.get(name);
                    if valid {
                        let found = found.unwrap().unwrap();
                        assert_eq!(found.as_bytes(), value.as_bytes());
                    }
                    values.push(value);
                }
            }
            Ok(Value::Array(array)) => {
                drop(array.get(array.len() / 2));
                for element in array.iter() {
                    assert!(
                        !valid || element.is_ok(),
                        "a valid value has a wrong element"
                    );
                    values.extend(element);
                }
            }
            _ => {}
        }
    }
    assert!(!valid || copied.is_ok(), "a valid value cannot be copied");
}

#[test]
fn every_truncation() {
    for file in all() {
        for size in 0..file.value.len() {
            exercise(&file.metadata, &file.value[..size]);
            let cut = Variant::validated(&file.metadata, &file.value[..size], &Limits::default());
            assert!(cut.is_err(), "{} cut to {size} bytes", file.name);
        }
        for size in 0..file.metadata.len() {
            exercise(&file.metadata[..size], &file.value);
        }
    }
}

fn flips(at: usize) -> Vec<u8> {
    if at < 16 {
        (1..=255).collect()
    } else {
        (0..8).map(|bit| 1 << bit).collect()
    }
}

#[test]
fn every_byte_flipped() {
    for mut file in all() {
        // We try all values of the first 16 bytes, with which objects and arrays begin, and flip
        // one bit at a time in the others.
        for at in 0..file.value.len() {
            for bits in flips(at) {
                file.value[at] ^= bits;
                exercise(&file.metadata, &file.value);
                file.value[at] ^= bits;
            }
        }
        for at in 0..file.metadata.len() {
            for bits in flips(at) {
                file.metadata[at] ^= bits;
                exercise(&file.metadata, &file.value);
                file.metadata[at] ^= bits;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(metadata: Vec<u8>, value: Vec<u8>) {
        exercise(&metadata, &value);
        let names = crate::encoding::metadata(&["a", "b", "c"], 1, true);
        exercise(&names, &value);
    }

    /// Small numbers give a meaning to more of the bytes.
    #[test]
    fn random_small_bytes(value in prop::collection::vec(0_u8..16, 0..64)) {
        let names = crate::encoding::metadata(&["a", "b", "c"], 1, true);
        exercise(&names, &value);
    }
}
