//! Building schemas from nodes, without having to count the fields of groups.

use herringbone_format::{
    ConvertedType, Error, Limits, LogicalType, Repetition, Result, SchemaElement, Type,
};

use crate::annotate::annotate;
use crate::group_form::{GroupForm, group_form};
use crate::message::Annotation;
use crate::{ParquetSchema, SchemaNode};

/// A node of a schema under construction, either a primitive node or a group with its fields.
///
/// Nodes are optional unless you choose another repetition, and the root has none. If you have a
/// schema as text, parse a [`ParquetSchema`] instead.
///
/// ```
/// use herringbone::format::{LogicalType, Type};
/// use herringbone::schema::NodeBuilder;
///
/// let text = |name| NodeBuilder::primitive(name, Type::ByteArray).logical(LogicalType::String);
/// let schema = NodeBuilder::group("m")
///     .field(NodeBuilder::primitive("id", Type::Int64).required().field_id(1))
///     .field(NodeBuilder::list("tags", text("element")))
///     .field(NodeBuilder::map("names", text("key"), text("value")).required())
///     .build_schema()?;
/// let expected = "message m {
///   required int64 id = 1;
///   optional group tags (LIST) {
///     repeated group list {
///       optional binary element (STRING);
///     }
///   }
///   required group names (MAP) {
///     repeated group key_value {
///       required binary key (STRING);
///       optional binary value (STRING);
///     }
///   }
/// }
/// ";
/// assert_eq!(schema.to_string(), expected);
/// assert_eq!(schema, expected.parse()?);
/// # Ok::<(), herringbone_format::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct NodeBuilder {
    element: SchemaElement,
    /// The nodes below this one, depth first.
    descendants: Vec<SchemaElement>,
}

impl NodeBuilder {
    /// Creates a group without fields. It can become a struct, the root, or any node that you
    /// annotate.
    #[must_use]
    pub fn group(name: impl Into<String>) -> Self {
        Self::new(SchemaElement::new(name.into()).num_children(0))
    }

    /// Creates a primitive node. A FIXED_LEN_BYTE_ARRAY also needs a [`length`](Self::length).
    #[must_use]
    pub fn primitive(name: impl Into<String>, physical_type: Type) -> Self {
        Self::new(SchemaElement::new(name.into()).type_(physical_type))
    }

    /// Creates a 3-level LIST. The element keeps its repetition, but is renamed to `element`,
    /// because the specification requires this name.
    #[must_use]
    pub fn list(name: impl Into<String>, element: Self) -> Self {
        let repeated = Self::group("list")
            .repeated()
            .field(element.named("element"));
        Self::group(name).logical(LogicalType::List).field(repeated)
    }

    /// Creates a MAP. As the specification requires, the key becomes required, and key and value
    /// are renamed to `key` and `value`.
    #[must_use]
    pub fn map(name: impl Into<String>, key: Self, value: Self) -> Self {
        let repeated = Self::group("key_value").repeated();
        let repeated = repeated
            .field(key.named("key").required())
            .field(value.named("value"));
        Self::group(name).logical(LogicalType::Map).field(repeated)
    }

    /// Makes the node occur exactly once in its parent.
    #[must_use]
    pub fn required(self) -> Self {
        self.repetition(Repetition::Required)
    }

    /// Makes the node occur at most once in its parent. This is the default.
    #[must_use]
    pub fn optional(self) -> Self {
        self.repetition(Repetition::Optional)
    }

    /// Makes the node occur any number of times in its parent.
    #[must_use]
    pub fn repeated(self) -> Self {
        self.repetition(Repetition::Repeated)
    }

    /// Sets the number of times that the node occurs in its parent.
    #[must_use]
    pub fn repetition(mut self, repetition: Repetition) -> Self {
        self.element.repetition_type = Some(repetition);
        self
    }

    /// Annotates the node with a logical type, along with its older counterpart for old readers.
    #[must_use]
    pub fn logical(mut self, logical_type: LogicalType) -> Self {
        annotate(&mut self.element, logical_type);
        self
    }

    /// Annotates the node with an older annotation only. You only need this for INTERVAL, because
    /// it has no logical type. For a DECIMAL, use [`logical`](Self::logical) instead, because it
    /// needs a precision.
    #[must_use]
    pub fn converted(mut self, converted_type: ConvertedType) -> Self {
        self.element.logical_type = None;
        (self.element.precision, self.element.scale) = (None, None);
        self.element.converted_type = Some(converted_type);
        self
    }

