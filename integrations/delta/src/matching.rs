//! The search for the columns of a table, and for the conversions of their values.
//!
//! A column is matched by its field id. If it does not have one, or the file does not have this id, it is matched by name. The
//! same rule applies to the fields of structs, at any depth. Elements, keys and values are matched by their position.

use std::collections::BTreeSet;

use delta_kernel::arrow::datatypes::{DataType as T, Field, FieldRef, Fields, SchemaRef};
use delta_kernel::reserved_field_ids;
use delta_kernel::schema::{DataType, MetadataColumnSpec, StructField, StructType};

use crate::group::{Group, field_id_of};
use crate::widening::can_become;

/// The error is text with the path of the column.
type Result<T> = std::result::Result<T, String>;

/// The way from the decoded columns of a file to the wanted ones.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The wanted columns.
    pub(crate) schema: SchemaRef,
    /// The origins of the wanted columns, in their order.
    pub(crate) fields: Vec<WantedField>,
    /// The leaves of the file to decode, ascending.
    pub(crate) leaves: Vec<usize>,
}

/// A wanted field and its origin.
#[derive(Debug)]
pub(crate) struct WantedField {
    pub(crate) target: FieldRef,
    pub(crate) origin: Origin,
}

#[derive(Debug)]
pub(crate) enum Origin {
    /// The file lacks the field, or all wanted fields in it.
    Missing,
    /// The position of the row in the file.
    RowIndex,
    /// The URL of the file.
    FileName,
    File {
        /// The position among the decoded fields of this group.
        place: usize,
        field: FieldRef,
        shape: Shape,
    },
}

/// The decoded part of a field.
#[derive(Debug)]
pub(crate) enum Shape {
    Leaf,
    Struct(Vec<WantedField>),
    List(Box<Self>),
    /// The keys, and the values unless the file lacks all wanted fields in them.
    Map(Box<Self>, Option<Box<Self>>),
}

impl Plan {
    /// Finds the wanted columns in a file. `target` is the Arrow form of `wanted`.
    ///
    /// # Errors
    /// If a required field is missing, if several fields match a wanted one, or if the values of a field cannot become those of
    /// the wanted type.
    pub(crate) fn new(wanted: &StructType, target: &SchemaRef, file: &Fields) -> Result<Self> {
        let mut search = Search::default();
        let fields = search.fields(wanted, target.fields(), file, 0)?;
        search.leaves.sort_unstable();
        Ok(Self {
            schema: target.clone(),
            fields,
            leaves: search.leaves,
        })
    }

    /// Returns true if a wanted column has the position of the row.
    pub(crate) fn has_row_index(&self) -> bool {
        let is_it = |field: &WantedField| matches!(field.origin, Origin::RowIndex);
        self.fields.iter().any(is_it)
    }
}

/// Returns the number of leaves of a field of a file.
pub(crate) fn num_leaves(data_type: &T) -> usize {
    match data_type {
        T::Struct(fields) => fields.iter().map(|it| num_leaves(it.data_type())).sum(),
        T::List(field) | T::Map(field, _) => num_leaves(field.data_type()),
        _ => 1,
    }
}

#[derive(Default)]
struct Search {
    leaves: Vec<usize>,
    path: Vec<String>,
}

impl Search {
    fn fields(
        &mut self,
        wanted: &StructType,
        targets: &Fields,
        file: &Fields,
        first_leaf: usize,
    ) -> Result<Vec<WantedField>> {
        let group = Group::new(wanted, file, first_leaf);
        let mut fields = Vec::with_capacity(targets.len());
        let mut decoded = BTreeSet::new();
        for (wanted, target) in wanted.fields().zip(targets) {
            self.path.push(wanted.name().clone());
            let origin = match special(wanted)? {
                Some(origin) => origin,
                None => self.origin(wanted, target, &group)?,
            };
            if let Origin::File { place, .. } = &origin
                && !decoded.insert(*place)
            {
                return Err(self.error("another column has the same field id"));
            }
            self.path.pop();
            fields.push(WantedField {
                target: target.clone(),
                origin,
            });
        }
        // Only decoded fields have a place.
        let decoded: Vec<usize> = decoded.into_iter().collect();
        for field in &mut fields {
            if let Origin::File { place, .. } = &mut field.origin {
                *place = decoded.partition_point(|other| other < place);
            }
        }
        Ok(fields)
    }

