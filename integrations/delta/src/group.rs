//! The search for a wanted field in one group of a file.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use delta_kernel::arrow::datatypes::{Field, FieldRef, Fields};
use delta_kernel::schema::{ColumnMetadataKey, MetadataValue, StructField, StructType};

use crate::matching::num_leaves;

/// The key of the field id in the metadata of an Arrow field.
pub(crate) const FIELD_ID_KEY: &str = "PARQUET:field_id";

/// Returns the field id of a wanted field.
pub(crate) fn field_id_of(wanted: &StructField) -> Option<i64> {
    match wanted.get_config_value(&ColumnMetadataKey::ParquetFieldId)? {
        MetadataValue::Number(id) => Some(*id),
        _ => None,
    }
}

fn file_id(field: &Field) -> Option<i64> {
    field.metadata().get(FIELD_ID_KEY)?.parse().ok()
}

/// The fields of one group of the file, by id and by name. `None` stands for several fields.
pub(crate) struct Group<'a> {
    fields: &'a Fields,
    first_leaves: Vec<usize>,
    by_id: HashMap<i64, Option<usize>>,
    by_name: HashMap<&'a str, Option<usize>>,
}

impl<'a> Group<'a> {
    pub(crate) fn new(wanted: &StructType, fields: &'a Fields, mut first_leaf: usize) -> Self {
        let wanted_ids: HashSet<i64> = wanted.fields().filter_map(field_id_of).collect();
        let mut group = Self {
            fields,
            first_leaves: Vec::with_capacity(fields.len()),
            by_id: HashMap::new(),
            by_name: HashMap::new(),
        };
        for (place, field) in fields.iter().enumerate() {
            group.first_leaves.push(first_leaf);
            first_leaf += num_leaves(field.data_type());
            match file_id(field) {
                // The id decides, whatever the name.
                Some(id) if wanted_ids.contains(&id) => add(&mut group.by_id, id, place),
                _ => add(&mut group.by_name, field.name().as_str(), place),
            }
        }
        group
    }

    /// Returns the position of a wanted field, the field, and its first leaf.
    pub(crate) fn find(
        &self,
        wanted: &StructField,
    ) -> Result<Option<(usize, &'a FieldRef, usize)>, String> {
        let id = field_id_of(wanted);
        let by_id = id.and_then(|id| self.by_id.get(&id));
        let place = match by_id.or_else(|| self.by_name.get(wanted.name().as_str())) {
            None => return Ok(None),
            Some(None) => return Err("several fields of the file match this column".to_owned()),
            Some(Some(place)) => *place,
        };
        let found = self.fields.get(place).zip(self.first_leaves.get(place));
        if let Some((id, (field, _))) = id.zip(found)
            && let Some(other) = file_id(field).filter(|other| *other != id)
        {
            return Err(format!(
                "its field id is {id}, and the field of this name in the file has the id {other}"
            ));
        }
        Ok(found.map(|(field, first_leaf)| (place, field, *first_leaf)))
    }
}

fn add<K: std::hash::Hash + Eq>(places: &mut HashMap<K, Option<usize>>, key: K, place: usize) {
    match places.entry(key) {
        Entry::Occupied(mut entry) => drop(entry.insert(None)),
        Entry::Vacant(entry) => drop(entry.insert(Some(place))),
    }
}
