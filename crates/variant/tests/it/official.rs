//! Reads the files of the folder `variant` in apache/parquet-testing.
//!
//! `PARQUET_TEST_DATA` is the path of its `data` folder. Without this variable, these tests print
//! to stderr that they were skipped.

use std::path::PathBuf;

use herringbone_variant::{Decimal, Limits, Value, Variant};

/// The metadata and value of one file.
pub(crate) struct Official {
    pub(crate) name: String,
    pub(crate) metadata: Vec<u8>,
    pub(crate) value: Vec<u8>,
}

impl Official {
    pub(crate) fn variant(&self) -> Variant<'_> {
        Variant::validated(&self.metadata, &self.value, &Limits::default()).unwrap()
    }
}

/// Returns all files, or none if the folder is not known.
pub(crate) fn all() -> Vec<Official> {
    let Some(folder) = folder() else {
        return Vec::new();
    };
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".value").map(str::to_owned))
        .collect();
    names.sort();
    let read =
        |name: &str, kind: &str| std::fs::read(folder.join(format!("{name}.{kind}"))).unwrap();
    let files: Vec<Official> = names
        .into_iter()
        .map(|name| Official {
            metadata: read(&name, "metadata"),
            value: read(&name, "value"),
            name,
        })
        .collect();
    assert_eq!(files.len(), 29);
    files
}

pub(crate) fn folder() -> Option<PathBuf> {
    let data = std::env::var_os("PARQUET_TEST_DATA").map(PathBuf::from);
    if data.is_none() {
        eprintln!("SKIPPED: set PARQUET_TEST_DATA to the `data` folder of apache/parquet-testing");
    }
    Some(data?.join("../variant"))
}

/// Returns the primitive values that `data_dictionary.json` lists. We converted the instants to UTC
/// by hand.
#[test]
fn primitive_values() {
    for file in all() {
        let value = file.variant().value().unwrap();
        let right = match (file.name.as_str(), value) {
            ("primitive_null", value) => matches!(value, Value::Null),
            ("primitive_boolean_true", Value::Boolean(value)) => value,
            ("primitive_boolean_false", Value::Boolean(value)) => !value,
            ("primitive_int8", Value::Int8(value)) => value == 42,
            ("primitive_int16", Value::Int16(value)) => value == 1234,
            ("primitive_int32", Value::Int32(value)) => value == 123_456,
            ("primitive_int64", Value::Int64(value)) => value == 1_234_567_890_123_456_789,
            ("primitive_double", Value::Double(value)) => value == 1_234_567_890.123_4,
            ("primitive_float", Value::Float(value)) => value == 1_234_567_940.0,
            ("primitive_decimal4", Value::Decimal4(value)) => value == Decimal::new(1234, 2),
            ("primitive_decimal8", Value::Decimal8(value)) => {
                value == Decimal::new(1_234_567_890, 2)
            }
            ("primitive_decimal16", Value::Decimal16(value)) => {
                value == Decimal::new(1_234_567_891_234_567_890, 2)
            }
            // 20194 days from 1970-01-01 to 2025-04-16.
            ("primitive_date", Value::Date(value)) => value == 20_194,
            // 16:34:56.78 UTC.
            ("primitive_timestamp", Value::Timestamp(value)) => {
                value == (20_194 * 86_400 + 16 * 3600 + 34 * 60 + 56) * 1_000_000 + 780_000
            }
            ("primitive_timestampntz", Value::TimestampNtz(value)) => {
                value == (20_194 * 86_400 + 12 * 3600 + 34 * 60 + 56) * 1_000_000 + 780_000
            }
            // 20034 days to 2024-11-07.
            ("primitive_timestamp_nanos", Value::TimestampNanos(value))
            | ("primitive_timestampntz_nanos", Value::TimestampNtzNanos(value)) => {
                value == (20_034 * 86_400 + 12 * 3600 + 33 * 60 + 54) * 1_000_000_000 + 123_456_789
            }
            ("primitive_time", Value::Time(value)) => {
                value == (12 * 3600 + 33 * 60 + 54) * 1_000_000 + 123_456
            }
            ("primitive_binary", Value::Binary(value)) => {
                value == [0x03, 0x13, 0x37, 0xde, 0xad, 0xbe, 0xef, 0xca, 0xfe]
            }
            ("primitive_uuid", Value::Uuid(value)) => {
                u128::from_be_bytes(value) == 0xf24f_9b64_81fa_49d1_b74e_8c09_a6e3_1c56
            }
            ("primitive_string" | "long_string", Value::String(value)) => {
                value.starts_with("This string is")
                    && value.contains("longer than 64 bytes and ")
                    && value.ends_with("🤦!!")
            }
            ("short_string", Value::String(value)) => {
                value == "Less than 64 bytes (\u{2764}\u{fe0f} with utf8)"
            }
            ("array_empty", Value::Array(array)) => array.is_empty(),
            ("object_empty", Value::Object(object)) => object.is_empty(),
            (name, Value::Array(_) | Value::Object(_)) => {
                name.contains("nested") || name.contains("_primitive")
            }
            _ => false,
        };
        assert!(right, "{}: {value:?}", file.name);
    }
}

#[test]
fn nested_values() {
    for file in all() {
        let variant = file.variant();
        match file.name.as_str() {
            "array_primitive" => {
                let array = variant.as_array().unwrap().unwrap();
                let numbers: Vec<i8> = array
                    .iter()
                    .map(|element| match element.unwrap().value().unwrap() {
                        Value::Int8(number) => number,
                        other => panic!("{other:?}"),
                    })
                    .collect();
                assert_eq!(numbers, [2, 1, 5, 9]);
            }
            "array_nested" => {
                let names = |element: usize, path: &[&str]| {
                    let mut value = variant.element(element).unwrap().unwrap();
                    for name in path {
                        value = value.field(name).unwrap().unwrap();
                    }
                    let names = value.as_array().unwrap().unwrap();
                    names
                        .iter()
                        .map(|name| text(name.unwrap()))
                        .collect::<Vec<_>>()
                };
                assert_eq!(names(0, &["thing", "names"]), ["Contrarian", "Spider"]);
                assert!(variant.element(1).unwrap().unwrap().is_null());
                assert_eq!(names(2, &["names"]), ["Apple", "Ray", "null"]);
                assert!(variant.element(3).unwrap().is_none());
            }
            "object_nested" => {
                let species = variant.field("species").unwrap().unwrap();
                assert_eq!(
                    text(species.field("name").unwrap().unwrap()),
                    "lava monster"
                );
                assert!(species.field("names").unwrap().is_none());
                assert!(species.element(0).unwrap().is_none());
                let object = variant.as_object().unwrap().unwrap();
                let names: Vec<_> = object.iter().map(|field| field.unwrap().0).collect();
                assert_eq!(names, ["id", "observation", "species"]);
            }
            _ => {}
        }
    }
}

fn text(variant: Variant<'_>) -> String {
    match variant.value().unwrap() {
        Value::String(text) => text.to_owned(),
        Value::Null => "null".to_owned(),
        other => panic!("{other:?}"),
    }
}
