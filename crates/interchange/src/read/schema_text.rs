//! Parses a schema from text, in the form that `schema --format arrow` prints:
//!
//! ```text
//! id: Int64 not null
//! price: Decimal128(9, 2)
//! tags: List
//!   item: Utf8
//! key: FixedSizeBinary(16) (arrow.uuid)
//! "#CHROM": Utf8
//! ```
//!
//! A name in quotes is a JSON string. Names need quotes if they contain line ends or begin with
//! `#`, a blank or a quote.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use herringbone::geospatial::Edges;
use herringbone::geospatial::crs::{Crs, CrsForm};
use herringbone::geospatial::geoarrow::{ExtensionCrs, ExtensionMetadata};
use herringbone_arrow::schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

use super::type_names::other_name;
use crate::error::shortened;

/// The maximum nesting depth of fields.
const DEPTH: usize = 64;

/// The maximum nesting depth inside the text of one type. We have to limit it, because parsing and
/// dropping a type recurse for each level.
const TYPE_DEPTH: usize = 100;

/// Parses a schema with one field per line, indenting each level of inner fields by two more
/// spaces. Empty lines and lines starting with `#` are ignored.
///
/// # Errors
/// Fails with a message about the malformed line.
pub fn schema(text: &str) -> Result<SchemaRef, String> {
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|(at, line)| Line::of(at + 1, line))
        .collect::<Result<Vec<_>, _>>()?
        .into_iter()
        .peekable();
    let fields = fields(&mut lines, 0)?;
    match lines.next() {
        None => Ok(Arc::new(Schema::new(fields))),
        Some(line) => Err(line.error("is indented, but not below a type with fields")),
    }
}

/// Parses a field `name`, whose type must not have inner fields.
///
/// # Errors
/// Fails with a message about the type.
pub fn field_of(name: &str, data_type: &str) -> Result<Field, String> {
    let text = format!("_: {data_type}");
    let line = Line::of(1, &text)?;
    let field = extended(&line, data_type_of(line.data_type)?)?;
    Ok(field.with_name(name))
}

/// Parses a type in the form that Arrow prints, such as `List(Int64)`, or by its name in SQL.
///
/// # Errors
/// Fails with a message about the type.
pub fn data_type_of(text: &str) -> Result<DataType, String> {
    if depth(text) > TYPE_DEPTH {
        return Err(format!(
            "types are nested more than {TYPE_DEPTH} levels deep"
        ));
    }
    let parsed = text.parse().ok();
    parsed.or_else(|| other_name(text)).ok_or_else(|| {
        format!(
            "unknown type `{}`; use a name of SQL, such as bigint or decimal(9, 2), or one as `schema --format arrow` \
             prints it, such as Int64 or Timestamp(ms, \"UTC\")",
            shortened(text)
        )
    })
}

/// Returns the maximum number of parentheses open at once in a type's text. We count like Arrow's
/// parser: parentheses in quotes don't count, and a backslash in quotes escapes the next quote.
fn depth(text: &str) -> usize {
    let (mut open, mut most, mut quote, mut is_escaped) = (0_usize, 0, None, false);
    for character in text.chars() {
        match (quote, character) {
            (Some(_), '\\') => is_escaped = true,
            (Some(end), _) if end == character => {
                if !is_escaped {
                    quote = None;
                }
                is_escaped = false;
            }
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '(') => open += 1,
            (None, ')') => open = open.saturating_sub(1),
            (None, _) => {}
        }
        most = most.max(open);
    }
    most
}

struct Line<'t> {
    number: usize,
    depth: usize,
    name: Cow<'t, str>,
    data_type: &'t str,
    nullable: bool,
    extension: Option<&'t str>,
}

impl<'t> Line<'t> {
    fn of(number: usize, line: &'t str) -> Result<Self, String> {
        let text = line.trim_start_matches(' ');
        let spaces = line.len() - text.len();
        let plain = || {
            text.rsplit_once(": ")
                .map(|(name, rest)| (name.into(), rest))
        };
        let (name, rest) = quoted(text)
            .or_else(plain)
            .ok_or_else(|| format!("line {number}: expected `name: Type`, found `{text}`"))?;
        let mut rest = rest.trim_end();
        let mut extension = None;
        if let Some((before, name)) = rest
            .strip_suffix(')')
            .and_then(|rest| rest.rsplit_once(" ("))
        {
            (rest, extension) = (before, Some(name));
        }
        let data_type = rest.strip_suffix(" not null");
        let line = Self {
            number,
            depth: spaces / 2,
            name,
            nullable: data_type.is_none(),
            data_type: data_type.unwrap_or(rest),
            extension,
        };
        if spaces % 2 == 1 || line.depth > DEPTH {
            return Err(line.error("must be indented by two spaces per level"));
        }
        Ok(line)
    }

