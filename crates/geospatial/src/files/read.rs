//! Determines the Arrow field for a stored column.

use herringbone_arrow::schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use herringbone_arrow::schema::{DataType, Field};
use herringbone_core::extension::StoredField;
use herringbone_format::{LogicalType, Repetition, Result, Type};
use herringbone_schema::LOGICAL_TYPE_KEY;

use crate::geoarrow::{EXTENSION_NAME, ExtensionMetadata, FORMER_EXTENSION_NAME, native_name};
use crate::geoparquet::{Encoding, GeoMetadata, Version};

/// Returns the field with an extension type for a stored geometry column. The logical type takes
/// precedence, then the GeoParquet metadata. The file's Arrow schema comes last, and is already
/// part of the storage field.
pub(super) fn field(
    stored: &StoredField<'_>,
    geoparquet: impl FnOnce() -> Option<std::sync::Arc<GeoMetadata>>,
) -> Result<Option<Field>> {
    if let Some(logical_type) = geospatial(stored) {
        let lookup = |key: &str| stored.value_of(key);
        let Some(meaning) = ExtensionMetadata::of(logical_type, lookup)? else {
            return Ok(None);
        };
        let field = is_binary(stored.storage.data_type())
            .then(|| extended(stored.storage, EXTENSION_NAME, &meaning))
            .flatten();
        // GeoParquet 1 uses plain bytes, so if a file has both the metadata and an annotation, we
        // have to record the annotation.
        let has_both = || {
            let metadata = geoparquet();
            stored.node().parent == 0
                && metadata.is_some_and(|metadata| metadata.version < Version::V2_0)
        };
        return Ok(field.map(|field| with_logical_type(field, logical_type, has_both())));
    }
    let node = stored.node();
    let is_known = stored.logical_type().is_some() && !node.is_group();
    if node.parent != 0 || node.repetition() == Repetition::Repeated || is_known {
        return Ok(None);
    }
    let Some(metadata) = geoparquet() else {
        return Ok(None);
    };
    let Some(column) = metadata.column(&node.element.name) else {
        return Ok(None);
    };
    let logical_type = column
        .edges
        .logical_type(column.crs.text().map(str::to_owned));
    let Some(meaning) = ExtensionMetadata::of(&logical_type, |_| None)? else {
        return Ok(None);
    };
    let data_type = stored.storage.data_type();
    Ok(match column.encoding {
        Encoding::Wkb if is_byte_array(stored) && is_binary(data_type) => {
            extended(stored.storage, EXTENSION_NAME, &meaning)
        }
        Encoding::Native(kind) => native_name(kind)
            .filter(|_| crate::native::is_array_of(data_type, kind))
            .and_then(|name| extended(stored.storage, name, &meaning)),
        Encoding::Wkb => None,
    })
}

/// Returns a geometry column's annotation. The annotation only has a meaning on BYTE_ARRAY.
fn geospatial<'a>(stored: &StoredField<'a>) -> Option<&'a LogicalType> {
    let is_geospatial = |it: &&LogicalType| {
        matches!(
            it,
            LogicalType::Geometry { .. } | LogicalType::Geography { .. }
        )
    };
    stored
        .logical_type()
        .filter(is_geospatial)
        .filter(|_| is_byte_array(stored))
}

fn is_byte_array(stored: &StoredField<'_>) -> bool {
    let leaf = stored.leaf();
    leaf.is_some_and(|leaf| leaf.physical_type == Type::ByteArray)
}

/// Returns true for types of bytes, including dictionaries of bytes.
pub(super) fn is_binary(data_type: &DataType) -> bool {
    match data_type {
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        DataType::Dictionary(_, values) => is_binary(values),
        _ => false,
    }
}

/// Returns the storage as a field whose extension type has this name and meaning. A hint from the
/// file is left unchanged if it agrees. Returns `None` for an unrelated extension type, leaving it
/// alone.
fn extended(storage: &Field, name: &str, meaning: &ExtensionMetadata) -> Option<Field> {
    let hinted = storage.extension_type_name();
    let is_own = |it: &str| it == name || name == EXTENSION_NAME && it == FORMER_EXTENSION_NAME;
    if !hinted.is_none_or(is_own) {
        return None;
    }
    if hinted.is_some() && says_the_same(storage, meaning) {
        return Some(storage.clone());
    }
    let mut pairs = storage.metadata().clone();
    pairs.insert(EXTENSION_TYPE_NAME_KEY.to_owned(), name.to_owned());
    pairs.insert(EXTENSION_TYPE_METADATA_KEY.to_owned(), meaning.to_json());
    Some(storage.clone().with_metadata(pairs))
}

fn says_the_same(storage: &Field, meaning: &ExtensionMetadata) -> bool {
    let text = storage.extension_type_metadata().unwrap_or_default();
    ExtensionMetadata::parse(text).is_ok_and(|hinted| hinted.is_same(meaning))
}

/// Records an annotation's text if the extension type can't reproduce it, for example if the text
/// names the default CRS. Otherwise removes it, since the extension type is sufficient.
fn with_logical_type(field: Field, logical_type: &LogicalType, always: bool) -> Field {
    let text = field.extension_type_metadata().unwrap_or_default();
    let again = ExtensionMetadata::parse(text).map(|it| it.logical_type());
    let mut pairs = field.metadata().clone();
    match again {
        Ok(again) if again == *logical_type && !always => pairs.remove(LOGICAL_TYPE_KEY),
        _ => pairs.insert(LOGICAL_TYPE_KEY.to_owned(), logical_type.to_string()),
    };
    field.with_metadata(pairs)
}
