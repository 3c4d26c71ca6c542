//! Arrow fields with their definition and repetition levels.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields};

use crate::ArrowWrapper;

/// An Arrow field, with the levels that determine its slots and nulls.
///
/// A position in a column below the field is a slot if its levels, both repetition and definition,
/// reach those around it, that is, the levels of the innermost list (or map). At the top, a slot is
/// a row. A slot is valid if its definition level is at least [`Node::def_level`].
///
/// This diagram shows the levels in the various list forms. `r` and `d` are the surrounding
/// repetition and definition levels (both are 0 at the top of the schema):
///
/// ```text
///                                            list              its elements         a child's
///                                            def_level         rep_level element_def  def_level
/// three levels
///   optional group a (LIST) {                d+1 (nullable)
///     repeated group list {                                      r+1       d+2
///       optional int32 element; }}                                                      d+3
///   required group a (LIST) {                d
///     repeated group list {                                      r+1       d+1
///       required int32 element; }}                                                      d+1
/// two levels: the repeated field is the element
///   optional group a (LIST) {                d+1 (nullable)
///     repeated int32 array; }                                    r+1       d+2          d+2
/// without annotation: never null, but maybe empty
///   repeated int32 a;                        d                   r+1       d+1          d+1
/// ```
///
/// A map is a list of entries. An entry is a struct of key and value, and is never null.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The Arrow field, with its name, type, nullability and metadata.
    pub field: FieldRef,
    /// The lowest definition level at which the field is not null.
    pub def_level: u8,
    /// True if the file can contain nulls here. This only differs from the field's nullability for:
    ///
    /// - Map keys called OPTIONAL by the file. Arrow has no null keys, so a null is an error.
    /// - Timestamps that [become null](crate::Int96Overflow::Null) if they do not fit.
    /// - Runs with values that are never null, in a nullable field.
    /// - Fields that are nullable in a [given schema](crate::SchemaOptions::arrow_schema).
    pub nullable: bool,
    /// The ordinal of the field's node in the Parquet schema.
    pub schema_node: usize,
    /// The content of the field.
    pub kind: NodeKind,
    /// The wrappers between the type implied by `kind` and the type of `field`, from the outside
    /// in.
    pub wrappers: Vec<ArrowWrapper>,
}

/// The content of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// The values of a column.
    Leaf {
        /// The column's ordinal in the file.
        leaf: usize,
        /// The conversion from the stored integers to the Arrow type's integers.
        conversion: Conversion,
    },
    /// Fields side by side. Without any column below, there are no levels to determine the number
    /// of slots or their nulls. The struct then has as many slots as its parent (at the top, as
    /// many as there are rows), and all of them are valid.
    Struct(Vec<Node>),
    /// Any of Arrow's list types: `List`, `LargeList`, `ListView`, `LargeListView` or
    /// `FixedSizeList`, depending on the field's data type.
    List {
        /// The repetition level of all but a list's first element.
        rep_level: u8,
        /// The lowest definition level at which an element exists, null or not.
        element_def: u8,
        /// The elements.
        child: Box<Node>,
    },
    /// A list of entries.
    Map {
        /// The repetition level of all but a map's first entry.
        rep_level: u8,
        /// The lowest definition level at which an entry exists.
        element_def: u8,
        /// The entries, as structs of key and value.
        entries: Box<Node>,
    },
}

/// The arithmetic between the file's integers and the Arrow type's integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Conversion {
    /// No conversion, because the values are equal.
    #[default]
    Identity,
    /// A division by 1000, from milliseconds in the file to seconds in Arrow.
    MillisToSeconds,
    /// A multiplication by 86 400 000, from days in the file to milliseconds in Arrow.
    DaysToMillis,
}

