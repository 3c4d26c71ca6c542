//! `-c 'id, price=fare, day:Date32=at, !tip'` lists the columns of the output, in this grammar:
//!
//! ```text
//! list    item ("," item)*
//! item    path                    the column, or a part of it
//!         name "=" path           with another name
//!         name ":" type "=" path  as another type
//!         path ":" type           as another type, of a whole column
//!         "!" path                left out
//!         "*"                     all columns that no other item names
//! ```

use std::str::FromStr;

use herringbone_arrow::schema::{DataType, Field, Fields};
use herringbone_interchange::read::field_of;

use super::Columns;
use super::columns::{elements, position_of};

/// The columns of the output, in their order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Selection {
    items: Vec<Item>,
    dropped: Vec<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq)]
enum Item {
    Taken(Taken),
    /// All columns that no other item names.
    Rest,
}

/// A column of the output.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Taken {
    /// The column's path in the input.
    pub(crate) path: Vec<String>,
    /// The column's name in the output, if the user gives one.
    pub(crate) name: Option<String>,
    /// The column's type in the output, if the user gives one. The name of this field has no
    /// meaning.
    pub(crate) field: Option<Field>,
}

impl Taken {
    /// Returns true if the column is renamed or cast.
    pub(crate) fn is_new(&self) -> bool {
        self.name.is_some() || self.field.is_some()
    }
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut items, mut dropped) = (Vec::new(), Vec::new());
        for element in elements(text) {
            let element = element.trim();
            match element.strip_prefix('!') {
                Some(path) => dropped.push(path_of(path)?),
                None if element == "*" => items.push(Item::Rest),
                None => items.push(Item::Taken(taken(element)?)),
            }
        }
        if items.iter().filter(|item| **item == Item::Rest).count() > 1 {
            return Err("`*` occurs twice".into());
        }
        if !dropped.is_empty() && !items.contains(&Item::Rest) {
            items.push(Item::Rest);
        }
        let selection = Self { items, dropped };
        let path = |taken: &Taken| taken.path.clone();
        if let Some(path) = selection
            .taken()
            .map(path)
            .find(|path| selection.is_dropped(path))
        {
            return Err(format!("`{}` is both taken and left out", path.join(".")));
        }
        Ok(selection)
    }
}

fn taken(element: &str) -> Result<Taken, String> {
    if let [column, word, name] = element.split_whitespace().collect::<Vec<_>>().as_slice()
        && word.eq_ignore_ascii_case("as")
    {
        return Err(format!(
            "a new name stands before the column, as in `{name}={column}`"
        ));
    }
    let (target, path) = match position_of(element, '=') {
        Some(at) => (element.get(..at), element.get(at + 1..)),
        None => (None, Some(element)),
    };
    let (path, in_place) = match (target, typed(path.unwrap_or_default())?) {
        (Some(target), (column, Some(_))) => {
            let data_type = path.and_then(|path| path.get(column.len() + 1..));
            return Err(format!(
                "the type follows the new name, as in `{}:{}={column}`",
                target.trim(),
                data_type.unwrap_or_default().trim()
            ));
        }
        (_, (path, field)) => (path, field),
    };
    let path = path_of(path)?;
    let Some(target) = target else {
        if let (Some(_), [_, .., last]) = (&in_place, path.as_slice()) {
            let shown = path.join(".");
            return Err(format!(
                "`{shown}` is inside a column; give it a name too, such as {last}:TYPE={shown}"
            ));
        }
        return Ok(Taken {
            path,
            name: None,
            field: in_place,
        });
    };
    let (name, field) = typed(target)?;
    match <[String; 1]>::try_from(path_of(name)?) {
        Ok([name]) => Ok(Taken {
            path,
            name: Some(name),
            field,
        }),
        Err(path) => Err(format!(
            "the new name `{}` has several parts; write a name with a dot in \"quotes\"",
            path.join(".")
        )),
    }
}

/// Splits the type off a name or path, if there is one.
fn typed(text: &str) -> Result<(&str, Option<Field>), String> {
    let Some(at) = position_of(text, ':') else {
        return Ok((text, None));
    };
    let (name, data_type) = text.split_at_checked(at).unwrap_or((text, ""));
    let data_type = data_type.strip_prefix(':').unwrap_or_default().trim();
    if let Some(data_type) = data_type.strip_prefix(':') {
        return Err(format!(
            "one colon stands before a type, as in `{name}:{data_type}`"
        ));
    }
    Ok((name, Some(field_of("", data_type)?)))
}

fn path_of(text: &str) -> Result<Vec<String>, String> {
    let paths = text.trim().parse::<Columns>()?.paths;
    paths
        .into_iter()
        .next()
        .ok_or_else(|| "a column name is empty".to_owned())
}

/// Parses a selection for a command that cannot change names and types.
pub(super) fn unchanged(text: &str) -> Result<Selection, String> {
    let selection: Selection = text.parse()?;
    let changed = selection.taken().find(|taken| taken.is_new());
    match changed.map(|taken| taken.path.join(".")) {
        Some(path) => Err(format!(
            "`{path}` has a new name or type, but this command only takes columns, or leaves them out"
        )),
        None => Ok(selection),
    }
}

impl Selection {
    /// Returns the columns that the selection names, in the order of the output.
    pub(crate) fn taken(&self) -> impl Iterator<Item = &Taken> {
        self.items.iter().filter_map(|item| match item {
            Item::Taken(taken) => Some(taken),
            Item::Rest => None,
        })
    }

    /// Returns true if the output also has unnamed columns. These depend on the input.
    pub(crate) fn has_rest(&self) -> bool {
        self.items.contains(&Item::Rest)
    }

