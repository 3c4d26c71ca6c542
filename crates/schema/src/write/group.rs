//! Building the groups for structs, lists and maps.

use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields};
use herringbone_format::{ConvertedType, Error, LogicalType, Repetition, Result, SchemaElement};

use super::build::{Builder, FieldPosition, Levels, field_id, leaf_value};
use super::logical_type::asked_logical_type;
use super::{EmptyStructs, WriteKind, WriteNode};
use crate::{EMPTY_STRUCT_CHILD, Node};

impl<'a> Builder<'a> {
    pub(super) fn group(
        &mut self,
        field: &FieldRef,
        extension_type: Option<&LogicalType>,
        element: SchemaElement,
        this: Levels,
        like: Option<&'a Node>,
    ) -> Result<WriteKind> {
        let DataType::Struct(fields) = field.data_type() else {
            return self.here(Err(Error::argument("a group must be a struct")));
        };
        let like = like.and_then(|like| Some((like, like.struct_fields()?)));
        let logical_type = match self.here(asked_logical_type(field))? {
            None => extension_type.cloned(),
            Some(
                annotation @ (LogicalType::Variant { .. }
                | LogicalType::File
                | LogicalType::Unrecognized { .. }),
            ) => Some(annotation),
            Some(other) => return self.here(Err(misplaced(&other, "a struct"))),
        };
        // The field's own annotation overrides the template's.
        let annotation = match (logical_type, like) {
            (None, Some((like, _))) => self.template.struct_annotation(like),
            (logical_type, _) => (logical_type, None),
        };
        let none = no_fields();
        let fields = match (fields.is_empty(), self.options.empty_structs) {
            (false, _) => fields,
            (true, EmptyStructs::UnknownLeaf) => &none,
            (true, EmptyStructs::Error) => {
                return self.here(Err(Error::unsupported(
                    "Parquet cannot store a struct without fields",
                )));
            }
        };
        self.push(
            element
                .num_children(self.count(fields.len())?)
                .logical_type(annotation.0)
                .converted_type(annotation.1),
        )?;
        let like = like.map_or(&[][..], |(_, fields)| fields);
        Ok(WriteKind::Struct(self.fields(fields, this, like)?))
    }

    pub(super) fn list(
        &mut self,
        child: &FieldRef,
        element: SchemaElement,
        this: Levels,
        like: Option<&'a Node>,
    ) -> Result<WriteKind> {
        let form = like.and_then(|like| self.template.list(like));
        let annotation = form.as_ref().map(|form| form.annotation.clone());
        let (logical_type, converted_type) =
            annotation.unwrap_or((Some(LogicalType::List), Some(ConvertedType::List)));
        let name = element.name.clone();
        self.push(
            element
                .num_children(1)
                .logical_type(logical_type)
                .converted_type(converted_type),
        )?;
        let template_child = like.and_then(|like| self.template.list_child(like));
        let (inside, child) = match form {
            Some(form) if form.repeats_child && form.may_repeat(&name, child) => {
                let inside = self.repeated_levels(&form.repeated.name, true, this)?;
                let at = self.elements.len();
                let element = SchemaElement::new(form.repeated.name.clone())
                    .repetition_type(Repetition::Repeated)
                    .field_id(self.field_id(child, template_child)?);
                let node = self.value(child, false, element, inside, template_child)?;
                self.note_difference(at, template_child);
                (inside, node)
            }
            form => {
                let repeated = form.as_ref().filter(|form| !form.repeats_child);
                let name = repeated.map_or("element", |form| form.child.field.name());
                let repeated = repeated.map(|form| form.repeated);
                let inside = self.repeated("list", 1, None, this, repeated)?;
                let place = FieldPosition {
                    name,
                    is_wrapper: true,
                    nullable: child.is_nullable() || self.template.is_optional(template_child),
                    around: inside,
                };
                (inside, self.field(child, place, template_child)?)
            }
        };
        self.leave(true);
        Ok(WriteKind::List {
            rep_level: inside.rep,
            element_def: inside.def,
            child: Box::new(child),
        })
    }

