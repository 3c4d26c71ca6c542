//! Lists and maps among groups, recognized by the specification's rules for current and legacy
//! forms (LogicalTypes, "Lists" and "Maps").
//!
//! A group annotated LIST has a single, repeated field. Let `R` be that field. Its form decides
//! what the list's element is:
//!
//! | `R`                                                          | element          |
//! |--------------------------------------------------------------|------------------|
//! | a column                                                     | `R`, required    |
//! | a group with no field, or with several                       | `R`, required    |
//! | a group whose only field is itself repeated                  | `R`, required    |
//! | a group named `array`, or named like the list plus `_tuple`  | `R`, required    |
//! | any other group                                              | its only field   |
//!
//! If `R` is the element, it may itself be a list or a map. A group annotated MAP has one field, a
//! repeated group of the key and usually the value. The names do not matter. If an annotation does
//! not fit the group's fields, the group is read as a struct.

use herringbone_format::{ConvertedType, LogicalType, Repetition};

use crate::ParquetSchema;
use crate::resolved_type::annotation;

/// The form of one occurrence of a node. All members are node ordinals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GroupForm {
    Leaf,
    Struct,
    /// A list. In the 2-level form, `element` equals `repeated`.
    List {
        repeated: usize,
        element: usize,
    },
    Map {
        repeated: usize,
        key: usize,
        value: usize,
    },
    /// A map without values.
    Keys {
        repeated: usize,
        key: usize,
    },
    /// A group with an annotation that does not fit its fields. It is read as a struct.
    Mismatch,
}

/// Returns a node's form, apart from its own repetition.
pub(crate) fn group_form(schema: &ParquetSchema, node: usize) -> GroupForm {
    let this = &schema.nodes()[node];
    if !this.is_group() {
        return GroupForm::Leaf;
    }
    let element = &this.element;
    match (annotation(element), element.converted_type) {
        (Some(LogicalType::List), _) | (None, Some(ConvertedType::List)) => list(schema, node),
        (Some(LogicalType::Map), _)
        | (None, Some(ConvertedType::Map | ConvertedType::MapKeyValue)) => map(schema, node),
        _ => GroupForm::Struct,
    }
}

fn list(schema: &ParquetSchema, node: usize) -> GroupForm {
    let name = |node: usize| schema.nodes()[node].element.name.as_str();
    let Some(repeated) = only_repeated_child(schema, node) else {
        return GroupForm::Mismatch;
    };
    let element = match only_child(schema, repeated) {
        Some(child)
            if !is_repeated(schema, child) && !named_as_element(name(node), name(repeated)) =>
        {
            child
        }
        _ => repeated,
    };
    GroupForm::List { repeated, element }
}

fn map(schema: &ParquetSchema, node: usize) -> GroupForm {
    let Some(repeated) = only_repeated_child(schema, node) else {
        return GroupForm::Mismatch;
    };
    let mut children = schema.children(repeated);
    match (children.next(), children.next(), children.next()) {
        (Some(key), Some(value), None) => GroupForm::Map {
            repeated,
            key,
            value,
        },
        (Some(key), None, None) => GroupForm::Keys { repeated, key },
        _ => GroupForm::Mismatch,
    }
}

fn only_repeated_child(schema: &ParquetSchema, node: usize) -> Option<usize> {
    only_child(schema, node).filter(|&child| is_repeated(schema, child))
}

fn only_child(schema: &ParquetSchema, node: usize) -> Option<usize> {
    let mut children = schema.children(node);
    let first = children.next()?;
    children.next().is_none().then_some(first)
}

fn is_repeated(schema: &ParquetSchema, node: usize) -> bool {
    schema.nodes()[node].repetition() == Repetition::Repeated
}

/// Returns true if the name of a list's repeated group marks that group as the element.
pub(crate) fn named_as_element(list: &str, repeated: &str) -> bool {
    repeated == "array" || repeated.strip_suffix("_tuple") == Some(list)
}
