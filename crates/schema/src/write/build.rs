//! Building the schema tree, the fields with their levels, and the columns, all in a single walk.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields};
use herringbone_format::{Error, Limits, LogicalType, Repetition, Result, SchemaElement};

use super::leaf_type::stored;
use super::template::{Template, bare_elements};
use super::{HintPolicy, WriteKind, WriteLeaf, WriteNode, WriteSchemaOptions};
use crate::extension::write::to_parquet;
use crate::message::Described;
use crate::warnings::Warnings;
use crate::{AnnotatedField, ExtensionMapping, FIELD_ID_KEY, Node};

/// A node's surrounding levels.
#[derive(Clone, Copy, Default)]
pub(super) struct Levels {
    pub(super) def: u8,
    pub(super) rep: u8,
}

pub(super) struct Builder<'a> {
    pub(super) options: &'a WriteSchemaOptions,
    extensions: &'a [Arc<dyn ExtensionMapping>],
    limits: &'a Limits,
    /// The schema to follow where the Arrow types agree with it.
    pub(super) template: &'a Template,
    /// The names from below the root to the current node.
    pub(super) path: Vec<String>,
    /// The path without Parquet's wrapper names around elements and entries.
    pub(super) short_path: Vec<String>,
    pub(super) elements: Vec<SchemaElement>,
    pub(super) leaves: Vec<WriteLeaf>,
    pub(super) warnings: Warnings,
}

