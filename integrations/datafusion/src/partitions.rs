//! The partition of rows whose partition column is null.

/// The name of the partition of nulls, as in Hive, Spark and pyarrow.
pub(crate) const NULL_PARTITION: &str = "__HIVE_DEFAULT_PARTITION__";
