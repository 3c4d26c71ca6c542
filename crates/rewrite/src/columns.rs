//! Compares a new file's columns with those of an input file.

use std::collections::HashMap;

use herringbone::format::{Repetition, SchemaElement};
use herringbone::schema::ParquetSchema;

/// A comparison of two schemas' top-level columns, matched by name.
#[derive(Debug)]
pub(crate) struct Columns<'a> {
    similarities: HashMap<&'a str, Similarity>,
    are_same: bool,
}

/// A column's similarity to the same-named column in an earlier file. Used to decide if metadata
/// about the column can be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Similarity {
    /// The columns are equal, including the names, types and nullability of nested fields.
    Same,
    /// Some nested fields are missing, or differ in nullability.
    Similar,
    /// A type differs, or the earlier file does not have the column.
    Other,
}

impl<'a> Columns<'a> {
    /// Compares a new schema with an earlier file's schema.
    pub(crate) fn compare(earlier: &'a ParquetSchema, new: &'a ParquetSchema) -> Self {
        let mut by_name: HashMap<&str, Field<'a>> = HashMap::new();
        for field in fields(earlier) {
            by_name.insert(field.name(), field);
        }
        let compared = fields(new).map(|field| {
            let before = by_name.get(field.name());
            let similarity = before.map_or(Similarity::Other, |before| field.similarity(before));
            (field.name(), similarity)
        });
        let similarities: HashMap<_, _> = compared.collect();
        let names = |schema| fields(schema).map(|field| field.name());
        let are_same = names(earlier).eq(names(new))
            && similarities.values().all(|it| *it == Similarity::Same);
        Self {
            similarities,
            are_same,
        }
    }

    /// Returns true if the new file has exactly the earlier file's columns, in the same order.
    pub(crate) fn are_same(&self) -> bool {
        self.are_same
    }

    /// Returns the similarity for a column of the new file.
    pub(crate) fn similarity(&self, name: &str) -> Similarity {
        self.similarities
            .get(name)
            .copied()
            .unwrap_or(Similarity::Other)
    }
}

/// A schema's top-level field: its own element and all nested elements, depth first.
pub(crate) struct Field<'a>(Vec<(&'a SchemaElement, usize)>);

impl<'a> Field<'a> {
    pub(crate) fn name(&self) -> &'a str {
        self.0.first().map_or("", |(element, _)| &element.name)
    }

    /// Compares this field with a field of an earlier file.
    fn similarity(&self, earlier: &Self) -> Similarity {
        let mut is_same = self.0.len() == earlier.0.len();
        let mut others = earlier.0.iter();
        for (element, depth) in &self.0 {
            // One pass over the other fields suffices, since fields keep their order.
            let is_it =
                |(other, at): &&(&SchemaElement, usize)| at == depth && other.name == element.name;
            match others.find(is_it) {
                Some((other, _)) if is_similar(element, other) => {
                    is_same &= element.repetition_type == other.repetition_type;
                }
                _ => return Similarity::Other,
            }
        }
        match is_same {
            true => Similarity::Same,
            false => Similarity::Similar,
        }
    }
}

/// Returns true if two elements have the same type. Note that old writers only write the older of
/// the two kinds of annotation.
fn is_similar(a: &SchemaElement, b: &SchemaElement) -> bool {
    let repeats = |it: &SchemaElement| it.repetition_type == Some(Repetition::Repeated);
    let annotation = match (&a.logical_type, &b.logical_type) {
        (Some(a), Some(b)) => a == b,
        (None, None) => a.converted_type == b.converted_type,
        _ => a.converted_type == b.converted_type && a.converted_type.is_some(),
    };
    annotation
        && (a.type_, a.type_length) == (b.type_, b.type_length)
        && (a.precision, a.scale) == (b.precision, b.scale)
        && repeats(a) == repeats(b)
}

/// Returns the top-level fields.
pub(crate) fn fields(schema: &ParquetSchema) -> impl Iterator<Item = Field<'_>> {
    let nodes = schema.nodes();
    let mut at = 1;
    std::iter::from_fn(move || {
        let end = nodes.get(at)?.end;
        let inside = nodes.get(at..end)?;
        at = end;
        let mut ends: Vec<usize> = Vec::new();
        let mut elements = Vec::with_capacity(inside.len());
        for (position, node) in (end - inside.len()..).zip(inside) {
            while ends.last().is_some_and(|end| *end <= position) {
                ends.pop();
            }
            elements.push((&node.element, ends.len()));
            ends.push(node.end);
        }
        Some(Field(elements))
    })
}
