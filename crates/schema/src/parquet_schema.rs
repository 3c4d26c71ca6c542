//! A file's schema tree, with each node's levels.
//!
//! A footer stores the tree as a depth-first list. Each group in the list declares how many of the
//! following subtrees are its own. [`ParquetSchema`] keeps this list and adds the end of each
//! node's subtree, so that a subtree is a range of nodes and its columns are a range of leaves.
//!
//! ```text
//!                                        node  end  def  rep  leaves
//! message schema {                          0    6    0    0    0..3
//!   required int64 id;                      1    2    0    0    0..1
//!   optional group tags (LIST) {            2    5    1    0    1..2
//!     repeated group list {                 3    5    2    1    1..2
//!       optional binary element (STRING);   4    5    3    1    1..2
//!     }
//!   }
//!   optional double score;                  5    6    1    0    2..3
//! }
//! ```

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use herringbone_arrow::schema::Field;
use herringbone_format::{Error, ErrorKind, Limits, Repetition, Result, SchemaElement, Type};

use crate::group_form::{GroupForm, group_form};
use crate::leaf_type::leaf_type;
use crate::resolved_type::ResolvedType;
use crate::{ColumnOrderKind, SchemaOptions};

/// A single node of the tree, that is, a footer element and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaNode {
    /// The element, unchanged from the file.
    pub element: SchemaElement,
    /// The ordinal of the parent group, or the node's own ordinal if it is the root.
    pub parent: usize,
    /// The ordinal just past the last node of this node's subtree.
    pub end: usize,
    /// The ordinals of the subtree's columns.
    pub leaves: Range<usize>,
    /// The definition level at which the node exists, that is, the number of OPTIONAL and REPEATED
    /// nodes from the root down to this one.
    pub def_level: u8,
    /// The repetition level at which the node repeats, that is, the number of REPEATED nodes from
    /// the root down to this one.
    pub rep_level: u8,
}

impl SchemaNode {
    /// Returns true if the node is a group, with fields instead of values.
    #[must_use]
    pub fn is_group(&self) -> bool {
        self.element.type_.is_none()
    }

    /// Returns the node's repetition in its parent, or REQUIRED if the file does not set one.
    #[must_use]
    pub fn repetition(&self) -> Repetition {
        self.element.repetition_type.unwrap_or(Repetition::Required)
    }
}

/// A single column, that is, a node with values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Leaf {
    /// The ordinal of the column's node in the tree.
    pub node: usize,
    /// The physical type, which determines the PLAIN encoding of values.
    pub physical_type: Type,
    /// The length of a FIXED_LEN_BYTE_ARRAY value in bytes, or 0 for other types.
    pub type_length: usize,
    /// The definition level of a non-null value.
    pub max_def_level: u8,
    /// The highest repetition level.
    pub max_rep_level: u8,
    /// True if the column's annotation is unknown, or is not allowed on this physical type. The
    /// values are then read as their physical type. Note that only the counts in the column's
    /// statistics are usable then, but not `min` and `max`, because their order is unknown.
    pub annotation_ignored: bool,
}

/// A file's schema tree. It is cheap to clone.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::ParquetFile;
/// use herringbone::format::Type;
///
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let schema = file.parquet_schema();
/// let leaves = schema.leaves().iter().enumerate();
/// let doubles = leaves.filter(|(_, leaf)| leaf.physical_type == Type::Double);
/// let paths: Vec<_> = doubles.map(|(leaf, _)| schema.column_path(leaf)).collect();
/// assert_eq!(paths, ["weight"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParquetSchema(Arc<Inner>);

#[derive(Debug, PartialEq, Eq)]
struct Inner {
    nodes: Vec<SchemaNode>,
    leaves: Vec<Leaf>,
}

