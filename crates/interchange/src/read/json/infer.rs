//! Infers a schema from the first JSON rows.
//!
//! Fields are in order of first appearance. Integers are Int64, UInt64 or decimals. Other numbers
//! are Float64, or decimals if Float64 would lose digits. A mixture of strings and numbers is text.
//! Texts of dates in one form are dates. A column of only nulls is Null. Arrays of `[key, value]`
//! pairs with two different types are maps.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, Fields};
use herringbone_text::json::{JsonReader, JsonToken};

use super::dates::{Form, JsonDates};
use crate::read::numbers::Numbers;
use crate::read::value::number::Number;
use crate::read::value::{ParseError, Result, is_special};

/// The narrowest kind that covers all values seen so far.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    Null,
    Boolean,
    Numbers(Numbers),
    /// Strings such as "NaN". They only count as numbers if the column has other numbers.
    Special,
    Text,
    /// Texts of dates or timestamps in one form.
    Date(Form),
    /// Texts of dates and timestamps in several forms.
    Dates,
    /// Scalar values of several types.
    Mixed,
    List(Box<List>),
    Struct(Members),
    /// Values that don't fit into any single type, with the reason.
    None(String),
}

/// The arrays seen so far.
#[derive(Debug, Clone)]
pub(super) struct List {
    items: Kind,
    /// True if some of the items are null.
    nulls: bool,
    /// The kinds of the keys and values, if all arrays have two items.
    pair: Option<(Kind, Kind)>,
}

/// The members of the objects seen so far, in order of first appearance.
#[derive(Debug, Clone, Default)]
pub(super) struct Members {
    pub(super) fields: Vec<(String, Kind)>,
    /// The index of each name.
    places: HashMap<String, usize>,
}

impl Members {
    /// Returns the index of `name`, which is usually `expected`.
    fn find(&self, name: &str, expected: usize) -> Option<usize> {
        match self.fields.get(expected) {
            Some((known, _)) if known == name => Some(expected),
            _ => self.places.get(name).copied(),
        }
    }

    fn push(&mut self, name: String, kind: Kind) {
        self.places.insert(name.clone(), self.fields.len());
        self.fields.push((name, kind));
    }
}

/// Infers types row by row.
pub(super) struct Inference {
    /// The line of the current row.
    pub(super) line: usize,
    /// The number of known fields, including those in the current row.
    fields: usize,
    /// The maximum number of known fields.
    max_fields: usize,
}

impl Inference {
    pub(super) fn new(max_fields: usize) -> Self {
        Self {
            line: 1,
            fields: 0,
            max_fields,
        }
    }

    /// Reads a row. Skips columns for which `is_chosen` is true, since their types are given.
    pub(super) fn row(
        &mut self,
        json: &mut JsonReader<'_>,
        is_chosen: &dyn Fn(&str) -> bool,
    ) -> Result<Kind> {
        json.value()?;
        self.object(json, is_chosen)
    }

    /// Reads the next value. The recursion is bounded by the reader's depth limit.
    fn value(&mut self, json: &mut JsonReader<'_>) -> Result<Kind> {
        Ok(match json.value()? {
            JsonToken::Null => Kind::Null,
            JsonToken::Boolean(_) => Kind::Boolean,
            JsonToken::Number(number) => match Number::of(number.text) {
                Some(number) => Kind::Numbers(Numbers::of(&number)),
                None => Kind::Text,
            },
            JsonToken::NonFinite(_) => return Err(json.unexpected("a JSON value").into()),
            JsonToken::Text(text) => {
                let text = text.to_cow();
                match Form::of(&text) {
                    Some(form) => Kind::Date(form),
                    None if is_special(&text, true) => Kind::Special,
                    None => Kind::Text,
                }
            }
            JsonToken::Array => self.array(json)?,
            JsonToken::Object => self.object(json, &|_| false)?,
        })
    }

