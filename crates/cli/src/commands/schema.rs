//! `schema` prints the columns in one of three formats.

use std::borrow::Cow;

use herringbone::geospatial::crs::Crs;
use herringbone::geospatial::geoarrow::ExtensionMetadata;
use herringbone::geospatial::{Edges, Geospatial};
use herringbone::schema::ParquetSchema;
use herringbone::{ParquetFile, ReadOptions};
use herringbone_arrow::schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use herringbone_rewrite::{difference, is_geoarrow};
use serde_json::Value;

use crate::args::SchemaFormat;
use crate::base::failure::{Failure, Result};
use crate::base::printable::{printable, printable_json, printable_lines, write_json};
use crate::base::type_name::type_name;
use crate::describe::{self, FORMAT_VERSION};
use crate::encryption::Summary;
use crate::input::context::Context;
use crate::input::{Input, by_table};
use crate::output::Output;

/// Prints the schema that all files share. If they do not share one, the error names the first
/// difference.
pub(crate) fn run(
    context: &Context,
    inputs: &[Input],
    format: SchemaFormat,
    output: &mut Output<'_>,
) -> Result<()> {
    let mut tables = by_table(inputs).filter_map(<[Input]>::first);
    let Some(first) = tables.next() else {
        return Ok(());
    };
    let others: Vec<&Input> = tables.collect();
    let file = match first.open() {
        Ok(file) => file,
        Err(failure) => {
            note_encrypted_footer(context, first);
            return Err(failure);
        }
    };
    let parquet = file.parquet_schema();
    let encryption = Summary::of(&file).map_err(|error| first.failure(&error))?;
    let names: Vec<String> = (0..parquet.leaves().len())
        .map(|leaf| parquet.column_path(leaf))
        .collect();
    if let Some(encryption) = &encryption {
        context.note(&format!("{}: {}", first.name, encryption.sentence(&names)));
    }
    if let (Some(member), true) = (&first.member, format != SchemaFormat::Arrow) {
        let columns = member.folder.partition_columns();
        let columns: Vec<String> = columns
            .map(|field| format!("{}: {}", field.name(), type_name(field)))
            .collect();
        if !columns.is_empty() {
            context.note(&format!(
                "{}: the paths of the files have these columns: {}",
                member.folder.name,
                columns.join(", ")
            ));
        }
    }
    // A single file shows its Parquet schema even if there is no Arrow equivalent.
    if format == SchemaFormat::Arrow || !others.is_empty() {
        let arrow = arrow_schema(first, &file)?;
        for other in others {
            let schema = arrow_schema(other, &other.open()?)?;
            if let Some(text) = difference(&first.name, &arrow, &other.name, &schema) {
                return Err(Failure::Data(text));
            }
        }
        if format == SchemaFormat::Arrow {
            return output.write(arrow_text(&arrow).as_bytes());
        }
    }
    match format {
        SchemaFormat::Json => {
            let encryption = encryption.map(|encryption| encryption.json(&names));
            output.write(&json(parquet, encryption)?)?;
            output.write(b"\n")
        }
        _ => output.write(printable_lines(&parquet.to_string()).as_bytes()),
    }
}

/// Prints a note about the encryption if a file can't be opened because its footer is encrypted.
fn note_encrypted_footer(context: &Context, input: &Input) {
    let source = input.source().ok();
    let summary = source.map(|source| Summary::of_encrypted_footer(&*source, input.limits()));
    if let Some(Ok(Some(encryption))) = summary {
        context.note(&format!("{}: {}", input.name, encryption.sentence(&[])));
    }
}

fn arrow_schema(input: &Input, file: &ParquetFile) -> Result<SchemaRef> {
    let plan = file.plan(&ReadOptions::new().extension(Geospatial::new()));
    let plan = plan.map_err(|error| input.failure(&error))?;
    let Some(member) = &input.member else {
        return Ok(plan.schema().clone());
    };
    let fields = plan.schema().fields().iter().cloned();
    let mut fields: Vec<FieldRef> = fields
        .filter(|field| !member.has_value_of(field.name()))
        .collect();
    let in_path = member.folder.partition_columns();
    fields.extend(in_path.cloned());
    Ok(SchemaRef::from(Schema::new(fields)))
}