impl ParquetSchema {
    /// Checks a footer's elements and computes their levels.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](ErrorKind::Corrupt) if the elements do not form exactly one tree, or if
    /// a fixed length is missing. Fails with [Limit](ErrorKind::Limit) if there are more nodes than
    /// [`Limits::schema_nodes`], if they are deeper than [`Limits::schema_depth`], or if a level
    /// does not fit in a byte.
    ///
    /// ```
    /// use herringbone::format::{Limits, Repetition, SchemaElement, Type};
    /// use herringbone::schema::ParquetSchema;
    ///
    /// let elements = [
    /// SchemaElement::new("schema".into()).num_children(1),
    /// SchemaElement::new("a".into()).type_(Type::Int32).repetition_type(Repetition::Optional),
    /// ];
    /// let schema = ParquetSchema::new(&elements, &Limits::default())?;
    /// assert_eq!(schema.leaves()[0].max_def_level, 1);
    /// assert_eq!(schema.to_string(), "message schema {\n  optional int32 a;\n}\n");
    /// # Ok::<(), herringbone::Error>(())
    /// ```
    pub fn new(elements: &[SchemaElement], limits: &Limits) -> Result<Self> {
        Self::from_elements(elements.to_vec(), limits)
    }

    /// Returns the number of heap bytes used by the schema. Clones share these bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let Inner { nodes, leaves } = &*self.0;
        let elements = nodes.iter().map(|node| node.element.heap_bytes());
        size_of::<Inner>()
            + nodes.capacity() * size_of::<SchemaNode>()
            + elements.sum::<usize>()
            + leaves.capacity() * size_of::<Leaf>()
    }

    /// Checks a footer's elements like [`Self::new`], but takes them by value. Use this to avoid
    /// copying the elements, since there can be many.
    ///
    /// # Errors
    ///
    /// Fails for the same reasons as [`Self::new`].
    pub fn from_elements(elements: Vec<SchemaElement>, limits: &Limits) -> Result<Self> {
        if elements.len() > limits.schema_nodes {
            return Err(Error::limit(
                "schema_nodes",
                elements.len() as u64,
                limits.schema_nodes as u64,
            ));
        }
        let mut tree = Tree {
            nodes: Vec::with_capacity(elements.len()),
            leaves: Vec::with_capacity(elements.len()),
            open: Vec::new(),
        };
        for element in elements {
            tree.push(element, limits)?;
        }
        tree.finish()
    }

    /// Returns all nodes, depth first, starting with the root.
    #[must_use]
    pub fn nodes(&self) -> &[SchemaNode] {
        &self.0.nodes
    }

    /// Returns the columns in the file's order.
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        &self.0.leaves
    }

    /// Returns a column's element.
    ///
    /// # Panics
    ///
    /// Panics if there is no such leaf.
    #[must_use]
    pub fn element(&self, leaf: usize) -> &SchemaElement {
        &self.0.nodes[self.0.leaves[leaf].node].element
    }

    /// Returns the order of a column's values according to its annotation. The column's bounds have
    /// the same order. A column with an ignored annotation has no order.
    ///
    /// # Panics
    ///
    /// Panics if there is no such leaf.
    #[must_use]
    pub fn order(&self, leaf: usize) -> ColumnOrderKind {
        let physical_type = self.0.leaves[leaf].physical_type;
        self.resolved_type(leaf).order(physical_type)
    }

    /// Returns true if a column's values are text. Such values must be UTF-8.
    ///
    /// # Panics
    ///
    /// Panics if there is no such leaf.
    #[must_use]
    pub fn is_text(&self, leaf: usize) -> bool {
        use ResolvedType::{Enum, Json, String};
        matches!(self.resolved_type(leaf), String | Enum | Json)
    }

    /// Returns true if a column's values are UUIDs.
    ///
    /// # Panics
    ///
    /// Panics if there is no such leaf.
    #[must_use]
    pub fn is_uuid(&self, leaf: usize) -> bool {
        self.resolved_type(leaf) == ResolvedType::Uuid
    }

    /// Returns true if a column's values are geometries or geographies.
    ///
    /// # Panics
    ///
    /// Panics if there is no such leaf.
    #[must_use]
    pub fn is_geospatial(&self, leaf: usize) -> bool {
        self.resolved_type(leaf) == ResolvedType::Geospatial
    }

    /// Returns the nullable Arrow field for a column's values, based only on its Parquet type and
    /// annotation, or `None` if there is no such column.
    #[must_use]
    pub fn leaf_field(&self, leaf: usize, options: &SchemaOptions) -> Option<Field> {
        let (column, element) = (self.0.leaves.get(leaf)?, self.element(leaf));
        let (data_type, metadata) = leaf_type(column, element, options);
        Some(Field::new(&element.name, data_type, true).with_metadata(metadata))
    }

    /// Returns the range of integers allowed by a column's annotation, if it is narrower than the
    /// physical type's. This is the case for 8-bit and 16-bit integers, and for times, since those
    /// lie within a day.
    ///
    /// # Panics
    ///
    /// Panics if there is no such leaf.
    #[must_use]
    pub fn integer_range(&self, leaf: usize) -> Option<RangeInclusive<i64>> {
        self.resolved_type(leaf).integer_range()
    }

    /// Returns true if a column's values are times of day.
    ///
    /// # Panics
    ///
    /// Panics if there is no such leaf.
    #[must_use]
    pub fn is_time(&self, leaf: usize) -> bool {
        matches!(self.resolved_type(leaf), ResolvedType::Time { .. })
    }

    /// Returns true if a column's annotation declares all its values null.
    ///
    /// # Panics
    ///
    /// Panics if there is no such leaf.
    #[must_use]
    pub fn is_always_null(&self, leaf: usize) -> bool {
        self.resolved_type(leaf) == ResolvedType::Null
    }

    /// Returns the definition levels of a column at which a map key is null. Null keys are not
    /// allowed, so these levels are errors. There is one level per map with the column in its key,
    /// provided that the file calls the key OPTIONAL.
    ///
    /// # Panics
    ///
    /// Panics if there is no such leaf.
    #[must_use]
    pub fn null_key_levels(&self, leaf: usize) -> Vec<u8> {
        let mut levels = Vec::new();
        let nodes = self.nodes();
        let mut node = self.leaves()[leaf].node;
        while node != 0 {
            let entries = nodes[node].parent;
            let map = nodes[entries].parent;
            if nodes[node].repetition() == Repetition::Optional
                && matches!(group_form(self, map), GroupForm::Map { key, .. } if key == node)
            {
                levels.push(nodes[entries].def_level);
            }
            node = entries;
        }
        levels
    }

    fn resolved_type(&self, leaf: usize) -> ResolvedType {
        let Leaf {
            physical_type,
            type_length,
            ..
        } = self.0.leaves[leaf];
        ResolvedType::of(self.element(leaf), physical_type, type_length)
    }

    /// Returns a column's path from below the root, that is, its `path_in_schema`. Paths are made
    /// on demand, because all of them together can be far larger than the schema.
    ///
    /// # Panics
    ///
    /// Panics if there is no such leaf.
    #[must_use]
    pub fn path(&self, leaf: usize) -> Vec<&str> {
        self.node_path(self.0.leaves[leaf].node)
    }

    /// Returns a column's path with its parts joined by dots, for messages.
    ///
    /// # Panics
    ///
    /// Panics if there is no such leaf.
    #[must_use]
    pub fn column_path(&self, leaf: usize) -> String {
        self.path(leaf).join(".")
    }

    /// Returns any node's path from below the root. The root's own path is empty.
    #[must_use]
    pub fn node_path(&self, mut node: usize) -> Vec<&str> {
        let mut path = Vec::new();
        while node != 0 {
            path.push(self.0.nodes[node].element.name.as_str());
            node = self.0.nodes[node].parent;
        }
        path.reverse();
        path
    }

    /// Returns the ordinals of a group's fields, or none for a leaf.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> + Clone + '_ {
        let end = self.0.nodes[node].end;
        let inside = move |child: &usize| *child < end;
        std::iter::successors(Some(node + 1).filter(inside), move |&child| {
            Some(self.0.nodes[child].end).filter(inside)
        })
    }
}

