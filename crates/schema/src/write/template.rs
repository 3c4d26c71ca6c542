//! The caller's Parquet schema, used as a template where the Arrow types agree with it.
//!
//! It is read like a file's schema. An Arrow field follows a template field if values stored in
//! that field's form are read back as the Arrow type. We then repeat the template's repetition,
//! annotations and IDs, and for lists and maps also the shape and names of its groups. Sibling
//! fields are matched by name, but elements and entries by position.

use std::collections::HashMap;

use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields};
use herringbone_format::{
    ConvertedType, Limits, LogicalType, Repetition, Result, SchemaElement, Type,
};

use super::WriteConversion;
use super::logical_type::asked_logical_type;
use super::stored::Stored;
use crate::group_form::{GroupForm, group_form, named_as_element};
use crate::hint::restored;
use crate::leaf_type::leaf_type;
use crate::resolved_type::{ResolvedType, annotation};
use crate::{
    ADJUSTED_TO_UTC_KEY, Conversion, Node, NodeKind, ParquetSchema, SchemaOptions, to_arrow,
};

/// A group's two annotations.
type Annotation = (Option<LogicalType>, Option<ConvertedType>);

/// The Parquet schema to follow, with its Arrow fields, or nothing without a template.
pub(super) struct Template {
    schema: Option<ParquetSchema>,
    fields: Vec<Node>,
}

/// The template's form for a list with its own group.
pub(super) struct ListForm<'a> {
    pub(super) annotation: Annotation,
    /// The repeated field below the group.
    pub(super) repeated: &'a SchemaElement,
    /// True if that field is the element itself, without a group around it.
    pub(super) repeats_child: bool,
    pub(super) child: &'a Node,
}

/// The template's form for a map.
pub(super) struct MapForm<'a> {
    pub(super) annotation: Annotation,
    pub(super) repeated: &'a SchemaElement,
    pub(super) key: &'a Node,
    pub(super) value: &'a Node,
}

impl Template {
    pub(super) fn new(schema: Option<&ParquetSchema>) -> Result<Self> {
        let Some(schema) = schema else {
            return Ok(Self {
                schema: None,
                fields: Vec::new(),
            });
        };
        let elements = schema.nodes().iter().map(|node| {
            let logical_type = annotation(&node.element).cloned();
            node.element.clone().logical_type(logical_type)
        });
        // We don't need limits here, because the schema has already passed its caller's limits.
        let mut limits = Limits::default();
        (limits.schema_nodes, limits.schema_depth) = (usize::MAX, usize::MAX);
        let schema = ParquetSchema::from_elements(elements.collect(), &limits)?;
        Ok(Self {
            fields: to_arrow(&schema, &[], &SchemaOptions::default())?.fields,
            schema: Some(schema),
        })
    }

    pub(super) fn fields(&self) -> &[Node] {
        &self.fields
    }

    /// Returns the root's name, or `None` without a template.
    pub(super) fn root_name(&self) -> Option<&str> {
        let root = self.schema.as_ref()?.nodes().first()?;
        Some(&root.element.name)
    }

    /// Returns a field's schema element. For a list without its own group, this is the schema
    /// element of the list's items.
    pub(super) fn element(&self, like: &Node) -> Option<&SchemaElement> {
        self.element_at(like.schema_node)
    }

    fn element_at(&self, node: usize) -> Option<&SchemaElement> {
        let node = self.schema.as_ref()?.nodes().get(node)?;
        Some(&node.element)
    }

    pub(super) fn is_optional(&self, like: Option<&Node>) -> bool {
        let element = like.and_then(|like| self.element(like));
        element.is_some_and(|element| element.repetition_type == Some(Repetition::Optional))
    }

    /// Returns the annotations for a struct's group, leaving out any that don't fit it.
    pub(super) fn struct_annotation(&self, like: &Node) -> Annotation {
        let Some(schema) = &self.schema else {
            return (None, None);
        };
        match group_form(schema, like.schema_node) {
            // A struct never has a converted type.
            GroupForm::Struct => (self.annotation(like.schema_node).0, None),
            _ => (None, None),
        }
    }

