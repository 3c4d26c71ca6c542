//! Maps leaves to batch columns.
//!
//! The schema tree is split in two. Each leaf becomes a [`ColumnPlan`] with everything that decoding needs, so leaves
//! can be decoded independently. The nodes become a tree of [`ArrayNode`]s, describing how to assemble arrays from the
//! leaves' column batches.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Fields};
use herringbone_format::{Error, Result};
use herringbone_kernels::nesting::ListPlan;
use herringbone_schema::{ArrowMapping, ColumnStorage, Conversion, Node, NodeKind, ParquetSchema};

use super::ReadOptions;

use crate::wanted_schema::{ArrayConversion, Root};
use crate::wrappers::{ExtensionArray, StorageColumn, TypedWrapper, max_slots, typed_wrappers};
use herringbone_core::array::LeafType;
use herringbone_core::cast::Constant;
use herringbone_core::column::ColumnPlan;
use herringbone_core::column::nesting_builder::NestingPlan;
use herringbone_core::column::sibling_levels::SharedListPlan;
use herringbone_core::loss::OnError;

/// The columns below one list, each with the list's ordinal among the column's shared lists.
pub(crate) type SharedList = Vec<Member>;

/// One of the columns below a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    pub(crate) column: usize,
    pub(crate) ordinal: usize,
}

/// The place that records an ancestor: the ordinals of the column and of its nesting builder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) column: usize,
    pub(crate) nesting_builder: usize,
}

/// A node describing how to assemble an Arrow array.
#[derive(Debug)]
pub(crate) enum ArrayNode {
    /// The array of one column.
    Leaf { column: usize },
    /// A struct. It is null in a slot if any of its validity records has a null there. Without records, it is never
    /// null.
    Struct {
        fields: Fields,
        validity: Vec<Record>,
        /// The key's first column, for map entries whose keys can be null in the file although Arrow forbids it.
        nullable_key: Option<usize>,
        children: Vec<Self>,
    },
    /// A list or map of any layout.
    List {
        data_type: DataType,
        record: Record,
        child: Box<Self>,
    },
    /// A value repeated in every slot, since the column is missing from the file.
    Constant(Constant),
    /// Another array, converted to the wanted type.
    Converted {
        conversion: ArrayConversion,
        inner: Box<Self>,
    },
    /// The source array of extension columns. It is part of the tree like any other array, and is also kept in this
    /// slot.
    Storage { slot: usize, inner: Box<Self> },
    /// Another array with wrappers around it, such as a dictionary.
    Wrapped {
        wrappers: Vec<TypedWrapper>,
        inner: Box<Self>,
    },
}

impl ArrayNode {
    /// Returns the first column below the node, if there is one.
    pub(crate) fn first_column(&self) -> Option<usize> {
        match self {
            Self::Leaf { column } => Some(*column),
            Self::Struct { children, .. } => children.iter().find_map(Self::first_column),
            Self::List { child, .. } => child.first_column(),
            Self::Storage { inner, .. }
            | Self::Wrapped { inner, .. }
            | Self::Converted { inner, .. } => inner.first_column(),
            Self::Constant(_) => None,
        }
    }

    /// Appends the columns below the node whose arrays are converted by extension types. `is_converted` is true if an
    /// array above the node is already converted.
    fn converted_columns(&self, is_converted: bool, columns: &mut Vec<usize>) {
        match self {
            Self::Leaf { column } if is_converted => columns.push(*column),
            Self::Leaf { .. } | Self::Constant(_) => {}
            Self::Struct { children, .. } => {
                let children = children.iter();
                children.for_each(|child| child.converted_columns(is_converted, columns));
            }
            Self::Wrapped { wrappers, inner } => {
                let is_extension = wrappers.iter().any(TypedWrapper::is_extension);
                inner.converted_columns(is_converted || is_extension, columns);
            }
            Self::List { child: inner, .. }
            | Self::Storage { inner, .. }
            | Self::Converted { inner, .. } => inner.converted_columns(is_converted, columns),
        }
    }
}

/// The columns to decode, and how to assemble their arrays.
#[derive(Debug)]
pub(crate) struct ArrayTree {
    pub(crate) columns: Vec<Arc<ColumnPlan>>,
    pub(crate) roots: Vec<ArrayNode>,
    /// The source nodes of extension columns that aren't in the batch themselves.
    pub(crate) storages: Vec<ArrayNode>,
    /// The extension columns. They follow the roots.
    pub(crate) extension_columns: Vec<StorageColumn>,
    /// The shared lists. An outer list precedes the lists nested in it.
    pub(crate) shared_lists: Vec<SharedList>,
}

