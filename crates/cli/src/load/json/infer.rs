//! The schema of JSON lines, from those at the beginning.
//!
//! Fields come in the order in which they appear first. Integers are Int64, UInt64 or decimals, other
//! numbers Float64, or decimals where that would lose digits; what is a string here and a number there is
//! text; what is null everywhere is Null. Arrays of `[key, value]`, the two of different types, are maps.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, Fields};

use super::parse::{DEPTH, Json, Start};
use crate::load::numbers::Numbers;
use crate::load::value::number::Number;
use crate::load::value::{Result, Wrong, is_special};

/// What values were seen.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Null,
    Boolean,
    Numbers(Numbers),
    /// Strings that name what is no number: of numbers, if there are any.
    Special,
    Text,
    /// Values without parts of several types.
    Mixed,
    List(Box<List>),
    Struct(Vec<(String, Self)>),
    /// Values that no type holds, and why.
    None(String),
}

/// What arrays were seen.
#[derive(Debug, Clone)]
pub(super) struct List {
    items: Kind,
    /// Whether there are nulls among them.
    nulls: bool,
    /// What keys and values would be, if all arrays have two items.
    pair: Option<(Kind, Kind)>,
}

impl Kind {
    /// Reads the next value, in line `line`, and says what it is.
    pub(super) fn read(json: &mut Json<'_>, depth: usize, line: usize) -> Result<Self> {
        let deeper = || {
            let too_deep = || Wrong::new(format!("more than {DEPTH} levels of nesting"));
            depth.checked_sub(1).ok_or_else(too_deep)
        };
        Ok(match json.value()? {
            Start::Null => Self::Null,
            Start::Boolean(_) => Self::Boolean,
            Start::Number(text) => match Number::of(text) {
                Some(number) => Self::Numbers(Numbers::of(&number)),
                None => Self::Text,
            },
            Start::Text(text) if is_special(&text, true) => Self::Special,
            Start::Text(_) => Self::Text,
            Start::Array => Self::array(json, deeper()?, line)?,
            Start::Object => Self::object(json, deeper()?, line)?,
        })
    }

    fn array(json: &mut Json<'_>, depth: usize, line: usize) -> Result<Self> {
        let (mut first, mut count, mut nulls) = (true, 0, false);
        let mut items = Self::Null;
        let mut pair = [Self::Null, Self::Null];
        while json.item(&mut first)? {
            let item = Self::read(json, depth, line)?;
            if let Some(place) = pair.get_mut(count) {
                *place = item.clone();
            }
            nulls |= matches!(item, Self::Null);
            items = items.with(item, line);
            count += 1;
        }
        let [key, value] = pair;
        // A map has no null keys.
        let is_pair = count == 2 && !matches!(key, Self::Null);
        let pair = is_pair.then_some((key, value));
        Ok(Self::List(Box::new(List { items, nulls, pair })))
    }

    fn object(json: &mut Json<'_>, depth: usize, line: usize) -> Result<Self> {
        let mut first = true;
        let mut fields: Vec<(String, Self)> = Vec::new();
        while let Some(name) = json.key(&mut first)? {
            fields.push((name.into_owned(), Self::read(json, depth, line)?));
        }
        no_name_twice(&fields)?;
        Ok(Self::Struct(fields))
    }

