//! Which columns an option is for.

use herringbone_format::Type;

/// Which columns an option is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnSelector {
    /// The column with this path, and all columns below it. Parts as in the Parquet schema, where
    /// the names that Parquet wraps around elements and entries may be left out.
    Path(Vec<String>),
    /// Columns whose path, its parts joined by dots, fits, or lies below one that fits; `*` stands
    /// for any characters.
    Pattern(String),
    /// Columns of a physical type.
    PhysicalType(Type),
}

impl ColumnSelector {
    /// Whether the column is meant: `path` as in the Parquet schema.
    #[must_use]
    pub fn selects(&self, path: &[String], physical_type: Type) -> bool {
        match self {
            Self::PhysicalType(chosen) => *chosen == physical_type,
            Self::Path(chosen) => {
                path.starts_with(chosen) || without_wrappers(path).starts_with(&by_ref(chosen))
            }
            Self::Pattern(pattern) => {
                fits_or_lies_below(pattern, &path.join("."))
                    || fits_or_lies_below(pattern, &without_wrappers(path).join("."))
            }
        }
    }
}

fn by_ref(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

/// The path without what the writer wraps around elements and entries.
fn without_wrappers(path: &[String]) -> Vec<&str> {
    let mut parts: Vec<&str> = Vec::with_capacity(path.len());
    let mut rest = path.iter().map(String::as_str).peekable();
    let mut first = true;
    while let Some(part) = rest.next() {
        match (part, rest.peek()) {
            ("list", Some(&"element")) if !first => {
                rest.next();
            }
            ("key_value", Some(&"key" | &"value")) if !first => {}
            _ => parts.push(part),
        }
        first = false;
    }
    parts
}

fn fits_or_lies_below(pattern: &str, path: &str) -> bool {
    if fits(pattern.as_bytes(), path.as_bytes()) {
        return true;
    }
    path.match_indices('.')
        .any(|(dot, _)| fits(pattern.as_bytes(), &path.as_bytes()[..dot]))
}

/// Whether `text` fits `pattern`, by going back to the last star where the two part.
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

    fn path(text: &str) -> Vec<String> {
        text.split('.').map(str::to_owned).collect()
    }

    #[test]
    fn patterns_select_columns_and_what_is_below() {
        let selects = |pattern: &str, column: &str| {
            ColumnSelector::Pattern(pattern.to_owned()).selects(&path(column), Type::Int32)
        };
        assert!(selects("a", "a"));
        assert!(selects("a", "a.b"));
        assert!(!selects("a", "ab"));
        assert!(selects("a*", "ab"));
        assert!(selects("*_id", "user.group_id"));
        assert!(!selects("*_id", "user.group_ids"));
        assert!(selects("*", "x.y"));
        assert!(selects("tags", "tags.list.element"));
        assert!(selects("tags.name", "tags.list.element.name"));
        assert!(selects("m.value", "m.key_value.value"));
        assert!(!selects("m.value", "m.key_value.key"));
        assert!(selects("a*c*e", "abcde"));
        assert!(!selects("a*c*e", "abcd"));
    }

    #[test]
    fn paths_select_columns_with_dots_in_their_names() {
        let selector = ColumnSelector::Path(vec!["a.b".to_owned()]);
        assert!(selector.selects(&["a.b".to_owned()], Type::Int32));
        assert!(!selector.selects(&path("a.b"), Type::Int32));
        assert!(ColumnSelector::Path(path("l.x")).selects(&path("l.list.element.x"), Type::Int32));
        assert!(ColumnSelector::PhysicalType(Type::Int32).selects(&path("q"), Type::Int32));
    }
}