    fn array(&mut self, json: &mut JsonReader<'_>) -> Result<Kind> {
        let (mut count, mut nulls) = (0, false);
        let mut items = Kind::Null;
        let mut pair = [Kind::Null, Kind::Null];
        while json.item()? {
            let item = self.value(json)?;
            if let Some(place) = pair.get_mut(count) {
                *place = item.clone();
            }
            nulls |= matches!(item, Kind::Null);
            items = self.both(items, item)?;
            count += 1;
        }
        let [key, value] = pair;
        // Maps can't have null keys.
        let is_pair = count == 2 && !matches!(key, Kind::Null);
        let pair = is_pair.then_some((key, value));
        Ok(Kind::List(Box::new(List { items, nulls, pair })))
    }

    fn object(
        &mut self,
        json: &mut JsonReader<'_>,
        is_chosen: &dyn Fn(&str) -> bool,
    ) -> Result<Kind> {
        let most = self.max_fields;
        let mut members = Members::default();
        while let Some(name) = json.key()? {
            let name = name.to_cow();
            if members.places.contains_key(name.as_ref()) {
                return Err(ParseError::key_twice(&name));
            }
            self.fields += 1;
            if self.fields > most {
                return Err(ParseError::new(format!(
                    "objects have more than {most} different keys, the limit `schema_nodes` for \
                     fields; --type COLUMN=TYPE reads such a column as a map"
                )));
            }
            let kind = match is_chosen(&name) {
                true => json.skip().map(|_| Kind::Null)?,
                false => self.value(json)?,
            };
            members.push(name.into_owned(), kind);
        }
        Ok(Kind::Struct(members))
    }

    /// Returns the kind that covers both. The values of `other` are in the current row.
    pub(super) fn both(&mut self, kind: Kind, other: Kind) -> Result<Kind> {
        let line = self.line;
        Ok(match (kind, other) {
            (Kind::Null, kind) | (kind, Kind::Null) => kind,
            (Kind::None(why), _) | (_, Kind::None(why)) => Kind::None(why),
            (Kind::List(mut a), Kind::List(b)) => {
                a.items = self.both(a.items, b.items)?;
                a.nulls |= b.nulls;
                a.pair = match a.pair.zip(b.pair) {
                    Some((a, b)) => Some((self.pair(a.0, b.0)?, self.pair(a.1, b.1)?)),
                    None => None,
                };
                Kind::List(a)
            }
            (Kind::Struct(mut members), Kind::Struct(others)) => {
                for (at, (name, kind)) in others.fields.into_iter().enumerate() {
                    let found = members.find(&name, at);
                    match found.and_then(|at| members.fields.get_mut(at)) {
                        None => members.push(name, kind),
                        Some((_, known)) => {
                            self.fields = self.fields.saturating_sub(1);
                            let before = std::mem::replace(known, Kind::Null);
                            *known = self.both(before, kind)?;
                        }
                    }
                }
                Kind::Struct(members)
            }
            (a @ (Kind::List(_) | Kind::Struct(_)), b)
            | (a, b @ (Kind::List(_) | Kind::Struct(_))) => Kind::None(format!(
                "line {line}: found {} here, but {} before",
                b.name(),
                a.name()
            )),
            (Kind::Boolean, Kind::Boolean) => Kind::Boolean,
            (Kind::Numbers(a), Kind::Numbers(b)) => Kind::Numbers(a.with(b)),
            (Kind::Numbers(a), Kind::Special) | (Kind::Special, Kind::Numbers(a)) => {
                Kind::Numbers(a.with_special())
            }
            (Kind::Special, Kind::Special) => Kind::Special,
            (Kind::Date(a), Kind::Date(b)) if a == b => Kind::Date(a),
            (Kind::Date(_) | Kind::Dates, Kind::Date(_) | Kind::Dates) => Kind::Dates,
            (a, b) if a.is_text() && b.is_text() => Kind::Text,
            _ => Kind::Mixed,
        })
    }

    /// Returns the kind that covers both, for parts of pairs. This doesn't count fields, since
    /// they're already counted as items' fields.
    fn pair(&mut self, kind: Kind, other: Kind) -> Result<Kind> {
        let fields = self.fields;
        let both = self.both(kind, other);
        self.fields = fields;
        both
    }
}

