//! Compares our values with those that the `parquet-variant` crate makes and reads.

use herringbone_variant::json::{Fractions, JsonOptions};
use herringbone_variant::{Limits, Value, Variant, VariantBuilder};

use crate::official::all;

/// The other crate reads a copy made by Herringbone's builder like the original.
#[test]
fn they_read_what_we_build() {
    for file in all() {
        let mut builder = VariantBuilder::new();
        builder.push_variant(file.variant()).unwrap();
        let built = builder.finish().unwrap();
        let theirs = parquet_variant::Variant::try_new(&file.metadata, &file.value).unwrap();
        let read =
            parquet_variant::Variant::try_new(built.metadata_bytes(), built.value_bytes()).unwrap();
        assert_eq!(read, theirs, "{}", file.name);
    }
}

#[test]
fn we_read_what_they_build() {
    let mut builder = parquet_variant::VariantBuilder::new();
    let mut object = builder.new_object();
    for field in (0..300_i32).rev() {
        object.insert(&format!("field {field}"), field);
    }
    object.finish();
    let (metadata, value) = builder.finish();
    let variant = Variant::validated(&metadata, &value, &Limits::default()).unwrap();
    for field in 0..300 {
        let found = variant.field(&format!("field {field}")).unwrap().unwrap();
        assert!(matches!(found.value().unwrap(), Value::Int32(value) if value == field));
    }
    assert!(variant.field("field 300").unwrap().is_none());
}

/// The other crate reads and writes doubles instead of decimals, and does not sort names.
#[test]
fn json_of_theirs_is_json_of_ours() {
    let text = r#"{"z": [1, -2.5, 300, 1e300, true, null], "a": {"z": "é", "b": {}, "q": []}}"#;
    let mut theirs = parquet_variant::VariantBuilder::new();
    parquet_variant_json::JsonToVariant::append_json(&mut theirs, text).unwrap();
    let (metadata, value) = theirs.finish();
    let theirs = Variant::validated(&metadata, &value, &Limits::default()).unwrap();
    let mut options = JsonOptions::default();
    options.fractions = Fractions::Double;
    let mut builder = VariantBuilder::new();
    builder.push_json(text, &options).unwrap();
    let ours = builder.finish().unwrap();
    assert!(
        ours.as_variant()
            .equals(&theirs, &Limits::default())
            .unwrap()
    );
    let read =
        parquet_variant::Variant::try_new(ours.metadata_bytes(), ours.value_bytes()).unwrap();
    let printed = parquet_variant_json::VariantToJson::to_json_value(&read).unwrap();
    assert_eq!(printed["z"][1], -2.5);
    assert_eq!(printed["a"]["z"], "é");
}
