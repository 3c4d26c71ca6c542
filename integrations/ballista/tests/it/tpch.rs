//! The tables and queries of TPC-H.

use datafusion::prelude::SessionContext;
use parquet::file::properties::WriterProperties;

use crate::support::{Folder, run};
pub(crate) use crate::tpch_tables::queries;
use crate::tpch_tables::{TABLES, write_tables};

/// The scale factor of most tests, with which `lineitem` has 60,000 rows.
pub(crate) const SMALL: f64 = 0.01;

/// Writes all tables, with row groups of 10,000 rows.
pub(crate) fn generate(folder: &Folder, scale: f64) {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(10_000));
    write_tables(folder.path("").as_ref(), scale, &properties);
}

pub(crate) async fn create_tables(session: &SessionContext, folder: &Folder) {
    for table in TABLES {
        let path = folder.path(&format!("{table}.parquet"));
        let sql = format!("create external table {table} stored as parquet location '{path}'");
        run(session, &sql).await.unwrap();
    }
}
