//! The tables and queries of TPC-H.

use std::fs::File;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::prelude::SessionContext;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};
use tpchgen_arrow::{
    CustomerArrow, LineItemArrow, NationArrow, OrderArrow, PartArrow, PartSuppArrow, RegionArrow,
    SupplierArrow,
};

use crate::support::{Folder, run};

const TABLES: [&str; 8] = [
    "customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier",
];

/// The scale factor of most tests: 60,000 rows of `lineitem`.
pub(crate) const SMALL: f64 = 0.01;

/// Writes a table as a file with row groups of 10,000 rows.
fn write<E: std::fmt::Debug>(
    folder: &Folder,
    (name, schema): (&str, SchemaRef),
    batches: impl Iterator<Item = Result<RecordBatch, E>>,
) {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_max_row_group_row_count(Some(10_000));
    let file = File::create(folder.path(&format!("{name}.parquet"))).unwrap();
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties.build())).unwrap();
    batches.for_each(|batch| writer.write(&batch.unwrap()).unwrap());
    writer.close().unwrap();
}

macro_rules! write_tables {
    ($folder:expr, $scale:expr, $($name:literal $arrow:ident $generator:ident)+) => {$(
        let table = $arrow::new($generator::new($scale, 1, 1));
        write($folder, ($name, $arrow::schema_ref()), table);
    )+};
}

/// Writes all tables.
pub(crate) fn generate(folder: &Folder, scale: f64) {
    write_tables!(folder, scale,
        "customer" CustomerArrow CustomerGenerator
        "lineitem" LineItemArrow LineItemGenerator
        "nation" NationArrow NationGenerator
        "orders" OrderArrow OrderGenerator
        "part" PartArrow PartGenerator
        "partsupp" PartSuppArrow PartSuppGenerator
        "region" RegionArrow RegionGenerator
        "supplier" SupplierArrow SupplierGenerator
    );
}

pub(crate) fn queries() -> Vec<&'static str> {
    let text = include_str!("../../../datafusion/tests/it/tpch.sql");
    let queries: Vec<_> = text.split("--------\n").collect();
    assert_eq!(queries.len(), 22);
    queries
}

pub(crate) async fn create_tables(session: &SessionContext, folder: &Folder) {
    for table in TABLES {
        let path = folder.path(&format!("{table}.parquet"));
        let sql = format!("create external table {table} stored as parquet location '{path}'");
        run(session, &sql).await.unwrap();
    }
}
