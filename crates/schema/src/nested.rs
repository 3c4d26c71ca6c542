//! Building the Arrow field tree from the file's schema tree.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef};
use herringbone_format::{LogicalType, Repetition, Type};

use crate::group_form::{GroupForm, group_form};
use crate::leaf_type::{leaf_type, physical};
use crate::node::fields_of;
use crate::{
    Conversion, FIELD_ID_KEY, Int96Overflow, LOGICAL_TYPE_KEY, ListLayout, Node, NodeKind,
    ParquetSchema, SchemaOptions,
};

/// A builder for turning schema nodes into Arrow fields.
///
/// It recurses as deep as the schema. This is safe because [`ParquetSchema::new`] has already
/// checked the depth.
pub(crate) struct Nesting<'a> {
    pub(crate) schema: &'a ParquetSchema,
    pub(crate) options: &'a SchemaOptions,
    /// One flag per node, true if its annotation is ignored, or an empty list if no annotation is.
    ignored: &'a [bool],
    /// One flag per node, true if it only wraps a list's elements or a map's entries and has no
    /// name in Arrow.
    pub(crate) omittable: Vec<bool>,
    /// The nodes with an annotation that does not fit their fields.
    pub(crate) mismatched: Vec<usize>,
}

impl<'a> Nesting<'a> {
    pub(crate) fn new(
        schema: &'a ParquetSchema,
        options: &'a SchemaOptions,
        ignored: &'a [bool],
    ) -> Self {
        Self {
            schema,
            options,
            ignored,
            omittable: vec![false; schema.nodes().len()],
            mismatched: Vec::new(),
        }
    }

    fn fields_of(&mut self, group: usize) -> Vec<Node> {
        let schema = self.schema;
        schema
            .children(group)
            .map(|child| self.field(child))
            .collect()
    }

    /// Returns the field for a node in a struct or at the top level, including its repetition.
    pub(crate) fn field(&mut self, node: usize) -> Node {
        let this = &self.schema.nodes()[node];
        if this.leaves.is_empty() {
            return self.without_columns(node);
        }
        if this.repetition() != Repetition::Repeated {
            return self.value(node);
        }
        let child = self.value(node);
        Node {
            field: self.new_field(node, self.list_type(child.field.clone()), false),
            // A repeated node adds one level, where the list's first element exists.
            def_level: this.def_level.saturating_sub(1),
            nullable: false,
            schema_node: node,
            kind: NodeKind::List {
                rep_level: this.rep_level,
                element_def: this.def_level,
                child: Box::new(child),
            },
            wrappers: Vec::new(),
        }
    }

    /// Returns the field for one occurrence of a node.
    fn value(&mut self, node: usize) -> Node {
        let this = &self.schema.nodes()[node];
        if this.leaves.is_empty() {
            return self.without_columns(node);
        }
        let nullable = this.repetition() == Repetition::Optional;
        let (data_type, kind) = match group_form(self.schema, node) {
            GroupForm::Leaf => return self.leaf(node, nullable),
            GroupForm::Struct => self.group(node),
            GroupForm::Mismatch => {
                self.mismatched.push(node);
                self.group(node)
            }
            GroupForm::List { repeated, element } => {
                self.omittable[repeated] = true;
                self.omittable[element] = true;
                let child = self.value(element);
                self.list(repeated, child)
            }
            GroupForm::Keys { repeated, key } => {
                self.omittable[repeated] = true;
                let child = self.field(key);
                self.list(repeated, child)
            }
            GroupForm::Map {
                repeated,
                key,
                value,
            } => {
                self.omittable[repeated] = true;
                let fields = vec![self.field(key), self.field(value)];
                if self.ignores(node) {
                    let entries = self.entries(repeated, fields);
                    self.list(repeated, entries)
                } else {
                    self.map(repeated, fields)
                }
            }
        };
        Node {
            field: self.new_field(node, data_type, nullable),
            def_level: this.def_level,
            nullable,
            schema_node: node,
            kind,
            wrappers: Vec::new(),
        }
    }

