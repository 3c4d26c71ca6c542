//! Finds the first difference between two Arrow schemas.

use herringbone::geospatial::geoarrow::ExtensionMetadata;
use herringbone_arrow::schema::{DataType, Field, Fields, Schema};

use crate::is_geoarrow;

/// Describes the first difference between two files' schemas, or returns `None` if there is none.
///
/// We compare names, order, types, nullability, extension types and the meaning of geometries. All
/// other metadata is allowed to differ.
#[must_use]
pub fn difference(first: &str, a: &Schema, second: &str, b: &Schema) -> Option<String> {
    let difference = of_fields("", a.fields(), b.fields())?;
    Some(difference.text(first, second))
}

/// A difference between two schemas.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// Two fields at the same place with different names.
    Names(String, String),
    /// A field that only the first schema has.
    InFirst(String),
    /// A field that only the second schema has.
    InSecond(String),
    /// Two same-named fields within one schema.
    Twice(String),
    /// Two fields with equal paths that differ otherwise.
    Field {
        path: String,
        /// The words between the path and the two values.
        what: &'static str,
        a: String,
        b: String,
    },
    /// Two columns whose geometries differ.
    Geometries { path: String, a: String, b: String },
}

impl Difference {
    /// Describes the difference, naming both files.
    pub(crate) fn text(&self, first: &str, second: &str) -> String {
        let text = match self {
            Self::Names(a, b) => format!("where {first} has the field `{a}`, {second} has `{b}`"),
            Self::InFirst(path) => format!("field `{path}` is in {first} but not in {second}"),
            Self::InSecond(path) => format!("field `{path}` is in {second} but not in {first}"),
            Self::Twice(path) => {
                format!("{first} or {second} has several fields `{path}`")
            }
            Self::Field { path, what, a, b } => {
                format!("field `{path}` {what} {a} in {first} but {b} in {second}")
            }
            Self::Geometries { path, a, b } => {
                format!("the geometries of `{path}` are {a} in {first} but {b} in {second}")
            }
        };
        format!("the schemas differ: {text}")
    }

    /// Creates the difference for two types without a common type.
    pub(crate) fn of_types(path: &str, a: &DataType, b: &DataType) -> Self {
        Self::Field {
            path: path.to_owned(),
            what: "is",
            a: a.to_string(),
            b: b.to_string(),
        }
    }
}

fn of_fields(parent: &str, a: &Fields, b: &Fields) -> Option<Difference> {
    let mut pairs = a.iter().zip(b);
    if let Some(difference) = pairs.find_map(|(a, b)| of_field(parent, a, b)) {
        return Some(difference);
    }
    let common = a.len().min(b.len());
    let extra = |fields: &Fields| fields.get(common).map(|field| path(parent, field));
    let in_first = extra(a).map(Difference::InFirst);
    in_first.or_else(|| extra(b).map(Difference::InSecond))
}

fn of_field(parent: &str, a: &Field, b: &Field) -> Option<Difference> {
    let path = path(parent, a);
    if a.name() != b.name() {
        return Some(Difference::Names(path, self::path(parent, b)));
    }
    if let Some((a, b)) = children(a.data_type(), b.data_type()) {
        if let Some(difference) = of_fields(&path, &a, &b) {
            return Some(difference);
        }
    } else if a.data_type() != b.data_type() {
        return Some(Difference::of_types(&path, a.data_type(), b.data_type()));
    }
    if a.is_nullable() != b.is_nullable() {
        let word = |field: &Field| match field.is_nullable() {
            true => "nullable".to_owned(),
            false => "not nullable".to_owned(),
        };
        return Some(Difference::Field {
            what: "is",
            a: word(a),
            b: word(b),
            path,
        });
    }
    of_meanings(&path, a, b)
}

/// Returns the difference between two fields' meanings.
pub(crate) fn of_meanings(path: &str, a: &Field, b: &Field) -> Option<Difference> {
    let path = path.to_owned();
    if let Some((a, b)) = other_geometries(a, b) {
        return Some(Difference::Geometries { path, a, b });
    }
    let extension = |field: &Field| field.extension_type_name().unwrap_or("none").to_owned();
    let (a, b) = (extension(a), extension(b));
    (a != b).then_some(Difference::Field {
        path,
        what: "has the extension type",
        a,
        b,
    })
}

