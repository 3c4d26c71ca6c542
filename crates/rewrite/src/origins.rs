//! New columns whose names or types differ from the input files.

use herringbone::Limits;
use herringbone::Result;
use herringbone::format::{Repetition, SchemaElement};
use herringbone::schema::ParquetSchema;

/// The origin of a column in the new file. Use this to tell [`CarryOver`](crate::CarryOver) about
/// renamed, cast or extracted columns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnOrigin {
    /// The column path in the input files. It leads through structs only.
    pub path: Vec<String>,
    /// The column name at the top level of the new file.
    pub name: String,
    /// True if the column's type differs in the new file.
    pub is_cast: bool,
}

impl ColumnOrigin {
    /// Creates the origin of a column taken unchanged from the field at `path`.
    #[must_use]
    pub fn new<S: Into<String> + Clone>(path: impl AsRef<[S]>, name: impl Into<String>) -> Self {
        Self {
            path: path.as_ref().iter().cloned().map(Into::into).collect(),
            name: name.into(),
            is_cast: false,
        }
    }

    /// Sets whether the column's type differs in the new file.
    #[must_use]
    pub fn cast(self, is_cast: bool) -> Self {
        Self { is_cast, ..self }
    }

    fn is_unchanged(&self) -> bool {
        !self.is_cast && self.path.len() == 1 && self.path.first() == Some(&self.name)
    }
}

/// The origins of all columns in the new file. Empty if all columns keep their names and types.
#[derive(Debug, Clone, Default)]
pub(crate) struct Origins(pub(crate) Vec<ColumnOrigin>);

impl Origins {
    /// Returns true if all columns keep their names and types.
    pub(crate) fn are_unchanged(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns an input field's paths in the new file. There can be several, since the new file
    /// might repeat a column.
    pub(crate) fn new_paths(&self, path: &[String]) -> Vec<Vec<String>> {
        if self.0.is_empty() {
            return vec![path.to_vec()];
        }
        let origins = self.0.iter();
        let moved = origins.filter_map(|origin| {
            let rest = path.strip_prefix(origin.path.as_slice())?;
            let mut new = vec![origin.name.clone()];
            new.extend_from_slice(rest);
            Some(new)
        });
        moved.collect()
    }

    /// Returns a field's path in the new file if its type does not change.
    pub(crate) fn same_value(&self, path: &[String]) -> Option<Vec<String>> {
        if self.0.is_empty() {
            return Some(path.to_vec());
        }
        let mut origins = self.0.iter().filter(|origin| !origin.is_cast);
        origins.find_map(|origin| {
            let rest = path.strip_prefix(origin.path.as_slice())?;
            let mut new = vec![origin.name.clone()];
            new.extend_from_slice(rest);
            Some(new)
        })
    }

    /// Returns a file's schema with the new file's names, but without any cast columns.
    ///
    /// # Errors
    /// Fails for the same reasons as [`ParquetSchema::from_elements`].
    pub(crate) fn renamed(&self, schema: &ParquetSchema) -> Result<ParquetSchema> {
        let origins = self.0.iter().filter(|origin| !origin.is_cast);
        let fields = origins.filter_map(|origin| field(schema, origin));
        with_fields(schema, fields.collect())
    }

    /// Returns a file's schema, reduced to columns that are unchanged in the new file or missing
    /// from it.
    ///
    /// # Errors
    /// Fails for the same reasons as [`ParquetSchema::from_elements`].
    pub(crate) fn unchanged(&self, schema: &ParquetSchema) -> Result<ParquetSchema> {
        let is_changed = |name: &str| {
            let mut origins = self.0.iter();
            origins.any(|origin| origin.name == name && !origin.is_unchanged())
        };
        let columns = schema.children(0);
        let kept = columns.filter_map(|node| {
            let nodes = schema.nodes();
            let end = nodes.get(node)?.end;
            let elements = nodes
                .get(node..end)?
                .iter()
                .map(|node| node.element.clone());
            let elements: Vec<SchemaElement> = elements.collect();
            let is_kept = elements
                .first()
                .is_some_and(|element| !is_changed(&element.name));
            is_kept.then_some(elements)
        });
        with_fields(schema, kept.collect())
    }
}

/// Returns the schema elements for a new column.
fn field(schema: &ParquetSchema, origin: &ColumnOrigin) -> Option<Vec<SchemaElement>> {
    let node = schema.node_at(&origin.path).ok()?;
    let nodes = schema.nodes();
    let end = nodes.get(node)?.end;
    let elements = nodes
        .get(node..end)?
        .iter()
        .map(|node| node.element.clone());
    let mut elements: Vec<SchemaElement> = elements.collect();
    let first = elements.first_mut()?;
    first.name.clone_from(&origin.name);
    if origin.path.len() > 1 && first.repetition_type == Some(Repetition::Required) {
        // A struct around the field can be null, and outside that struct the field is then null
        // itself.
        first.repetition_type = Some(Repetition::Optional);
    }
    Some(elements)
}

/// Returns a schema with these fields and another schema's root.
fn with_fields(schema: &ParquetSchema, fields: Vec<Vec<SchemaElement>>) -> Result<ParquetSchema> {
    let root = schema.nodes().first().map(|root| root.element.name.clone());
    let root =
        SchemaElement::new(root.unwrap_or_default()).num_children(i32::try_from(fields.len()).ok());
    let elements = std::iter::once(root).chain(fields.into_iter().flatten());
    ParquetSchema::from_elements(elements.collect(), &Limits::default())
}
