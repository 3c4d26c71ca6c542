//! Column names that contain dots.

use herringbone::arrow::schema::Schema;
use herringbone::schema::ParquetSchema;

/// Returns the parts of a path that is written with dots. A part may itself contain dots, if a
/// column has this name.
///
/// You may leave out the groups that Parquet puts around elements, so a part that matches nothing
/// ends at its first dot.
pub(crate) fn resolve(schema: &ParquetSchema, name: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let (mut node, mut rest) = (0, name);
    while !rest.is_empty() {
        let nodes = schema.nodes();
        let named = |child: &usize| {
            let name = nodes.get(*child).map(|node| node.element.name.as_str())?;
            let after = rest.strip_prefix(name)?;
            (after.is_empty() || after.starts_with('.')).then_some((*child, name.len()))
        };
        let found = schema.children(node).filter_map(|child| named(&child));
        let Some((child, length)) = found.max_by_key(|(_, length)| *length) else {
            parts.extend(rest.split('.').map(str::to_owned));
            break;
        };
        parts.push(rest.get(..length).unwrap_or_default().to_owned());
        rest = rest.get(length + 1..).unwrap_or_default();
        node = child;
    }
    parts
}

/// Returns the parts of a path in an Arrow schema, where the first part is the longest column name
/// that fits.
pub(crate) fn resolve_in_arrow(schema: &Schema, name: &str) -> Vec<String> {
    let fields = schema.fields().iter();
    let found = fields.filter_map(|field| {
        let rest = name.strip_prefix(field.name().as_str())?;
        match rest.strip_prefix('.') {
            Some(rest) => Some((field.name(), rest)),
            None => rest.is_empty().then_some((field.name(), "")),
        }
    });
    let Some((first, rest)) = found.max_by_key(|(first, _)| first.len()) else {
        return name.split('.').map(str::to_owned).collect();
    };
    let rest = rest.split('.').filter(|part| !part.is_empty());
    std::iter::once(first.as_str())
        .chain(rest)
        .map(str::to_owned)
        .collect()
}
