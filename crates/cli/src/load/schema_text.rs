//! A schema in text, as `schema --format arrow` prints it:
//!
//! ```text
//! id: Int64 not null
//! price: Decimal128(9, 2)
//! tags: List
//!   item: Utf8
//! key: FixedSizeBinary(16) (arrow.uuid)
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use herringbone::geospatial::Edges;
use herringbone::geospatial::crs::{Crs, CrsForm};
use herringbone::geospatial::geoarrow::{ExtensionCrs, ExtensionMetadata};
use herringbone_arrow::schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};

/// Levels of nesting, at most.
const DEPTH: usize = 64;

/// Reads a schema: a field a line, those inside of others indented by two more spaces. Empty lines
/// and those that begin with `#` do not count.
///
/// # Errors
/// Words about the line that is wrong.
pub(super) fn schema(text: &str) -> Result<SchemaRef, String> {
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
        Some(line) => Err(line.wrong("is indented, but not below a type with fields")),
    }
}

/// The field `name` of a type without fields of its own.
///
/// # Errors
/// Words about the type.
pub(crate) fn field_of(name: &str, data_type: &str) -> Result<Field, String> {
    let text = format!("_: {data_type}");
    let line = Line::of(1, &text)?;
    let unknown = |_| format!("there is no type `{}`", line.data_type);
    let field = field(&line, &Fields::empty()).map_err(unknown)?;
    Ok(field.with_name(name))
}

struct Line<'t> {
    number: usize,
    depth: usize,
    name: &'t str,
    data_type: &'t str,
    nullable: bool,
    extension: Option<&'t str>,
}

impl<'t> Line<'t> {
    fn of(number: usize, line: &'t str) -> Result<Self, String> {
        let text = line.trim_start_matches(' ');
        let spaces = line.len() - text.len();
        let (name, rest) = text
            .rsplit_once(": ")
            .ok_or_else(|| format!("line {number}: expected `name: Type`, got `{text}`"))?;
        let mut rest = rest.trim_end();
        let mut extension = None;
        if let Some((before, name)) = rest.strip_suffix(')').and_then(|it| it.rsplit_once(" (")) {
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
            return Err(line.wrong("is not indented by two spaces a level"));
        }
        Ok(line)
    }

    fn wrong(&self, what: &str) -> String {
        format!("line {}: `{}` {what}", self.number, self.name)
    }
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
        _ => Err(line.wrong("has one field below it")),
    };
    let data_type = match line.data_type {
        "Struct" => DataType::Struct(children.clone()),
        "List" => DataType::List(one()?),
        "LargeList" => DataType::LargeList(one()?),
        "ListView" => DataType::ListView(one()?),
        "LargeListView" => DataType::LargeListView(one()?),
        "Map" => match one()?.data_type() {
            DataType::Struct(pair) if pair.len() == 2 => DataType::Map(one()?, false),
            _ => return Err(line.wrong("has one struct of key and value below it")),
        },
        other => match fixed_size(other) {
            Some(size) => DataType::FixedSizeList(one()?, size),
            None if !children.is_empty() => {
                return Err(line.wrong("has fields, but no type that has"));
            }
            None => other
                .parse()
                .map_err(|_| line.wrong(&format!("has no known type: `{other}`")))?,
        },
    };
    let field = Field::new(line.name, data_type, line.nullable);
    Ok(match line.extension {
        None => field,
        Some(extension) => {
            let mut parts = extension.split(", ");
            let name = parts.next().unwrap_or_default();
            let mut pairs = vec![(EXTENSION_TYPE_NAME_KEY.to_owned(), name.to_owned())];
            if let Some(crs) = parts.next() {
                let metadata = geometries(crs, parts.next()).map_err(|it| line.wrong(&it))?;
                pairs.push((EXTENSION_TYPE_METADATA_KEY.to_owned(), metadata));
            }
            field.with_metadata(HashMap::from_iter(pairs))
        }
    })
}

/// What `(geoarrow.wkb, EPSG:5070, spherical)` says of geometries.
fn geometries(crs: &str, edges: Option<&str>) -> Result<String, String> {
    let form = Crs::new(Some(crs.to_owned()));
    let crs = match form.form() {
        CrsForm::Undefined => None,
        CrsForm::Srid(srid) => Some(ExtensionCrs::Srid(srid.to_owned())),
        CrsForm::AuthorityCode { .. } => Some(ExtensionCrs::AuthorityCode(crs.to_owned())),
        _ => {
            return Err(format!(
                "has the reference system `{crs}`, where a code is expected, such as EPSG:5070"
            ));
        }
    };
    let edges = Edges::from_name(edges.unwrap_or(Edges::Planar.name()));
    let edges = edges.map_err(|error| error.message().to_owned())?;
    Ok(ExtensionMetadata { crs, edges }.to_json())
}

/// The size in `FixedSizeList(3)`.
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
            .map(|it| it.data_type().to_string())
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
    fn wrong_lines_are_named() {
        for (text, message) in [
            ("id Int64", "line 1: expected `name: Type`, got `id Int64`"),
            ("id: Int65", "line 1: `id` has no known type: `Int65`"),
            (
                "a: Int64\n  b: Int64",
                "line 1: `a` has fields, but no type that has",
            ),
            ("l: List", "line 1: `l` has one field below it"),
            (
                "a: Struct\n    b: Int64",
                "line 2: `b` is indented, but not below a type with fields",
            ),
            (
                " a: Int64",
                "line 1: `a` is not indented by two spaces a level",
            ),
        ] {
            assert_eq!(schema(text).unwrap_err(), message);
        }
    }
}
