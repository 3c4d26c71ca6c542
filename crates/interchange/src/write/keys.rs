//! Checks the keys of the JSON objects that represent rows.

use std::collections::HashMap;

use herringbone_arrow::schema::{DataType, Fields, Schema};

use crate::error::{Error, Result};

/// Checks that no object has a duplicate key, because readers would keep only one of its values.
/// Returns a note if keys only differ in case.
///
/// # Errors
/// Fails with [Data](crate::Error::Data) if there is a duplicate key.
pub fn check(schema: &Schema) -> Result<Option<String>> {
    let mut note = None;
    fields(schema.fields(), "", &mut note)?;
    Ok(note)
}

fn fields(fields: &Fields, parent: &str, note: &mut Option<String>) -> Result<()> {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for field in fields {
        let (name, dot) = (field.name(), if parent.is_empty() { "" } else { "." });
        match seen.insert(name.to_lowercase(), name) {
            Some(known) if known == name => {
                return Err(Error::Data(format!(
                    "two columns are called `{parent}{dot}{name}`, but JSON readers keep only one \
                     value per key; use CSV or Arrow to keep both"
                )));
            }
            Some(known) => {
                note.get_or_insert_with(|| {
                    format!(
                        "the keys `{parent}{dot}{known}` and `{parent}{dot}{name}` differ only in \
                         case, and some readers confuse them"
                    )
                });
            }
            None => {}
        }
        within(field.data_type(), &format!("{parent}{dot}{name}"), note)?;
    }
    Ok(())
}

/// Checks the objects inside values of this type. Variants are not checked, since each value has
/// its own keys.
fn within(data_type: &DataType, path: &str, note: &mut Option<String>) -> Result<()> {
    match data_type {
        DataType::Struct(inner) => fields(inner, path, note),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => within(item.data_type(), path, note),
        DataType::Map(entries, _) => match entries.data_type() {
            // Entries are arrays of two items, so their names are not keys.
            DataType::Struct(entry) => entry
                .iter()
                .try_for_each(|part| within(part.data_type(), path, note)),
            _ => Ok(()),
        },
        DataType::Dictionary(_, values) => within(values, path, note),
        DataType::RunEndEncoded(_, values) => within(values.data_type(), path, note),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use herringbone_arrow::schema::Field;

    use super::*;

    fn of(names: &[&str]) -> Fields {
        let field = |name: &&str| Field::new(*name, DataType::Int32, true);
        names.iter().map(field).collect()
    }

    #[test]
    fn keys_are_there_once() {
        let checked = |fields| check(&Schema::new(fields)).map_err(|error| error.to_string());
        assert_eq!(checked(of(&["a", "b"])), Ok(None));
        assert!(
            checked(of(&["a", "b", "a"]))
                .unwrap_err()
                .contains("called `a`")
        );
        let note = checked(of(&["id", "ID"])).unwrap().unwrap();
        assert!(
            note.starts_with("the keys `id` and `ID` differ only in case"),
            "{note}"
        );
        let inner = DataType::Struct(of(&["x", "x"]));
        let list = DataType::List(Arc::new(Field::new("item", inner, true)));
        let error = checked(vec![Field::new("l", list, true)].into()).unwrap_err();
        assert!(error.contains("called `l.x`"), "{error}");
        // The entries of maps are arrays, so their names are not keys.
        let entry = DataType::Struct(of(&["key", "Key"]));
        let map = DataType::Map(Arc::new(Field::new("entries", entry, false)), false);
        assert_eq!(checked(vec![Field::new("m", map, true)].into()), Ok(None));
    }
}
