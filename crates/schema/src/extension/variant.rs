//! VARIANT (specification, logical types, VARIANT): semi-structured values, shredded or not.
//!
//! ```text
//! optional group v (VARIANT(1)) {           Struct, arrow.parquet.variant
//!   required binary metadata;                 metadata: Binary
//!   optional binary value;                    value: Binary
//!   optional int64 typed_value;               typed_value: Int64, or any type that values are shredded into
//! }
//! ```
//!
//! We recognize fields by name, in any order. Values aren't inspected, so the arrays are the
//! struct's own, shredded as stored.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef, TimeUnit};
use herringbone_format::{Error, LogicalType, Result};

use super::{AnnotatedField, ExtensionField, ExtensionMapping, StoredField, extended};
use crate::LOGICAL_TYPE_KEY;

/// The name of the Arrow extension type for VARIANT groups.
///
/// Its storage is the stored struct, including `typed_value` if values are shredded. A struct of
/// this name is written as VARIANT, version 1 of the specification. To shred or unshred values, use
/// `herringbone-variant`.
pub const VARIANT_EXTENSION_NAME: &str = "arrow.parquet.variant";
/// The name used by older writers.
const OLD_EXTENSION_NAME: &str = "parquet.variant";

/// The version of the specification.
const VERSION: i8 = 1;
/// The maximum nesting depth of objects and arrays to inspect.
const MAX_DEPTH: usize = 100;

#[derive(Debug)]
pub(super) struct Variant;

impl ExtensionMapping for Variant {
    /// Maps whole variants only. If a projection selects part of a variant, that part becomes a
    /// struct without an extension name.
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        let version = match stored.logical_type() {
            Some(LogicalType::Variant {
                specification_version,
            }) => specification_version.unwrap_or(VERSION),
            _ => return Ok(None),
        };
        let is_whole = stored.is_whole();
        if version != VERSION || (is_whole && mismatch(stored.storage.data_type()).is_some()) {
            return Ok(None);
        }
        let mut storage = stored.storage.clone();
        let mut metadata = storage.metadata().clone();
        metadata.remove(LOGICAL_TYPE_KEY);
        if storage.extension_type_name() == Some(OLD_EXTENSION_NAME) || !is_whole {
            metadata.retain(|key, _| !key.starts_with("ARROW:extension:"));
        }
        storage.set_metadata(metadata);
        if !is_whole {
            return Ok(Some(ExtensionField::of_storage(storage)));
        }
        let field = extended(&storage, VARIANT_EXTENSION_NAME, Some(""));
        Ok(field.map(ExtensionField::of_storage))
    }

    /// Makes unshredded values REQUIRED even if the Arrow field is nullable, because the
    /// specification requires it.
    fn to_parquet(&self, field: &Field) -> Result<Option<AnnotatedField>> {
        let name = field.extension_type_name();
        if !matches!(name, Some(VARIANT_EXTENSION_NAME | OLD_EXTENSION_NAME)) {
            return Ok(None);
        }
        let data_type = field.data_type();
        let DataType::Struct(fields) = data_type else {
            return Err(refused("its storage must be a struct"));
        };
        if let Some(why) = mismatch(data_type) {
            return Err(refused(why));
        }
        let is_shredded = fields.iter().any(|field| field.name() == "typed_value");
        let is_required = |field: &FieldRef| match field.name().as_str() {
            "metadata" => true,
            _ => !is_shredded,
        };
        let required = |field: &FieldRef| match is_required(field) {
            true => Arc::new(Field::clone(field).with_nullable(false)),
            false => field.clone(),
        };
        let fields = fields.iter().map(required).collect();
        let field = field.clone().with_data_type(DataType::Struct(fields));
        let logical_type = LogicalType::Variant {
            specification_version: Some(VERSION),
        };
        Ok(Some(AnnotatedField::new(field, logical_type)))
    }
}

#[cold]
fn refused(why: &str) -> Error {
    Error::argument(format!("the field cannot be written as a variant: {why}"))
}

/// Returns the reason why a type isn't a variant's struct, or `None` if it is.
fn mismatch(data_type: &DataType) -> Option<&'static str> {
    let DataType::Struct(fields) = data_type else {
        return Some("its storage must be a struct");
    };
    match fields.iter().find(|field| field.name() == "metadata") {
        Some(metadata) if is_binary(values(metadata.data_type())) => {}
        Some(_) => return Some("its `metadata` must be binary"),
        None => return Some("it lacks `metadata`"),
    }
    let others = fields.iter().filter(|field| field.name() != "metadata");
    if others.clone().count() + 1 != fields.len() {
        return Some("it has two `metadata` fields");
    }
    mismatch_of_group(others, 0)
}

/// Checks the `value` and `typed_value` of the variant itself, of a field or of elements.
fn mismatch_of_group<'a>(
    fields: impl Iterator<Item = &'a FieldRef>,
    depth: usize,
) -> Option<&'static str> {
    if depth > MAX_DEPTH {
        return Some("it is shredded into more than 100 levels of columns");
    }
    let (mut value, mut typed) = (None, None);
    for field in fields {
        let place = match field.name().as_str() {
            "value" => &mut value,
            "typed_value" => &mut typed,
            _ => return Some("it has fields other than `metadata`, `value` and `typed_value`"),
        };
        if place.replace(field.data_type()).is_some() {
            return Some("it has two `value` or two `typed_value` fields");
        }
    }
    match (value, typed) {
        (None, None) => Some("it has neither `value` nor `typed_value`"),
        (Some(value), _) if !is_binary(values(value)) => Some("its `value` must be binary"),
        (_, typed) => mismatch_of_typed(values(typed?), depth + 1),
    }
}

/// Checks the type that values are shredded into.
fn mismatch_of_typed(data_type: &DataType, depth: usize) -> Option<&'static str> {
    use DataType as T;
    let group = |field: &FieldRef| match field.data_type() {
        T::Struct(fields) => mismatch_of_group(fields.iter(), depth),
        _ => Some("its `typed_value` has fields or elements that are not groups"),
    };
    match data_type {
        T::Struct(fields) => fields.iter().find_map(group),
        T::List(element)
        | T::LargeList(element)
        | T::ListView(element)
        | T::LargeListView(element) => group(element),
        T::Boolean | T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::Float32 | T::Float64 => None,
        T::Date32 | T::Time64(TimeUnit::Microsecond) | T::FixedSizeBinary(16) => None,
        T::Timestamp(TimeUnit::Microsecond | TimeUnit::Nanosecond, _) => None,
        T::Decimal32(_, scale) | T::Decimal64(_, scale) | T::Decimal128(_, scale)
            if *scale >= 0 =>
        {
            None
        }
        T::Utf8 | T::LargeUtf8 | T::Utf8View => None,
        other if is_binary(other) => None,
        _ => Some("its `typed_value` has a type that shredding does not support"),
    }
}

fn is_binary(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, LargeBinary};
    matches!(data_type, Binary | LargeBinary | BinaryView)
}

/// Returns the type inside dictionaries and runs.
fn values(mut data_type: &DataType) -> &DataType {
    loop {
        data_type = match data_type {
            DataType::Dictionary(_, values) => values,
            DataType::RunEndEncoded(_, values) => values.data_type(),
            other => return other,
        };
    }
}