    fn error(&self, what: &str) -> String {
        format!("line {}: `{}` {what}", self.number, self.name)
    }
}

/// Splits a line after a name in quotes. Returns `None` if the line does not begin with one.
fn quoted(text: &str) -> Option<(Cow<'_, str>, &str)> {
    let inside = text.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = inside.find(|character| {
        let is_end = character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        is_end
    })?;
    let (name, rest) = text.split_at_checked(end + 2)?;
    let name: String = serde_json::from_str(name).ok()?;
    Some((name.into(), rest.strip_prefix(": ")?))
}

type Lines<'t> = std::iter::Peekable<std::vec::IntoIter<Line<'t>>>;

fn fields(lines: &mut Lines<'_>, depth: usize) -> Result<Fields, String> {
    let mut fields = Vec::new();
    while let Some(line) = lines.next_if(|line| line.depth == depth) {
        let children = self::fields(lines, depth + 1)?;
        fields.push(field(&line, &children)?);
    }
    Ok(fields.into())
}

fn field(line: &Line<'_>, children: &Fields) -> Result<Field, String> {
    let one = || match children.as_ref() {
        [child] => Ok(FieldRef::clone(child)),
        _ => Err(line.error("must have one field below it")),
    };
    let data_type = match line.data_type {
        "Struct" => DataType::Struct(children.clone()),
        "List" => DataType::List(one()?),
        "LargeList" => DataType::LargeList(one()?),
        "ListView" => DataType::ListView(one()?),
        "LargeListView" => DataType::LargeListView(one()?),
        "Map" => match one()?.data_type() {
            DataType::Struct(pair) if pair.len() == 2 => DataType::Map(one()?, false),
            _ => return Err(line.error("must have one struct of key and value below it")),
        },
        other => match fixed_size(other) {
            Some(size) => DataType::FixedSizeList(one()?, size),
            None if !children.is_empty() => {
                return Err(line.error("has fields below it, but its type cannot have fields"));
            }
            None => data_type_of(other)
                .map_err(|why| format!("line {}: `{}`: {why}", line.number, line.name))?,
        },
    };
    extended(line, data_type)
}

/// Returns the field in a line, with its extension type.
fn extended(line: &Line<'_>, data_type: DataType) -> Result<Field, String> {
    let field = Field::new(line.name.as_ref(), data_type, line.nullable);
    Ok(match line.extension {
        None => field,
        Some(extension) => {
            let mut parts = extension.split(", ");
            let name = parts.next().unwrap_or_default();
            let mut pairs = vec![(EXTENSION_TYPE_NAME_KEY.to_owned(), name.to_owned())];
            if let Some(crs) = parts.next() {
                let metadata =
                    geometries(crs, parts.next()).map_err(|message| line.error(&message))?;
                pairs.push((EXTENSION_TYPE_METADATA_KEY.to_owned(), metadata));
            }
            field.with_metadata(HashMap::from_iter(pairs))
        }
    })
}

/// Parses the geospatial part of an extension, such as `(geoarrow.wkb, EPSG:5070, spherical)`.
fn geometries(crs: &str, edges: Option<&str>) -> Result<String, String> {
    let form = Crs::new(Some(crs.to_owned()));
    let crs = match form.form() {
        CrsForm::Undefined => None,
        CrsForm::Srid(srid) => Some(ExtensionCrs::Srid(srid.to_owned())),
        CrsForm::AuthorityCode { .. } => Some(ExtensionCrs::AuthorityCode(crs.to_owned())),
        _ => {
            return Err(format!(
                "has the reference system `{crs}`; expected a code such as EPSG:5070"
            ));
        }
    };
    let edges = Edges::from_name(edges.unwrap_or(Edges::Planar.name()));
    let edges = edges.map_err(|error| error.message().to_owned())?;
    Ok(ExtensionMetadata { crs, edges }.to_json())
}