    /// Returns a group's annotations, leaving out any that groups cannot have, because readers
    /// refuse such schemas.
    fn annotation(&self, node: usize) -> Annotation {
        let Some(element) = self.element_at(node) else {
            return (None, None);
        };
        let logical = element.logical_type.clone().filter(is_of_groups);
        let converted = element
            .converted_type
            .filter(|converted| match (&logical, converted) {
                (Some(LogicalType::List), ConvertedType::List)
                | (Some(LogicalType::Map), ConvertedType::Map | ConvertedType::MapKeyValue) => true,
                (None, converted) => matches!(
                    converted,
                    ConvertedType::List | ConvertedType::Map | ConvertedType::MapKeyValue
                ),
                _ => false,
            });
        (logical, converted)
    }

    /// Returns a list's form, or `None` for other fields and for lists without their own group.
    pub(super) fn list<'a>(&'a self, like: &'a Node) -> Option<ListForm<'a>> {
        let child = self.list_child(like)?;
        let (repeated, repeats_child) = match group_form(self.schema.as_ref()?, like.schema_node) {
            GroupForm::List { repeated, element } => (repeated, repeated == element),
            GroupForm::Keys { repeated, .. } => (repeated, false),
            _ => return None,
        };
        Some(ListForm {
            annotation: self.annotation(like.schema_node),
            repeated: self.element_at(repeated)?,
            repeats_child,
            child,
        })
    }

    /// Returns a list's elements, whatever the list's form, or `None` for other fields.
    pub(super) fn list_child<'a>(&self, like: &'a Node) -> Option<&'a Node> {
        match &like.kind {
            NodeKind::List { child, .. } => Some(child),
            _ => None,
        }
    }

    /// Returns a map's form, or `None` for other fields.
    pub(super) fn map<'a>(&'a self, like: &'a Node) -> Option<MapForm<'a>> {
        let NodeKind::Map { entries, .. } = &like.kind else {
            return None;
        };
        let [key, value] = entries.struct_fields()? else {
            return None;
        };
        Some(MapForm {
            annotation: self.annotation(like.schema_node),
            repeated: self.element(entries)?,
            key,
            value,
        })
    }

    /// Returns the template's storage for a column, if values stored this way are read back as this
    /// type.
    ///
    /// `ours` is the storage to use without a template. Requests in the field's metadata override
    /// the template.
    pub(super) fn stored(
        &self,
        like: &Node,
        data_type: &DataType,
        field: &Field,
        ours: &Stored,
    ) -> Option<Stored> {
        let NodeKind::Leaf { leaf, .. } = like.kind else {
            return None;
        };
        let schema = self.schema.as_ref()?;
        let (leaf, element) = (schema.leaves().get(leaf)?, schema.element(leaf));
        let resolved_type = ResolvedType::of(element, leaf.physical_type, leaf.type_length);
        if contradicts(element, resolved_type, field, ours) {
            return None;
        }
        let options = SchemaOptions {
            enum_as_binary: is_binary(data_type),
            ..SchemaOptions::default()
        };
        let is_recognized = !matches!(element.logical_type, Some(LogicalType::Unrecognized { .. }));
        // If a known annotation isn't allowed on the type, we drop it, because readers refuse such
        // columns.
        let bare = (resolved_type == ResolvedType::Ignored && is_recognized).then(|| {
            SchemaElement::default()
                .type_(element.type_)
                .type_length(element.type_length)
        });
        let (file_type, _) = leaf_type(leaf, element, &options);
        let conversion = match (resolved_type, data_type) {
            // Intervals that Arrow's type can't represent are read as bytes, so we can also write
            // them from bytes.
            (ResolvedType::Interval, DataType::FixedSizeBinary(12)) => WriteConversion::Identity,
            _ => conversion(&file_type, data_type, leaf.physical_type)?,
        };
        Some(Stored {
            element: bare.unwrap_or_else(|| {
                SchemaElement::default()
                    .type_(element.type_)
                    .type_length(element.type_length)
                    .converted_type(element.converted_type)
                    .scale(element.scale)
                    .precision(element.precision)
                    .logical_type(element.logical_type.clone())
            }),
            conversion,
            order: resolved_type.order(leaf.physical_type),
        })
    }
}

