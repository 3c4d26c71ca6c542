//! Arrays of extension types, made from those of their storage.

use std::sync::Arc;

use herringbone_arrow::array::{Array as _, ArrayRef};
use herringbone_arrow::schema::Field;
use herringbone_format::{Error, FileMetadata, Result};
use herringbone_schema::{ExtensionRequest, NullColumns, ReadExtensions};

use super::ReadOptions;
use super::wanted_rows::RowGroupPlan;
use crate::extension::{ExtensionType, mapping, mappings};

/// A column that an extension type makes besides those of the projection.
#[derive(Debug, Clone)]
pub struct ExtensionColumnOption {
    /// The name of the column; it may be that of another one.
    pub name: String,
    /// The path of the field that it is made from, as in
    /// [`Projection::Paths`](herringbone_schema::Projection::Paths).
    pub path: Vec<String>,
    /// What makes it.
    pub extension: Arc<dyn ExtensionType>,
}

/// What the options ask for, in the terms of the schema.
pub(super) fn requests(
    options: &ReadOptions,
    metadata: &Arc<FileMetadata>,
    row_groups: &[RowGroupPlan],
) -> ReadExtensions {
    let request = |column: &ExtensionColumnOption| ExtensionRequest {
        name: column.name.clone(),
        path: column.path.clone(),
        extension: mapping(&column.extension),
    };
    ReadExtensions {
        types: mappings(&options.extensions),
        columns: options.extension_columns.iter().map(request).collect(),
        nulls: (!options.extension_columns.is_empty()).then(|| -> Arc<dyn NullColumns> {
            Arc::new(StatedNulls {
                metadata: metadata.clone(),
                row_groups: row_groups.iter().map(RowGroupPlan::ordinal).collect(),
            })
        }),
    }
}

/// What statistics say of nulls in the row groups of a read.
#[derive(Debug)]
struct StatedNulls {
    metadata: Arc<FileMetadata>,
    row_groups: Vec<usize>,
}

impl NullColumns for StatedNulls {
    fn is_all_null(&self, leaf: usize) -> bool {
        let is_null = |row_group: usize| {
            // What cannot be looked at is not known; reading it says why.
            let chunk = self.metadata.column_chunk(row_group, leaf).ok()?;
            let metadata = chunk.meta_data?;
            let nulls = metadata.statistics?.null_count?;
            Some(nulls == metadata.num_values)
        };
        self.row_groups
            .iter()
            .all(|ordinal| is_null(*ordinal) == Some(true))
    }
}

/// An extension type and the field that it makes.
#[derive(Debug, Clone)]
pub(crate) struct ExtensionArray {
    pub(crate) extension: Arc<dyn ExtensionType>,
    pub(crate) field: Arc<Field>,
}

impl ExtensionArray {
    /// The array for a storage.
    ///
    /// # Errors
    /// What the extension type says; Argument where its array is not what it was said to be.
    pub(crate) fn make(&self, storage: &ArrayRef) -> Result<ArrayRef> {
        let array = self.extension.make_array(storage, &self.field)?;
        let data_type = self.field.data_type();
        if array.len() != storage.len() || array.data_type() != data_type {
            return Err(Error::argument(format!(
                "an extension type made {} values of {} from {} of {data_type}",
                array.len(),
                array.data_type(),
                storage.len(),
            )));
        }
        Ok(array)
    }
}

/// A column from a storage that was put aside.
#[derive(Debug)]
pub(crate) struct KeptColumn {
    /// Ordinal among the arrays that are put aside.
    pub(crate) slot: usize,
    /// What makes the column; none where it is the storage.
    pub(crate) array: Option<ExtensionArray>,
}

impl KeptColumn {
    /// The column, from the arrays that were put aside.
    pub(crate) fn make(&self, kept: &[Option<ArrayRef>]) -> Result<ArrayRef> {
        let storage = kept.get(self.slot).and_then(Option::as_ref);
        let storage = storage.ok_or_else(|| Error::argument("a storage was not kept"))?;
        match &self.array {
            Some(array) => array
                .make(storage)
                .map_err(|error| error.in_column(array.field.name())),
            None => Ok(storage.clone()),
        }
    }
}