fn json(schema: &ParquetSchema, encryption: Option<Value>) -> Result<Vec<u8>> {
    let mut tree = describe::schema::tree(schema);
    if let Value::Object(root) = &mut tree {
        root.shift_insert(0, "format_version".into(), FORMAT_VERSION.into());
        if let Some(encryption) = encryption {
            root.insert("encryption".into(), encryption);
        }
    }
    let mut text = Vec::new();
    write_json(&mut text, &tree, true)
        .map_err(|error| Failure::Data(format!("the schema cannot be written as JSON: {error}")))?;
    Ok(text)
}

/// Formats a schema with one field per line, and with inner fields indented.
fn arrow_text(schema: &Schema) -> String {
    let mut out = String::new();
    for field in schema.fields() {
        push_field(&mut out, 0, field);
    }
    out
}

fn push_field(out: &mut String, indent: usize, field: &Field) {
    let children = children(field.data_type());
    let name = match field.data_type() {
        DataType::Struct(_) => "Struct".into(),
        DataType::List(_) => "List".into(),
        DataType::LargeList(_) => "LargeList".into(),
        DataType::ListView(_) => "ListView".into(),
        DataType::LargeListView(_) => "LargeListView".into(),
        DataType::FixedSizeList(_, length) => format!("FixedSizeList({length})"),
        DataType::Map(..) => "Map".into(),
        other => printable(&other.to_string()),
    };
    out.extend(std::iter::repeat_n("  ", indent));
    out.push_str(&shown_name(field.name()));
    out.push_str(": ");
    out.push_str(&name);
    if !field.is_nullable() {
        out.push_str(" not null");
    }
    if let Some(extension) = field.extension_type_name() {
        out.push_str(&format!(" ({}", printable(extension)));
        for part in geometries(field) {
            out.push_str(&format!(", {part}"));
        }
        out.push(')');
    }
    out.push('\n');
    for child in children {
        push_field(out, indent + 1, child);
    }
}

/// Returns a name in the syntax of `--schema`. Names with line ends or a special first character
/// become JSON strings.
fn shown_name(name: &str) -> Cow<'_, str> {
    let is_plain = !name.starts_with(['#', ' ', '"']) && printable(name) == name;
    match is_plain {
        true => Cow::Borrowed(name),
        false => Cow::Owned(printable_json(&Value::from(name).to_string())),
    }
}

/// Returns a geometry column's reference system, or `?` if it does not have a short name. The edges
/// follow, unless they are straight.
fn geometries(field: &Field) -> Vec<String> {
    let text = field.extension_type_metadata().unwrap_or_default();
    let meaning = ExtensionMetadata::parse(text).ok();
    let Some(meaning) = meaning.filter(|_| is_geoarrow(field)) else {
        return Vec::new();
    };
    let crs = Crs::of(&meaning.logical_type()).to_string();
    let is_short = |byte: u8| byte.is_ascii_alphanumeric() || b":._-".contains(&byte);
    let mut parts = vec![match crs.bytes().all(is_short) {
        true => crs,
        false => "?".into(),
    }];
    if meaning.edges != Edges::Planar {
        parts.push(meaning.edges.to_string());
    }
    parts
}

/// Returns a type's inner fields.
fn children(data_type: &DataType) -> Vec<&Field> {
    match data_type {
        DataType::Struct(fields) => fields.iter().map(AsRef::as_ref).collect(),
        DataType::List(child)
        | DataType::LargeList(child)
        | DataType::ListView(child)
        | DataType::LargeListView(child)
        | DataType::FixedSizeList(child, _)
        | DataType::Map(child, _) => vec![child],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn arrow_fields_are_lines() {
        let item = Field::new("item", DataType::Utf8, true);
        let inner = Field::new("in\nner", DataType::List(Arc::new(item)), false);
        let schema = Schema::new(vec![
            Field::new("id", DataType::Int64, false),
            Field::new("s", DataType::Struct(vec![inner].into()), true),
        ]);
        assert_eq!(
            arrow_text(&schema),
            "id: Int64 not null\ns: Struct\n  \"in\\nner\": List not null\n    item: Utf8\n"
        );
    }
}
