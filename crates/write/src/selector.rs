//! Selects the columns that an option applies to.

use herringbone_format::Type;
use herringbone_schema::WriteLeaf;

/// A selector for the columns that an option applies to.
///
/// ```
/// use herringbone::format::Type;
/// use herringbone::{ColumnOptions, ColumnSelector, WriteOptions};
///
/// let plain = ColumnOptions::new().dictionary(false);
/// let options = WriteOptions::new()
///     .column_override(ColumnSelector::Pattern("*.price".to_owned()), plain.clone())
///     .column_override(ColumnSelector::PhysicalType(Type::Double), plain);
/// assert_eq!(options.overrides.len(), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnSelector {
    /// The column with this path, and all columns below it. The parts are names in the Parquet schema, but you may omit
    /// the names that Parquet adds around elements and entries.
    Path(Vec<String>),
    /// Columns with a matching path, and all columns below. Dots join the parts of a path, and `*` is a wildcard for
    /// any characters.
    Pattern(String),
    /// Columns with a physical type.
    PhysicalType(Type),
}

impl ColumnSelector {
    /// Returns true if the selector selects the column.
    #[must_use]
    pub fn selects(&self, leaf: &WriteLeaf) -> bool {
        match self {
            Self::PhysicalType(chosen) => *chosen == leaf.physical_type,
            Self::Path(chosen) => {
                leaf.path.starts_with(chosen) || leaf.short_path.starts_with(chosen)
            }
            Self::Pattern(pattern) => {
                fits_or_lies_below(pattern, &leaf.path.join("."))
                    || fits_or_lies_below(pattern, &leaf.short_path.join("."))
            }
        }
    }
}

fn fits_or_lies_below(pattern: &str, path: &str) -> bool {
    if fits(pattern.as_bytes(), path.as_bytes()) {
        return true;
    }
    path.match_indices('.')
        .any(|(dot, _)| fits(pattern.as_bytes(), &path.as_bytes()[..dot]))
}

/// Returns true if `text` matches `pattern`. After a mismatch, we backtrack to the last star and let it match one more
/// byte.
fn fits(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(byte) if *byte == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use herringbone_arrow::schema::{DataType, Field, Fields, Schema};
    use herringbone_schema::{WriteSchemaOptions, from_arrow};

    fn leaves(fields: Vec<Field>) -> Vec<WriteLeaf> {
        let schema = Schema::new(fields);
        let mapping = from_arrow(&schema, &WriteSchemaOptions::default());
        mapping.unwrap().leaves
    }

    fn int(name: &str) -> Field {
        Field::new(name, DataType::Int32, true)
    }

    fn group(name: &str, field: Field) -> Field {
        Field::new(name, DataType::Struct(vec![field].into()), true)
    }

    fn list(name: &str, element: Field) -> Field {
        Field::new(name, DataType::List(Arc::new(element)), true)
    }

    fn map(name: &str) -> Field {
        let key = int("k").with_nullable(false);
        let entries = DataType::Struct(Fields::from(vec![key, int("v")]));
        let entries = Field::new("entries", entries, false);
        Field::new(name, DataType::Map(Arc::new(entries), false), true)
    }

    #[test]
    fn patterns_select_columns_and_what_is_below() {
        let selects = |pattern: &str, field: Field| {
            let columns = leaves(vec![field]);
            ColumnSelector::Pattern(pattern.to_owned()).selects(&columns[0])
        };
        assert!(selects("a", int("a")));
        assert!(selects("a", group("a", int("b"))));
        assert!(!selects("a", int("ab")));
        assert!(selects("a*", int("ab")));
        assert!(selects("*_id", group("user", int("group_id"))));
        assert!(!selects("*_id", group("user", int("group_ids"))));
        assert!(selects("*", group("x", int("y"))));
        assert!(selects("tags", list("tags", int("item"))));
        let tags = || list("tags", group("item", int("name")));
        assert!(selects("tags.name", tags()));
        assert!(selects("tags.list.element.name", tags()));
        assert!(selects("a*c*e", int("abcde")));
        assert!(!selects("a*c*e", int("abcd")));
    }

    #[test]
    fn keys_and_values_of_maps_are_told_apart() {
        let columns = leaves(vec![map("m")]);
        let value = ColumnSelector::Pattern("m.value".to_owned());
        assert!(!value.selects(&columns[0]));
        assert!(value.selects(&columns[1]));
    }

    #[test]
    fn fields_that_are_named_as_wrappers_are_none() {
        let columns = leaves(vec![group("a", group("list", int("element")))]);
        let path = |parts: &[&str]| {
            let parts = parts.iter().map(|part| (*part).to_owned());
            ColumnSelector::Path(parts.collect())
        };
        assert!(path(&["a", "list"]).selects(&columns[0]));
        assert_eq!(columns[0].short_path, ["a", "list", "element"]);
    }

    #[test]
    fn paths_select_columns_with_dots_in_their_names() {
        let columns = leaves(vec![
            int("a.b"),
            group("a", int("b")),
            list("l", group("item", int("x"))),
        ]);
        let dotted = ColumnSelector::Path(vec!["a.b".to_owned()]);
        assert!(dotted.selects(&columns[0]));
        assert!(!dotted.selects(&columns[1]));
        let path = ColumnSelector::Path(vec!["l".to_owned(), "x".to_owned()]);
        assert!(path.selects(&columns[2]));
        assert!(ColumnSelector::PhysicalType(Type::Int32).selects(&columns[0]));
    }
}
