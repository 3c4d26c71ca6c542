//! Finds the Parquet schema shared by several files.

use std::collections::{HashMap, HashSet};

use herringbone::format::{LogicalType, Repetition, SchemaElement};
use herringbone::schema::ParquetSchema;
use herringbone::{Limits, Result};
use herringbone_arrow::schema::Schema;

use crate::Note;

/// Returns the fields described alike by every schema containing them, or `None` if there are no
/// schemas.
///
/// If files disagree about a column in `written`, a note names it.
///
/// # Errors
/// Fails for the same reasons as [`ParquetSchema::from_elements`].
pub(crate) fn common_parquet_schema<'a>(
    schemas: impl IntoIterator<Item = &'a ParquetSchema>,
    written: &Schema,
    plain_geometries: bool,
    notes: &mut Vec<Note>,
) -> Result<Option<ParquetSchema>> {
    let schemas: Vec<_> = schemas.into_iter().collect();
    let Some(first) = schemas.first() else {
        return Ok(None);
    };
    let others = schemas.iter().filter(|other| *other != first);
    let distinct: Vec<&ParquetSchema> = std::iter::once(first).chain(others).copied().collect();
    let mut by_name: Vec<HashMap<&str, Vec<Vec<&SchemaElement>>>> = Vec::new();
    for schema in &distinct {
        let mut fields_of_name: HashMap<&str, Vec<_>> = HashMap::new();
        for field in fields(schema) {
            fields_of_name.entry(name(&field)).or_default().push(field);
        }
        by_name.push(fields_of_name);
    }
    let (mut kept, mut columns) = (Vec::new(), Vec::new());
    let mut known: HashSet<&str> = HashSet::new();
    for (schema, fields_of_name) in distinct.iter().zip(&by_name) {
        for field in fields(schema).filter(|field| !known.contains(name(field))) {
            let name = name(&field);
            let is_same = |other: &HashMap<_, Vec<Vec<_>>>| {
                // A file without the column can't disagree about it.
                let same_name = other.get(name);
                same_name.is_none_or(|same_name| {
                    same_name.iter().any(|their| are_similar(&field, their))
                })
            };
            match by_name.iter().all(is_same) {
                true => kept.push(field),
                false => columns.push(name.to_owned()),
            }
        }
        known.extend(fields_of_name.keys());
    }
    let written: HashSet<&str> = written
        .fields()
        .iter()
        .map(|field| field.name().as_str())
        .collect();
    columns.retain(|name: &String| written.contains(name.as_str()));
    if !columns.is_empty() {
        notes.push(Note::ColumnsDescribedOtherwise { columns });
    }
    let root_name = first.nodes().first().map(|root| &root.element.name);
    let root = SchemaElement::new(root_name.cloned().unwrap_or_default())
        .num_children(i32::try_from(kept.len()).ok());
    let elements = std::iter::once(root)
        .chain(kept.into_iter().flatten().cloned())
        .map(|element| match plain_geometries {
            true => without_geometries(element),
            false => element,
        })
        .collect();
    ParquetSchema::from_elements(elements, &Limits::default()).map(Some)
}

/// Returns the element without its GEOMETRY or GEOGRAPHY annotation, if it has one.
fn without_geometries(element: SchemaElement) -> SchemaElement {
    let is_geospatial = matches!(
        element.logical_type,
        Some(LogicalType::Geometry { .. } | LogicalType::Geography { .. })
    );
    match is_geospatial {
        true => element.logical_type(None),
        false => element,
    }
}

/// Returns a field's name.
fn name<'a>(field: &[&'a SchemaElement]) -> &'a str {
    field.first().map_or("", |element| &element.name)
}

/// Returns the elements of each top-level field.
fn fields(schema: &ParquetSchema) -> impl Iterator<Item = Vec<&SchemaElement>> {
    let nodes = schema.nodes();
    let mut at = 1;
    std::iter::from_fn(move || {
        let end = nodes.get(at)?.end;
        let field = nodes.get(at..end)?;
        at = end;
        Some(field.iter().map(|node| &node.element).collect())
    })
}

/// Returns true if two fields are equal except for nullability.
fn are_similar(a: &[&SchemaElement], b: &[&SchemaElement]) -> bool {
    let repeats = |element: &SchemaElement| element.repetition_type == Some(Repetition::Repeated);
    let alike = |(a, b): (&&SchemaElement, &&SchemaElement)| {
        let b = SchemaElement::clone(b).repetition_type(a.repetition_type);
        **a == b
    };
    a.len() == b.len()
        && a.iter().zip(b).all(alike)
        && a.iter().zip(b).all(|(a, b)| repeats(a) == repeats(b))
}