    /// Sets the field's ID.
    #[must_use]
    pub fn field_id(mut self, id: i32) -> Self {
        self.element.field_id = Some(id);
        self
    }

    /// Sets a FIXED_LEN_BYTE_ARRAY's byte count per value.
    #[must_use]
    pub fn length(mut self, bytes: i32) -> Self {
        self.element.type_length = Some(bytes);
        self
    }

    /// Adds a field to a group, after any existing fields.
    #[must_use]
    pub fn field(mut self, field: Self) -> Self {
        let fields = self.element.num_children.unwrap_or(0);
        self.element.num_children = Some(fields.saturating_add(1));
        self.descendants.push(field.element);
        self.descendants.extend(field.descendants);
        self
    }

    /// Adds fields to a group, after any existing fields.
    #[must_use]
    pub fn fields(self, fields: impl IntoIterator<Item = Self>) -> Self {
        fields.into_iter().fold(self, Self::field)
    }

    /// Builds the schema with this node as its root, ignoring the node's own repetition.
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if the root or a field's
    /// parent is not a group, if a length is missing, negative, or on a node that is not a
    /// FIXED_LEN_BYTE_ARRAY, or if an annotation does not fit its node. Fails with
    /// [Limit](herringbone_format::ErrorKind::Limit) if there are more nodes or levels than the
    /// default [`Limits`] allow.
    pub fn build_schema(mut self) -> Result<ParquetSchema> {
        self.element.repetition_type = None;
        if self.element.type_.is_some() {
            return Err(misuse(
                &self.element,
                "is a column, but the root of a schema is a group",
            ));
        }
        let mut elements = Vec::with_capacity(self.descendants.len() + 1);
        elements.push(self.element);
        elements.extend(self.descendants);
        elements.iter().try_for_each(check_element)?;
        let schema = ParquetSchema::from_elements(elements, &Limits::default())?;
        for (ordinal, node) in schema.nodes().iter().enumerate() {
            if !annotation_fits(&schema, ordinal, node) {
                let annotation = Annotation(&node.element);
                let path = schema.node_path(ordinal).join(".");
                return Err(Error::argument(format!(
                    "the node has an annotation that does not fit it:{annotation}"
                ))
                .in_column(path));
            }
        }
        Ok(schema)
    }

    fn new(element: SchemaElement) -> Self {
        Self {
            element: element.repetition_type(Repetition::Optional),
            descendants: Vec::new(),
        }
    }

    fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.element.name);
        self
    }
}

fn misuse(element: &SchemaElement, message: &str) -> Error {
    Error::argument(format!("the node `{}` {message}", element.name))
}

/// Checks everything about a node except its annotation.
fn check_element(element: &SchemaElement) -> Result<()> {
    let is_fixed = element.type_ == Some(Type::FixedLenByteArray);
    match element.type_length {
        _ if element.type_.is_some() && element.num_children.is_some() => {
            Err(misuse(element, "is a column, which cannot have fields"))
        }
        None if is_fixed => Err(misuse(
            element,
            "is a FIXED_LEN_BYTE_ARRAY without a length; call `length`",
        )),
        Some(length) if is_fixed && length < 0 => Err(misuse(element, "has a negative length")),
        Some(_) if !is_fixed => Err(misuse(
            element,
            "has a length, which is for a FIXED_LEN_BYTE_ARRAY only",
        )),
        _ => Ok(()),
    }
}

/// Returns true if a node's annotation is allowed on it. Annotations from later versions are always
/// allowed, because we don't know where they fit.
fn annotation_fits(schema: &ParquetSchema, ordinal: usize, node: &SchemaNode) -> bool {
    let element = &node.element;
    if !node.is_group() {
        let leaf = schema.leaves().get(node.leaves.start);
        return match (&element.logical_type, element.converted_type) {
            (Some(LogicalType::Unrecognized { .. }), _)
            | (None, Some(ConvertedType::Unknown(_))) => true,
            _ => leaf.is_some_and(|leaf| !leaf.annotation_ignored),
        };
    }
    match (&element.logical_type, element.converted_type) {
        (Some(LogicalType::List | LogicalType::Map), _)
        | (None, Some(ConvertedType::List | ConvertedType::Map)) => {
            group_form(schema, ordinal) != GroupForm::Mismatch
        }
        (Some(LogicalType::Variant { .. } | LogicalType::File), _)
        | (Some(LogicalType::Unrecognized { .. }), _)
        | (None, Some(ConvertedType::MapKeyValue | ConvertedType::Unknown(_)) | None) => true,
        _ => false,
    }
}
