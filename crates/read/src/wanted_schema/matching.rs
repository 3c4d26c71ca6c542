//! Finds the fields in one of the file's groups that correspond to wanted fields.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use herringbone_arrow::schema::{Field, FieldRef};
use herringbone_format::{Error, Result};
use herringbone_schema::{FIELD_ID_KEY, Node};

use super::{FieldMatching, FieldNames, Place};

/// Field ordinals keyed by a property. `None` stands for several fields sharing it.
type Ordinals<K> = HashMap<K, Option<usize>>;

/// The fields in one of the file's groups, indexed by the properties that a rule looks at.
pub(super) struct Group<'a> {
    matching: &'a FieldMatching,
    fields: &'a [Node],
    by_id: Ordinals<i32>,
    by_name: Ordinals<&'a str>,
    by_lower_name: Ordinals<String>,
    /// The fields with each name, in file order.
    in_order: HashMap<&'a str, Vec<usize>>,
    /// The ids already used to find wanted fields.
    claimed: HashSet<i32>,
}

impl<'a> Group<'a> {
    /// Indexes `fields` by their properties. The `wanted` fields will be looked up among them.
    pub(super) fn new<'w>(
        matching: &'a FieldMatching,
        fields: &'a [Node],
        wanted: impl IntoIterator<Item = &'w FieldRef>,
    ) -> Self {
        let mut group = Self {
            matching,
            fields,
            by_id: HashMap::new(),
            by_name: HashMap::new(),
            by_lower_name: HashMap::new(),
            in_order: HashMap::new(),
            claimed: HashSet::new(),
        };
        let wanted_ids: HashSet<i32> = match matching {
            FieldMatching::FieldIdOrName => wanted
                .into_iter()
                .filter_map(|wanted| field_id(wanted))
                .collect(),
            _ => HashSet::new(),
        };
        for (ordinal, node) in fields.iter().enumerate() {
            let (name, id) = (node.field.name(), field_id(&node.field));
            let has_named_id = match (matching, id) {
                (FieldMatching::FieldId(_), Some(_)) => true,
                (FieldMatching::FieldIdOrName, Some(id)) => wanted_ids.contains(&id),
                _ => false,
            };
            match id.filter(|_| has_named_id) {
                // The id decides, whatever the name.
                Some(id) => add(&mut group.by_id, id, ordinal),
                None => add(&mut group.by_name, name.as_str(), ordinal),
            }
            match matching {
                FieldMatching::NameIgnoringCase => {
                    add(&mut group.by_lower_name, name.to_lowercase(), ordinal);
                }
                FieldMatching::NameInOrder => {
                    group.in_order.entry(name).or_default().push(ordinal);
                }
                _ => {}
            }
        }
        group
    }

    /// Returns the wanted field's ordinal among the group's fields, or `None` if it is missing from the file.
    ///
    /// # Errors
    /// Fails with `Argument` if several fields match, if a field has been found before, or if the wanted field has no
    /// id to find it by, or another id than the field with its name.
    pub(super) fn find(&mut self, wanted: &FieldRef, place: Place) -> Result<Option<usize>> {
        let name = wanted.name();
        let found = match self.matching {
            FieldMatching::Name => self.by_name.get(name.as_str()).copied(),
            FieldMatching::NameIgnoringCase => {
                let exact = self.by_name.get(name.as_str());
                let found = exact.or_else(|| self.by_lower_name.get(&name.to_lowercase()));
                found.copied()
            }
            FieldMatching::NameInOrder => {
                let namesakes = self.in_order.get(name.as_str());
                return Ok(namesakes.and_then(|it| it.get(place.namesakes).copied()));
            }
            FieldMatching::FieldId(names) => {
                let id = field_id(wanted).ok_or_else(|| {
                    Error::argument(format!(
                        "the wanted field `{name}` does not have a `{FIELD_ID_KEY}`, which is needed \
                         to find it"
                    ))
                })?;
                let by_id = self.by_id.get(&id).copied();
                by_id.or_else(|| self.by_names(names, id))
            }
            FieldMatching::FieldIdOrName => return self.by_id_or_name(wanted),
            FieldMatching::Position => {
                (place.position < self.fields.len()).then_some(Some(place.position))
            }
        };
        only(found, name)
    }

    /// Returns the only field without an id whose name is listed for this id.
    fn by_names(&self, names: &[FieldNames], id: i32) -> Option<Option<usize>> {
        let names = names.iter().filter(|field| field.field_id == id);
        let names: HashSet<&String> = names.flat_map(|field| &field.names).collect();
        let mut found = names
            .into_iter()
            .filter_map(|name| self.by_name.get(name.as_str()));
        let first = *found.next()?;
        Some(first.filter(|_| found.next().is_none()))
    }

    fn by_id_or_name(&mut self, wanted: &FieldRef) -> Result<Option<usize>> {
        let (name, id) = (wanted.name(), field_id(wanted));
        let by_id = id.and_then(|id| self.by_id.get(&id)).copied();
        if let (Some(id), Some(_)) = (id, by_id) {
            if !self.claimed.insert(id) {
                let message = format!("another wanted field has the field id {id}, too");
                return Err(Error::argument(message));
            }
            return only(by_id, name);
        }
        let found = only(self.by_name.get(name.as_str()).copied(), name)?;
        let node = found.and_then(|ordinal| self.fields.get(ordinal));
        let other = node.and_then(|node| field_id(&node.field));
        match (id, other) {
            (Some(id), Some(other)) => Err(Error::argument(format!(
                "its field id is {id}, and the field of this name in the file has the id {other}"
            ))),
            _ => Ok(found),
        }
    }
}

/// Returns the found field, if it is the only one.
fn only(found: Option<Option<usize>>, name: &str) -> Result<Option<usize>> {
    match found {
        None => Ok(None),
        Some(Some(ordinal)) => Ok(Some(ordinal)),
        Some(None) => Err(Error::argument(format!(
            "several fields of the file match the wanted field `{name}`"
        ))),
    }
}

fn add<K: Hash + Eq>(ordinals: &mut Ordinals<K>, key: K, ordinal: usize) {
    match ordinals.entry(key) {
        Entry::Occupied(mut entry) => drop(entry.insert(None)),
        Entry::Vacant(entry) => drop(entry.insert(Some(ordinal))),
    }
}

/// Returns the id in a field's metadata.
fn field_id(field: &Field) -> Option<i32> {
    field.metadata().get(FIELD_ID_KEY)?.parse().ok()
}