    fn origin(
        &mut self,
        wanted: &StructField,
        target: &Field,
        group: &Group<'_>,
    ) -> Result<Origin> {
        let found = group.find(wanted).map_err(|error| self.error(&error))?;
        let Some((place, field, first_leaf)) = found else {
            return match wanted.is_nullable() {
                true => Ok(Origin::Missing),
                false => {
                    Err(self.error("the file does not contain this column, which is not nullable"))
                }
            };
        };
        let types = (wanted.data_type(), target.data_type(), field.data_type());
        Ok(match self.shape(types, first_leaf)? {
            None => Origin::Missing,
            Some(shape) => Origin::File {
                place,
                field: field.clone(),
                shape,
            },
        })
    }

    /// Returns `None` if the file lacks all wanted fields below.
    fn shape(
        &mut self,
        (wanted, target, file): (&DataType, &T, &T),
        first_leaf: usize,
    ) -> Result<Option<Shape>> {
        let before = self.leaves.len();
        match (wanted, target, file) {
            (DataType::Struct(wanted), T::Struct(targets), T::Struct(fields)) => {
                let fields = self.fields(wanted, targets, fields, first_leaf)?;
                Ok((self.leaves.len() > before).then_some(Shape::Struct(fields)))
            }
            (DataType::Variant(wanted), T::Struct(targets), T::Struct(fields)) => {
                if fields.len() != targets.len() {
                    return Err(self.error(
                        "the file has a shredded VARIANT, and the kernel expects `metadata` and `value` only",
                    ));
                }
                let fields = self.fields(wanted, targets, fields, first_leaf)?;
                Ok(Some(Shape::Struct(fields)))
            }
            (DataType::Array(wanted), T::List(target), T::List(field)) => {
                let types = (wanted.element_type(), target.data_type(), field.data_type());
                let element = self.shape(types, first_leaf)?;
                Ok(element.map(|it| Shape::List(Box::new(it))))
            }
            (DataType::Map(wanted), T::Map(target, _), T::Map(entries, _)) => {
                let (T::Struct(target), T::Struct(fields)) =
                    (target.data_type(), entries.data_type())
                else {
                    return Err(self.mismatch(target.data_type(), file));
                };
                let ([target_key, target_value], [key, value]) = (&target[..], &fields[..]) else {
                    return Err(self.mismatch(entries.data_type(), file));
                };
                let types = (wanted.key_type(), target_key.data_type(), key.data_type());
                let keys = self.shape(types, first_leaf)?;
                let first_leaf = first_leaf + num_leaves(key.data_type());
                let types = (
                    wanted.value_type(),
                    target_value.data_type(),
                    value.data_type(),
                );
                let values = self.shape(types, first_leaf)?;
                match (keys, values) {
                    (None, None) => Ok(None),
                    (None, Some(_)) => {
                        Err(self.error("the keys of the map have none of the wanted fields"))
                    }
                    (Some(keys), values) => {
                        if values.is_none() {
                            // A map without values cannot be decoded.
                            self.leaves
                                .extend(first_leaf..first_leaf + num_leaves(value.data_type()));
                        }
                        Ok(Some(Shape::Map(Box::new(keys), values.map(Box::new))))
                    }
                }
            }
            (DataType::Primitive(_), target, file) if can_become(file, target) => {
                self.leaves.push(first_leaf);
                Ok(Some(Shape::Leaf))
            }
            (_, target, file) => Err(self.mismatch(target, file)),
        }
    }

    fn mismatch(&self, target: &T, file: &T) -> String {
        self.error(&format!(
            "{file} in the file cannot be read as {target}: it is not a type widening of Delta"
        ))
    }

    fn error(&self, text: &str) -> String {
        format!("column `{}`: {text}", self.path.join("."))
    }
}

/// Returns the origin of a metadata column.
fn special(wanted: &StructField) -> Result<Option<Origin>> {
    match wanted.get_metadata_column_spec() {
        Some(MetadataColumnSpec::RowIndex) => Ok(Some(Origin::RowIndex)),
        Some(MetadataColumnSpec::FilePath) => Ok(Some(Origin::FileName)),
        Some(other) => Err(format!(
            "the metadata column `{}` of the kind {}: files only have row indexes and names",
            wanted.name(),
            other.text_value()
        )),
        None if field_id_of(wanted) == Some(reserved_field_ids::FILE_NAME) => {
            Ok(Some(Origin::FileName))
        }
        None => Ok(None),
    }
}