    /// Builds a list without its own group, as a REPEATED field. `child` is the element and its
    /// counterpart in the template.
    pub(super) fn bare_list(
        &mut self,
        field: &FieldRef,
        place: FieldPosition<'_>,
        like: Option<&'a Node>,
        child: (&FieldRef, &'a Node),
    ) -> Result<WriteNode> {
        let inside = self.repeated_levels(place.name, place.is_wrapper, place.around)?;
        let element = SchemaElement::new(place.name.to_owned())
            .repetition_type(Repetition::Repeated)
            .field_id(self.field_id(field, like)?);
        let (child, like) = child;
        let child = self.value(child, false, element, inside, Some(like))?;
        self.leave(place.is_wrapper);
        Ok(WriteNode {
            field: field.clone(),
            nullable: false,
            def_level: place.around.def,
            kind: WriteKind::List {
                rep_level: inside.rep,
                element_def: inside.def,
                child: Box::new(child),
            },
        })
    }

    pub(super) fn map(
        &mut self,
        entries: &FieldRef,
        element: SchemaElement,
        this: Levels,
        like: Option<&'a Node>,
    ) -> Result<WriteKind> {
        let (key, value) = match entries.data_type() {
            DataType::Struct(fields) => match fields.as_ref() {
                [key, value] => (key, value),
                _ => return self.here(Err(no_entries(entries))),
            },
            _ => return self.here(Err(no_entries(entries))),
        };
        let form = like.and_then(|like| self.template.map(like));
        let annotation = form.as_ref().map(|form| form.annotation.clone());
        let (logical_type, converted_type) =
            annotation.unwrap_or((Some(LogicalType::Map), Some(ConvertedType::Map)));
        self.push(
            element
                .num_children(1)
                .logical_type(logical_type)
                .converted_type(converted_type),
        )?;
        let id = self.here(field_id(entries))?;
        let repeated = form.as_ref().map(|form| form.repeated);
        let inside = self.repeated("key_value", 2, id, this, repeated)?;
        if leaf_value(key.data_type()) == Some(&DataType::Null) {
            return self.here(Err(Error::unsupported("a map whose keys are all null")));
        }
        let (key_like, value_like) = form.map(|form| (form.key, form.value)).unzip();
        let key_place = FieldPosition {
            name: key_like.map_or("key", |like| like.field.name()),
            is_wrapper: false,
            nullable: false,
            around: inside,
        };
        let key = self.field(key, key_place, key_like)?;
        let value_place = FieldPosition {
            name: value_like.map_or("value", |like| like.field.name()),
            nullable: value.is_nullable() || self.template.is_optional(value_like),
            ..key_place
        };
        let value = self.field(value, value_place, value_like)?;
        self.leave(true);
        let entries = WriteNode {
            field: entries.clone(),
            nullable: false,
            def_level: inside.def,
            kind: WriteKind::Struct(vec![key, value]),
        };
        Ok(WriteKind::Map {
            rep_level: inside.rep,
            element_def: inside.def,
            entries: Box::new(entries),
        })
    }

    /// Builds a list's or map's repeated group, following the template if there is one, and returns
    /// the levels inside the group. The group's name stays in the path.
    fn repeated(
        &mut self,
        name: &str,
        num_children: i32,
        field_id: Option<i32>,
        around: Levels,
        like: Option<&SchemaElement>,
    ) -> Result<Levels> {
        let name = like.map_or(name, |like| &like.name);
        let inside = self.repeated_levels(name, true, around)?;
        self.push(
            SchemaElement::new(name.to_owned())
                .repetition_type(Repetition::Repeated)
                .num_children(num_children)
                .field_id(field_id.or_else(|| like?.field_id))
                .logical_type(like.and_then(|like| like.logical_type.clone()))
                .converted_type(like.and_then(|like| like.converted_type)),
        )?;
        Ok(inside)
    }

    /// Returns the levels inside a repeated field. Its name stays in the path.
    fn repeated_levels(&mut self, name: &str, is_wrapper: bool, around: Levels) -> Result<Levels> {
        self.enter(name, is_wrapper)?;
        Ok(Levels {
            def: self.deeper(around.def, true)?,
            rep: self.deeper(around.rep, true)?,
        })
    }

    /// Rejects other annotations on lists and maps, because these have their own.
    pub(super) fn unannotated(
        &self,
        field: &Field,
        extension_type: Option<&LogicalType>,
    ) -> Result<()> {
        match self
            .here(asked_logical_type(field))?
            .or(extension_type.cloned())
        {
            None => Ok(()),
            Some(other) => self.here(Err(misplaced(&other, "a list or map"))),
        }
    }
}

#[cold]
fn no_entries(entries: &Field) -> Error {
    let data_type = entries.data_type();
    Error::argument(format!(
        "a map needs entries with a key and a value, not {data_type}"
    ))
}

#[cold]
fn misplaced(annotation: &LogicalType, what: &str) -> Error {
    Error::argument(format!(
        "the field's metadata or extension type requests {annotation}, which does not fit {what}"
    ))
}

/// Returns the placeholder fields for an empty struct.
pub(super) fn no_fields() -> Fields {
    Fields::from(vec![Field::new(EMPTY_STRUCT_CHILD, DataType::Null, true)])
}