    /// What is both; `other` stands in `line`.
    pub(super) fn with(self, other: Self, line: usize) -> Self {
        match (self, other) {
            (Self::Null, kind) | (kind, Self::Null) => kind,
            (Self::None(why), _) | (_, Self::None(why)) => Self::None(why),
            (Self::List(mut a), Self::List(b)) => {
                a.items = a.items.with(b.items, line);
                a.nulls |= b.nulls;
                let pairs = a.pair.zip(b.pair);
                a.pair = pairs.map(|(a, b)| (a.0.with(b.0, line), a.1.with(b.1, line)));
                Self::List(a)
            }
            (Self::Struct(mut fields), Self::Struct(others)) => {
                for (at, (name, kind)) in others.into_iter().enumerate() {
                    let is_it = |(known, _): &(String, Self)| *known == name;
                    let found = match fields.get(at).is_some_and(is_it) {
                        true => Some(at),
                        false => fields.iter().position(is_it),
                    };
                    match found.and_then(|at| fields.get_mut(at)) {
                        None => fields.push((name, kind)),
                        Some((_, known)) => {
                            let before = std::mem::replace(known, Self::Null);
                            *known = before.with(kind, line);
                        }
                    }
                }
                Self::Struct(fields)
            }
            (a @ (Self::List(_) | Self::Struct(_)), b)
            | (a, b @ (Self::List(_) | Self::Struct(_))) => Self::None(format!(
                "line {line}: there is {} here, and {} before",
                b.name(),
                a.name()
            )),
            (Self::Boolean, Self::Boolean) => Self::Boolean,
            (Self::Numbers(a), Self::Numbers(b)) => Self::Numbers(a.with(b)),
            (Self::Numbers(a), Self::Special) | (Self::Special, Self::Numbers(a)) => {
                Self::Numbers(a.as_floats())
            }
            (Self::Special, Self::Special) => Self::Special,
            (Self::Text | Self::Special, Self::Text | Self::Special) => Self::Text,
            _ => Self::Mixed,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Numbers(_) => "a number",
            Self::Special | Self::Text | Self::Mixed => "a string",
            Self::List(_) => "an array",
            Self::Struct(_) => "an object",
            Self::None(_) => "something else",
        }
    }

    /// The type that holds all of it, for `path`; columns of several types go to `mixed`.
    ///
    /// # Errors
    /// Words about why there is none.
    pub(super) fn data_type(
        &self,
        path: &str,
        mixed: &mut Vec<String>,
    ) -> Result<DataType, String> {
        Ok(match self {
            Self::Null => DataType::Null,
            Self::Boolean => DataType::Boolean,
            Self::Special | Self::Text => DataType::Utf8,
            Self::Numbers(numbers) => match numbers.machine_type().or(numbers.decimal_type()) {
                Some(data_type) => data_type,
                None if numbers.integers => {
                    return Err(format!(
                        "column `{path}`: an integer of more than 76 digits"
                    ));
                }
                None => {
                    mixed.push(path.to_owned());
                    DataType::Utf8
                }
            },
            Self::Mixed => {
                mixed.push(path.to_owned());
                DataType::Utf8
            }
            Self::List(list) => list.data_type(path, mixed)?,
            Self::Struct(fields) => DataType::Struct(fields_of(fields, path, mixed)?),
            Self::None(why) => return Err(format!("column `{path}`: {why}")),
        })
    }
}

impl List {
    fn data_type(&self, path: &str, mixed: &mut Vec<String>) -> Result<DataType, String> {
        if let Kind::List(entries) = &self.items
            && let Some((key, value)) = &entries.pair
            && !self.nulls
            && !matches!(value, Kind::Null)
        {
            let before = mixed.len();
            let keys = key.data_type(&format!("{path}.key"), mixed);
            let values = value.data_type(&format!("{path}.value"), mixed);
            match (keys, values) {
                (Ok(keys), Ok(values)) if keys != values => {
                    let key = Field::new("key", keys, false);
                    let value = Field::new("value", values, true);
                    let entries = Fields::from(vec![key, value]);
                    let entries = Field::new("entries", DataType::Struct(entries), false);
                    return Ok(DataType::Map(Arc::new(entries), false));
                }
                _ => mixed.truncate(before),
            }
        }
        let name = Field::LIST_FIELD_DEFAULT_NAME;
        let items = self.items.data_type(&format!("{path}.{name}"), mixed)?;
        Ok(DataType::new_list(items, true))
    }
}

/// Makes sure that the names of an object are different: of two values, one would be lost.
pub(super) fn no_name_twice(fields: &[(String, Kind)]) -> Result<()> {
    let mut names: Vec<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair.first() == pair.last()) {
        Some([name, ..]) => Err(Wrong::new(format!("the key `{name}` is there twice"))),
        _ => Ok(()),
    }
}