/// Describes two fields' geometries if their reference systems or edges differ.
fn other_geometries(a: &Field, b: &Field) -> Option<(String, String)> {
    let meaning = |field: &Field| {
        let text = field.extension_type_metadata().unwrap_or_default();
        let meaning = is_geoarrow(field).then(|| ExtensionMetadata::parse(text).ok());
        meaning.flatten()
    };
    let (a, b) = meaning(a).zip(meaning(b))?;
    let shown = |it: &ExtensionMetadata| it.logical_type().to_string();
    (!a.is_same(&b)).then(|| (shown(&a), shown(&b)))
}

/// Returns the child fields of two types, if the types are of the same kind.
fn children(a: &DataType, b: &DataType) -> Option<(Fields, Fields)> {
    let one = |a: &_, b: &_| {
        let fields = |field: &std::sync::Arc<Field>| Fields::from(vec![field.clone()]);
        Some((fields(a), fields(b)))
    };
    match (a, b) {
        (DataType::Struct(a), DataType::Struct(b)) => Some((a.clone(), b.clone())),
        (DataType::List(a), DataType::List(b))
        | (DataType::LargeList(a), DataType::LargeList(b))
        | (DataType::ListView(a), DataType::ListView(b))
        | (DataType::LargeListView(a), DataType::LargeListView(b)) => one(a, b),
        (DataType::FixedSizeList(a, n), DataType::FixedSizeList(b, m)) if n == m => one(a, b),
        (DataType::Map(a, n), DataType::Map(b, m)) if n == m => one(a, b),
        _ => None,
    }
}

/// Returns a field's path below a parent.
pub(crate) fn path(parent: &str, field: &Field) -> String {
    match parent {
        "" => field.name().clone(),
        parent => format!("{parent}.{}", field.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::sync::Arc;

    fn int(name: &str) -> Field {
        Field::new(name, DataType::Int32, true)
    }

    fn compared(a: Vec<Field>, b: Vec<Field>) -> String {
        let start = "the schemas differ: ";
        let found = difference("a", &Schema::new(a), "b", &Schema::new(b)).unwrap_or_default();
        found.strip_prefix(start).unwrap_or(&found).into()
    }

    #[test]
    fn equal_schemas_may_have_other_metadata() {
        let id = |id: &str| {
            let metadata = HashMap::from([("PARQUET:field_id".to_owned(), id.to_owned())]);
            int("x").with_metadata(metadata)
        };
        assert_eq!(compared(vec![id("1")], vec![id("2")]), "");
    }

    #[test]
    fn the_first_difference_is_named() {
        let long = || Field::new("x", DataType::Int64, true);
        assert_eq!(
            compared(vec![int("w"), int("x")], vec![int("w"), long()]),
            "field `x` is Int32 in a but Int64 in b"
        );
        assert_eq!(
            compared(vec![int("x")], vec![int("y")]),
            "where a has the field `x`, b has `y`"
        );
        assert_eq!(
            compared(vec![int("x"), int("y")], vec![int("x")]),
            "field `y` is in a but not in b"
        );
        assert_eq!(
            compared(vec![], vec![int("x")]),
            "field `x` is in b but not in a"
        );
        let required = Field::new("x", DataType::Int32, false);
        assert_eq!(
            compared(vec![int("x")], vec![required]),
            "field `x` is nullable in a but not nullable in b"
        );
    }

    #[test]
    fn differences_inside_have_a_path() {
        let list = |field: Field| {
            let item = Field::new("item", DataType::Struct(vec![field].into()), true);
            Field::new("l", DataType::List(Arc::new(item)), true)
        };
        let long = Field::new("x", DataType::Int64, true);
        assert_eq!(
            compared(vec![list(int("x"))], vec![list(long)]),
            "field `l.item.x` is Int32 in a but Int64 in b"
        );
        assert_eq!(
            compared(vec![list(int("x"))], vec![int("l")])
                .split(" in a but ")
                .last(),
            Some("Int32 in b")
        );
    }

    #[test]
    fn extension_types_count() {
        let plain = || Field::new("x", DataType::FixedSizeBinary(16), true);
        let metadata =
            HashMap::from([("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned())]);
        assert_eq!(
            compared(vec![plain()], vec![plain().with_metadata(metadata)]),
            "field `x` has the extension type none in a but arrow.uuid in b"
        );
    }
}
