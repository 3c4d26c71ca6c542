//! The Arrow types of files and tables.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use datafusion_common::Result;
use datafusion_common::config::TableParquetOptions;
use herringbone::format::Type;
use herringbone::schema::to_arrow;
use herringbone::{Error, FieldMatching, MetadataHandle, ReadOptions, SchemaOptions, WantedSchema};

use crate::error::from_library;
use crate::options::{int96_time_zone, schema_options};

/// Returns a file's schema as it is stored.
///
/// # Errors
/// Fails with Corrupt or Unsupported if the schema cannot be mapped.
pub(crate) fn stored_schema(handle: &MetadataHandle, options: &SchemaOptions) -> Result<SchemaRef> {
    let pairs = handle.metadata().key_value_metadata();
    let (schema, _) = to_arrow(handle.parquet_schema(), pairs, options).map_err(from_library)?;
    Ok(schema)
}

/// Returns the schema that a file contributes to an inferred table, before the schemas of all files
/// are merged.
///
/// # Errors
/// Corrupt or Unsupported if the schema cannot be mapped; Argument if columns of one name have several types.
pub(crate) fn inferred_schema(
    handle: &MetadataHandle,
    options: &TableParquetOptions,
) -> Result<Schema> {
    let stored = stored_schema(handle, &schema_options(options)?)?;
    check_names(stored.fields()).map_err(from_library)?;
    let mut fields: Vec<FieldRef> = stored.fields().iter().map(with_map_names).collect();
    if let Some(zone) = int96_time_zone(options) {
        fields = set_time_zone(&fields, handle, &zone);
    }
    if !options.global.skip_metadata {
        return Ok(Schema::new_with_metadata(fields, stored.metadata().clone()));
    }
    let bare = |field: &FieldRef| field.as_ref().clone().with_metadata(HashMap::new());
    Ok(Schema::new(fields.iter().map(bare).collect::<Fields>()))
}

/// Rejects columns of one name and several types. Those of one type are one column of the table: the first one.
fn check_names(fields: &Fields) -> herringbone::Result<()> {
    let mut types: HashMap<&str, &DataType> = HashMap::new();
    for field in fields {
        let (name, data_type) = (field.name(), field.data_type());
        let first = *types.entry(name).or_insert(data_type);
        if first != data_type {
            return Err(Error::argument(format!(
                "several columns are called `{name}`, and have the types {first} and {data_type}: list the columns of the \
                 table, as in CREATE EXTERNAL TABLE t (\"{name}\" …), to read the first one"
            )));
        }
    }
    Ok(())
}

/// Gives INT96 columns a time zone, also those below structs, lists and maps.
fn set_time_zone(fields: &[FieldRef], handle: &MetadataHandle, zone: &Arc<str>) -> Vec<FieldRef> {
    let leaves = handle.parquet_schema().leaves().iter();
    let mut are_int96 = leaves.map(|leaf| leaf.physical_type == Type::Int96);
    let zoned = |field| with_time_zone(field, &mut are_int96, zone);
    fields.iter().map(zoned).collect()
}

/// Returns a field whose INT96 leaves have a time zone, and takes one item of `are_int96` per leaf.
fn with_time_zone(
    field: &FieldRef,
    are_int96: &mut impl Iterator<Item = bool>,
    zone: &Arc<str>,
) -> FieldRef {
    let data_type = field.data_type();
    let nested = with_inner(data_type, &mut |field| {
        with_time_zone(field, are_int96, zone)
    });
    let data_type = nested.unwrap_or_else(|| match (are_int96.next(), data_type) {
        (Some(true), DataType::Timestamp(unit, None)) => {
            DataType::Timestamp(*unit, Some(zone.clone()))
        }
        (_, other) => other.clone(),
    });
    Arc::new(Field::clone(field).with_data_type(data_type))
}

/// Returns a field whose maps have the entry names that Arrow uses. Writers use other names, and
/// the schemas of files can only be merged if these names are equal.
fn with_map_names(field: &FieldRef) -> FieldRef {
    let named =
        |field: &FieldRef, name| Arc::new(with_map_names(field).as_ref().clone().with_name(name));
    let data_type = match field.data_type() {
        DataType::Map(entries, is_sorted) => {
            let mut names = ["key", "value"].into_iter();
            let mut inner = |field: &FieldRef| match names.next() {
                Some(name) => named(field, name),
                None => with_map_names(field),
            };
            let pair = with_inner(entries.data_type(), &mut inner);
            let entries = Field::clone(entries).with_name("entries");
            pair.map(|pair| DataType::Map(Arc::new(entries.with_data_type(pair)), *is_sorted))
        }
        other => with_inner(other, &mut with_map_names),
    };
    match data_type {
        Some(data_type) => Arc::new(Field::clone(field).with_data_type(data_type)),
        None => field.clone(),
    }
}