    /// Returns the excluded paths, which are columns or nested fields.
    pub(crate) fn dropped(&self) -> &[Vec<String>] {
        &self.dropped
    }

    /// Returns the output's columns in their order, for an input with these fields.
    pub(crate) fn of(&self, fields: &Fields) -> Vec<Taken> {
        let mut all = Vec::new();
        for item in &self.items {
            match item {
                Item::Taken(taken) => all.push(taken.clone()),
                Item::Rest => self.rest(fields, &mut all),
            }
        }
        all
    }

    /// Appends the columns not named by any item.
    fn rest(&self, fields: &Fields, all: &mut Vec<Taken>) {
        for field in fields {
            let names = |taken: &Taken| taken.path.first() == Some(field.name());
            if !self.taken().any(names) {
                self.kept(field, vec![field.name().clone()], all);
            }
        }
    }

    /// Appends a column without its dropped parts. If there are any, we append the remaining fields
    /// one by one, since only whole paths can be selected.
    fn kept(&self, field: &Field, path: Vec<String>, all: &mut Vec<Taken>) {
        if self.is_dropped(&path) {
            return;
        }
        let inside = |dropped: &Vec<String>| dropped.starts_with(&path);
        if !self.dropped.iter().any(inside) {
            all.push(Taken {
                path,
                name: None,
                field: None,
            });
            return;
        }
        for child in fields_of(field.data_type()) {
            let mut path = path.clone();
            path.push(child.name().clone());
            self.kept(child, path, all);
        }
    }

    fn is_dropped(&self, path: &[String]) -> bool {
        self.dropped.iter().any(|dropped| path.starts_with(dropped))
    }
}

/// Returns the fields inside a column. This skips groups that only form a list or a map, since
/// paths don't name them.
pub(crate) fn fields_of(data_type: &DataType) -> &[std::sync::Arc<Field>] {
    match data_type {
        DataType::Struct(fields) => fields,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => fields_of(item.data_type()),
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Result<String, String> {
        let parsed = text.parse::<Selection>()?;
        let item = |item: &Item| match item {
            Item::Rest => "*".to_owned(),
            Item::Taken(taken) => {
                let name = taken.name.clone().unwrap_or_default();
                let field = taken.field.as_ref();
                let data_type =
                    field.map_or_else(String::new, |field| field.data_type().to_string());
                format!("{name}:{data_type}={}", taken.path.join("/"))
            }
        };
        let items: Vec<String> = parsed.items.iter().map(item).collect();
        let dropped = parsed.dropped.iter().map(|path| path.join("/"));
        Ok(format!(
            "{} !{}",
            items.join(" "),
            dropped.collect::<Vec<_>>().join(" !")
        ))
    }

    #[test]
    fn the_rest_is_wanted_by_a_star_or_an_exclusion() {
        for (text, has_rest) in [
            ("a", false),
            ("a, b=c", false),
            ("*", true),
            ("a, !b", true),
        ] {
            let selection = text.parse::<Selection>().unwrap();
            assert_eq!(selection.has_rest(), has_rest, "{text}");
        }
    }

    #[test]
    fn items_have_names_types_and_paths() {
        for (text, expected) in [
            ("id", ":=id !"),
            (
                "id, price=fare, day:Date32=at, !tip",
                ":=id price:=fare day:Date32=at * !tip",
            ),
            ("a.b,!c.d", ":=a/b * !c/d"),
            ("*,x=y", "* x:=y !"),
            ("fare:Decimal128(9, 2)", ":Decimal128(9, 2)=fare !"),
            ("p:decimal(9,2)=fare, q", "p:Decimal128(9, 2)=fare :=q !"),
            (r#""a=b:c"="d,e".f"#, "a=b:c:=d,e/f !"),
            (r"a\=b", ":=a=b !"),
            ("n:bigint", ":Int64=n !"),
        ] {
            assert_eq!(shown(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn broken_selections_are_refused() {
        for (text, message) in [
            ("", "empty column name"),
            ("a,,b", "empty column name"),
            ("=a", "empty column name"),
            ("a=", "empty column name"),
            ("a.b=c", "several parts"),
            ("a.b:int", "give it a name too, such as b:TYPE=a.b"),
            ("a::int", "as in `a:int`"),
            ("a as b", "as in `b=a`"),
            ("z=a:int", "the type follows the new name, as in `z:int=a`"),
            ("a:nonsense", "unknown type `nonsense`"),
            ("*,*", "occurs twice"),
            ("a.b,!a", "`a.b` is both taken and left out"),
        ] {
            let error = shown(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn some_commands_keep_names_and_types() {
        for text in ["a=b", "a:int=b", "*, b:int"] {
            let error = unchanged(text).unwrap_err();
            assert!(error.starts_with("`b` has a new name or type"), "{error}");
        }
        assert_eq!(unchanged("a,!b.c"), "a,!b.c".parse());
    }

    #[test]
    fn parts_of_columns_are_left_out() {
        let inner = Fields::from(vec![
            Field::new("x", DataType::Int32, true),
            Field::new("y", DataType::Int32, true),
        ]);
        let fields = Fields::from(vec![
            Field::new("a", DataType::Int32, true),
            Field::new("s", DataType::Struct(inner), true),
            Field::new("b", DataType::Int32, true),
        ]);
        let paths = |text: &str| {
            let selection: Selection = text.parse().unwrap();
            let taken = selection.of(&fields).into_iter();
            taken
                .map(|taken| taken.path.join("."))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(paths("!a"), "s b");
        assert_eq!(paths("b,!s.x"), "b a s.y");
        assert_eq!(paths("*,c=a"), "s b a");
    }
}
