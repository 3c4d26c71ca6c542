//! A file's Arrow schema, with each field's levels.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::{Fields, Schema, SchemaRef};
use herringbone_format::{Error, KeyValue, Result};

use crate::dictionary::Dictionaries;
use crate::extension::column::{ColumnBuilder, Columns};
use crate::extension::read::Extensions;
use crate::hint::{self, ArrowSchemaHint, Restore, SchemaText, arrow_schema_text};
use crate::ignored::ignored;
use crate::nested::Nesting;
use crate::node::fields_of;
use crate::path::Paths;
use crate::projection::{marks, prune};
use crate::warnings::Warnings;
use crate::{
    ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY, ExtensionColumn, ExtensionRequest, ListLayout, Node,
    ParquetSchema, Projection, ReadExtensions, SchemaOptions,
};

/// The Arrow schema of a file or projection, with the origin of its fields.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ArrowMapping {
    /// The Arrow schema, with the file's key-value metadata as its metadata.
    pub schema: SchemaRef,
    /// The schema's fields, in the same order.
    pub fields: Vec<Node>,
    /// Additional columns built by extension types. They follow the other fields in the schema.
    pub extension_columns: Vec<ExtensionColumn>,
    /// The storage of extension columns that cannot be built from the schema's fields alone.
    pub storages: Vec<Node>,
    /// Faults that did not prevent the mapping, such as annotations that do not fit their groups,
    /// or parts of the file's Arrow schema that do not fit its columns.
    pub warnings: Vec<String>,
    origin: Arc<Origin>,
}

/// Facts about the file, kept for projections.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) schema: ParquetSchema,
    /// One flag per node, true if a path can leave it out.
    pub(crate) omittable: Vec<bool>,
    pub(crate) lists: ListLayout,
    /// True if the caller's extension types or extension columns were applied.
    pub(crate) is_extended: bool,
}

impl ArrowMapping {
    /// Returns the requested part of the fields, in the file's order and with the same levels.
    ///
    /// A map projected to its values, or to parts of them, keeps its keys. A map projected to its
    /// keys alone becomes a list of keys. An empty projection has no fields.
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if a column does not exist,
    /// suggesting similar names in case of a typo. Also fails with
    /// [Argument](herringbone_format::ErrorKind::Argument) if a name or a field ID matches several
    /// fields, or if the mapping was made by [`to_arrow_extended`] with extension types or columns.
    /// Such a mapping cannot be projected afterwards, because its extension types have already seen
    /// whole groups. Pass the projection to that function instead.
    pub fn project(&self, projection: &Projection) -> Result<Self> {
        if self.origin.is_extended {
            return Err(Error::argument(
                "fields created by extension types cannot be projected afterwards",
            ));
        }
        let Origin {
            schema,
            omittable,
            lists,
            ..
        } = &*self.origin;
        let Some(marks) = marks(schema, omittable, projection)? else {
            return Ok(self.clone());
        };
        let fields = pruned(&self.fields, &marks, *lists);
        let metadata = self.schema.metadata().clone();
        Ok(Self {
            schema: Arc::new(Schema::new_with_metadata(fields_of(&fields), metadata)),
            fields,
            ..self.clone()
        })
    }

    /// Returns the ordinals of the fields' columns, in ascending order.
    #[must_use]
    pub fn leaves(&self) -> Vec<usize> {
        let mut leaves = Vec::new();
        for field in self.fields.iter().chain(&self.storages) {
            field.for_each_leaf(&mut |leaf| leaves.push(leaf));
        }
        if !self.storages.is_empty() {
            leaves.sort_unstable();
            leaves.dedup();
        }
        leaves
    }
}

/// Prunes the fields to the marked nodes.
fn pruned(fields: &[Node], marks: &[bool], lists: ListLayout) -> Vec<Node> {
    let kept = fields.iter().filter_map(|field| prune(field, marks, lists));
    kept.collect()
}

/// Maps a file to its Arrow schema. The mapping depends on the file's Parquet schema, your options,
/// and the Arrow schema under [`ARROW_SCHEMA_KEY`] in the file's key-value metadata, if there is
/// one.
///
/// The other key-value metadata becomes the Arrow schema's metadata, except for values that are not
/// UTF-8.
///
/// # Errors
///
/// Fails with [Argument](herringbone_format::ErrorKind::Argument) if an option names a column that
/// does not exist, or asks to ignore a group's annotation although the group is not a map.
pub fn to_arrow(
    schema: &ParquetSchema,
    key_values: &[KeyValue],
    options: &SchemaOptions,
) -> Result<ArrowMapping> {
    to_arrow_projected(schema, key_values, options, &Projection::All)
}