/// Returns a nested type with other fields, or `None` for types without fields.
fn with_inner(
    data_type: &DataType,
    inner: &mut dyn FnMut(&FieldRef) -> FieldRef,
) -> Option<DataType> {
    Some(match data_type {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect()),
        DataType::List(element) => DataType::List(inner(element)),
        DataType::LargeList(element) => DataType::LargeList(inner(element)),
        DataType::ListView(element) => DataType::ListView(inner(element)),
        DataType::LargeListView(element) => DataType::LargeListView(inner(element)),
        DataType::FixedSizeList(element, size) => DataType::FixedSizeList(inner(element), *size),
        DataType::Map(entries, is_sorted) => DataType::Map(inner(entries), *is_sorted),
        _ => return None,
    })
}

/// Returns the schema of a table whose files have this merged schema. The layouts of text and bytes
/// follow the options.
pub(crate) fn table_schema(merged: &Schema, options: &TableParquetOptions) -> SchemaRef {
    let layout = |data_type: &DataType| {
        let text = match (data_type, options.global.binary_as_string) {
            (DataType::Binary, true) => DataType::Utf8,
            (DataType::LargeBinary, true) => DataType::LargeUtf8,
            (DataType::BinaryView, true) => DataType::Utf8View,
            (other, _) => other.clone(),
        };
        match (text, options.global.schema_force_view_types) {
            (DataType::Utf8 | DataType::LargeUtf8, true) => DataType::Utf8View,
            (DataType::Binary | DataType::LargeBinary, true) => DataType::BinaryView,
            (other, _) => other,
        }
    };
    let field = |field: &FieldRef| {
        let data_type = layout(field.data_type());
        Arc::new(field.as_ref().clone().with_data_type(data_type))
    };
    let fields: Fields = merged.fields().iter().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, merged.metadata().clone()))
}

/// Returns the schema that a file is read with, which has those of the table columns that the file
/// has. A column has the table's type if the library can read it in that type. Otherwise it has the
/// file's type, and the engine casts it.
pub(crate) fn read_schema(
    handle: &MetadataHandle,
    options: &SchemaOptions,
    table: &Schema,
    stored: &Schema,
) -> SchemaRef {
    let mut by_name: HashMap<&str, &FieldRef> = HashMap::new();
    for field in stored.fields() {
        // The engine takes the first column of a name.
        by_name.entry(field.name()).or_insert(field);
    }
    let field = |wanted: &FieldRef| {
        let stored = by_name.get(wanted.name().as_str())?;
        let is_readable = is_equal(wanted, stored) || is_readable(handle, options, wanted, stored);
        Some(if is_readable {
            wanted.clone()
        } else {
            Arc::clone(stored)
        })
    };
    let fields: Fields = table.fields().iter().filter_map(field).collect();
    Arc::new(Schema::new(fields))
}

/// Returns the wanted schema of a read, with the casts of the engine and its choice among fields of one name.
pub(crate) fn wanted_schema(schema: SchemaRef) -> WantedSchema {
    WantedSchema::new(schema)
        .matching(FieldMatching::NameInOrder)
        .loose_times(true)
}

fn is_equal(wanted: &Field, stored: &Field) -> bool {
    wanted.data_type() == stored.data_type() && (wanted.is_nullable() || !stored.is_nullable())
}

/// Returns true if the library can read a stored column as the wanted one, with the values that the
/// engine's cast would return.
fn is_readable(
    handle: &MetadataHandle,
    options: &SchemaOptions,
    wanted: &FieldRef,
    stored: &Field,
) -> bool {
    if !shares_fields(stored.data_type(), wanted.data_type()) {
        return false;
    }
    let schema = Schema::new(vec![wanted.clone()]);
    let read = ReadOptions::new()
        .schema(options.clone())
        .row_groups(Vec::new())
        .wanted_schema(wanted_schema(Arc::new(schema)));
    handle.plan(&read).is_ok()
}

/// Returns true if structs share at least one field with the file's structs. If they share none,
/// the library would read nulls, while the engine reports an error.
fn shares_fields(stored: &DataType, wanted: &DataType) -> bool {
    match (stored, wanted) {
        (DataType::Struct(stored), DataType::Struct(wanted)) => {
            let file_field = |field: &FieldRef| Some((stored.find(field.name())?.1, field.clone()));
            let mut common = wanted.iter().filter_map(file_field).peekable();
            common.peek().is_some()
                && common.all(|(one, other)| shares_fields(one.data_type(), other.data_type()))
        }
        (
            DataType::List(stored) | DataType::LargeList(stored) | DataType::Map(stored, _),
            DataType::List(wanted) | DataType::LargeList(wanted) | DataType::Map(wanted, _),
        ) => shares_fields(stored.data_type(), wanted.data_type()),
        _ => true,
    }
}
