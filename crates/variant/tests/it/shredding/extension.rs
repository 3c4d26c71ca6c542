//! Groups whose annotation has version 1 become variants, and groups with other versions stay
//! structs.

use std::sync::Arc;

use herringbone_arrow::schema::DataType;
use herringbone_format::Limits;
use herringbone_schema::{
    ParquetSchema, Projection, ReadExtensions, SchemaOptions, to_arrow_extended,
};
use herringbone_variant::extension::VariantExtension;

/// Returns the names of the first field's columns, if it became a variant.
fn variant(field: &str) -> Option<Vec<String>> {
    let schema = format!("message m {{ {field} }}");
    let schema = ParquetSchema::from_message(&schema, &Limits::default()).unwrap();
    let mut extensions = ReadExtensions::default();
    extensions.types.push(Arc::new(VariantExtension::new()));
    let options = SchemaOptions::default();
    let mapping = to_arrow_extended(&schema, &[], &options, &Projection::All, &extensions).unwrap();
    let field = mapping.schema.field(0);
    let DataType::Struct(fields) = field.data_type() else {
        return None;
    };
    let is_variant = field.extension_type_name() == Some("arrow.parquet.variant");
    is_variant.then(|| fields.iter().map(|field| field.name().clone()).collect())
}

#[test]
fn variants_of_version_one_are_read() {
    let columns = "required binary metadata; optional binary value; optional int64 typed_value;";
    for (annotation, is_variant) in [
        ("(VARIANT)", true),
        ("(VARIANT(1))", true),
        ("(VARIANT(2))", false),
        ("(VARIANT(0))", false),
        ("", false),
    ] {
        let found = variant(&format!("optional group v {annotation} {{ {columns} }}"));
        let expected = is_variant.then(|| vec!["metadata".to_owned(), "value".to_owned()]);
        assert_eq!(found, expected, "{annotation}");
    }
    let alone = variant("optional binary v (JSON);");
    assert_eq!(alone, None);
}
