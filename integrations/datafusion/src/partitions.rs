//! The partition that has the rows whose partition column is null.

use datafusion_common::{Result, ScalarValue, not_impl_err};
use datafusion_datasource::PartitionedFile;
use datafusion_datasource::file_scan_config::FileScanConfig;

/// The name of the partition of nulls in Hive, Spark and pyarrow.
pub(crate) const NULL_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";

/// Checks that no file of a scan is in a partition of nulls.
///
/// Our own tables have none left at this point. But the engine's own table takes directory names as
/// values, and prunes its files by them before we see the files. It also declares partition columns
/// as not null, so a null that we return would break its plan.
///
/// # Errors
/// Fails with Not implemented if a file is in one.
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

/// Returns true if a value is the name of the partition of nulls. Numbers and times cannot have
/// this name, because the engine then fails when it lists the files.
fn is_null_partition(value: &ScalarValue) -> bool {
    match value {
        ScalarValue::Binary(value)
        | ScalarValue::LargeBinary(value)
        | ScalarValue::BinaryView(value) => value.as_deref() == Some(NULL_PARTITION.as_bytes()),
        value => value.try_as_str() == Some(Some(NULL_PARTITION)),
    }
}