/// The tree under construction.
struct Tree {
    nodes: Vec<SchemaNode>,
    leaves: Vec<Leaf>,
    /// The incomplete groups, outermost first, each with its number of missing fields.
    open: Vec<(usize, u32)>,
}

impl Tree {
    fn push(&mut self, element: SchemaElement, limits: &Limits) -> Result<()> {
        let ordinal = self.nodes.len();
        if self.open.is_empty() && ordinal > 0 {
            return Err(Error::corrupt(format!(
                "schema element {ordinal} lies past the end of the schema tree"
            )));
        }
        if self.open.len() > limits.schema_depth {
            let depth = self.open.len() as u64;
            return Err(Error::limit(
                "schema_depth",
                depth,
                limits.schema_depth as u64,
            ));
        }
        let num_children = num_children(&element, ordinal)?;
        let (def_level, rep_level) = self.levels(&element)?;
        let first_leaf = self.leaves.len();
        if let Some(physical_type) = element.type_ {
            let type_length = type_length(&element, physical_type)?;
            self.leaves.push(Leaf {
                node: ordinal,
                physical_type,
                type_length,
                max_def_level: def_level,
                max_rep_level: rep_level,
                annotation_ignored: ResolvedType::of(&element, physical_type, type_length)
                    == ResolvedType::Ignored,
            });
        }
        self.nodes.push(SchemaNode {
            element,
            parent: self.open.last().map_or(0, |&(node, _)| node),
            end: ordinal + 1,
            leaves: first_leaf..self.leaves.len(),
            def_level,
            rep_level,
        });
        if num_children > 0 {
            self.open.push((ordinal, num_children));
        } else {
            self.close();
        }
        Ok(())
    }