/// A field's place in its parent.
#[derive(Clone, Copy)]
pub(super) struct FieldPosition<'a> {
    /// The field's name in the file.
    pub(super) name: &'a str,
    /// True if short paths leave out the name.
    pub(super) is_wrapper: bool,
    pub(super) nullable: bool,
    pub(super) around: Levels,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        options: &'a WriteSchemaOptions,
        extensions: &'a [Arc<dyn ExtensionMapping>],
        limits: &'a Limits,
        template: &'a Template,
    ) -> Self {
        Self {
            options,
            extensions,
            limits,
            template,
            path: Vec::new(),
            short_path: Vec::new(),
            elements: Vec::new(),
            leaves: Vec::new(),
            warnings: Warnings::default(),
        }
    }

    pub(super) fn root(&mut self, fields: &Fields) -> Result<Vec<WriteNode>> {
        let name = self.template.root_name();
        self.elements.push(
            SchemaElement::new(name.unwrap_or(&self.options.root_name).to_owned())
                .num_children(self.count(fields.len())?),
        );
        self.fields(fields, Levels::default(), self.template.fields())
    }

    /// Builds sibling fields, each in the form of its match in the template, if any.
    pub(super) fn fields(
        &mut self,
        fields: &Fields,
        around: Levels,
        like: &'a [Node],
    ) -> Result<Vec<WriteNode>> {
        let like = super::template::matching(fields, like);
        fields
            .iter()
            .zip(like)
            .map(|(field, like)| {
                let place = FieldPosition {
                    name: field.name(),
                    is_wrapper: false,
                    nullable: field.is_nullable() || self.template.is_optional(like),
                    around,
                };
                self.field(field, place, like)
            })
            .collect()
    }

    /// Builds a field in its place, following the template's field `like` if they agree.
    pub(super) fn field(
        &mut self,
        field: &FieldRef,
        place: FieldPosition<'_>,
        like: Option<&'a Node>,
    ) -> Result<WriteNode> {
        let at = self.elements.len();
        let node = match like.and_then(|like| bare_elements(field, place.nullable, like)) {
            Some(child) => self.bare_list(field, place, like, child)?,
            None => self.single(field, place, like)?,
        };
        self.note_difference(at, like);
        Ok(node)
    }

    /// Builds an OPTIONAL or REQUIRED field.
    fn single(
        &mut self,
        field: &FieldRef,
        place: FieldPosition<'_>,
        like: Option<&'a Node>,
    ) -> Result<WriteNode> {
        let around = place.around;
        let nullable = (place.nullable && may_be_null(field.data_type()))
            || leaf_value(field.data_type()) == Some(&DataType::Null);
        self.enter(place.name, place.is_wrapper)?;
        let this = Levels {
            def: self.deeper(around.def, nullable)?,
            ..around
        };
        let repetition = if nullable {
            Repetition::Optional
        } else {
            Repetition::Required
        };
        let element = SchemaElement::new(place.name.to_owned())
            .repetition_type(repetition)
            .field_id(self.field_id(field, like)?);
        let node = self.value(field, nullable, element, this, like)?;
        self.leave(place.is_wrapper);
        Ok(node)
    }

    /// Returns a field's own ID, or the template's if it has none.
    pub(super) fn field_id(&self, field: &Field, like: Option<&Node>) -> Result<Option<i32>> {
        let template_id = || self.template.element(like?)?.field_id;
        Ok(self.here(field_id(field))?.or_else(template_id))
    }

    /// Builds a field from an element that only lacks the type.
    pub(super) fn value(
        &mut self,
        field: &FieldRef,
        nullable: bool,
        element: SchemaElement,
        this: Levels,
        like: Option<&'a Node>,
    ) -> Result<WriteNode> {
        if self.options.arrow_schema_hint != HintPolicy::None && loses_order(field) {
            return self.here(Err(Error::unsupported(
                "an ordered dictionary of booleans, groups or runs, or inside runs: a dictionary \
                 page cannot keep its order; write its values, or an unordered dictionary",
            )));
        }
        let extended = self.extended(field)?;
        let (field, annotation) = match &extended {
            Some((field, annotation)) => (field, Some(annotation)),
            None => (field, None),
        };
        let kind = match field.data_type() {
            DataType::Dictionary(_, values) if matches!(**values, DataType::Dictionary(..)) => {
                return self.here(Err(Error::unsupported("a dictionary of dictionaries")));
            }
            data_type if leaf_value(data_type).is_some() => {
                self.leaf(field, annotation, element, this, like)?
            }
            DataType::Struct(_) => self.group(field, annotation, element, this, like)?,
            DataType::List(child)
            | DataType::LargeList(child)
            | DataType::ListView(child)
            | DataType::LargeListView(child)
            | DataType::FixedSizeList(child, _) => {
                self.unannotated(field, annotation)?;
                self.list(child, element, this, like)?
            }
            DataType::Map(entries, _) => {
                self.unannotated(field, annotation)?;
                self.map(entries, element, this, like)?
            }
            DataType::RunEndEncoded(_, values) => {
                let value = decoded(field, values.data_type());
                let value = self.value(&value, nullable, element, this, like)?;
                WriteKind::RunEnd(Box::new(value))
            }
            DataType::Dictionary(_, value) => {
                let value = decoded(field, value);
                let value = self.value(&value, nullable, element, this, like)?;
                WriteKind::Dictionary(Box::new(value))
            }
            other => return self.here(Err(super::leaf_type::no_form(other))),
        };
        Ok(WriteNode {
            field: field.clone(),
            nullable,
            def_level: this.def,
            kind,
        })
    }

    /// Returns a field's stored form and annotation, according to its extension type, or `None` if
    /// no extension type recognizes the field. An annotation requested in the field's metadata
    /// overrides this one.
    fn extended(&self, field: &FieldRef) -> Result<Option<(FieldRef, LogicalType)>> {
        let data_type = field.data_type();
        if field.extension_type_name().is_none() {
            return Ok(None);
        }
        // An extension type is about the values, no matter if they are in a dictionary.
        let value = match (leaf_value(data_type), data_type) {
            (Some(value), _) => value,
            (None, DataType::Dictionary(..) | DataType::RunEndEncoded(..)) => return Ok(None),
            (None, group) => group,
        };
        let values = Field::clone(field).with_data_type(value.clone());
        let Some(annotated) = self.here(to_parquet(self.extensions, &values))? else {
            return Ok(None);
        };
        let AnnotatedField {
            field: stored,
            logical_type,
        } = annotated;
        if !has_layout(stored.data_type(), value) {
            return self.here(Err(Error::argument(format!(
                "an extension type stores {value} as {}, which is not a valid storage type for it",
                stored.data_type()
            ))));
        }
        let stored = match value == data_type {
            true => stored,
            false => stored.with_data_type(data_type.clone()),
        };
        Ok(Some((Arc::new(stored), logical_type)))
    }

    fn leaf(
        &mut self,
        field: &FieldRef,
        annotation: Option<&LogicalType>,
        element: SchemaElement,
        this: Levels,
        like: Option<&Node>,
    ) -> Result<WriteKind> {
        let data_type = leaf_value(field.data_type()).unwrap_or(field.data_type());
        let stored = self.here(stored(data_type, field, annotation, self.options))?;
        let stored = like
            .and_then(|like| self.template.stored(like, data_type, field, &stored))
            .unwrap_or(stored);
        let Some(physical_type) = stored.element.type_ else {
            return self.here(Err(Error::argument("a column without a type")));
        };
        let leaf = self.leaves.len();
        self.leaves.push(WriteLeaf {
            path: self.path.clone(),
            short_path: self.short_path.clone(),
            physical_type,
            type_length: stored
                .element
                .type_length
                .and_then(|length| usize::try_from(length).ok())
                .unwrap_or(0),
            max_def_level: this.def,
            max_rep_level: this.rep,
            data_type: data_type.clone(),
            conversion: stored.conversion,
            order: stored.order,
            allow_out_of_range: false,
        });
        let mut stored = stored.element;
        stored.name = element.name;
        self.push(
            stored
                .repetition_type(element.repetition_type)
                .field_id(element.field_id),
        )?;
        Ok(WriteKind::Leaf { leaf })
    }

    pub(super) fn leave(&mut self, is_wrapper: bool) {
        self.path.pop();
        if !is_wrapper {
            self.short_path.pop();
        }
    }

    pub(super) fn enter(&mut self, name: &str, is_wrapper: bool) -> Result<()> {
        self.path.push(name.to_owned());
        if !is_wrapper {
            self.short_path.push(name.to_owned());
        }
        // The path is allowed to be as long as the limit, because reads accept nodes at exactly
        // that depth.
        if self.path.len() > self.limits.schema_depth {
            return self.here(Err(Error::limit(
                "schema_depth",
                self.path.len() as u64,
                self.limits.schema_depth as u64,
            )));
        }
        Ok(())
    }

    pub(super) fn push(&mut self, element: SchemaElement) -> Result<()> {
        self.elements.push(element);
        if self.elements.len() > self.limits.schema_nodes {
            return self.here(Err(Error::limit(
                "schema_nodes",
                self.elements.len() as u64,
                self.limits.schema_nodes as u64,
            )));
        }
        Ok(())
    }

    pub(super) fn deeper(&self, level: u8, by_one: bool) -> Result<u8> {
        let level = level.checked_add(u8::from(by_one));
        self.here(level.ok_or_else(|| Error::unsupported("a column of more than 255 levels")))
    }

    pub(super) fn count(&self, fields: usize) -> Result<i32> {
        let count = i32::try_from(fields);
        self.here(count.map_err(|_| Error::unsupported("a group of more than 2^31 fields")))
    }

    /// Adds the column to an error.
    pub(super) fn here<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| error.in_column(self.path.join(".")))
    }

    /// Adds a warning if the element just written differs from the template's.
    pub(super) fn note_difference(&mut self, at: usize, like: Option<&Node>) {
        let like = like.and_then(|like| self.template.element(like));
        let (Some(like), Some(written)) = (like, self.elements.get(at)) else {
            return;
        };
        let (wanted, is) = (Described(like).to_string(), Described(written).to_string());
        if wanted != is && !self.warnings.is_full() {
            let path: Vec<&str> = self
                .path
                .iter()
                .map(String::as_str)
                .chain([written.name.as_str()])
                .collect();
            let path = path.join(".");
            self.warnings
                .push(format!("`{path}` is written as {is} instead of {wanted}"));
        }
    }
}

