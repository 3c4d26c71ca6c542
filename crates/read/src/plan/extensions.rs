//! The extension types and extension columns requested by a read.

use std::sync::Arc;

use herringbone_format::FileMetadata;
use herringbone_schema::{ExtensionRequest, NullColumns, ReadExtensions};

use super::ReadOptions;
use super::RowGroupPlan;
use herringbone_core::extension::{ExtensionColumnOption, mapping, mappings};

/// Converts the requests in the options to the types of the schema crate.
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

/// The nulls in a read's row groups, as stated by the statistics.
#[derive(Debug)]
struct StatedNulls {
    metadata: Arc<FileMetadata>,
    row_groups: Vec<usize>,
}

impl NullColumns for StatedNulls {
    fn is_all_null(&self, leaf: usize) -> bool {
        let is_null = |row_group: usize| {
            // If the metadata can't be decoded, the answer is unknown. Reading the column will report the error.
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
