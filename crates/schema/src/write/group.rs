//! The groups of structs, lists and maps.

use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields};
use herringbone_format::{ConvertedType, Error, LogicalType, Repetition, Result, SchemaElement};

use super::build::{Builder, Levels, field_id, leaf_value};
use super::logical_type::logical_type;
use super::{EMPTY_STRUCT_CHILD, EmptyStructs, WriteKind, WriteNode};

impl Builder<'_> {
    pub(super) fn group(
        &mut self,
        field: &FieldRef,
        fields: &Fields,
        element: SchemaElement,
        this: Levels,
    ) -> Result<WriteKind> {
        let logical_type = match self.here(logical_type(field))? {
            None => None,
            Some(annotation @ (LogicalType::Variant { .. } | LogicalType::File)) => {
                Some(annotation)
            }
            Some(other) => return self.here(Err(misplaced(&other, "a struct"))),
        };
        let none = no_fields();
        let fields = match (fields.is_empty(), self.options.empty_structs) {
            (false, _) => fields,
            (true, EmptyStructs::UnknownLeaf) => &none,
            (true, EmptyStructs::Error) => {
                return self.here(Err(Error::unsupported(
                    "Parquet has no form for a struct without fields",
                )));
            }
        };
        self.push(SchemaElement {
            num_children: Some(self.count(fields.len())?),
            logical_type,
            ..element
        })?;
        Ok(WriteKind::Struct(self.fields(fields, this)?))
    }

    pub(super) fn list(
        &mut self,
        child: &FieldRef,
        element: SchemaElement,
        this: Levels,
    ) -> Result<WriteKind> {
        self.push(SchemaElement {
            num_children: Some(1),
            logical_type: Some(LogicalType::List),
            converted_type: Some(ConvertedType::List),
            ..element
        })?;
        let inside = self.repeated("list", 1, None, this)?;
        let child = self.field(child, "element", child.is_nullable(), inside)?;
        self.path.pop();
        Ok(WriteKind::List {
            rep_level: inside.rep,
            element_def: inside.def,
            child: Box::new(child),
        })
    }

    pub(super) fn map(
        &mut self,
        entries: &FieldRef,
        element: SchemaElement,
        this: Levels,
    ) -> Result<WriteKind> {
        let (key, value) = match entries.data_type() {
            DataType::Struct(fields) => match fields.as_ref() {
                [key, value] => (key, value),
                _ => return self.here(Err(no_entries(entries))),
            },
            _ => return self.here(Err(no_entries(entries))),
        };
        self.push(SchemaElement {
            num_children: Some(1),
            logical_type: Some(LogicalType::Map),
            converted_type: Some(ConvertedType::Map),
            ..element
        })?;
        let id = self.here(field_id(entries))?;
        let inside = self.repeated("key_value", 2, id, this)?;
        if leaf_value(key.data_type()) == Some(&DataType::Null) {
            return self.here(Err(Error::unsupported("a map whose keys are all null")));
        }
        let key = self.field(key, "key", false, inside)?;
        let value = self.field(value, "value", value.is_nullable(), inside)?;
        self.path.pop();
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

    /// The repeated group of a list or map; it stays in the path. Gives the levels in it.
    fn repeated(
        &mut self,
        name: &str,
        num_children: i32,
        field_id: Option<i32>,
        around: Levels,
    ) -> Result<Levels> {
        self.enter(name)?;
        let inside = Levels {
            def: self.deeper(around.def, true)?,
            rep: self.deeper(around.rep, true)?,
        };
        self.push(SchemaElement {
            name: name.to_owned(),
            repetition_type: Some(Repetition::Repeated),
            num_children: Some(num_children),
            field_id,
            ..SchemaElement::default()
        })?;
        Ok(inside)
    }

    /// Lists and maps have their own annotations.
    pub(super) fn unannotated(&self, field: &Field) -> Result<()> {
        match self.here(logical_type(field))? {
            None => Ok(()),
            Some(other) => self.here(Err(misplaced(&other, "a list or map"))),
        }
    }
}

#[cold]
fn no_entries(entries: &Field) -> Error {
    let data_type = entries.data_type();
    Error::argument(format!(
        "a map needs entries of key and value, not {data_type}"
    ))
}

#[cold]
fn misplaced(annotation: &LogicalType, what: &str) -> Error {
    Error::argument(format!(
        "the field's metadata ask for {annotation}, which {what} cannot be"
    ))
}

/// The fields that are written for a struct without any.
pub(super) fn no_fields() -> Fields {
    Fields::from(vec![Field::new(EMPTY_STRUCT_CHILD, DataType::Null, true)])
}