impl ArrayTree {
    pub(crate) fn new(
        mapping: &ArrowMapping,
        wanted: Option<&[Root]>,
        schema: &ParquetSchema,
        options: &ReadOptions,
    ) -> Result<Self> {
        let mut builder = Builder {
            schema,
            options,
            columns: Vec::new(),
            ancestors: Vec::new(),
            shared_lists: Vec::new(),
            sharing: Vec::new(),
            max_slots: usize::MAX,
            storage_nodes: storage_nodes(mapping),
        };
        let roots = match wanted {
            None => {
                let nodes = mapping.fields.iter();
                nodes
                    .map(|node| builder.node(node, TOP))
                    .collect::<Result<_>>()?
            }
            Some(roots) => {
                let roots = roots.iter();
                roots
                    .map(|root| builder.root(root, mapping))
                    .collect::<Result<_>>()?
            }
        };
        let storage_nodes = std::mem::take(&mut builder.storage_nodes);
        let storages = (storage_nodes.len()..).zip(&mapping.storages);
        let storages = storages.map(|(slot, node)| {
            let inner = Box::new(builder.node(node, TOP)?);
            Ok(ArrayNode::Storage { slot, inner })
        });
        let storages = storages.collect::<Result<_>>()?;
        let columns = mapping.extension_columns.iter();
        let extension_columns = columns.zip(&options.extension_columns).map(|(column, of)| {
            let slot = match column.storage {
                ColumnStorage::Shared(node) => {
                    storage_nodes.iter().position(|storage| *storage == node)
                }
                ColumnStorage::Own(place) => Some(storage_nodes.len() + place),
            };
            let array = ExtensionArray {
                extension: of.extension.clone(),
                field: column.field.clone(),
            };
            StorageColumn {
                slot: slot.unwrap_or(usize::MAX),
                array: column.makes_arrays.then_some(array),
            }
        });
        let extension_columns = extension_columns.collect();
        Ok(Self {
            columns: builder.columns.into_iter().map(Arc::new).collect(),
            roots,
            storages,
            extension_columns,
            shared_lists: builder.shared_lists,
        })
    }
}

impl ArrayTree {
    /// Returns the file's leaves that extension types convert on their way to the roots. The values in these arrays can
    /// differ from the stored values.
    pub(crate) fn converted_leaves(&self) -> Vec<usize> {
        let mut columns = Vec::new();
        for root in &self.roots {
            root.converted_columns(false, &mut columns);
        }
        let leaf_of = |column: usize| self.columns.get(column).map(|column| column.leaf);
        columns.into_iter().filter_map(leaf_of).collect()
    }
}

/// Returns the projected source nodes of extension columns, without duplicates.
fn storage_nodes(mapping: &ArrowMapping) -> Vec<usize> {
    let mut storage_nodes = Vec::new();
    for column in &mapping.extension_columns {
        if let ColumnStorage::Shared(node) = column.storage
            && !storage_nodes.contains(&node)
        {
            storage_nodes.push(node);
        }
    }
    storage_nodes
}

/// The levels of the innermost list around a node.
#[derive(Clone, Copy)]
struct Depth {
    rep_level: u8,
    /// The lowest definition level at which the list has an element.
    slot_def: u8,
}

/// The depth of a node outside all lists.
const TOP: Depth = Depth {
    rep_level: 0,
    slot_def: 0,
};

impl Depth {
    /// Returns true if a list element can lack a value for the node. The element still has a slot for the node in that
    /// case.
    fn has_null(self, node: &Node) -> bool {
        node.def_level > self.slot_def
    }
}

/// An ancestor of the current node. Usually only the first leaf below records it, since all leaves have its levels. But
/// if damaged pages become nulls, all leaves below a struct outside lists record it, since a lost page takes the
/// struct's validity with it.
struct Ancestor {
    plan: NestingPlan,
    records: Vec<Record>,
}

impl Ancestor {
    fn new(plan: NestingPlan) -> Self {
        let records = Vec::new();
        Self { plan, records }
    }

