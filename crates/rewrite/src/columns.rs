//! The columns of a new file next to those of a file that its rows come from.

use std::collections::HashMap;

use herringbone::format::{Repetition, SchemaElement};
use herringbone::schema::ParquetSchema;

/// A comparison of the columns at the top of two schemas, by name.
#[derive(Debug)]
pub(crate) struct Columns<'a> {
    of_new: HashMap<&'a str, Likeness>,
    are_same: bool,
}

/// How a column of the new file compares with that of the same name in an earlier file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// All is the same, names and types of fields inside and what may be null included.
    Same,
    /// Some fields inside are left out, or other fields may be null.
    Similar,
    /// A type is another one, or the earlier file does not have the column.
    Other,
}

impl<'a> Columns<'a> {
    /// Compares a new schema with that of an earlier file.
    pub(crate) fn compare(earlier: &'a ParquetSchema, new: &'a ParquetSchema) -> Self {
        let mut by_name: HashMap<&str, Field<'a>> = HashMap::new();
        for field in fields(earlier) {
            by_name.insert(field.name(), field);
        }
        let compared = fields(new).map(|field| {
            let before = by_name.get(field.name());
            let likeness = before.map_or(Likeness::Other, |before| field.likeness(before));
            (field.name(), likeness)
        });
        let of_new: HashMap<_, _> = compared.collect();
        let names = |schema| fields(schema).map(|field| field.name());
        let are_same =
            names(earlier).eq(names(new)) && of_new.values().all(|it| *it == Likeness::Same);
        Self { of_new, are_same }
    }

    /// Returns whether the new file has the columns of the earlier file, in the same order, and no others.
    pub(crate) fn are_same(&self) -> bool {
        self.are_same
    }

    /// Returns how a column of the new file compares.
    pub(crate) fn likeness(&self, name: &str) -> Likeness {
        self.of_new.get(name).copied().unwrap_or(Likeness::Other)
    }
}

/// A field at the top of a schema: its own element, and those inside of it, depth first.
pub(crate) struct Field<'a>(Vec<(&'a SchemaElement, usize)>);

impl<'a> Field<'a> {
    pub(crate) fn name(&self) -> &'a str {
        self.0.first().map_or("", |(element, _)| &element.name)
    }

    /// Compares with the field of an earlier file.
    fn likeness(&self, earlier: &Self) -> Likeness {
        let mut is_same = self.0.len() == earlier.0.len();
        let mut others = earlier.0.iter();
        for (element, depth) in &self.0 {
            // Fields inside stay in their order, so that one pass finds them.
            let is_it =
                |(other, at): &&(&SchemaElement, usize)| at == depth && other.name == element.name;
            match others.find(is_it) {
                Some((other, _)) if is_alike(element, other) => {
                    is_same &= element.repetition_type == other.repetition_type;
                }
                _ => return Likeness::Other,
            }
        }
        match is_same {
            true => Likeness::Same,
            false => Likeness::Similar,
        }
    }
}

/// Returns whether two elements are of one type. Files of old writers have the older of two annotations alone.
fn is_alike(a: &SchemaElement, b: &SchemaElement) -> bool {
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

/// Returns the fields at the top.
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
