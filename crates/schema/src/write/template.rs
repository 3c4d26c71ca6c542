//! The Parquet schema that a caller wants, where the Arrow types agree with it.
//!
//! It is read as a file's would be. A field of it then serves as the form of an Arrow field if what
//! is stored in that form is read as the Arrow type: its repetition, annotations, ids and, for lists
//! and maps, the shape and the names of its groups are written again. Fields at the side of each
//! other are matched by name, elements and entries by place.

use std::collections::HashMap;

use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields};
use herringbone_format::{
    ConvertedType, Limits, LogicalType, Repetition, Result, SchemaElement, Type,
};

use super::WriteConversion;
use super::build::Builder;
use super::logical_type::asked_logical_type;
use super::stored::Stored;
use crate::group_form::{GroupForm, group_form, named_as_element};
use crate::hint::restored;
use crate::leaf_type::leaf_type;
use crate::message::Described;
use crate::resolved_type::{ResolvedType, annotation};
use crate::{
    ADJUSTED_TO_UTC_KEY, Conversion, Node, NodeKind, ParquetSchema, SchemaOptions, to_arrow,
};

/// Both annotations of a group.
type Annotation = (Option<LogicalType>, Option<ConvertedType>);

/// The Parquet schema to follow, and the Arrow fields that it stands for; empty where there is none.
pub(super) struct Template {
    schema: Option<ParquetSchema>,
    fields: Vec<Node>,
}

/// How the template writes a list that has a group of its own.
pub(super) struct ListForm<'a> {
    pub(super) annotation: Annotation,
    /// The repeated field below the group.
    pub(super) repeated: &'a SchemaElement,
    /// Whether that is the element, and no group around it.
    pub(super) repeats_child: bool,
    pub(super) child: &'a Node,
}

/// How the template writes a map.
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
        // The schema was within the limits that its caller has.
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

    /// The name of the root; none without a template.
    pub(super) fn root_name(&self) -> Option<&str> {
        let root = self.schema.as_ref()?.nodes().first()?;
        Some(&root.element.name)
    }

    /// The element of a field: of a list without a group of its own, that of its elements.
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

    /// The annotations of a group that is a struct; none where they do not fit it.
    pub(super) fn struct_annotation(&self, like: &Node) -> Annotation {
        let Some(schema) = &self.schema else {
            return (None, None);
        };
        match group_form(schema, like.schema_node) {
            // No group that is a struct has a converted type.
            GroupForm::Struct => (self.annotation(like.schema_node).0, None),
            _ => (None, None),
        }
    }

    /// The annotations of a group, without those that no group can have: readers refuse such a schema.
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

    /// The form of a list; none for other fields, and for lists without a group of their own.
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

    /// The elements of a list of any form; none for other fields.
    pub(super) fn list_child<'a>(&self, like: &'a Node) -> Option<&'a Node> {
        match &like.kind {
            NodeKind::List { child, .. } => Some(child),
            _ => None,
        }
    }

    /// The form of a map; none for other fields.
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

    /// How a column is stored, if the template's column holds values that are read as this type.
    ///
    /// `ours` is how it would be stored otherwise: what the metadata of the field ask for wins.
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
        // Readers refuse a known annotation on a type that cannot have it.
        let bare = (resolved_type == ResolvedType::Ignored && is_recognized).then(|| {
            SchemaElement::default()
                .type_(element.type_)
                .type_length(element.type_length)
        });
        let (of_file, _) = leaf_type(leaf, element, &options);
        let conversion = match (resolved_type, data_type) {
            // What Arrow has no room for is read as the bytes that it is.
            (ResolvedType::Interval, DataType::FixedSizeBinary(12)) => WriteConversion::Identity,
            _ => conversion(&of_file, data_type, leaf.physical_type)?,
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
    /// Whether the element may be repeated without a group around it, and is read so again: it is
    /// never null, and no group that looks like one around an element.
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

    /// Whether the only field of the element is itself repeated, as in the template.
    fn repeats_field(&self, only: &FieldRef) -> bool {
        let like = self.child.struct_fields().unwrap_or_default();
        let like = matching(&Fields::from(vec![only.clone()]), like);
        let like = like.first().copied().flatten();
        like.is_some_and(|like| bare_elements(only, only.is_nullable(), like).is_some())
    }
}

impl<'a> Builder<'a> {
    /// Says so where the element that was just written is another than that of the template.
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
                .push(format!("`{path}` is written as {is}, not as {wanted}"));
        }
    }
}

/// The elements of a list that can do without a group of its own, as in the template, and those of
/// the template; none for other fields.
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

/// Returns true for annotations that groups can have.
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

/// Whether the metadata of a field ask for something else than the template.
fn contradicts(
    element: &SchemaElement,
    resolved_type: ResolvedType,
    field: &Field,
    ours: &Stored,
) -> bool {
    // What an annotation means that is not known, nobody can say better than it does.
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

/// What is done to values of an Arrow type before they are stored in a column that is read as
/// `of_file`; none where these are not the values that would be read.
fn conversion(of_file: &DataType, data_type: &DataType, physical: Type) -> Option<WriteConversion> {
    let (restored, how) = restored(of_file, data_type, physical, &SchemaOptions::default())?;
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

/// The template's field for each field: the one of the same name, at the same place if there are
/// several.
pub(super) fn matching<'a>(fields: &Fields, like: &'a [Node]) -> Vec<Option<&'a Node>> {
    let mut by_name: HashMap<&str, Option<&'a Node>> = HashMap::new();
    for node in like {
        by_name
            .entry(node.field.name())
            .and_modify(|known| *known = None)
            .or_insert(Some(node));
    }
    let of_place = |(place, field): (usize, &FieldRef)| {
        let here = like.get(place);
        here.filter(|node| node.field.name() == field.name())
            .or_else(|| by_name.get(field.name().as_str()).copied().flatten())
    };
    fields.iter().enumerate().map(of_place).collect()
}
