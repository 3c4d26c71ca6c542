//! The same values in the `parquet-variant` crate.

use herringbone_variant::{Limits, Value, Variant, VariantBuilder};

use crate::official::all;

/// Ours, copied by our builder, is what theirs reads from the original.
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
