//! Dictionaries of annotated columns.

use std::sync::Arc;

use herringbone::Result;
use herringbone::arrow::schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use herringbone::arrow::schema::{DataType, Field, FieldRef, Schema};
use herringbone::extension::{
    AnnotatedField, ExtensionField, ExtensionMapping, ExtensionType, StoredField,
};
use herringbone::format::LogicalType;

/// A mapping that reads JSON dictionaries as dictionaries of text, without an extension type.
/// pyarrow could not take both, because Arrow's `arrow.json` is not a type for dictionaries.
#[derive(Debug)]
pub(crate) struct PlainDictionaries;

impl ExtensionMapping for PlainDictionaries {
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        let is_dictionary = matches!(stored.storage.data_type(), DataType::Dictionary(..));
        if !is_dictionary || stored.logical_type() != Some(&LogicalType::Json) {
            return Ok(None);
        }
        Ok(Some(ExtensionField::of_storage(without_extension(
            stored.storage,
        ))))
    }

    fn to_parquet(&self, _field: &Field) -> Result<Option<AnnotatedField>> {
        Ok(None)
    }
}

impl ExtensionType for PlainDictionaries {}

/// Returns a schema whose dictionaries do not have the extension type `arrow.json`, or `None` if no
/// dictionary has it.
pub(crate) fn plain(schema: &Schema) -> Option<Schema> {
    let fields: Vec<_> = schema.fields().iter().map(plain_field).collect();
    let is_changed = fields
        .iter()
        .zip(schema.fields())
        .any(|(one, other)| one != other);
    is_changed.then(|| Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn plain_field(field: &FieldRef) -> FieldRef {
    let inner = match field.data_type() {
        DataType::Dictionary(..) if field.extension_type_name() == Some("arrow.json") => {
            return Arc::new(without_extension(field));
        }
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(plain_field).collect()),
        DataType::List(child) => DataType::List(plain_field(child)),
        DataType::LargeList(child) => DataType::LargeList(plain_field(child)),
        DataType::ListView(child) => DataType::ListView(plain_field(child)),
        DataType::LargeListView(child) => DataType::LargeListView(plain_field(child)),
        DataType::Map(entries, is_sorted) => DataType::Map(plain_field(entries), *is_sorted),
        _ => return field.clone(),
    };
    Arc::new(Field::clone(field).with_data_type(inner))
}

fn without_extension(field: &Field) -> Field {
    let mut pairs = field.metadata().clone();
    pairs.remove(EXTENSION_TYPE_NAME_KEY);
    pairs.remove(EXTENSION_TYPE_METADATA_KEY);
    field.clone().with_metadata(pairs)
}
