//! The plan of a write: the file's schema and each column's settings.

use std::path::Path;
use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Fields, Schema, SchemaRef};
use herringbone_format::modular_encryption::{ChunkCipher, FileEncryption, ModuleCipher};
use herringbone_format::{ColumnOrder, Error, Result, SortingColumn};
use herringbone_schema::{WriteKind, WriteMapping, WriteNode, from_arrow_extended};

use super::chunk::EndedColumn;
use super::column::ColumnWriter;
use super::column_statistics::{ColumnStatistics, StatisticsColumn};
use super::levels::{LeafPath, paths};
use super::options::{SortingColumnOption, UnsortedRows, WriteOptions};
use super::settings::{ArrowDictionary, ColumnSettings};
use super::sort_keys::SortKeys;
use super::sorting::SortingCheck;
use herringbone_core::extension::mappings;

/// The plan for writing a file, shared by all code encoding a part of it. You rarely need this directly, because a
/// writer makes its own.
#[derive(Debug)]
pub struct WritePlan {
    pub(super) mapping: WriteMapping,
    pub(super) options: WriteOptions,
    pub(super) columns: Vec<ColumnPlan>,
    pub(super) sorting_columns: Option<Vec<SortingColumn>>,
    schema: SchemaRef,
    pub(super) encryption: Option<Arc<dyn FileEncryption>>,
}

/// The plan for writing one column.
#[derive(Debug)]
pub(super) struct ColumnPlan {
    pub(super) settings: Arc<ColumnSettings>,
    /// The column's top-level field.
    pub(super) field: usize,
    path: Arc<LeafPath>,
}

impl WritePlan {
    /// Plans a file for batches with this schema. If extension types have a storage of their own, this is the
    /// [storage](super::StorageBatches) schema. The file's `path`, if it has one, is passed to encryption, since each
    /// file might use different keys.
    ///
    /// # Errors
    /// Fails with [`Unsupported`](herringbone_format::ErrorKind::Unsupported) if Parquet cannot represent a type, and
    /// with [`Argument`](herringbone_format::ErrorKind::Argument) if options are invalid. Both errors name the column.
    pub fn new(schema: SchemaRef, options: &WriteOptions, path: Option<&Path>) -> Result<Self> {
        if options.row_group_rows == 0 {
            return Err(Error::argument("row_group_rows must be at least 1"));
        }
        if !matches!(options.format_version, 1 | 2) {
            return Err(Error::argument(format!(
                "format_version must be 1 or 2, not {}",
                options.format_version
            )));
        }
        let types = mappings(&options.extensions);
        let mapping = from_arrow_extended(&schema, &options.schema, &types)?;
        let mut columns = Vec::with_capacity(mapping.leaves.len());
        let mut dictionaries = vec![None; mapping.leaves.len()];
        for node in &mapping.fields {
            mark_dictionaries(node, &mut dictionaries);
        }
        for (field, node) in mapping.fields.iter().enumerate() {
            for path in paths(node, &mapping.leaves)? {
                let leaf = mapping
                    .leaves
                    .get(columns.len())
                    .ok_or_else(|| Error::argument("a field has more leaves than the schema"))?;
                let dictionary = dictionaries.get(columns.len()).copied().flatten();
                let settings = ColumnSettings::new(leaf, dictionary, options)?;
                columns.push(ColumnPlan {
                    settings: Arc::new(settings),
                    field,
                    path: Arc::new(path),
                });
            }
        }
        let sorting_columns = declared(&columns, options)?;
        let encryption = match &options.encryption {
            Some(encryption) => {
                let leaves: Vec<_> = mapping
                    .leaves
                    .iter()
                    .map(|leaf| leaf.path.clone())
                    .collect();
                encryption.open(path, &leaves)?
            }
            None => None,
        };
        Ok(Self {
            encryption,
            mapping,
            options: options.clone(),
            columns,
            sorting_columns,
            schema,
        })
    }