/// Fields below `path`, which is empty for columns.
fn fields_of(
    fields: &[(String, Kind)],
    path: &str,
    mixed: &mut Vec<String>,
) -> Result<Fields, String> {
    let dot = if path.is_empty() { "" } else { "." };
    let field = |(name, kind): &(String, Kind)| {
        let data_type = kind.data_type(&format!("{path}{dot}{name}"), mixed)?;
        Ok(Field::new(name, data_type, true))
    };
    fields.iter().map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inferred(rows: &[&str]) -> String {
        let mut all = Kind::Null;
        for (at, row) in rows.iter().enumerate() {
            let kind = Kind::read(&mut Json::new(row), DEPTH, at + 1).unwrap();
            all = all.with(kind, at + 1);
        }
        let mut mixed = Vec::new();
        match all.data_type("", &mut mixed) {
            Ok(DataType::Struct(fields)) => {
                let field = |it: &Arc<Field>| format!("{}: {}", it.name(), it.data_type());
                fields
                    .iter()
                    .map(field)
                    .chain(mixed)
                    .collect::<Vec<_>>()
                    .join("; ")
            }
            other => other.unwrap_err(),
        }
    }

    #[test]
    fn types_widen() {
        for (rows, expected) in [
            (
                &[r#"{"b":1,"a":true,"c":"x"}"#][..],
                "b: Int64; a: Boolean; c: Utf8",
            ),
            (
                &[r#"{"x":1}"#, r#"{"x":null}"#, r#"{"x":1.5}"#],
                "x: Float64",
            ),
            (&[r#"{"x":1}"#, r#"{"y":2}"#], "x: Int64; y: Int64"),
            (&[r#"{"x":true}"#, r#"{"x":2}"#], "x: Utf8; x"),
            (&[r#"{"x":"a"}"#, r#"{"x":2}"#], "x: Utf8; x"),
            (&[r#"{"x":18446744073709551615}"#], "x: UInt64"),
            (&[r#"{"x":18446744073709551616}"#], "x: Decimal128(38, 0)"),
            (&[r#"{"x":-9223372036854775809}"#], "x: Decimal128(38, 0)"),
            (&[r#"{"x":1e500}"#], "x: Utf8; x"),
            (&[r#"{"x":"NaN"}"#, r#"{"x":1.5}"#], "x: Float64"),
            (&[r#"{"x":"NaN"}"#, r#"{"x":"a"}"#], "x: Utf8"),
            (&[r#"{"x":null}"#], "x: Null"),
        ] {
            assert_eq!(inferred(rows), expected);
        }
        let long = format!("{{\"x\":{}}}", "9".repeat(77));
        assert_eq!(
            inferred(&[&long]),
            "column `x`: an integer of more than 76 digits"
        );
    }

    #[test]
    fn nested_types() {
        for (rows, expected) in [
            (&[r#"{"x":[]}"#, r#"{"x":[1,null]}"#][..], "x: List(Int64)"),
            (
                &[r#"{"x":{"z":1}}"#, r#"{"x":{"y":["a"]}}"#],
                r#"x: Struct("z": Int64, "y": List(Utf8))"#,
            ),
            (&[r#"{"x":{}}"#], "x: Struct()"),
            (&[r#"{"x":[["a","b"]]}"#], "x: List(List(Utf8))"),
            (
                &[r#"{"x":[["a",1],["b",null,2]]}"#],
                "x: List(List(Utf8)); x.item.item",
            ),
        ] {
            assert_eq!(inferred(rows), expected);
        }
        let map = inferred(&[r#"{"x":[["a",1],["b",null]]}"#, r#"{"x":[]}"#]);
        assert!(map.starts_with("x: Map("), "{map}");
        let map = inferred(&[r#"{"x":[["a",{"y":1}]]}"#]);
        assert!(map.starts_with("x: Map("), "{map}");
    }

    #[test]
    fn contradictions_have_a_place() {
        assert_eq!(
            inferred(&[r#"{"x":{"y":1}}"#, r#"{"x":{"y":[2]}}"#]),
            "column `x.y`: line 2: there is an array here, and a number before"
        );
    }
}
