//! Preparing the Arrow schema for the file's metadata.
//!
//! Readers that trust the caller's schema might fail, or not look inside certain types. So the
//! written schema differs from it as follows:
//!
//! - Decimals with a negative scale and structs without fields appear in their stored form.
//! - List views appear as lists.
//! - Runs and most dictionary types appear as their values.
//! - `arrow.uuid` has no metadata.
//!
//! If this changes anything, the caller's schema is stored next to it, for use by Herringbone
//! itself.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::extension::EXTENSION_TYPE_METADATA_KEY;
use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields, Schema};
use herringbone_format::{KeyValue, Result};

use super::HintPolicy;
use super::decimal::stored_decimal;
use super::group::no_fields;
use crate::hint::{arrow_schema_text, exact_value, text_of};
use crate::{ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY, ParquetSchema, SchemaOptions, to_arrow};

/// Returns true if the file needs the hint.
pub(super) fn wanted(schema: &Schema, parquet: &ParquetSchema, policy: HintPolicy) -> Result<bool> {
    match policy {
        HintPolicy::All => Ok(true),
        HintPolicy::None => Ok(false),
        HintPolicy::Needed => {
            let without = to_arrow(parquet, &[], &SchemaOptions::default())?;
            let is_lost = without.schema.fields() != schema.fields();
            Ok(is_lost || schema.fields().iter().any(|field| has_json(field)))
        }
    }
}

/// Returns true if a field is or contains `arrow.json`. Some readers, such as polars, only see
/// bytes in its annotation.
fn has_json(field: &Field) -> bool {
    use DataType as T;
    field.extension_type_name() == Some("arrow.json")
        || match field.data_type() {
            T::Struct(children) => children.iter().any(|child| has_json(child)),
            T::List(child) | T::LargeList(child) | T::ListView(child) | T::LargeListView(child) => {
                has_json(child)
            }
            T::FixedSizeList(child, _) | T::Map(child, _) => has_json(child),
            _ => false,
        }
}

/// Returns the `ARROW:schema` pair, for a schema with these pairs as its metadata. If this cannot
/// express all of the schema, a second pair precedes it.
///
/// A pair without a value gets an empty one there, because Arrow C++ reads it that way. Of several
/// pairs with the same key, the last one wins.
///
/// Fails with Unsupported if the schema is larger than 2 GiB, and with Limit if the pairs are too
/// large.
pub(super) fn key_values<'a>(
    of: &Fields,
    metadata: impl Iterator<Item = &'a KeyValue>,
) -> Result<Vec<KeyValue>> {
    let stored = fields(of);
    let value = |pair: &KeyValue| pair.value.clone().unwrap_or_default();
    let metadata = metadata.map(|pair| (pair.key.clone(), value(pair)));
    let hint = text_of(&stored, metadata.collect())?;
    let mut pairs = Vec::new();
    if &stored != of || of.iter().any(|field| orders_numbers(field)) {
        let exact = exact_value(&hint, &arrow_schema_text(of, HashMap::new())?);
        pairs.push(KeyValue::new(EXACT_SCHEMA_KEY, exact));
    }
    pairs.push(KeyValue::new(ARROW_SCHEMA_KEY, hint));
    Ok(pairs)
}

/// Returns true if there are ordered dictionaries of anything but text and bytes. Readers don't
/// trust their order in the common schema, because other writers don't keep it.
fn orders_numbers(field: &Field) -> bool {
    use DataType as T;
    match field.data_type() {
        T::Dictionary(_, values) => {
            let is_bytes = matches!(
                **values,
                T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Binary | T::LargeBinary | T::BinaryView
            );
            field.dict_is_ordered() == Some(true) && !is_bytes
        }
        T::Struct(children) => children.iter().any(|child| orders_numbers(child)),
        T::List(child) | T::LargeList(child) | T::ListView(child) | T::LargeListView(child) => {
            orders_numbers(child)
        }
        T::FixedSizeList(child, _) | T::Map(child, _) => orders_numbers(child),
        _ => false,
    }
}

fn fields(fields: &Fields) -> Fields {
    fields.iter().map(field).collect()
}

fn field(field: &FieldRef) -> FieldRef {
    let data_type = data_type(field.data_type());
    let is_uuid = field.extension_type_name() == Some("arrow.uuid");
    let has_surplus = is_uuid && field.extension_type_metadata().is_some();
    if &data_type == field.data_type() && !has_surplus {
        return field.clone();
    }
    let mut field = Field::clone(field).with_data_type(data_type);
    if has_surplus {
        let mut metadata = field.metadata().clone();
        metadata.remove(EXTENSION_TYPE_METADATA_KEY);
        field.set_metadata(metadata);
    }
    Arc::new(field)
}

fn data_type(of: &DataType) -> DataType {
    use DataType as T;
    match of {
        T::Struct(children) if children.is_empty() => T::Struct(no_fields()),
        T::Struct(children) => T::Struct(fields(children)),
        T::List(child) => T::List(field(child)),
        T::LargeList(child) => T::LargeList(field(child)),
        T::ListView(child) => T::List(field(child)),
        T::LargeListView(child) => T::LargeList(field(child)),
        T::FixedSizeList(child, size) => T::FixedSizeList(field(child), *size),
        T::Map(entries, sorted) => T::Map(field(entries), *sorted),
        T::Dictionary(key, values) => match data_type(values) {
            value if has_common_dictionaries(&value) => T::Dictionary(key.clone(), Box::new(value)),
            value => value,
        },
        T::RunEndEncoded(_, values) => data_type(values.data_type()),
        T::Decimal32(precision, scale @ ..0) => decimal(*precision, *scale, 9, of),
        T::Decimal64(precision, scale @ ..0) => decimal(*precision, *scale, 18, of),
        T::Decimal128(precision, scale @ ..0) => decimal(*precision, *scale, 38, of),
        T::Decimal256(precision, scale @ ..0) => decimal(*precision, *scale, 76, of),
        leaf => leaf.clone(),
    }
}

/// Returns true if readers can make dictionaries of this type when a hint asks for it. For other
/// types, or for these types with an unusual physical type, some readers refuse the file.
fn has_common_dictionaries(of: &DataType) -> bool {
    use DataType as T;
    match of {
        T::Utf8 | T::LargeUtf8 | T::Binary | T::LargeBinary | T::Float32 | T::Float64 => true,
        T::Date32 | T::Date64 | T::Time32(_) | T::Time64(_) | T::Duration(_) => true,
        other => other.is_integer(),
    }
}

/// Returns a decimal's stored form, as narrow as before if possible.
fn decimal(precision: u8, scale: i8, max_precision: u8, of: &DataType) -> DataType {
    match stored_decimal(precision, scale, max_precision) {
        Ok((precision @ ..=9, _, _)) if max_precision <= 9 => DataType::Decimal32(precision, 0),
        Ok((precision @ ..=18, _, _)) if max_precision <= 18 => DataType::Decimal64(precision, 0),
        Ok((precision @ ..=38, _, _)) if max_precision <= 38 => DataType::Decimal128(precision, 0),
        Ok((precision, _, _)) => DataType::Decimal256(precision, 0),
        Err(_) => of.clone(),
    }
}