/// Returns the value type inside any dictionaries and runs, unless it is nested.
pub(super) fn leaf_value(data_type: &DataType) -> Option<&DataType> {
    let mut value = data_type;
    loop {
        value = match value {
            DataType::Dictionary(_, values) => values,
            DataType::RunEndEncoded(_, values) => values.data_type(),
            nested if nested.is_nested() => return None,
            leaf => return Some(leaf),
        };
    }
}

/// Returns true if arrays of type `of` can be treated as arrays of type `stored`, that is, if the
/// two types only differ in names, metadata and nullability.
fn has_layout(stored: &DataType, of: &DataType) -> bool {
    let same =
        |(stored, of): (&FieldRef, &FieldRef)| has_layout(stored.data_type(), of.data_type());
    match (stored, of) {
        (DataType::Struct(stored), DataType::Struct(of)) => {
            stored.len() == of.len() && stored.iter().zip(of).all(same)
        }
        (stored, of) => stored == of,
    }
}

/// Returns true if the field is an ordered dictionary with an order that dictionary pages cannot
/// keep.
fn loses_order(field: &Field) -> bool {
    match field.data_type() {
        DataType::RunEndEncoded(_, values) => {
            values.dict_is_ordered() == Some(true) || loses_order(values)
        }
        DataType::Dictionary(_, values) => {
            let has_page = match **values {
                DataType::Boolean | DataType::RunEndEncoded(..) => false,
                _ => !values.is_nested(),
            };
            field.dict_is_ordered() == Some(true) && !has_page
        }
        _ => false,
    }
}

/// Returns true if an array of this type can have nulls. Note that runs only have them among their
/// values.
fn may_be_null(data_type: &DataType) -> bool {
    match data_type {
        DataType::RunEndEncoded(_, values) => {
            values.is_nullable() && may_be_null(values.data_type())
        }
        _ => true,
    }
}

/// Returns the field of a dictionary's or run-end encoded array's values.
fn decoded(field: &Field, data_type: &DataType) -> FieldRef {
    Arc::new(field.clone().with_data_type(data_type.clone()))
}

pub(super) fn field_id(field: &Field) -> Result<Option<i32>> {
    let Some(text) = field.metadata().get(FIELD_ID_KEY) else {
        return Ok(None);
    };
    match text.parse() {
        Ok(id) => Ok(Some(id)),
        Err(_) => Err(Error::argument(format!(
            "`{FIELD_ID_KEY}` in the field's metadata is `{text}`, which is not a 32-bit integer"
        ))),
    }
}