impl Node {
    /// Calls `visit` with each column below this node, in the file's order.
    pub fn for_each_leaf(&self, visit: &mut impl FnMut(usize)) {
        match &self.kind {
            NodeKind::Leaf { leaf, .. } => visit(*leaf),
            NodeKind::Struct(fields) => fields.iter().for_each(|field| field.for_each_leaf(visit)),
            NodeKind::List { child, .. } => child.for_each_leaf(visit),
            NodeKind::Map { entries, .. } => entries.for_each_leaf(visit),
        }
    }

    /// Returns the first column below this node, or `None` if there is none, as in a struct without
    /// fields.
    #[must_use]
    pub fn first_leaf(&self) -> Option<usize> {
        match &self.kind {
            NodeKind::Leaf { leaf, .. } => Some(*leaf),
            NodeKind::Struct(fields) => fields.iter().find_map(Self::first_leaf),
            NodeKind::List { child, .. } => child.first_leaf(),
            NodeKind::Map { entries, .. } => entries.first_leaf(),
        }
    }

    /// Returns the fields of a struct, or `None` for any other kind.
    pub(crate) fn struct_fields(&self) -> Option<&[Self]> {
        match &self.kind {
            NodeKind::Struct(fields) => Some(fields),
            _ => None,
        }
    }

    /// Returns the type inside all wrappers.
    #[must_use]
    pub fn decoded_type(&self) -> DataType {
        let outer = self.field.data_type().clone();
        let wrappers = self.wrappers.iter();
        wrappers.fold(outer, |outer, wrapper| wrapper.within(&outer))
    }

    /// Puts the wrappers around the types of the columns below.
    pub(crate) fn put_wrappers(&mut self) {
        match &mut self.kind {
            NodeKind::Leaf { .. } => {
                let decoded = self.field.data_type().clone();
                return self.set_decoded_type(decoded);
            }
            NodeKind::Struct(fields) => fields.iter_mut().for_each(Self::put_wrappers),
            NodeKind::List { child, .. } => child.put_wrappers(),
            NodeKind::Map { entries, .. } => entries.put_wrappers(),
        }
        self.rebuild_data_type();
    }

    /// Replaces the type inside all wrappers.
    pub(crate) fn set_decoded_type(&mut self, decoded: DataType) {
        let wrappers = self.wrappers.iter().rev();
        let data_type = wrappers.fold(decoded, |inner, wrapper| wrapper.around(inner));
        if self.field.data_type() != &data_type {
            self.set_data_type(data_type);
        }
    }

    /// Replaces the field's data type.
    pub(crate) fn set_data_type(&mut self, data_type: DataType) {
        let field = Field::clone(&self.field).with_data_type(data_type);
        self.field = Arc::new(field);
    }

    /// Rebuilds the data type after one of the fields below changed, keeping the kind of list.
    pub(crate) fn rebuild_data_type(&mut self) {
        let data_type = match (&self.kind, self.decoded_type()) {
            (NodeKind::Leaf { .. }, _) => return,
            (NodeKind::Struct(fields), _) => DataType::Struct(fields_of(fields)),
            (NodeKind::Map { entries, .. }, old) => {
                let sorted = matches!(old, DataType::Map(_, true));
                DataType::Map(entries.field.clone(), sorted)
            }
            (NodeKind::List { child, .. }, old) => {
                let child = child.field.clone();
                match old {
                    DataType::LargeList(_) => DataType::LargeList(child),
                    DataType::ListView(_) => DataType::ListView(child),
                    DataType::LargeListView(_) => DataType::LargeListView(child),
                    DataType::FixedSizeList(_, size) => DataType::FixedSizeList(child, size),
                    _ => DataType::List(child),
                }
            }
        };
        self.set_decoded_type(data_type);
    }

    /// Replaces the field's name.
    pub(crate) fn set_name(&mut self, name: &str) {
        if self.field.name() != name {
            self.field = Arc::new(Field::clone(&self.field).with_name(name));
        }
    }
}

/// Returns the Arrow fields of nodes.
pub(crate) fn fields_of(nodes: &[Node]) -> Fields {
    nodes.iter().map(|node| node.field.clone()).collect()
}