/// Maps a file to Arrow like [`to_arrow`] followed by [`ArrowMapping::project`], but skips the
/// top-level fields outside the projection, without any warnings about them.
///
/// # Errors
///
/// Fails for the same reasons as [`to_arrow`] and [`ArrowMapping::project`].
pub fn to_arrow_projected(
    schema: &ParquetSchema,
    key_values: &[KeyValue],
    options: &SchemaOptions,
    projection: &Projection,
) -> Result<ArrowMapping> {
    let extensions = ReadExtensions::default();
    to_arrow_extended(schema, key_values, options, projection, &extensions)
}

/// Maps a file to Arrow like [`to_arrow_projected`], applying your extension types.
///
/// # Errors
///
/// Fails for the same reasons as [`to_arrow_projected`], and passes on the extension types' errors.
/// Fails with [Argument](herringbone_format::ErrorKind::Argument) if the path of an extension
/// column does not exist, or if it leads into a list.
pub fn to_arrow_extended(
    schema: &ParquetSchema,
    key_values: &[KeyValue],
    options: &SchemaOptions,
    projection: &Projection,
    extensions: &ReadExtensions,
) -> Result<ArrowMapping> {
    let ignored = ignored(schema, options)?;
    let mut nesting = Nesting::new(schema, options, &ignored);
    let (mut top, marks) = Top::new(&mut nesting, projection, &extensions.columns)?;
    let mut warnings = Warnings::default();
    warn_of_mismatches(schema, marks.as_deref(), &nesting.mismatched, &mut warnings);
    let omittable = nesting.omittable;

    let mut metadata: HashMap<String, String> = key_values
        .iter()
        .filter(|pair| ![ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY].contains(&pair.key.as_str()))
        // Arrow's metadata is text only, so other values stay in the file's metadata.
        .filter_map(|pair| Some((pair.key.clone(), pair.text()?.to_owned())))
        .collect();
    let mut restore = Restore::new(schema, options, &ignored, &mut warnings);
    if let Some(schema) = &options.arrow_schema {
        let text = SchemaText {
            base64: &arrow_schema_text(schema.fields(), HashMap::new())?,
            is_exact: true,
        };
        restore_from(text, &mut top, &mut metadata, &mut restore);
    } else if options.use_arrow_schema
        && let Some(text) = hint::most_exact(key_values)
    {
        restore_from(text, &mut top, &mut metadata, &mut restore);
    }
    let hinted = restore.dictionaries;
    let dictionaries = Dictionaries::new(schema, &omittable, options, hinted)?;
    let mut fields = top.fields;
    if !dictionaries.is_empty() {
        dictionaries.apply(&mut fields);
    }
    fields.iter_mut().for_each(Node::put_wrappers);

    let mut values = HashMap::new();
    if !extensions.types.is_empty() || !extensions.columns.is_empty() {
        for pair in key_values {
            values.entry(pair.key.as_str()).or_insert(pair.text());
        }
    }
    let extensions = Extensions {
        schema,
        key_values,
        values,
        ignored: &ignored,
        types: &extensions.types,
        nulls: extensions.nulls.as_deref(),
    };
    let (fields, (extension_columns, storages)) = extended(
        fields,
        marks.as_deref(),
        &top.requests,
        &extensions,
        options,
    )?;
    let extension_fields = extension_columns.iter().map(|column| column.field.clone());
    let all = fields
        .iter()
        .map(|node| node.field.clone())
        .chain(extension_fields);
    let all: Fields = all.collect();
    Ok(ArrowMapping {
        schema: Arc::new(Schema::new_with_metadata(all, metadata)),
        fields,
        warnings: warnings.0,
        origin: Arc::new(Origin {
            schema: schema.clone(),
            omittable,
            lists: options.lists,
            is_extended: !extensions.types.is_empty() || !extension_columns.is_empty(),
        }),
        extension_columns,
        storages,
    })
}