/// Parses the size in a type such as `FixedSizeList(3)`.
fn fixed_size(text: &str) -> Option<i32> {
    let size = text.strip_prefix("FixedSizeList(")?.strip_suffix(')')?;
    size.parse().ok().filter(|size| *size >= 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_lines() {
        let text = "# mine\nid: Int64 not null\nat: Timestamp(ms, \"UTC\")\nd: Decimal128(9, 2)\n\
                    l: List\n  item: Struct\n    a b: Utf8\n\nu: FixedSizeBinary(16) (arrow.uuid)\n";
        let schema = schema(text).unwrap();
        let types: Vec<String> = schema
            .fields()
            .iter()
            .map(|field| field.data_type().to_string())
            .collect();
        assert_eq!(
            types,
            [
                "Int64",
                "Timestamp(ms, \"UTC\")",
                "Decimal128(9, 2)",
                "List(Struct(\"a b\": Utf8))",
                "FixedSizeBinary(16)"
            ]
        );
        assert!(!schema.field(0).is_nullable() && schema.field(1).is_nullable());
        assert_eq!(schema.field(4).extension_type_name(), Some("arrow.uuid"));
    }

    #[test]
    fn names_in_quotes_are_strings_of_json() {
        let text = "\"#CHROM\": Utf8\n\" a\": Int64 not null\n\"l\\nm\": Struct\n  \"\\u202eq\\\"\": Int8\n\"a: b\": Int8\n\
                    q\"u: Int8\n\"half: Int8\n";
        let schema = schema(text).unwrap();
        let names = ["#CHROM", " a", "l\nm", "a: b", "q\"u", "\"half"];
        assert!(schema.fields().iter().map(|field| field.name()).eq(names));
        let DataType::Struct(inner) = schema.field(2).data_type() else {
            panic!("{schema}");
        };
        assert_eq!(inner[0].name(), "\u{202e}q\"");
        assert!(!schema.field(1).is_nullable());
    }

    #[test]
    fn lists_and_maps_have_one_field_below_them() {
        let item = || Arc::new(Field::new("item", DataType::Int8, true));
        for (name, data_type) in [
            ("List", DataType::List(item())),
            ("LargeList", DataType::LargeList(item())),
            ("ListView", DataType::ListView(item())),
            ("LargeListView", DataType::LargeListView(item())),
            ("FixedSizeList(0)", DataType::FixedSizeList(item(), 0)),
            ("FixedSizeList(3)", DataType::FixedSizeList(item(), 3)),
        ] {
            let schema = schema(&format!("l: {name}\n  item: Int8\n")).unwrap();
            assert_eq!(schema.field(0).data_type(), &data_type);
        }
        let map = |fields: &str| schema(&format!("m: Map\n  entries: Struct not null\n{fields}"));
        let found = map("    k: Utf8 not null\n    v: Int8\n").unwrap();
        let pair = vec![
            Field::new("k", DataType::Utf8, false),
            Field::new("v", DataType::Int8, true),
        ];
        let entries = Field::new("entries", DataType::Struct(pair.into()), false);
        let expected = DataType::Map(Arc::new(entries), false);
        assert_eq!(found.field(0).data_type(), &expected);
        let error = map("    k: Utf8 not null\n").unwrap_err();
        assert!(error.contains("key and value"), "{error}");
        assert!(schema("l: FixedSizeList(-1)\n  item: Int8\n").is_err());
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, message) in [
            (
                "id Int64",
                "line 1: expected `name: Type`, found `id Int64`",
            ),
            (
                "id: Int65",
                "line 1: `id`: unknown type `Int65`; use a name of SQL, such as bigint or decimal(9, 2), or one as `schema \
                 --format arrow` prints it, such as Int64 or Timestamp(ms, \"UTC\")",
            ),
            (
                "a: Int64\n  b: Int64",
                "line 1: `a` has fields below it, but its type cannot have fields",
            ),
            ("l: List", "line 1: `l` must have one field below it"),
            (
                "a: Struct\n    b: Int64",
                "line 2: `b` is indented, but not below a type with fields",
            ),
            (
                " a: Int64",
                "line 1: `a` must be indented by two spaces per level",
            ),
        ] {
            assert_eq!(schema(text).unwrap_err(), message);
        }
    }

    #[test]
    fn types_have_a_hundred_levels_at_most() {
        let lists = |levels: usize| format!("{}Int8{}", "List(".repeat(levels), ")".repeat(levels));
        assert!(data_type_of(&lists(100)).is_ok());
        for text in [
            lists(101),
            "List(".repeat(100_000),
            // Parentheses in a field's name don't count. A `\` escapes the next quote, even with
            // other characters in between.
            "Struct(\"))\": ".repeat(100_000),
            "Struct(\"a\\b\"))\": ".repeat(100_000),
            "Map(\"')\": Struct(".repeat(100_000),
        ] {
            let error = data_type_of(&text).unwrap_err();
            assert!(error.contains("more than 100 levels"), "{error}");
        }
        let wide = format!(
            "Struct({})",
            "\"d\": Decimal128(9, 2), ".repeat(300) + "\"e\": Int8"
        );
        assert!(data_type_of(&wide).is_ok());
    }
}