    /// Returns the next node's levels, computed from its parent's levels and its own repetition.
    fn levels(&self, element: &SchemaElement) -> Result<(u8, u8)> {
        let Some(&(parent, _)) = self.open.last() else {
            // The root's repetition has no meaning.
            return Ok((0, 0));
        };
        let parent = &self.nodes[parent];
        let (def, rep) = match element.repetition_type {
            None | Some(Repetition::Required) => (0, 0),
            Some(Repetition::Optional) => (1, 0),
            Some(Repetition::Repeated) => (1, 1),
        };
        // Only the definition level can overflow, because the repetition level never exceeds it.
        match parent.def_level.checked_add(def) {
            Some(def_level) => Ok((def_level, parent.rep_level + rep)),
            None => Err(Error::new(
                ErrorKind::Limit,
                "a column with more than 255 definition levels cannot be read",
            )
            .in_column(&element.name)),
        }
    }

    /// Closes a complete subtree, along with any groups completed by it.
    fn close(&mut self) {
        while let Some((node, missing)) = self.open.last_mut() {
            *missing -= 1;
            if *missing > 0 {
                return;
            }
            let end = self.nodes.len();
            let leaves_end = self.leaves.len();
            let node = &mut self.nodes[*node];
            node.end = end;
            node.leaves.end = leaves_end;
            self.open.pop();
        }
    }

    fn finish(self) -> Result<ParquetSchema> {
        if self.nodes.is_empty() {
            return Err(Error::corrupt("the file has no schema"));
        }
        if let Some(&(node, missing)) = self.open.last() {
            return Err(Error::corrupt(format!(
                "the schema ends inside the group `{}`, which lacks {missing} fields",
                self.nodes[node].element.name
            )));
        }
        Ok(ParquetSchema(Arc::new(Inner {
            nodes: self.nodes,
            leaves: self.leaves,
        })))
    }
}

/// Returns the element's field count, or 0 for a leaf.
fn num_children(element: &SchemaElement, ordinal: usize) -> Result<u32> {
    let Ok(num_children) = u32::try_from(element.num_children.unwrap_or(0)) else {
        return Err(
            Error::corrupt("a group with a negative number of fields").in_column(&element.name)
        );
    };
    if element.type_.is_some() && (num_children > 0 || ordinal == 0) {
        return Err(
            Error::corrupt("a schema element is both a group and a column")
                .in_column(&element.name),
        );
    }
    Ok(num_children)
}

fn type_length(element: &SchemaElement, physical_type: Type) -> Result<usize> {
    if physical_type != Type::FixedLenByteArray {
        return Ok(0);
    }
    element
        .type_length
        .and_then(|length| usize::try_from(length).ok())
        .ok_or_else(|| {
            Error::corrupt("a FIXED_LEN_BYTE_ARRAY column without a length")
                .in_column(&element.name)
        })
}