/// Adds a warning for each annotation that does not fit its group's fields.
fn warn_of_mismatches(
    schema: &ParquetSchema,
    marks: Option<&[bool]>,
    mismatched: &[usize],
    warnings: &mut Warnings,
) {
    for &node in mismatched {
        if warnings.is_full() {
            break;
        }
        if is_marked(schema, marks, node) {
            let path = schema.node_path(node).join(".");
            warnings.push(format!(
                "the annotation of `{path}` does not fit its fields; it is read as a struct"
            ));
        }
    }
}

/// Applies extension types, returning the projected fields and any additional columns.
fn extended(
    all: Vec<Node>,
    marks: Option<&[bool]>,
    requests: &[(usize, &ExtensionRequest)],
    extensions: &Extensions<'_>,
    options: &SchemaOptions,
) -> Result<(Vec<Node>, Columns)> {
    let apply = |mut fields: Vec<Node>| -> Result<Vec<Node>> {
        for field in &mut fields {
            extensions.apply(field)?;
        }
        Ok(fields)
    };
    if requests.is_empty() {
        let fields = match marks {
            Some(marks) => pruned(&all, marks, options.lists),
            None => all,
        };
        return Ok((apply(fields)?, Columns::default()));
    }
    let projected = match marks {
        Some(marks) => pruned(&all, marks, options.lists),
        None => all.clone(),
    };
    let projected = apply(projected)?;
    let columns = ColumnBuilder {
        extensions,
        fields: &all,
        projected: &projected,
        lists: options.lists,
    };
    let columns = columns.columns(requests)?;
    Ok((projected, columns))
}

/// A file's top-level fields.
#[derive(Default)]
struct Top<'a> {
    fields: Vec<Node>,
    /// Each field's position among all top-level fields.
    places: Vec<usize>,
    /// Additional columns to build, each with the ordinal of its source node.
    requests: Vec<(usize, &'a ExtensionRequest)>,
}

impl<'a> Top<'a> {
    /// Returns the fields needed for the projection and the additional columns, and the
    /// projection's marks on the schema's nodes.
    ///
    /// We have to make all groups first, because this determines which of their nodes a path can
    /// leave out. Top-level columns are only made on demand, since there can be very many.
    fn new(
        nesting: &mut Nesting<'_>,
        projection: &Projection,
        requests: &'a [ExtensionRequest],
    ) -> Result<(Self, Option<Vec<bool>>)> {
        let schema = nesting.schema;
        let mut groups = Vec::new();
        for node in schema.children(0) {
            if schema.nodes()[node].is_group() {
                groups.push(nesting.field(node));
            }
        }
        let marks = marks(schema, &nesting.omittable, projection)?;
        let mut groups = groups.into_iter();
        let mut top = Self::default();
        if !requests.is_empty() {
            let paths = Paths::new(schema, &nesting.omittable);
            for request in requests {
                top.requests.push((paths.find(&request.path)?, request));
            }
        }
        for (place, node) in schema.children(0).enumerate() {
            let end = schema.nodes()[node].end;
            let is_requested = |(made_from, _): &(usize, _)| (node..end).contains(made_from);
            let is_marked =
                is_marked(schema, marks.as_deref(), node) || top.requests.iter().any(is_requested);
            let field = if schema.nodes()[node].is_group() {
                groups.next().filter(|_| is_marked)
            } else {
                is_marked.then(|| nesting.field(node))
            };
            if let Some(field) = field {
                top.fields.push(field);
                top.places.push(place);
            }
        }
        Ok((top, marks))
    }
}

/// Returns true if a projection includes any part of a node.
fn is_marked(schema: &ParquetSchema, marks: Option<&[bool]>, node: usize) -> bool {
    marks.is_none_or(|marks| marks[node..schema.nodes()[node].end].contains(&true))
}

/// Restores everything that fits the file from an encoded Arrow schema.
fn restore_from(
    text: SchemaText<'_>,
    top: &mut Top<'_>,
    metadata: &mut HashMap<String, String>,
    restore: &mut Restore<'_>,
) {
    restore.is_exact = text.is_exact;
    let decoded = hint::bytes_of(text.base64);
    let hint = match &decoded {
        Ok(bytes) => ArrowSchemaHint::new(bytes),
        Err(why) => Err(why.clone()),
    };
    match hint {
        Ok(mut hint) => {
            restore.schema(&top.places, &mut top.fields, &mut hint);
            for (key, value) in hint.metadata {
                metadata.entry(key).or_insert(value);
            }
        }
        Err(why) => restore
            .warnings
            .push(format!("ARROW:schema is ignored: {why}")),
    }
}