    /// Returns the schema required of batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns a warning for each difference between the file's schema and
    /// [`WriteSchemaOptions::parquet_schema`](herringbone_schema::WriteSchemaOptions::parquet_schema).
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.mapping.warnings
    }

    /// Returns the options of this write.
    #[must_use]
    pub fn options(&self) -> &WriteOptions {
        &self.options
    }

    /// Returns the number of the file's columns, counting all leaves.
    #[must_use]
    pub fn num_columns(&self) -> usize {
        self.columns.len()
    }

    /// Returns the ordinal of the column's top-level field, or `None` if there is no such column.
    #[must_use]
    pub fn field_of(&self, column: usize) -> Option<usize> {
        self.columns.get(column).map(|column| column.field)
    }

    /// Creates a column's new chunk in the row group with this ordinal. The encodings chosen for `before`, the previous
    /// row group's chunk, might be reused. Note that the file's bytes therefore depend on `before`, too.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if the column does not exist.
    pub fn column_writer(
        &self,
        column: usize,
        row_group: usize,
        before: Option<&EndedColumn>,
    ) -> Result<ColumnWriter> {
        let plan = self
            .columns
            .get(column)
            .ok_or_else(|| Error::argument(format!("the file has no column {column}")))?;
        let statistics = self.column_statistics(column, &plan.settings)?;
        let cipher = self.cipher(row_group, column);
        let (settings, path) = (plan.settings.clone(), plan.path.clone());
        ColumnWriter::new(settings, path, cipher, statistics, before)
    }

    /// Returns a column chunk's cipher, or `None` if it is not to be encrypted.
    pub(super) fn cipher(&self, row_group: usize, column: usize) -> Option<ChunkCipher> {
        let modules = self.encryption.as_ref()?.column(column)?;
        Some(ChunkCipher::new(modules, row_group, column))
    }

    /// Returns the leaves whose keys a footer reader might lack. Their paths omit the names that Parquet adds around
    /// elements and entries.
    #[must_use]
    pub fn hidden_leaves(&self) -> Vec<Vec<String>> {
        let Some(encryption) = &self.encryption else {
            return Vec::new();
        };
        let leaves = self.mapping.leaves.iter().enumerate();
        let hidden = leaves.filter(|(leaf, _)| encryption.is_hidden(*leaf));
        hidden.map(|(_, leaf)| leaf.short_path.clone()).collect()
    }

    /// Returns true if the file is to be encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.encryption.is_some()
    }

    /// Returns true if a row group of encoded columns can declare the sorting columns. Its rows cannot be compared, so
    /// the options decide.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if rows must be sorted.
    pub fn is_encoded_sorted(&self) -> Result<bool> {
        match self.options.unsorted_rows {
            UnsortedRows::Unchecked => Ok(true),
            UnsortedRows::OmitSortingColumns => Ok(false),
            UnsortedRows::Error if self.sorting_columns.is_none() => Ok(true),
            UnsortedRows::Error => Err(Error::argument(
                "rows must be sorted, and those of encoded columns cannot be compared; set \
                 `unsorted_rows` to `Unchecked` if they are sorted, or to `OmitSortingColumns`",
            )),
        }
    }

    /// Creates a column's additional statistics, if a factory supports the column.
    fn column_statistics(
        &self,
        column: usize,
        settings: &ColumnSettings,
    ) -> Result<Option<Box<dyn ColumnStatistics>>> {
        let column = StatisticsColumn {
            leaf: &settings.leaf,
            element: self.mapping.schema.element(column),
        };
        for factory in &self.options.column_statistics {
            let statistics = factory.column(&column);
            let path = || settings.leaf.path.join(".");
            if let Some(statistics) = statistics.map_err(|error| error.in_column(path()))? {
                return Ok(Some(statistics));
            }
        }
        Ok(None)
    }

    /// Creates the sorting check, if `unsorted_rows` requires one.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if rows cannot be compared by one of the
    /// columns.
    pub fn sorting_check(&self) -> Result<Option<SortingCheck>> {
        if self.options.unsorted_rows == UnsortedRows::Unchecked || self.sorting_columns.is_none() {
            return Ok(None);
        }
        let columns = self.sorting_columns.as_deref().unwrap_or_default();
        let keys = self.keys(columns).map_err(|error| {
            let message = error.message();
            let column = error.location().column.as_deref().unwrap_or_default();
            Error::argument(format!("{message}, so `unsorted_rows` must be `Unchecked`"))
                .in_column(column)
        })?;
        Ok(Some(SortingCheck::new(keys)))
    }

    /// Returns the keys to sort rows by, if the options request sorting.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if rows cannot be compared by one of the
    /// columns.
    pub fn sort_keys(&self) -> Result<Option<SortKeys>> {
        if self.options.sort_by.is_empty() {
            return Ok(None);
        }
        let by = sorting_columns(&self.columns, &self.options.sort_by)?;
        self.keys(&by).map(Some)
    }

    fn keys(&self, columns: &[SortingColumn]) -> Result<SortKeys> {
        let mut keys = SortKeys::new();
        for &sorting in columns {
            let ordinal = usize::try_from(sorting.column_idx).unwrap_or(usize::MAX);
            if let Some(column) = self.columns.get(ordinal) {
                let (settings, path) = (column.settings.clone(), column.path.clone());
                keys.push(settings, path, column.field, sorting)?;
            }
        }
        Ok(keys)
    }

    /// Returns a cipher with a separate key for temporary files, if the file is to be encrypted.
    ///
    /// # Errors
    /// Fails for the reasons that [`FileEncryption::temporary_cipher`] lists.
    pub fn temporary_cipher(&self) -> Result<Option<Arc<dyn ModuleCipher>>> {
        let encryption = self.encryption.as_ref();
        encryption
            .map(|encryption| encryption.temporary_cipher())
            .transpose()
    }

    /// Checks that batches with this schema can be written. They must have the planned names, types and nullability.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if they cannot. The message names the
    /// difference.
    pub fn check(&self, schema: &Schema) -> Result<()> {
        check_schema(self.schema.fields(), schema.fields())
    }

    /// Returns the order of each column's bounds.
    pub(super) fn column_orders(&self) -> Vec<ColumnOrder> {
        let order = |column: &ColumnPlan| {
            let settings = &column.settings;
            if settings.total_order {
                ColumnOrder::Ieee754Total
            } else if settings.leaf.order == herringbone_schema::ColumnOrderKind::Int96 {
                ColumnOrder::Int96Timestamp
            } else {
                ColumnOrder::TypeDefined
            }
        };
        self.columns.iter().map(order).collect()
    }
}

