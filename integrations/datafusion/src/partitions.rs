//! The partition of rows whose partition column is null.

use datafusion_common::{Result, ScalarValue, not_impl_err};
use datafusion_datasource::PartitionedFile;
use datafusion_datasource::file_scan_config::FileScanConfig;

/// The name of the partition of nulls, as in Hive, Spark and pyarrow.
pub(crate) const NULL_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";

/// Checks that no file of a scan is in a partition of nulls.
///
/// A table of ours has none by then. The engine's own table takes the names of directories as values, and prunes its files
/// by these values before we see them. It declares partition columns as not null, so that a null that we return breaks its plan.
///
/// # Errors
/// Not implemented if a file is in one.
pub(crate) fn check(scan: &FileScanConfig) -> Result<()> {
    let files = scan.file_groups.iter().flat_map(|group| group.iter());
    for file in files {
        let columns = scan.file_source().table_schema().table_partition_cols();
        let mut values = columns.iter().zip(&file.partition_values);
        if let Some((column, _)) = values.find(|(_, value)| is_null_partition(value)) {
            return refused(file, column.name());
        }
    }
    Ok(())
}

fn refused(file: &PartitionedFile, column: &str) -> Result<()> {
    not_impl_err!(
        "{}: `{column}` is null in the partition {NULL_PARTITION}, and a `ListingTable` of DataFusion has no nulls in \
         partition columns: call `herringbone_datafusion::register` for the session, or make a `HerringboneTable` of it",
        file.object_meta.location
    )
}

/// Returns true if a value has the name of the partition of nulls. Values of numbers and times cannot have it: the engine
/// fails when it lists the files.
fn is_null_partition(value: &ScalarValue) -> bool {
    match value {
        ScalarValue::Binary(value)
        | ScalarValue::LargeBinary(value)
        | ScalarValue::BinaryView(value) => value.as_deref() == Some(NULL_PARTITION.as_bytes()),
        value => value.try_as_str() == Some(Some(NULL_PARTITION)),
    }
}