    /// Returns true if the next leaf below must record the ancestor.
    fn is_to_be_recorded(&self, on_error: OnError) -> bool {
        let may_be_lost = on_error == OnError::NullPage
            && matches!(self.plan, NestingPlan::Struct { rep_level: 0, .. });
        may_be_lost || self.records.is_empty()
    }
}

struct Builder<'a> {
    schema: &'a ParquetSchema,
    options: &'a ReadOptions,
    columns: Vec<ColumnPlan>,
    /// The current node's ancestors, outermost first.
    ancestors: Vec<Ancestor>,
    shared_lists: Vec<SharedList>,
    /// The indexes and plans of the shared lists around the current node.
    sharing: Vec<(usize, SharedListPlan)>,
    /// The number of slots that the wrappers around the current node have room for. It is limited by the types of
    /// dictionary keys and run ends.
    max_slots: usize,
    /// The schema nodes with arrays kept for extension columns. A node's index here is its slot.
    storage_nodes: Vec<usize>,
}

impl Builder<'_> {
    /// Returns the array node for a wanted schema's column.
    fn root(&mut self, root: &Root, mapping: &ArrowMapping) -> Result<ArrayNode> {
        let (ordinal, conversion) = match root {
            Root::Constant(constant) => return Ok(ArrayNode::Constant(constant.clone())),
            Root::Field {
                ordinal,
                conversion,
            } => (*ordinal, conversion.clone()),
        };
        let node = mapping.fields.get(ordinal);
        let node = node.ok_or_else(|| Error::argument(format!("there is no field {ordinal}")))?;
        let inner = self.node(node, TOP)?;
        Ok(match conversion {
            ArrayConversion::Keep => inner,
            conversion => ArrayNode::Converted {
                conversion,
                inner: Box::new(inner),
            },
        })
    }

    fn node(&mut self, node: &Node, depth: Depth) -> Result<ArrayNode> {
        if node.wrappers.is_empty() {
            return self.decoded(node, depth);
        }
        let around = self.max_slots;
        self.max_slots = around.min(max_slots(&node.wrappers));
        let inner = Box::new(self.decoded(node, depth)?);
        self.max_slots = around;
        let wrappers = typed_wrappers(node, &self.options.extensions)?;
        Ok(ArrayNode::Wrapped { wrappers, inner })
    }

    /// Returns the array node inside the node's wrappers.
    fn decoded(&mut self, node: &Node, depth: Depth) -> Result<ArrayNode> {
        let array = self.inner_node(node, depth)?;
        let slot = self
            .storage_nodes
            .iter()
            .position(|storage| *storage == node.schema_node);
        Ok(match slot {
            Some(slot) => ArrayNode::Storage {
                slot,
                inner: Box::new(array),
            },
            None => array,
        })
    }

    fn inner_node(&mut self, node: &Node, depth: Depth) -> Result<ArrayNode> {
        match &node.kind {
            NodeKind::Leaf { leaf, conversion } => self.leaf(node, *leaf, *conversion, depth),
            NodeKind::Struct(children) => self.struct_(node, children, depth),
            NodeKind::List {
                rep_level,
                element_def,
                child,
            }
            | NodeKind::Map {
                rep_level,
                element_def,
                entries: child,
            } => {
                let inner = Depth {
                    rep_level: *rep_level,
                    slot_def: *element_def,
                };
                self.list(node, child, depth, inner)
            }
        }
    }

    fn leaf(
        &mut self,
        node: &Node,
        ordinal: usize,
        conversion: Conversion,
        depth: Depth,
    ) -> Result<ArrayNode> {
        let leaf = self
            .schema
            .leaves()
            .get(ordinal)
            .ok_or_else(|| Error::argument(format!("the schema has no leaf {ordinal}")))?;
        let column = self.columns.len();
        let data_type = node.decoded_type();
        // A null around a dictionary can hide one of its slots. Arrow keys need a value even there, but the dictionary
        // might be empty, so we make these keys null.
        let is_keyed = matches!(data_type, DataType::Dictionary(..));
        let nullable = node.nullable || (is_keyed && depth.has_null(node));
        let mut nesting_plans = Vec::new();
        let on_error = self.options.on_error;
        let ancestors = self.ancestors.iter_mut();
        for ancestor in ancestors.filter(|ancestor| ancestor.is_to_be_recorded(on_error)) {
            ancestor.records.push(Record {
                column,
                nesting_builder: nesting_plans.len(),
            });
            nesting_plans.push(ancestor.plan.clone());
        }
        let mut shared_lists = Vec::new();
        for &(list, plan) in &self.sharing {
            if let Some(list) = self.shared_lists.get_mut(list) {
                let ordinal = shared_lists.len();
                list.push(Member { column, ordinal });
                shared_lists.push(plan);
            }
        }
        let limits = self.options.limits_or_default();
        self.columns.push(ColumnPlan {
            leaf: ordinal,
            schema: self.schema.clone(),
            leaf_type: LeafType {
                physical_type: leaf.physical_type,
                type_length: leaf.type_length,
                data_type,
                conversion,
                int96_overflow: self.options.schema.int96_overflow,
                is_ordered: node.field.dict_is_ordered() == Some(true),
            },
            max_def_level: leaf.max_def_level,
            max_rep_level: leaf.max_rep_level,
            slot_def: depth.slot_def,
            nullable,
            nesting_plans,
            shared_lists,
            max_slots: self.max_slots,
            null_pages: on_error == OnError::NullPage && node.nullable && leaf.max_rep_level == 0,
            column_batch_bytes: self.options.batch_bytes.min(limits.batch_column_bytes),
            row_bytes: limits.batch_column_bytes,
        });
        Ok(ArrayNode::Leaf { column })
    }

    fn struct_(&mut self, node: &Node, children: &[Node], depth: Depth) -> Result<ArrayNode> {
        let fields = children.iter().map(|child| child.field.clone()).collect();
        // A required struct is still null if a struct around it is null. We record this because the lists in it are
        // null then, and because Arrow requires nulls of required fields to be nulls of their parents.
        let is_recorded = node.nullable || depth.has_null(node);
        if is_recorded {
            let Depth {
                rep_level,
                slot_def,
            } = depth;
            let plan = NestingPlan::Struct {
                rep_level,
                slot_def,
                valid_def: node.def_level,
            };
            self.ancestors.push(Ancestor::new(plan));
        }
        // The Arrow field is nullable if the file's field is, except for map keys. Arrow never allows those to be null.
        let is_key = |field: &Node| field.nullable && !field.field.is_nullable();
        let nullable_key = children.first().filter(|field| is_key(field));
        let nullable_key = nullable_key.map(|_| self.columns.len());
        let children = children
            .iter()
            .map(|child| self.node(child, depth))
            .collect::<Result<_>>()?;
        let recorded = is_recorded.then(|| self.ancestors.pop()).flatten();
        let validity = recorded
            .map(|ancestor| ancestor.records)
            .unwrap_or_default();
        Ok(ArrayNode::Struct {
            fields,
            validity,
            nullable_key,
            children,
        })
    }

    fn list(&mut self, node: &Node, child: &Node, outer: Depth, inner: Depth) -> Result<ArrayNode> {
        let plan = ListPlan {
            rep_level: inner.rep_level,
            list_def: node.def_level,
            element_def: inner.slot_def,
            parent_element_def: outer.slot_def,
            nullable: node.nullable,
        };
        let data_type = node.decoded_type();
        let large = matches!(
            data_type,
            DataType::LargeList(_) | DataType::LargeListView(_)
        );
        let plan = NestingPlan::List { plan, large };
        self.ancestors.push(Ancestor::new(plan));
        let is_shared = has_leaves(child, 2);
        if is_shared {
            let plan = SharedListPlan {
                rep_level: inner.rep_level,
                element_def: inner.slot_def,
            };
            self.sharing.push((self.shared_lists.len(), plan));
            self.shared_lists.push(SharedList::new());
        }
        let child = Box::new(self.node(child, inner)?);
        if is_shared {
            self.sharing.pop();
        }
        let ancestor = self.ancestors.pop();
        let record = ancestor.and_then(|ancestor| ancestor.records.first().copied());
        let record = record.ok_or_else(|| {
            Error::unsupported(format!(
                "the list `{}` does not contain a leaf, so its length is unknown",
                node.field.name()
            ))
        })?;
        Ok(ArrayNode::List {
            data_type,
            record,
            child,
        })
    }
}

/// Returns true if a node has at least `n` leaves.
fn has_leaves(node: &Node, n: usize) -> bool {
    let mut leaves = 0;
    node.for_each_leaf(&mut |_| leaves += 1);
    leaves >= n
}