impl ListForm<'_> {
    /// Returns true if the element can be repeated without a group around it and still be read back
    /// as the element. It must not be nullable, or be a group that looks like a wrapper around an
    /// element.
    pub(super) fn may_repeat(&self, list: &str, child: &Field) -> bool {
        let is_clear = match child.data_type() {
            DataType::Struct(fields) => match fields.as_ref() {
                [only] => named_as_element(list, &self.repeated.name) || self.repeats_field(only),
                _ => true,
            },
            _ => true,
        };
        is_clear && !child.is_nullable()
    }

    /// Returns true if the element's only field is itself repeated, as it is in the template.
    fn repeats_field(&self, only: &FieldRef) -> bool {
        let like = self.child.struct_fields().unwrap_or_default();
        let like = matching(&Fields::from(vec![only.clone()]), like);
        let like = like.first().copied().flatten();
        like.is_some_and(|like| bare_elements(only, only.is_nullable(), like).is_some())
    }
}

/// Returns a list's elements and their counterpart in the template, if the list needs no group
/// because the template has none. Returns `None` for other fields.
pub(super) fn bare_elements<'f, 'a>(
    field: &'f Field,
    nullable: bool,
    like: &'a Node,
) -> Option<(&'f FieldRef, &'a Node)> {
    let NodeKind::List { child: element, .. } = &like.kind else {
        return None;
    };
    let (DataType::List(child)
    | DataType::LargeList(child)
    | DataType::ListView(child)
    | DataType::LargeListView(child)
    | DataType::FixedSizeList(child, _)) = field.data_type()
    else {
        return None;
    };
    let is_bare = element.schema_node == like.schema_node && !nullable && !child.is_nullable();
    is_bare.then_some((child, element))
}

/// Returns true for annotations allowed on groups.
fn is_of_groups(annotation: &LogicalType) -> bool {
    matches!(
        annotation,
        LogicalType::List
            | LogicalType::Map
            | LogicalType::Variant { .. }
            | LogicalType::File
            | LogicalType::Unrecognized { .. }
    )
}

/// Returns true if a field's metadata contradicts the template.
fn contradicts(
    element: &SchemaElement,
    resolved_type: ResolvedType,
    field: &Field,
    ours: &Stored,
) -> bool {
    // We don't know the meaning of this annotation, so nothing can contradict it.
    if let Some(LogicalType::Unrecognized { .. }) = element.logical_type {
        return false;
    }
    if let Ok(Some(asked)) = asked_logical_type(field) {
        return element.logical_type.as_ref() != Some(&asked);
    }
    match (&ours.element.logical_type, resolved_type) {
        (Some(LogicalType::Json), resolved_type) => resolved_type != ResolvedType::Json,
        (Some(LogicalType::Uuid), resolved_type) => resolved_type != ResolvedType::Uuid,
        (Some(LogicalType::Geometry { .. } | LogicalType::Geography { .. }), _) => {
            element.logical_type != ours.element.logical_type
        }
        (Some(LogicalType::Time { .. }), ResolvedType::Time { utc, .. }) => {
            let asked = field.metadata().get(ADJUSTED_TO_UTC_KEY);
            asked.is_some_and(|asked| (asked == "true") != utc)
        }
        _ => false,
    }
}

/// Returns the conversion for storing an Arrow type's values in a column that is read as
/// `file_type`, or `None` if other values would be read back.
fn conversion(
    file_type: &DataType,
    data_type: &DataType,
    physical: Type,
) -> Option<WriteConversion> {
    let (restored, how) = restored(file_type, data_type, physical, &SchemaOptions::default())?;
    (restored == *data_type).then_some(match how {
        Conversion::Identity => WriteConversion::Identity,
        Conversion::MillisToSeconds => WriteConversion::SecondsToMillis,
        Conversion::DaysToMillis => WriteConversion::MillisToDays,
    })
}

fn is_binary(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, LargeBinary};
    matches!(data_type, Binary | LargeBinary | BinaryView)
}

/// Returns the template's match for each field, that is, the field with the same name. If several
/// have that name, this is the one at the same position.
pub(super) fn matching<'a>(fields: &Fields, like: &'a [Node]) -> Vec<Option<&'a Node>> {
    let mut by_name: HashMap<&str, Option<&'a Node>> = HashMap::new();
    for node in like {
        by_name
            .entry(node.field.name())
            .and_modify(|known| *known = None)
            .or_insert(Some(node));
    }
    let field_at = |(place, field): (usize, &FieldRef)| {
        let here = like.get(place);
        here.filter(|node| node.field.name() == field.name())
            .or_else(|| by_name.get(field.name().as_str()).copied().flatten())
    };
    fields.iter().enumerate().map(field_at).collect()
}