/// Returns an error if a batch's fields differ from the file's.
pub(super) fn check_schema(ours: &Fields, theirs: &Fields) -> Result<()> {
    if ours.len() != theirs.len() {
        return Err(Error::argument(format!(
            "the batch has {} columns, but the file has {}",
            theirs.len(),
            ours.len()
        )));
    }
    for (our, their) in ours.iter().zip(theirs) {
        let differs =
            our.name() != their.name() || !our.data_type().equals_datatype(their.data_type());
        if differs {
            return Err(Error::argument(format!(
                "the batch has the column `{}` of type {}, but the file has `{}` of type {}",
                their.name(),
                their.data_type(),
                our.name(),
                our.data_type()
            )));
        }
    }
    Ok(())
}

/// Records which leaves are dictionaries in Arrow.
fn mark_dictionaries(node: &WriteNode, leaves: &mut [Option<ArrowDictionary>]) {
    match &node.kind {
        WriteKind::Leaf { leaf } => {
            if let Some(marked) = leaves.get_mut(*leaf)
                && let DataType::Dictionary(..) = node.field.data_type()
            {
                *marked = Some(ArrowDictionary {
                    is_ordered: node.field.dict_is_ordered() == Some(true),
                });
            }
        }
        WriteKind::Struct(fields) => {
            for field in fields {
                mark_dictionaries(field, leaves);
            }
        }
        WriteKind::List { child, .. } => mark_dictionaries(child, leaves),
        WriteKind::Map { entries, .. } => mark_dictionaries(entries, leaves),
        WriteKind::RunEnd(values) | WriteKind::Dictionary(values) => {
            mark_dictionaries(values, leaves);
        }
    }
}

/// Returns the sorting columns declared by the file, if any.
fn declared(columns: &[ColumnPlan], options: &WriteOptions) -> Result<Option<Vec<SortingColumn>>> {
    let (said, by) = (&options.sorting_columns, &options.sort_by);
    if !by.is_empty() && !by.starts_with(said) {
        return Err(Error::argument(
            "`sorting_columns` differ from the first columns of `sort_by`; leave them out",
        ));
    }
    let declared = if by.is_empty() { said } else { by };
    if declared.is_empty() {
        return Ok(None);
    }
    sorting_columns(columns, declared).map(Some)
}

fn sorting_columns(
    columns: &[ColumnPlan],
    options: &[SortingColumnOption],
) -> Result<Vec<SortingColumn>> {
    let find = |path: &[String]| {
        let ordinal = columns
            .iter()
            .position(|column| column.settings.leaf.path == path);
        ordinal
            .and_then(|ordinal| i32::try_from(ordinal).ok())
            .ok_or_else(|| {
                let name = path.join(".");
                let mut columns = columns.iter();
                Error::argument(
                    match columns.any(|column| column.settings.leaf.path.starts_with(path)) {
                        true => {
                            format!(
                                "cannot sort by `{name}`, which is a struct, list or map; name a \
                                 column without parts"
                            )
                        }
                        false => format!("there is no column `{name}` to sort by"),
                    },
                )
            })
    };
    let sorting = options.iter().map(|column| {
        let ordinal = find(&column.path)?;
        let (descending, nulls_first) = (column.descending, column.nulls_first);
        Ok(SortingColumn::new(ordinal, descending, nulls_first))
    });
    sorting.collect()
}
