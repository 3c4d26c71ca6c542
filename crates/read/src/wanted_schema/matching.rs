//! The search for the field of the file that corresponds to a wanted field.

use herringbone_arrow::schema::{Field, FieldRef};
use herringbone_format::{Error, Result};
use herringbone_schema::{FIELD_ID_KEY, Node};

use super::FieldMatching;

/// Returns the ordinal of the wanted field among the fields of one group of the file, or `None` if the file lacks it.
///
/// # Errors
/// Argument if several fields match, or if the wanted field has no id by which to find it.
pub(super) fn find(
    matching: &FieldMatching,
    fields: &[Node],
    wanted: &FieldRef,
    position: usize,
) -> Result<Option<usize>> {
    let name = wanted.name();
    match matching {
        FieldMatching::Name => only(fields, wanted, |field| field.name() == name),
        FieldMatching::NameIgnoringCase => {
            let exact = only(fields, wanted, |field| field.name() == name)?;
            let lower = name.to_lowercase();
            match exact {
                Some(exact) => Ok(Some(exact)),
                None => only(fields, wanted, |field| field.name().to_lowercase() == lower),
            }
        }
        FieldMatching::FieldId(names) => {
            let id = field_id(wanted).ok_or_else(|| {
                Error::argument(format!(
                    "the wanted field `{name}` does not have a `{FIELD_ID_KEY}`, which is needed \
                     to find it"
                ))
            })?;
            let by_id = only(fields, wanted, |field| field_id(field) == Some(id))?;
            let names = names.iter().filter(|names| names.field_id == id);
            let names: Vec<&String> = names.flat_map(|names| &names.names).collect();
            match by_id {
                Some(by_id) => Ok(Some(by_id)),
                None => only(fields, wanted, |field| {
                    field_id(field).is_none() && names.contains(&field.name())
                }),
            }
        }
        FieldMatching::Position => Ok(Some(position).filter(|it| *it < fields.len())),
    }
}

/// Returns the ordinal of the only field that fits, if there is one.
fn only(fields: &[Node], wanted: &Field, fits: impl Fn(&Field) -> bool) -> Result<Option<usize>> {
    let mut found = (0..).zip(fields).filter(|(_, node)| fits(&node.field));
    let first = found.next().map(|(ordinal, _)| ordinal);
    match found.next() {
        None => Ok(first),
        Some(_) => Err(Error::argument(format!(
            "several fields of the file match the wanted field `{}`",
            wanted.name()
        ))),
    }
}

/// Returns the id in the metadata of a field.
fn field_id(field: &Field) -> Option<i32> {
    field.metadata().get(FIELD_ID_KEY)?.parse().ok()
}