/// Columns worth a note to the user, because their values change or the user might expect them to.
pub(super) struct Found<'a> {
    /// The columns with values of several types, which become text.
    pub(super) mixed: Vec<String>,
    /// The columns with dates in several forms, which stay text.
    pub(super) dates: Vec<String>,
    allowed: &'a JsonDates,
    all_are_seen: bool,
}

impl<'a> Found<'a> {
    /// Creates empty findings. Pass the columns eligible for dates, and true if inference sees all
    /// rows.
    pub(super) fn new((allowed, all_are_seen): (&'a JsonDates, bool)) -> Self {
        Self {
            mixed: Vec::new(),
            dates: Vec::new(),
            allowed,
            all_are_seen,
        }
    }

    fn allows_dates(&self, path: &str) -> bool {
        self.allowed.allow(path, self.all_are_seen)
    }
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Numbers(_) => "a number",
            Self::Special | Self::Text | Self::Date(_) | Self::Dates | Self::Mixed => "a string",
            Self::List(_) => "an array",
            Self::Struct(_) => "an object",
            Self::None(_) => "something else",
        }
    }

    /// Returns true if all values are strings.
    fn is_text(&self) -> bool {
        matches!(
            self,
            Self::Special | Self::Text | Self::Date(_) | Self::Dates
        )
    }

    /// Returns a type for all values of this kind. `path` is the column's path.
    ///
    /// # Errors
    /// Fails with the reason why there is no such type.
    pub(super) fn data_type(&self, path: &str, found: &mut Found<'_>) -> Result<DataType, String> {
        Ok(match self {
            Self::Null => DataType::Null,
            Self::Boolean => DataType::Boolean,
            Self::Special | Self::Text => DataType::Utf8,
            Self::Date(form) => match found.allows_dates(path) {
                true => form.data_type(),
                false => DataType::Utf8,
            },
            Self::Dates => {
                found.dates.push(path.to_owned());
                DataType::Utf8
            }
            Self::Numbers(numbers) => match numbers.machine_type().or(numbers.decimal_type()) {
                Some(data_type) => data_type,
                None if numbers.integers => {
                    return Err(format!(
                        "column `{path}`: an integer of more than 76 digits"
                    ));
                }
                None => {
                    found.mixed.push(path.to_owned());
                    DataType::Utf8
                }
            },
            Self::Mixed => {
                found.mixed.push(path.to_owned());
                DataType::Utf8
            }
            Self::List(list) => list.data_type(path, found)?,
            Self::Struct(fields) => DataType::Struct(fields_of(&fields.fields, path, found)?),
            Self::None(why) => {
                let root = path.split('.').next().unwrap_or(path);
                return Err(format!(
                    "column `{path}`: {why}; `herringbone convert --variant {root}` reads values of any kind"
                ));
            }
        })
    }
}

impl List {
    fn data_type(&self, path: &str, found: &mut Found<'_>) -> Result<DataType, String> {
        if let Kind::List(entries) = &self.items
            && let Some((key, value)) = &entries.pair
            && !self.nulls
            && !matches!(value, Kind::Null)
        {
            let before = (found.mixed.len(), found.dates.len());
            let keys = key.data_type(&format!("{path}.key"), found);
            let values = value.data_type(&format!("{path}.value"), found);
            match (keys, values) {
                (Ok(keys), Ok(values)) if keys != values => {
                    let key = Field::new("key", keys, false);
                    let value = Field::new("value", values, true);
                    let entries = Fields::from(vec![key, value]);
                    let entries = Field::new("entries", DataType::Struct(entries), false);
                    return Ok(DataType::Map(Arc::new(entries), false));
                }
                _ => {
                    found.mixed.truncate(before.0);
                    found.dates.truncate(before.1);
                }
            }
        }
        let name = Field::LIST_FIELD_DEFAULT_NAME;
        let items = self.items.data_type(&format!("{path}.{name}"), found)?;
        Ok(DataType::new_list(items, true))
    }
}

