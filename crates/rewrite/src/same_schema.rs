//! The first difference between two Arrow schemas, in words.

use herringbone::geospatial::geoarrow::ExtensionMetadata;
use herringbone_arrow::schema::{DataType, Field, Fields, Schema};

use crate::is_geoarrow;

/// Returns the first difference between the schemas of two files, in words; `None` if there is none.
///
/// Compared are names, order, types, nullability, extension types and what geometries mean; other metadata may
/// differ.
#[must_use]
pub fn difference(first: &str, a: &Schema, second: &str, b: &Schema) -> Option<String> {
    let names = Names { first, second };
    names.fields("", a.fields(), b.fields())
}

/// The names of the two files.
struct Names<'a> {
    first: &'a str,
    second: &'a str,
}

impl Names<'_> {
    fn fields(&self, parent: &str, a: &Fields, b: &Fields) -> Option<String> {
        for (a, b) in a.iter().zip(b) {
            if let Some(difference) = self.field(parent, a, b) {
                return Some(difference);
            }
        }
        let common = a.len().min(b.len());
        let extra = |fields: &Fields| fields.get(common).map(|field| path(parent, field));
        match (extra(a), extra(b)) {
            (Some(extra), _) => Some(self.only(&extra, self.first, self.second)),
            (_, Some(extra)) => Some(self.only(&extra, self.second, self.first)),
            (None, None) => None,
        }
    }

    fn only(&self, field: &str, has: &str, has_not: &str) -> String {
        format!(
            "{}: field `{field}` is in {has} but not in {has_not}",
            self.intro()
        )
    }

    fn intro(&self) -> String {
        format!("the schemas of {} and {} differ", self.first, self.second)
    }

    fn field(&self, parent: &str, a: &Field, b: &Field) -> Option<String> {
        let (first, second) = (self.first, self.second);
        let path = path(parent, a);
        let intro = self.intro();
        if a.name() != b.name() {
            let other = self::path(parent, b);
            return Some(format!(
                "{intro}: where {first} has the field `{path}`, {second} has `{other}`"
            ));
        }
        if let Some((a, b)) = children(a.data_type(), b.data_type()) {
            if let Some(difference) = self.fields(&path, &a, &b) {
                return Some(difference);
            }
        } else if a.data_type() != b.data_type() {
            let (a, b) = (a.data_type(), b.data_type());
            return Some(format!(
                "{intro}: field `{path}` is {a} in {first} but {b} in {second}"
            ));
        }
        if a.is_nullable() != b.is_nullable() {
            let word = |field: &Field| {
                if field.is_nullable() {
                    "nullable"
                } else {
                    "not nullable"
                }
            };
            let (a, b) = (word(a), word(b));
            return Some(format!(
                "{intro}: field `{path}` is {a} in {first} but {b} in {second}"
            ));
        }
        if let Some((a, b)) = other_meanings(a, b) {
            return Some(format!(
                "{intro}: the geometries of `{path}` are {a} in {first} but {b} in {second}"
            ));
        }
        let extension = |field: &Field| field.extension_type_name().unwrap_or("none").to_owned();
        let (a, b) = (extension(a), extension(b));
        (a != b).then(|| {
            format!(
                "{intro}: field `{path}` has the extension type {a} in {first} but {b} in {second}"
            )
        })
    }
}

/// What the geometries of two fields are, where their reference systems or edges differ.
fn other_meanings(a: &Field, b: &Field) -> Option<(String, String)> {
    let meaning = |field: &Field| {
        let text = field.extension_type_metadata().unwrap_or_default();
        let meaning = is_geoarrow(field).then(|| ExtensionMetadata::parse(text).ok());
        meaning.flatten()
    };
    let (a, b) = meaning(a).zip(meaning(b))?;
    let shown = |it: &ExtensionMetadata| it.logical_type().to_string();
    (!a.is_same(&b)).then(|| (shown(&a), shown(&b)))
}

/// The fields inside of two types of the same kind.
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

fn path(parent: &str, field: &Field) -> String {
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
        let start = "the schemas of a and b differ: ";
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