    fn leaf(&self, node: usize, nullable: bool) -> Node {
        let this = &self.schema.nodes()[node];
        let ordinal = this.leaves.start;
        let leaf = &self.schema.leaves()[ordinal];
        let (data_type, mut metadata) = match self.ignores(node) {
            true => (physical(leaf, self.options), HashMap::new()),
            false => leaf_type(leaf, &this.element, self.options),
        };
        if let Some(id) = this.element.field_id {
            metadata.insert(FIELD_ID_KEY.to_owned(), id.to_string());
        }
        let becomes_null = self.options.int96_overflow == Int96Overflow::Null
            && matches!(leaf.physical_type, Type::Int96 | Type::FixedLenByteArray)
            && matches!(data_type, DataType::Timestamp(..));
        let field = Field::new(&this.element.name, data_type, nullable || becomes_null)
            .with_metadata(metadata);
        Node {
            field: Arc::new(field),
            def_level: this.def_level,
            nullable,
            schema_node: node,
            kind: NodeKind::Leaf {
                leaf: ordinal,
                conversion: Conversion::Identity,
            },
            wrappers: Vec::new(),
        }
    }

    fn group(&mut self, node: usize) -> (DataType, NodeKind) {
        let fields = self.fields_of(node);
        (
            DataType::Struct(fields_of(&fields)),
            NodeKind::Struct(fields),
        )
    }

    fn list(&self, repeated: usize, child: Node) -> (DataType, NodeKind) {
        let repeated = &self.schema.nodes()[repeated];
        (
            self.list_type(child.field.clone()),
            NodeKind::List {
                rep_level: repeated.rep_level,
                element_def: repeated.def_level,
                child: Box::new(child),
            },
        )
    }

    fn ignores(&self, node: usize) -> bool {
        self.ignored.get(node).copied().unwrap_or(false)
    }

    /// Returns the entries of a map.
    fn entries(&self, repeated: usize, fields: Vec<Node>) -> Node {
        Node {
            field: self.new_field(repeated, DataType::Struct(fields_of(&fields)), false),
            def_level: self.schema.nodes()[repeated].def_level,
            nullable: false,
            schema_node: repeated,
            kind: NodeKind::Struct(fields),
            wrappers: Vec::new(),
        }
    }

    /// Returns a map with these entry fields, key first.
    fn map(&mut self, repeated: usize, mut fields: Vec<Node>) -> (DataType, NodeKind) {
        if let Some(key) = fields.first_mut().filter(|key| key.field.is_nullable()) {
            key.field = Arc::new(Field::clone(&key.field).with_nullable(false));
        }
        let entries = self.entries(repeated, fields);
        let this = &self.schema.nodes()[repeated];
        (
            DataType::Map(entries.field.clone(), false),
            NodeKind::Map {
                rep_level: this.rep_level,
                element_def: this.def_level,
                entries: Box::new(entries),
            },
        )
    }

    /// Returns the field for a group without any column below it. The file stores nothing for such
    /// a group, not even how often it occurs. So it becomes a struct, whatever its annotation and
    /// repetition.
    fn without_columns(&mut self, node: usize) -> Node {
        let schema = self.schema;
        let this = &schema.nodes()[node];
        let fields: Vec<Node> = schema
            .children(node)
            .map(|child| self.without_columns(child))
            .collect();
        let nullable = this.repetition() == Repetition::Optional;
        Node {
            field: self.new_field(node, DataType::Struct(fields_of(&fields)), nullable),
            def_level: this.def_level,
            nullable,
            schema_node: node,
            kind: NodeKind::Struct(fields),
            wrappers: Vec::new(),
        }
    }

    fn list_type(&self, child: FieldRef) -> DataType {
        list_type(self.options.lists, child)
    }

    /// Returns a group's field.
    fn new_field(&self, node: usize, data_type: DataType, nullable: bool) -> FieldRef {
        let element = &self.schema.nodes()[node].element;
        let mut metadata = HashMap::new();
        if let Some(id) = element.field_id {
            metadata.insert(FIELD_ID_KEY.to_owned(), id.to_string());
        }
        if let Some(logical @ (LogicalType::Variant { .. } | LogicalType::File)) =
            &element.logical_type
        {
            metadata.insert(LOGICAL_TYPE_KEY.to_owned(), logical.to_string());
        }
        Arc::new(Field::new(&element.name, data_type, nullable).with_metadata(metadata))
    }
}

/// Returns a layout's list type.
pub(crate) fn list_type(layout: ListLayout, child: FieldRef) -> DataType {
    match layout {
        ListLayout::Offsets => DataType::List(child),
        ListLayout::LargeOffsets => DataType::LargeList(child),
        ListLayout::Views => DataType::ListView(child),
    }
}