/// Returns the fields below `path`, which is empty for columns.
fn fields_of(
    fields: &[(String, Kind)],
    path: &str,
    found: &mut Found<'_>,
) -> Result<Fields, String> {
    let dot = if path.is_empty() { "" } else { "." };
    let field = |(name, kind): &(String, Kind)| {
        let data_type = kind.data_type(&format!("{path}{dot}{name}"), found)?;
        Ok(Field::new(name, data_type, true))
    };
    fields.iter().map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inferred(rows: &[&str]) -> String {
        let mut all = Kind::Null;
        let mut inference = Inference::new(1_000);
        for (at, row) in rows.iter().enumerate() {
            inference.line = at + 1;
            let kind = inference.value(&mut JsonReader::new(row)).unwrap();
            all = inference.both(all, kind).unwrap();
        }
        let allowed = JsonDates::Inferred {
            except: vec!["no".into()],
        };
        let mut found = Found::new((&allowed, false));
        match all.data_type("", &mut found) {
            Ok(DataType::Struct(fields)) => {
                let field = |field: &Arc<Field>| format!("{}: {}", field.name(), field.data_type());
                fields
                    .iter()
                    .map(field)
                    .chain(found.mixed)
                    .chain(found.dates.into_iter().map(|path| format!("{path}!")))
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
            (
                &[r#"{"x":"2024-01-02","no":"2024-01-02"}"#, r#"{"x":null}"#],
                "x: Date32; no: Utf8",
            ),
            (&[r#"{"x":"2024-01-02"}"#, r#"{"x":"n/a"}"#], "x: Utf8"),
            (&[r#"{"x":"2024-01-02"}"#, r#"{"x":5}"#], "x: Utf8; x"),
            (
                &[
                    r#"{"x":"2024-01-02T03:04:05Z"}"#,
                    r#"{"x":"2024-01-02T03:04:05.5Z"}"#,
                ],
                "x: Utf8",
            ),
            (
                &[
                    r#"{"x":"2024-01-02T03:04:05Z"}"#,
                    r#"{"x":"2024-01-02T03:04:05"}"#,
                    r#"{"x":"2024-01-02"}"#,
                ],
                "x: Utf8; x!",
            ),
            // A column is text if some of its values need a decimal and others need a float.
            (
                &[r#"{"x":18446744073709551617}"#, r#"{"x":"NaN"}"#],
                "x: Utf8; x",
            ),
            (
                &[r#"{"x":9007199254740993}"#, r#"{"x":"Infinity"}"#],
                "x: Utf8; x",
            ),
            (
                &[r#"{"x":9007199254740992}"#, r#"{"x":"-Infinity"}"#],
                "x: Float64",
            ),
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
            "column `x.y`: line 2: found an array here, but a number before; `herringbone convert --variant x` reads \
             values of any kind"
        );
    }

    #[test]
    fn fields_have_a_limit() {
        let most = 1_000;
        let row = |range: std::ops::Range<usize>| {
            let members: Vec<String> = range
                .map(|range| format!("\"{range}\":{{\"x\":1}}"))
                .collect();
            format!("{{{}}}", members.join(","))
        };
        let mut inference = Inference::new(1_000);
        let half = row(0..most / 2);
        let mut all = inference.value(&mut JsonReader::new(&half)).unwrap();
        assert_eq!(inference.fields, most);
        // Known fields are not counted again.
        inference = Inference::new(1_000);
        for _ in 0..3 {
            let few = row(0..most / 8);
            let kind = inference.value(&mut JsonReader::new(&few)).unwrap();
            all = inference.both(all, kind).unwrap();
        }
        assert_eq!(inference.fields, 0);
        let many = row(0..most / 2 + 1);
        let error = inference.value(&mut JsonReader::new(&many)).unwrap_err();
        assert!(
            error.message.contains("more than 1000 different keys"),
            "{}",
            error.message
        );
    }
}
